/**
 * Which tab of the editor shows which saved operation, and what is done with it: opened, saved (Ctrl-S), renamed, removed. Questions are
 * asked in dialogs, among them what to do if somebody else has changed an operation meanwhile.
 */
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { createContext, type ReactNode, useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { KeptOperation, SavedOperation } from '../../src/http/routes/graphiql-page.ts';
import type { OperationStore } from './operation-library.ts';
import { usePage } from './page-context.ts';
import { type Question, SavedQuestion } from './saved-dialogs.tsx';
import { say } from './toast.tsx';
import { useOpenQuery } from './use-open-query.ts';

export interface SavedOperations {
  /** Null until they have been read. */
  readonly operations: readonly SavedOperation[] | null;
  readonly error: string | null;
  /** Name of the one that the open tab shows. */
  readonly shown: string | null;
  /** Whether the open tab has something else than what was saved. */
  readonly isChanged: boolean;
  readonly open: (operation: SavedOperation) => void;
  /** Saves the open tab; asks for a name if it has none. */
  readonly save: () => void;
  readonly saveAs: () => void;
  readonly rename: (operation: SavedOperation) => void;
  readonly remove: (operation: SavedOperation) => void;
}

const SavedContext = createContext<SavedOperations | null>(null);

/** Throws outside of the page. */
export function useSavedOperations(): SavedOperations {
  const saved = useContext(SavedContext);
  if (saved === null) throw new Error('This part belongs inside the page.');
  return saved;
}

interface SavedOperationsProviderProps {
  /** Shows the editor. */
  readonly onShowEditor: () => void;
  readonly children: ReactNode;
}

export function SavedOperationsProvider({ onShowEditor, children }: SavedOperationsProviderProps) {
  const { library } = usePage();
  const state = useSyncExternalStore(library.subscribe, library.get);
  const [question, setQuestion] = useState<Question | null>(null);
  const tab = useLinkedTab();
  const putIntoEditor = useOpenQuery();
  const { changeTab } = useGraphiQLActions();
  const close = (): void => setQuestion(null);
  const openAnew = (operation: SavedOperation): void => {
    close();
    putIntoEditor(operation.query, operation.variables);
    tab.linkNext(operation);
    onShowEditor();
  };
  const open = (operation: SavedOperation): void => {
    const index = tab.findTab(operation.name);
    if (index < 0) return openAnew(operation);
    changeTab(index);
    onShowEditor();
  };
  const change = async (name: string, { make, done, onStale }: Change): Promise<void> => {
    try {
      const answer = await library.change(make);
      if ('stale' in answer) return onStale(answer.stale);
      if (answer.kept !== null) tab.link(answer.kept, name);
      say(done);
    } catch (error) {
      say((error as Error).message);
    }
    close();
  };
  const write = (name: string, version: string | null): void =>
    void change(name, {
      make: (store) => store.save(name, tab.read(), version),
      done: `Saved as ${name}, ${library.store.place}.`,
      onStale: (current) => setQuestion({ kind: 'stale', name, current }),
    });
  const { linked } = tab;
  const save = (): void => (linked === null ? setQuestion({ kind: 'name' }) : write(linked.name, linked.version));
  useSaveKey(save);
  const saved: SavedOperations = {
    ...state,
    shown: linked?.name ?? null,
    isChanged: linked !== null && !isSame(linked, tab.read()),
    open,
    save,
    saveAs: () => setQuestion({ kind: 'name' }),
    rename: (operation) => setQuestion({ kind: 'rename', operation }),
    remove: (operation) => setQuestion({ kind: 'remove', operation }),
  };
  return (
    <SavedContext value={saved}>
      {children}
      {question !== null && (
        <SavedQuestion
          question={question}
          names={state.operations?.map(({ name }) => name) ?? []}
          suggested={linked?.name ?? tab.suggested}
          place={library.store.place}
          onWrite={write}
          onChange={(name, make, done) => {
            const onStale = (): void => {
              say(`${name} was changed elsewhere meanwhile, so nothing was done. Look at it, and try again.`);
              close();
            };
            void change(name, { make, done, onStale });
          }}
          onOpen={openAnew}
          onClose={close}
        />
      )}
    </SavedContext>
  );
}

interface Change {
  readonly make: (store: OperationStore) => Promise<KeptOperation>;
  /** What to say after it. */
  readonly done: string;
  readonly onStale: (current: SavedOperation | null) => void;
}

function isSame(one: { query: string; variables: string }, other: { query: string; variables: string }): boolean {
  return one.query.trimEnd() === other.query.trimEnd() && one.variables.trim() === other.variables.trim();
}

function useSaveKey(save: () => void): void {
  const latest = useRef(save);
  latest.current = save;
  useEffect(() => {
    const follow = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== 's') return;
      event.preventDefault();
      // Nothing is saved behind a dialog.
      if (document.querySelector('dialog[open]') === null) latest.current();
    };
    window.addEventListener('keydown', follow, true);
    return () => window.removeEventListener('keydown', follow, true);
  }, []);
}

const item = 'rowgraph:tabs';
type Links = Readonly<Record<string, SavedOperation>>;

/** What the open tab has to do with the saved operations, also after a reload. */
function useLinkedTab() {
  const tabs = useGraphiQL((state) => state.tabs);
  const active = useGraphiQL((state) => state.activeTabIndex);
  const operationName = useGraphiQL((state) => state.operationName);
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const [links, setLinks] = useState(readLinks);
  const [next, setNext] = useState<SavedOperation | null>(null);
  const id = tabs[active]?.id ?? '';
  useEffect(() => {
    if (next === null) return;
    setLinks((before) => ({ ...before, [id]: next }));
    setNext(null);
  }, [next, id]);
  useEffect(() => {
    try {
      const open = Object.entries(links).filter(([tab]) => tabs.some((each) => each.id === tab));
      localStorage.setItem(item, JSON.stringify(Object.fromEntries(open)));
    } catch {
      // Without storage, a reload forgets which tab shows what.
    }
  }, [links, tabs]);
  return {
    linked: links[id] ?? null,
    /** The name that the open tab would be saved under. */
    suggested: operationName ?? tabs[active]?.operationName ?? '',
    /** What the open tab has now. */
    read: () => ({ query: queryEditor?.getValue() ?? '', variables: variableEditor?.getValue() ?? '' }),
    findTab: (name: string) => tabs.findIndex((tab) => links[tab.id]?.name === name),
    /** After a change of an operation: of the tab that showed it under its name before, or of the open one. */
    link: (operation: SavedOperation, before: string) =>
      setLinks((all) => {
        const shown = Object.keys(all).filter((tab) => all[tab]?.name === before);
        const changed = shown.length > 0 || operation.name !== before ? shown : [id];
        return { ...all, ...Object.fromEntries(changed.map((tab) => [tab, operation])) };
      }),
    /** Once the tab that is being opened is there. */
    linkNext: setNext,
  };
}

function readLinks(): Links {
  try {
    return JSON.parse(localStorage.getItem(item) ?? '{}') as Links;
  } catch {
    return {};
  }
}

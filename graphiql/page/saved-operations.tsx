/**
 * What is done with saved operations: opened, saved (Ctrl-S), renamed, removed. Questions are asked in dialogs, among them what to do if
 * somebody else has changed an operation meanwhile.
 */
import { createContext, type ReactNode, useContext, useState, useSyncExternalStore } from 'react';
import type { KeptOperation, OperationChange, SavedOperation } from '../../src/http/routes/graphiql-page.ts';
import type { EditorTabs } from './editor-tabs.ts';
import type { OperationStore } from './operation-library.ts';
import { usePage } from './page-context.ts';
import { type Question, SavedQuestion } from './saved-dialogs.tsx';
import { say } from './toast.tsx';
import { useShortcut } from './use-shortcut.ts';

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
  readonly tabs: EditorTabs;
  /** Shows the editor. */
  readonly onShowEditor: () => void;
  readonly children: ReactNode;
}

export function SavedOperationsProvider({ tabs, onShowEditor, children }: SavedOperationsProviderProps) {
  const { library } = usePage();
  const state = useSyncExternalStore(library.subscribe, library.get);
  const [question, setQuestion] = useState<Question | null>(null);
  const close = (): void => setQuestion(null);
  const open = (operation: SavedOperation, wantsAnother?: boolean): void => {
    tabs.openSaved(operation, wantsAnother);
    onShowEditor();
  };
  const change = async (name: string, { make, done, onStale }: Change): Promise<void> => {
    try {
      const answer = await library.change(make);
      if ('stale' in answer) return onStale(answer.stale);
      if (answer.kept !== null) tabs.link(answer.kept, name);
      say(done);
    } catch (error) {
      say((error as Error).message);
    }
    close();
  };
  const write = (name: string, version: string | null): void =>
    void change(name, {
      make: (store) => store.save(name, tabs.read(), version),
      done: `Saved as ${name}, ${library.store.place}.`,
      onStale: (current) => setQuestion({ kind: 'stale', name, current }),
    });
  const { linked } = tabs;
  const save = (): void => (linked === null ? setQuestion({ kind: 'name' }) : write(linked.name, linked.version));
  useShortcut('s', () => {
    // Nothing is saved behind a dialog.
    if (document.querySelector('dialog[open]') === null) save();
  });
  const saved: SavedOperations = {
    ...state,
    shown: linked?.name ?? null,
    isChanged: linked !== null && !isSame(linked, tabs.read()),
    open: (operation) => open(operation),
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
          suggested={linked?.name ?? tabs.suggested}
          place={library.store.place}
          onWrite={write}
          onChange={(name, make, done) => {
            const onStale = (): void => {
              say(`${name} was changed elsewhere meanwhile, so nothing was done. Look at it, and try again.`);
              close();
            };
            void change(name, { make, done, onStale });
          }}
          onOpen={(operation) => {
            close();
            open(operation, true);
          }}
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

function isSame(one: OperationChange, other: OperationChange): boolean {
  return one.query.trimEnd() === other.query.trimEnd() && one.variables.trim() === other.variables.trim();
}

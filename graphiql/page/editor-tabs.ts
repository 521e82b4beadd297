/**
 * Owns what the page puts into the tabs of the editor: the query of a link, the operations of an example, what other views and the saved
 * operations open, and a first query if there is nothing else. Remembers which tab shows which saved operation.
 */
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useRef, useState } from 'react';
import type { OperationChange, SavedOperation } from '../../src/http/routes/graphiql-page.ts';
import { readSharedQuery } from './share-link.ts';
import { writeFirstQuery } from './write-first-query.ts';

/**
 * What is open at the start, as GraphiQL is told. It adds the tabs of the last visit, and whoever is here for the first time gets the
 * operations of the example.
 */
export function chooseFirstTabs(example: readonly string[]) {
  restoreLinkedTabs();
  const { query, variables = '' } = readSharedQuery(location.search);
  const shared = query === undefined ? [] : [{ query, variables }];
  const tabs = [...shared, ...example.map((each) => ({ query: each }))];
  return {
    ...(tabs.length > 0 && { defaultTabs: tabs }),
    ...(query !== undefined && { initialQuery: query, initialVariables: variables }),
  };
}

/** Something to open: of the saved operations, or not. */
interface Opened extends OperationChange {
  readonly saved: SavedOperation | null;
}

export type EditorTabs = ReturnType<typeof useEditorTabs>;

export function useEditorTabs() {
  const { changeTab } = useGraphiQLActions();
  const tabs = useGraphiQL((state) => state.tabs);
  const active = useGraphiQL((state) => state.activeTabIndex);
  const operationName = useGraphiQL((state) => state.operationName);
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const [links, setLinks] = useLinks();
  const id = tabs[active]?.id ?? '';
  const open = useOpening((saved) => {
    setLinks(({ [id]: _, ...others }) => (saved === null ? others : { ...others, [id]: saved }));
  });
  return {
    /** The saved operation that the open tab shows. */
    linked: links[id] ?? null,
    /** The name that the open tab would be saved under. */
    suggested: operationName ?? tabs[active]?.operationName ?? '',
    /** What the open tab has now. */
    read: (): OperationChange => ({ query: queryEditor?.getValue() ?? '', variables: variableEditor?.getValue() ?? '' }),
    /** Opens a query in the open tab if that is empty, otherwise in a new one; `variables` is JSON, '' for none. */
    openQuery: (query: string, variables = ''): void => open({ query, variables, saved: null }),
    /** Opens a saved operation in the tab that shows it; in another one if there is none, or if somebody `wantsAnother`. */
    openSaved: (saved: SavedOperation, wantsAnother = false): void => {
      const index = wantsAnother ? -1 : tabs.findIndex((tab) => links[tab.id]?.name === saved.name);
      if (index >= 0) changeTab(index);
      if (index < 0 || isBlank(tabs[index]?.query)) open({ ...saved, saved });
    },
    /** After a change of an operation: of the tab that showed it under its name before, or of the open one. */
    link: (operation: SavedOperation, before: string): void =>
      setLinks((all) => {
        const shown = Object.keys(all).filter((tab) => all[tab]?.name === before);
        const changed = shown.length > 0 || operation.name !== before ? shown : [id];
        return { ...all, ...Object.fromEntries(changed.map((tab) => [tab, operation])) };
      }),
  };
}

/** Opens things once the editor is there, and calls `onOpened` when a tab has them; before anything else, the first query. */
function useOpening(onOpened: (saved: SavedOperation | null) => void): (wanted: Opened) => void {
  const { addTab } = useGraphiQLActions();
  const schema = useGraphiQL((state) => state.schema);
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const [wanted, setWanted] = useState<Opened | null>(null);
  const [opened, setOpened] = useState<Opened | null>(null);
  const isBegun = useRef(false);
  useEffect(() => {
    if (queryEditor === undefined || variableEditor === undefined) return;
    if (wanted !== null) {
      isBegun.current = true;
      if (!isBlank(queryEditor.getValue())) addTab();
      queryEditor.setValue(wanted.query);
      variableEditor.setValue(wanted.variables);
      setWanted(null);
      setOpened(wanted);
    } else if (schema && !isBegun.current) {
      isBegun.current = true;
      // Whoever has the cursor in the empty editor is about to write.
      if (isBlank(queryEditor.getValue()) && !queryEditor.hasTextFocus()) queryEditor.setValue(writeFirstQuery(schema));
    }
  }, [wanted, schema, queryEditor, variableEditor, addTab]);
  // A render later, when the tab that was added is the open one.
  useEffect(() => {
    if (opened === null) return;
    onOpened(opened.saved);
    setOpened(null);
  }, [opened, onOpened]);
  return setWanted;
}

const item = 'rowgraph:tabs';
type Links = Readonly<Record<string, SavedOperation>>;

/** The saved operations that tabs show, by the id of the tab, also after a reload. */
function useLinks() {
  const tabs = useGraphiQL((state) => state.tabs);
  const [links, setLinks] = useState(readLinks);
  useEffect(() => {
    try {
      const open = Object.entries(links).filter(([tab]) => tabs.some((each) => each.id === tab));
      localStorage.setItem(item, JSON.stringify(Object.fromEntries(open)));
    } catch {
      // Without storage, a reload forgets which tab shows what.
    }
  }, [links, tabs]);
  return [links, setLinks] as const;
}

function readLinks(): Links {
  try {
    return JSON.parse(localStorage.getItem(item) ?? '{}') as Links;
  } catch {
    return {};
  }
}

/** Where GraphiQL keeps its tabs (`test/contracts/graphiql.test.ts`). */
const storedTabs = 'graphiql:tabState';

/** GraphiQL stores tabs some time after they have changed: one that was linked meanwhile would come back without its text. */
function restoreLinkedTabs(): void {
  try {
    const links = readLinks();
    const stored = JSON.parse(localStorage.getItem(storedTabs) ?? '{}') as { readonly tabs?: readonly StoredTab[] };
    const tabs = stored.tabs?.map((tab) => {
      const saved = links[tab.id];
      return saved === undefined || !isBlank(tab.query) ? tab : { ...tab, query: saved.query, variables: saved.variables };
    });
    if (tabs !== undefined) localStorage.setItem(storedTabs, JSON.stringify({ ...stored, tabs }));
  } catch {
    // Storage is not allowed, or has other content: GraphiQL begins anew.
  }
}

interface StoredTab {
  readonly id: string;
  readonly query: string | null;
}

function isBlank(text: string | null | undefined): boolean {
  return (text ?? '').trim() === '';
}

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
  const read = (): OperationChange => ({ query: queryEditor?.getValue() ?? '', variables: variableEditor?.getValue() ?? '' });
  const [links, setLinks] = useLinks(() => (queryEditor === undefined ? null : read()));
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
    read,
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

type Links = Readonly<Record<string, SavedOperation>>;

/** The saved operations that tabs show, by the id of the tab, also after a reload. `read`: what the open tab has now, once its editor is there. */
function useLinks(read: () => OperationChange | null) {
  const tabs = useGraphiQL((state) => state.tabs);
  const active = useGraphiQL((state) => state.activeTabIndex);
  const [links, setLinks] = useState<Links>(() =>
    Object.fromEntries(Object.entries(readLinkedTabs()).map(([id, { saved }]) => [id, saved])),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has been typed is in the tabs a moment later.
  useEffect(() => {
    const linked = tabs.flatMap(({ id, query, variables }, index): [string, LinkedTab][] => {
      const saved = links[id];
      if (saved === undefined) return [];
      const now = index === active ? read() : null;
      return [[id, { saved, ...(now ?? { query: query ?? '', variables: variables ?? '' }) }]];
    });
    try {
      localStorage.setItem(linkedTabs, JSON.stringify(Object.fromEntries(linked)));
    } catch {
      // Without storage, a reload forgets which tab shows what.
    }
  }, [links, tabs]);
  return [links, setLinks] as const;
}

/** A tab that shows a saved operation, with its text. */
interface LinkedTab extends OperationChange {
  readonly saved: SavedOperation;
}

const linkedTabs = 'rowgraph:tabs';
/** Where GraphiQL keeps its tabs (`test/contracts/graphiql.test.ts`). */
const allTabs = 'graphiql:tabState';

function readLinkedTabs(): Readonly<Record<string, LinkedTab>> {
  try {
    return JSON.parse(localStorage.getItem(linkedTabs) ?? '{}') as Record<string, LinkedTab>;
  } catch {
    return {};
  }
}

/** GraphiQL stores its tabs some time after they have changed: a tab that was linked meanwhile would come back with the text of before. */
function restoreLinkedTabs(): void {
  try {
    const linked = readLinkedTabs();
    const stored = JSON.parse(localStorage.getItem(allTabs) ?? '{}') as { readonly tabs?: readonly { readonly id: string }[] };
    const tabs = stored.tabs?.map((tab) => {
      const { query, variables } = linked[tab.id] ?? {};
      return query === undefined ? tab : { ...tab, query, variables };
    });
    if (tabs !== undefined) localStorage.setItem(allTabs, JSON.stringify({ ...stored, tabs }));
  } catch {
    // Storage is not allowed, or has other content: GraphiQL begins anew.
  }
}

function isBlank(text: string | null | undefined): boolean {
  return (text ?? '').trim() === '';
}

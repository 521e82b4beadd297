/** The content of the page: the rail, the bar, and the view that is selected. The editor keeps its state while another view is shown. */
import { ToolbarButton, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { GraphiQL, GraphiQLInterface } from 'graphiql';
import { useEffect, useState } from 'react';
import { CallerBar } from './caller-bar.tsx';
import { CopyAsButton } from './copy-as-dialog.tsx';
import { useEditorTabs } from './editor-tabs.ts';
import { KeyPage } from './key-form.tsx';
import type { PageBackend } from './page-backend.ts';
import { hasKey } from './page-caller.ts';
import { usePage } from './page-context.ts';
import { readLocation, type ViewName, writeLocation } from './page-location.ts';
import { PaletteButton } from './palette.tsx';
import { PartBoundary } from './part-boundary.tsx';
import { offeredViews, PanelTabs, Rail } from './rail.tsx';
import { ResultTabs } from './result-tabs.tsx';
import { SavedOperationsProvider } from './saved-operations.tsx';
import { readSharedQuery, writeSharedQuery } from './share-link.ts';
import { say, Toast } from './toast.tsx';
import { useReadableThemes } from './use-readable-themes.ts';
import { views } from './views.tsx';

export function Workspace() {
  const { backend, caller } = usePage();
  const [view, setView] = useState(() => firstView(backend !== null));
  /** How often another part of the page has opened something in a view, which then begins anew. */
  const [opened, setOpened] = useState(0);
  useEffect(() => writeLocation('view', view === 'Query' ? null : view), [view]);
  useSchemaChanges(backend);
  const tabs = useEditorTabs();
  const openQuery = (query: string, variables?: string): void => {
    tabs.openQuery(query, variables);
    setView('Query');
  };
  const show = (name: ViewName, table?: string): void => {
    if (table !== undefined && name === 'Rows') writeLocation('rows', { table });
    if (table !== undefined && name === 'Policies') writeLocation('policies', { ...readLocation('policies'), table });
    setOpened(opened + 1);
    setView(name);
  };
  const { Content } = views[view];
  return (
    <div className="graphiql-container page">
      <SavedOperationsProvider tabs={tabs} onShowEditor={() => setView('Query')}>
        <Rail view={view} onView={setView} />
        <header className="page-bar">
          <h1 className="page-name">rowgraph</h1>
          {hasKey(caller) && <PaletteButton onShow={show} />}
          <CallerBar />
        </header>
        <main className="page-view">
          {!hasKey(caller) && <KeyPage />}
          <div className="page-view query-view" hidden={view !== 'Query' || !hasKey(caller)}>
            <Editor />
          </div>
          {Content !== null && hasKey(caller) && (
            <PartBoundary key={`${view} ${opened}`}>
              <Content onOpenQuery={openQuery} onShow={show} />
            </PartBoundary>
          )}
        </main>
        <Toast />
      </SavedOperationsProvider>
    </div>
  );
}

function firstView(hasBackend: boolean): ViewName {
  return offeredViews(hasBackend).find((name) => name === readLocation('view')) ?? 'Query';
}

function Editor() {
  useReadableTabs();
  useReadableThemes();
  const [hasVariables] = useState(() => (readSharedQuery(location.search).variables ?? '') !== '');
  return (
    <>
      <PanelTabs />
      <GraphiQLInterface showPersistHeadersSettings={false} defaultEditorToolsVisibility={hasVariables && 'variables'}>
        <GraphiQL.Logo>{''}</GraphiQL.Logo>
        <GraphiQL.Toolbar>
          {({ prettify, merge, copy }) => (
            <>
              {prettify}
              {merge}
              {copy}
              <CopyAsButton />
              <CopyLinkButton />
            </>
          )}
        </GraphiQL.Toolbar>
        <GraphiQL.Footer>
          <ResultTabs />
        </GraphiQL.Footer>
      </GraphiQLInterface>
    </>
  );
}

/** Reads the schema again after it has changed, as the server of `rowgraph dev` says. A hidden page asks when it is shown again. */

/** How often to ask, in milliseconds: while the server answers, and while it does not. */
const interval = { answered: 2000, unanswered: 10_000 };

function useSchemaChanges(backend: PageBackend | null): void {
  const { introspect } = useGraphiQLActions();
  useEffect(() => {
    if (backend === null) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    let known: string | null = null;
    const look = async (): Promise<void> => {
      const version = document.hidden ? known : await backend.readSchemaVersion().catch(() => null);
      if (isOver) return;
      if (version !== null && known !== null && version !== known) void introspect();
      known = version ?? known;
      timer = setTimeout(() => void look(), version === null ? interval.unanswered : interval.answered);
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [backend, introspect]);
}

/**
 * Makes GraphiQL's tabs of operations accessible to screen readers: a list of buttons, because each of GraphiQL's "tabs" contains two
 * buttons. Relies on the elements that GraphiQL renders (`test/contracts/graphiql.test.ts`); without them it does nothing.
 */
function useReadableTabs(): void {
  const tabs = useGraphiQL((state) => state.tabs);
  const active = useGraphiQL((state) => state.activeTabIndex);
  useEffect(() => {
    for (const list of document.querySelectorAll('.graphiql-tabs')) list.setAttribute('role', 'list');
    for (const [index, item] of document.querySelectorAll('.graphiql-tabs > li').entries()) {
      item.removeAttribute('role');
      item.removeAttribute('aria-selected');
      item.querySelector('.graphiql-tab-button')?.setAttribute('aria-current', String(index === active && tabs.length > 0));
    }
    const session = document.getElementById('graphiql-session');
    session?.setAttribute('role', 'region');
  }, [tabs, active]);
}

/** A button in the editor's toolbar that copies a link to the page with the content of the editors. */
const label = 'Copy a link to this query';

function CopyLinkButton() {
  const queryEditor = useGraphiQL(({ queryEditor }) => queryEditor);
  const variableEditor = useGraphiQL(({ variableEditor }) => variableEditor);
  const copy = async (): Promise<void> => {
    const link = writeSharedQuery(location.href, queryEditor?.getValue() ?? '', variableEditor?.getValue() ?? '');
    try {
      await navigator.clipboard.writeText(link);
      say('The link is in the clipboard.');
    } catch {
      // If the clipboard is not allowed, the address bar has the link.
      history.replaceState(null, '', link);
      say('The link is in the address bar.');
    }
  };
  return (
    <ToolbarButton label={label} onClick={() => void copy()}>
      <svg className="graphiql-toolbar-icon icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d="M10 14a4.5 4.5 0 0 0 6.4 0l3.2-3.2a4.5 4.5 0 0 0-6.4-6.4L12 5.6M14 10a4.5 4.5 0 0 0-6.4 0l-3.2 3.2a4.5 4.5 0 0 0 6.4 6.4l1.2-1.2" />
      </svg>
    </ToolbarButton>
  );
}

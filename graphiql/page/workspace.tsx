/** The content of the page: the rail, the bar, and the view that is selected. The editor keeps its state while another view is shown. */
import { GraphiQL, GraphiQLInterface } from 'graphiql';
import { useEffect, useState } from 'react';
import { CallerBar } from './caller-bar.tsx';
import { CopyAsButton } from './copy-as-dialog.tsx';
import { CopyLinkButton } from './copy-link-button.tsx';
import { useEditorTabs } from './editor-tabs.ts';
import { KeyPage } from './key-form.tsx';
import { hasKey } from './page-caller.ts';
import { usePage } from './page-context.ts';
import { readLocation, type ViewName, writeLocation } from './page-location.ts';
import { PaletteButton } from './palette.tsx';
import { PartBoundary } from './part-boundary.tsx';
import { offeredViews, PanelTabs, Rail } from './rail.tsx';
import { ResultTabs } from './result-tabs.tsx';
import { SavedOperationsProvider } from './saved-operations.tsx';
import { readSharedQuery } from './share-link.ts';
import { Toast } from './toast.tsx';
import { useReadableTabs } from './use-readable-tabs.ts';
import { useReadableThemes } from './use-readable-themes.ts';
import { useSchemaChanges } from './use-schema-changes.ts';
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

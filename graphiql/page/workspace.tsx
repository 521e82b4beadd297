/** The content of the page: the bar, and the view that is selected there. The editor keeps its state while another view is shown. */
import { GraphiQL, GraphiQLInterface } from 'graphiql';
import { useEffect, useState } from 'react';
import { CallerBar } from './caller-bar.tsx';
import { CopyLinkButton } from './copy-link-button.tsx';
import { FirstQuery } from './first-query.tsx';
import { KeyPage } from './key-form.tsx';
import { later } from './later.tsx';
import { hasKey, roleOf } from './page-caller.ts';
import { usePage } from './page-context.ts';
import { readLocation, writeLocation } from './page-location.ts';
import { PartBoundary } from './part-boundary.tsx';
import { ResultTabs } from './result-tabs.tsx';
import { readSharedQuery } from './share-link.ts';
import { useOpenQuery } from './use-open-query.ts';
import { useReadableTabs } from './use-readable-tabs.ts';
import { useReadableThemes } from './use-readable-themes.ts';
import { useSchemaChanges } from './use-schema-changes.ts';

const SchemaDiagram = later(() => import('./schema-diagram.tsx'), 'SchemaDiagram');
const TableRows = later(() => import('./table-rows.tsx'), 'TableRows');
const DoctorView = later(() => import('./doctor-view.tsx'), 'DoctorView');

const views = ['Query', 'Diagram', 'Rows', 'Doctor'] as const;
type View = (typeof views)[number];

export function Workspace() {
  const { backend, caller } = usePage();
  const offered = views.filter((name) => name !== 'Doctor' || backend !== null);
  const [view, setView] = useState<View>(() => offered.find((name) => name === readLocation('view')) ?? 'Query');
  useEffect(() => writeLocation('view', view === 'Query' ? null : view), [view]);
  useSchemaChanges(backend);
  const putIntoEditor = useOpenQuery();
  const openQuery = (query: string, variables?: string): void => {
    putIntoEditor(query, variables);
    setView('Query');
  };
  return (
    <div className="graphiql-container page">
      <header className="page-bar">
        <h1 className="page-name">rowgraph</h1>
        <nav className="page-views" aria-label="Views">
          {offered.map((name) => (
            <button key={name} type="button" aria-current={name === view ? 'page' : undefined} onClick={() => setView(name)}>
              {name}
            </button>
          ))}
        </nav>
        <CallerBar />
      </header>
      <main className="page-view">
        {!hasKey(caller) && <KeyPage />}
        <div className="page-view" hidden={view !== 'Query' || !hasKey(caller)}>
          <Editor />
        </div>
        <PartBoundary key={view}>
          {view === 'Diagram' && hasKey(caller) && <SchemaDiagram onOpenQuery={openQuery} />}
          {view === 'Rows' && hasKey(caller) && <TableRows onOpenQuery={openQuery} />}
          {view === 'Doctor' && backend !== null && <DoctorView backend={backend} role={roleOf(caller) ?? 'anon'} />}
        </PartBoundary>
      </main>
      <FirstQuery />
    </div>
  );
}

function Editor() {
  useReadableTabs();
  useReadableThemes();
  const [hasVariables] = useState(() => (readSharedQuery(location.search).variables ?? '') !== '');
  return (
    <GraphiQLInterface showPersistHeadersSettings={false} defaultEditorToolsVisibility={hasVariables && 'variables'}>
      <GraphiQL.Logo>{''}</GraphiQL.Logo>
      <GraphiQL.Toolbar>
        {({ prettify, merge, copy }) => (
          <>
            {prettify}
            {merge}
            {copy}
            <CopyLinkButton />
          </>
        )}
      </GraphiQL.Toolbar>
      <GraphiQL.Footer>
        <ResultTabs />
      </GraphiQL.Footer>
    </GraphiQLInterface>
  );
}

/** The content of the page: the bar, and the view that is selected there. The editor keeps its state while another view is shown. */
import { GraphiQL, GraphiQLInterface } from 'graphiql';
import { useState } from 'react';
import { CallerBar } from './caller-bar.tsx';
import { CopyLinkButton } from './copy-link-button.tsx';
import { decodeToken } from './decode-token.ts';
import { FirstQuery } from './first-query.tsx';
import { later } from './later.tsx';
import type { PageCaller } from './page-caller.ts';
import { usePage } from './page-context.ts';
import { PartBoundary } from './part-boundary.tsx';
import { ResultTabs } from './result-tabs.tsx';
import { readSharedQuery } from './share-link.ts';
import { useOpenQuery } from './use-open-query.ts';
import { useReadableTabs } from './use-readable-tabs.ts';
import { useReadableThemes } from './use-readable-themes.ts';

const SchemaDiagram = later(() => import('./schema-diagram.tsx'), 'SchemaDiagram');
const TableRows = later(() => import('./table-rows.tsx'), 'TableRows');
const DoctorView = later(() => import('./doctor-view.tsx'), 'DoctorView');

type View = 'Query' | 'Diagram' | 'Rows' | 'Doctor';

export function Workspace() {
  const { backend, caller } = usePage();
  const [view, setView] = useState<View>('Query');
  const putIntoEditor = useOpenQuery();
  const openQuery = (query: string, variables?: string): void => {
    putIntoEditor(query, variables);
    setView('Query');
  };
  const views: readonly View[] = backend === null ? ['Query', 'Diagram', 'Rows'] : ['Query', 'Diagram', 'Rows', 'Doctor'];
  return (
    <div className="graphiql-container page">
      <header className="page-bar">
        <h1 className="page-name">rowgraph</h1>
        <nav className="page-views" aria-label="Views">
          {views.map((name) => (
            <button key={name} type="button" aria-current={name === view ? 'page' : undefined} onClick={() => setView(name)}>
              {name}
            </button>
          ))}
        </nav>
        <CallerBar />
      </header>
      <main className="page-view">
        <div className="page-view" hidden={view !== 'Query'}>
          <Editor />
        </div>
        <PartBoundary key={view}>
          {view === 'Diagram' && <SchemaDiagram onOpenQuery={openQuery} />}
          {view === 'Rows' && <TableRows onOpenQuery={openQuery} />}
          {view === 'Doctor' && backend !== null && <DoctorView backend={backend} role={roleOf(caller)} />}
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

function roleOf(caller: PageCaller): string {
  if (caller.kind === 'role') return caller.role;
  const role = decodeToken(caller.token === '' ? caller.key : caller.token)?.role;
  return typeof role === 'string' ? role : 'anon';
}

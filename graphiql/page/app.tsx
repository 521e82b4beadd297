/** The page: GraphiQL, with a bar above it that shows the caller, and tabs next to its result. */
import { DOC_EXPLORER_PLUGIN, DocExplorerStore } from '@graphiql/plugin-doc-explorer';
import { HistoryStore } from '@graphiql/plugin-history';
import { GraphiQLProvider } from '@graphiql/react';
import { useCallback, useMemo, useState } from 'react';
import type { GraphiqlSettings } from '../../src/http/routes/graphiql-page.ts';
import { CallerHeaders } from './caller-headers.ts';
import { decodeToken } from './decode-token.ts';
import { chooseFirstTabs } from './editor-tabs.ts';
import { createFetcher } from './fetcher.ts';
import { LastExchange } from './last-exchange.ts';
import { LiveAnswers } from './live/live-answers.ts';
import { chooseStore, OperationLibrary } from './operation-library.ts';
import { PageBackend } from './page-backend.ts';
import { loadCaller, type PageCaller, rememberCaller } from './page-caller.ts';
import { PageContext, type PageState } from './page-context.ts';
import { readLocation, writeLocation } from './page-location.ts';
import { explorerPlugin, historyPlugin } from './panel-plugins.tsx';
import { savedPlugin } from './saved-panel.tsx';
import { Workspace } from './workspace.tsx';

const plugins = [DOC_EXPLORER_PLUGIN, explorerPlugin, savedPlugin, historyPlugin];

export function App({ settings }: { readonly settings: GraphiqlSettings }) {
  const state = usePageState(settings);
  const firstTabs = useMemo(() => chooseFirstTabs(settings.operations), [settings]);
  return (
    <PageContext value={state}>
      <GraphiQLProvider
        fetcher={state.fetcher}
        plugins={plugins}
        referencePlugin={DOC_EXPLORER_PLUGIN}
        defaultQuery=""
        {...firstTabs}
        inputValueDeprecation
        schemaDescription
      >
        <HistoryStore>
          <DocExplorerStore>
            <Workspace />
          </DocExplorerStore>
        </HistoryStore>
      </GraphiQLProvider>
    </PageContext>
  );
}

function usePageState(settings: GraphiqlSettings): PageState {
  const backend = useMemo(() => (settings.backend === null ? null : new PageBackend(settings.backend)), [settings]);
  const headers = useMemo(() => new CallerHeaders(backend), [backend]);
  const lastExchange = useMemo(() => new LastExchange(), []);
  const live = useMemo(() => new LiveAnswers(), []);
  const library = useMemo(() => new OperationLibrary(chooseStore(backend, settings.operationFolder)), [backend, settings]);
  const [caller, setCaller] = useState(() => firstCaller(settings));
  const changeCaller = useCallback(
    (changed: PageCaller, keepsKey = false) => {
      rememberCaller(changed, keepsKey);
      lastExchange.set(undefined);
      live.clear();
      writeLocation('caller', changed.kind === 'role' ? changed : null);
      setCaller(changed);
    },
    [lastExchange, live],
  );
  // With a new fetcher GraphiQL reads the schema again: which fields exist and complete depends on the caller.
  const { fetcher, ask } = useMemo(() => {
    const options = { endpoint: settings.endpoint, headersOfCaller: (wasRefused: boolean) => headers.of(caller, wasRefused) };
    return {
      fetcher: createFetcher({ ...options, onExchange: lastExchange.set, live }),
      ask: createFetcher({ ...options, onExchange: () => undefined }),
    };
  }, [settings, headers, caller, lastExchange, live]);
  const readHeaders = useCallback(() => headers.of(caller), [headers, caller]);
  return useMemo(
    () => ({ settings, backend, caller, changeCaller, fetcher, ask, lastExchange, live, library, readHeaders }),
    [settings, backend, caller, changeCaller, fetcher, ask, lastExchange, live, library, readHeaders],
  );
}

/** The caller of the last visit; otherwise the one whose key the server has filled in. */
function firstCaller({ anonKey, backend }: GraphiqlSettings): PageCaller {
  const remembered = (backend === null ? null : readLocation('caller')) ?? loadCaller();
  if (remembered?.kind === 'key' || (remembered !== null && backend !== null)) return remembered;
  const role = decodeToken(anonKey ?? '')?.role;
  if (backend !== null && typeof role === 'string') return { kind: 'role', role, claims: {} };
  return { kind: 'key', key: anonKey ?? '', token: '' };
}

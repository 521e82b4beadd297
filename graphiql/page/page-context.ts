/** What all parts of the page share: the caller, the page's backend, and the last request. */
import { createContext, useContext } from 'react';
import type { GraphiqlSettings } from '../../src/http/routes/graphiql-page.ts';
import type { Fetcher } from './fetcher.ts';
import type { LastExchange } from './last-exchange.ts';
import type { LiveAnswers } from './live/live-answers.ts';
import type { OperationLibrary } from './operation-library.ts';
import type { PageBackend } from './page-backend.ts';
import type { PageCaller } from './page-caller.ts';
import type { ViewName } from './page-location.ts';

export interface PageState {
  readonly settings: GraphiqlSettings;
  /** Null outside `rowgraph dev`. */
  readonly backend: PageBackend | null;
  readonly caller: PageCaller;
  readonly changeCaller: (caller: PageCaller, keepsKey?: boolean) => void;
  /** The fetcher of the editor, which records the last exchange. */
  readonly fetcher: Fetcher;
  /** The fetcher of all other views. */
  readonly ask: Fetcher;
  readonly lastExchange: LastExchange;
  /** The subscription in the editor. */
  readonly live: LiveAnswers;
  /** The saved operations. */
  readonly library: OperationLibrary;
  /** The headers that identify the caller. Rejects if the server signs none. */
  readonly readHeaders: () => Promise<Readonly<Record<string, string>>>;
}

/** What a view may ask of the page. */
export interface ViewProps {
  /** Puts a query into the editor, and shows it; `variables` is JSON. */
  readonly onOpenQuery: (query: string, variables?: string) => void;
  /** Shows another view; `table` is the type of the rows to show there. */
  readonly onShow: (view: ViewName, table?: string) => void;
}

export const PageContext = createContext<PageState | null>(null);

/** Throws outside of the page. */
export function usePage(): PageState {
  const state = useContext(PageContext);
  if (state === null) throw new Error('This part belongs inside the page.');
  return state;
}

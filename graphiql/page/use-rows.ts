/** Fetches the rows of the grid, again whenever the query or the caller changes. */
import { useEffect, useState } from 'react';
import type { Fetcher } from './fetcher.ts';
import { usePage } from './page-context.ts';
import type { ApiTable } from './read-tables.ts';
import type { RowsQuery } from './rows-query.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface Rows {
  /** Null until they have arrived. */
  readonly rows: readonly Row[] | null;
  /** Where the next page begins; null if there is none, and until the rows of the current query have arrived. */
  readonly endCursor: string | null;
  /** Whether the rows of the current query are still to arrive. */
  readonly isLoading: boolean;
  readonly error: string | null;
}

type Settled = Omit<Rows, 'isLoading'> & { readonly query: RowsQuery | null; readonly ask: Fetcher | null };

interface Connection {
  readonly edges: readonly { readonly node: Row }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface Answer {
  readonly data?: Readonly<Record<string, Connection | null>> | null;
  readonly errors?: readonly { readonly message: string }[];
}

const nothing: Settled = { query: null, ask: null, rows: null, endCursor: null, error: null };

/** Those of the previous query stay until the new ones have arrived, or if it fails; those of another caller do not. */
export function useRows({ collection }: ApiTable, asked: RowsQuery): Rows {
  const { ask } = usePage();
  const [settled, setSettled] = useState(nothing);
  const { query, rows, endCursor, error } = settled.ask === ask ? settled : nothing;
  useEffect(() => {
    let isLate = false;
    const settle = (read: Partial<Settled>): void => {
      if (isLate) return;
      setSettled((before) => ({ ...(before.ask === ask ? before : nothing), endCursor: null, error: null, ...read, ask, query: asked }));
    };
    ask(asked).then(
      (answer) => settle(readRows(answer as Answer, collection)),
      (failure: Error) => settle({ error: failure.message }),
    );
    return () => {
      isLate = true;
    };
  }, [ask, asked, collection]);
  const isLoading = query !== asked;
  // A cursor belongs to the order of its query.
  return { rows, endCursor: isLoading ? null : endCursor, isLoading, error };
}

function readRows({ data, errors }: Answer, collection: string): Partial<Settled> {
  const connection = data?.[collection];
  if (errors !== undefined || !connection) return { error: (errors ?? []).map(({ message }) => message).join('\n') };
  const { edges, pageInfo } = connection;
  return { rows: edges.map(({ node }) => node), endCursor: pageInfo.hasNextPage ? pageInfo.endCursor : null };
}

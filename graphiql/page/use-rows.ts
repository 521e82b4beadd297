/** Fetches the rows of the grid, again whenever the query or the caller changes. */
import { useEffect, useState } from 'react';
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

type Settled = Omit<Rows, 'isLoading'> & { readonly query: RowsQuery | null };

interface Connection {
  readonly edges: readonly { readonly node: Row }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface Answer {
  readonly data?: Readonly<Record<string, Connection | null>> | null;
  readonly errors?: readonly { readonly message: string }[];
}

const nothing: Settled = { query: null, rows: null, endCursor: null, error: null };

/** The rows known so far; those of the previous query stay until the new ones have arrived. */
export function useRows({ collection }: ApiTable, asked: RowsQuery): Rows {
  const { ask } = usePage();
  const [{ query, rows, endCursor, error }, setSettled] = useState(nothing);
  useEffect(() => {
    let isLate = false;
    const settle = (settled: Omit<Settled, 'query'>): void => {
      if (!isLate) setSettled({ ...settled, query: asked });
    };
    ask(asked).then(
      (answer) => settle(readRows(answer as Answer, collection)),
      (failure: Error) => settle({ ...nothing, error: failure.message }),
    );
    return () => {
      isLate = true;
    };
  }, [ask, asked, collection]);
  const isLoading = query !== asked;
  // A cursor belongs to the order of its query.
  return { rows, endCursor: isLoading ? null : endCursor, isLoading, error };
}

function readRows({ data, errors }: Answer, collection: string): Omit<Settled, 'query'> {
  const connection = data?.[collection];
  if (errors !== undefined || !connection) return { ...nothing, error: (errors ?? []).map(({ message }) => message).join('\n') };
  const { edges, pageInfo } = connection;
  return { rows: edges.map(({ node }) => node), endCursor: pageInfo.hasNextPage ? pageInfo.endCursor : null, error: null };
}

/** Fetches the rows of the grid, again whenever the query or the caller changes. */
import { useCallback, useEffect, useState } from 'react';
import type { Fetcher } from '../fetcher.ts';
import { usePage } from '../page-context.ts';
import type { ApiTable } from '../read-tables.ts';
import type { Row, RowsAnswer, RowsQuery } from './rows-query.ts';

export interface Rows {
  /** Null until they have arrived. */
  readonly rows: readonly Row[] | null;
  /** How many rows match the filters; null if the table does not say. */
  readonly totalCount: number | null;
  /** Where the next page begins; null if there is none, and until the rows of the current query have arrived. */
  readonly endCursor: string | null;
  /** Whether the rows of the current query are still to arrive. */
  readonly isLoading: boolean;
  /** Of the current query, whose rows are then those of the one before. */
  readonly error: RowsError | null;
  readonly reload: () => void;
}

export interface RowsError {
  readonly message: string;
  /** The index of the filter that it is about, if the server says so. */
  readonly filter: number | null;
  /** Whether it is about a value, and so probably about a filter. */
  readonly isOfValue: boolean;
}

type Settled = Omit<Rows, 'isLoading' | 'reload'> & { readonly query: unknown; readonly ask: Fetcher | null };

const nothing: Settled = { query: null, ask: null, rows: null, totalCount: null, endCursor: null, error: null };

/** Those of the previous query stay until the new ones have arrived, or if it fails; those of another caller do not. */
export function useRows({ collection }: ApiTable, asked: RowsQuery): Rows {
  const { ask } = usePage();
  const [settled, setSettled] = useState(nothing);
  const [turn, setTurn] = useState(0);
  const { query, rows, totalCount, endCursor, error } = settled.ask === ask ? settled : nothing;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another turn asks again.
  useEffect(() => {
    let isLate = false;
    const settle = (read: Partial<Settled>): void => {
      if (isLate) return;
      setSettled((before) => ({ ...(before.ask === ask ? before : nothing), endCursor: null, error: null, ...read, ask, query: asked }));
    };
    ask(asked).then(
      (answer) => settle(readRows(answer as RowsAnswer, collection)),
      (failure: Error) => settle({ error: { message: failure.message, filter: null, isOfValue: false } }),
    );
    return () => {
      isLate = true;
    };
  }, [ask, asked, collection, turn]);
  const isLoading = query !== asked;
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  // A cursor belongs to the order of its query.
  return { rows, totalCount, endCursor: isLoading ? null : endCursor, isLoading, error: isLoading ? null : error, reload };
}

function readRows({ data, errors }: RowsAnswer, collection: string): Partial<Settled> {
  const connection = data?.[collection];
  if (errors !== undefined || !connection) {
    const message = (errors ?? []).map((error) => error.message).join('\n') || 'There is no response.';
    const isOfValue = (errors ?? []).some(({ extensions }) => ['BAD_USER_INPUT', 'INVALID_VALUE'].includes(String(extensions?.code)));
    return { error: { message, filter: filterOf(errors ?? []), isOfValue } };
  }
  const { edges, pageInfo, totalCount = null } = connection;
  return { rows: edges.map(({ node }) => node), totalCount, endCursor: pageInfo.hasNextPage ? pageInfo.endCursor : null };
}

/** The server says where in the variable the value is: `filter.and[1].id.eq`. */
function filterOf(errors: NonNullable<RowsAnswer['errors']>): number | null {
  const places = errors.map(({ extensions }) => /^filter\.(?:and\[(\d+)\])?/.exec(String(extensions?.input ?? '')));
  const found = places.find((place) => place !== null);
  return found == null ? null : Number(found[1] ?? 0);
}

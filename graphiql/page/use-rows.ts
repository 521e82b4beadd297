/** Fetches the rows of the grid, again whenever the query or the caller changes. */
import { useEffect, useState } from 'react';
import { usePage } from './page-context.ts';
import type { ApiTable } from './read-tables.ts';
import type { RowsQuery } from './rows-query.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface Rows {
  /** Null until they have arrived. */
  readonly rows: readonly Row[] | null;
  /** Where the next page begins; null if there is none. */
  readonly endCursor: string | null;
  readonly error: string | null;
}

interface Connection {
  readonly edges: readonly { readonly node: Row }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface Answer {
  readonly data?: Readonly<Record<string, Connection | null>> | null;
  readonly errors?: readonly { readonly message: string }[];
}

const nothing: Rows = { rows: null, endCursor: null, error: null };

/** The rows known so far; those of the previous query stay until the new ones have arrived. */
export function useRows({ collection }: ApiTable, asked: RowsQuery): Rows {
  const { ask } = usePage();
  const [rows, setRows] = useState(nothing);
  useEffect(() => {
    let isLate = false;
    const settle = (settled: Rows): void => {
      if (!isLate) setRows(settled);
    };
    ask(asked).then(
      (answer) => settle(readRows(answer as Answer, collection)),
      (error: Error) => settle({ ...nothing, error: error.message }),
    );
    return () => {
      isLate = true;
    };
  }, [ask, asked, collection]);
  return rows;
}

function readRows({ data, errors }: Answer, collection: string): Rows {
  const connection = data?.[collection];
  if (errors !== undefined || !connection) return { ...nothing, error: (errors ?? []).map(({ message }) => message).join('\n') };
  const { edges, pageInfo } = connection;
  return { rows: edges.map(({ node }) => node), endCursor: pageInfo.hasNextPage ? pageInfo.endCursor : null, error: null };
}

/** Writes rows as CSV or JSON, of all pages up to a limit. */
import type { Fetcher } from '../fetcher.ts';
import type { ApiColumn, ApiTable } from '../read-tables.ts';
import { type Row, type RowsAnswer, type RowsChoice, writeRowsQuery } from './rows-query.ts';
import type { TableAbilities } from './table-abilities.ts';

/** How many rows an export has at most. */
export const mostExported = 10_000;

const rowsOfPage = 1000;

export interface FetchedRows {
  readonly rows: readonly Row[];
  /** Whether there are more than the limit. */
  readonly isCut: boolean;
}

/** Reads page after page, under the filters and in the order of the grid. Rejects with the server's message. */
export async function fetchAllRows(
  ask: Fetcher,
  table: ApiTable,
  choice: RowsChoice,
  abilities: TableAbilities,
  { limit, onProgress }: { readonly limit: number; readonly onProgress: (count: number) => void },
): Promise<FetchedRows> {
  const rows: Row[] = [];
  const plain = { ...abilities, links: [], hasTotalCount: false };
  let after: string | null = null;
  do {
    const pageSize = Math.min(rowsOfPage, limit - rows.length);
    const { data, errors } = (await ask(writeRowsQuery(table, { ...choice, after, pageSize }, plain))) as RowsAnswer;
    const connection = data?.[table.collection];
    if (errors !== undefined || !connection)
      throw new Error((errors ?? []).map(({ message }) => message).join('\n') || 'There is no response.');
    rows.push(...connection.edges.map(({ node }) => node));
    onProgress(rows.length);
    after = connection.pageInfo.hasNextPage ? connection.pageInfo.endCursor : null;
    if (rows.length >= limit) return { rows: rows.slice(0, limit), isCut: after !== null };
  } while (after !== null);
  return { rows, isCut: false };
}

/** Spreadsheets take a text that begins like this for a formula. */
const formula = /^[=+\-@\t\r]/;
const numbers = new Set(['Int', 'Float', 'BigInt', 'BigFloat']);

/**
 * CSV as RFC 4180 has it: lines end with CR LF, and quotes are doubled. A null is empty, an empty text is `""`, as PostgreSQL's COPY writes them. With
 * `isForSpreadsheets`, a text that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay as they are.
 */
export function writeCsv(columns: readonly ApiColumn[], rows: readonly Row[], isForSpreadsheets: boolean): string {
  const header = columns.map(({ name }) => quote(name));
  const lines = rows.map((row) =>
    columns.map(({ name, leaf, isList, isBareJson }) => {
      const value = row[name];
      if (value === null || value === undefined) return '';
      const text = typeof value === 'string' && !isBareJson ? value : JSON.stringify(value);
      const isNumber = !isList && (numbers.has(leaf) || typeof value !== 'string');
      const safe = isForSpreadsheets && !isNumber && formula.test(text) ? `'${text}` : text;
      return quote(safe);
    }),
  );
  return [header, ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

function quote(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A JSON array of objects, a row a line. Values of JSON columns are written as JSON; long integers stay strings, as in the API. */
export function writeJson(columns: readonly ApiColumn[], rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const members = columns.map(({ name, leaf, isList, isBareJson }) => {
      const value = row[name];
      // Its text is JSON already: parsing it would round long numbers.
      const text = leaf === 'JSON' && !isList && !isBareJson && typeof value === 'string' ? value : JSON.stringify(value ?? null);
      return `${JSON.stringify(name)}: ${text}`;
    });
    return `  {${members.join(', ')}}`;
  });
  return lines.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`;
}

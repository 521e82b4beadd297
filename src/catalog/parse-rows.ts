/** Parses a list of rows that a query returns as text: JSON arrays joined by a separator. */

/** A control character that never occurs in JSON text. */
export const rowSeparator = '\x1e';

/** Parses the columns of a row, which are lists of rows with these names in this order. */
export function* parseLists<Lists>(names: readonly (keyof Lists)[], columns: readonly (string | null)[]): Generator<void, Lists> {
  const lists: Partial<Record<keyof Lists, readonly unknown[]>> = {};
  for (const [position, name] of names.entries()) lists[name] = yield* parseRows(columns[position] ?? null);
  return lists as Lists;
}

/** Characters to parse before yielding: less than a millisecond of work. */
const pieceLength = 64 * 1024;

/** Parses the rows, yielding in between, because thousands of tables have megabytes of columns. Null is an empty list. */
export function* parseRows<Row>(text: string | null): Generator<void, readonly Row[]> {
  const rows: Row[] = [];
  if (text === null) return rows;
  for (let start = 0; start < text.length; ) {
    const next = text.indexOf(rowSeparator, start + pieceLength);
    const end = next < 0 ? text.length : next;
    const piece = text.slice(start, end).replaceAll(rowSeparator, ',');
    for (const row of JSON.parse(`[${piece}]`) as Row[]) rows.push(row);
    start = end + 1;
    yield;
  }
  return rows;
}

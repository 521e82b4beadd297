/** Parses a list of rows that a query returns as text: JSON arrays joined by a separator. */

/** A control character that never occurs in JSON text. */
export const rowSeparator = '\x1e';

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

/** Reads a list of rows that a query has put together as text: JSON arrays, a separator between two of them. */

/** No JSON text has this control character. */
export const rowSeparator = '\x1e';

/** About as many characters are parsed between two pauses, which takes less than a millisecond. */
const pieceLength = 64 * 1024;

/** The rows, pausing in between: thousands of tables have megabytes of columns. Null is a list without rows. */
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

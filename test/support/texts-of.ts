/** The results of a batch as text: drivers may return values as bytes. */
import type { BatchResult, ColumnValue, Rows } from '../../src/database/database.ts';

export function textsOf(results: BatchResult): Rows {
  return results.map((row) => row.map(textOf));
}

function textOf(field: ColumnValue): string | null {
  if (field === null || typeof field === 'string') return field;
  return ('latin1' in field ? Buffer.from(field.latin1, 'latin1') : Buffer.concat(field)).toString();
}

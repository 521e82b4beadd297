/** What a flight gave, as text: drivers may hand values on as bytes. */
import type { Field, FlightResult, Rows } from '../../src/database/database.ts';

export function textsOf(results: FlightResult): Rows {
  return results.map((row) => row.map(textOf));
}

function textOf(field: Field): string | null {
  if (field === null || typeof field === 'string') return field;
  return ('latin1' in field ? Buffer.from(field.latin1, 'latin1') : Buffer.concat(field)).toString();
}

/** What a flight gave, as text: drivers may hand values on as bytes. */
import type { FlightResult, Rows } from '../../src/database/database.ts';

export function textsOf(results: FlightResult): Rows {
  return results.map((row) => row.map((field) => (field === null || typeof field === 'string' ? field : Buffer.concat(field).toString())));
}

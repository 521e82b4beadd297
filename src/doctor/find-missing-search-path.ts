/** Schemas of the setting `extraSearchPath` that do not exist. They may be created later, so everything else works. */
import type { Database } from '../database/database.ts';
import { type Finding, finding } from './report.ts';

const missingQuery = `
select s.name from pg_catalog.json_array_elements_text($1::json) s(name)
where not exists (select from pg_catalog.pg_namespace n where n.nspname = s.name)`;

export async function findMissingSearchPath(database: Database, extraSearchPath: readonly string[]): Promise<Finding[]> {
  if (extraSearchPath.length === 0) return [];
  const rows = await database.query(missingQuery, [JSON.stringify(extraSearchPath)]);
  const message = 'it is on the search path but does not exist; create it, or remove it from the setting';
  return rows.map(([name]) => finding('missing-search-path', 'schema', name ?? '', message));
}

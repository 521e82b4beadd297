/**
 * A text that stays the same for as long as no transaction changes anything in the database server: if it does, the catalogs need not be
 * compared.
 */
import type { RequestDatabase } from '../database/database.ts';
import { watchQuery } from './watch-query.ts';

/**
 * Whatever changes a catalog gets a transaction id, and which ids are assigned and finished is what `pg_current_snapshot` returns
 * (https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT). On a standby it does not list the running ones. The
 * start of the server tells a server from another one in its place, with another version or restored from a backup.
 */
export const changeMarker = `case when pg_catalog.pg_is_in_recovery() then null
  else pg_catalog.concat_ws(' ', pg_catalog.pg_current_snapshot(), pg_catalog.pg_postmaster_start_time()) end`;
const markerQuery = `select ${changeMarker}`;

/** Reads the marker; null on a standby, which has none. Equal texts mean that nothing has changed in between. */
export async function readChangeMarker(database: RequestDatabase): Promise<string | null> {
  const [row] = await database.query(markerQuery, [], watchQuery);
  return row?.[0] ?? null;
}

/** Reads the version of the schema, which the event triggers of `extension/` maintain, and the version of the extension. */
import { DatabaseError, type RequestDatabase } from '../database/database.ts';
import { undefinedStates } from '../database/session-statement.ts';
import { hasVersionText, isOnText } from '../extension/read-extension.ts';
import { watchQuery } from './watch-query.ts';

/** The channel on which the event triggers announce committed DDL. */
export const schemaChannel = 'rowgraph_schema';

/** Both are null if the extension is not installed, or its event triggers are disabled. */
export interface Versions {
  /** The schema version. */
  readonly version: string | null;
  /** The version of the extension. */
  readonly extension: string | null;
}

const absent: Versions = { version: null, extension: null };
const presenceText = `select ${isOnText}, ${hasVersionText}`;
const versionText = 'select coalesce(pg_catalog.sum(weight), 0)::text from rowgraph.schema_change';
/** How often to retry if the extension is dropped and created again between two queries. */
const mostAttempts = 10;

/** Read this before the catalog: DDL that commits in between then shows as a different version at the first batch, and is not missed. */
export async function readVersions(database: Pick<RequestDatabase, 'query'>): Promise<Versions> {
  for (let attempt = 1; ; attempt += 1) {
    const [presence] = await database.query(presenceText, [], watchQuery);
    if (presence?.[0] !== 't') return absent;
    try {
      const text = presence[1] === 't' ? versionText.replace(' from', ', rowgraph.version() from') : versionText;
      const [row] = await database.query(text, [], watchQuery);
      return { version: row?.[0] ?? null, extension: row?.[1] ?? '1.0' };
    } catch (error) {
      const isGone = error instanceof DatabaseError && error.sqlstate !== null && undefinedStates.has(error.sqlstate);
      if (!isGone || attempt === mostAttempts) throw error;
    }
  }
}

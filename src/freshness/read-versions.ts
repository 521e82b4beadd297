/**
 * Reads the version of the schema, which the event triggers of `extension/` maintain, what recent transactions changed, and the version of the
 * extension.
 */
import { DatabaseError, type RequestDatabase } from '../database/database.ts';
import { undefinedStates } from '../database/session-statement.ts';
import { hasChangesText, hasVersionText, isOnText } from '../extension/read-extension.ts';
import type { SchemaChange } from './schema-change.ts';
import { watchQuery } from './watch-query.ts';

/** The channel on which the event triggers announce committed DDL. */
export const schemaChannel = 'rowgraph_schema';

/** All are null if the extension is not installed, or its event triggers are disabled. */
export interface Versions {
  /** The schema version. */
  readonly version: string | null;
  /** The version of the extension. */
  readonly extension: string | null;
  /** What transactions changed before this version, as far as it is still noted; null if the extension is too old to note it. */
  readonly changes: readonly SchemaChange[] | null;
}

const absent: Versions = { version: null, extension: null, changes: null };
const presenceText = `select ${isOnText}, ${hasVersionText}, ${hasChangesText}`;
/** More changes than these are not read; then some are missing. */
const mostChanges = 2000;
const changesText = `(select pg_catalog.json_agg(pg_catalog.json_build_array(
    c.weight, c.schema_name, c.relation::int8, c.relation_name, c.is_local, c.is_alone, c.needs_load
  )) from (select * from rowgraph.recent_change limit ${mostChanges}) c)::text`;
const versionText = (hasVersion: boolean, hasChanges: boolean): string => `select coalesce(pg_catalog.sum(weight), 0)::text,
  ${hasVersion ? 'rowgraph.version()' : 'null'}, ${hasChanges ? changesText : 'null'} from rowgraph.schema_change`;
/** How often to retry if the extension is dropped and created again between two queries. */
const mostAttempts = 10;

type RawChange = readonly [
  weight: number,
  schema: string | null,
  relation: number | null,
  name: string | null,
  isLocal: boolean,
  isAlone: boolean,
  needsLoad: boolean,
];

/** Read this before the catalog: DDL that commits in between then shows as a different version at the first batch, and is not missed. */
export async function readVersions(database: Pick<RequestDatabase, 'query'>): Promise<Versions> {
  for (let attempt = 1; ; attempt += 1) {
    const [presence] = await database.query(presenceText, [], watchQuery);
    const [isOn, hasVersion, hasChanges] = (presence ?? []).map((value) => value === 't');
    if (!isOn) return absent;
    try {
      const [row] = await database.query(versionText(hasVersion === true, hasChanges === true), [], watchQuery);
      return { version: row?.[0] ?? null, extension: row?.[1] ?? '1.0', changes: hasChanges ? parseChanges(row?.[2] ?? '[]') : null };
    } catch (error) {
      const isGone = error instanceof DatabaseError && error.sqlstate !== null && undefinedStates.has(error.sqlstate);
      if (!isGone || attempt === mostAttempts) throw error;
    }
  }
}

function parseChanges(json: string): readonly SchemaChange[] {
  return (JSON.parse(json) as readonly RawChange[]).map(([weight, schema, relation, name, isLocal, isAlone, needsLoad]) => {
    return { weight, schema, relation, name, isLocal, isAlone, needsLoad };
  });
}

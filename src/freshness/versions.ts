/**
 * The version of the schema, which the event triggers of `extension/` maintain, what transactions changed since another version, and what
 * that means for a snapshot of the schema.
 */
import type { RequestDatabase } from '../database/database.ts';
import { undefinedStates } from '../database/session-statement.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { hasChangesText, hasVersionText, isOnText } from '../extension/install-extension.ts';
import { readFingerprint, watchQuery } from './fingerprint.ts';

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

/** What a transaction changed, as `extension/recent-change-script.ts` notes it. */
export interface SchemaChange {
  /** Identifies the transaction: what it added to the schema version. */
  readonly weight: number;
  /** The schema of what was changed; null if it has none. */
  readonly schema: string | null;
  /** The table or view that was created, altered or dropped, and its name afterwards. */
  readonly relation: number | null;
  readonly name: string | null;
  /** Whether the change concerns only APIs that depend on this schema. */
  readonly isLocal: boolean;
  /** Whether it concerns only requests for this table. */
  readonly isAlone: boolean;
  /** Whether the API may have changed although the fingerprint has not. */
  readonly needsLoad: boolean;
}

/**
 * What has changed between two readings; null if that is not known. All changes are known if the weights of their transactions add up to
 * the difference of the versions.
 */
export function changesBetween(earlier: Versions, later: Versions): readonly SchemaChange[] | null {
  if (earlier.version === null || later.version === null || earlier.changes === null || later.changes === null) return null;
  if (earlier.extension !== later.extension) return null;
  const earlierWeights = new Set(earlier.changes.map(({ weight }) => weight));
  const changes = later.changes.filter(({ weight }) => !earlierWeights.has(weight));
  let sum = BigInt(earlier.version);
  for (const weight of new Set(changes.map((change) => change.weight))) sum += BigInt(weight);
  return sum === BigInt(later.version) ? changes : null;
}

/** What a snapshot depends on. */
export interface Dependence {
  /** The schemas that names are looked up in, and those of what its views read. */
  readonly schemas: ReadonlySet<string>;
  /** Its tables by their ids. One without a key may come into the API when it gets one, and take a name that another table has. */
  readonly tables: ReadonlyMap<number, { readonly schema: string; readonly name: string; readonly hasKey: boolean }>;
  /** The ids of what its views read. */
  readonly underlying: ReadonlySet<number>;
}

/**
 * The ids of the tables whose requests need a newer snapshot after these changes; `all` if all requests do. Only a table that has a key,
 * still has its name, and is read by no view is one for itself.
 */
export function tablesInDoubt(changes: readonly SchemaChange[], dependence: Dependence): ReadonlySet<number> | 'all' {
  const doubtful = new Set<number>();
  for (const change of changes) {
    if (!concerns(change, dependence)) continue;
    const { schema, relation, name, isAlone } = change;
    const table = relation === null || dependence.underlying.has(relation) ? undefined : dependence.tables.get(relation);
    if (!isAlone || table?.hasKey !== true || table.schema !== schema || table.name !== name) return 'all';
    doubtful.add(relation!);
  }
  return doubtful;
}

/** Whether the snapshot may be invalid even if the fingerprint has not changed. */
export function needLoad(changes: readonly SchemaChange[], dependence: Dependence): boolean {
  return changes.some((change) => change.needsLoad && concerns(change, dependence));
}

/** A table that the snapshot knows may have left its schema. */
function concerns({ schema, relation, isLocal }: SchemaChange, { schemas, tables, underlying }: Dependence): boolean {
  return !isLocal || schema === null || schemas.has(schema) || (relation !== null && (tables.has(relation) || underlying.has(relation)));
}

/** Identifies a state of the database's schema. */
export interface SchemaStamp extends Versions {
  readonly fingerprint: string;
}

/** Reads the stamp. Read it before the catalog: DDL that commits in between then shows as a difference, and is not missed. */
export async function readSchemaStamp(database: RequestDatabase, schemas: readonly string[]): Promise<SchemaStamp> {
  // One after the other: a fingerprint that has not changed proves that nothing had at this version.
  const versions = await readVersions(database);
  return { ...versions, fingerprint: await readFingerprint(database, schemas) };
}

/** Whether nothing has changed between two stamps. */
export function isSameStamp(one: SchemaStamp, other: SchemaStamp): boolean {
  return one.version === other.version && one.fingerprint === other.fingerprint && one.extension === other.extension;
}

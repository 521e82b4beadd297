/** Finds out what of the extension is in a database, and how it came there. In: a connection of any role; out: its state. Changes nothing. */
import type { Database } from '../database/database.ts';
import { currentVersion, isOlder } from './extension-versions.ts';

/** What is used of a `Database`, so that any connection will do. */
export type Queryable = Pick<Database, 'query'>;

export interface ExtensionState {
  /** How it was installed: by `create extension`, or by its SQL alone. Null if it is not. */
  readonly kind: 'extension' | 'plain' | null;
  readonly version: string | null;
  /** Whether both event triggers are there and enabled. */
  readonly isOn: boolean;
  /** The newest version that the server has the files of. */
  readonly available: string | null;
}

/** A function of ours. Looked up in the catalogs: by name, PostgreSQL refuses to look into a schema of this name that somebody else has made. */
const ownFunction = (name: string): string => `select p.oid, p.prosrc from pg_catalog.pg_proc p
  where p.proname = '${name}' and p.pronargs = 0 and p.pronamespace in (select n.oid from pg_catalog.pg_namespace n where n.nspname = 'rowgraph')`;

/**
 * Whether both event triggers are on. That they call the function of the schema `rowgraph` shows that whoever made them trusts the schema: anybody might make
 * another one of this name.
 */
export const isOnText = `(select count(*) = 2 from pg_catalog.pg_event_trigger t
  where t.evtname in ('rowgraph_ddl', 'rowgraph_drop') and t.evtenabled in ('O', 'A')
    and t.evtfoid in (select f.oid from (${ownFunction('note_schema_change')}) f))`;

/** Whether the extension can tell its version, which 1.0 cannot. */
export const hasVersionText = `exists (${ownFunction('version')})`;

const stateText = `select ${isOnText},
  exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'rowgraph' and c.relname = 'schema_change'),
  (select x.extversion from pg_catalog.pg_extension x where x.extname = 'rowgraph'),
  (select a.default_version from pg_catalog.pg_available_extensions a where a.name = 'rowgraph'),
  (select f.prosrc from (${ownFunction('version')}) f)`;

/** Reads the state. */
export async function readExtension(database: Queryable): Promise<ExtensionState> {
  const [row] = await database.query(stateText);
  const [isOn, isThere, extensionVersion, available, versionBody] = row ?? [];
  const common = { isOn: isOn === 't', available: available ?? null };
  if (extensionVersion) return { ...common, kind: 'extension', version: extensionVersion };
  if (isThere !== 't') return { ...common, kind: null, version: null };
  // Read from the function and not by a call: somebody else may have made it.
  return { ...common, kind: 'plain', version: /'([\d.]+)'/.exec(versionBody ?? '')?.[1] ?? '1.0' };
}

/** `outdated`: it is of an older version, or its event triggers are disabled or incomplete. */
export type Installation = 'installed' | 'outdated' | 'absent';

/** Whether there is anything to do for this version of rowgraph. A newer version of the extension is good, too. */
export function judgeExtension({ version, isOn }: ExtensionState): Installation {
  if (version === null) return 'absent';
  return isOn && !isOlder(version, currentVersion) ? 'installed' : 'outdated';
}

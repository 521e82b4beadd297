/** Finds out which version of the extension a database has, and how it was installed. Any role can run it; it changes nothing. */
import type { Database } from '../database/database.ts';
import { currentVersion, isOlder } from './extension-versions.ts';

/** The part of `Database` used here, so that any connection will do. */
export type Queryable = Pick<Database, 'query'>;

export interface ExtensionState {
  /** How it was installed: by `create extension`, or as plain SQL. Null if it is not installed. */
  readonly kind: 'extension' | 'plain' | null;
  readonly version: string | null;
  /** Whether both event triggers exist and are enabled. */
  readonly isOn: boolean;
  /** The newest version that the server has files for. */
  readonly available: string | null;
}

/** Looks up a function of the extension in the catalogs: by name, PostgreSQL would refuse if another role owns a schema `rowgraph`. */
const ownFunction = (name: string): string => `select p.oid, p.prosrc from pg_catalog.pg_proc p
  where p.proname = '${name}' and p.pronargs = 0 and p.pronamespace in (select n.oid from pg_catalog.pg_namespace n where n.nspname = 'rowgraph')`;

/**
 * Whether both event triggers are on and call the function in the schema `rowgraph`. Anybody could create a schema with this name, but only
 * a superuser can create event triggers, so their creator trusts the schema.
 */
export const isOnText = `(select count(*) = 2 from pg_catalog.pg_event_trigger t
  where t.evtname in ('rowgraph_ddl', 'rowgraph_drop') and t.evtenabled in ('O', 'A')
    and t.evtfoid in (select f.oid from (${ownFunction('note_schema_change')}) f))`;

/** Whether the extension has a function that returns its version; 1.0 has none. */
export const hasVersionText = `exists (${ownFunction('version')})`;

/** Whether the extension notes what changed, which it does from 1.3 on. */
export const hasChangesText = `exists (select from pg_catalog.pg_class c where c.relname = 'recent_change'
  and c.relnamespace in (select n.oid from pg_catalog.pg_namespace n where n.nspname = 'rowgraph'))`;

const stateText = `select ${isOnText},
  exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'rowgraph' and c.relname = 'schema_change'),
  (select x.extversion from pg_catalog.pg_extension x where x.extname = 'rowgraph'),
  (select a.default_version from pg_catalog.pg_available_extensions a where a.name = 'rowgraph'),
  (select f.prosrc from (${ownFunction('version')}) f)`;

export async function readExtension(database: Queryable): Promise<ExtensionState> {
  const [row] = await database.query(stateText);
  const [isOn, isThere, extensionVersion, available, versionBody] = row ?? [];
  const common = { isOn: isOn === 't', available: available ?? null };
  if (extensionVersion) return { ...common, kind: 'extension', version: extensionVersion };
  if (isThere !== 't') return { ...common, kind: null, version: null };
  // Reads the function's source instead of calling it, because somebody else may have created it.
  return { ...common, kind: 'plain', version: /'([\d.]+)'/.exec(versionBody ?? '')?.[1] ?? '1.0' };
}

/** `outdated`: an older version, or event triggers that are disabled or missing. */
export type Installation = 'installed' | 'outdated' | 'absent';

/** Whether this version of rowgraph needs to install or update anything. A newer version of the extension is fine. */
export function judgeExtension({ version, isOn }: ExtensionState): Installation {
  if (version === null) return 'absent';
  return isOn && !isOlder(version, currentVersion) ? 'installed' : 'outdated';
}

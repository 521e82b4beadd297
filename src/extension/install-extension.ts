/**
 * Installs, updates and removes the extension: with PostgreSQL's extension commands if the server has its files, otherwise with the same
 * SQL as plain objects. Each runs in one transaction.
 */

import { currentVersion, extensionVersions, isOlder } from './extension-versions.ts';
import { liveRemoval, type Queryable, uninstallLive } from './install-live.ts';

/** Taken because several processes may start at once. */
const lock = `select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('rowgraph.schema_change'));`;
/** The search path keeps users' functions from shadowing built-in ones. */
const plainScript = `${lock}
select pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
${extensionVersions.map(({ script }) => script).join('\n')}`;
/** Enables the triggers instead of recreating them, because those of an extension cannot be recreated individually. */
const enableTriggers = 'alter event trigger rowgraph_ddl enable always; alter event trigger rowgraph_drop enable always;';

const removal = `drop event trigger if exists rowgraph_ddl;
  drop event trigger if exists rowgraph_drop;
  drop event trigger if exists rowgraph_live_start;
  drop event trigger if exists rowgraph_live_end;
  drop event trigger if exists rowgraph_live_drop;
  drop function if exists rowgraph.note_schema_change(), rowgraph.fold_schema_changes(), rowgraph.raise_stale_schema(), rowgraph.describe_change(text, text),
    rowgraph.version(), rowgraph.check_server(text), rowgraph.claim_key(text, bytea, text, bytea, interval),
    rowgraph.keep_response(text, bytea, text, text[], text[]), rowgraph.read_response(text, bytea, text, bytea),
    rowgraph.check_key_room(text, bytea, text, bigint, bigint), rowgraph.read_key_bytes(bigint);
  ${liveRemoval};
  drop sequence if exists rowgraph.idempotency_bytes, rowgraph.idempotency_read_at;
  drop table if exists rowgraph.schema_change, rowgraph.recent_change, rowgraph.idempotency_key;
  drop schema if exists rowgraph`;

/**
 * Installs or updates the extension, unless this version or a newer one is installed: as an extension if PostgreSQL has its files,
 * otherwise as plain SQL. Needs a superuser (or a role that the provider allows); for others it rejects with SQLSTATE 42501 and changes
 * nothing.
 */
export async function installExtension(database: Queryable): Promise<void> {
  const state = await readExtension(database);
  const isAvailable = state.available !== null && !isOlder(state.available, currentVersion);
  if (state.kind === null && isAvailable) await database.query(`${lock} create extension if not exists rowgraph`);
  else await installOrUpdate(database, state);
}

/** Like `installExtension`, but always as plain SQL if nothing is installed. */
export async function applyExtension(database: Queryable): Promise<void> {
  await installOrUpdate(database, await readExtension(database));
}

async function installOrUpdate(database: Queryable, state: ExtensionState): Promise<void> {
  if (judgeExtension(state) === 'installed') return;
  if (state.kind !== 'extension') await database.query(plainScript);
  else {
    const isCurrent = state.version !== null && !isOlder(state.version, currentVersion);
    await database.query(`${lock} ${enableTriggers} ${isCurrent ? '' : `alter extension rowgraph update to '${currentVersion}'`}`);
  }
}

/**
 * Removes the extension, in one transaction, after what `rowgraph live install` has set up. Fails if the schema `rowgraph` contains other
 * objects.
 */
export async function removeExtension(database: Queryable): Promise<void> {
  const { kind } = await readExtension(database);
  if (kind !== null) await uninstallLive(database);
  await database.query(kind === 'extension' ? 'drop extension rowgraph' : removal);
}

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
type Installation = 'installed' | 'outdated' | 'absent';

/** Whether this version of rowgraph needs to install or update anything. A newer version of the extension is fine. */
export function judgeExtension({ version, isOn }: ExtensionState): Installation {
  if (version === null) return 'absent';
  return isOn && !isOlder(version, currentVersion) ? 'installed' : 'outdated';
}

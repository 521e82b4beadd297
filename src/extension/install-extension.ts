/**
 * Installs, updates and removes the extension: with PostgreSQL's extension commands if the server has its files, otherwise with the same
 * SQL as plain objects. Each runs in one transaction.
 */
import { currentVersion, extensionVersions, isOlder } from './extension-versions.ts';
import { type ExtensionState, judgeExtension, type Queryable, readExtension } from './read-extension.ts';

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
  drop function if exists rowgraph.note_schema_change(), rowgraph.fold_schema_changes(), rowgraph.raise_stale_schema(), rowgraph.describe_change(text, text),
    rowgraph.version(), rowgraph.check_server(text), rowgraph.claim_key(text, bytea, text, bytea, interval),
    rowgraph.keep_response(text, bytea, text, text[], text[]), rowgraph.read_response(text, bytea, text, bytea),
    rowgraph.check_key_room(text, bytea, text, bigint, bigint), rowgraph.read_key_bytes(bigint);
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

/** Removes the extension, in one transaction. Fails if the schema `rowgraph` contains other objects. */
export async function removeExtension(database: Queryable): Promise<void> {
  const { kind } = await readExtension(database);
  await database.query(kind === 'extension' ? 'drop extension rowgraph' : removal);
}

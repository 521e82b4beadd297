/**
 * Sets up, in a database, what tells rowgraph which tables a transaction has changed: a publication, triggers or both, table by table, each
 * in a transaction of its own that waits for the table's writers only briefly.
 */
import type { Database } from '../database/database.ts';
import { liveFunctionsScript } from './live-scripts.ts';

/** The part of `Database` used here, so that any connection will do. */
export type Queryable = Pick<Database, 'query'>;

export type LiveMethod = 'wal' | 'messages' | 'table' | 'notify';

export const publicationName = 'rowgraph_live';
/** The channel of the triggers of the method `notify`. */
export const changeChannel = 'rowgraph_change';
export const triggerName = 'rowgraph_live';

/** A table that could not be covered, and why. */
interface Uncovered {
  readonly table: string;
  readonly reason: string;
}

export interface Installed {
  readonly method: LiveMethod;
  readonly covered: number;
  readonly uncovered: readonly Uncovered[];
  /** Whether tables that are created later are covered, too, and DDL finds the publication out of its way. */
  readonly followsDdl: boolean;
}

/** What decides which method is possible. */
interface LiveServer {
  readonly walLevel: string;
  readonly hasPreparedTransactions: boolean;
  readonly isStandby: boolean;
}

/** How long to wait for the writers of a table, and how often to try: those that come later wait meanwhile. */
const lockTimeout = '1s';
const mostAttempts = 5;
const lockStates = ['55P03', '40P01', '40001'];

const serverText = `select pg_catalog.current_setting('wal_level'), pg_catalog.current_setting('max_prepared_transactions')::integer > 0,
  pg_catalog.pg_is_in_recovery()`;

export async function readLiveServer(database: Queryable): Promise<LiveServer> {
  const [row] = await database.query(serverText);
  return { walLevel: row?.[0] ?? '', hasPreparedTransactions: row?.[1] === 't', isStandby: row?.[2] === 't' };
}

const followsText = `select count(*) = 3 from pg_catalog.pg_event_trigger t
  where t.evtname in ('rowgraph_live_start', 'rowgraph_live_end', 'rowgraph_live_drop') and t.evtenabled in ('O', 'A')`;

/** Whether new tables are covered by themselves. */
export async function followsDdl(database: Queryable): Promise<boolean> {
  return (await database.query(followsText))[0]?.[0] === 't';
}

/** The best method that the server allows: without event triggers, a publication would get in the way of migrations. */
export function bestMethod({ walLevel }: LiveServer, isFollowed: boolean): LiveMethod {
  if (walLevel !== 'logical') return 'table';
  return isFollowed ? 'wal' : 'messages';
}

/** Why a method is not possible; null if it is. */
export function whyImpossible(method: LiveMethod, server: LiveServer): string | null {
  const { walLevel, hasPreparedTransactions, isStandby } = server;
  if (isStandby) return 'the server is a standby; run this on the primary';
  if ((method === 'wal' || method === 'messages') && walLevel !== 'logical')
    return `the method ${method} needs wal_level = logical (it is ${walLevel}); change it and restart PostgreSQL, or use --method table`;
  if (method === 'notify' && hasPreparedTransactions)
    return 'transactions that notify cannot be prepared, and max_prepared_transactions is above 0; use another method';
  return null;
}

/** Creates the functions if the extension is not installed, for logins that may not install it: then new tables are not covered. */
export async function installLiveFunctions(database: Queryable): Promise<void> {
  await database.query(`select pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true); ${liveFunctionsScript}`);
}

/** Covers all tables that it can by a method. Rejects with `DatabaseError` if it cannot begin. */
export async function installLive(database: Queryable, method: LiveMethod): Promise<Installed> {
  await database.query(beginScript(method));
  const tables = (
    await database.query(`select t::pg_catalog.text, t::pg_catalog.regclass::pg_catalog.text from rowgraph.live_tables() t`)
  ).map(([id, name]) => ({ id: id ?? '', name: name ?? '' }));
  const uncovered: Uncovered[] = [];
  for (const { id, name } of tables) {
    const reason = await coverTable(database, id, method);
    if (reason !== null) uncovered.push({ table: name, reason });
  }
  return { method, covered: tables.length - uncovered.length, uncovered, followsDdl: await followsDdl(database) };
}

/** Covers all tables in one transaction: for a database that nobody else uses yet. Rejects with `DatabaseError` if one cannot be covered. */
export async function installLiveAtOnce(database: Queryable, method: LiveMethod): Promise<void> {
  await database.query(beginScript(method));
  await database.query(`select pg_catalog.count(rowgraph.cover_table(t, '${method}')) from rowgraph.live_tables() t`);
}

function beginScript(method: LiveMethod): string {
  const publication =
    method === 'wal' || method === 'messages'
      ? `if not exists (select from pg_catalog.pg_publication where pubname = '${publicationName}') then create publication ${publicationName}; end if;`
      : `drop publication if exists ${publicationName};`;
  return `do $$ begin ${publication} end $$;
    delete from rowgraph.live_setting;
    insert into rowgraph.live_setting values ('${method}')`;
}

/** Resolves to why the table is not covered; null if it is. Null as the method uncovers it. */
async function coverTable(database: Queryable, id: string, method: LiveMethod | null): Promise<string | null> {
  // Sent together, they are one transaction.
  const text = `set local lock_timeout = '${lockTimeout}';
    select rowgraph.cover_table(${id}, ${method === null ? 'null' : `'${method}'`})`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await database.query(text);
      return null;
    } catch (error) {
      const { message } = error as Error;
      if (attempt === mostAttempts || !lockStates.includes(sqlstateOf(error) ?? '')) return message;
    }
  }
}

/** `pg` calls it `code`. */
function sqlstateOf(error: unknown): string | null {
  const { sqlstate, code } = error as { readonly sqlstate?: string | null; readonly code?: string };
  return sqlstate ?? code ?? null;
}

const ownTriggers = `select distinct t.tgrelid::pg_catalog.text, t.tgrelid::pg_catalog.regclass::pg_catalog.text
  from pg_catalog.pg_trigger t join pg_catalog.pg_proc p on p.oid = t.tgfoid join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where t.tgname = '${triggerName}' and n.nspname = 'rowgraph'`;

/** Removes publication and triggers; the functions stay. Resolves to what could not be removed. */
export async function uninstallLive(database: Queryable): Promise<readonly Uncovered[]> {
  await database.query(`do $$ begin
    if pg_catalog.to_regclass('rowgraph.live_setting') is not null then delete from rowgraph.live_setting; end if;
  end $$; drop publication if exists ${publicationName}`);
  const left: Uncovered[] = [];
  for (const [id, name] of await database.query(ownTriggers)) {
    const reason = await coverTable(database, id ?? '', null);
    if (reason !== null) left.push({ table: name ?? '', reason });
  }
  return left;
}

/** Removes the functions and tables of a plain installation. */
export const liveRemoval = `drop function if exists rowgraph.emit_change(), rowgraph.record_change(), rowgraph.notify_change(),
    rowgraph.clean_live_changes(pg_snapshot), rowgraph.identity_columns(oid), rowgraph.live_tables(), rowgraph.live_function(text),
    rowgraph.needs_trigger(oid, text), rowgraph.cover_table(oid, text), rowgraph.announce_change(oid, text), rowgraph.follow_table(oid, text),
    rowgraph.follow_ddl(), rowgraph.make_way_for_ddl();
  drop table if exists rowgraph.live_setting, rowgraph.live_change`;

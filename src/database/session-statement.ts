/**
 * The statement at the start of a batch: it checks that the schema is still the one that the batch was compiled for, then switches the
 * transaction to the caller.
 */

import { longestTimer } from '../budget/deadline.ts';
import { DatabaseError, type FailureReason } from '../errors/database-error.ts';
import type { Batch, Rows, RunStatement, Session, Statement } from './database.ts';
import { nodeStatements, propagation } from './node-settings.ts';
import { staleSchemaState, toDatabaseError } from './to-database-error.ts';

/** A login role or a role that has another setting keeps it. */
const genericPlanText =
  ", case current_setting('plan_cache_mode') when 'auto' then set_config('plan_cache_mode', 'force_generic_plan', true) end";

/**
 * `true`: for this transaction only. JIT is off because compiling takes longer than interpreting the expressions of our statements, up to
 * seconds for a nested query with a high estimated cost.
 */
const settings =
  "set_config('role', $1, true), set_config('request.jwt.claims', $2, true), set_config('search_path', $3, true), set_config('jit', 'off', true)";
/**
 * The select list is evaluated in order, so this runs first, as the user of the connection. Reading the sum directly costs PostgreSQL 7 µs;
 * a function that reads and compares it takes twice as long.
 */
const check = (
  parameter: number,
): string => `case when (select coalesce(pg_catalog.sum(weight), 0) from rowgraph.schema_change) = $${parameter}::numeric then ''
  else rowgraph.raise_stale_schema() end`;

/** Undefined schema, table and function. */
export const undefinedStates: ReadonlySet<string> = new Set(['3F000', '42P01', '42883']);

/** Texts by the options that they depend on: there are few, and each is prepared once per connection. */
const texts = new Map<number, string>();

/** The text of the session statement. `hasTimeout`: whether it sets a time limit. */
export function sessionText(
  { version, applicationName = null, defaults, requestSettings, hasNodes = false }: Session,
  hasTimeout: boolean,
  genericPlan: boolean,
): string {
  const pairs = (defaults?.settings.length ?? 0) + (requestSettings?.length ?? 0) + (hasNodes ? 1 : 0);
  const flags = (genericPlan ? 8 : 0) + (applicationName === null ? 0 : 4) + (version === null ? 0 : 2) + (hasTimeout ? 1 : 0);
  const key = pairs * 16 + flags;
  let text = texts.get(key);
  if (text === undefined) {
    text = writeText(version !== null, hasTimeout, applicationName !== null, pairs, genericPlan ? genericPlanText : '');
    texts.set(key, text);
  }
  return text;
}

/** How long each statement of a batch may take according to its role, in milliseconds; Infinity if the role has no limit. */
export function roleLimitOf({ session }: Batch): number {
  return session?.defaults?.statementTimeout ?? Infinity;
}

/**
 * The session statement. `timeout`: the `statement_timeout` of the statements after it, in milliseconds; null for the connection's own.
 * `genericPlan`: whether they run with generic plans (`Batch.genericPlan`).
 */
export function sessionStatement(session: Session, timeout: number | null, genericPlan = false): Statement {
  const { role, claims, searchPath, version, applicationName = null, defaults, requestSettings, hasNodes } = session;
  const parameters: (string | null)[] = [role, claims, searchPath];
  if (version !== null) parameters.push(version);
  if (timeout !== null) parameters.push(String(timeout));
  if (applicationName !== null) parameters.push(applicationName);
  if (defaults !== undefined) for (const [name, value] of defaults.settings) parameters.push(name, value);
  if (requestSettings !== undefined) for (const [name, value] of requestSettings) parameters.push(name, value);
  if (hasNodes) parameters.push(...propagation);
  return { text: sessionText(session, timeout !== null, genericPlan), parameters };
}

/**
 * The role's own settings, and those of the request, come before the switch to the role, because the login role sets them. The others are
 * arguments of `num_nulls`, which returns one number: returning what was set takes PostgreSQL 0.7 µs more. A function has at most 100
 * arguments, and a role may have more settings than that.
 */
function writeText(hasVersion: boolean, hasTimeout: boolean, hasName: boolean, pairs: number, ending: string): string {
  let parameter = 4;
  const checked = hasVersion ? `${check(parameter++)}, ` : '';
  let common = settings;
  if (hasTimeout) common += `, set_config('statement_timeout', $${parameter++}, true)`;
  if (hasName) common += `, set_config('application_name', $${parameter++}, true)`;
  let own = '';
  for (let index = 0; index < pairs; index++) own += `set_config($${parameter++}, $${parameter++}, true), `;
  return `select ${checked}${own}num_nulls(${common}${ending})`;
}

const isolationLevels: ReadonlySet<string> = new Set(['read committed', 'repeatable read', 'serializable', 'read uncommitted']);

const nothing: readonly Statement[] = [];
// Not `set local`, which would warn that no transaction is open: to PostgreSQL, none is before the first statement of a pipeline. The
// setting ends with the transaction anyway.
const readWrite: Statement = { text: 'set transaction_read_only = off', parameters: [] };

/** Citus sends settings on only in a transaction that has been begun. The implicit one of a pipeline is not enough. */
const begin: Statement = { text: 'begin', parameters: [] };
const commit: Statement = { text: 'commit', parameters: [] };

/** Discards the plans of statements in functions, too. Prepared statements stay, and are planned again. */
const discards: readonly Statement[] = ['discard plans', 'discard sequences'].map((text) => ({ text, parameters: [] }));

/**
 * Undoes what PostgreSQL does not undo with a transaction that fails: locks of the session, and the seed of `random`, for which it takes
 * one that nobody knows.
 */
export const afterRollback = `select pg_catalog.pg_advisory_unlock_all(),
  pg_catalog.setseed(pg_catalog.hashtextextended(pg_catalog.gen_random_uuid()::pg_catalog.text, 0) / 9223372036854775808.0)`;

/**
 * The end of a batch that may have changed the session: what `discard all` does
 * (https://www.postgresql.org/docs/current/sql-discard.html), without dropping prepared statements. In the transaction of the batch,
 * because after it a pooler may continue on another connection. Deferred triggers come first, since they must run as the caller.
 */
const resetStatements: readonly Statement[] = [
  'set constraints all immediate',
  'close all',
  'unlisten *',
  afterRollback,
  'discard sequences',
  'discard temp',
  'reset all',
  'reset session authorization',
].map((text) => ({ text, parameters: [] }));

/**
 * Statements that must come after those of the batch. Those for several nodes cannot check the schema version themselves, because its table
 * is on one; so it is checked again, when all tables of the batch are locked.
 */
export function trailingStatements({ session }: Batch): readonly Statement[] {
  const resets = session?.resetsConnection === true ? resetStatements : nothing;
  if (session?.hasNodes !== true) return resets;
  const { version } = session;
  const checks = version === null ? [] : [{ text: `select ${check(1)}`, parameters: [version] }];
  return [...checks, ...resets, commit];
}

export function countStatements(batch: Batch): number {
  return countLeading(batch) + batch.statements.length + trailingStatements(batch).length;
}

/**
 * Statements that must come before the session statement: isolation level and `transaction_read_only` can only be set before anything is
 * read.
 */
export function leadingStatements({ defaults, discardsState = false, hasNodes = false }: Session): readonly Statement[] {
  const isolation = defaults?.isolation ?? null;
  if (isolation === null && defaults?.mayWrite !== true && !hasNodes) return discardsState ? discards : nothing;
  const statements = hasNodes ? [begin] : [];
  if (defaults?.mayWrite) statements.push(readWrite);
  if (isolation !== null && isolationLevels.has(isolation))
    statements.push({ text: `set transaction_isolation = '${isolation}'`, parameters: [] });
  if (discardsState) statements.push(...discards);
  return statements;
}

export function countLeading({ session, precondition }: Batch): number {
  if (session === null) return 0;
  return 1 + leadingStatements(session).length + (precondition === undefined ? 0 : 1) + nodeStatements(session).length;
}

/** The first key of these advisory locks, whose second key is at most 3: "rgra" in ASCII. */
const turnLocks = 0x72677261;

/**
 * Precedes each query of our own, in the same transaction. JIT is off because PostgreSQL estimates a high cost for queries on the catalogs,
 * and compiling one takes seconds. The memory is for the sets in which they look objects up: one that may not fit is searched row by row.
 * Expressions that PostgreSQL prints are read as it quotes them by default.
 */
export const querySettings: Statement = {
  text: `select pg_catalog.set_config('jit', 'off', true), pg_catalog.set_config('work_mem', '16MB', true),
    pg_catalog.set_config('quote_all_identifiers', 'off', true)`,
  parameters: [],
};

/**
 * Lets at most four transactions in a database go on at a time; the others wait for a second at most. Each takes one of four locks
 * at random, which it keeps to its end.
 */
const turn: Statement = {
  text: `do $$ declare former text := pg_catalog.current_setting('lock_timeout'); begin
    perform pg_catalog.set_config('lock_timeout', '1s', true);
    perform pg_catalog.pg_advisory_xact_lock(${turnLocks}, pg_catalog.floor(pg_catalog.random() * 4)::pg_catalog.int4);
    perform pg_catalog.set_config('lock_timeout', former, true);
    exception when lock_not_available then null;
    end $$`,
  parameters: [],
};

/** The batch of a query of our own, whose rows are those of the last statement. */
export function queryBatch(query: Statement, isHeavy = false): Batch {
  return { session: null, statements: isHeavy ? [querySettings, turn, query] : [querySettings, query] };
}

/** What the message of an error has in it if a standby has not replayed enough (`replicas/`). */
export const behindMarker = 'rowgraph: behind ';

/** Errors that taking an idempotency key may fail with, raised by `extension/key-storage-script.ts`. */
const preconditionFailures: Readonly<Record<string, FailureReason>> = {
  RG002: 'key-answered',
  RG003: 'key-reused',
  RG004: 'no-key-room',
  RG006: 'no-key-storage',
};

/** The error of a batch in which `completed` statements had run. */
export function toBatchError(error: unknown, batch: Batch, completed: number): DatabaseError {
  const onNodes = batch.session?.hasNodes === true;
  const databaseError = toDatabaseError(error, onNodes ? batch.touches : []);
  const { sqlstate } = databaseError;
  databaseError.onNodes = onNodes;
  if (sqlstate === null) return databaseError;
  const leading = countLeading(batch);
  if (completed >= leading && completed - leading < batch.statements.length) databaseError.statement = completed - leading;
  // After the session statement, all statements are the caller's own.
  if (batch.session === null || completed >= leading) return databaseError;
  // The precondition is right before the session statement.
  if (batch.precondition !== undefined && completed === leadingStatements(batch.session).length) return toPreconditionError(databaseError);
  // `set_config` reports a missing role as an invalid value; the SQL standard has a state of its own for it.
  if (sqlstate === '22023' && !namesSetting(databaseError, batch.session))
    return new DatabaseError(databaseError.message, { sqlstate: '0P000', cause: error });
  // A session statement that cannot find the version function or table is as stale as one that finds another version.
  if (batch.session.version === null || !undefinedStates.has(sqlstate)) return databaseError;
  return staleSchema('The database no longer keeps a schema version', error);
}

/** Whether a setting of the role has an invalid value, because it names something that was dropped. */
function namesSetting({ message }: DatabaseError, { defaults }: Session): boolean {
  return defaults?.settings.some(([name]) => message.toLowerCase().includes(name)) === true;
}

function toPreconditionError(error: DatabaseError): DatabaseError {
  const reason = error.message.includes(behindMarker) ? 'behind' : preconditionFailures[error.sqlstate!];
  if (reason !== undefined) return new DatabaseError(error.message, { sqlstate: error.sqlstate, reason, cause: error });
  if (!undefinedStates.has(error.sqlstate!)) return error;
  return staleSchema('The database no longer keeps idempotency keys', error);
}

function staleSchema(message: string, cause: unknown): DatabaseError {
  return new DatabaseError(message, { sqlstate: staleSchemaState, reason: 'stale-schema', cause });
}

/**
 * Runs work as a caller in a transaction that is always rolled back. `run` sends a statement on a connection that nobody else uses
 * meanwhile. `timeoutMillis` becomes the `statement_timeout`, unless the role's own is shorter.
 */
export async function inRolledBackTransaction<Result>(
  run: RunStatement,
  session: Session,
  timeoutMillis: number,
  work: (run: RunStatement) => Promise<Result>,
): Promise<Result> {
  await run('begin');
  try {
    const timeout = Math.min(timeoutMillis, session.defaults?.statementTimeout ?? Infinity, longestTimer);
    const own = sessionStatement(session, Math.max(1, Math.ceil(timeout)));
    const before = leadingStatements({ ...session, hasNodes: false });
    for (const { text, parameters } of [...before, own, ...nodeStatements(session)]) await run(text, parameters);
    return await work(run);
  } finally {
    // If even this fails, the connection is gone, and PostgreSQL rolls back by itself.
    await run('rollback').catch((): Rows => []);
    if (session.resetsConnection) await run(afterRollback).catch((): Rows => []);
  }
}

/**
 * The statement at the beginning of a batch: it switches the transaction to the caller, after checking that the schema is
 * still the one that the batch was compiled for.
 */
import { type Batch, DatabaseError, type Session, type Statement } from './database.ts';
import { toDatabaseError } from './to-database-error.ts';

/** SQLSTATE of a batch that was compiled for another version of the schema. Raised by `schema-version-script.ts`. */
export const staleSchemaState = 'RG001';

/**
 * Where compiling expressions to machine code is switched off: it takes longer than running them here, up to seconds for a nested query whose
 * estimated cost is high. `connection`: for as long as it lasts, if the batch succeeds; `nowhere`: it is switched off already.
 */
export type JitOff = 'transaction' | 'connection' | 'nowhere';

const jitTexts: Readonly<Record<JitOff, string>> = {
  transaction: ", set_config('jit', 'off', true)",
  connection: ", set_config('jit', 'off', false)",
  nowhere: '',
};

/** `true`: for this transaction only. */
const settings = "set_config('role', $1, true), set_config('request.jwt.claims', $2, true), set_config('search_path', $3, true)";
/**
 * The first expression is evaluated first, as the user of the connection. A sum read in place costs 7 µs of PostgreSQL's time,
 * a function that reads and compares it twice as much.
 */
const check = (
  parameter: number,
): string => `case when (select coalesce(sum(weight), 0) from rowgraph.schema_change) = $${parameter}::numeric then ''
  else rowgraph.raise_stale_schema() end, `;

/** Undefined schema, table and function. */
const undefinedStates = new Set(['3F000', '42P01', '42883']);

const jitNumbers: Readonly<Record<JitOff, number>> = { transaction: 0, connection: 1, nowhere: 2 };

/** Texts by what they are made of: they are few, and each is prepared once on a connection. */
const texts = new Map<number, string>();

/**
 * The statement for a session. `timeoutMillis` becomes the `statement_timeout` of what follows: it takes effect with the next statement. Null leaves
 * it alone.
 */
export function sessionStatement(
  { role, claims, searchPath, version, defaults }: Session,
  jitOff: JitOff,
  timeoutMillis: number | null,
): Statement {
  const parameters: string[] = [role, claims, searchPath];
  if (version !== null) parameters.push(version);
  if (timeoutMillis !== null) parameters.push(String(timeoutMillis));
  const count = defaults?.settings.length ?? 0;
  if (count > 0) for (const [name, value] of defaults!.settings) parameters.push(name, value);
  const key = count * 12 + (version === null ? 0 : 6) + (timeoutMillis === null ? 0 : 3) + jitNumbers[jitOff];
  let text = texts.get(key);
  if (text === undefined) {
    text = writeText(version !== null, timeoutMillis !== null, jitOff, count);
    texts.set(key, text);
  }
  return { text, parameters };
}

/** The role's own settings come before the role, because the login role sets them. */
function writeText(hasVersion: boolean, hasTimeout: boolean, jitOff: JitOff, defaults: number): string {
  let parameter = 4;
  const checked = hasVersion ? check(parameter++) : '';
  const timeout = hasTimeout ? `, set_config('statement_timeout', $${parameter++}, true)` : '';
  let own = '';
  for (let index = 0; index < defaults; index++) own += `set_config($${parameter++}, $${parameter++}, true), `;
  return `select ${checked}${own}${settings}${timeout}${jitTexts[jitOff]}`;
}

const isolationLevels: ReadonlySet<string> = new Set(['read committed', 'repeatable read', 'serializable', 'read uncommitted']);

/** What must come before the session statement: an isolation level can only be set before anything is read. Null if nothing must. */
export function leadingStatement({ defaults }: Session): Statement | null {
  const isolation = defaults?.isolation;
  // Without `local`, which would warn that no transaction is open: none is, to PostgreSQL, before the first statement of a pipeline. It lasts no longer all the same.
  return isolation && isolationLevels.has(isolation) ? { text: `set transaction_isolation = '${isolation}'`, parameters: [] } : null;
}

/** The error of a batch of which `completed` statements had run. */
export function toBatchError(error: unknown, batch: Batch, completed: number): DatabaseError {
  const databaseError = toDatabaseError(error);
  if (databaseError.sqlstate === null) return databaseError;
  const leading = batch.session === null ? 0 : leadingStatement(batch.session) === null ? 1 : 2;
  if (completed >= leading && completed - leading < batch.statements.length) databaseError.statement = completed - leading;
  // Behind the session's statement, all is the caller's own.
  if (batch.session === null || completed >= leading) return databaseError;
  // `set_config` calls a role that does not exist an invalid value; the standard has a state for it.
  if (databaseError.sqlstate === '22023') return new DatabaseError(databaseError.message, { sqlstate: '0P000', cause: error });
  // A session statement that cannot find the version is as stale as one that finds another.
  if (batch.session.version === null || !undefinedStates.has(databaseError.sqlstate)) return databaseError;
  return new DatabaseError('The database no longer keeps a schema version', { sqlstate: staleSchemaState, cause: error });
}

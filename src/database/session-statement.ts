/**
 * The statement that goes ahead of a flight: it makes the transaction the caller's, after it has checked that the schema is
 * still the one that the flight was compiled for.
 */
import { DatabaseError, type Flight, type Session, type Statement } from './database.ts';
import { toDatabaseError } from './to-database-error.ts';

/** SQLSTATE of a flight that was compiled for another version of the schema. Raised by `schema-version.sql`. */
export const staleSchemaState = 'RG001';

/**
 * Where compiling expressions to machine code is switched off: it takes longer than running them here, up to seconds for a nested query whose
 * estimated cost is high. `connection`: for as long as it lasts, if the flight succeeds; `nowhere`: it is switched off already.
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
const check = `case when (select coalesce(sum(weight), 0) from rowgraph.schema_change) = $4::numeric then ''
  else rowgraph.raise_stale_schema() end, `;

/** Undefined schema, table and function. */
const undefinedStates = new Set(['3F000', '42P01', '42883']);

/** The statement for a session. Its text is one of few, so it is prepared once on each connection. */
export function sessionStatement({ role, claims, searchPath, version }: Session, jitOff: JitOff): Statement {
  const set = `${settings}${jitTexts[jitOff]}`;
  return version === null
    ? { text: `select ${set}`, parameters: [role, claims, searchPath] }
    : { text: `select ${check}${set}`, parameters: [role, claims, searchPath, version] };
}

/** The error of a flight of which `completed` statements had run. */
export function toFlightError(error: unknown, flight: Flight, completed: number): DatabaseError {
  const databaseError = toDatabaseError(error);
  if (completed > 0 || flight.session === null || databaseError.sqlstate === null) return databaseError;
  // `set_config` calls a role that does not exist an invalid value; the standard has a state for it.
  if (databaseError.sqlstate === '22023') return new DatabaseError(databaseError.message, { sqlstate: '0P000', cause: error });
  // A session statement that cannot find the version is as stale as one that finds another.
  if (flight.session.version === null || !undefinedStates.has(databaseError.sqlstate)) return databaseError;
  return new DatabaseError('The database keeps no schema version any more', { sqlstate: staleSchemaState, cause: error });
}

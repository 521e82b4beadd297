/**
 * What an SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) means to a client: `DatabaseError` → `ApiError`.
 */

import { ApiError, shortenMessage } from './api-error.ts';
import type { ErrorCode } from './codes.ts';
import type { DatabaseError, FailureReason } from './database-error.ts';
import { raisable, readRaised } from './raise.ts';

interface Meaning {
  readonly code: ErrorCode;
  /** Replaces PostgreSQL's message if that would reveal the server, the network or the login. */
  readonly message?: string;
  readonly hint?: string;
  /** Whether `detail` and `hint` are withheld from the client. */
  readonly terse?: boolean;
}

const unreachable: Meaning = { code: 'DATABASE_UNAVAILABLE', message: 'The database cannot be reached. Try again later.', terse: true };
/** A foreign server or a node of Citus. Only PostgreSQL itself names the C function that reports: a pooler has none. */
const unreachableBeyond: Meaning = {
  ...unreachable,
  message: 'The database cannot reach another server that holds some of the data. Try again later.',
};
const refused: Meaning = {
  ...unreachable,
  message: "The database rejected the server's connection. The server log has the reason.",
};
const interrupted: Meaning = { ...unreachable, message: 'The database closed the connection. Try again later.' };
const exhausted: Meaning = { ...unreachable, message: 'The database has no free connection. Try again later.' };
const drained: Meaning = {
  ...unreachable,
  message: 'The database has run out of disk space, memory or another resource. Try again later.',
};
const broken: Meaning = {
  code: 'DATABASE_FAILED',
  message: "The database reported an internal error. PostgreSQL's log has the details.",
  terse: true,
};

/** PostgreSQL's message names a command that the client did not send: SELECT, for one. */
const readOnly: Meaning = {
  code: 'READ_ONLY',
  message: 'The database allows only read-only transactions: it is a standby (replica), or read-only by its settings. Nothing was changed.',
};

/** Two objects of an insert would update the same row. A subquery that returns too many rows has the same SQLSTATE, but no hint. */
const sameRowTwice: Meaning = { code: 'CONSTRAINT_VIOLATION' };

/** A filter or an order needs an operator that the type of the column does not have. */
const withoutOperator: Meaning = {
  code: 'BAD_USER_INPUT',
  hint: 'PostgreSQL has no such comparison for the type of the column. Filter with "is", or by a column of another type, such as one of a view that casts it to text.',
};

/** No operator, or several that PostgreSQL cannot choose from, such as one of each type that the column's is cast to. */
const withoutOperatorStates: ReadonlySet<string> = new Set(['42883', '42725']);

/** The C functions in PostgreSQL's source that look up operators. */
const operatorLookups: ReadonlySet<string> = new Set([
  'op_error',
  'get_sort_group_operators',
  'array_cmp',
  'array_eq',
  'record_cmp',
  'record_eq',
]);

/** A pattern is compared with a column whose collation does not support pattern matching; `like` supports it from PostgreSQL 18 on. */
const withoutPatterns: Meaning = {
  code: 'BAD_USER_INPUT',
  hint: 'The column has a nondeterministic collation. Filter with "eq" or "in", or by a column of another collation, such as one of a view that shows it with collate "C".',
};

/** Citus plans less across shards than PostgreSQL does in one place. */
const notDistributable: Meaning = {
  code: 'NOT_DISTRIBUTABLE',
  hint: 'Citus cannot run this across shards. Filter by the distribution column with "eq", at the outermost level, or see docs/citus.md.',
};

/** A value has a character that the encoding of the database lacks. */
const untranslatable: Meaning = {
  code: 'BAD_USER_INPUT',
  hint: 'The encoding of the database has no such character. Send the value without it, or move to a database with the encoding UTF8.',
};

/** JSON text has an escaped U+0000, which PostgreSQL stores in no text, and so not in jsonb. */
const nullCharacter: Meaning = {
  code: 'BAD_USER_INPUT',
  hint: 'PostgreSQL does not store the character U+0000. Send the JSON without \\u0000.',
};

/** A view exposes a column that cannot be written; inputs of tables leave such columns out. */
const alwaysGenerated: Meaning = {
  code: 'BAD_USER_INPUT',
  hint: 'PostgreSQL always generates the values of this column. Leave it out.',
};

/** A path of JSON uses a variable that has no value. */
const withoutVariable: Meaning = { code: 'BAD_USER_INPUT', hint: 'Give each variable of the path a value: a member of the object "vars".' };

/** A path of JSON compares a time that has a time zone with a date, or with a time that has none. */
const mixedTimeZones: Meaning = {
  code: 'BAD_USER_INPUT',
  hint: 'Compare with a value that has a time zone if those of the documents have one, and with a date or a time without one otherwise.',
};

/** A value is for a column that a view computes. Inputs of views have all columns, as in pg_graphql. */
const computedByView: Meaning = {
  code: 'BAD_USER_INPUT',
  hint: 'The view computes this column, so that it cannot be written. Leave it out.',
};

/** PostGIS compares values in different coordinates; it raises that as an internal error. */
const mixedCoordinates: Meaning = {
  code: 'BAD_USER_INPUT',
  hint: 'Give the value in the coordinates of the column: WKT with their SRID, or GeoJSON with "crs". Or give the column an SRID, to which values are then moved.',
};

/** PostGIS cannot use a value, such as coordinates that its reference system does not have; it raises that as an internal error. */
const unusableShape: Meaning = {
  code: 'INVALID_VALUE',
  hint: 'PostGIS cannot use the value for this. Check its coordinates and its SRID.',
};

/** The C functions in PostGIS's source that raise such errors. */
const shapeReaders: ReadonlySet<string> = new Set(['pg_error', 'GetProjStrings']);

/** A value of the request, or the request itself: of a function, the message is left as it is. */
const tooDeep: Meaning = {
  code: 'QUERY_TOO_COMPLEX',
  message: 'The operation, or a value in it, nests too deep for PostgreSQL: its stack depth limit is exceeded.',
  hint: 'Send fewer words in a search, fewer levels of JSON, of a path or of a filter, or fewer selections.',
};

/** The C functions in PostgreSQL's source that parse patterns. */
const patternReaders: ReadonlySet<string> = new Set([
  'GenericMatchText',
  'Generic_Text_IC_like',
  'pg_set_regex_collation',
  'text_starts_with',
]);

/** Meanings of errors that PostgreSQL did not report itself. */
const reasons: Readonly<Record<FailureReason, Meaning>> = {
  'refused-by-node': { code: 'PERMISSION_DENIED', terse: true },
  'stale-schema': { code: 'CONFLICT', message: 'The schema of the database has just changed. Try again.', terse: true },
  closed: { code: 'DATABASE_UNAVAILABLE', message: 'The connections to the database have been closed.', terse: true },
  overloaded: { code: 'OVERLOADED', terse: true },
  timeout: { code: 'TIMEOUT' },
  cancelled: { code: 'CANCELLED' },
  'outcome-unknown': {
    code: 'OUTCOME_UNKNOWN',
    message:
      'The connection to the database was lost after the mutation was sent. The mutation may or may not have been committed: check before you send it again.',
    terse: true,
  },
  'response-too-large': { code: 'RESPONSE_TOO_LARGE', terse: true },
  behind: { code: 'CONFLICT', message: 'The standby has not replayed enough yet. Try again.', terse: true },
  'key-answered': {
    code: 'CONFLICT',
    message: 'The response stored for this idempotency key keeps expiring. Try again.',
    terse: true,
  },
  'key-reused': {
    code: 'IDEMPOTENCY_KEY_REUSED',
    message: 'The idempotency key was sent before, with another document or other variables. Send a new key with each new mutation.',
    terse: true,
  },
  'no-key-room': { code: 'TOO_MANY_IDEMPOTENCY_KEYS', terse: true },
  'no-key-storage': {
    code: 'IDEMPOTENCY_STORAGE_FULL',
    message:
      'The database stores as many idempotency keys as it may. Nothing ran. Try again later, or send the mutation without a key; the operator can raise --idempotency-storage.',
    terse: true,
  },
};

/** The C function of PL/pgSQL that executes RAISE. A function may raise the SQLSTATE of a server in trouble although the server is fine. */
const raiseRoutine = 'exec_stmt_raise';
const ofServer: ReadonlySet<ErrorCode> = new Set(['DATABASE_UNAVAILABLE', 'DATABASE_FAILED']);

/** By SQLSTATE, or else by class (its first two characters). Unknown classes come from user-defined functions. */
const meanings: Readonly<Record<string, Meaning>> = {
  '08': unreachable,
  '57P01': interrupted,
  '57P02': interrupted,
  '57P03': unreachable,
  '57P04': unreachable,
  '57P05': interrupted,
  '53': drained,
  '53300': exhausted,
  // A query needs more temporary files than `temp_file_limit` allows.
  '53400': { code: 'QUERY_TOO_COMPLEX' },
  '28': refused,
  '3D': refused,
  '22': { code: 'INVALID_VALUE' },
  '23': { code: 'CONSTRAINT_VIOLATION' },
  '44': { code: 'CONSTRAINT_VIOLATION' },
  '42501': { code: 'PERMISSION_DENIED', terse: true },
  '0P': { code: 'PERMISSION_DENIED', terse: true },
  '40001': { code: 'CONFLICT' },
  '40P01': { code: 'CONFLICT', terse: true },
  '55P03': { code: 'CONFLICT' },
  '57014': { code: 'TIMEOUT' },
  '25P03': { code: 'TIMEOUT' },
  '25P04': { code: 'TIMEOUT' },
  '25006': readOnly,
  '54': { code: 'QUERY_TOO_COMPLEX' },
  P0: { code: 'RAISED' },
  '58': broken,
  F0: broken,
  XX: broken,
};

/** The states of a connection that PostgreSQL itself has opened. */
const otherServerStates: ReadonlySet<string> = new Set(['08001', '08003', '08006']);

/** PostgreSQL's classes without a meaning of their own here. */
const otherClasses: ReadonlySet<string> = new Set(
  '00 01 02 03 09 0A 0B 0F 0L 0Z 10 20 21 24 25 26 27 2B 2D 2F 34 38 39 3B 3F 40 42 55 57 72 HV'.split(' '),
);

export function toApiError(error: DatabaseError): ApiError {
  const raised = error.sqlstate === '22P02' ? readRaised(error.message) : null;
  if (raised !== null) return new ApiError(raisable[raised.name].code, raisable[raised.name].message, { cause: error });
  const { code, message, hint = error.hint, terse } = error.reason === undefined ? meaningOf(error) : reasons[error.reason];
  // PostgreSQL quotes values of any length. The message of a function's own RAISE is left to its author.
  const limitText = code === 'RAISED' || isRaised(error) ? (text: string) => text : shortenMessage;
  const details = {
    ...(error.sqlstate !== null && error.reason === undefined && { sqlstate: error.sqlstate }),
    ...(!terse && error.constraint !== undefined && { constraint: error.constraint }),
    ...(!terse && error.table !== undefined && { table: error.table }),
    ...(!terse && error.column !== undefined && { column: error.column }),
    ...(!terse && error.detail !== undefined && { detail: limitText(error.detail) }),
    ...(!terse && hint !== undefined && { hint: limitText(hint) }),
  };
  return new ApiError(code, message ?? limitText(error.message), { details, cause: error });
}

/** Whether a function raised the error itself, so that all of it is for the client. */
function isRaised({ routine, reason }: DatabaseError): boolean {
  return routine === raiseRoutine && reason === undefined;
}

/** Whether the same batch may succeed on a retry, because it conflicted with concurrent transactions. */
export function isConflict(error: DatabaseError): boolean {
  return error.sqlstate === '40001' || error.sqlstate === '40P01';
}

function meaningOf(error: DatabaseError): Meaning {
  const { sqlstate, hint, context, routine } = error;
  if (sqlstate === null) return unreachable;
  // With a context, the lookup was made by a function.
  if (withoutOperatorStates.has(sqlstate) && context === undefined && operatorLookups.has(routine ?? '')) return withoutOperator;
  if (sqlstate === '0A000' && context === undefined && patternReaders.has(routine ?? '')) return withoutPatterns;
  // The only use of this state there: what makes a view as a whole read-only has state 55000.
  if (sqlstate === '0A000' && context === undefined && routine === 'rewriteTargetView') return computedByView;
  // With another context, a function came across the character, such as one that reads JSON.
  if (sqlstate === '22P05' && (context === undefined || unreadParameter(error) !== null))
    return error.detail?.includes('\\u0000') ? nullCharacter : untranslatable;
  if (sqlstate === '54001' && (context === undefined || unreadParameter(error) !== null)) return tooDeep;
  if (sqlstate === '0A000' && error.onNodes && !isRaised(error)) return notDistributable;
  if (sqlstate === '42704' && context === undefined && routine === 'getJsonPathVariable') return withoutVariable;
  if (sqlstate === '0A000' && context === undefined && routine === 'checkTimezoneIsUsedForCast') return mixedTimeZones;
  if (sqlstate === '428C9' && context === undefined) return alwaysGenerated;
  if (sqlstate === '21000' && hint !== undefined) return sameRowTwice;
  if (sqlstate === 'XX000' && shapeReaders.has(routine ?? '')) {
    if (/mixed SRID/.test(error.message)) return mixedCoordinates;
    if (context === undefined) return unusableShape;
  }
  const meaning = meanings[sqlstate] ?? meanings[sqlstate.slice(0, 2)];
  if (meaning === unreachable && routine !== undefined && otherServerStates.has(sqlstate) && !isRaised(error)) return unreachableBeyond;
  if (meaning !== undefined && isRaised(error)) return { code: ofServer.has(meaning.code) ? 'RAISED' : meaning.code };
  if (meaning !== undefined && meaning !== broken) return meaning;
  // Some types report unreadable values with states of other classes: tsquery reports syntax errors (42601), regclass names that do not
  // exist (42P01), PostGIS's geometry internal errors (XX000).
  if (unreadParameter(error) !== null) return { code: 'INVALID_VALUE' };
  if (meaning !== undefined) return meaning;
  return { code: otherClasses.has(sqlstate.slice(0, 2)) ? 'DATABASE_ERROR' : 'RAISED' };
}

/** What PostgreSQL was doing at the outermost level, in the server's language: the last line of the context. */
export function outermostContext({ context }: DatabaseError): string | null {
  return context?.split('\n').at(-1) ?? null;
}

/** The number of the parameter whose text PostgreSQL could not read; null for other errors. */
export function unreadParameter(error: DatabaseError): number | null {
  // `unnamed portal parameter $1 = '...'`. Another kind of line lists all parameters after a colon.
  const number = /^[^'"«»=:()]*\$(\d+)(?![\w$])[^'"«»=:()]*(?: = '.*)?$/.exec(outermostContext(error) ?? '')?.[1];
  return number === undefined ? null : Number(number);
}

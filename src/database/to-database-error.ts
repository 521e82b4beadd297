/** Turns what a driver throws into a `DatabaseError`. Duck-typed: the driver may come from another copy of its package. */
import type { StopReason } from '../budget/deadline.ts';
import { DatabaseError } from '../errors/database-error.ts';
import type { Batch } from './database.ts';
import { ofLocalShard, readNodeError } from './node-errors.ts';

/** PostgreSQL's SQLSTATE for too many connections: in all, to the database, or of the login role. */
export const tooManyConnections = '53300';

/**
 * PostgreSQL's SQLSTATEs for a connection that was ended by an administrator or by the crash of another process, and for a server that is
 * starting, stopping or recovering (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const comingBack: readonly (string | null)[] = ['57P01', '57P02', '57P03'];

/** SQLSTATE of a batch that was compiled for another version of the schema. Raised by `extension/schema-version-script.ts`. */
export const staleSchemaState = 'RG001';

/** PostgreSQL's SQLSTATE for a cancelled statement. */
export const queryCancelled = '57014';

/** PostgreSQL's SQLSTATE for a lock that was not available in time. */
export const lockNotAvailable = '55P03';

/** The fields of an ErrorResponse, as `pg` and PGlite both name them. */
interface ServerError extends Error {
  readonly severity: string;
  readonly code: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
  readonly constraint?: string | undefined;
  readonly schema?: string | undefined;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
  readonly dataType?: string | undefined;
  readonly where?: string | undefined;
  readonly routine?: string | undefined;
}

/** Whether PostgreSQL itself reported this error; errors of sockets have a `code` too, but no severity. */
export function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && 'severity' in error && typeof error.severity === 'string' && 'code' in error;
}

/** Whether the same batch would succeed if its statements were prepared again. */
export function isStalePlan(error: unknown): boolean {
  if (!isServerError(error)) return false;
  const { code, routine } = error;
  // 26000: our prepared statements are gone (DISCARD ALL, or a pooler swapped the connection). For the other two, the routine's name is the
  // only sign that is not translated. 0A000 from the plan cache: a column changed its type ("cached plan must not change result type").
  // XX000 when a value is bound: its type was dropped ("cache lookup failed for type 16390"), and another type may have its name by now, as
  // after replacing an enum to remove a value.
  return (
    code === '26000' || (code === '0A000' && routine === 'RevalidateCachedQuery') || (code === 'XX000' && routine === 'getTypeInputInfo')
  );
}

/** Whether PostgreSQL is up and likely to accept a connection soon, although it refused this one. */
export function isPassing({ sqlstate }: DatabaseError): boolean {
  return sqlstate === tooManyConnections || comingBack.includes(sqlstate);
}

/**
 * Whether the server may be there again in a moment, because it is being restarted: nothing listens, the connection ended before PostgreSQL
 * said anything, or a pooler does not reach PostgreSQL (class 08).
 */
export function mayBeRestarting({ sqlstate }: DatabaseError): boolean {
  return sqlstate === null || sqlstate.startsWith('08');
}

/** Whether a pooler in front of PostgreSQL ended the connection because it does not reach PostgreSQL: PgBouncer's 08P01, for one. */
export function isPoolersRefusal(error: unknown): boolean {
  return isServerError(error) && error.code.startsWith('08') && readNodeError(error) === null;
}

/** Whether PostgreSQL ended the connection on request: of an administrator, at a shutdown, or of a function that it ran. */
export function isTermination(error: unknown): boolean {
  return isServerError(error) && error.code === '57P01';
}

/**
 * Whether PostgreSQL ended the connection because of what ran on it, such as a transaction that took longer than `transaction_timeout`
 * (class 25), so that the same would happen again. Classes 08 and 57 are faults of the connection and interventions.
 */
export function isOwnFault(error: unknown): boolean {
  return isServerError(error) && !['08', '57'].includes(error.code.slice(0, 2));
}

/** Functions of the database may raise the same state. Names in the context are never translated. */
function isStaleSchema({ code, where }: ServerError): boolean {
  return code === staleSchemaState && where?.includes('raise_stale_schema()') === true;
}

/** `touches`: the tables of a batch that may run on shards. */
export function toDatabaseError(error: unknown, touches: readonly string[] = []): DatabaseError {
  if (error instanceof DatabaseError) return error;
  if (!isServerError(error)) {
    return new DatabaseError(messageOf(error), { sqlstate: null, cause: error });
  }
  const { code, hint, schema, column, dataType, where, routine } = error;
  const { message, detail, table, constraint } = touches.length > 0 ? ofLocalShard(error, touches) : error;
  const ofNode = readNodeError(error);
  return new DatabaseError(ofNode?.message ?? message, {
    sqlstate: code,
    ...(detail !== undefined && { detail }),
    ...(hint !== undefined && { hint }),
    ...(constraint !== undefined && { constraint }),
    ...(schema !== undefined && { schema }),
    ...(table !== undefined && { table }),
    ...(column !== undefined && { column }),
    ...(dataType !== undefined && { dataType }),
    ...(where !== undefined && { context: where }),
    ...(routine !== undefined && { routine }),
    ...(isStaleSchema(error) && { reason: 'stale-schema' }),
    ...ofNode?.fields,
    cause: error,
  });
}

export function stopError(reason: StopReason): DatabaseError {
  return reason === 'expired'
    ? new DatabaseError('The request exceeded its time limit.', { sqlstate: queryCancelled, reason: 'timeout' })
    : new DatabaseError('The request was cancelled.', { sqlstate: queryCancelled, reason: 'cancelled' });
}

/** The error of work that comes after `close`, or was still waiting then. */
export function closedError(): DatabaseError {
  return new DatabaseError('The database is closed', { sqlstate: null, reason: 'closed' });
}

/** The error of a batch whose rows exceed the allowed bytes. */
export function tooLargeError({ template, maxBytes }: Batch, isUndone: boolean): DatabaseError {
  const consequence = template !== undefined ? '' : isUndone ? ' Nothing was changed.' : ' The mutation was committed.';
  const message = `The response is larger than ${maxBytes} bytes. Ask for fewer rows or fields.${consequence}`;
  return new DatabaseError(message, { sqlstate: null, reason: 'response-too-large' });
}

/** If all addresses of a host refuse the connection, the error is an AggregateError without a message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message || error.name : String(error);
}

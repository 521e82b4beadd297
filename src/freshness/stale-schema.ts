/** Errors of an outdated schema, and errors that one may explain. */
import { ApiError } from '../errors/api-error.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { RequestErrors } from '../request/validate/parse-document.ts';

/** A batch was compiled for an outdated schema. None of it ran, so it may be recompiled and run again. */
export class StaleSchemaError extends Error {
  constructor(cause?: Error) {
    super('The schema has changed', { cause });
    this.name = 'StaleSchemaError';
  }
}

/** A request is for a table that has changed since the schema was loaded. It needs a newer snapshot. */
export class SuspectTableError extends StaleSchemaError {}

/** Errors that may be due only to an outdated schema. */
const refusals: ReadonlySet<string> = new Set([
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'PERMISSION_DENIED',
  'UNAUTHENTICATED',
  'IDEMPOTENCY_NOT_SUPPORTED',
]);
/**
 * SQLSTATE classes of errors that an outdated schema may cause: undefined names, schemas and roles, values of a wrong type, objects that
 * vanish while PostgreSQL looks at them (XX), and a second row where a key was unique (21).
 */
const undefinedClasses: ReadonlySet<string> = new Set(['42', '3F', '0P', '21', '22', 'XX']);
/** Undefined columns, functions, tables, types and schemas; XX000 is raised for an object that is dropped between two lookups. */
const missingStates: ReadonlySet<string> = new Set(['42703', '42883', '42P01', '42704', '3F000', 'XX000']);

/** Whether an outdated schema may explain the error. */
export function mayBeOutdated(error: unknown): boolean {
  if (error instanceof RequestErrors) return true;
  if (!(error instanceof ApiError)) return false;
  const { sqlstate } = error.details;
  return refusals.has(error.code) || (typeof sqlstate === 'string' && undefinedClasses.has(sqlstate.slice(0, 2)));
}

/** Whether PostgreSQL itself rejected a request, which has then already cost it something. */
export function hasAskedDatabase(error: unknown): boolean {
  return error instanceof ApiError && typeof error.details.sqlstate === 'string';
}

/**
 * The message of an error about a missing object, if one of our statements raised it and not a function that it calls; null for other
 * errors. If the schema is current nevertheless, the connection's backend has not yet heard of a change that others already see: PostgreSQL
 * announces changes after the commit.
 */
export function messageAboutMissing(error: unknown): string | null {
  if (!(error instanceof ApiError && error.cause instanceof DatabaseError)) return null;
  const { sqlstate, context, message } = error.cause;
  return sqlstate !== null && missingStates.has(sqlstate) && context === undefined ? message : null;
}

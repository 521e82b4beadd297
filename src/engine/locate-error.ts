/**
 * The field that an error belongs to, as its path and locations in the document: what failed before the database knows its root field; a
 * statement of a mutation is that of a root field, and so is the one of a query with a single field.
 */
import type { CompiledOperation } from '../compile/compile-plan.ts';
import { DatabaseError } from '../database/database.ts';
import { ApiError, type ErrorCode } from '../errors.ts';
import { locateRootField } from '../request/locate-field.ts';
import type { GraphQLRequest } from './request.ts';

/** The error with its path and locations, if the field is known. `failing` is the number of the statement that could not be bound. */
export function locateError(
  error: unknown,
  { query, operationName }: GraphQLRequest,
  compiled: CompiledOperation | undefined,
  failing: () => number | null,
): unknown {
  if (!(error instanceof ApiError)) return error;
  const path = error.path ?? pathOf(error, compiled, failing);
  if (path === undefined) return error;
  const locations = error.locations ?? locateRootField(query, operationName, String(path[0]));
  return error.at(path, locations);
}

/** No field is to blame for these. */
const ofConnections: ReadonlySet<ErrorCode> = new Set(['DATABASE_UNAVAILABLE', 'OUTCOME_UNKNOWN', 'OVERLOADED', 'CANCELLED']);

function pathOf({ cause, code }: ApiError, compiled: CompiledOperation | undefined, failing: () => number | null): [string] | undefined {
  if (!compiled || ofConnections.has(code)) return undefined;
  const isOfDatabase = cause instanceof DatabaseError;
  const statement = isOfDatabase ? cause.statement : code === 'BAD_USER_INPUT' ? failing() : null;
  if (statement === null) return undefined;
  const roots = compiled.roots.filter((root) => root.kind === 'column' && root.statement === statement);
  return roots.length === 1 ? [roots[0]!.key] : undefined;
}

/** Checks what callers of the library pass in, with or without TypeScript: a wrong request is the client's error, a wrong caller a bug in the program. */
import { ApiError } from '../errors.ts';

/** Throws BAD_REQUEST for what is not a GraphQL request. */
export function checkRequest(request: unknown): void {
  if (!isObject(request)) throw badRequest('The request must be an object with the member "query".');
  const { query, variables, operationName, extensions } = request;
  if (typeof query !== 'string') {
    throw badRequest(
      query === undefined
        ? 'The request has no member "query". Pass the GraphQL document as a string in "query".'
        : 'The member "query" must be a string.',
    );
  }
  if (!isAbsent(variables) && !isObject(variables)) throw badRequest('The member "variables" must be an object or null.');
  if (!isAbsent(operationName) && typeof operationName !== 'string')
    throw badRequest('The member "operationName" must be a string or null.');
  if (!isAbsent(extensions) && !isObject(extensions)) throw badRequest('The member "extensions" must be an object or null.');
}

/** Throws `TypeError` for what is not a caller. */
export function checkCaller(caller: unknown): void {
  if (!isObject(caller)) throw new TypeError('The caller is missing. Pass { role, claims } as the second argument.');
  if (typeof caller['role'] !== 'string' || caller['role'] === '') {
    throw new TypeError('The caller has no role. Pass the name of a database role as "role".');
  }
  if (caller['claims'] !== undefined && !isObject(caller['claims'])) throw new TypeError('The claims of the caller must be an object.');
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function badRequest(message: string): ApiError {
  return new ApiError('BAD_REQUEST', message);
}

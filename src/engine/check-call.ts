/** Checks what callers of the library pass in, with or without TypeScript: a wrong request is the client's error, a wrong caller a bug in the program. */
import { ApiError } from '../errors.ts';

/** Throws BAD_REQUEST for what is not a GraphQL request. */
export function checkRequest(request: unknown): void {
  if (!isPlainObject(request)) throw badRequest('The request must be an object with the member "query".');
  const { query, variables, operationName, extensions } = request;
  checkDocument(query);
  if (!isAbsent(variables) && !isPlainObject(variables)) throw badRequest('The member "variables" must be an object or null.');
  if (!isAbsent(operationName) && typeof operationName !== 'string')
    throw badRequest('The member "operationName" must be a string or null.');
  if (!isAbsent(extensions) && !isPlainObject(extensions)) throw badRequest('The member "extensions" must be an object or null.');
}

/** BAD_REQUEST for a request that has failed because a getter or a proxy in it throws; undefined if it can be read. */
export function whyUnreadable(request: unknown): ApiError | undefined {
  try {
    JSON.stringify(request, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    return undefined;
  } catch (cause) {
    return new ApiError(
      'BAD_REQUEST',
      `The request cannot be read (${cause instanceof Error ? cause.message : typeof cause}). Pass plain data.`,
      { cause },
    );
  }
}

/** Throws BAD_REQUEST for what is not the text of a document. */
export function checkDocument(query: unknown): void {
  if (typeof query === 'string') return;
  throw badRequest(
    query === undefined
      ? 'The request has no member "query". Pass the GraphQL document as a string in "query".'
      : 'The member "query" must be a string.',
  );
}

/** Throws `TypeError` for what is not a caller. */
export function checkCaller(caller: unknown): void {
  if (!isPlainObject(caller)) throw new TypeError('The caller is missing. Pass { role, claims } as the second argument.');
  if (typeof caller['role'] !== 'string' || caller['role'] === '') {
    throw new TypeError('The caller has no role. Pass the name of a database role as "role".');
  }
  if (caller['claims'] !== undefined && !isPlainObject(caller['claims']))
    throw new TypeError('The claims of the caller must be an object.');
}

/** Throws `TypeError` for what are not the options of a request. */
export function checkOptions(options: unknown): void {
  if (!isPlainObject(options)) throw new TypeError('The options of a request must be an object.');
  const { timeout, signal, client, idempotencyKey, deadline } = options;
  if (timeout !== undefined && (typeof timeout !== 'number' || Number.isNaN(timeout)))
    throw wrongOption('timeout', 'a number of milliseconds');
  // Not by class: a test runner or a bundler may have another copy of that.
  if (signal !== undefined && !hasMethod(signal, 'addEventListener')) throw wrongOption('signal', 'an AbortSignal');
  if (client !== undefined && typeof client !== 'string') throw wrongOption('client', 'a string');
  if (idempotencyKey !== undefined && typeof idempotencyKey !== 'string') throw wrongOption('idempotencyKey', 'a string');
  if (deadline !== undefined && !hasMethod(deadline, 'onStop')) throw wrongOption('deadline', 'a Deadline of rowgraph');
}

/** The role in the options of a call that has no caller. Throws `TypeError` for what is not a role. */
export function roleOf(options: unknown): string {
  if (!isPlainObject(options)) throw new TypeError('The options must be an object, such as { role: "anon" }.');
  const { role = 'anon' } = options;
  if (typeof role !== 'string' || role === '') throw wrongOption('role', 'the name of a database role');
  return role;
}

function wrongOption(name: string, expected: string): TypeError {
  return new TypeError(`The option "${name}" must be ${expected}.`);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[name] === 'function';
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  // Not an array, a Map or a Date, whose entries would count for nothing.
  return Object.prototype.toString.call(value) === '[object Object]';
}

function badRequest(message: string): ApiError {
  return new ApiError('BAD_REQUEST', message);
}

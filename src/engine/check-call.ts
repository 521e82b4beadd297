/**
 * Checks the arguments that callers of the library pass, with or without TypeScript: a wrong request is the client's error, a wrong caller
 * a bug in the program.
 */

import { ApiError } from '../errors/api-error.ts';
import { aFunction, aSwitch, aText, aTimeLimit, checkOptions, must, type OptionChecks } from '../settings/check-options.ts';
import type { RequestOptions, SubscribeOptions } from './request.ts';

/** Throws BAD_REQUEST for anything but a GraphQL request. */
export function checkRequest(request: unknown): void {
  if (!isPlainObject(request)) throw badRequest('The request must be an object with the member "query".');
  const { query, variables, operationName, extensions } = request;
  checkDocument(query);
  if (!isAbsent(variables) && !isPlainObject(variables)) throw badRequest('The member "variables" must be an object or null.');
  if (!isAbsent(operationName) && typeof operationName !== 'string')
    throw badRequest('The member "operationName" must be a string or null.');
  if (!isAbsent(extensions) && !isPlainObject(extensions)) throw badRequest('The member "extensions" must be an object or null.');
}

/** Whether a request failed because one of its getters or proxies throws: then BAD_REQUEST, otherwise undefined. */
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

/** Throws BAD_REQUEST for anything but the text of a document. */
export function checkDocument(query: unknown): void {
  if (typeof query === 'string') return;
  throw badRequest(
    query === undefined
      ? 'The request has no member "query". Pass the GraphQL document as a string in "query".'
      : 'The member "query" must be a string.',
  );
}

/** Throws `TypeError` for anything but a caller. */
export function checkCaller(caller: unknown): void {
  if (!isPlainObject(caller)) throw new TypeError('The caller is missing. Pass { role, claims } as the second argument.');
  if (typeof caller['role'] !== 'string' || caller['role'] === '') {
    throw new TypeError('The caller has no role. Pass the name of a database role as "role".');
  }
  if (caller['claims'] !== undefined && !isPlainObject(caller['claims']))
    throw new TypeError('The claims of the caller must be an object.');
}

const requestChecks: OptionChecks<RequestOptions> = {
  timeout: aTimeLimit,
  // Not `instanceof`: a test runner or a bundler may use another copy of the class.
  signal: must('be an AbortSignal', (value) => hasMethod(value, 'addEventListener')),
  client: must('be a string', (value) => typeof value === 'string'),
  idempotencyKey: must('be a string', (value) => typeof value === 'string'),
  position: aText,
  http: must('be an object', (value) => typeof value === 'object' && value !== null),
  deadline: must('be a Deadline of rowgraph', (value) => hasMethod(value, 'onStop')),
  readOnly: aSwitch,
  marks: must('be an object that can be written to', (value) => isPlainObject(value) && Object.isExtensible(value)),
  onPrepared: aFunction,
};

/** Throws `TypeError` for invalid options of a request. Runs for each request, so it makes no lists. */
export function checkRequestOptions(options: unknown): void {
  if (!isPlainObject(options)) throw new TypeError('The options of a request must be an object.');
  for (const name in options) {
    if (!Object.hasOwn(requestChecks, name)) checkOptions(options, requestChecks);
    const value = options[name];
    if (value !== undefined) requestChecks[name as keyof RequestOptions](value, name);
  }
}

const subscribeChecks: OptionChecks<SubscribeOptions> = {
  signal: requestChecks.signal,
  client: requestChecks.client,
  position: requestChecks.position,
  http: requestChecks.http,
  deadline: requestChecks.deadline,
  readOnly: requestChecks.readOnly,
  marks: requestChecks.marks,
  onPrepared: requestChecks.onPrepared,
  after: aText,
};

/** Throws `TypeError` for invalid options of a subscription. */
export function checkSubscribeOptions(options: unknown): asserts options is SubscribeOptions {
  if (!isPlainObject(options)) throw new TypeError('The options of a subscription must be an object.');
  checkOptions(options, subscribeChecks);
}

const roleChecks: OptionChecks<{ readonly role?: string }> = { role: aText };

/** The role in the options of a call that has no caller. Throws `TypeError` for invalid options. */
export function roleOf(options: unknown): string {
  checkOptions(options, roleChecks);
  return options.role ?? 'anon';
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && typeof (value as Record<string, unknown>)[name] === 'function';
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  // An array, a Map or a Date would pass as an object, but its entries would be ignored.
  return Object.getPrototypeOf(value) === Object.prototype || Object.prototype.toString.call(value) === '[object Object]';
}

function badRequest(message: string): ApiError {
  return new ApiError('BAD_REQUEST', message);
}

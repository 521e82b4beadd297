/** The one error type that reaches a client, and how errors quote what a client sent. */
import { type ErrorCode, errorCodes } from './codes.ts';

/** How many characters of a client's text an error quotes. */
const longestQuote = 100;

/** The text, truncated if it is long: a client must not control the length of an error message. */
export function shorten(text: string): string {
  return text.length > longestQuote ? `${text.slice(0, longestQuote).toWellFormed()}… (${text.length} characters)` : text;
}

/** The shortened text, in quotes. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}

/** A client's value as shown in an error: scalars as shortened JSON, lists and objects only by kind. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return String(value);
}

/** A library's message that quotes a client's text: each long word is shortened, and so is the whole message. */
export function shortenMessage(message: string): string {
  if (message.length <= longestQuote) return message;
  const shortened = message.replace(/[^\s"'`]{101,}/g, shorten);
  return shortened.length > 10 * longestQuote ? `${shortened.slice(0, 10 * longestQuote).toWellFormed()}…` : shortened;
}

/** A position in a document, as in the GraphQL response format. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

/** An error of the GraphQL response format (https://spec.graphql.org/October2021/#sec-Errors). */
export interface ErrorObject {
  readonly message: string;
  readonly locations?: readonly SourcePosition[];
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: ErrorCode };
}

/** The only error that reaches a client. Everything else is a bug and becomes INTERNAL_ERROR. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** Response keys, from the root field on. Has no list indexes: the error belongs to the whole field, not to one item. */
  readonly path: readonly string[] | undefined;
  readonly locations: readonly SourcePosition[] | undefined;
  /** Further members of `extensions`: sqlstate, constraint, detail, hint. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    more: {
      path?: readonly string[] | undefined;
      locations?: readonly SourcePosition[] | undefined;
      details?: Readonly<Record<string, unknown>>;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: more.cause });
    if (!Object.hasOwn(errorCodes, code)) throw new TypeError(`"${code}" is not a code of rowgraph's errors. docs/errors.md lists them.`);
    this.name = 'ApiError';
    this.code = code;
    this.path = more.path;
    this.locations = more.locations;
    this.details = more.details ?? {};
  }

  /** The same error for a field: with its path, and its locations in the document if they are known. */
  at(path: readonly string[] | undefined, locations?: readonly SourcePosition[]): ApiError {
    const { code, message, details, cause } = this;
    return new ApiError(code, message, { path, locations, details, cause });
  }

  /** The same error with further members of `extensions`. */
  withDetails(more: Readonly<Record<string, unknown>>): ApiError {
    const { code, message, path, locations, details, cause } = this;
    return new ApiError(code, message, { path, locations, details: { ...details, ...more }, cause });
  }

  /** The same error inside a field: with the field's response key prepended to its path. */
  inside(key: string): ApiError {
    return this.at([key, ...(this.path ?? [])], this.locations);
  }

  /** The error in the GraphQL response format. */
  toJSON(): ErrorObject {
    return {
      message: this.message,
      ...(this.locations && { locations: this.locations }),
      ...(this.path && { path: this.path }),
      extensions: { code: this.code, ...this.details },
    };
  }
}

/** Does the work of a field; an error thrown by it is reported inside that field. */
export function inField<Result>(key: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof ApiError ? error.inside(key) : error;
  }
}

/** The same for work that pauses (`budget/turns.ts`). */
export function* inFieldInSteps<Result>(key: string, work: Generator<void, Result>): Generator<void, Result> {
  try {
    return yield* work;
  } catch (error) {
    throw error instanceof ApiError ? error.inside(key) : error;
  }
}

/** Whether recursion overflowed the stack. Other `RangeError`s mean something else. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded';
}

/** Whether a value that was parsed from JSON is an object. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

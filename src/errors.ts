/**
 * The one table of error codes and the one error type that reaches a client. `docs/errors.md` lists the same table; a test holds them equal.
 */

/** Each code with the HTTP status of a response that fails with it before anything was executed, and its meaning. */
export const errorCodes = {
  BAD_REQUEST: { status: 400, meaning: 'The HTTP request is malformed: its JSON, the types of its members, or its size.' },
  UNAUTHENTICATED: {
    status: 401,
    meaning:
      'The apiKey or the bearer token is missing, malformed, wrongly signed, expired or not yet valid, or names a role that requests may not run as.',
  },
  NOT_FOUND: { status: 404, meaning: 'Nothing is served at this path.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The endpoint takes another HTTP method.' },
  NOT_ACCEPTABLE: { status: 406, meaning: 'The client accepts none of the media types that the endpoint can answer with.' },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The head or the body of the request did not arrive in time.' },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body is larger than the limit.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is not application/json.' },
  RATE_LIMITED: { status: 429, meaning: 'Too many requests from this client.' },
  GRAPHQL_PARSE_FAILED: { status: 400, meaning: 'The document is not GraphQL.' },
  GRAPHQL_VALIDATION_FAILED: { status: 400, meaning: 'The document does not fit the schema that the role sees.' },
  OPERATION_RESOLUTION_FAILURE: { status: 400, meaning: 'It is not clear which operation of the document to run.' },
  BAD_USER_INPUT: { status: 400, meaning: 'A variable or an argument has a value that does not fit.' },
  DOCUMENT_TOO_LARGE: { status: 400, meaning: 'The document is longer than the limit `documentBytes`.' },
  TOO_MANY_TOKENS: { status: 400, meaning: 'The document has more tokens than the limit `tokens`.' },
  TOO_MANY_OPERATIONS: { status: 400, meaning: 'The document holds more operations than the limit `operations`.' },
  TOO_DEEP: { status: 400, meaning: 'Fields, or the values of an argument or a variable, nest deeper than the limit `depth`.' },
  TOO_MANY_FIELDS: { status: 400, meaning: 'The operation selects more fields, fragments expanded, than the limit `fields`.' },
  TOO_MANY_ROOT_FIELDS: { status: 400, meaning: 'The operation has more root fields than the limit `rootFields`.' },
  TOO_MANY_ALIASES: { status: 400, meaning: 'The operation has more aliases, fragments expanded, than the limit `aliases`.' },
  TOO_MANY_FRAGMENTS: { status: 400, meaning: 'The operation spreads more fragments than the limit `fragments`.' },
  TOO_MANY_ELEMENTS: { status: 400, meaning: 'The lists of arguments and variables hold more elements than the limit `listElements`.' },
  TOO_MANY_FILTERS: { status: 400, meaning: 'The filters of the operation have more members than the limit `filterMembers`.' },
  TOO_MANY_SUBQUERIES: {
    status: 400,
    meaning: 'The operation selects more collections, relations and functions than the limit `subqueries`.',
  },
  INPUT_TOO_LARGE: { status: 400, meaning: 'The values that would be sent to PostgreSQL are larger than the limit `inputSize`.' },
  TOO_MANY_ESTIMATED_ROWS: {
    status: 400,
    meaning: 'The page sizes of the operation multiply to more rows than the limit `estimatedRows`.',
  },
  QUERY_TOO_COMPLEX: {
    status: 400,
    meaning: 'The request is too much for PostgreSQL or for the server, such as more than 65,535 parameters, whatever the limits say.',
  },
  INVALID_VALUE: { status: 200, meaning: 'PostgreSQL refused a value (SQLSTATE class 22).' },
  CONSTRAINT_VIOLATION: { status: 200, meaning: 'A constraint was violated (SQLSTATE class 23 or 44); nothing was changed.' },
  PERMISSION_DENIED: { status: 200, meaning: 'The role has no privilege, or a policy forbids it (SQLSTATE 42501).' },
  TOO_MANY_ROWS: { status: 200, meaning: 'An update or delete matched more rows than atMost; nothing was changed.' },
  CONFLICT: { status: 200, meaning: 'Concurrent transactions were in the way (SQLSTATE 40001 or 40P01), also after retries; try again.' },
  TIMEOUT: { status: 200, meaning: 'The request took longer than it may, or PostgreSQL cancelled its statement (SQLSTATE 57014).' },
  CANCELLED: { status: 200, meaning: 'The client cancelled the request.' },
  OUTCOME_UNKNOWN: { status: 200, meaning: 'The connection ended after a mutation was sent: it may have been done, or not.' },
  RESPONSE_TOO_LARGE: { status: 200, meaning: 'The response is larger than the limit.' },
  READ_ONLY: { status: 200, meaning: 'The database or the transaction is read-only (SQLSTATE 25006).' },
  RAISED: { status: 200, meaning: 'A function or trigger raised an exception of its own (SQLSTATE P0001 or another class of its own).' },
  DATABASE_ERROR: { status: 200, meaning: 'PostgreSQL reported an error of another kind.' },
  DATABASE_UNAVAILABLE: { status: 503, meaning: 'The database cannot be reached, or has no connection to spare.' },
  OVERLOADED: { status: 503, meaning: 'The server has more work than it can do; try again later.' },
  SHUTTING_DOWN: { status: 503, meaning: 'The server is about to stop; another one may take its place.' },
  INTERNAL_ERROR: { status: 500, meaning: 'A defect of rowgraph.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof errorCodes;

/** Characters of a client's text that an error repeats. */
const longestQuote = 100;

/** The text, cut where it is long: what an error repeats of a client's text must not be as long as the client pleases. */
export function shorten(text: string): string {
  return text.length > longestQuote ? `${text.slice(0, longestQuote).toWellFormed()}… (${text.length} characters)` : text;
}

/** The text in quotes, shortened. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}

/** A value of a client as an error shows it: scalars as JSON, shortened, and of lists and objects no more than what they are. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return String(value);
}

/** A message of a library that repeats a client's text: words that are too long are shortened, and so is the whole. */
export function shortenMessage(message: string): string {
  if (message.length <= longestQuote) return message;
  const shortened = message.replace(/[^\s"'`]{101,}/g, shorten);
  return shortened.length > 10 * longestQuote ? `${shortened.slice(0, 10 * longestQuote).toWellFormed()}…` : shortened;
}

/** A position in a document, as the GraphQL response format has it. */
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

/** The only error that a client is told of. Everything else is a defect and becomes INTERNAL_ERROR. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly path: readonly (string | number)[] | undefined;
  readonly locations: readonly SourcePosition[] | undefined;
  /** Further members of `extensions`: sqlstate, constraint, detail, hint. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    more: {
      path?: readonly (string | number)[] | undefined;
      locations?: readonly SourcePosition[] | undefined;
      details?: Readonly<Record<string, unknown>>;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = 'ApiError';
    this.code = code;
    this.path = more.path;
    this.locations = more.locations;
    this.details = more.details ?? {};
  }

  /** The same error of a field: with its path, and its places in the document where they are known. */
  at(path: readonly (string | number)[], locations?: readonly SourcePosition[]): ApiError {
    const { code, message, details, cause } = this;
    return new ApiError(code, message, { path, locations, details, cause });
  }

  /** The error as the response format has it. */
  toJSON(): ErrorObject {
    return {
      message: this.message,
      ...(this.locations && { locations: this.locations }),
      ...(this.path && { path: this.path }),
      extensions: { code: this.code, ...this.details },
    };
  }
}

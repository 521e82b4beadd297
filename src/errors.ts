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
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body is larger than the limit.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is not application/json.' },
  RATE_LIMITED: { status: 429, meaning: 'Too many requests from this client.' },
  GRAPHQL_PARSE_FAILED: { status: 400, meaning: 'The document is not GraphQL.' },
  GRAPHQL_VALIDATION_FAILED: { status: 400, meaning: 'The document does not fit the schema that the role sees.' },
  OPERATION_RESOLUTION_FAILURE: { status: 400, meaning: 'It is not clear which operation of the document to run.' },
  BAD_USER_INPUT: { status: 400, meaning: 'A variable or an argument has a value that does not fit.' },
  QUERY_TOO_COMPLEX: { status: 400, meaning: 'The document is nested too deeply, too long, or needs too many parameters.' },
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
  INTERNAL_ERROR: { status: 500, meaning: 'A defect of rowgraph.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof errorCodes;

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

/** The one table of error codes. `docs/errors.md` lists the same table; a test holds them equal. */

/** Each code with its meaning, and the HTTP status of a response that fails with it before anything was executed. */
export const errorCodes = {
  BAD_REQUEST: { status: 400, meaning: 'The HTTP request is malformed: its JSON, the types of its members, or its size.' },
  UNAUTHENTICATED: {
    status: 401,
    meaning: 'The apiKey or the bearer token is missing, malformed, wrongly signed, expired or not yet valid, or its role is not allowed.',
  },
  KEYS_UNAVAILABLE: { status: 503, meaning: 'The keys that verify the token cannot be loaded from its issuer; try again later.' },
  AUTHENTICATION_UNAVAILABLE: { status: 503, meaning: "The application's own authentication failed; try again later." },
  NOT_FOUND: { status: 404, meaning: 'Nothing is served at this path.' },
  PROJECT_NOT_FOUND: { status: 404, meaning: 'The host names a project that does not exist, or none where one is required.' },
  PROJECT_UNAVAILABLE: { status: 503, meaning: "The project's settings or keys are broken; its operator finds the reason in the log." },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path does not support this HTTP method, or a GET request or a read-only tool asks for a mutation.',
  },
  ORIGIN_NOT_ALLOWED: { status: 403, meaning: 'A browser sent the request from a page of an origin that may not use this path.' },
  NOT_ACCEPTABLE: { status: 406, meaning: 'The client accepts none of the media types that the endpoint can produce.' },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The headers or the body of the request did not arrive in time.' },
  URI_TOO_LONG: { status: 414, meaning: 'The URL of a GET request is longer than 8,192 characters.' },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body is larger than the limit.' },
  BATCH_TOO_LARGE: { status: 400, meaning: 'The batch has more requests than the limit.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is not application/json.' },
  TRANSFER_CODING_NOT_SUPPORTED: { status: 501, meaning: 'The body is sent in a transfer coding other than chunked.' },
  HTTP_VERSION_NOT_SUPPORTED: { status: 505, meaning: 'The request is in another version of HTTP than 1.1 and 1.0.' },
  RATE_LIMITED: { status: 429, meaning: 'Too many requests from this client.' },
  PERSISTED_QUERY_NOT_SUPPORTED: { status: 200, meaning: 'The server stores no documents by their hash; send the document.' },
  PERSISTED_QUERY_NOT_FOUND: {
    status: 200,
    meaning: 'The server has no document with this hash; send the document together with the hash.',
  },
  PERSISTED_DOCUMENT_NOT_FOUND: { status: 400, meaning: 'There is no trusted document with this id.' },
  UNTRUSTED_DOCUMENT: { status: 403, meaning: 'The role may run only trusted documents, and this is not one.' },
  GRAPHQL_PARSE_FAILED: { status: 400, meaning: 'The document is not syntactically valid GraphQL.' },
  GRAPHQL_VALIDATION_FAILED: { status: 400, meaning: 'The document is not valid for the schema that the role sees.' },
  OPERATION_RESOLUTION_FAILURE: { status: 400, meaning: 'The request does not determine which operation of the document to run.' },
  BAD_USER_INPUT: {
    status: 400,
    meaning:
      'A variable or an argument has an invalid value, or asks PostgreSQL to compare what it cannot compare (SQLSTATE 42883, 42725).',
  },
  EMPTY_FILTER: {
    status: 400,
    meaning: 'The filter of an update or delete has no condition left, because its variables were not sent; nothing was changed.',
  },
  IDEMPOTENCY_NOT_SUPPORTED: {
    status: 400,
    meaning:
      'The mutation has an idempotency key, but the role may not use them, or the database lacks the extension that stores them, or has an old one.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    meaning: 'The idempotency key belongs to another document or other variables of this caller; nothing ran.',
  },
  TOO_MANY_IDEMPOTENCY_KEYS: {
    status: 429,
    meaning: 'The idempotency keys of the caller exceed the limit `idempotencyBytes`; nothing ran.',
  },
  IDEMPOTENCY_STORAGE_FULL: {
    status: 503,
    meaning: 'The idempotency keys of all callers take all their room; nothing ran. Try again later, or send no key.',
  },
  SUBSCRIPTION_NOT_SUPPORTED: {
    status: 400,
    meaning:
      'The subscription calls a volatile function, is sent where only one answer is possible, or live queries are off (docs/live.md).',
  },
  TOO_MANY_SUBSCRIPTIONS: {
    status: 429,
    meaning: 'The client has reached the limit `subscriptions`, or the server `--max-subscriptions`.',
  },
  DOCUMENT_TOO_LARGE: { status: 400, meaning: 'The document is longer than the limit `documentBytes`.' },
  TOO_MANY_TOKENS: { status: 400, meaning: 'The document has more tokens than the limit `tokens`.' },
  TOO_MANY_OPERATIONS: { status: 400, meaning: 'The document contains more operations than the limit `operations`.' },
  TOO_DEEP: { status: 400, meaning: 'Fields, or the values of an argument or a variable, are nested deeper than the limit `depth`.' },
  TOO_MANY_FIELDS: { status: 400, meaning: 'With fragments expanded, the operation selects more fields than the limit `fields`.' },
  TOO_MANY_ROOT_FIELDS: { status: 400, meaning: 'The operation has more root fields than the limit `rootFields`.' },
  TOO_MANY_ALIASES: { status: 400, meaning: 'With fragments expanded, the operation has more aliases than the limit `aliases`.' },
  ALIASES_TOO_LONG: {
    status: 400,
    meaning: 'With fragments expanded, the aliases of the operation are longer than the limit `aliasLength`.',
  },
  TOO_MANY_FRAGMENTS: { status: 400, meaning: 'The operation spreads more fragments than the limit `fragments`.' },
  TOO_MANY_ELEMENTS: { status: 400, meaning: 'The lists in arguments and variables have more elements than the limit `listElements`.' },
  TOO_MANY_VALUES: {
    status: 400,
    meaning: 'The arguments of the operation have more values than the limit `inputValues`.',
  },
  TOO_MANY_FILTERS: { status: 400, meaning: 'The filters in the operation have more members than the limit `filterMembers`.' },
  TOO_MANY_ORDER_KEYS: { status: 400, meaning: 'The orders in the operation have more keys than the limit `orderKeys`.' },
  TOO_MANY_SUBQUERIES: {
    status: 400,
    meaning: 'The operation selects more collections, relations and functions than the limit `subqueries`.',
  },
  INPUT_TOO_LARGE: {
    status: 400,
    meaning: 'The values to send to PostgreSQL are larger than the limit `inputSize`, or the text of a search than `searchLength`.',
  },
  TOO_MANY_ESTIMATED_ROWS: {
    status: 400,
    meaning: 'The operation could read more rows than the limit `estimatedRows`.',
  },
  QUERY_TOO_COMPLEX: {
    status: 400,
    meaning: 'The request exceeds what PostgreSQL or the server can process: for example, it has more than 65,535 parameters.',
  },
  NOT_DISTRIBUTABLE: { status: 200, meaning: 'Citus cannot run the request across its shards (docs/citus.md).' },
  INVALID_VALUE: { status: 200, meaning: 'PostgreSQL rejected a value (SQLSTATE class 22, or any error of a type that reads it).' },
  CONSTRAINT_VIOLATION: {
    status: 200,
    meaning:
      'A constraint was violated (SQLSTATE class 23 or 44, or 21000 for objects that conflict with the same row); nothing was changed.',
  },
  PERMISSION_DENIED: {
    status: 200,
    meaning: 'The role lacks a privilege, or a row level security policy forbids the operation (SQLSTATE 42501).',
  },
  TOO_MANY_ROWS: { status: 200, meaning: 'An update or delete matched more rows than `atMost`; nothing was changed.' },
  CONFLICT: {
    status: 200,
    meaning: 'The request conflicted with concurrent transactions (SQLSTATE 40001 or 40P01), even after retries; try again.',
  },
  TIMEOUT: { status: 200, meaning: 'The request exceeded its time limit, or PostgreSQL cancelled its statement (SQLSTATE 57014).' },
  CANCELLED: { status: 200, meaning: 'The client cancelled the request.' },
  OUTCOME_UNKNOWN: {
    status: 200,
    meaning: 'The connection was lost after a mutation was sent; the mutation may or may not have been committed.',
  },
  RESPONSE_TOO_LARGE: { status: 200, meaning: 'The response is larger than the limit.' },
  READ_ONLY: { status: 200, meaning: 'The database or the transaction is read-only (SQLSTATE 25006).' },
  RAISED: {
    status: 200,
    meaning:
      'A function or trigger raised an exception (SQLSTATE P0001, a class that PostgreSQL itself does not use, or one of a server in trouble).',
  },
  DATABASE_ERROR: { status: 200, meaning: 'PostgreSQL reported any other error.' },
  SCHEMA_LOADING: {
    status: 503,
    meaning: 'The server has just started, and is still loading the schema of the database; try again later.',
  },
  DATABASE_UNAVAILABLE: {
    status: 503,
    meaning: 'The database cannot be reached, has no free connection, or has run out of disk space or memory (SQLSTATE class 53).',
  },
  DATABASE_FAILED: {
    status: 500,
    meaning: 'PostgreSQL reported an error of its own: internal, of its files, or of its configuration (SQLSTATE class XX, 58 or F0).',
  },
  OVERLOADED: { status: 503, meaning: 'The server is overloaded; try again later.' },
  SHUTTING_DOWN: { status: 503, meaning: 'The server is shutting down; send the request to another instance.' },
  INTERNAL_ERROR: { status: 500, meaning: 'A bug in rowgraph.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof errorCodes;

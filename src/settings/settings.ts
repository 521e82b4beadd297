/**
 * Every setting in one place: its flag, its environment variable, its type, default and description. `config.ts` reads their values.
 */

import { type LimitSettingName, limitNames, limitSettingOf, limitTable } from '../budget/limits.ts';
import {
  checkBasePath,
  checkCacheControl,
  checkClaimPath,
  checkCorsOrigin,
  checkDatabaseUrl,
  checkDomain,
  checkJwtSecret,
  checkKeysUrl,
  checkMetricsKey,
  checkProxies,
  checkSupabaseProject,
} from './check-settings.ts';
import { automatic, checkHeaderName, checkRequestSetting, defaultRequestHeaders } from './request-settings.ts';
import {
  additionList,
  bytes,
  bytesOrOff,
  choice,
  duration,
  limit,
  list,
  numberOrSwitch,
  onOrOff,
  type Setting,
  secret,
  text,
  unsetList,
  wholeNumber,
} from './setting-kinds.ts';

/** A smaller cache of persisted queries has room for hardly any document in the part of one client. */
export const leastPersisted = 64 * 1024;
const anyPort = [0, 65_535] as const;
const cacheBounds = [1, 1_000_000] as const;
const countBounds = [1, 1_000_000] as const;
const timeBounds = ['10ms', '24h'] as const;

/** A setting for each limit, such as `limitFields`. */
const limitSettings = Object.fromEntries(
  limitNames.map((name) => [limitSettingOf(name), limit(limitTable[name].description, '--limits')]),
) as Readonly<Record<LimitSettingName, Setting<number | 'off' | undefined>>>;

/** All settings. Each command declares which of them it accepts. */
export const settings = {
  databaseUrl: secret('URL', 'URL of the PostgreSQL database; its login role must be able to "set role"', checkDatabaseUrl),
  schemas: list('NAMES', 'Exposed schemas, separated by commas, in the order of the search path', ['public']),
  extraSearchPath: list('NAMES', 'Schemas to search after the exposed ones without exposing them, such as the schema of extensions', []),
  port: wholeNumber('PORT', 'HTTP port; 0 picks a free one', 4000, anyPort),
  host: text('ADDRESS', 'Address to listen on; 0.0.0.0 accepts connections from the network', '127.0.0.1'),
  jwtSecret: secret('SECRET', 'Secret for signing and verifying keys and tokens (HS256), at least 32 characters', checkJwtSecret),
  previousJwtSecret: secret('SECRET', 'Previous --jwt-secret; tokens signed with it stay valid', checkJwtSecret),
  jwtKeys: text(
    'FILE|URL',
    'Public keys that verify tokens (RS256, PS256, ES256, EdDSA): a PEM or JWKS file, or the URL of a JWKS',
    undefined,
    checkKeysUrl,
  ),
  supabase: text('PROJECT', 'Accept the tokens of a Supabase project, given by its reference or URL', undefined, checkSupabaseProject),
  jwtAudience: list('NAMES', 'Accepted audiences (aud), separated by commas: a token must name one of them; - accepts any', []),
  jwtIssuer: list('NAMES', 'Accepted issuers (iss), separated by commas; - accepts any', []),
  jwtLeeway: duration('Allowed difference between the clocks of token issuers and of this server', '0s', ['0s', '10min']),
  apiKeys: text('FILE', 'JSON file of opaque keys, as "rowgraph keys --opaque" prints them; read again when it changes', undefined),
  revokedTokens: text('FILE', 'JSON file of revoked tokens; read again when it changes', undefined),
  roleClaim: text('PATH', 'Claim that holds the role, such as .app_metadata.role or .realm_access.roles[0]', '.role', checkClaimPath),
  tokenRoles: {
    ...list('ROLES', 'Roles that tokens may name, separated by commas; if the claim is a list, the first of them in it is the role', []),
    defaultText: 'any, but not in a list',
  },
  anonRole: text('ROLE', 'Database role for anonymous callers', 'anon'),
  trustedRoles: list('ROLES', 'Privileged roles that tokens may name anyway, separated by commas', []),
  strict: onOrOff('Refuse to start with a login role that is a superuser or bypasses row level security', false),
  requestSettings: list(
    'NAMES',
    'Settings that tell SQL about a request besides the claims, such as request.headers, separated by commas; auto: those that the database reads; - for none',
    [automatic],
    checkRequestSetting,
  ),
  requestHeaders: list(
    'NAMES',
    'Headers that request.headers contains, separated by commas; - for none',
    defaultRequestHeaders,
    checkHeaderName,
  ),
  poolSize: wholeNumber('NUMBER', 'Database connections per worker', 10, [1, 1000]),
  adminPort: wholeNumber('PORT', 'Port for health and metrics alone; --port then serves no metrics', undefined, anyPort),
  adminHost: text('ADDRESS', 'Address that --admin-port listens on', '127.0.0.1'),
  metricsKey: secret(
    'KEY',
    'Key that /metrics requires, in the header "Authorization: Bearer KEY"; at least 16 characters',
    checkMetricsKey,
  ),
  workers: wholeNumber('NUMBER', 'Processes that share the port', 1, [1, 256]),
  projects: text(
    'FILE|FOLDER',
    'JSON map of project references to settings, or a folder of such files; read again when it changes',
    undefined,
  ),
  projectsDomain: text('DOMAIN', 'Domain whose subdomains are project references, such as example.com', undefined, checkDomain),
  projectConnections: wholeNumber('NUMBER', 'Maximum database connections of all projects together, per worker', 100, [1, 100_000]),
  projectIdle: duration('How long an unused project keeps its connections and caches', '5min', ['1s', '24h']),
  dialect: choice(
    ['rowgraph', 'pg_graphql'],
    "Serve pg_graphql's schema with additions (rowgraph), or type for type (pg_graphql)",
    'rowgraph',
  ),
  additions: additionList("Additions to pg_graphql's schema, separated by commas; - for none"),
  coercion: choice(
    ['lenient', 'strict'],
    "Judge a scalar or enum of another type than its place's by its value, as pg_graphql does (lenient), or refuse it (strict)",
    'lenient',
  ),
  introspection: choice(
    ['directive', 'on', 'off'],
    "Allow introspection where a schema's comment enables it (directive), always (on), or never (off)",
    'directive',
  ),
  nodeIdField: choice(
    ['nodeId', 'id'],
    'Name of the global identifier of rows; with id, a column called id is idColumn in rows, aggregates and filters',
    'nodeId',
  ),
  requiredInputs: onOrOff('Make inserts require the NOT NULL columns that nothing else fills in', false),
  prepare: onOrOff('Use named prepared statements; turn off for poolers that do not support them', true),
  schemaTriggers: onOrOff('At startup, install the event triggers that report schema changes; needs a superuser', false),
  schemaCache: bytes('Maximum estimated size of cached schemas, with their documents and compiled variants', 192 * 1024 ** 2, '192mb'),
  documentCache: wholeNumber('NUMBER', 'Maximum parsed and validated documents to cache per set of privileges', 1000, cacheBounds),
  variantCache: wholeNumber('NUMBER', 'Maximum compiled variants to cache per document', 100, cacheBounds),
  statementCache: wholeNumber('NUMBER', 'Maximum prepared statements per connection', 256, cacheBounds),
  introspectionCache: bytes('Maximum total size of cached introspection responses', 64 * 1024 ** 2, '64mb'),
  tokenCache: wholeNumber('NUMBER', 'Maximum verified tokens to cache', 10_000, cacheBounds),
  basePath: text('PATH', 'Path prefix of /graphql/v1 and /graphiql, such as /api', undefined, checkBasePath),
  graphiql: onOrOff('Serve the GraphiQL editor at /graphiql', false),
  bodyLimit: bytes('Maximum size of a request body', 512 * 1024, '512kb'),
  persistedQueries: bytesOrOff(
    'Maximum total size of the documents that clients may store by hash (automatic persisted queries)',
    leastPersisted,
  ),
  trustedDocuments: text(
    'FILE|FOLDER',
    'JSON map of ids to documents, which requests may name by id, or a folder of such files; read again when it changes',
    undefined,
  ),
  documentRoles: {
    ...list('ROLES', 'Roles for which to check and compile trusted documents ahead of time, separated by commas', []),
    defaultText: 'the anonymous role, authenticated',
  },
  onlyTrustedDocuments: onOrOff('Reject documents that are not trusted', false),
  untrustedRoles: list('ROLES', 'Roles that may also send documents that are not trusted, separated by commas; - for none', []),
  maxBatch: numberOrSwitch('Maximum requests in a batch (a JSON array as the body); on allows 10, off rejects batches', 10, [1, 1000]),
  cacheControl: text(
    'DIRECTIVES',
    'Cache-Control header of successful responses to GET requests, such as "private, max-age=60"',
    'no-store',
    checkCacheControl,
  ),
  keyInUrl: onOrOff("Accept the key as the parameter apikey of the URL, as Supabase's gateway does", true),
  corsOrigins: list('ORIGINS', 'Origins that browsers may call from, separated by commas; * allows any, - none', ['*'], checkCorsOrigin),
  rateLimit: wholeNumber('NUMBER', 'Maximum requests per minute from one address', undefined, [1, 10_000_000]),
  trustProxy: text(
    'ADDRESSES',
    'Proxies whose X-Forwarded-For header is trusted: addresses, networks (10.0.0.0/8), loopback, linklocal or uniquelocal, separated by commas',
    undefined,
    checkProxies,
  ),
  waitForDatabase: duration('How long to wait at startup for a database that cannot be reached; 0s does not wait', '60s', ['0s', '24h']),
  requestTimeout: duration('How long a request may take, from its headers until PostgreSQL has finished', '30s', timeBounds),
  queueLength: wholeNumber('NUMBER', 'Maximum requests waiting for a database connection; more are rejected', 1000, countBounds),
  queueBytes: bytes('Maximum total size of requests waiting for a database connection; more are rejected', 64 * 1024 ** 2, '64mb'),
  queueTimeout: duration('How long a request may wait for a database connection', '10s', timeBounds),
  headersTimeout: duration('How long the headers of a request may take to arrive', '15s', timeBounds),
  receiveTimeout: duration('How long a request may take to arrive, including its body', '30s', timeBounds),
  writeTimeout: duration('How long a client may take to read each MB of a response', '30s', timeBounds),
  maxConnections: wholeNumber('NUMBER', 'Maximum client connections per worker; more are closed immediately', 10_000, countBounds),
  maxRequests: wholeNumber('NUMBER', 'Maximum requests in flight per worker; more are rejected', 4000, countBounds),
  maxClientRequests: wholeNumber('NUMBER', 'Maximum requests in flight from one address or one user; more are rejected', 1000, countBounds),
  maxPipelinedRequests: wholeNumber('NUMBER', 'Maximum requests in flight on one connection; one more closes it', 20, countBounds),
  maxBytesInFlight: bytes(
    'Maximum total size of request bodies and unread responses in memory; requests beyond it are rejected',
    256 * 1024 ** 2,
    '256mb',
  ),
  maxEventLoopDelay: duration('Mean event loop delay above which requests are rejected', '1s', ['10ms', '1h']),
  drainDelay: duration('How long to keep serving, with /health/ready at 503, after a signal to stop', '0s', ['0s', '24h']),
  closeTimeout: duration('How long requests in flight may take to finish when the server stops', '10s', ['0s', '24h']),
  limits: choice(['off', 'default', 'strict'], 'Set of limits on the cost of a request; --limit-… overrides a single one', 'default'),
  ...limitSettings,
  unlimitedRoles: list('ROLES', 'Roles without limits, separated by commas; - for none', ['service_role']),
  idempotencyKeyRoles: unsetList(
    'ROLES',
    'Roles that may use idempotency keys, separated by commas; * for all, - for none',
    'all but the anonymous role',
  ),
  idempotencyStorage: bytes(
    'Maximum size of the idempotency keys of all callers in the database, with the responses stored for them',
    512 * 1024 ** 2,
    '512mb',
    1024 ** 2,
    1024 ** 4,
  ),
  idempotencyKeyLifetime: duration('How long to keep the response to a mutation for its idempotency key', '24h', ['1s', '8760h']),
  serverTiming: onOrOff('Report how long the stages of each request took, in the header Server-Timing', false),
  reportCost: onOrOff('Report the cost of each request in extensions.cost of its response', false),
  accessLog: onOrOff('Log each request to the endpoint', false),
  slowOperations: duration('Log operations that take at least this long', undefined, ['1ms', '24h']),
  slowOperationValues: onOrOff('Include the variables and literals of slow operations in the log', false),
  traceDatabase: onOrOff('In each transaction, set application_name to the traceparent of the request, if traces are exported', false),
  logLevel: choice(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'], 'Minimum log level', 'info'),
  dataDir: text('FOLDER', 'Folder that keeps the data between runs', undefined),
  dbPort: wholeNumber('PORT', 'Port for psql and other PostgreSQL clients; 0 picks a free one', 0, anyPort),
  cacheDir: {
    ...text('FOLDER', 'Folder for cached files that make the next start faster', undefined),
    defaultText: "the user's cache folder",
  },
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;
type ValueOf<Name extends SettingName> = (typeof settings)[Name] extends Setting<infer Value> ? Value : never;

/** The values of some settings, of which the `Required` ones must be given. */
export type Configuration<Name extends SettingName, Required extends Name = never> = {
  readonly [Key in Name]: Key extends Required ? Exclude<ValueOf<Key>, undefined> : ValueOf<Key>;
};

/** The flag of a setting. */
export function flagOf(name: SettingName): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The environment variable of a setting. */
export function environmentVariableOf(name: SettingName): string {
  return `ROWGRAPH_${flagOf(name).slice(2).replaceAll('-', '_').toUpperCase()}`;
}

/**
 * The table of settings. Flags, environment variables, members of config files, what projects inherit, options of programs with their
 * checks and defaults, and the table in docs/settings.md derive from it. To add a setting, add a row, and use it in one place.
 */
import { type LimitSettingName, limitNames, limitSettingOf, limitTable } from '../budget/limits.ts';
import {
  checkBasePath,
  checkCacheControl,
  checkClaimPath,
  checkCorsOrigin,
  checkCredential,
  checkDomain,
  checkHeaderName,
  checkJwtSecret,
  checkKeysUrl,
  checkMetricsKey,
  checkProxies,
  checkRedisUrl,
  checkRequestSetting,
  checkServerUrl,
  checkSupabaseProject,
  defaultRequestHeaders,
} from './check-settings.ts';
import { checkDatabaseUrl } from './database-url.ts';
import {
  additionList,
  bytes,
  bytesOrOff,
  choice,
  databaseUrls,
  duration,
  type Kind,
  limit,
  list,
  maximum,
  numberOrSwitch,
  onOrOff,
  secret,
  text,
  wholeNumber,
} from './setting-kinds.ts';

/**
 * Where a setting holds: `serve` and `dev`; `inspect`, the commands that open a graph to look at it; `agent`, the command that
 * serves one agent; a `project`, which inherits it from
 * the server unless it is the project's `own`. `graph`, `endpoint` and `server` have options of the same name.
 */
export type Scope = 'serve' | 'dev' | 'inspect' | 'agent' | 'project' | 'own' | 'graph' | 'endpoint' | 'server';

export interface Setting<Value, In extends Scope = Scope> extends Kind<Exclude<Value, undefined>> {
  readonly default: Value;
  /** The default as `--help` shows it. */
  readonly defaultText: string;
  readonly scopes: readonly In[];
  readonly description: string;
}

/** `fallback` is the default as a user would write it; undefined for none. */
function row<Value, const In extends Scope, Fallback extends string | undefined>(
  kind: Kind<Value>,
  fallback: Fallback,
  scopes: readonly In[],
  description: string,
  defaultText: string = fallback === undefined || fallback === '-' ? 'none' : fallback,
): Setting<Value | Extract<Fallback, undefined>, In> {
  const value = (fallback === undefined ? undefined : kind.parse(fallback)) as Value | Extract<Fallback, undefined>;
  return { ...kind, default: value, defaultText, scopes, description } as Setting<Value | Extract<Fallback, undefined>, In>;
}

/** A smaller cache of persisted queries has room for hardly any document in the part of one client. */
const leastPersisted = 64 * 1024;
const port = wholeNumber(0, 65_535, 'PORT');
const cacheEntries = wholeNumber(1, 1_000_000);
const count = maximum(1_000_000);
const timeLimit = duration('10ms', '24h');
const service = ['serve', 'dev'] as const;
/** What shapes a graph, wherever one is opened. */
const shape = ['serve', 'dev', 'inspect', 'project', 'graph'] as const;
const graph = ['serve', 'dev', 'project', 'graph'] as const;
const endpoint = ['serve', 'dev', 'endpoint', 'server'] as const;

/** A setting for each limit, such as `limitFields`. */
const limitSettings = Object.fromEntries(
  limitNames.map((name) => [
    limitSettingOf(name),
    row(limit, undefined, ['serve', 'dev', 'inspect', 'project'], limitTable[name].description, 'by --limits'),
  ]),
) as Readonly<Record<LimitSettingName, Setting<number | 'off' | undefined, 'serve' | 'dev' | 'inspect' | 'project'>>>;

export const settings = {
  databaseUrl: row(
    secret('URL', checkDatabaseUrl),
    undefined,
    ['serve', 'dev', 'inspect', 'own'],
    'URL of the PostgreSQL database; its login role must be able to "set role"',
  ),
  replicaUrl: row(
    databaseUrls,
    undefined,
    ['serve', 'own', 'graph'],
    'URL of a standby that runs queries; may be given several times, and have several hosts (docs/replicas.md)',
  ),
  maxReplicaLag: row(
    duration('1s', '1h'),
    '10s',
    ['serve', 'project', 'graph'],
    'How far a replica may lag behind the primary and still get queries',
  ),
  schemas: row(list('NAMES'), 'public', shape, 'Exposed schemas, separated by commas, in the order of the search path'),
  extraSearchPath: row(
    list('NAMES'),
    '-',
    shape,
    'Schemas to search after the exposed ones without exposing them, such as the schema of extensions',
  ),
  port: row(port, '4000', [...service, 'server'], 'HTTP port; 0 picks a free one'),
  host: row(text('ADDRESS'), '127.0.0.1', [...service, 'server'], 'Address to listen on; 0.0.0.0 accepts connections from the network'),
  jwtSecret: row(
    secret('SECRET', checkJwtSecret),
    undefined,
    [...service, 'own'],
    'Secret for signing and verifying keys and tokens (HS256), at least 32 characters',
  ),
  previousJwtSecret: row(
    secret('SECRET', checkJwtSecret),
    undefined,
    [...service, 'own'],
    'Previous --jwt-secret; tokens signed with it stay valid',
  ),
  jwtKeys: row(
    text('FILE|URL', checkKeysUrl),
    undefined,
    [...service, 'own'],
    'Public keys that verify tokens (RS256, PS256, ES256, EdDSA): a PEM or JWKS file, or the URL of a JWKS',
  ),
  supabase: row(
    text('PROJECT', checkSupabaseProject),
    undefined,
    [...service, 'own'],
    'Accept the tokens of a Supabase project, given by its reference or URL',
  ),
  jwtAudience: row(
    list('NAMES'),
    '-',
    [...service, 'own'],
    'Accepted audiences (aud), separated by commas: a token must name one of them; - accepts any',
  ),
  jwtIssuer: row(list('NAMES'), '-', [...service, 'own'], 'Accepted issuers (iss), separated by commas; - accepts any'),
  jwtLeeway: row(
    duration('0s', '10min'),
    '0s',
    [...service, 'project'],
    'Allowed difference between the clocks of token issuers and of this server',
  ),
  apiKeys: row(
    text('FILE'),
    undefined,
    [...service, 'own'],
    'JSON file of opaque keys, as "rowgraph keys --opaque" prints them; read again when it changes',
  ),
  revokedTokens: row(text('FILE'), undefined, [...service, 'own'], 'JSON file of revoked tokens; read again when it changes'),
  roleClaim: row(
    text('PATH', checkClaimPath),
    '.role',
    [...service, 'project'],
    'Claim that holds the role, such as .app_metadata.role or .realm_access.roles[0]',
  ),
  tokenRoles: row(
    list('ROLES'),
    '-',
    [...service, 'project'],
    'Roles that tokens may name, separated by commas; if the claim is a list, the first of them in it is the role',
    'any, but not in a list',
  ),
  anonRole: row(text('ROLE'), 'anon', ['serve', 'dev', 'inspect', 'project'], 'Database role for anonymous callers'),
  trustedRoles: row(list('ROLES'), '-', shape, 'Privileged roles that tokens may name anyway, separated by commas'),
  strict: row(onOrOff, 'off', ['serve', 'project'], 'Refuse to start with a login role that is a superuser or bypasses row level security'),
  requestSettings: row(
    list('NAMES', checkRequestSetting),
    'auto',
    shape,
    'Settings that tell SQL about a request besides the claims, such as request.headers, separated by commas; auto: those that the database reads; - for none',
  ),
  requestHeaders: row(
    list('NAMES', checkHeaderName),
    defaultRequestHeaders.join(','),
    shape,
    'Headers that request.headers contains, separated by commas; - for none',
  ),
  poolSize: row(wholeNumber(1, 1000), '10', ['serve', 'dev', 'project', 'graph'], 'Database connections per worker'),
  adminPort: row(port, undefined, ['serve'], 'Port for health and metrics alone; --port then serves no metrics'),
  adminHost: row(text('ADDRESS'), '127.0.0.1', ['serve'], 'Address that --admin-port listens on'),
  metricsKey: row(
    secret('KEY', checkMetricsKey),
    undefined,
    service,
    'Key that /metrics requires, in the header "Authorization: Bearer KEY"; at least 16 characters',
  ),
  workers: row(wholeNumber(1, 256), '1', ['serve'], 'Processes that share the port'),
  projects: row(
    text('FILE|FOLDER'),
    undefined,
    ['serve'],
    'JSON map of project references to settings, or a folder of such files; read again when it changes',
  ),
  projectsDomain: row(
    text('DOMAIN', checkDomain),
    undefined,
    ['serve'],
    'Domain whose subdomains are project references, such as example.com',
  ),
  projectConnections: row(wholeNumber(1, 100_000), '100', ['serve'], 'Maximum database connections of all projects together, per worker'),
  projectIdle: row(duration('1s', '24h'), '5min', ['serve'], 'How long an unused project keeps its connections and caches'),
  dialect: row(
    choice('rowgraph', 'pg_graphql'),
    'rowgraph',
    shape,
    "Serve pg_graphql's schema with additions (rowgraph), or type for type (pg_graphql)",
  ),
  additions: row(additionList, 'all', shape, "Additions to pg_graphql's schema, separated by commas; - for none"),
  coercion: row(
    choice('lenient', 'strict'),
    'lenient',
    shape,
    "Judge a scalar or enum of another type than its place's by its value, as pg_graphql does (lenient), or refuse it (strict)",
  ),
  introspection: row(
    choice('directive', 'on', 'off'),
    'directive',
    graph,
    "Allow introspection where a schema's comment enables it (directive), always (on), or never (off)",
  ),
  nodeIdField: row(
    choice('nodeId', 'id'),
    'nodeId',
    shape,
    'Name of the global identifier of rows; with id, a column called id is idColumn in rows, aggregates and filters',
  ),
  json: row(
    choice('string', 'object'),
    'string',
    shape,
    'Return values of json and jsonb as strings with JSON text, as pg_graphql does, or as the JSON itself (object)',
  ),
  requiredInputs: row(onOrOff, 'off', shape, 'Make inserts require the NOT NULL columns that nothing else fills in'),
  prepare: row(
    onOrOff,
    'on',
    ['serve', 'dev', 'project', 'graph'],
    'Use named prepared statements; turn off for poolers that do not support them',
  ),
  schemaTriggers: row(
    onOrOff,
    'off',
    ['serve', 'dev', 'graph'],
    'At startup, install the event triggers that report schema changes; needs a superuser',
  ),
  schemaCache: row(
    bytes(),
    '192mb',
    ['serve', 'dev', 'project'],
    'Maximum estimated size of cached schemas, with their documents and compiled variants',
  ),
  documentCache: row(
    cacheEntries,
    '1000',
    ['serve', 'dev', 'project'],
    'Maximum parsed and validated documents to cache per set of privileges',
  ),
  variantCache: row(cacheEntries, '100', ['serve', 'dev', 'project'], 'Maximum compiled variants to cache per document'),
  statementCache: row(cacheEntries, '256', ['serve', 'dev', 'project'], 'Maximum prepared statements per connection'),
  introspectionCache: row(bytes(), '64mb', ['serve', 'dev', 'project'], 'Maximum total size of cached introspection responses'),
  tokenCache: row(cacheEntries, '10000', endpoint, 'Maximum verified tokens to cache'),
  basePath: row(
    text('PATH', checkBasePath),
    undefined,
    [...service, 'server'],
    'Path prefix of /graphql/v1, /graphiql and /mcp, such as /api',
  ),
  graphiql: row(onOrOff, 'off', service, 'Serve the GraphiQL editor at /graphiql'),
  mcp: row(onOrOff, 'off', service, 'Serve agents at /mcp, by the Model Context Protocol'),
  mcpWrites: row(onOrOff, 'off', service, 'Let agents at /mcp run mutations'),
  mcpExplain: row(onOrOff, 'off', service, 'Let agents at /mcp see the SQL and the plan of operations, which show policies'),
  mcpResultSize: row(bytes(), '64kb', [...service, 'agent'], 'Maximum size of what a tool returns to an agent'),
  url: row(text('URL', checkServerUrl), undefined, ['agent'], 'URL of the GraphQL endpoint of a running rowgraph, instead of a database'),
  apiKey: row(secret('KEY', checkCredential), undefined, ['agent'], 'Key for requests to --url'),
  token: row(secret('TOKEN', checkCredential), undefined, ['agent'], 'Bearer token for requests to --url, of the user to act as'),
  bodyLimit: row(bytes(), '512kb', endpoint, 'Maximum size of a request body'),
  persistedQueries: row(
    bytesOrOff(leastPersisted),
    'off',
    endpoint,
    'Maximum total size of the documents that clients may store by hash (automatic persisted queries)',
  ),
  trustedDocuments: row(
    text('FILE|FOLDER'),
    undefined,
    service,
    'JSON map of ids to documents, which requests may name by id, or a folder of such files; read again when it changes',
  ),
  documentRoles: row(
    list('ROLES'),
    '-',
    service,
    'Roles for which to check and compile trusted documents ahead of time, separated by commas',
    'the anonymous role, authenticated',
  ),
  onlyTrustedDocuments: row(onOrOff, 'off', service, 'Reject documents that are not trusted'),
  untrustedRoles: row(
    list('ROLES'),
    '-',
    [...service, 'endpoint'],
    'Roles that may also send documents that are not trusted, separated by commas; - for none',
  ),
  maxBatch: row(
    numberOrSwitch(10, 1000),
    'off',
    endpoint,
    'Maximum requests in a batch (a JSON array as the body); on allows 10, off rejects batches',
  ),
  cacheControl: row(
    text('DIRECTIVES', checkCacheControl),
    'no-store',
    endpoint,
    'Cache-Control header of successful responses to GET requests, such as "private, max-age=60"',
  ),
  keyInUrl: row(onOrOff, 'on', endpoint, "Accept the key as the parameter apikey of the URL, as Supabase's gateway does"),
  corsOrigins: row(
    list('ORIGINS', checkCorsOrigin),
    '*',
    endpoint,
    'Origins that browsers may call from, separated by commas; * allows any, - none',
  ),
  rateLimit: row(wholeNumber(1, 10_000_000), undefined, service, 'Maximum requests per minute from one address'),
  redisUrl: row(
    secret('URL', checkRedisUrl),
    undefined,
    endpoint,
    'URL of Redis or Valkey, through which several processes share the rate limit and the documents that clients store',
  ),
  trustProxy: row(
    text('ADDRESSES', checkProxies),
    undefined,
    endpoint,
    'Proxies whose X-Forwarded-For header is trusted: addresses, networks (10.0.0.0/8), loopback, linklocal or uniquelocal, separated by commas',
  ),
  waitForDatabase: row(
    duration('0s', '24h'),
    '60s',
    ['serve'],
    'How long to wait at startup for a database that cannot be reached; 0s does not wait',
  ),
  requestTimeout: row(
    timeLimit,
    '30s',
    ['serve', 'dev', 'inspect', 'project', 'endpoint', 'server'],
    'How long a request may take, from its headers until PostgreSQL has finished',
  ),
  queueLength: row(count, '1000', ['serve', 'project'], 'Maximum requests waiting for a database connection; more are rejected'),
  queueBytes: row(
    bytes(),
    '64mb',
    ['serve', 'project'],
    'Maximum total size of requests waiting for a database connection; more are rejected',
  ),
  queueTimeout: row(timeLimit, '10s', ['serve', 'project'], 'How long a request may wait for a database connection'),
  headersTimeout: row(timeLimit, '15s', [...service, 'server'], 'How long the headers of a request may take to arrive'),
  receiveTimeout: row(timeLimit, '30s', [...service, 'server'], 'How long a request may take to arrive, including its body'),
  writeTimeout: row(timeLimit, '30s', endpoint, 'How long a client may take to read each MB of a response'),
  maxConnections: row(count, '10000', [...service, 'server'], 'Maximum client connections per worker; more are closed immediately'),
  maxRequests: row(count, '4000', endpoint, 'Maximum requests in flight per worker; more are rejected'),
  maxClientRequests: row(count, '1000', endpoint, 'Maximum requests in flight from one address or one user; more are rejected'),
  maxPipelinedRequests: row(count, '20', [...service, 'server'], 'Maximum requests in flight on one connection; one more closes it'),
  maxBytesInFlight: row(
    bytes(),
    '256mb',
    endpoint,
    'Maximum total size of request bodies and unread responses in memory; requests beyond it are rejected',
  ),
  maxEventLoopDelay: row(
    duration('10ms', '1h'),
    '1s',
    ['serve', 'endpoint', 'server'],
    'Mean event loop delay above which requests are rejected',
  ),
  drainDelay: row(duration('0s', '24h'), '0s', service, 'How long to keep serving, with /health/ready at 503, after a signal to stop'),
  closeTimeout: row(duration('0s', '24h'), '10s', service, 'How long requests in flight may take to finish when the server stops'),
  limits: row(
    choice('off', 'default', 'strict'),
    'default',
    ['serve', 'dev', 'inspect', 'project'],
    'Set of limits on the cost of a request; --limit-… overrides a single one',
  ),
  ...limitSettings,
  unlimitedRoles: row(
    list('ROLES'),
    'service_role',
    ['serve', 'dev', 'inspect', 'project'],
    'Roles without limits, separated by commas; - for none',
  ),
  idempotencyKeyRoles: row(
    list('ROLES'),
    undefined,
    ['serve', 'dev', 'project'],
    'Roles that may use idempotency keys, separated by commas; * for all, - for none',
    'all but the anonymous role',
  ),
  idempotencyStorage: row(
    bytes(1024 ** 2, 1024 ** 4),
    '512mb',
    graph,
    'Maximum size of the idempotency keys of all callers in the database, with the responses stored for them',
  ),
  idempotencyKeyLifetime: row(duration('1s', '8760h'), '24h', graph, 'How long to keep the response to a mutation for its idempotency key'),
  live: row(
    choice('auto', 'wal', 'messages', 'table', 'poll', 'notify', 'off'),
    'auto',
    shape,
    'Live queries: how the server learns that tables have changed (docs/live.md); auto takes the best that login and server allow',
  ),
  liveDatabaseUrl: row(
    secret('URL', checkDatabaseUrl),
    undefined,
    ['serve', 'dev', 'own', 'graph'],
    'URL of the same database for noticing changes: another login, which may replicate, or a way around a pooler',
    'that of the database',
  ),
  liveInterval: row(duration('1ms', '1h'), '50ms', graph, 'Shortest time between two evaluations of a subscription'),
  liveRefresh: row(
    duration('100ms', '24h'),
    undefined,
    graph,
    'How often to evaluate the subscriptions whose answers change without any table, such as those that read now()',
  ),
  maxSubscriptions: row(count, '10000', graph, 'Maximum subscriptions per worker; more are rejected'),
  liveCost: row(wholeNumber(1, 1000), '1', graph, 'Factor by which the estimated rows of a subscription count against their limit'),
  liveHeartbeat: row(
    duration('1s', '10min'),
    '15s',
    endpoint,
    'How often a live connection gets a sign of life; a WebSocket that shows none until the next is closed',
  ),
  initTimeout: row(duration('100ms', '10min'), '5s', endpoint, 'How long a client may take to send connection_init on a WebSocket'),
  serverTiming: row(onOrOff, 'off', endpoint, 'Report how long the stages of each request took, in the header Server-Timing'),
  reportCost: row(onOrOff, 'off', graph, 'Report the cost of each request in extensions.cost of its response'),
  accessLog: row(onOrOff, 'off', service, 'Log each request to the endpoint'),
  slowOperations: row(duration('1ms', '24h'), undefined, service, 'Log operations that take at least this long'),
  slowOperationValues: row(onOrOff, 'off', service, 'Include the variables and literals of slow operations in the log'),
  traceDatabase: row(
    onOrOff,
    'off',
    ['serve', 'endpoint', 'server'],
    'In each transaction, set application_name to the traceparent of the request, if traces are exported',
  ),
  logLevel: row(choice('silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'), 'info', service, 'Minimum log level'),
  dataDir: row(text('FOLDER'), undefined, ['dev'], 'Folder that keeps the data between runs'),
  operations: row(text('FOLDER'), undefined, ['dev'], 'Folder of .graphql files where the page saves operations', "the browser's storage"),
  dbPort: row(port, '0', ['dev'], 'Port for psql and other PostgreSQL clients; 0 picks a free one'),
  cacheDir: row(text('FOLDER'), undefined, ['dev'], 'Folder for cached files that make the next start faster', "the user's cache folder"),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;
type ValueOf<Name extends SettingName> = (typeof settings)[Name]['default'];

/** The settings that hold in a scope. */
export type NameIn<In extends Scope> = {
  [Name in SettingName]: In extends (typeof settings)[Name]['scopes'][number] ? Name : never;
}[SettingName];

/** The values of some settings, of which the `Required` ones must be given. */
export type Configuration<Name extends SettingName, Required extends Name = never> = {
  readonly [Key in Name]: Key extends Required ? Exclude<ValueOf<Key>, undefined> : ValueOf<Key>;
};

export const settingNames = Object.keys(settings) as readonly SettingName[];

export function namesIn<In extends Scope>(scope: In): readonly NameIn<In>[] {
  return settingNames.filter((name): name is NameIn<In> => (settings[name].scopes as readonly Scope[]).includes(scope));
}

/** The values that a configuration has for the options of a scope, without those that are unset or off by default. */
export function optionsIn<In extends Scope>(
  scope: In,
  configuration: Readonly<Partial<Record<SettingName, unknown>>>,
): { readonly [Name in NameIn<In>]?: Exclude<ValueOf<Name>, undefined | (number extends ValueOf<Name> ? 'off' : never)> } {
  const options = namesIn(scope).flatMap((name) => {
    const value = configuration[name];
    return value === undefined || (value === 'off' && settings[name].default === 'off') ? [] : [[name, value]];
  });
  return Object.fromEntries(options);
}

/** The checks of the options of a scope. */
export function checksIn<In extends Scope>(scope: In): { readonly [Name in NameIn<In>]: Setting<unknown>['check'] } {
  return Object.fromEntries(namesIn(scope).map((name) => [name, settings[name].check])) as {
    readonly [Name in NameIn<In>]: Setting<unknown>['check'];
  };
}

/** The flag of a setting. */
export function flagOf(name: SettingName): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The environment variable of a setting. */
export function environmentVariableOf(name: SettingName): string {
  return `ROWGRAPH_${flagOf(name).slice(2).replaceAll('-', '_').toUpperCase()}`;
}

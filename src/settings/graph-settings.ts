/** Settings of one graph: its database, who may call it, what its API looks like, and what requests may take. */
import { type LimitSettingName, limitNames, limitSettingOf, limitTable } from '../budget/limits.ts';
import {
  checkClaimPath,
  checkHeaderName,
  checkJwtSecret,
  checkKeysUrl,
  checkRequestSetting,
  checkSupabaseProject,
  defaultRequestHeaders,
} from './check-settings.ts';
import { checkDatabaseUrl } from './database-url.ts';
import {
  additionList,
  bytes,
  cacheEntries,
  choice,
  count,
  databaseUrls,
  duration,
  limit,
  list,
  onOrOff,
  row,
  type Setting,
  secret,
  text,
  timeLimit,
  wholeNumber,
} from './setting-kinds.ts';

const service = ['serve', 'dev'] as const;
/** What shapes a graph, wherever one is opened. */
const shape = ['serve', 'dev', 'inspect', 'project', 'graph'] as const;
const graph = ['serve', 'dev', 'project', 'graph'] as const;

/** A setting for each limit, such as `limitFields`. */
const limitSettings = Object.fromEntries(
  limitNames.map((name) => [
    limitSettingOf(name),
    row(limit, undefined, ['serve', 'dev', 'inspect', 'project'], limitTable[name].description, 'by --limits'),
  ]),
) as Readonly<Record<LimitSettingName, Setting<number | 'off' | undefined, 'serve' | 'dev' | 'inspect' | 'project'>>>;

export const graphSettings = {
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
    'Accept a scalar or enum of another type if its value fits, as pg_graphql does (lenient), or refuse it (strict)',
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
  reportCost: row(onOrOff, 'off', graph, 'Report the cost of each request in extensions.cost of its response'),
} as const satisfies Record<string, Setting<unknown>>;

/** Serves a graph over HTTP with the settings that `dev` and `serve` share. In: the graph and the settings; out: the running server. */

import type { WatchedDocuments } from '../http/documents/trusted-document-files.ts';
import type { ServedGraph } from '../http/endpoint/endpoint-options.ts';
import type { PageOptions, ServerOptions } from '../http/transport/server-options.ts';
import { type RunningServer, startServer } from '../http/transport/start-server.ts';
import type { Telemetry } from '../telemetry/create-telemetry.ts';
import { CommandError } from './command-error.ts';
import type { ServeConfiguration, ServiceConfiguration } from './command-settings.ts';
import { type LimitConfiguration, limitOptionsOf } from './limit-options.ts';
import { modelOptionsOf, type modelSettingNames } from './model-options.ts';
import type { ServedProjects } from './serve-projects.ts';
import type { Configuration } from './settings.ts';

export interface ServiceOptions {
  readonly configuration: ServiceConfiguration & Partial<Pick<ServeConfiguration, 'maxEventLoopDelay' | 'adminPort' | 'traceDatabase'>>;
  readonly jwtSecret: string | undefined;
  readonly tokens: NonNullable<ServerOptions['tokens']>;
  /** The options of the page at /graphiql, if it is served. */
  readonly page: PageOptions;
  readonly graph: ServedGraph;
  readonly telemetry: Telemetry;
  /** Null if there are none. */
  readonly documents: WatchedDocuments | null;
  /** The projects of the server; null if it has none. */
  readonly projects?: ServedProjects | null;
}

/** Listens. Throws `CommandError` if the address is not available. */
export async function startService({
  configuration,
  jwtSecret,
  tokens,
  page,
  graph,
  telemetry,
  documents,
  projects = null,
}: ServiceOptions): Promise<RunningServer> {
  const {
    host,
    port,
    basePath,
    graphiql,
    persistedQueries,
    maxBatch,
    serverTiming,
    cacheControl,
    keyInUrl,
    corsOrigins,
    rateLimit,
    trustProxy,
    maxEventLoopDelay,
  } = configuration;
  try {
    return await startServer({
      graph,
      ...(jwtSecret !== undefined && { jwtSecret }),
      tokens,
      host,
      port,
      cacheControl,
      serverTiming,
      keyInUrl,
      corsOrigins,
      graphiql: graphiql && page,
      telemetry,
      metrics: metricsOf(configuration),
      ...(configuration.traceDatabase && { traceDatabase: true }),
      ...serverLimitsOf(configuration),
      ...projects?.serverOptions,
      ...(documents !== null && { trustedDocuments: documents }),
      ...(configuration.onlyTrustedDocuments && { untrustedRoles: configuration.untrustedRoles }),
      ...(persistedQueries !== 'off' && { persistedQueries }),
      ...(maxBatch !== 'off' && { maxBatch }),
      ...(basePath !== undefined && { basePath }),
      ...(rateLimit !== undefined && { rateLimit: { max: rateLimit, windowMilliseconds: 60_000 } }),
      ...(trustProxy !== undefined && { trustProxy }),
      ...(maxEventLoopDelay !== undefined && { maxEventLoopDelay }),
    });
  } catch (error) {
    throw explainListenError(error, host, port);
  }
}

/** If they have a port of their own, the public port does not serve the metrics. */
function metricsOf({ adminPort, metricsKey }: ServiceOptions['configuration']): NonNullable<ServerOptions['metrics']> {
  if (adminPort !== undefined) return 'elsewhere';
  return metricsKey === undefined ? {} : { key: metricsKey };
}

/** The bounds on the server's time and memory, from the settings. */
function serverLimitsOf(configuration: ServiceConfiguration) {
  const { tokenCache, bodyLimit, requestTimeout, headersTimeout, receiveTimeout, writeTimeout } = configuration;
  const { maxConnections, maxRequests, maxClientRequests, maxPipelinedRequests, maxBytesInFlight } = configuration;
  return {
    ...{ tokenCache, bodyLimit, requestTimeout, headersTimeout, receiveTimeout, writeTimeout },
    ...{ maxConnections, maxRequests, maxClientRequests, maxPipelinedRequests, maxBytesInFlight },
    drainMilliseconds: configuration.drainDelay,
    closeMilliseconds: configuration.closeTimeout,
  };
}

type CacheConfiguration = Configuration<'schemaCache' | 'documentCache' | 'variantCache' | 'statementCache' | 'introspectionCache'>;
type GraphConfiguration = CacheConfiguration &
  Configuration<
    'idempotencyKeyLifetime' | 'idempotencyKeyRoles' | 'idempotencyStorage' | 'anonRole' | 'requestSettings' | 'requestHeaders'
  > &
  Configuration<'schemas' | 'extraSearchPath' | 'introspection' | 'coercion' | 'trustedRoles' | 'reportCost' | 'requestTimeout'> &
  Configuration<(typeof modelSettingNames)[number]> &
  LimitConfiguration;

/** All roles but the anonymous one unless the setting names some. */
function keyRolesOf({ idempotencyKeyRoles: roles, anonRole }: GraphConfiguration) {
  if (roles === undefined) return { except: [anonRole] };
  return roles.includes('*') ? { except: [] } : roles;
}

/** Options of the graph, from the settings that `dev`, `serve` and projects share. */
export function graphOptionsOf(configuration: GraphConfiguration) {
  const { schemas, extraSearchPath, introspection, coercion, trustedRoles, reportCost, requestTimeout: timeout } = configuration;
  const { requestSettings, requestHeaders, idempotencyKeyLifetime, idempotencyStorage } = configuration;
  return {
    ...{ schemas, extraSearchPath, introspection, coercion, trustedRoles, reportCost, timeout, requestSettings, requestHeaders },
    ...{ idempotencyKeyLifetime, idempotencyStorage, idempotencyKeyRoles: keyRolesOf(configuration) },
    caches: cacheSizesOf(configuration),
    ...modelOptionsOf(configuration),
    ...limitOptionsOf(configuration),
  };
}

function cacheSizesOf({ schemaCache, documentCache, variantCache, statementCache, introspectionCache }: CacheConfiguration) {
  return {
    schemaBytes: schemaCache,
    documents: documentCache,
    variants: variantCache,
    statements: statementCache,
    introspectionBytes: introspectionCache,
  };
}

/** Explains why the server cannot listen at an address; returns other errors unchanged. */
export function explainListenError(error: unknown, host: string, port: number, flag = '--port'): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return new CommandError(`${flag} ${port} is already in use: choose another (0 picks a free one)`, 2, error);
  if (code === 'EACCES')
    return new CommandError(`${flag} ${port} needs more privileges than this user has: choose a port of at least 1024`, 2, error);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new CommandError(`--host ${host} is not an address of this machine`, 2, error);
  return error;
}

/** Serves a graph over HTTP with the settings that `dev` and `serve` share. In: the graph and the settings; out: the running server. */

import { readProxyTrust } from '../http/client-address.ts';
import type { ServedGraph } from '../http/served-graph.ts';
import { type RunningServer, startServer } from '../http/start-server.ts';
import type { Telemetry } from '../telemetry/create-telemetry.ts';
import { CommandError } from './command-error.ts';
import type { ServeConfiguration, ServiceConfiguration } from './command-settings.ts';
import { ConfigurationError, flagOf } from './config.ts';
import { limitOptionsOf } from './limit-options.ts';

export interface ServiceOptions {
  readonly configuration: ServiceConfiguration & Partial<Pick<ServeConfiguration, 'maxEventLoopDelay'>>;
  readonly jwtSecret: string;
  /** What GraphiQL fills in; null leaves the key to the user. */
  readonly anonKey: string | null;
  readonly graph: ServedGraph;
  readonly telemetry: Telemetry;
}

/** Listens. Throws `CommandError` if the address is not available, and `ConfigurationError` if a proxy is not an address. */
export async function startService({ configuration, jwtSecret, anonKey, graph, telemetry }: ServiceOptions): Promise<RunningServer> {
  const { host, port, basePath, graphiql, corsOrigins, rateLimit, trustProxy, maxEventLoopDelay } = configuration;
  checkProxies(trustProxy);
  try {
    return await startServer({
      graph,
      jwtSecret,
      host,
      port,
      corsOrigins,
      graphiql: graphiql && (anonKey === null || { anonKey }),
      telemetry,
      ...serverLimitsOf(configuration),
      ...(basePath !== undefined && { basePath }),
      ...(rateLimit !== undefined && { rateLimit: { max: rateLimit, windowMilliseconds: 60_000 } }),
      ...(trustProxy !== undefined && { trustProxy }),
      ...(maxEventLoopDelay !== undefined && { maxEventLoopDelay }),
    });
  } catch (error) {
    throw explainListenError(error, host, port);
  }
}

function checkProxies(trustProxy: string | undefined): void {
  try {
    readProxyTrust(trustProxy ?? false);
  } catch (error) {
    throw new ConfigurationError([`${flagOf('trustProxy')}: ${(error as Error).message}`]);
  }
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

/** What the settings that `dev` and `serve` share say of the graph. */
export function graphOptionsOf(configuration: ServiceConfiguration) {
  const { schemas, extraSearchPath, introspection, trustedRoles, reportCost, requestTimeout: timeout } = configuration;
  const caches = cacheSizesOf(configuration);
  return { schemas, extraSearchPath, introspection, trustedRoles, reportCost, timeout, caches, ...limitOptionsOf(configuration) };
}

function cacheSizesOf({ schemaCache, documentCache, variantCache, statementCache, introspectionCache }: ServiceConfiguration) {
  return {
    schemaBytes: schemaCache,
    documents: documentCache,
    variants: variantCache,
    statements: statementCache,
    introspectionBytes: introspectionCache,
  };
}

/** Explains why an address cannot be listened on; other errors stay as they are. */
export function explainListenError(error: unknown, host: string, port: number, flag = '--port'): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return new CommandError(`${flag} ${port} is already in use: choose another (0 picks a free one)`, 2, error);
  if (code === 'EACCES')
    return new CommandError(`${flag} ${port} needs more privileges than this user has: choose a port of at least 1024`, 2, error);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new CommandError(`--host ${host} is not an address of this machine`, 2, error);
  return error;
}

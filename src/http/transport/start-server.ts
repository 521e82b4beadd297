/**
 * Starts the HTTP server, with what Node leaves open: timeouts, the number of connections, and responses where Node would send its own or
 * none.
 */

import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenRules } from '../../auth/read-jwt.ts';
import type { Observer } from '../../events.ts';
import { settings } from '../../settings/settings.ts';
import { createTelemetry, type Telemetry } from '../../telemetry/create-telemetry.ts';
import type { NodeEndpointOptions } from '../endpoint/endpoint-options.ts';
import { createServerRoutes, type RouteOptions } from '../routes/server-routes.ts';
import { handleBareSockets } from './bare-sockets.ts';
import { mostHeaders } from './check-head.ts';
import { type DivideEndpoint, type MountedEndpoint, mountEndpoint } from './mount-endpoint.ts';

export interface ServerOptions extends NodeEndpointOptions, RouteOptions {
  /** Serves several projects, each by an endpoint of its own. Default: all requests are for `graph`. */
  readonly divide?: DivideEndpoint;
  /** The secret that keys and tokens are signed with (HS256). Not needed if `tokens` has public keys. */
  readonly jwtSecret?: string;
  /** What a token must satisfy besides its signature with the secret. */
  readonly tokens?: Omit<TokenRules, 'secrets'> & {
    /** Former secrets: tokens that were signed with them stay valid. */
    readonly previousSecrets?: readonly string[];
  };
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  /** Whether other processes may listen on the same port; the system distributes the connections (Linux and others). Default: false. */
  readonly reusePort?: boolean;
  /** Milliseconds in which the headers of a request must arrive. Default: 15,000. */
  readonly headersTimeout?: number;
  /** Milliseconds in which a request must arrive, including its body. Default: 30,000. */
  readonly receiveTimeout?: number;
  /** Maximum open connections; more are closed immediately. Default: 10,000. */
  readonly maxConnections?: number;
  /** How long `drain()` keeps the server running while `/health/ready` reports that it is not ready. Default: 0 ms. */
  readonly drainMilliseconds?: number;
  /** How long `close()` waits for requests in flight before it ends them. Default: 10,000 ms. */
  readonly closeMilliseconds?: number;
  /** Default: log lines of level info and above on standard error. */
  readonly telemetry?: Telemetry;
}

export interface RunningServer {
  /** `http://host:port`, without the base path. */
  readonly url: string;
  readonly port: number;
  /**
   * Makes `/health/ready` report that the server is not ready, so that load balancers send no more requests here, and each response end its
   * connection; keeps serving, and resolves after the configured delay.
   */
  drain(): Promise<void>;
  /**
   * Accepts no more connections, lets the requests in flight finish within a time limit, then ends all connections. The graph stays open.
   */
  close(): Promise<void>;
}

/** How many connections may wait to be accepted, if the system allows as many: each beyond that is late by seconds. */
const backlog = 4096;
const defaultHost = settings.host.default;

/** Starts the server; resolves once it listens. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { graph, closeMilliseconds = settings.closeTimeout.default, drainMilliseconds = 0, telemetry = createTelemetry() } = options;
  const { observe } = telemetry;
  let isDraining = false;
  const served = createServerRoutes(options, telemetry, () => isDraining);
  const mounted = mountEndpoint(graph, { ...options, ...telemetry.endpointOptions }, tokenRulesOf(options), observe, {
    ...served,
    joinsHeaders: true,
    divide: options.divide ?? null,
  });
  const { connections, readCaches } = mounted;
  telemetry.watchCaches(() => [...readCaches(), ...graph.readCaches()]);
  telemetry.watchGraph(() => graph.readStatistics());
  const listening = await listen(() => openServer(mounted, options, observe), options);
  const url = `http://${nameHost(options.host)}:${listening}`;
  observe({ kind: 'server-started', url });

  const drain = async (): Promise<void> => {
    isDraining = true;
    connections.endWithResponses();
    if (drainMilliseconds > 0) await sleep(drainMilliseconds);
  };
  const stop = async (): Promise<void> => {
    isDraining = true;
    observe({ kind: 'server-stopping' });
    // What goes on ends while the server still answers: its clients come back to another one.
    const closing = connections.close(closeMilliseconds);
    await mounted.endLive(closeMilliseconds);
    await closing;
    observe({ kind: 'server-stopped' });
  };
  let drained: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;
  return {
    url,
    port: listening,
    drain: () => {
      drained ??= drain();
      return drained;
    },
    close: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

function tokenRulesOf({ jwtSecret, tokens }: ServerOptions): TokenRules {
  return { ...tokens, secrets: [...(jwtSecret === undefined ? [] : [jwtSecret]), ...(tokens?.previousSecrets ?? [])] };
}

/** Longer than the idle time of common proxies (60 s), so that the proxy closes the connection first. */
const idleMillis = 72_000;
/** How many times per timeout Node checks for late requests. They are found at most a tenth late, and an idle process seldom wakes. */
const checksPerTimeout = 10;

/** A server that does not listen yet. */
function openServer({ handle, takeUpgrade, connections, requestIdOf }: MountedEndpoint, options: ServerOptions, observe: Observer): Server {
  const { receiveTimeout = settings.receiveTimeout.default, maxConnections = settings.maxConnections.default } = options;
  const headersTimeout = Math.min(options.headersTimeout ?? settings.headersTimeout.default, receiveTimeout);
  const server = createServer({
    headersTimeout,
    requestTimeout: receiveTimeout,
    connectionsCheckingInterval: Math.max(1, Math.round(headersTimeout / checksPerTimeout)),
    keepAliveTimeout: idleMillis,
    // TCP probes whether silent clients are still there.
    keepAlive: true,
    requireHostHeader: false,
    // So that no repeated header is silently dropped (see `check-head.ts`).
    joinDuplicateHeaders: true,
  });
  server.maxConnections = maxConnections;
  // With several workers, `node:cluster` would pass a connection on to the next one, and around for ever if all have their maximum.
  Object.assign(server, { dropMaxConnection: true });
  server.maxHeadersCount = mostHeaders;
  connections.watch(server);
  handleBareSockets(server, connections, requestIdOf, takeUpgrade);
  server.on('request', (request, response) => handle(request, response, 'nothing'));
  server.on('checkContinue', (request, response) => handle(request, response, 'continue'));
  server.on('checkExpectation', (request, response) => handle(request, response, 'unknown'));
  // A connection that cannot be accepted, for example for lack of file descriptors, must not end the process.
  server.on('error', (error) => {
    if (server.listening) observe({ kind: 'defect-found', requestId: null, error });
  });
  return server;
}

/** Listens on all addresses of `localhost`, or on the address of another host. Resolves to the port. */
async function listen(open: () => Server, { host = defaultHost, port = 0, reusePort = false }: ServerOptions): Promise<number> {
  const listenAt = async (address: string, at: number): Promise<AddressInfo> => {
    const server = open();
    server.listen({ host: address, port: at, backlog, reusePort });
    await once(server, 'listening');
    return server.address() as AddressInfo;
  };
  const first = await listenAt(host, port);
  if (host !== 'localhost') return first.port;
  const addresses = await lookup(host, { all: true });
  for (const { address } of addresses) {
    // Not every machine has both IPv4 and IPv6 addresses.
    if (address !== first.address) await listenAt(address, first.port).catch(() => undefined);
  }
  return first.port;
}

/** A host as written in a URL; a server that listens on all addresses can be reached at localhost. */
function nameHost(host = defaultHost): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Starts the HTTP server. In: a graph and the settings; out: where it listens, and how to stop it. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenRules } from '../../auth/verify-token.ts';
import { createTelemetry } from '../../telemetry/create-telemetry.ts';
import { createServerRoutes } from '../routes/server-routes.ts';
import { mountEndpoint } from './mount-endpoint.ts';
import { openServer } from './open-server.ts';
import type { ServerOptions } from './server-options.ts';

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

/** Starts the server; resolves once it listens. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0, closeMilliseconds = 10_000, drainMilliseconds = 0, telemetry = createTelemetry() } = options;
  const { graph, headersTimeout = 15_000, receiveTimeout = 30_000, maxConnections = 10_000 } = options;
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
  const open = (): Server => openServer(mounted, { headersTimeout, receiveTimeout, maxConnections }, observe);
  const listening = await listen(open, host, port);
  const url = `http://${nameHost(host)}:${listening}`;
  observe({ kind: 'server-started', url });

  const drain = async (): Promise<void> => {
    isDraining = true;
    connections.endWithResponses();
    if (drainMilliseconds > 0) await sleep(drainMilliseconds);
  };
  const stop = async (): Promise<void> => {
    isDraining = true;
    observe({ kind: 'server-stopping' });
    await connections.close(closeMilliseconds);
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

/** Listens on all addresses of `localhost`, or on the address of another host. Resolves to the port. */
async function listen(open: () => Server, host: string, port: number): Promise<number> {
  const first = await listenAt(open(), host, port);
  if (host !== 'localhost') return first.port;
  const addresses = await lookup(host, { all: true });
  for (const { address } of addresses) {
    // Not every machine has both IPv4 and IPv6 addresses.
    if (address !== first.address) await listenAt(open(), address, first.port).catch(() => undefined);
  }
  return first.port;
}

async function listenAt(server: Server, host: string, port: number): Promise<AddressInfo> {
  server.listen({ host, port, backlog });
  await once(server, 'listening');
  return server.address() as AddressInfo;
}

/** A host as written in a URL; a server that listens on all addresses can be reached at localhost. */
function nameHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Starts the HTTP server. In: a graph and the settings; out: where it listens, and how to stop it. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTelemetry } from '../telemetry/create-telemetry.ts';
import { Admission } from './admission.ts';
import { Connections } from './connections.ts';
import { createApp } from './create-app.ts';
import { openServer } from './open-server.ts';
import { createRequestIds } from './request-ids.ts';
import type { ServerOptions } from './server-options.ts';

export interface RunningServer {
  /** `http://host:port`, without the base path. */
  readonly url: string;
  readonly port: number;
  /** Makes `/health/ready` say no, so that load balancers send no more requests here, and keeps serving; resolves after the configured delay. */
  drain(): Promise<void>;
  /** Accepts no more connections, lets the requests in flight finish within a time limit, then ends. The graph stays open. */
  close(): Promise<void>;
}

/** Milliseconds for each MiB of a response while the server holds too many bytes: that is 8 Mbit/s. */
const pressedWriteTimeout = 1000;

/** Starts the server; resolves once it listens. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0, closeMilliseconds = 10_000, drainMilliseconds = 0, telemetry = createTelemetry() } = options;
  const { maxRequests = 4000, maxClientRequests = 1000, maxPipelinedRequests = 100, maxBytesInFlight = 256 * 1024 ** 2 } = options;
  const { headersTimeout = 15_000, receiveTimeout = 30_000, writeTimeout = 30_000, maxConnections = 10_000 } = options;
  const admission = new Admission({ requests: maxRequests, clientRequests: maxClientRequests, bytes: maxBytesInFlight });
  const connections = new Connections(admission, {
    ...{ pipelinedRequests: maxPipelinedRequests, writeTimeout },
    pressedWriteTimeout: Math.min(writeTimeout, pressedWriteTimeout),
  });
  const requestIdOf = createRequestIds();
  let isDraining = false;
  const app = createApp(options, { telemetry, connections, admission, requestIdOf, isDraining: () => isDraining });
  const open = (): Server =>
    openServer(app, connections, requestIdOf, { headersTimeout, receiveTimeout, maxConnections }, telemetry.observe);
  const listening = await listen(open, host, port);
  const url = `http://${nameHost(host)}:${listening}`;
  telemetry.observe({ kind: 'server-started', url });

  const drain = async (): Promise<void> => {
    isDraining = true;
    if (drainMilliseconds > 0) await sleep(drainMilliseconds);
  };
  const stop = async (): Promise<void> => {
    isDraining = true;
    telemetry.observe({ kind: 'server-stopping' });
    await connections.close(closeMilliseconds);
    telemetry.observe({ kind: 'server-stopped' });
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

/** Listens on all addresses of `localhost`, or on the one of another host. Resolves to the port. */
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
  server.listen({ host, port });
  await once(server, 'listening');
  return server.address() as AddressInfo;
}

/** A host as written in a URL; a server that listens on every address is reached at localhost. */
function nameHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * Opens a `node:http` server with what Node leaves open: timeouts, the number of connections, and our own responses where Node would send
 * its own or none. In: the mounted endpoint and the limits; out: the server, not yet listening.
 */
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Observer } from '../../events.ts';
import { createBrokenRequestHandler, refuseHeaders, refuseTunnel } from './broken-request.ts';
import { hasTooManyHeaders, mostHeaders } from './check-head.ts';
import { CollectedRequest } from './collected-request.ts';
import { ignoreUpgrade } from './ignore-upgrade.ts';
import type { MountedEndpoint } from './mount-endpoint.ts';

export interface ServerLimits {
  /** Milliseconds in which the headers of a request must arrive. */
  readonly headersTimeout: number;
  /** Milliseconds in which a request must arrive, including its body. */
  readonly receiveTimeout: number;
  readonly maxConnections: number;
}

/** Longer than the idle time of common proxies (60 s), so that the proxy closes the connection first. */
const idleMillis = 72_000;
/** How many times per timeout Node checks for late requests. They are found at most a tenth late, and an idle process seldom wakes. */
const checksPerTimeout = 10;

/** Opens a server for the endpoint. */
export function openServer({ handle, connections, requestIdOf }: MountedEndpoint, limits: ServerLimits, observe: Observer): Server {
  const { receiveTimeout, maxConnections } = limits;
  const headersTimeout = Math.min(limits.headersTimeout, receiveTimeout);
  const server = createServer({
    IncomingMessage: CollectedRequest,
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
  server.on('request', (request, response) => handle(request, response, 'nothing'));
  server.on('checkContinue', (request, response) => handle(request, response, 'continue'));
  server.on('checkExpectation', (request, response) => handle(request, response, 'unknown'));
  server.on('connect', (_request, socket) => refuseTunnel(connections.of(socket as Socket), requestIdOf));
  server.on('upgrade', (request, socket, rest) => {
    const connection = connections.of(socket as Socket);
    if (hasTooManyHeaders(request)) refuseHeaders(connection, requestIdOf);
    else ignoreUpgrade(server, connection, request, rest);
  });
  server.on('clientError', createBrokenRequestHandler(connections, requestIdOf) as (error: Error, socket: unknown) => void);
  // A connection that cannot be accepted, for example for lack of file descriptors, must not end the process.
  server.on('error', (error) => {
    if (server.listening) observe({ kind: 'defect-found', requestId: null, error });
  });
  return server;
}

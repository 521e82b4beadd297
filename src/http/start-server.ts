/**
 * The HTTP server: the GraphQL endpoint, GraphiQL, health and metrics. In: a graph and the settings; out: where it listens, and how to
 * stop it. The endpoint itself is in `graphql-endpoint.ts`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import cors from '@fastify/cors';
import rateLimit from '@fastify/rate-limit';
import underPressure from '@fastify/under-pressure';
import fastify, { type FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Observer } from '../events.ts';
import type { Rowgraph } from '../rowgraph.ts';
import { addErrorHandlers, answerBrokenRequest } from './answer-errors.ts';
import { createTelemetry, type Telemetry } from './create-telemetry.ts';
import { createGraphqlEndpoint, type GraphqlEndpoint } from './graphql-endpoint.ts';
import { serveGraphiql } from './serve-graphiql.ts';
import { serveHealth } from './serve-health.ts';
import { createTokenVerifier } from './verify-token.ts';

export interface ServerOptions {
  readonly graph: Pick<Rowgraph, 'executeRaw' | 'ping'>;
  /** The secret that keys and tokens are signed with (HS256). */
  readonly jwtSecret: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  /** What comes before `/graphql/v1` and `/graphiql`, such as `/api`. Default: nothing. */
  readonly basePath?: string;
  /** Whether GraphiQL is served, and the key that is filled in. Default: false. */
  readonly graphiql?: boolean | { readonly anonKey: string };
  /** Largest body of a request in bytes. Default: 1 MiB. */
  readonly bodyLimit?: number;
  /** Origins that browsers may call from; `*` is any, an empty list none. Default: any, as keys travel in headers and not in cookies. */
  readonly corsOrigins?: readonly string[];
  /** Requests that one address may send in a time window. Default: any number. */
  readonly rateLimit?: { readonly max: number; readonly windowMilliseconds: number };
  /** Whether a proxy in front is believed about the client's address, or the addresses of such proxies. Default: false. */
  readonly trustProxy?: boolean | string;
  /** Mean delay of the event loop, in milliseconds, over which requests are refused with OVERLOADED. Default: none. */
  readonly maxEventLoopDelay?: number;
  /** How long `close()` waits for requests in flight before it cuts them off. Default: 10,000 ms. */
  readonly closeMilliseconds?: number;
  /** Default: log lines from level info on to standard output. */
  readonly telemetry?: Telemetry;
}

export interface RunningServer {
  /** `http://host:port`, without the base path. */
  readonly url: string;
  readonly port: number;
  /** Accepts no more connections, lets the requests in flight finish within a limit, then ends. The graph stays open. */
  close(): Promise<void>;
}

/** Starts the server; resolves once it listens. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const telemetry = options.telemetry ?? createTelemetry();
  const basePath = readBasePath(options.basePath ?? '');
  const endpointPath = `${basePath}/graphql/v1`;
  const state = { closing: false, isOverloaded: () => false };
  const verifier = createTokenVerifier(options.jwtSecret);
  telemetry.watchCaches(() => [verifier.readStatistics()]);
  const endpoint = createGraphqlEndpoint({
    graph: options.graph,
    verifier,
    bodyLimit: options.bodyLimit ?? 1024 * 1024,
    observe: telemetry.observe,
    isOverloaded: () => state.isOverloaded(),
    isClosing: () => state.closing,
  });
  const { app, server } = createApp(options, endpointPath, endpoint);
  addErrorHandlers(app, endpointPath, telemetry.observe);
  await addLimits(app, options);
  if (options.maxEventLoopDelay !== undefined) state.isOverloaded = () => app.isUnderPressure();
  serveEndpoint(app, endpointPath, endpoint, options.rateLimit);
  serveHealth(app, options.graph, telemetry);
  if (options.graphiql) {
    const anonKey = options.graphiql === true ? null : options.graphiql.anonKey;
    serveGraphiql(app, `${basePath}/graphiql`, { endpoint: endpointPath, anonKey });
  }
  await app.listen({ host: options.host ?? '127.0.0.1', port: options.port ?? 0 });
  const { port } = server.address() as AddressInfo;
  const url = `http://${nameHost(options.host ?? '127.0.0.1')}:${port}`;
  telemetry.observe({ kind: 'server-started', url });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    state.closing = true;
    closed ??= closeServer(app, server, options.closeMilliseconds ?? 10_000, telemetry.observe);
    return closed;
  };
  return { url, port, close };
}

/**
 * Plain requests at the endpoint do not pass through fastify's router and hooks, which would cost a tenth of what the endpoint does; those
 * that need them (from browsers, for CORS, and all where a rate limit holds) do.
 */
function createApp(options: ServerOptions, endpointPath: string, endpoint: GraphqlEndpoint): { app: FastifyInstance; server: Server } {
  const limited = options.rateLimit !== undefined;
  let server: Server | undefined;
  const app = fastify({
    serverFactory: (handle) => {
      server = createServer((request: IncomingMessage, response: ServerResponse) => {
        if (!limited && request.url === endpointPath && request.method === 'POST' && request.headers.origin === undefined) {
          void endpoint(request, response);
        } else handle(request, response);
      });
      // Longer than the idle time of common proxies (60 s), so that it is they who end a connection.
      server.keepAliveTimeout = 72_000;
      // For the whole of a request, its body included.
      server.requestTimeout = 30_000;
      server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => answerBrokenRequest(error, socket));
      return server;
    },
    trustProxy: options.trustProxy ?? false,
    routerOptions: { maxParamLength: 200 },
  });
  if (server === undefined) throw new Error('fastify did not ask for its server');
  return { app, server };
}

async function addLimits(app: FastifyInstance, options: ServerOptions): Promise<void> {
  const origins = options.corsOrigins ?? ['*'];
  if (origins.length > 0) {
    app.addHook('onRequest', (request, reply, done) => {
      // Without this header it is no preflight (Fetch standard, CORS protocol) but a method like others.
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] === undefined) reply.callNotFound();
      else done();
    });
    const origin = origins.includes('*') ? '*' : [...origins];
    const exposedHeaders = ['x-request-id', 'retry-after'];
    await app.register(cors, { origin, methods: ['POST'], exposedHeaders, maxAge: 7200 });
  }
  if (options.rateLimit !== undefined) await app.register(rateLimit, { global: false });
  if (options.maxEventLoopDelay !== undefined) {
    // The endpoint asks by itself; health and metrics answer under pressure too.
    await app.register(underPressure, { maxEventLoopDelay: options.maxEventLoopDelay, pressureHandler: () => undefined });
  }
}

function serveEndpoint(app: FastifyInstance, path: string, endpoint: GraphqlEndpoint, limit: ServerOptions['rateLimit']): void {
  // Bodies are read by the endpoint, and nowhere else.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const config = limit && {
    rateLimit: {
      max: limit.max,
      timeWindow: limit.windowMilliseconds,
      errorResponseBuilder: () =>
        new ApiError('RATE_LIMITED', 'Too many requests from this address: wait as long as the header Retry-After says.'),
    },
  };
  app.post(path, { config: config ?? {} }, async (request, reply) => {
    reply.hijack();
    await endpoint(request.raw, reply.raw, reply.getHeaders());
  });
}

async function closeServer(app: FastifyInstance, server: Server, patience: number, observe: Observer): Promise<void> {
  observe({ kind: 'server-stopping' });
  const timer = setTimeout(() => server.closeAllConnections(), patience);
  await app.close();
  clearTimeout(timer);
  observe({ kind: 'server-stopped' });
}

function readBasePath(basePath: string): string {
  if (basePath === '' || basePath === '/') return '';
  if (!/^(\/[\w.~-]+)+$/.test(basePath))
    throw new Error(`The base path must look like /api, without a slash at its end; it is ${JSON.stringify(basePath)}.`);
  return basePath;
}

/** A host as a URL has it; a server that listens on every address is reached at this machine's own. */
function nameHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * Everything that is served, as one fastify application: the GraphQL endpoint, GraphiQL, health and metrics, behind what browsers and limits
 * need. In: the settings; out: the application, ready to listen. The endpoint itself is in `graphql-endpoint.ts`.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import cors from '@fastify/cors';
import rateLimit from '@fastify/rate-limit';
import underPressure from '@fastify/under-pressure';
import fastify, { type FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';
import { answerBrokenRequest, createErrorHandler, createNotFoundHandler } from './answer-errors.ts';
import type { Closer } from './close-server.ts';
import type { Telemetry } from './create-telemetry.ts';
import { createGraphqlEndpoint, type GraphqlEndpoint } from './graphql-endpoint.ts';
import { serveGraphiql } from './serve-graphiql.ts';
import { serveHealth } from './serve-health.ts';
import type { ServerOptions } from './server-options.ts';
import { createTokenVerifier } from './verify-token.ts';

/** The application. Each server that it opens is given to `closer`. */
export async function createApp(options: ServerOptions, telemetry: Telemetry, closer: Closer): Promise<FastifyInstance> {
  const { graph, jwtSecret, bodyLimit = 1024 * 1024, maxEventLoopDelay, graphiql = false } = options;
  const { observe } = telemetry;
  const basePath = readBasePath(options.basePath ?? '');
  const path = `${basePath}/graphql/v1`;
  const verifier = createTokenVerifier(jwtSecret, options.tokenCache);
  telemetry.watchCaches(() => [verifier.readStatistics(), ...graph.readCaches()]);
  const isOverloaded = (): boolean => maxEventLoopDelay !== undefined && app.isUnderPressure();
  const endpoint = createGraphqlEndpoint({ graph, verifier, bodyLimit, observe, isOverloaded, isClosing: closer.isClosing });

  const handleError = createErrorHandler(observe);
  const app = fastify({
    serverFactory: (handle) => openServer(options.rateLimit === undefined ? shortCut(path, endpoint, handle) : handle, closer),
    trustProxy: options.trustProxy ?? false,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: handleError,
  });
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(createNotFoundHandler(path));
  await addLimits(app, options);
  serveEndpoint(app, path, endpoint, options.rateLimit);
  serveHealth(app, graph, telemetry);
  if (graphiql) serveGraphiql(app, `${basePath}/graphiql`, { endpoint: path, anonKey: graphiql === true ? null : graphiql.anonKey });
  return app;
}

/**
 * Plain requests at the endpoint pass by fastify's router and hooks, which would add a fifth to what they cost (measured with a graph that
 * does nothing). Requests of browsers, which need CORS, do not.
 */
function shortCut(path: string, endpoint: GraphqlEndpoint, handle: RequestListener): RequestListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === path && request.method === 'POST' && request.headers.origin === undefined) void endpoint(request, response);
    else handle(request, response);
  };
}

function openServer(listener: RequestListener, closer: Closer): Server {
  const server = createServer(listener);
  // Longer than the idle time of common proxies (60 s), so that it is they who end a connection.
  server.keepAliveTimeout = 72_000;
  // For the whole of a request, its body included.
  server.requestTimeout = 30_000;
  closer.watch(server);
  return server;
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

function readBasePath(basePath: string): string {
  if (basePath === '' || basePath === '/') return '';
  if (!/^(\/[\w.~-]+)+$/.test(basePath))
    throw new Error(`The base path must look like /api, without a slash at its end; it is ${JSON.stringify(basePath)}.`);
  return basePath;
}

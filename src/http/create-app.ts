/**
 * Everything that rowgraph serves, as one `node:http` handler: the GraphQL endpoint, GraphiQL, health and metrics. In: the settings; out: the handler. The
 * endpoint itself is in `graphql-endpoint.ts`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createTokenVerifier } from '../auth/verify-token.ts';
import { ApiError } from '../errors.ts';
import type { Observer } from '../events.ts';
import type { Telemetry } from '../telemetry/create-telemetry.ts';
import type { Admission, Share } from './admission.ts';
import { checkHead } from './check-head.ts';
import { addressBlock, findClientAddress, readProxyTrust } from './client-address.ts';
import type { Connections } from './connections.ts';
import { type CrossOrigin, createCrossOrigin } from './cross-origin.ts';
import { errorResponse } from './error-response.ts';
import { Exchange } from './exchange.ts';
import { createGraphqlEndpoint, type GraphqlEndpoint } from './graphql-endpoint.ts';
import { LargeRequests } from './large-requests.ts';
import { LoopDelay } from './loop-delay.ts';
import { RequestRate } from './request-rate.ts';
import type { Route } from './route.ts';
import { type HttpResponse, sendResponse } from './send-response.ts';
import { createGraphiqlRoutes } from './serve-graphiql.ts';
import { createHealthRoutes } from './serve-health.ts';
import type { ServerOptions } from './server-options.ts';

/** Handles one request. Never throws. */
export type App = (request: IncomingMessage, response: ServerResponse, expects: Expectation) => void;

/** What the Expect header asks for: nothing, `100 Continue`, or something unknown. */
export type Expectation = 'nothing' | 'continue' | 'unknown';

export interface AppContext {
  readonly telemetry: Telemetry;
  readonly connections: Connections;
  readonly admission: Admission;
  readonly requestIdOf: (request: IncomingMessage) => string;
  /** Whether the server is shutting down. */
  readonly isDraining: () => boolean;
}

/** The application. Throws an `Error` if a setting is invalid. */
export function createApp(options: ServerOptions, context: AppContext): App {
  const { connections, telemetry, requestIdOf } = context;
  const basePath = readBasePath(options.basePath ?? '');
  const path = `${basePath}/graphql/v1`;
  const crossOrigin = createCrossOrigin(options.corsOrigins ?? ['*']);
  const endpoint = createEndpoint(options, context, crossOrigin);
  const routes = createRoutes(options, context, basePath, path);
  const other = { path, endpoint, crossOrigin, routes, isClosing: () => connections.isClosing, observe: telemetry.observe };
  return (request, response, expects) => {
    const { socket } = request;
    // A chunk may contain more requests after the one that ended the connection.
    if (socket.destroyed) return;
    const exchange = new Exchange(request, response, connections.of(socket), requestIdOf(request), expects === 'continue');
    if (request.url === path && request.method === 'POST' && expects !== 'unknown') void endpoint(exchange);
    else void serveOther(exchange, expects, other);
  };
}

function createEndpoint(options: ServerOptions, context: AppContext, crossOrigin: CrossOrigin): GraphqlEndpoint {
  const { graph, jwtSecret, bodyLimit = 1024 * 1024, maxEventLoopDelay, requestTimeout = 30_000, rateLimit } = options;
  const { telemetry, connections, admission } = context;
  const verifier = createTokenVerifier(jwtSecret, options.tokenCache);
  telemetry.watchCaches(() => [verifier.readStatistics(), ...graph.readCaches()]);
  const rate = rateLimit === undefined ? null : new RequestRate(rateLimit);
  return createGraphqlEndpoint({
    graph,
    verifier,
    bodyLimit,
    requestTimeout,
    observe: telemetry.observe,
    admission,
    shareOf: createShareFinder(admission, options.trustProxy ?? false),
    isOverloaded: maxEventLoopDelay === undefined ? () => false : createLoopWatch(maxEventLoopDelay),
    isClosing: () => connections.isClosing,
    rate,
    crossOrigin,
    largeRequests: new LargeRequests(),
  });
}

function createShareFinder(admission: Admission, trustProxy: boolean | string): (exchange: Exchange) => Share {
  const isTrusted = readProxyTrust(trustProxy);
  if (isTrusted === null) return ({ connection }) => admission.referAgain(connection.share);
  return ({ request }) => {
    const client = findClientAddress(request.socket.remoteAddress ?? '', request.headers['x-forwarded-for'], isTrusted);
    return admission.refer(addressBlock(client));
  };
}

function createLoopWatch(maximum: number): () => boolean {
  const delay = new LoopDelay();
  return () => {
    delay.noteRequest();
    return delay.mean > maximum;
  };
}

function createRoutes(options: ServerOptions, context: AppContext, basePath: string, endpoint: string): ReadonlyMap<string, Route> {
  const { graph, graphiql = false } = options;
  const health = createHealthRoutes(graph, context.telemetry, context.isDraining);
  if (!graphiql) return new Map(health);
  const page = `${basePath}/graphiql`;
  const settings = { endpoint, anonKey: graphiql === true ? null : graphiql.anonKey };
  const redirect: Route = () => ({ status: 302, headers: ['location', page, 'cache-control', 'no-store'], body: '' });
  return new Map([['/', redirect], ...health, ...createGraphiqlRoutes(page, settings)]);
}

interface Other {
  readonly path: string;
  readonly endpoint: GraphqlEndpoint;
  readonly crossOrigin: CrossOrigin;
  readonly routes: ReadonlyMap<string, Route>;
  readonly isClosing: () => boolean;
  readonly observe: Observer;
}

/** Handles requests that are not for the endpoint. Never rejects. */
async function serveOther(exchange: Exchange, expects: Expectation, other: Other): Promise<void> {
  const { requestId, response } = exchange;
  try {
    const target = readTarget(exchange.request.url ?? '');
    if (target === other.path && exchange.request.method === 'POST' && expects !== 'unknown') return await other.endpoint(exchange);
    const response = await routeRequest(exchange.request, target, expects, other).catch((error) => explainFailure(error, requestId, other));
    const isHeadClear = expects === 'nothing' && response.status !== 400;
    sendResponse(exchange, response, !isHeadClear || exchange.connection.endsWith(exchange, other.isClosing()));
  } catch (error) {
    other.observe({ kind: 'defect-found', requestId, error });
    response.destroy();
    exchange.endHandling();
  }
}

async function routeRequest(request: IncomingMessage, target: string | null, expects: Expectation, other: Other): Promise<HttpResponse> {
  const { method, headers } = request;
  const { crossOrigin } = other;
  checkHead(request);
  const route = target === null ? undefined : other.routes.get(target);
  if (expects === 'unknown')
    return errorResponse(new ApiError('BAD_REQUEST', 'The Expect header is not supported, except for 100-continue.'), [], 417);
  if (route !== undefined && (method === 'GET' || method === 'HEAD')) return route(request);
  // Other origins have no access to these.
  if (route !== undefined) return errorResponse(new ApiError('METHOD_NOT_ALLOWED', 'This path supports only GET.'), ['allow', 'GET, HEAD']);
  const preflight = method === 'OPTIONS' ? crossOrigin.preflightHeaders(headers) : null;
  if (preflight !== null) return { status: 204, headers: [...preflight, 'vary', 'Origin, Access-Control-Request-Headers'], body: '' };
  return explainNotFound(target, other.path, [...crossOrigin.headersFor(headers.origin), 'vary', crossOrigin.vary]);
}

/** The path that a request asks for, without its query; null if it cannot be decoded. A target may be a whole URL (RFC 9112, section 3.2.2). */
function readTarget(url: string): string | null {
  const target = url.startsWith('/') || !URL.canParse(url) ? url : url.slice(new URL(url).origin.length) || '/';
  const path = target.split('?', 1)[0]!;
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

function explainNotFound(target: string | null, endpointPath: string, headers: readonly string[]): HttpResponse {
  if (target === null)
    return errorResponse(
      new ApiError('BAD_REQUEST', 'The path cannot be decoded. Each % must be followed by two hexadecimal digits.'),
      headers,
    );
  if (target === endpointPath) {
    const error = new ApiError(
      'METHOD_NOT_ALLOWED',
      `The endpoint ${endpointPath} supports only POST. Send the GraphQL request as a JSON body.`,
    );
    return errorResponse(error, ['allow', 'POST', ...headers]);
  }
  if (target === `${endpointPath}/`)
    return errorResponse(
      new ApiError('NOT_FOUND', `Nothing is served at this path. The GraphQL endpoint is ${endpointPath}, without a trailing slash.`),
      headers,
    );
  return errorResponse(new ApiError('NOT_FOUND', `Nothing is served at this path. The GraphQL endpoint is ${endpointPath}.`), headers);
}

function explainFailure(error: unknown, requestId: string, { observe }: Other): HttpResponse {
  if (error instanceof ApiError) return errorResponse(error);
  observe({ kind: 'defect-found', requestId, error });
  return errorResponse(new ApiError('INTERNAL_ERROR', `Internal error. See the server's log for the request id ${requestId}.`));
}

function readBasePath(basePath: string): string {
  if (basePath === '' || basePath === '/') return '';
  if (!/^(\/[\w.~-]+)+$/.test(basePath))
    throw new Error(`The base path must look like /api, without a trailing slash; it is ${JSON.stringify(basePath)}.`);
  return basePath;
}

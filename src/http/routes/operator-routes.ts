/** Health checks and metrics, for the operator of the server and for load balancers, and a server on a port of its own for them. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../errors/api-error.ts';
import type { Observer } from '../../events.ts';
import type { Telemetry } from '../../telemetry/create-telemetry.ts';
import type { ServedGraph } from '../endpoint/endpoint-options.ts';
import { errorResponse, type HttpResponse, jsonResponse, toReportedError } from '../endpoint/error-response.ts';
import type { Route } from './route-exchange.ts';

/** One check of the database serves all requests within this time, so that health checks cannot flood it. */
const readinessMilliseconds = 1000;
/** A slower database is useless to requests anyway. */
const pingTimeoutMilliseconds = 5000;

/**
 * The routes `/health/live`, which reports that the process responds, and `/health/ready`: that the database does too, that its schema is
 * loaded, and that the server is not shutting down.
 */
export function createHealthRoutes(
  graph: Pick<ServedGraph, 'ping'>,
  isDraining: () => boolean,
): readonly (readonly [path: string, route: Route])[] {
  const checkReadiness = createReadinessCheck(() => graph.ping());
  const serveReady = async (): Promise<HttpResponse> => {
    if (isDraining()) throw new ApiError('SHUTTING_DOWN', 'The server is shutting down. Send requests to another instance.');
    const failure = await checkReadiness();
    if (failure !== null) throw failure;
    return jsonResponse(200, { status: 'ready' });
  };
  return [
    ['/health/live', () => jsonResponse(200, { status: 'live' })],
    ['/health/ready', serveReady],
  ];
}

/** Never rejects: resolves to the reason why the server is not ready, or to null. */
function createReadinessCheck(ping: () => Promise<void>): () => Promise<ApiError | null> {
  let last: Promise<ApiError | null> | undefined;
  let lastEnded = -Infinity;
  const look = async (): Promise<ApiError | null> => {
    try {
      const timeout = sleep(pingTimeoutMilliseconds, 'late' as const, { ref: false });
      return (await Promise.race([ping(), timeout])) === 'late' ? unavailable() : null;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'SCHEMA_LOADING') return error;
      return unavailable();
    } finally {
      lastEnded = performance.now();
    }
  };
  return () => {
    if (last === undefined || performance.now() - lastEnded > readinessMilliseconds) {
      lastEnded = Infinity;
      last = look();
    }
    return last;
  };
}

function unavailable(): ApiError {
  return new ApiError('DATABASE_UNAVAILABLE', 'The database does not respond.');
}

/** Milliseconds from one rendering of the metrics to the next: each takes 2 ms, whoever asks for it. */
const renderInterval = 50;

/** The route. With a key, requests need the header `Authorization: Bearer KEY`. */
export function createMetricsRoute(
  { writeMetrics, metricsContentType }: Pick<Telemetry, 'writeMetrics' | 'metricsContentType'>,
  key: string | null,
): readonly [path: string, route: Route] {
  const expected = key === null ? null : digest(`Bearer ${key}`);
  let next: Promise<string> | null = null;
  let renderAt = 0;
  const render = async (): Promise<string> => {
    await sleep(Math.max(0, renderAt - performance.now()));
    next = null;
    renderAt = performance.now() + renderInterval;
    return writeMetrics();
  };
  const serve: Route = async ({ headers }) => {
    if (expected !== null && !timingSafeEqual(digest(headers.authorization ?? ''), expected))
      throw new ApiError('UNAUTHENTICATED', 'The metrics need a key. Send it in the header "Authorization: Bearer KEY".');
    next ??= render();
    return { status: 200, headers: ['content-type', metricsContentType, 'cache-control', 'no-store'], body: await next };
  };
  return ['/metrics', serve];
}

/** Digests have equal lengths, as a constant-time comparison requires, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export interface AdminServer {
  /** `http://host:port`. */
  readonly url: string;
  close(): Promise<void>;
}

const timeLimits = { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 30_000 };
const mostConnections = 100;

/** Resolves once it listens. Rejects if the address is not available. */
export async function startAdminServer(
  { host, port }: { readonly host: string; readonly port: number },
  routes: ReadonlyMap<string, Route>,
  observe: Observer,
): Promise<AdminServer> {
  const server = createServer(timeLimits, (request, response) => void serve(request, response, routes, observe));
  server.maxConnections = mostConnections;
  server.listen({ host, port });
  await once(server, 'listening');
  const { port: listening } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Never rejects. */
async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  routes: ReadonlyMap<string, Route>,
  observe: Observer,
): Promise<void> {
  const { status, headers, body } = await respond(request, routes).catch((error: unknown) =>
    errorResponse(toReportedError(error, 'admin', observe)),
  );
  // These routes ignore bodies, so any body is discarded.
  request.resume();
  const bytes = Buffer.from(body);
  response.writeHead(status, [...headers, 'content-length', String(bytes.length), 'x-content-type-options', 'nosniff']);
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

async function respond({ method, url = '', headers }: IncomingMessage, routes: ReadonlyMap<string, Route>): Promise<HttpResponse> {
  const route = routes.get(url.split('?', 1)[0]!);
  if (route === undefined)
    return errorResponse(new ApiError('NOT_FOUND', `Nothing is served at this path. There are ${[...routes.keys()].join(', ')}.`));
  if (method !== 'GET' && method !== 'HEAD')
    return errorResponse(new ApiError('METHOD_NOT_ALLOWED', 'This path supports only GET.'), ['allow', 'GET, HEAD']);
  return route({ headers });
}

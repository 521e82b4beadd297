/**
 * Health checks, for the operator of the server and for load balancers. In: the graph; out: routes. `live` reports that the process
 * responds, `ready` that the database does too, that its schema is loaded, and that the server is not shutting down.
 */
import { ApiError } from '../errors/api-error.ts';
import type { Route } from './route.ts';
import type { HttpResponse } from './send-response.ts';
import type { ServedGraph } from './served-graph.ts';

/** One check of the database serves all requests within this time, so that health checks cannot flood it. */
const readinessMilliseconds = 1000;
/** A slower database is useless to requests anyway. */
const pingTimeoutMilliseconds = 5000;

/** The routes `/health/live` and `/health/ready`. */
export function createHealthRoutes(
  graph: Pick<ServedGraph, 'ping'>,
  isDraining: () => boolean,
): readonly (readonly [path: string, route: Route])[] {
  const checkReadiness = createReadinessCheck(() => graph.ping());
  const serveReady = async (): Promise<HttpResponse> => {
    if (isDraining()) throw new ApiError('SHUTTING_DOWN', 'The server is shutting down. Send requests to another instance.');
    const failure = await checkReadiness();
    if (failure !== null) throw failure;
    return statusResponse('ready');
  };
  return [
    ['/health/live', () => statusResponse('live')],
    ['/health/ready', serveReady],
  ];
}

function statusResponse(status: string): HttpResponse {
  return {
    status: 200,
    headers: ['content-type', 'application/json; charset=utf-8', 'cache-control', 'no-store'],
    body: JSON.stringify({ status }),
  };
}

/** Never rejects: resolves to the reason why the server is not ready, or to null. */
function createReadinessCheck(ping: () => Promise<void>): () => Promise<ApiError | null> {
  let last: Promise<ApiError | null> | undefined;
  let lastEnded = -Infinity;
  const look = async (): Promise<ApiError | null> => {
    try {
      await withTimeout(ping());
      return null;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'SCHEMA_LOADING') return error;
      return new ApiError('DATABASE_UNAVAILABLE', 'The database does not respond.');
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

async function withTimeout(promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('timeout')), pingTimeoutMilliseconds);
  });
  try {
    await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

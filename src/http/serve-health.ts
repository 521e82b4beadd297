/**
 * Health and metrics, for whoever runs the server. In: the graph and the telemetry; out: routes. `live` says that the
 * process answers, `ready` that the database does too.
 */
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Telemetry } from './create-telemetry.ts';
import type { ServedGraph } from './served-graph.ts';

/** One look at the database serves all who ask within this time, so that nobody can flood it from here. */
const readinessMilliseconds = 1000;
/** A database that takes longer is of no use to a request either. */
const pingTimeoutMilliseconds = 5000;
const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Adds `/health/live`, `/health/ready` and `/metrics`, which pages of other origins may not read. */
export function serveHealth(app: FastifyInstance, graph: Pick<ServedGraph, 'ping'>, telemetry: Telemetry): void {
  const options = { config: { cors: false } };
  const checkReadiness = createReadinessCheck(() => graph.ping());
  app.get('/health/live', options, async (_request, reply) => {
    reply.headers(headers);
    return { status: 'live' };
  });
  app.get('/health/ready', options, async (_request, reply) => {
    reply.headers(headers);
    if (!(await checkReadiness())) throw new ApiError('DATABASE_UNAVAILABLE', 'The database does not answer.');
    return { status: 'ready' };
  });
  app.get('/metrics', options, async (_request, reply) => {
    reply.headers(headers);
    reply.header('content-type', telemetry.metricsContentType);
    return telemetry.writeMetrics();
  });
}

function createReadinessCheck(ping: () => Promise<void>): () => Promise<boolean> {
  let last: Promise<boolean> | undefined;
  let lastEnded = -Infinity;
  return () => {
    if (last === undefined || performance.now() - lastEnded > readinessMilliseconds) {
      lastEnded = Infinity;
      last = withTimeout(ping()).then(
        () => true,
        () => false,
      );
      void last.then(() => {
        lastEnded = performance.now();
      });
    }
    return last;
  };
}

async function withTimeout(promise: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('timeout')), pingTimeoutMilliseconds);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

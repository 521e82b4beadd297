/**
 * Turns events into log lines (pino) and metrics (Prometheus). In: events, from the graph and from the server; out: lines of JSON, and the
 * text of `/metrics`. No header and no body of a request is ever part of an event, so no key can get into the log. How an event reads as a line is in `write-event.ts`.
 */
import { type DestinationStream, type Level, pino } from 'pino';
import { Counter, Gauge, Registry } from 'prom-client';
import type { CacheStatistics, Event, Observer } from '../events.ts';
import { type Clock, LogLimit } from './log-limit.ts';
import { collectProcessMetrics } from './process-metrics.ts';
import { RequestMetrics } from './request-metrics.ts';
import { writeEvent } from './write-event.ts';

export interface TelemetryOptions {
  /** The minimum log level. Default: info. Successful requests are logged at level debug. */
  readonly level?: Level | 'silent';
  /** Where lines go. Default: standard output. */
  readonly destination?: DestinationStream;
  /** The clock for counting lines. Default: that of the process. */
  readonly clock?: Clock;
}

/** The current statistics of some caches. */
export type CacheReader = () => readonly CacheStatistics[];

export interface Telemetry {
  readonly observe: Observer;
  /** Adds caches to the metrics. */
  watchCaches(read: CacheReader): void;
  /** The body of `/metrics`, in the text format of Prometheus. */
  writeMetrics(): Promise<string>;
  readonly metricsContentType: string;
}

/** Logs and metrics of one process. */
export function createTelemetry({ level = 'info', destination, clock }: TelemetryOptions = {}): Telemetry {
  const redact = ['apikey', 'authorization', 'jwtSecret'].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  const log = pino(
    { level, redact, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime },
    destination ?? pino.destination(1),
  );
  const limit = new LogLimit((of, count) => log.warn({ of, count }, `${count} more "${of}" lines were dropped in the last second`), clock);
  const registry = new Registry();
  collectProcessMetrics(registry);
  const metrics = createMetrics(registry);
  const cacheReaders: CacheReader[] = [];
  createCacheMetrics(registry, cacheReaders);
  return {
    observe(event) {
      count(event, metrics);
      const key = failureOf(event);
      if (key === null || limit.admits(key)) writeEvent(event, log);
    },
    watchCaches: (read) => {
      cacheReaders.push(read);
    },
    writeMetrics: () => registry.metrics(),
    metricsContentType: registry.contentType,
  };
}

function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requests: new RequestMetrics(registry),
    schemaLoads: new Counter({
      name: 'rowgraph_schema_loads_total',
      help: 'Schema loads, by outcome.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    batchesRetried: new Counter({ name: 'rowgraph_batches_retried_total', help: 'Batches that were retried.', registers }),
    poolFailures: new Counter({
      name: 'rowgraph_pool_failures_total',
      help: 'Database connections that failed or could not be opened.',
      registers,
    }),
    defects: new Counter({
      name: 'rowgraph_defects_total',
      help: 'Errors answered with INTERNAL_ERROR, unhandled rejections, and uncaught exceptions.',
      registers,
    }),
  };
}

type Metrics = ReturnType<typeof createMetrics>;

function count(event: Event, metrics: Metrics): void {
  switch (event.kind) {
    case 'request-started':
      metrics.requests.start();
      break;
    case 'request-finished':
      metrics.requests.finish(event);
      break;
    case 'schema-loaded':
      metrics.schemaLoads.inc({ outcome: 'loaded' });
      break;
    case 'schema-load-failed':
      metrics.schemaLoads.inc({ outcome: 'failed' });
      break;
    case 'batch-retried':
      metrics.batchesRetried.inc();
      break;
    case 'pool-failed':
      metrics.poolFailures.inc();
      break;
    case 'defect-found':
      metrics.defects.inc();
      break;
    case 'directives-ignored':
    case 'server-started':
    case 'server-stopping':
    case 'server-stopped':
    case 'worker-ended':
    case 'login-powerful':
    case 'database-awaited':
    case 'tables-open':
      break;
  }
}

/** When something is broken, failures with the same key come in large numbers and add little to the first one. Null: not a failure. */
function failureOf(event: Event): string | null {
  switch (event.kind) {
    case 'request-finished':
      return event.status >= 500 ? `request ${event.code}` : null;
    case 'defect-found':
    case 'schema-load-failed':
    case 'pool-failed':
      return event.kind;
    default:
      return null;
  }
}

/** The caches are read when the metrics are asked for, so that a hit costs no event. */
function createCacheMetrics(registry: Registry, readers: readonly CacheReader[]): void {
  const create = (name: string, help: string, read: (cache: CacheStatistics) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['cache'] as const,
      registers: [registry],
      collect() {
        for (const cache of readers.flatMap((readCaches) => readCaches())) this.set({ cache: cache.name }, read(cache));
      },
    });
  };
  create('rowgraph_cache_entries', 'Entries in a cache.', ({ entries }) => entries);
  create('rowgraph_cache_hits', 'Lookups that found an entry, since startup.', ({ hits }) => hits);
  create('rowgraph_cache_misses', 'Lookups that found no entry, since startup.', ({ misses }) => misses);
}

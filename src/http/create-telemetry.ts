/**
 * Turns events into log lines (pino) and metrics (Prometheus). In: events, from the graph and from the server; out: lines of JSON, and the
 * text of `/metrics`. No header and no body of a request is ever part of an event, so no key can get into the log.
 */
import { type DestinationStream, type Level, type Logger, pino } from 'pino';
import { Counter, Gauge, Registry } from 'prom-client';
import type { CacheStatistics, Event, Observer, RequestFinished, WorkerEnded } from '../events.ts';
import { collectProcessMetrics, EventLoopLag } from './event-loop-lag.ts';
import { RequestMetrics } from './request-metrics.ts';

export interface TelemetryOptions {
  /** The least important line to write. Default: info. Requests that are answered well are on level debug. */
  readonly level?: Level | 'silent';
  /** Where lines go. Default: standard output. */
  readonly destination?: DestinationStream;
}

/** What some caches look like at this moment. */
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
export function createTelemetry({ level = 'info', destination }: TelemetryOptions = {}): Telemetry {
  const redact = ['apikey', 'authorization', 'jwtSecret'].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  const log = pino(
    { level, redact, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime },
    destination ?? pino.destination(1),
  );
  const registry = new Registry();
  collectProcessMetrics(registry);
  const metrics = createMetrics(registry);
  const cacheReaders: CacheReader[] = [];
  createCacheMetrics(registry, cacheReaders);
  return {
    observe(event) {
      count(event, metrics);
      write(event, log);
    },
    watchCaches: (read) => {
      cacheReaders.push(read);
    },
    writeMetrics: () => {
      metrics.lag.collect();
      return registry.metrics();
    },
    metricsContentType: registry.contentType,
  };
}

function createMetrics(registry: Registry) {
  const registers = [registry];
  const requests = new RequestMetrics(registry);
  return {
    requests,
    lag: new EventLoopLag(registry, () => requests.inFlight),
    schemaLoads: new Counter({
      name: 'rowgraph_schema_loads_total',
      help: 'Times that the schema was loaded, by outcome.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    flightsRetried: new Counter({ name: 'rowgraph_flights_retried_total', help: 'Flights that were run again.', registers }),
    poolFailures: new Counter({
      name: 'rowgraph_pool_failures_total',
      help: 'Database connections that broke or could not be opened.',
      registers,
    }),
    defects: new Counter({ name: 'rowgraph_defects_total', help: 'Errors that were answered with INTERNAL_ERROR.', registers }),
  };
}

type Metrics = ReturnType<typeof createMetrics>;

function count(event: Event, metrics: Metrics): void {
  switch (event.kind) {
    case 'request-started':
      metrics.requests.start();
      metrics.lag.noteRequest();
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
    case 'flight-retried':
      metrics.flightsRetried.inc();
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
      break;
  }
}

function write(event: Event, log: Logger): void {
  switch (event.kind) {
    case 'request-started':
      break;
    case 'request-finished':
      writeRequest(event, log);
      break;
    case 'defect-found':
      log.error({ err: event.error, requestId: event.requestId }, 'defect: please report it');
      break;
    case 'server-started':
      log.info({ url: event.url }, 'serving');
      break;
    case 'server-stopping':
      log.info('stopping: finishing the requests in flight');
      break;
    case 'server-stopped':
      log.info('stopped');
      break;
    case 'worker-ended':
      writeWorkerEnd(event, log);
      break;
    case 'schema-loaded':
      log.info({ version: event.version, seconds: event.seconds }, 'schema loaded');
      break;
    case 'schema-load-failed':
      log.error({ err: event.error }, 'schema could not be loaded; the one before stays in use');
      break;
    case 'directives-ignored':
      writeIgnored(event.problems, log);
      break;
    case 'flight-retried':
      log.debug({ attempt: event.attempt, sqlstate: event.sqlstate }, 'flight retried');
      break;
    case 'pool-failed':
      log.warn({ err: event.error }, 'database connection failed');
      break;
  }
}

/** How many ignored directives a log line names. */
const maxNamed = 20;

function writeIgnored(problems: readonly string[], log: Logger): void {
  log.warn(
    { count: problems.length, problems: problems.slice(0, maxNamed) },
    'comment directives ignored; `rowgraph doctor` lists them all',
  );
}

function writeWorkerEnd({ worker, code, signal, restartMilliseconds }: WorkerEnded, log: Logger): void {
  log.error({ worker, code, signal, restartMilliseconds }, 'a worker ended; another takes its place');
}

/** Errors of clients are no news for an operator; those of the server are. */
function writeRequest({ requestId, role, code, status, seconds, bytes }: RequestFinished, log: Logger): void {
  const level = status >= 500 ? 'warn' : 'debug';
  if (!log.isLevelEnabled(level)) return;
  log[level]({ requestId, role, code, status, milliseconds: Math.round(seconds * 1e5) / 100, bytes }, 'request');
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
  create('rowgraph_cache_entries', 'Entries of a cache.', ({ entries }) => entries);
  create('rowgraph_cache_hits', 'Look-ups that found an entry, since the start.', ({ hits }) => hits);
  create('rowgraph_cache_misses', 'Look-ups that found none, since the start.', ({ misses }) => misses);
}

/**
 * Turns events into log lines (pino) and metrics (Prometheus). In: events, from the graph and from the server; out: lines of JSON, and the
 * text of `/metrics`. No event contains headers or bodies of a request, so no key can get into the log. `write-event.ts` formats events as
 * lines.
 */
import { type DestinationStream, type Level, pino } from 'pino';
import { Counter, Gauge, Registry } from 'prom-client';
import type { BeginTrace, CacheStatistics, Event, Observer, RequestFinished } from '../events.ts';
import { addGraphMetrics, type GraphReader } from './graph-metrics.ts';
import { type Clock, LogLimit } from './log-limit.ts';
import { LogStream } from './log-stream.ts';
import { startOtlp } from './otlp/otlp-sender.ts';
import type { OtlpSettings } from './otlp/otlp-settings.ts';
import { collectProcessMetrics } from './process-metrics.ts';
import { ProjectMetrics, type ReadProjects } from './project-metrics.ts';
import { RequestMetrics } from './request-metrics.ts';
import { describeSlowOperation, findSlowOperations, type SlowOperationOptions } from './slow-operations.ts';
import { type MetricsReading, readRegistry } from './sum-metrics.ts';
import { createTraceBeginner } from './trace-context.ts';
import { writeAccess, writeEvent } from './write-event.ts';

export interface TelemetryOptions {
  /** The minimum log level, except of what `accessLog` and `slowOperations` ask for. Default: info. Successful requests are logged at debug. */
  readonly level?: Level | 'silent';
  /** The destination of the lines. Default: standard error; lines that it does not accept are dropped. */
  readonly destination?: DestinationStream;
  /** Whether each request to the endpoint is logged, at level info. Default: false. */
  readonly accessLog?: boolean;
  /** Which operations are logged as slow, at level warn. Default: none. */
  readonly slowOperations?: SlowOperationOptions | null;
  /** Where traces and metrics are exported. Default: nowhere. */
  readonly otlp?: OtlpSettings | null;
  /** The clock that counts lines per second. Default: the clock of the process. */
  readonly clock?: Clock;
}

/** The current statistics of some caches. */
export type CacheReader = () => readonly CacheStatistics[];

export interface Telemetry {
  readonly observe: Observer;
  /** What the endpoint must do for telemetry: count only, unless something needs the details of requests. */
  readonly endpointOptions: { readonly detailedEvents: boolean; readonly beginTrace?: BeginTrace };
  /** Adds caches to the metrics. */
  watchCaches(read: CacheReader): void;
  /** Adds a graph to the metrics. */
  watchGraph(read: GraphReader): void;
  /** Adds the metrics of projects. */
  watchProjects(read: ReadProjects): void;
  /** The body of `/metrics`, in the text format of Prometheus. */
  writeMetrics(): Promise<string>;
  readonly metricsContentType: string;
  /** The same as data, to be added to the metrics of other processes. */
  readMetrics(): Promise<MetricsReading>;
  /** Exports what is left, within this many milliseconds. Nothing may be observed afterwards. */
  stop(milliseconds: number): Promise<void>;
}

/** Logs and metrics of one process. */
export function createTelemetry(options: TelemetryOptions = {}): Telemetry {
  const { level = 'info', destination, clock, accessLog = false, slowOperations = null, otlp = null } = options;
  const redact = ['apikey', 'authorization', 'jwtSecret'].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  /** The project that the current line concerns. */
  let project: string | undefined;
  const log = pino(
    {
      level,
      redact,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: () => (project === undefined ? {} : { project }),
    },
    destination ?? new LogStream({ onDropped: (lines) => observe({ kind: 'log-lines-dropped', lines }) }),
  );
  // What a setting of its own asks for does not depend on the minimum level.
  const asked = log.child({}, { level: 'info' });
  const limit = new LogLimit((of, count) => log.warn({ of, count }, `${count} more "${of}" lines were dropped in the last second`), clock);
  const registry = new Registry();
  collectProcessMetrics(registry);
  const metrics = createMetrics(registry);
  const cacheReaders: CacheReader[] = [];
  createCacheMetrics(registry, cacheReaders);
  const graphReaders: GraphReader[] = [];
  addGraphMetrics(registry, graphReaders);
  const readMetrics = () => readRegistry(registry);
  const observe: Observer = (event) => {
    count(event, metrics);
    const key = failureOf(event);
    project = event.project;
    if (key === null || limit.admits(project === undefined ? key : `${key} of ${project}`)) writeEvent(event, log);
    if (event.kind === 'request-finished' && event.details) noteDetails(event);
    project = undefined;
  };
  const exporting = otlp === null ? null : startOtlp(otlp, readMetrics, observe);
  const noteDetails = (event: RequestFinished): void => {
    if (accessLog) writeAccess(event, asked);
    exporting?.note(event);
    if (slowOperations === null) return;
    for (const times of findSlowOperations(event, slowOperations)) {
      metrics.slowOperations.inc();
      if (limit.admits('slow operation')) asked.warn(describeSlowOperation(event, times, slowOperations), 'slow operation');
    }
  };
  const detailedEvents = accessLog || slowOperations !== null || exporting !== null;
  return {
    observe,
    endpointOptions: { detailedEvents, ...(otlp !== null && { beginTrace: createTraceBeginner(otlp.sampler) }) },
    stop: async (milliseconds) => exporting?.stop(milliseconds),
    watchCaches: (read) => {
      cacheReaders.push(read);
    },
    watchGraph: (read) => {
      graphReaders.push(read);
    },
    watchProjects: (read) => metrics.projects.watch(read),
    writeMetrics: () => registry.metrics(),
    metricsContentType: registry.contentType,
    readMetrics,
  };
}

function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requests: new RequestMetrics(registry),
    projects: new ProjectMetrics(registry),
    schemaLoads: new Counter({
      name: 'rowgraph_schema_loads_total',
      help: 'Schema loads, by outcome.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    slowOperations: new Counter({
      name: 'rowgraph_slow_operations_total',
      help: 'Operations that took at least as long as the setting slowOperations.',
      registers,
    }),
    exportsFailed: new Counter({
      name: 'rowgraph_telemetry_exports_failed_total',
      help: 'Messages with traces or metrics that did not reach their receiver.',
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
      if (event.project !== undefined) metrics.projects.finish(event.project, event);
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
    case 'telemetry-export-failed':
      metrics.exportsFailed.inc();
      break;
    case 'directives-ignored':
    case 'server-started':
    case 'server-stopping':
    case 'server-stopped':
    case 'worker-ended':
    case 'login-powerful':
    case 'database-awaited':
    case 'schema-awaited':
    case 'tables-open':
    case 'search-path-missing':
    case 'api-empty':
    case 'files-limited':
    case 'project-failed':
    case 'log-lines-dropped':
    case 'listen-failed':
      break;
  }
}

/**
 * A key for failures of which one is as good as many: when something is broken, they come in large numbers. Null if the event is not a
 * failure.
 */
function failureOf(event: Event): string | null {
  switch (event.kind) {
    case 'request-finished':
      return event.status >= 500 ? `request ${event.code}` : null;
    case 'defect-found':
    case 'authentication-failed':
    case 'schema-load-failed':
    case 'pool-failed':
    case 'telemetry-export-failed':
    case 'spans-dropped':
    case 'project-failed':
    // Not a failure, but clients decide how many there are.
    case 'document-mismatched':
      return event.kind;
    default:
      return null;
  }
}

/** The caches are read when the metrics are requested, so that a hit costs no event. */
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

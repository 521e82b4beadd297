/**
 * Turns events into log lines (pino), metrics (Prometheus) and exports (OTLP), as the table in `events.ts` says. No event contains headers
 * or bodies of a request, so no key can get into the log.
 */
import { type DestinationStream, type Level, type Logger, pino } from 'pino';
import type { BeginTrace } from '../event-details.ts';
import { type Event, type EventKind, type Observer, rowOf } from '../events.ts';
import type { CacheStatistics, GraphStatistics } from '../statistics.ts';
import { LiveMetrics } from './live-metrics.ts';
import { type Clock, LogLimit, LogStream } from './log-stream.ts';
import { type Metric, metricsContentType, writeMetrics } from './metrics.ts';
import type { OtlpSettings } from './otlp/otlp-settings.ts';
import { startOtlp } from './otlp/start-otlp.ts';
import {
  describeAccess,
  describeSlowOperation,
  describeSubscription,
  findSlowOperations,
  type SlowOperationOptions,
} from './request-log.ts';
import {
  cacheMetrics,
  eventMetrics,
  graphMetrics,
  ProcessMetrics,
  ProjectMetrics,
  type ReadProjects,
  RequestMetrics,
} from './service-metrics.ts';
import { createTraceBeginner } from './trace-context.ts';

export interface TelemetryOptions {
  /**
   * The minimum log level, except of what `accessLog` and `slowOperations` ask for. Default: info. Successful requests are logged at debug.
   */
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

type CacheReader = () => readonly CacheStatistics[];

export interface Telemetry {
  readonly observe: Observer;
  /** What the endpoint must do for telemetry: count only, unless something needs the details of requests. */
  readonly endpointOptions: { readonly detailedEvents: boolean; readonly beginTrace?: BeginTrace };
  watchCaches(read: CacheReader): void;
  watchGraph(read: () => GraphStatistics | null): void;
  watchProjects(read: ReadProjects): void;
  /** The body of `/metrics`, in the text format of Prometheus. */
  writeMetrics(): Promise<string>;
  readonly metricsContentType: string;
  /** The same as data, to be added to the metrics of other processes. */
  readMetrics(): Promise<readonly Metric[]>;
  /** Exports what is left, within this many milliseconds. Nothing may be observed afterwards. */
  stop(milliseconds: number): Promise<void>;
}

export function createTelemetry(options: TelemetryOptions = {}): Telemetry {
  const { level = 'info', destination, clock, accessLog = false, slowOperations = null, otlp = null } = options;
  /** The project that the current line concerns. */
  let project: string | undefined;
  const stream = destination ?? new LogStream({ onDropped: (lines) => observe({ kind: 'log-lines-dropped', lines }) });
  const log = createLog(level, stream, () => project);
  // What a setting of its own asks for does not depend on the minimum level.
  const asked = log.child({}, { level: 'info' });
  const onOmitted = (of: string, count: number, seconds: number): void => {
    const time = seconds === 1 ? 'second' : `${seconds} seconds`;
    log.warn({ of, count }, `${count} more "${of}" lines were dropped in the last ${time}`);
  };
  const limit = new LogLimit(onOmitted, clock);
  const metrics = new ProcessCounts();
  const observe: Observer = (event) => {
    metrics.count(event);
    project = event.project;
    if (isWritten(event, limit)) writeEvent(event, log);
    if (event.kind === 'request-finished' && event.details) noteDetails(event);
    if (event.kind === 'subscription-ended' && event.details) noteSubscription(event);
    project = undefined;
  };
  const exporting = otlp === null ? null : startOtlp(otlp, () => metrics.read(), observe);
  const noteDetails = (event: Event & { readonly kind: 'request-finished' }): void => {
    if (accessLog) asked.info(describeAccess(event), 'access');
    exporting?.note(event);
    if (slowOperations === null) return;
    for (const times of findSlowOperations(event, slowOperations)) {
      metrics.requests.noteSlowOperation();
      if (limit.admits('slow operation')) asked.warn(describeSlowOperation(event, times, slowOperations), 'slow operation');
    }
  };
  const noteSubscription = (event: Event & { readonly kind: 'subscription-ended' }): void => {
    if (accessLog) asked.info(describeSubscription(event), 'access');
    exporting?.noteSubscription(event);
  };
  const detailedEvents = accessLog || slowOperations !== null || exporting !== null;
  return {
    observe,
    endpointOptions: { detailedEvents, ...(otlp !== null && { beginTrace: createTraceBeginner(otlp.sampler) }) },
    stop: async (milliseconds) => exporting?.stop(milliseconds),
    watchCaches: (read) => void metrics.caches.push(read),
    watchGraph: (read) => void metrics.graphs.push(read),
    watchProjects: (read) => {
      metrics.readProjects = read;
    },
    writeMetrics: async () => writeMetrics(await metrics.read()),
    metricsContentType,
    readMetrics: () => metrics.read(),
  };
}

function createLog(level: Level | 'silent', stream: DestinationStream, readProject: () => string | undefined): Logger {
  const options = {
    level,
    redact: ['apikey', 'authorization', 'jwtSecret'].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: () => {
      const project = readProject();
      return project === undefined ? {} : { project };
    },
  };
  return pino(options, stream);
}

/** Whether the event's line is one of those that the limits of its row let through. */
function isWritten(event: Event, limits: LogLimit): boolean {
  const { limit, lasts } = rowOf(event);
  const withProject = (key: string): string => (event.project === undefined ? key : `${key} of ${event.project}`);
  if (lasts !== undefined) return limits.admitsFewer(withProject(lasts(event)));
  const key = limit === true ? event.kind : (limit?.(event) ?? null);
  return key === null || limits.admits(withProject(key));
}

function writeEvent(event: Event, log: Logger): void {
  const { level: levelOf, message, fields } = rowOf(event);
  const level = typeof levelOf === 'function' ? levelOf(event) : levelOf;
  if (level === null || !log.isLevelEnabled(level)) return;
  const { kind: _kind, project: _project, ...own } = event;
  log[level](fields?.(event) ?? own, typeof message === 'function' ? message(event) : message);
}

/** Everything that is counted in a process, or read from its parts. */
class ProcessCounts {
  readonly requests = new RequestMetrics();
  readonly caches: CacheReader[] = [];
  readonly graphs: (() => GraphStatistics | null)[] = [];
  /** Null if the server has no projects. */
  readProjects: ReadProjects | null = null;
  readonly #projects = new ProjectMetrics();
  readonly #live = new LiveMetrics();
  readonly #process = new ProcessMetrics();
  readonly #events = new Map<EventKind, number>();

  count(event: Event): void {
    if (event.kind === 'request-started') this.requests.start();
    else if (event.kind === 'request-finished') {
      this.requests.finish(event);
      if (event.project !== undefined) this.#projects.finish(event.project, event);
    } else if (!this.#live.count(event)) this.#events.set(event.kind, (this.#events.get(event.kind) ?? 0) + 1);
  }

  async read(): Promise<Metric[]> {
    return [
      ...(await this.#process.read()),
      ...this.requests.read(),
      ...this.#live.read(),
      ...(this.readProjects === null ? [] : this.#projects.read(this.readProjects())),
      ...eventMetrics(this.#events),
      ...cacheMetrics(this.caches.flatMap((read) => read())),
      ...graphMetrics(this.graphs.flatMap((read) => read() ?? [])),
    ];
  }
}

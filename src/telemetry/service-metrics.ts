/** The metrics of a process, counted in plain numbers and read when they are asked for. */
import { performance } from 'node:perf_hooks';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { RequestFinished } from '../event-details.ts';
import { type EventKind, eventTable } from '../events.ts';
import {
  byteBounds,
  type CacheStatistics,
  Distribution,
  type GraphStatistics,
  type ReplicaStatistics,
  rowBounds,
  secondBounds,
} from '../statistics.ts';
import { histogram, type Metric, metric } from './metrics.ts';

/** How many roles have a label of their own; the others share one, so that no token can make the metrics grow. */
const mostRoles = 100;
/** How many projects have a label of their own: the first ones that received requests. */
const mostProjects = 200;
const others = 'other';

export class RequestMetrics {
  #inFlight = 0;
  #sentBytes = 0;
  #slowOperations = 0;
  readonly #durations = new Distribution(secondBounds);
  readonly #counts = new Map<string, Map<string, number>>();

  start(): void {
    this.#inFlight += 1;
  }

  finish({ code, role, seconds, bytes }: RequestFinished): void {
    this.#inFlight -= 1;
    this.#sentBytes += bytes;
    this.#durations.note(seconds);
    // A token may name a role that does not exist.
    const named = role === null || code === 'UNAUTHENTICATED' ? '' : role;
    const label = this.#counts.has(named) || this.#counts.size <= mostRoles ? named : others;
    countIn(this.#counts, label, code ?? 'OK');
  }

  noteSlowOperation(): void {
    this.#slowOperations += 1;
  }

  read(): Metric[] {
    const requests = [...this.#counts].flatMap(([role, byCode]) => [...byCode].map(([code, value]) => ({ labels: { code, role }, value })));
    return [
      metric(
        'counter',
        'rowgraph_requests_total',
        'Requests to the GraphQL endpoint, by the code of their first error (OK if there is none) and the role of the caller.',
        requests,
      ),
      metric('gauge', 'rowgraph_requests_in_flight', 'Requests in flight.', this.#inFlight),
      metric('counter', 'rowgraph_response_bytes_total', 'Response bytes sent.', this.#sentBytes),
      histogram('rowgraph_request_duration_seconds', 'Time from the headers of a request to the last byte of its response.', secondBounds, [
        this.#durations,
      ]),
      metric(
        'counter',
        'rowgraph_slow_operations_total',
        'Operations that took at least as long as the setting slowOperations.',
        this.#slowOperations,
      ),
    ];
  }
}

export type ReadProjects = () => { readonly known: number; readonly open: number; readonly connections: number };

/** Requests by project, with a bounded number of labels, however many projects there are. */
export class ProjectMetrics {
  readonly #seconds = new Map<string, number>();
  readonly #counts = new Map<string, Map<string, number>>();

  finish(project: string, { code, seconds }: RequestFinished): void {
    const label = this.#counts.has(project) || this.#counts.size < mostProjects ? project : others;
    this.#seconds.set(label, (this.#seconds.get(label) ?? 0) + seconds);
    countIn(this.#counts, label, code ?? 'OK');
  }

  read({ known, open, connections }: ReturnType<ReadProjects>): Metric[] {
    const requests = [...this.#counts].flatMap(([project, byCode]) =>
      [...byCode].map(([code, value]) => ({ labels: { project, code }, value })),
    );
    const seconds = [...this.#seconds].map(([project, value]) => ({ labels: { project }, value }));
    const states = [
      { labels: { state: 'known' }, value: known },
      { labels: { state: 'open' }, value: open },
    ];
    return [
      metric(
        'counter',
        'rowgraph_project_requests_total',
        'Requests, by project and by the code of their first error (OK if there is none).',
        requests,
      ),
      metric('counter', 'rowgraph_project_request_seconds_total', 'Total duration of requests, by project.', seconds),
      metric('gauge', 'rowgraph_projects', 'Projects, and those of them that have connections and caches.', states),
      metric('gauge', 'rowgraph_project_connections', 'Database connections of all projects together.', connections),
    ];
  }
}

function countIn(counts: Map<string, Map<string, number>>, label: string, code: string): void {
  let byCode = counts.get(label);
  if (byCode === undefined) {
    byCode = new Map();
    counts.set(label, byCode);
  }
  byCode.set(code, (byCode.get(code) ?? 0) + 1);
}

export function eventMetrics(counts: ReadonlyMap<EventKind, number>): Metric[] {
  const counted = Object.entries(eventTable).flatMap(([kind, { counter }]) =>
    counter === undefined ? [] : [{ counter, value: counts.get(kind as EventKind) ?? 0 }],
  );
  return [...Map.groupBy(counted, ({ counter }) => counter.name)].map(([name, alike]) =>
    metric(
      'counter',
      name,
      alike[0]!.counter.help,
      alike.map(({ counter, value }) => ({ labels: counter.labels ?? {}, value })),
    ),
  );
}

export function cacheMetrics(caches: readonly CacheStatistics[]): Metric[] {
  const of = (read: (cache: CacheStatistics) => number) => caches.map((cache) => ({ labels: { cache: cache.name }, value: read(cache) }));
  return [
    metric(
      'gauge',
      'rowgraph_cache_entries',
      'Entries in a cache.',
      of(({ entries }) => entries),
    ),
    metric(
      'gauge',
      'rowgraph_cache_hits',
      'Lookups that found an entry, since startup.',
      of(({ hits }) => hits),
    ),
    metric(
      'gauge',
      'rowgraph_cache_misses',
      'Lookups that found no entry, since startup.',
      of(({ misses }) => misses),
    ),
  ];
}

/** The connections of graphs, how long PostgreSQL took for batches, and what requests cost, as sums over all graphs. */
export function graphMetrics(graphs: readonly GraphStatistics[]): Metric[] {
  const pools = graphs.flatMap(({ pool, replicas = [] }) =>
    [pool, ...replicas.map((replica) => replica.pool)].flatMap((each) => each ?? []),
  );
  const sum = (state: 'busy' | 'idle' | 'size' | 'waiting'): number => pools.reduce((total, pool) => total + pool[state], 0);
  return [
    metric(
      'gauge',
      'rowgraph_pool_connections',
      'Database connections: running batches (busy), open and free (idle), and the maximum (size).',
      (['busy', 'idle', 'size'] as const).map((state) => ({ labels: { state }, value: sum(state) })),
    ),
    metric('gauge', 'rowgraph_pool_waiting', 'Batches waiting for a database connection.', sum('waiting')),
    histogram(
      'rowgraph_batch_duration_seconds',
      'Time from sending a batch to PostgreSQL to the end of its reply.',
      secondBounds,
      graphs.map(({ batchSeconds }) => batchSeconds),
    ),
    histogram(
      'rowgraph_batch_row_bytes',
      'Bytes in the rows that PostgreSQL returned for a batch.',
      byteBounds,
      graphs.map(({ batchBytes }) => batchBytes),
    ),
    histogram(
      'rowgraph_query_estimated_rows',
      'Rows that a query may read, as estimated for the limit estimatedRows.',
      rowBounds,
      graphs.map(({ estimatedRows }) => estimatedRows),
    ),
    ...replicaMetrics(graphs.flatMap(({ replicas = [] }) => replicas)),
  ];
}

function replicaMetrics(replicas: readonly ReplicaStatistics[]): Metric[] {
  const usable = replicas.map(({ name, isUsable }) => ({ labels: { replica: name }, value: isUsable ? 1 : 0 }));
  const lags = replicas.map(({ name, lagSeconds }) => ({ labels: { replica: name }, value: lagSeconds ?? Infinity }));
  const queries = replicas.flatMap((replica) =>
    (['answered', 'behind', 'failed'] as const).map((outcome) => ({ labels: { replica: replica.name, outcome }, value: replica[outcome] })),
  );
  return [
    { ...metric('gauge', 'rowgraph_replica_usable', 'Whether a replica gets queries.', usable), aggregator: 'min' },
    { ...metric('gauge', 'rowgraph_replica_lag_seconds', 'How far a replica lags behind the primary.', lags), aggregator: 'max' },
    metric(
      'counter',
      'rowgraph_replica_queries_total',
      'Queries sent to a replica; the primary ran those that were not answered.',
      queries,
    ),
  ];
}

/** The longest interval of a timer: prom-client measures delays of the event loop by a timer, which would wake an idle process. */
const never = 2 ** 31 - 1;

/** The metrics of Node, with the utilization of the event loop instead of its delay. */
export class ProcessMetrics {
  readonly #registry = new Registry();
  #last = performance.eventLoopUtilization();

  constructor() {
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: never });
  }

  async read(): Promise<Metric[]> {
    const metrics: readonly object[] = await this.#registry.getMetricsAsJSON();
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#last);
    this.#last = now;
    const help = 'The share of the time since the metrics were last read in which the event loop was busy, from 0 to 1.';
    return [
      // prom-client's types have the type of a metric as a number; it is a text.
      ...(metrics as readonly Metric[]).filter(({ name }) => !/^nodejs_eventloop_lag_\w+_seconds$/.test(name)),
      { ...metric('gauge', 'nodejs_eventloop_utilization', help, utilization), aggregator: 'average' },
    ];
  }
}

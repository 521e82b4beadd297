/**
 * Counts requests in plain numbers, and hands these to prom-client when the metrics are requested: counting in
 * prom-client itself took a tenth of the server's time for a small request.
 */
import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
import type { RequestFinished } from '../events.ts';

/** Upper bounds of the buckets of durations, in seconds. */
const bounds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const durationName = 'rowgraph_request_duration_seconds';

export class RequestMetrics {
  #inFlight = 0;
  #sentBytes = 0;
  #seconds = 0;
  /** How many requests took as long as the bound of this place and longer than the one before; the last place has no bound. */
  readonly #buckets: number[] = [...bounds, Infinity].map(() => 0);
  /** Finished requests by role and code. */
  readonly #finished = new Map<string, Map<string, number>>();

  /** Adds the metrics to the registry. */
  constructor(registry: Registry) {
    const registers = [registry];
    const read = { inFlight: () => this.inFlight, sentBytes: () => this.#sentBytes, count: (into: RequestCounter) => this.#count(into) };
    new Counter({
      name: 'rowgraph_requests_total',
      help: 'Requests to the GraphQL endpoint, by the code of their first error (OK if there is none) and the role of the caller.',
      labelNames: ['code', 'role'] as const,
      registers,
      collect() {
        read.count(this);
      },
    });
    new Gauge({
      name: 'rowgraph_requests_in_flight',
      help: 'Requests in flight.',
      registers,
      collect() {
        this.set(read.inFlight());
      },
    });
    new Counter({
      name: 'rowgraph_response_bytes_total',
      help: 'Response bytes sent.',
      registers,
      collect() {
        this.reset();
        this.inc(read.sentBytes());
      },
    });
    registry.registerMetric(this.#durations());
  }

  /** How many requests are in flight. */
  get inFlight(): number {
    return this.#inFlight;
  }

  start(): void {
    this.#inFlight += 1;
  }

  finish({ code, role, seconds, bytes }: RequestFinished): void {
    this.#inFlight -= 1;
    this.#sentBytes += bytes;
    this.#seconds += seconds;
    let bucket = 0;
    while (bucket < bounds.length && seconds > bounds[bucket]!) bucket += 1;
    this.#buckets[bucket]! += 1;
    const name = role ?? '';
    let ofRole = this.#finished.get(name);
    if (ofRole === undefined) {
      ofRole = new Map();
      this.#finished.set(name, ofRole);
    }
    ofRole.set(code ?? 'OK', (ofRole.get(code ?? 'OK') ?? 0) + 1);
  }

  #count(counter: RequestCounter): void {
    counter.reset();
    for (const [role, ofRole] of this.#finished) for (const [code, count] of ofRole) counter.inc({ code, role }, count);
  }

  /** A histogram as prom-client writes one: buckets count everything up to their bound. */
  #durations(): Metric {
    const histogram = {
      name: durationName,
      help: 'Time from the headers of a request to the last byte of its response.',
      type: 'histogram',
      aggregator: 'sum',
      get: () => Promise.resolve({ ...histogram, values: this.#durationValues() }),
    };
    return histogram as unknown as Metric;
  }

  #durationValues() {
    let count = 0;
    const buckets = this.#buckets.map((added, index) => {
      count += added;
      return { metricName: `${durationName}_bucket`, labels: { le: bounds[index] ?? '+Inf' }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${durationName}_sum`, labels: {}, value: this.#seconds },
      { metricName: `${durationName}_count`, labels: {}, value: count },
    ];
  }
}

type RequestCounter = Counter<'code' | 'role'>;

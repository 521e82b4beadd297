/**
 * Counts requests in plain numbers, and passes these to prom-client when the metrics are requested: counting in prom-client itself took a
 * tenth of the server's time for a small request.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import { Distribution, secondBounds } from '../distribution.ts';
import type { RequestFinished } from '../events.ts';
import { addHistogram } from './add-histogram.ts';

/** How many roles have a label of their own; the others share one, so that no token can make the metrics grow. */
const mostRoles = 100;
const otherRoles = 'other';

export class RequestMetrics {
  #inFlight = 0;
  #sentBytes = 0;
  readonly #durations = new Distribution(secondBounds);
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
    addHistogram(
      registry,
      { name: 'rowgraph_request_duration_seconds', help: 'Time from the headers of a request to the last byte of its response.' },
      secondBounds,
      () => [this.#durations],
    );
  }

  /** The number of requests in flight. */
  get inFlight(): number {
    return this.#inFlight;
  }

  start(): void {
    this.#inFlight += 1;
  }

  finish({ code, role, seconds, bytes }: RequestFinished): void {
    this.#inFlight -= 1;
    this.#sentBytes += bytes;
    this.#durations.note(seconds);
    // A token may name a role that does not exist.
    const ofRole = this.#countsOf(role === null || code === 'UNAUTHENTICATED' ? '' : role);
    ofRole.set(code ?? 'OK', (ofRole.get(code ?? 'OK') ?? 0) + 1);
  }

  #countsOf(role: string): Map<string, number> {
    const known = this.#finished.get(role);
    if (known !== undefined) return known;
    if (this.#finished.size > mostRoles && role !== otherRoles) return this.#countsOf(otherRoles);
    const counts = new Map<string, number>();
    this.#finished.set(role, counts);
    return counts;
  }

  #count(counter: RequestCounter): void {
    counter.reset();
    for (const [role, ofRole] of this.#finished) for (const [code, count] of ofRole) counter.inc({ code, role }, count);
  }
}

type RequestCounter = Counter<'code' | 'role'>;

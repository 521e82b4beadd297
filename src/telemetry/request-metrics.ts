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

interface Tally {
  readonly role: string;
  readonly code: string;
  count: number;
}

export class RequestMetrics {
  #inFlight = 0;
  #sentBytes = 0;
  readonly #durations = new Distribution(secondBounds);
  /** Finished requests by role and code. */
  readonly #finished = new Map<string, Map<string, Tally>>();
  /** Of the latest request: most are like the one before. */
  #latest: Tally = { role: '', code: '', count: 0 };

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
    const label = role === null || code === 'UNAUTHENTICATED' ? '' : role;
    const { role: latestRole, code: latestCode } = this.#latest;
    if (latestRole !== label || latestCode !== (code ?? 'OK')) this.#latest = this.#tallyOf(label, code ?? 'OK');
    this.#latest.count += 1;
  }

  #tallyOf(role: string, code: string): Tally {
    let ofRole = this.#finished.get(role);
    if (ofRole === undefined) {
      if (this.#finished.size > mostRoles && role !== otherRoles) return this.#tallyOf(otherRoles, code);
      ofRole = new Map();
      this.#finished.set(role, ofRole);
    }
    let tally = ofRole.get(code);
    if (tally === undefined) {
      tally = { role, code, count: 0 };
      ofRole.set(code, tally);
    }
    return tally;
  }

  #count(counter: RequestCounter): void {
    counter.reset();
    for (const ofRole of this.#finished.values()) for (const { role, code, count } of ofRole.values()) counter.inc({ code, role }, count);
  }
}

type RequestCounter = Counter<'code' | 'role'>;

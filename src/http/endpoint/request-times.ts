/**
 * When a request passed its stages, and what it ran: for the Server-Timing header (https://www.w3.org/TR/server-timing/) and for the event
 * at its end.
 */
import type { RequestMarks } from '../../engine/request.ts';
import type { OperationTimes, RanOperation, RequestDetails, TraceContext } from '../../event-details.ts';
import type { Exchange } from './exchange.ts';

/** The marks of one operation of a batch, or of the only operation. */
export class OperationMarks implements RequestMarks, OperationTimes {
  readonly applicationName: string | null;
  parsed: number | null = null;
  prepared: number | null = null;
  sent: number | null = null;
  ended: number | null = null;
  operation: RanOperation | null = null;

  constructor(applicationName: string | null) {
    this.applicationName = applicationName;
  }
}

export class RequestTimes extends OperationMarks implements RequestDetails {
  readonly trace: TraceContext | null;
  readonly started: number;
  readonly #exchange: Exchange;
  authenticated: number | null = null;
  received: number | null = null;
  readonly parts: OperationMarks[] = [];

  constructor(started: number, exchange: Exchange, trace: TraceContext | null, applicationName: string | null) {
    super(applicationName);
    this.started = started;
    this.#exchange = exchange;
    this.trace = trace;
  }

  get method(): string {
    return this.#exchange.method;
  }

  get path(): string {
    return this.#exchange.url.split('?', 1)[0]!;
  }

  get address(): string {
    return this.#exchange.address;
  }

  /** The marks of the next operation of a batch. */
  addPart(): OperationMarks {
    const part = new OperationMarks(this.applicationName);
    this.parts.push(part);
    return part;
  }

  /** The current value of the Server-Timing header. Stages that the request did not reach are left out. */
  describe(): string {
    const stages = [
      ['auth', this.started, this.authenticated],
      ['plan', this.received ?? this.authenticated, this.prepared],
      ['queue', this.prepared, this.sent],
      ['db', this.sent, this.ended],
      ['total', this.started, performance.now()],
    ] as const;
    return stages.flatMap(([name, from, to]) => (from === null || to === null ? [] : [`${name};dur=${(to - from).toFixed(2)}`])).join(', ');
  }
}

/**
 * A queue for connections with a maximum waiting time. In: work, and why connections cannot be opened; out: work to run, or refused with
 * the reason.
 */
import { startTimer } from '../budget/deadline.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { ConnectionQueue, type QueueBounds, type QueuedWork } from './connection-queue.ts';
import { tooManyConnections } from './to-database-error.ts';

export interface TimedWork extends QueuedWork {
  /** When it entered the queue, in milliseconds of `performance.now()`. */
  arrived: number;
  /** Ends its wait. */
  refuse(error: DatabaseError): void;
}

/** How long objects that work got stuck on stay off spare connections. */
const stuckMillis = 5_000;

export class TimedQueue<Work extends TimedWork> extends ConnectionQueue<Work> {
  readonly #timeoutMillis: number;
  readonly #whyNone: () => DatabaseError | null;
  readonly #onUnstuck: () => void;
  #waitTimer: NodeJS.Timeout | undefined;
  #stuckTimer: NodeJS.Timeout | null = null;

  /**
   * `whyNone` returns why no connection can be opened; null if that is not known. `onUnstuck` is called when work that was held back because
   * it got stuck may be tried again.
   */
  constructor(bounds: QueueBounds, timeoutMillis: number, whyNone: () => DatabaseError | null, onUnstuck: () => void) {
    super(bounds);
    this.#timeoutMillis = timeoutMillis;
    this.#whyNone = whyNone;
    this.#onUnstuck = onUnstuck;
  }

  /** Queues work; refuses it, or other work in its favour, if there is no room. Returns whether it waits now. */
  admit(work: Work): boolean {
    const refused = this.add(work);
    for (const each of refused) each.refuse(overloaded('too many requests are waiting for a database connection'));
    if (refused.at(-1) === work) return false;
    work.arrived = performance.now();
    this.#waitTimer ??= startTimer(() => this.#endWaits(), this.#timeoutMillis)?.unref();
    return true;
  }

  /** Refuses all waiting work that arrived up to the time `latest`. */
  refuseAll(error: DatabaseError, latest = Infinity): void {
    for (const work of [...this]) if (work.arrived <= latest) this.#refuse(work, error);
  }

  /** Work was stopped because it held a spare connection for too long. */
  noteStuck(work: Work): void {
    this.spare.noteStuck(work);
    this.#stuckTimer ??= setTimeout(() => {
      this.#stuckTimer = null;
      this.spare.forgetStuck();
      this.#onUnstuck();
    }, stuckMillis).unref();
  }

  /** Ends all waits. */
  close(error: DatabaseError): void {
    for (const timer of [this.#waitTimer, this.#stuckTimer]) if (timer) clearTimeout(timer);
    this.refuseAll(error);
  }

  #refuse(work: Work, error: DatabaseError): void {
    this.remove(work);
    work.refuse(error);
  }

  #endWaits(): void {
    this.#waitTimer = undefined;
    const now = performance.now();
    let next = Infinity;
    for (const work of [...this]) {
      const end = work.arrived + this.#timeoutMillis;
      if (end > now) next = Math.min(next, end);
      else this.#refuse(work, this.#whyNone() ?? overloaded('no database connection became free in time'));
    }
    if (next < Infinity) this.#waitTimer = setTimeout(() => this.#endWaits(), next - now).unref();
  }
}

function overloaded(why: string): DatabaseError {
  return new DatabaseError(`The server is overloaded: ${why}. Try again later.`, { sqlstate: tooManyConnections, reason: 'overloaded' });
}

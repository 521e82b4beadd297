/**
 * How long a request may run, and whether anybody still waits for its response. Created by whoever accepts a request; each stage listens to
 * it while it waits for something. Lighter than an `AbortSignal`, which costs more than a small request does.
 */
import { ApiError } from '../errors/api-error.ts';

/** `expired`: the time is up. `abandoned`: the client has disconnected. */
export type StopReason = 'expired' | 'abandoned';

export class Deadline {
  /** How long it lasts, in milliseconds; Infinity if it never expires. */
  readonly millis: number;
  /** In milliseconds of `performance.now()`; Infinity if it never expires. */
  readonly expiresAt: number;
  readonly #timer: NodeJS.Timeout | undefined;
  #stopped: StopReason | null = null;
  #listener: ((reason: StopReason) => void) | null = null;

  /**
   * Starts now and lasts this many milliseconds, or for ever if they are more than 25 days. `end` must be called once the request has its
   * response.
   */
  constructor(millis: number) {
    this.millis = millis > longestTimer ? Infinity : millis;
    this.expiresAt = performance.now() + this.millis;
    this.#timer = startTimer(() => this.stop('expired'), millis);
  }

  /** Why the request must stop; null while it may continue. */
  get stopped(): StopReason | null {
    return this.#stopped;
  }

  /** Milliseconds left, never negative. */
  get remaining(): number {
    return Math.max(0, this.expiresAt - performance.now());
  }

  /** Calls back when the request must stop, immediately if it already must. Only the last listener counts; null removes it. */
  onStop(listener: ((reason: StopReason) => void) | null): void {
    this.#listener = listener;
    if (this.#stopped !== null) listener?.(this.#stopped);
  }

  stop(reason: StopReason): void {
    if (this.#stopped !== null) return;
    this.#stopped = reason;
    clearTimeout(this.#timer);
    this.#listener?.(reason);
  }

  /** The request is over: stops the clock. */
  end(): void {
    clearTimeout(this.#timer);
    this.#listener = null;
  }
}

export function explainStop(reason: StopReason): ApiError {
  return reason === 'expired'
    ? new ApiError('TIMEOUT', 'The request took longer than its time limit.')
    : new ApiError('CANCELLED', 'The request was cancelled.');
}

/**
 * The value of a promise; rejects with `toError` of the reason if the request must stop first. The work behind the promise continues,
 * because others may share it.
 */
export function untilStopped<Value>(
  work: Promise<Value>,
  deadline: Deadline | null,
  toError: (reason: StopReason) => Error,
): Promise<Value> {
  if (deadline === null) return work;
  return new Promise((resolve, reject) => {
    deadline.onStop((reason) => reject(toError(reason)));
    // Stop listening before anybody continues with the value and may listen again.
    const end = (): void => {
      if (deadline.stopped === null) deadline.onStop(null);
    };
    work.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}

/** In milliseconds, 25 days: a timer of Node ends at once if its time is longer. The longest time limit of PostgreSQL is the same. */
export const longestTimer = 2 ** 31 - 1;

/** Calls back after so many milliseconds. There is no timer for a time that is longer than the longest. */
export function startTimer(callback: () => void, millis: number): NodeJS.Timeout | undefined {
  return millis > longestTimer ? undefined : setTimeout(callback, millis);
}

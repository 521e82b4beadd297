/**
 * Until when a request may go on, and whether anybody still waits for its response. Whoever takes a request in makes one; each stage that waits for
 * something listens to it while it waits. Lighter than an `AbortSignal`, which costs more than a small request does.
 */

/** `expired`: the time is over. `abandoned`: the client has gone. */
export type StopReason = 'expired' | 'abandoned';

export class Deadline {
  /** In milliseconds of `performance.now()`. */
  readonly expiresAt: number;
  #timer: NodeJS.Timeout;
  #stopped: StopReason | null = null;
  #listener: ((reason: StopReason) => void) | null = null;

  /** Begins now and lasts for so many milliseconds. `end` has to be called when the request is answered. */
  constructor(millis: number) {
    this.expiresAt = performance.now() + millis;
    this.#timer = setTimeout(() => this.stop('expired'), millis);
  }

  /** Why the request is not to go on; null as long as it is. */
  get stopped(): StopReason | null {
    return this.#stopped;
  }

  /** Milliseconds that are left, and never less than none. */
  get remaining(): number {
    return Math.max(0, this.expiresAt - performance.now());
  }

  /** Calls back when the request is not to go on: at once if that is so already. Of several listeners the last one counts; null ends listening. */
  onStop(listener: ((reason: StopReason) => void) | null): void {
    this.#listener = listener;
    if (this.#stopped !== null) listener?.(this.#stopped);
  }

  /** The request is not to go on. */
  stop(reason: StopReason): void {
    if (this.#stopped !== null) return;
    this.#stopped = reason;
    clearTimeout(this.#timer);
    this.#listener?.(reason);
  }

  /** The request is over: the time no longer runs. */
  end(): void {
    clearTimeout(this.#timer);
    this.#listener = null;
  }
}

/** The value of a promise, or else `toError` of why the request is not to go on. The work behind the promise goes on for those who share it. */
export function untilStopped<Value>(
  work: Promise<Value>,
  deadline: Deadline | null,
  toError: (reason: StopReason) => Error,
): Promise<Value> {
  if (deadline === null) return work;
  return new Promise((resolve, reject) => {
    deadline.onStop((reason) => reject(toError(reason)));
    // Listening ends before anybody goes on with the value, and may listen again.
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

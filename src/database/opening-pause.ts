/**
 * Pauses in which no connection is opened. In: what the server refused, and what was given up for others; out: whether a pause is under
 * way, a call when it is over, and whether the server has been away for long.
 */

/**
 * How long after the server refused a connection: at least, and at most. It is random, or programs that attempt it at regular times would
 * take a connection from one another in the same order again and again, and one of them would never get it.
 */
const retryMillis = { shortest: 50, longest: 250 };
const retryDelay = (): number => retryMillis.shortest + (retryMillis.longest - retryMillis.shortest) * Math.random();
/** How long others get to take the next connection: longer than they wait between two attempts. */
const yieldMillis = 2 * retryMillis.longest;
/** How long a server that was there may be away, as during a restart, before work is refused instead of waiting for it. */
export const restartMillis = 2_000;

export class OpeningPause {
  readonly #onOver: () => void;
  #timer: NodeJS.Timeout | null = null;
  /** Since when the server has refused everything, in milliseconds of `performance.now()`; null if it has not. */
  #refusedSince: number | null = null;
  #wasThere = false;

  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  get isUnderWay(): boolean {
    return this.#timer !== null;
  }

  /** Whether the server has been away for longer than a restart takes, or was never there. */
  get isAway(): boolean {
    return this.#refusedSince !== null && performance.now() - this.#refusedSince >= restartMillis;
  }

  /** The server has done some work. */
  noteServed(): void {
    this.#wasThere = true;
    this.#refusedSince = null;
  }

  /** The server refused a connection, or work on one. */
  noteRefused(): void {
    this.#refusedSince ??= this.#wasThere ? performance.now() : -Infinity;
    if (this.#timer === null) this.#begin(retryDelay());
  }

  /** Others are to get the next connection. */
  letOthersGoFirst(): void {
    this.end();
    this.#begin(yieldMillis);
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #begin(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#onOver();
    }, milliseconds).unref();
  }
}

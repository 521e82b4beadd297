/**
 * Pauses in which no connection is opened. In: what the server refused, and what was given up for others; out: whether a pause is under
 * way, and a call when it is over.
 */

/**
 * How long after the server refused a connection: at least, and at most. It is random, or programs that attempt it at regular times would
 * take a connection from one another in the same order again and again, and one of them would never get it.
 */
const retryMillis = { shortest: 50, longest: 250 };
const retryDelay = (): number => retryMillis.shortest + (retryMillis.longest - retryMillis.shortest) * Math.random();
/** How long others get to take the next connection: longer than they wait between two attempts. */
const yieldMillis = 2 * retryMillis.longest;

export class OpeningPause {
  readonly #onOver: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  get isUnderWay(): boolean {
    return this.#timer !== null;
  }

  /** The server refused a connection. */
  noteRefused(): void {
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

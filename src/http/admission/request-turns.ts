/**
 * Divides the event loop among the connections that pipeline: only so many of their requests begin per turn of the loop, and connections with
 * more take turns. So a client that waits for its responses never waits for all that others have sent ahead. In: requests and connections
 * that would go on; out: whether a request may begin in this turn, and calls when it is a connection's turn.
 */

const requestsPerTurn = 256;
/**
 * The same while many connections wait: as Node accepts one connection per turn, turns must be short then (half a millisecond), or new clients
 * wait for seconds.
 */
const fewRequestsPerTurn = 16;
const manyConnections = 32;
/** What it takes to go on with a connection, in requests. */
const costOfGoingOn = 8;

export class RequestTurns {
  #left = requestsPerTurn;
  #isScheduled = false;
  readonly #waiting = new Set<() => void>();

  /** Whether one more request may begin in this turn. */
  take(): boolean {
    this.#scheduleNext();
    this.#left -= 1;
    return this.#left >= 0;
  }

  /** Calls `goOn` when the connections that have waited longer have had their turn. */
  wait(goOn: () => void): void {
    this.#scheduleNext();
    this.#waiting.add(goOn);
  }

  #scheduleNext(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#begin());
  }

  #begin(): void {
    this.#isScheduled = false;
    this.#left = this.#waiting.size < manyConnections ? requestsPerTurn : fewRequestsPerTurn;
    for (const goOn of this.#waiting) {
      if (this.#left <= 0) break;
      this.#left -= costOfGoingOn;
      this.#waiting.delete(goOn);
      goOn();
    }
    if (this.#waiting.size > 0) this.#scheduleNext();
  }
}

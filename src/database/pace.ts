/**
 * How quick batches are: whether several of a kind may share a connection (docs/decisions.md), and whether the next one soon frees its
 * connection again. A batch's kind is its `template` or `origin`.
 */

const mostTogether = 8;
/** How long the last of a group may wait for the others, estimated from the average. */
const longestWaitMillis = 4;
/** How long it may wait for a single one, estimated from the slowest recent batch. */
const slowMillis = 25;
/**
 * If batches of a kind take this long on average, one connection is enough for them: this process needs about as long to read a request and
 * write its response, so it sends no more than one batch in that time.
 */
const millisPerConnection = 0.2;
/** The weight of the latest time in the moving average. */
const weight = 1 / 16;
/** The factor by which the slowest time decays with each further batch: a second counts as slow for the next 370. */
const decay = 0.99;
/** The next mutation of a kind counts as brief if the slowest recent one took no longer than this. */
const briefMillis = 100;
/** The time recorded for a failure, so that batches of a failing kind run alone for a while. */
const failureMillis = 1000;

interface Times {
  average: number;
  slowest: number;
}

export class Pace {
  readonly #times = new WeakMap<object, Times>();
  /** The shortest exchange so far: the network, and minimal work. */
  #floorMillis = Infinity;

  /** Records how long this many batches of a kind, sent together, took. */
  note(kind: object, batches: number, millis: number): void {
    this.#floorMillis = Math.min(this.#floorMillis, millis);
    this.#learn(kind, (millis - this.#floorMillis) / batches);
  }

  noteFailure(kind: object): void {
    this.#learn(kind, failureMillis);
  }

  /** How many batches of a kind may be sent together; one if nothing is known about them. */
  mostTogether(kind: object): number {
    const times = this.#times.get(kind);
    if (times === undefined || times.slowest > slowMillis) return 1;
    return Math.max(1, Math.min(mostTogether, Math.floor(longestWaitMillis / times.average)));
  }

  /** How many connections this process can keep busy with batches of a kind. */
  connectionsFor(kind: object): number {
    const times = this.#times.get(kind);
    return times === undefined ? Infinity : Math.max(1, Math.ceil(times.average / millisPerConnection));
  }

  /** Whether all recent batches of a kind were quick, even those that had to wait for the disk. */
  isBrief(kind: object): boolean {
    const times = this.#times.get(kind);
    return times !== undefined && times.slowest <= briefMillis;
  }

  #learn(kind: object, millis: number): void {
    const times = this.#times.get(kind);
    if (times === undefined) this.#times.set(kind, { average: millis, slowest: millis });
    else {
      times.average += (millis - times.average) * weight;
      times.slowest = Math.max(millis, times.slowest * decay);
    }
  }
}

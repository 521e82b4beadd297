/**
 * Runs long work in slices of a few milliseconds, so that other requests get a turn in between. Work is a generator that yields wherever it
 * may pause. Concurrent work takes turns, so that many pieces of work block the event loop no longer than one.
 *
 * `WeighedTurns` does the same for memory: only so much work that needs much of it is under way at a time, in total and per client.
 */
import { type Deadline, explainStop } from './deadline.ts';

/** Milliseconds of work in one turn of the event loop. */
const sliceLength = 5;

/** Continues work that waits for a turn, in order of arrival. */
const waiting: (() => void)[] = [];
/** When the first work of the current turn of the event loop began; null if none has. */
let sliceStart: number | null = null;

/**
 * Does the work in slices and yields to the event loop between them. Rejects with whatever the work throws, and with TIMEOUT or CANCELLED
 * once the deadline has stopped the request it is for.
 */
export function runInSlices<T>(work: Generator<void, T>, deadline: Deadline | null = null): Promise<T> {
  return new Promise((resolve, reject) => {
    const goOn = (): void => {
      try {
        while (!isSliceOver()) {
          checkDeadline(deadline);
          const { done, value } = work.next();
          if (done) return resolve(value);
        }
        waiting.push(goOn);
      } catch (error) {
        reject(error);
      }
    };
    goOn();
  });
}

const itemsAtATime = 500;

export function* mapInSteps<Item, Result>(items: readonly Item[], work: (item: Item, index: number) => Result): Generator<void, Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(work(item, results.length));
    if (results.length % itemsAtATime === 0) yield;
  }
  return results;
}

/**
 * Does short work now if this turn of the event loop has time for it, otherwise in a later one, in order: for many pieces at once, such as
 * writing one answer to thousands of sockets. The work must not throw.
 */
export function inTurn(work: () => void): void {
  if (waiting.length === 0 && !isSliceOver()) work();
  else waiting.push(work);
}

/** Does the work without a pause. */
export function runAtOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Does the work at once if it does not pause, and in slices from its first pause on. */
export function runFromFirstPause<T>(work: Generator<void, T>, deadline: Deadline | null): T | Promise<T> {
  const { done, value } = work.next();
  return done ? value : runInSlices(work, deadline);
}

function checkDeadline(deadline: Deadline | null): void {
  const stopped = deadline?.stopped ?? null;
  if (stopped !== null) throw explainStop(stopped);
}

function isSliceOver(): boolean {
  const now = performance.now();
  if (sliceStart !== null) return now - sliceStart >= sliceLength;
  sliceStart = now;
  setImmediate(beginTurn);
  return false;
}

/** Continues what waits until the slice of this turn of the event loop is over. One piece of work may need all of it. */
function beginTurn(): void {
  sliceStart = null;
  while (waiting.length > 0 && !isSliceOver()) waiting.shift()!();
}

/** The weight that may be under way at a time, in total and per client. */
interface WeightBounds {
  readonly total: number;
  readonly ofClient: number;
}

interface WeighedRequest {
  readonly client: string;
  readonly weight: number;
}

interface Waiting extends WeighedRequest {
  begin(): void;
}

export class WeighedTurns {
  readonly #bounds: WeightBounds;
  #weight = 0;
  /** Clients without weight have no entry. */
  readonly #byClient = new Map<string, number>();
  /** By client, in the order of their turns: a client whose request begins goes to the end. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(bounds: WeightBounds) {
    this.#bounds = bounds;
  }

  /**
   * Does the work when its turn comes. The turn ends when the work calls `endTurn`, or is done. A request that weighs more than its client
   * may have counts as much as that. Rejects with TIMEOUT or CANCELLED if the deadline comes first.
   */
  async run<Result>(
    client: string,
    weight: number,
    deadline: Deadline | null,
    work: (endTurn: () => void) => Promise<Result>,
  ): Promise<Result> {
    const request = { client, weight: Math.min(weight, this.#bounds.ofClient) };
    if (this.#waiting.size > 0 || !this.#mayBegin(request)) await this.#wait(request, deadline);
    else this.#enter(request);
    let isOver = false;
    const endTurn = (): void => {
      if (isOver) return;
      isOver = true;
      this.#leave(request);
    };
    try {
      return await work(endTurn);
    } finally {
      endTurn();
    }
  }

  #wait(request: WeighedRequest, deadline: Deadline | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = {
        ...request,
        begin: (): void => {
          this.#withdraw(waiting);
          this.#putLast(request.client);
          this.#enter(request);
          deadline?.onStop(null);
          resolve();
        },
      };
      const others = this.#waiting.get(request.client);
      if (others === undefined) this.#waiting.set(request.client, [waiting]);
      else others.push(waiting);
      deadline?.onStop((reason) => {
        this.#withdraw(waiting);
        reject(explainStop(reason));
        // The others may have been waiting for this request.
        this.#beginNext();
      });
      // All waiting requests may belong to clients that use their full share; then this one can begin.
      this.#beginNext();
    });
  }

  #withdraw(waiting: Waiting): void {
    const { client } = waiting;
    const rest = this.#waiting.get(client)?.filter((other) => other !== waiting) ?? [];
    if (rest.length > 0) this.#waiting.set(client, rest);
    else this.#waiting.delete(client);
  }

  /** The client's other requests wait behind those of clients that have waited longer. */
  #putLast(client: string): void {
    const rest = this.#waiting.get(client);
    if (rest === undefined) return;
    this.#waiting.delete(client);
    this.#waiting.set(client, rest);
  }

  #mayBegin({ client, weight }: WeighedRequest): boolean {
    return this.#weight + weight <= this.#bounds.total && this.#clientMayBegin(client, weight);
  }

  #clientMayBegin(client: string, weight: number): boolean {
    return (this.#byClient.get(client) ?? 0) + weight <= this.#bounds.ofClient;
  }

  #enter({ client, weight }: WeighedRequest): void {
    this.#weight += weight;
    this.#byClient.set(client, (this.#byClient.get(client) ?? 0) + weight);
  }

  #leave({ client, weight }: WeighedRequest): void {
    this.#weight -= weight;
    const left = this.#byClient.get(client)! - weight;
    if (left === 0) this.#byClient.delete(client);
    else this.#byClient.set(client, left);
    this.#beginNext();
  }

  #beginNext(): void {
    for (let next = this.#findNext(); next !== null; next = this.#findNext()) next.begin();
  }

  /**
   * The next request that may begin: of the client that has waited longest for a turn, skipping clients that use their full share. If it
   * does not fit yet, smaller ones of others wait too, so that it is not overtaken for ever.
   */
  #findNext(): Waiting | null {
    for (const [first] of this.#waiting.values()) {
      if (!this.#clientMayBegin(first!.client, first!.weight)) continue;
      return this.#mayBegin(first!) ? first! : null;
    }
    return null;
  }
}

/**
 * Who gets the next connection: work waits in the order in which it came, the client that uses fewest connections comes first, clients that use as many
 * take turns, and no client uses all connections while others may come. In: work with the name of its client; out: the work to run next. Knows neither connections nor time.
 */

/** Work that needs a connection. */
export interface QueuedWork {
  /** Whose share it uses; null is rowgraph itself, which comes first and has no share. */
  readonly client: string | null;
}

export interface QueueBounds {
  /** How many may wait. */
  readonly length: number;
  /** How many connections one client may use at a time. */
  readonly share: number;
}

/** How many clients' lists are looked at for work that is alike. */
const mostLooks = 32;

export class ConnectionQueue<Work extends QueuedWork> {
  readonly #bounds: QueueBounds;
  readonly #own = new Set<Work>();
  /** By client; the first of them has the next turn. None is empty. */
  readonly #waiting = new Map<string, Set<Work>>();
  /** Connections in use by client. None is zero. */
  readonly #inUse = new Map<string, number>();
  #size = 0;
  /** One that was emptied: most lists are of one work, and soon gone. */
  #spareList: Set<Work> | null = null;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  /**
   * Queues work. Returns what is to be refused for want of room: the work itself, or else the latest of the client that has most waiting, so that
   * whoever floods the queue is refused and not everybody else. Null where there is room.
   */
  add(work: Work): Work | null {
    let refused: Work | null = null;
    if (work.client !== null && this.#size >= this.#bounds.length) {
      refused = this.#chooseRefused(work, work.client);
      if (refused === work) return work;
      this.remove(refused);
    }
    this.#listOf(work.client).add(work);
    this.#size += 1;
    return refused;
  }

  /** Takes work out of the queue that is not to run any more. */
  remove(work: Work): void {
    const list = work.client === null ? this.#own : this.#waiting.get(work.client);
    if (!list?.delete(work)) return;
    this.#size -= 1;
    if (work.client === null || list.size > 0) return;
    this.#waiting.delete(work.client);
    this.#spareList = list;
  }

  /** Whether there is work that could run now if there were a connection. */
  get hasNext(): boolean {
    if (this.#own.size > 0) return true;
    for (const client of this.#waiting.keys()) if (this.#mayUse(client)) return true;
    return false;
  }

  /** The work to run next, or undefined. Its client uses one connection more until `release`. */
  take(): Work | undefined {
    if (this.#own.size > 0) {
      const [own] = this.#own as Set<Work> & [Work];
      this.remove(own);
      return own;
    }
    const client = this.#nextClient();
    if (client === undefined) return undefined;
    const list = this.#waiting.get(client)!;
    const [work] = list as Set<Work> & [Work];
    this.remove(work);
    if (list.size > 0) {
      this.#waiting.delete(client);
      this.#waiting.set(client, list);
    }
    this.#inUse.set(client, (this.#inUse.get(client) ?? 0) + 1);
    return work;
  }

  /**
   * Takes up to `most` works for which `isAlike` holds, to share the connection of one that was taken: from the head of each client's list, so that
   * nobody's order changes. They count for nobody's share.
   */
  takeAlike(isAlike: (work: Work) => boolean, most: number): Work[] {
    const taken: Work[] = [];
    let looks = 0;
    for (const list of this.#waiting.values()) {
      if (taken.length >= most || ++looks > mostLooks) break;
      for (const work of list) {
        if (taken.length >= most || !isAlike(work)) break;
        taken.push(work);
      }
    }
    for (const work of taken) this.remove(work);
    return taken;
  }

  /** The client of work that was taken uses a connection less. */
  release({ client }: Work): void {
    if (client === null) return;
    const inUse = this.#inUse.get(client)! - 1;
    if (inUse === 0) this.#inUse.delete(client);
    else this.#inUse.set(client, inUse);
  }

  /** Everything that waits, in no particular order. */
  *[Symbol.iterator](): Generator<Work> {
    yield* this.#own;
    for (const list of this.#waiting.values()) yield* list;
  }

  /**
   * Of the clients that wait, the one that uses fewest connections, so that whoever holds them for long gets no more of them than others want; of those
   * that use as many, whose turn it is. No more clients are looked at than there are connections, and one.
   */
  #nextClient(): string | undefined {
    let next: string | undefined;
    let least = this.#bounds.share;
    for (const client of this.#waiting.keys()) {
      const inUse = this.#inUse.get(client) ?? 0;
      if (inUse < least) {
        next = client;
        least = inUse;
      }
      if (inUse === 0) break;
    }
    return next;
  }

  #mayUse(client: string): boolean {
    return (this.#inUse.get(client) ?? 0) < this.#bounds.share;
  }

  #listOf(client: string | null): Set<Work> {
    if (client === null) return this.#own;
    let list = this.#waiting.get(client);
    if (list === undefined) {
      list = this.#spareList ?? new Set();
      this.#spareList = null;
      this.#waiting.set(client, list);
    }
    return list;
  }

  #chooseRefused(work: Work, client: string): Work {
    const own = this.#waiting.get(client)?.size ?? 0;
    // One that floods has more than the average, and is refused without looking at the others.
    if (own > 0 && own >= this.#size / this.#waiting.size) return work;
    let longest: Set<Work> | undefined;
    for (const list of this.#waiting.values()) if (list.size > (longest?.size ?? Math.max(own, 1))) longest = list;
    return longest === undefined ? work : [...longest].at(-1)!;
  }
}

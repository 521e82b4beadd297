/**
 * Who gets the next connection: work waits in the order in which it came, the client that uses fewest connections comes first, and clients that use as many
 * take turns. No client uses all connections for long, and neither does all work that touches a locked table or a slow function, whoever sends it: some
 * connections are spare, for work that is quick, or unlike what runs. In: work with the name of its client and what it touches; out: the work to run next. Knows neither
 * connections nor time.
 */

/** Work that needs a connection. */
export interface QueuedWork {
  /** Whose share it uses; null is rowgraph itself, which comes first and has no share. */
  readonly client: string | null;
  /** Names of the tables and functions that it touches. */
  readonly touches: readonly string[];
  /** Whether it changes nothing and work of its kind took a moment of late: then it may have any connection, as others soon can. */
  readonly isQuick: boolean;
  /** About as much memory as it takes while it waits. */
  readonly bytes: number;
}

export interface QueueBounds {
  /** How many may wait. */
  readonly length: number;
  /** How many bytes of work may wait; a single work may have more. */
  readonly bytes: number;
  /** How many connections one client may use at a time, and work that is alike, unless it is quick. Those beyond are spare. */
  readonly share: number;
}

/** How many names that were stuck on spare connections to remember. */
const mostStuck = 100;
/** How many clients' lists to search for similar work. */
const mostLooks = 32;

export class ConnectionQueue<Work extends QueuedWork> {
  readonly #bounds: QueueBounds;
  readonly #own = new Set<Work>();
  /** By client; the first of them has the next turn. None is empty. */
  readonly #waiting = new Map<string, Set<Work>>();
  /** Connections in use by client. None is zero. */
  readonly #inUse = new Map<string, number>();
  /** What runs, but for rowgraph's own: on as many connections as the share is, and on spare ones. */
  readonly #running = new Set<Work>();
  readonly #runningSpare = new Set<Work>();
  /** What was touched by work that waited too long for a spare connection. */
  #stuck: readonly (readonly string[])[] = [];
  #size = 0;
  /** Of all that waits. */
  #bytes = 0;
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
   * Queues work. If there is no room, returns what to reject, which may be this work: the latest of the client with the most waiting, so that only the
   * client that floods the queue is rejected; work that cannot run now is rejected before work that can.
   */
  add(work: Work): readonly Work[] {
    const refused = work.client === null ? none : this.#makeRoom(work, work.client);
    if (refused.at(-1) === work) return refused;
    this.#listOf(work.client).add(work);
    this.#size += 1;
    this.#bytes += work.bytes;
    return refused;
  }

  /** Takes work past the queue: only where nothing waits, and its client may use another connection. Returns whether it was taken. */
  takeAtOnce(work: Work): boolean {
    if (this.#size > 0) return false;
    if (work.client === null) return true;
    if ((this.#inUse.get(work.client) ?? 0) >= this.#bounds.share && !work.isQuick) return false;
    if (!this.#whatMayRun()(work)) return false;
    this.#start(work, work.client);
    return true;
  }

  /** Removes work from the queue that must no longer run. */
  remove(work: Work): void {
    const list = work.client === null ? this.#own : this.#waiting.get(work.client);
    if (!list?.delete(work)) return;
    this.#size -= 1;
    this.#bytes -= work.bytes;
    if (work.client === null || list.size > 0) return;
    this.#waiting.delete(work.client);
    this.#spareList = list;
  }

  /** Whether there is work that could run now if there were a connection. */
  get hasNext(): boolean {
    return this.#own.size > 0 || this.#findNext() !== null;
  }

  /** Whether work that was taken is on a spare connection. */
  isOnSpare(work: Work): boolean {
    return this.#runningSpare.has(work);
  }

  /** Work waited too long on a spare connection: nothing that touches the same objects gets one. */
  noteStuck({ touches }: Work): void {
    this.#stuck = [...this.#stuck.slice(1 - mostStuck), touches];
  }

  /** Work is done: what it touches is not what others are stuck at. */
  noteDone({ touches }: Work): void {
    if (this.#stuck.length > 0) this.#stuck = this.#stuck.filter((stuck) => !isWithin(stuck, touches));
  }

  /** What was stuck may be tried again. */
  forgetStuck(): void {
    this.#stuck = [];
  }

  /** The work to run next, or undefined. Its client uses one connection more until `release`. */
  take(): Work | undefined {
    if (this.#own.size > 0) {
      const [own] = this.#own as Set<Work> & [Work];
      this.remove(own);
      return own;
    }
    const next = this.#findNext();
    if (next === null) return undefined;
    const { client, list, work } = next;
    this.remove(work);
    if (list.size > 0) {
      this.#waiting.delete(client);
      this.#waiting.set(client, list);
    }
    this.#start(work, client);
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
  release(work: Work): void {
    const { client } = work;
    if (client === null) return;
    if (!this.#running.delete(work)) this.#runningSpare.delete(work);
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
   * that use as many, whose turn it is. What may run passes what may not.
   */
  #findNext(): { readonly client: string; readonly list: Set<Work>; readonly work: Work } | null {
    let next = null;
    let least = Infinity;
    const mayRun = this.#whatMayRun();
    for (const [client, list] of this.#waiting) {
      const inUse = this.#inUse.get(client) ?? 0;
      if (inUse >= least) continue;
      const work = inUse < this.#bounds.share ? find(list, mayRun) : firstIfQuick(list);
      if (work === undefined || !mayRun(work)) continue;
      next = { client, list, work };
      least = inUse;
      if (inUse === 0) break;
    }
    return next;
  }

  #start(work: Work, client: string): void {
    this.#inUse.set(client, (this.#inUse.get(client) ?? 0) + 1);
    (this.#isOnlySpare ? this.#runningSpare : this.#running).add(work);
  }

  get #isOnlySpare(): boolean {
    return this.#running.size >= this.#bounds.share;
  }

  /**
   * What may run at present: on a spare connection, what is not bound to wait if something that runs, or that was stuck, waits for a table or function.
   * It would be where it touches all that the other touches. To be asked of many at one time: those of one operation are known at a glance.
   */
  #whatMayRun(): (work: Work) => boolean {
    if (!this.#isOnlySpare) return always;
    let known: readonly string[] | null = null;
    let isKnownToWait = false;
    return ({ touches, isQuick }) => {
      if (touches !== known) {
        known = touches;
        isKnownToWait = this.#isStuck(touches) || (!isQuick && this.#isAlikeRunning(touches));
      }
      return !isKnownToWait;
    };
  }

  #isStuck(touches: readonly string[]): boolean {
    return this.#stuck.some((stuck) => isWithin(stuck, touches));
  }

  #isAlikeRunning(touches: readonly string[]): boolean {
    const isAlike = (other: Work): boolean => isWithin(other.touches, touches);
    return find(this.#running, isAlike) !== undefined || find(this.#runningSpare, isAlike) !== undefined;
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

  /** Takes out of the queue what has to be refused. The work itself is the last of it where it has no room. */
  #makeRoom(work: Work, client: string): readonly Work[] {
    if (this.#hasRoom(work)) return none;
    const refused: Work[] = [];
    while (!this.#hasRoom(work)) {
      const next = this.#size >= this.#bounds.length ? this.#chooseByNumber(work, client) : this.#chooseByBytes(work, client);
      refused.push(next);
      if (next === work) break;
      this.remove(next);
    }
    return refused;
  }

  #hasRoom({ bytes }: Work): boolean {
    return this.#size < this.#bounds.length && (this.#bytes + bytes <= this.#bounds.bytes || this.#bytes === 0);
  }

  #chooseByNumber(work: Work, client: string): Work {
    const mayRun = this.#whatMayRun();
    if (mayRun !== always && mayRun(work)) {
      const stuck = this.#findLatest((other) => !mayRun(other), 0);
      if (stuck !== undefined) return stuck;
    }
    const own = this.#waiting.get(client)?.size ?? 0;
    // One that floods has more than the average, and is refused without looking at the others.
    if (own > 0 && own >= this.#size / this.#waiting.size) return work;
    return this.#findLatest(always, Math.max(own, 1)) ?? work;
  }

  /** The latest work of the client whose work takes most, together with what comes. */
  #chooseByBytes(work: Work, client: string): Work {
    let heaviest: Set<Work> | undefined;
    let most = bytesOf(this.#waiting.get(client) ?? none) + work.bytes;
    for (const list of this.#waiting.values()) {
      const bytes = bytesOf(list);
      if (bytes <= most) continue;
      heaviest = list;
      most = bytes;
    }
    return heaviest === undefined ? work : [...heaviest].at(-1)!;
  }

  /** The latest work of a kind, of the client that has most waiting, and more than so much. */
  #findLatest(isWanted: (work: Work) => boolean, moreThan: number): Work | undefined {
    let found: Work | undefined;
    let most = moreThan;
    for (const list of this.#waiting.values()) {
      if (list.size <= most) continue;
      const latest = [...list].findLast(isWanted);
      if (latest === undefined) continue;
      found = latest;
      most = list.size;
    }
    return found;
  }
}

const none: readonly never[] = [];

function bytesOf(works: Iterable<QueuedWork>): number {
  let total = 0;
  for (const { bytes } of works) total += bytes;
  return total;
}

function always(): boolean {
  return true;
}

/** Whether there are names, and all are among others. */
function isWithin(names: readonly string[], others: readonly string[]): boolean {
  return names.length > 0 && names.every((name) => others.includes(name));
}

function firstIfQuick<Work extends QueuedWork>([first]: Iterable<Work>): Work | undefined {
  return first?.isQuick ? first : undefined;
}

function find<Work>(works: Iterable<Work>, isWanted: (work: Work) => boolean): Work | undefined {
  for (const work of works) if (isWanted(work)) return work;
  return undefined;
}

/**
 * Decides who gets the next connection. Each client's work runs in the order in which it came; the client that uses the fewest connections
 * is served first, and clients that use equally many take turns. Neither a single client nor work that touches a locked table or a slow
 * function, whoever sends it, can occupy all connections for long, because some are kept spare (`spare-connections.ts`). In: work with the
 * name of its client and what it touches; out: the work to run next. Knows nothing of connections or time.
 */
import { type RunnableWork, SpareConnections } from './spare-connections.ts';
import { deleteFrom } from './work-list.ts';

/** Work that needs a connection. */
export interface QueuedWork extends RunnableWork {
  /** The client whose share it uses; null for rowgraph's own queries, which go first and have no share. */
  readonly client: string | null;
  /** Approximate bytes that it takes while it waits. */
  readonly bytes: number;
}

export interface QueueBounds {
  /** How many items may wait. */
  readonly length: number;
  /** How many bytes of work may wait; a single item may exceed it. */
  readonly bytes: number;
  /** How many connections a client may use at a time. The rest are spare: for quick work, or work unlike any that is running. */
  readonly share: number;
}

/** The work of one client. */
interface ClientWork<Work> {
  readonly name: string;
  readonly waiting: Work[];
  /** Connections in use. */
  inUse: number;
}

/** How many clients to search for work that may share a connection. */
const mostLooks = 32;
/** How many clients without work to remember: most come back soon, and removing each at once costs more. */
const mostIdleClients = 1000;

export class ConnectionQueue<Work extends QueuedWork> {
  readonly #bounds: QueueBounds;
  readonly #spare: SpareConnections<Work>;
  readonly #own: Work[] = [];
  readonly #clients = new Map<string, ClientWork<Work>>();
  /** Clients with waiting work; the first has the next turn. */
  readonly #turns: ClientWork<Work>[] = [];
  #busyClients = 0;
  #size = 0;
  /** Bytes of all waiting work. */
  #bytes = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
    this.#spare = new SpareConnections(bounds.share);
  }

  /** The number of waiting items. */
  get size(): number {
    return this.#size;
  }

  /** What runs on spare connections, and what got stuck there. */
  get spare(): Pick<SpareConnections<Work>, 'has' | 'noteStuck' | 'noteDone' | 'forgetStuck'> {
    return this.#spare;
  }

  /**
   * Queues work. If there is no room, returns the work to reject, which may be this one: the latest of the client with the most waiting, so
   * that only a client that floods the queue is rejected. If no client has more than one waiting, work that cannot run now is rejected
   * before work that can.
   */
  add(work: Work): readonly Work[] {
    const client = work.client === null ? null : this.#clientOf(work.client);
    const refused = client === null ? none : this.#makeRoom(work, client);
    if (refused.at(-1) === work) return refused;
    if (client === null) this.#own.push(work);
    else {
      this.#noteBusy(client);
      if (client.waiting.push(work) === 1) this.#turns.push(client);
    }
    this.#size += 1;
    this.#bytes += work.bytes;
    return refused;
  }

  /** Takes work without queueing it, if nothing waits and its client may use another connection. Returns whether it was taken. */
  takeAtOnce(work: Work): boolean {
    if (this.#size > 0) return false;
    if (work.client === null) return true;
    const client = this.#clientOf(work.client);
    if (client.inUse >= this.#bounds.share && !work.isQuick) return false;
    if (!this.#spare.mayRunAnything && !this.#spare.whatMayRun()(work)) return false;
    this.#start(work, client);
    return true;
  }

  /** Removes work that must no longer run from the queue. */
  remove(work: Work): void {
    const client = work.client === null ? null : this.#clients.get(work.client);
    if (client !== undefined) this.#removeOf(client, work);
  }

  #removeOf(client: ClientWork<Work> | null, work: Work): void {
    if (!deleteFrom(client?.waiting ?? this.#own, work)) return;
    this.#size -= 1;
    this.#bytes -= work.bytes;
    if (client === null || client.waiting.length > 0) return;
    deleteFrom(this.#turns, client);
    this.#noteIdle(client);
  }

  /** Whether there is work that could run if a connection were free. */
  get hasNext(): boolean {
    return this.#size > 0 && (this.#own.length > 0 || this.#findNext() !== null);
  }

  /** The work to run next, or undefined. Its client is charged for one more connection until `release`. */
  take(): Work | undefined {
    if (this.#size === 0) return undefined;
    const [own] = this.#own;
    if (own !== undefined) {
      this.remove(own);
      return own;
    }
    const next = this.#findNext();
    if (next === null) return undefined;
    const { client, work } = next;
    this.#start(work, client);
    this.#removeOf(client, work);
    if (client.waiting.length > 0) {
      deleteFrom(this.#turns, client);
      this.#turns.push(client);
    }
    return work;
  }

  /**
   * Takes up to `most` items for which `isAlike` holds, to share the connection of work that was taken. Takes them from the head of each
   * client's list, so that each client's order is kept. They count for nobody's share.
   */
  takeAlike(isAlike: (work: Work) => boolean, most: number): Work[] {
    const taken: Work[] = [];
    for (const { waiting } of this.#turns.slice(0, mostLooks)) {
      if (taken.length >= most) break;
      for (const work of waiting) {
        if (taken.length >= most || !isAlike(work)) break;
        taken.push(work);
      }
    }
    for (const work of taken) this.remove(work);
    return taken;
  }

  /** Work that was taken no longer uses its connection. */
  release(work: Work): void {
    if (work.client === null) return;
    this.#spare.end(work);
    const client = this.#clientOf(work.client);
    client.inUse -= 1;
    this.#noteIdle(client);
  }

  /** All waiting work, in no particular order. */
  *[Symbol.iterator](): Generator<Work> {
    yield* this.#own;
    for (const { waiting } of this.#turns) yield* waiting;
  }

  /**
   * Of the waiting clients, the one that uses the fewest connections, so that a client whose work runs long gets no more connections than
   * others want; among equals, the one whose turn it is. Work that may not run yet is skipped.
   */
  #findNext(): { readonly client: ClientWork<Work>; readonly work: Work } | null {
    let next = null;
    let least = Infinity;
    const mayRun = this.#spare.whatMayRun();
    for (const client of this.#turns) {
      const { waiting, inUse } = client;
      if (inUse >= least) continue;
      const work = inUse < this.#bounds.share ? waiting.find(mayRun) : firstIfQuick(waiting);
      if (work === undefined || !mayRun(work)) continue;
      next = { client, work };
      least = inUse;
      if (inUse === 0) break;
    }
    return next;
  }

  #start(work: Work, client: ClientWork<Work>): void {
    this.#noteBusy(client);
    client.inUse += 1;
    this.#spare.start(work);
  }

  #clientOf(name: string): ClientWork<Work> {
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    if (this.#clients.size - this.#busyClients >= mostIdleClients) this.#forgetIdle();
    const client = { name, waiting: [], inUse: 0 };
    this.#clients.set(name, client);
    return client;
  }

  #noteBusy(client: ClientWork<Work>): void {
    if (isIdle(client)) this.#busyClients += 1;
  }

  #noteIdle(client: ClientWork<Work>): void {
    if (isIdle(client)) this.#busyClients -= 1;
  }

  #forgetIdle(): void {
    for (const client of this.#clients.values()) if (isIdle(client)) this.#clients.delete(client.name);
  }

  /**
   * Removes from the queue what must be refused to make room for the new work; returns it. If that is not enough, the new work itself comes
   * last.
   */
  #makeRoom(work: Work, client: ClientWork<Work>): readonly Work[] {
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

  #chooseByNumber(work: Work, { waiting }: ClientWork<Work>): Work {
    const own = waiting.length;
    // A client that floods has more than the average, and is refused without looking at the others.
    if (own > 1 && own >= this.#size / this.#turns.length) return work;
    const latest = this.#findLatest(() => true, Math.max(own, 1));
    if (latest !== undefined) return latest;
    const mayRun = this.#spare.whatMayRun();
    const isStuck = (other: Work): boolean => !mayRun(other);
    return (isStuck(work) ? undefined : this.#findLatest(isStuck, 0)) ?? work;
  }

  /** The latest work of the client whose waiting work takes the most bytes, counting the new work. */
  #chooseByBytes(work: Work, client: ClientWork<Work>): Work {
    let heaviest: readonly Work[] | undefined;
    let most = bytesOf(client.waiting) + work.bytes;
    for (const { waiting } of this.#turns) {
      const bytes = bytesOf(waiting);
      if (bytes <= most) continue;
      heaviest = waiting;
      most = bytes;
    }
    return heaviest?.at(-1) ?? work;
  }

  /** The latest wanted work of the client that has the most waiting, if that client has more than `moreThan`. */
  #findLatest(isWanted: (work: Work) => boolean, moreThan: number): Work | undefined {
    let found: Work | undefined;
    let most = moreThan;
    for (const { waiting } of this.#turns) {
      if (waiting.length <= most) continue;
      const latest = waiting.findLast(isWanted);
      if (latest === undefined) continue;
      found = latest;
      most = waiting.length;
    }
    return found;
  }
}

const none: readonly never[] = [];

function isIdle({ waiting, inUse }: ClientWork<unknown>): boolean {
  return inUse === 0 && waiting.length === 0;
}

function bytesOf(works: readonly QueuedWork[]): number {
  let total = 0;
  for (const { bytes } of works) total += bytes;
  return total;
}

function firstIfQuick<Work extends QueuedWork>([first]: readonly Work[]): Work | undefined {
  return first?.isQuick ? first : undefined;
}

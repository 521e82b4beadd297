/**
 * Decides who gets the next connection, and how long work waits for one. Each client's work runs in the order in which it came; the client
 * that uses the fewest connections is served first, and clients that use equally many take turns.
 *
 * One client may use a share of the connections. The others are reserved for work that is quick, or unlike what is running, so that neither
 * a single client nor work that waits for a locked table or a slow function, whoever sends it, occupies all connections for long.
 *
 * Work is kept in arrays, not sets: when a `Set` or `Map` outgrows its table, V8 links the old table, with everything that was in it, to
 * the new one, so finished requests would stay in memory until the old generation is collected (docs/decisions.md).
 */
import { startTimer } from '../budget/deadline.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { tooManyConnections } from './to-database-error.ts';

/** The clients of work that nobody waits for at the moment, and of such work that is slow: it comes after that of all others. */
export const backgroundClient = '\0background';
export const slowClient = '\0slow';
/** One in this many connections is the share of each; together they have one more, so that either has one. */
const backgroundOf = 4;
const isBackground = (client: string): boolean => client === backgroundClient || client === slowClient;
export const backgroundShare = (size: number): number => Math.max(1, Math.floor(size / backgroundOf));
/** For how long background work may be passed over, in milliseconds. */
const backgroundMillis = 500;

export interface QueuedWork {
  /** The client whose share it uses; null for rowgraph's own queries, which go first and have no share. */
  readonly client: string | null;
  /** Names of the tables and functions that it touches. */
  readonly touches: readonly string[];
  /** Whether recent work of its kind was quick: then it may use any connection, because it soon frees it. */
  readonly isQuick: boolean;
  /** Approximate bytes that it takes while it waits. */
  readonly bytes: number;
  /** When it entered the queue, in milliseconds of `performance.now()`. */
  arrived: number;
  /** Ends its wait. */
  reject(error: DatabaseError): void;
}

export interface QueueBounds {
  readonly length: number;
  /** How many bytes of work may wait; a single item may exceed it. */
  readonly bytes: number;
  readonly timeoutMillis: number;
  /** How many connections a client may use at a time; the rest are reserved. */
  readonly share: number;
  /** How many connections there are. */
  readonly size: number;
}

interface Client<Work> {
  readonly name: string;
  readonly waiting: Work[];
  inUse: number;
}

/** How many clients to search for work that may share a connection. */
const mostLooks = 32;
/** How many clients without work to remember: most come back soon, and removing each at once costs more. */
const mostIdleClients = 1000;
/** How many lists of objects that work got stuck on to remember, and for how long. */
const mostStuck = 100;
const stuckMillis = 5_000;

export class Scheduler<Work extends QueuedWork> {
  readonly #bounds: QueueBounds;
  /** Why no connection can be opened; null if that is not known. */
  readonly #whyNone: () => DatabaseError | null;
  /** Called when work that was held back because it got stuck may be tried again. */
  readonly #onUnstuck: () => void;
  readonly #own: Work[] = [];
  readonly #clients = new Map<string, Client<Work>>();
  /** Clients with waiting work; the first has the next turn. */
  readonly #turns: Client<Work>[] = [];
  #size = 0;
  #bytes = 0;
  /** What runs: up to the share first, then on reserved connections. */
  readonly #running: Work[] = [];
  readonly #runningReserved: Work[] = [];
  /** What was touched by work that was stopped on a reserved connection. */
  #stuck: readonly (readonly string[])[] = [];
  #waitTimer: NodeJS.Timeout | undefined;
  #stuckTimer: NodeJS.Timeout | undefined;

  constructor(bounds: QueueBounds, whyNone: () => DatabaseError | null, onUnstuck: () => void) {
    this.#bounds = bounds;
    this.#whyNone = whyNone;
    this.#onUnstuck = onUnstuck;
  }

  get size(): number {
    return this.#size;
  }

  hasRoom(work: Work): boolean {
    if (work.client === null) return true;
    return this.#size < this.#bounds.length && (this.#bytes === 0 || this.#bytes + work.bytes <= this.#bounds.bytes);
  }

  /**
   * Queues work. If there is no room, refuses some, which may be this: the latest of the client with the most waiting, so that only a
   * client that floods the queue is refused. If no client has more than one waiting, work that cannot run now is refused before work that
   * can. Returns whether it waits now.
   */
  add(work: Work): boolean {
    const client = work.client === null ? null : this.#clientOf(work.client);
    while (client !== null && !this.hasRoom(work)) {
      const refused = this.#chooseToRefuse(work, client);
      if (refused !== work) this.remove(refused);
      refused.reject(overloaded('too many requests are waiting for a database connection'));
      if (refused === work) return false;
    }
    work.arrived = performance.now();
    this.#size += 1;
    this.#bytes += work.bytes;
    if (client === null) this.#own.push(work);
    else if (client.waiting.push(work) === 1) this.#turns.push(client);
    this.#waitTimer ??= startTimer(() => this.#endWaits(), this.#bounds.timeoutMillis)?.unref();
    return true;
  }

  remove(work: Work): void {
    const client = work.client === null ? null : this.#clients.get(work.client);
    if (client === undefined || !deleteFrom(client?.waiting ?? this.#own, work)) return;
    this.#size -= 1;
    this.#bytes -= work.bytes;
    if (client?.waiting.length === 0) deleteFrom(this.#turns, client);
  }

  /** Whether there is work that could run if a connection were free. */
  get hasNext(): boolean {
    return this.#size > 0 && (this.#own.length > 0 || this.#findNext() !== null);
  }

  /** The work to run next, or undefined. It counts as running until `release`. */
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
    this.remove(work);
    client.inUse += 1;
    (this.#isOnlyReserved() ? this.#runningReserved : this.#running).push(work);
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
    const items: Work[] = [];
    for (const { waiting } of this.#turns.slice(0, mostLooks)) {
      for (const work of waiting) {
        if (items.length >= most || !isAlike(work)) break;
        items.push(work);
      }
    }
    for (const work of items) this.remove(work);
    return items;
  }

  /** Work that was taken no longer uses its connection. */
  release(work: Work): void {
    if (work.client === null) return;
    if (!deleteFrom(this.#running, work)) deleteFrom(this.#runningReserved, work);
    this.#clientOf(work.client).inUse -= 1;
  }

  isReserved(work: Work): boolean {
    return this.#runningReserved.includes(work);
  }

  /** Work was stopped because it held a reserved connection for too long: work that touches the same objects gets none for now. */
  noteStuck({ touches }: Work): void {
    this.#stuck = [...this.#stuck.slice(1 - mostStuck), touches];
    this.#stuckTimer ??= setTimeout(() => {
      this.#stuckTimer = undefined;
      this.#stuck = [];
      this.#onUnstuck();
    }, stuckMillis).unref();
  }

  /** Work is done: others do not get stuck on what it touches. */
  noteDone({ touches }: Work): void {
    if (this.#stuck.length > 0) this.#stuck = this.#stuck.filter((stuck) => !isWithin(stuck, touches));
  }

  /** Refuses all waiting work that arrived up to the time `latest`. */
  refuseAll(error: DatabaseError, latest = Infinity): void {
    for (const work of this.#waiting()) if (work.arrived <= latest) this.#refuse(work, error);
  }

  close(error: DatabaseError): void {
    clearTimeout(this.#waitTimer);
    clearTimeout(this.#stuckTimer);
    this.refuseAll(error);
  }

  #waiting(): Work[] {
    return [...this.#own, ...this.#turns.flatMap(({ waiting }) => waiting)];
  }

  #refuse(work: Work, error: DatabaseError): void {
    this.remove(work);
    work.reject(error);
  }

  #endWaits(): void {
    this.#waitTimer = undefined;
    const now = performance.now();
    let next = Infinity;
    for (const work of this.#waiting()) {
      const end = work.arrived + this.#bounds.timeoutMillis;
      if (end > now) next = Math.min(next, end);
      else this.#refuse(work, this.#whyNone() ?? overloaded('no database connection became free in time'));
    }
    if (next < Infinity) this.#waitTimer = setTimeout(() => this.#endWaits(), next - now).unref();
  }

  /**
   * Of the waiting clients, the one that uses the fewest connections, so that a client whose work runs long gets no more connections than
   * others want; among equals, the one whose turn it is. Work that may not run yet is skipped.
   */
  #findNext(): { readonly client: Client<Work>; readonly work: Work } | null {
    let next = null;
    let least = Infinity;
    const mayRun = this.#whatMayRun();
    for (const client of this.#turns) {
      const { waiting, inUse, name } = client;
      if (inUse >= least) continue;
      if (isBackground(name) && !this.#mayServeBackground(client)) continue;
      const work = inUse < this.#bounds.share ? waiting.find(mayRun) : waiting[0];
      if (work === undefined || !mayRun(work) || (inUse >= this.#bounds.share && !work.isQuick)) continue;
      next = { client, work };
      least = inUse;
      if (inUse === 0) break;
    }
    return next;
  }

  /** Unless it has waited for long, background work runs only when nothing else waits. */
  #mayServeBackground({ waiting, inUse }: Client<Work>): boolean {
    const { size } = this.#bounds;
    const share = backgroundShare(size);
    const together = [backgroundClient, slowClient].reduce((sum, each) => sum + (this.#clients.get(each)?.inUse ?? 0), 0);
    if (inUse >= share || together >= Math.max(1, Math.min(share + 1, size - 1))) return false;
    return this.#turns.every(({ name }) => isBackground(name)) || performance.now() - waiting[0]!.arrived > backgroundMillis;
  }

  /**
   * Decides what may start now. If only reserved connections are left, work is held back if it touches everything that running or stuck
   * work touches: it would have to wait for the same table or function. Call the result for many items: consecutive items of one operation
   * are decided once.
   */
  #whatMayRun(): (work: Work) => boolean {
    if (!this.#isOnlyReserved()) return always;
    let names: readonly string[] | null = null;
    let mustWait = false;
    return ({ touches, isQuick }) => {
      if (touches !== names) {
        names = touches;
        mustWait = this.#stuck.some((stuck) => isWithin(stuck, touches)) || (!isQuick && this.#isAlikeRunning(touches));
      }
      return !mustWait;
    };
  }

  // A private getter would be a call of V8's runtime.
  #isOnlyReserved(): boolean {
    return this.#running.length >= this.#bounds.share;
  }

  #isAlikeRunning(touches: readonly string[]): boolean {
    const isAlike = (other: Work): boolean => isWithin(other.touches, touches);
    return this.#running.some(isAlike) || this.#runningReserved.some(isAlike);
  }

  #clientOf(name: string): Client<Work> {
    const existing = this.#clients.get(name);
    if (existing !== undefined) return existing;
    if (this.#clients.size >= mostIdleClients + this.#turns.length) this.#forgetIdle();
    const client = { name, waiting: [], inUse: 0 };
    this.#clients.set(name, client);
    return client;
  }

  #forgetIdle(): void {
    for (const { name, waiting, inUse } of this.#clients.values()) if (inUse === 0 && waiting.length === 0) this.#clients.delete(name);
  }

  /**
   * The latest work of the client with the most waiting, in number or bytes, counting the new work. If no client has more than one waiting,
   * work that cannot run now goes before work that can.
   */
  #chooseToRefuse(work: Work, { waiting }: Client<Work>): Work {
    const weigh = this.#size >= this.#bounds.length ? countOf : bytesOf;
    let heaviest: readonly Work[] = [...waiting, work];
    let most = weigh(heaviest);
    for (const other of this.#turns) {
      const weight = weigh(other.waiting);
      if (weight <= most) continue;
      heaviest = other.waiting;
      most = weight;
    }
    if (heaviest.length > 1 || weigh === bytesOf) return heaviest.at(-1) ?? work;
    const mayRun = this.#whatMayRun();
    if (!mayRun(work)) return work;
    return this.#turns.flatMap((other) => other.waiting).find((other) => !mayRun(other)) ?? work;
  }
}

function always(): boolean {
  return true;
}

/** Whether `names` is not empty and all of them are in `others`. */
function isWithin(names: readonly string[], others: readonly string[]): boolean {
  // Items of one operation share the same list.
  return names.length > 0 && (names === others || names.every((name) => others.includes(name)));
}

function countOf(works: readonly QueuedWork[]): number {
  return works.length;
}

function bytesOf(works: readonly QueuedWork[]): number {
  return works.reduce((total, { bytes }) => total + bytes, 0);
}

/** Removes an element, usually near the head. Returns whether it was there. */
function deleteFrom<Element>(list: Element[], element: Element): boolean {
  const index = list.indexOf(element);
  if (index === 0) list.shift();
  else if (index > 0) list.splice(index, 1);
  return index >= 0;
}

function overloaded(why: string): DatabaseError {
  return new DatabaseError(`The server is overloaded: ${why}. Try again later.`, { sqlstate: tooManyConnections, reason: 'overloaded' });
}

/**
 * Lends the connections of a `pg` pool to work, in the order of the queue. Work waits for any connection, except that repeated work first
 * waits a moment for its own (`repeated-work.ts`). In: work; out: work with a connection.
 */

import type { DatabaseError } from '../errors/database-error.ts';
import type { PoolStatistics } from '../events.ts';
import type { BudgetedPool, ConnectionBudget } from './connection-budget.ts';
import type { LendingPool, LentClient } from './lending-pool.ts';
import { OpeningPause } from './opening-pause.ts';
import { OwedConnection } from './owed-connection.ts';
import { type RepeatableWork, RepeatedWork } from './repeated-work.ts';
import { TimedQueue, type TimedWork } from './timed-queue.ts';
import { closedError, isPassing, mayBeRestarting, toDatabaseError } from './to-database-error.ts';
import { deleteFrom } from './work-list.ts';

export interface ConnectionsOptions {
  /** How much work may wait. */
  readonly queueLength: number;
  /** How many bytes of work may wait. */
  readonly queueBytes: number;
  /** How long it may wait. */
  readonly queueTimeoutMillis: number;
  /** Whether idle connections are kept here and not in the pool. The pool must not be shared. */
  readonly keepsIdle: boolean;
  /** What limits the connections of this pool and others together; null if only the pool's size does. */
  readonly budget?: ConnectionBudget | null;
  /** Called when a connection cannot be opened, or fails while idle, with how many are left. */
  readonly onError: (error: unknown, left: number) => void;
}

/** The default of `pg`. */
const defaultPoolSize = 10;
/** One in this many connections is spare. */
const spareOf = 5;

export interface LendableWork extends TimedWork, RepeatableWork {}

export class PgConnections<Client extends LentClient, Work extends LendableWork> implements BudgetedPool {
  readonly #pool: LendingPool<Client>;
  readonly #options: ConnectionsOptions;
  readonly #budget: ConnectionBudget | null;
  readonly #serve: (client: Client, work: Work) => void;
  readonly #attend: (client: Client) => void;
  readonly #queue: TimedQueue<Work>;
  readonly #lent = new Set<Client>();
  /** Connections that are not in use, used last in, first out. */
  readonly #idle: Client[] = [];
  readonly #repeated = new RepeatedWork<Client, Work>();
  readonly #owed = new OwedConnection<Client>();
  readonly #pause = new OpeningPause(() => this.#ask());
  /** Connections in use that have failed, with the error. */
  readonly #broken = new Map<Client, unknown>();
  /** How many connections were requested from the pool and have not arrived. */
  #asked = 0;
  /** Why the last attempt to open a connection failed; null if it succeeded. */
  #lastFailure: DatabaseError | null = null;
  #onAllReturned: (() => void) | null = null;
  #isClosed = false;

  /**
   * `serve` receives work with a connection, and must return the connection by `giveBack`. `attend` receives each connection as it arrives,
   * because it may break before any work uses it.
   */
  constructor(
    pool: LendingPool<Client>,
    options: ConnectionsOptions,
    serve: (client: Client, work: Work) => void,
    attend: (client: Client) => void,
  ) {
    this.#pool = pool;
    this.#options = options;
    this.#budget = options.budget ?? null;
    this.#serve = serve;
    this.#attend = attend;
    const share = Math.max(1, this.#size() - Math.floor(this.#size() / spareOf));
    const bounds = { length: options.queueLength, bytes: options.queueBytes, share };
    this.#queue = new TimedQueue(
      bounds,
      options.queueTimeoutMillis,
      () => this.#lastFailure,
      () => this.#ask(),
    );
  }

  /** How many more connections must come into use until `wanted` are, but half of the pool at most. */
  countSpare(wanted: number): number {
    return Math.min(Math.ceil(this.#size() / 2), wanted) - this.#lent.size - Math.max(this.#asked, this.#queue.size);
  }

  /** Whether a client's work would have to wait for a connection in use. */
  get isBusy(): boolean {
    return this.#lent.size + Math.max(this.#asked, this.#queue.size) >= this.#size();
  }

  /** Whether work waits for a connection. */
  get hasWaiting(): boolean {
    return this.#queue.size > 0;
  }

  /** The current state of the connections. Connections of a shared pool that somebody else uses count as idle or absent. */
  readStatistics(): PoolStatistics {
    const busy = this.#lent.size;
    return { size: this.#size(), busy, idle: this.#idle.length + (this.#pool.idleCount ?? 0), waiting: this.#queue.size };
  }

  /** Whether the connection is in use. */
  isLent(client: Client): boolean {
    return this.#lent.has(client);
  }

  /** Gets a connection for work, or rejects it. */
  request(work: Work): void {
    if (this.#isClosed) return work.refuse(closedError());
    const failure = this.#lastFailure;
    if (failure !== null && work.client !== null && this.#isAway(failure)) return work.refuse(failure);
    if (work.isRepeated) this.#requestSame(work);
    else this.#requestAny(work);
  }

  /** Gets repeated work the connection that ran the last of it, or any other if that one is gone or stays in use. */
  #requestSame(work: Work): void {
    const { connection } = this.#repeated;
    if (connection !== null && deleteFrom(this.#idle, connection)) this.#lendTo(connection, work);
    else if (connection !== null && this.#lent.has(connection)) this.#repeated.wait(work, (late) => this.#requestAny(late));
    else this.#requestAny(work);
  }

  #requestAny(work: Work): void {
    if (this.#idle.length > 0 && this.#queue.takeAtOnce(work)) return this.#lendTo(this.#idle.pop()!, work);
    if (this.#queue.admit(work)) this.#ask();
  }

  /** Removes work from the queue that no longer needs a connection. */
  withdraw(work: Work): void {
    if (!this.#repeated.remove(work)) this.#queue.remove(work);
  }

  /** Whether work holds a spare connection. */
  isOnSpare(work: Work): boolean {
    return this.#queue.spare.has(work);
  }

  /** Work was stopped because it held a spare connection for too long. */
  noteStuck(work: Work): void {
    this.#queue.noteStuck(work);
  }

  /** Work has finished, however long it took. */
  noteDone(work: Work): void {
    this.#queue.spare.noteDone(work);
  }

  /** Takes waiting work that may share a connection. */
  takeAlike(isAlike: (work: Work) => boolean, most: number): Work[] {
    return this.#queue.size === 0 ? [] : this.#queue.takeAlike(isAlike, most);
  }

  /** Returns a connection; with an error it is unusable. */
  giveBack(client: Client, work: Work, error?: unknown): void {
    const failure = this.#broken.size === 0 ? error : this.#failureOf(client, error);
    this.#queue.release(work);
    if (failure === undefined) this.#pause.noteServed();
    // If the pool is shared, others may be waiting for one of its connections.
    const isFree = this.#pool.waitingCount === 0 && !this.#owed.isDue && (this.#budget === null || !this.#budget.isOwedBy(this));
    if (failure !== undefined || !isFree || !this.#lend(client)) {
      this.#lent.delete(client);
      this.#putAside(client, failure);
      if (this.#isClosed && this.#lent.size === 0) this.#onAllReturned?.();
    }
    // What has ended may have held back more than one.
    if (this.#queue.size > 0) this.#ask();
  }

  /** Why a connection that was in use is unusable; undefined if it is not. It may have failed while nobody read from it. */
  #failureOf(client: Client, error: unknown): unknown {
    const failure = error ?? this.#broken.get(client);
    this.#broken.delete(client);
    return failure;
  }

  /** A pooler has refused work because it does not reach the server. */
  noteRefused(error: unknown): void {
    this.#lastFailure = toDatabaseError(error);
    this.#pause.noteRefused();
  }

  /** A connection has failed. If it is in use, its user learns that elsewhere, unless it has stopped reading. */
  noteBroken(client: Client, error: unknown): void {
    if (this.#lent.has(client)) this.#broken.set(client, error);
    else if (deleteFrom(this.#idle, client)) {
      client.release(error);
      this.#options.onError(error, this.#count());
    }
  }

  /** A connection that was attended to has left the pool. */
  noteRemoved(): void {
    this.#budget?.giveBack(this);
  }

  /** All connections of the pool are closed, or nobody waits for them to close. */
  leaveBudget(): void {
    this.#budget?.leave(this);
  }

  closeIdle(): boolean {
    const client = this.#idle.shift();
    client?.release(true);
    return client !== undefined;
  }

  openWanted(): void {
    this.#ask();
  }

  /**
   * Closes a connection for others that the server refuses one: an idle one, or else the next for which no work waits, or which becomes free
   * after a moment. For half a second, and for another once it is closed, none is opened here, so that others get what the server has.
   * Does nothing if none is owed to them (`owed-connection.ts`).
   */
  yieldOne(): void {
    const pooled = this.#pool.idleCount ?? 0;
    if (this.#isClosed || !this.#owed.want(this.#count() + pooled)) return;
    if (this.closeIdle()) this.#noteGiven();
    // It is put aside as it arrives, unless work waits.
    else if (pooled > 0) this.#open();
    else this.#pause.letOthersGoFirst();
  }

  #noteGiven(): void {
    this.#owed.noteGiven();
    if (!this.#isClosed) this.#pause.letOthersGoFirst();
  }

  /** Rejects all waiting and future work. Resolves when all connections are back. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#pause.end();
    this.#budget?.stopWaiting(this);
    this.#queue.close(closedError());
    this.#repeated.refuseAll(closedError());
    for (const client of this.#idle.splice(0)) client.release();
    return new Promise((resolve) => {
      if (this.#lent.size === 0) resolve();
      else this.#onAllReturned = resolve;
    });
  }

  #size(): number {
    return this.#pool.options.max ?? defaultPoolSize;
  }

  /** How many connections this object holds. */
  #count(): number {
    return this.#lent.size + this.#idle.length;
  }

  /** Gets a connection for waiting work: an idle one, or a new one from the pool. */
  #ask(): void {
    while (this.#idle.length > 0 && this.#queue.hasNext) this.#take(this.#idle.pop()!);
    while (
      this.#mayAsk() &&
      this.#asked < this.#mostAsked() &&
      this.#lent.size + this.#asked < this.#size() &&
      this.#queue.hasNext &&
      !this.#isClosed
    ) {
      if (this.#budget !== null && !this.#budget.take(this)) return;
      this.#open();
    }
  }

  /** During a pause, the pool is asked only for what is idle in it, if it is shared. */
  #mayAsk(): boolean {
    return !this.#pause.isUnderWay || this.#asked < (this.#pool.idleCount ?? 0);
  }

  /**
   * Whether work of clients is refused at once: the server has been away for long, and the next attempt to reach it is not due or under way.
   * rowgraph's own queries wait for that attempt.
   */
  #isAway(failure: DatabaseError): boolean {
    if (!this.#pause.isAway || isPassing(failure) || this.#count() > 0) return false;
    return this.#asked > 0 || !this.#mayAsk();
  }

  /** Asks the pool for a connection. */
  #open(): void {
    this.#asked += 1;
    const began = performance.now();
    const onOpened = (error: unknown, client: Client | undefined): void => {
      this.#asked -= 1;
      if (client === undefined) this.#endAttempt(error, began);
      else if (this.#isClosed) client.release();
      else this.#receive(client, began);
    };
    try {
      this.#pool.connect(onOpened);
    } catch (error) {
      // For each connection, `pg` reads the files that the URL names, and throws if one is missing. Later attempts are made as usual.
      queueMicrotask(() => onOpened(error, undefined));
    }
  }

  #receive(client: Client, began: number): void {
    this.#lastFailure = null;
    this.#owed.noteArrived(client, began);
    this.#attend(client);
    this.#take(client);
    this.#ask();
  }

  /**
   * No connection was opened. If the server has none free, is starting, or may be restarting, or if those in use may become free, work keeps
   * waiting; otherwise it is rejected: there is nothing to wait for.
   */
  #endAttempt(error: unknown, began: number): void {
    if (!this.#isClosed) {
      this.#options.onError(error, this.#count());
      const failure = toDatabaseError(error);
      this.#lastFailure = failure;
      this.#pause.noteRefused();
      const isAwaited = isPassing(failure) || (mayBeRestarting(failure) && !this.#pause.isAway);
      if (this.#lent.size === 0 && !isAwaited) this.#queue.refuseAll(failure, began);
    }
    // Before asking again, which would close an idle connection of another pool to have room.
    this.#budget?.giveBack(this);
    this.#ask();
  }

  /** How many connections may be opening at once: one for each item of waiting work, but only one while the server refuses them. */
  #mostAsked(): number {
    return this.#lastFailure === null ? this.#queue.size : Math.min(1, this.#queue.size);
  }

  #take(client: Client): void {
    this.#lent.add(client);
    if (this.#lend(client)) return;
    this.#lent.delete(client);
    this.#putAside(client);
  }

  /** Keeps or releases a connection that no work needs now. */
  #putAside(client: Client, error?: unknown): void {
    const { isOwed } = this.#owed;
    const isWanted = isOwed || this.#budget?.isWantedBeside(this) === true;
    if (isOwed) this.#noteGiven();
    if (error === undefined && this.#options.keepsIdle && !this.#isClosed && !isWanted) this.#idle.push(client);
    else client.release(error ?? (isWanted || undefined));
  }

  #lendTo(client: Client, work: Work): void {
    this.#lent.add(client);
    this.#serveOn(client, work);
  }

  /** Serves the next waiting work. Returns whether there was any. */
  #lend(client: Client): boolean {
    const work = this.#repeated.takeFor(client) ?? this.#queue.take();
    if (work === undefined) return false;
    this.#serveOn(client, work);
    return true;
  }

  #serveOn(client: Client, work: Work): void {
    this.#repeated.noteServed(client, work);
    this.#serve(client, work);
  }
}

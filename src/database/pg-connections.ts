/**
 * Lends the connections of a `pg` pool: as many as there may be, to whom the queue says, for as long as each needs one. Work waits for any
 * connection, not for one of its own, so that a wait that ends leaves nothing behind. In: work; out: work with a connection.
 */
import { ConnectionQueue, type QueuedWork } from './connection-queue.ts';
import { DatabaseError } from './database.ts';
import { cannotConnectNow, toDatabaseError, tooManyConnections } from './to-database-error.ts';

/** What is used of a `pg.PoolClient`. */
export interface LentClient {
  release(error?: unknown): void;
  readonly connection?: { readonly stream: { destroy(): unknown } };
}

/** What is used of a `pg.Pool`. */
export interface LendingPool<Client extends LentClient> {
  readonly waitingCount: number;
  readonly options: { readonly max?: number };
  connect(callback: (error: Error | undefined, client: Client | undefined) => void): void;
}

export interface ConnectionWork extends QueuedWork {
  /** When it came into the queue, in milliseconds of `performance.now()`. */
  arrived: number;
  /** Ends its wait. */
  refuse(error: DatabaseError): void;
}

export interface ConnectionsOptions {
  /** How much work may wait. */
  readonly queueLength: number;
  /** How many bytes of work may wait. */
  readonly queueBytes: number;
  /** How long it may wait. */
  readonly queueTimeoutMillis: number;
  /** Whether idle connections are kept here and not in the pool. The pool must not be shared. */
  readonly keepsIdle: boolean;
  /** Called when a connection cannot be opened, or fails while idle. */
  readonly onError: (error: unknown) => void;
}

/** That of `pg`. */
const defaultPoolSize = 10;
/** Until a connection is tried again that could not be had. */
const retryMillis = 250;
/** One in this many connections is spare. */
const spareOf = 5;
/** Until what was stuck on a spare connection may try again. */
const stuckMillis = 5_000;

export class PgConnections<Client extends LentClient, Work extends ConnectionWork> {
  readonly #pool: LendingPool<Client>;
  readonly #options: ConnectionsOptions;
  readonly #serve: (client: Client, work: Work) => void;
  readonly #queue: ConnectionQueue<Work>;
  readonly #lent = new Set<Client>();
  /** Those that nobody needs; the one that was used last is used next. */
  readonly #idle: Client[] = [];
  /** How many connections the pool was asked for and has not given. */
  #asked = 0;
  /** Why the last attempt to open a connection failed; null since one succeeded. */
  #lastFailure: DatabaseError | null = null;
  #waitTimer: NodeJS.Timeout | null = null;
  #retryTimer: NodeJS.Timeout | null = null;
  #stuckTimer: NodeJS.Timeout | null = null;
  #onAllReturned: (() => void) | null = null;
  #isClosed = false;

  /** `serve` gets work with a connection, which it gives back by `giveBack`. */
  constructor(pool: LendingPool<Client>, options: ConnectionsOptions, serve: (client: Client, work: Work) => void) {
    this.#pool = pool;
    this.#options = options;
    this.#serve = serve;
    const share = Math.max(1, this.#size - Math.floor(this.#size / spareOf));
    this.#queue = new ConnectionQueue({ length: options.queueLength, bytes: options.queueBytes, share });
  }

  /** How many more connections must be in use until half of the pool is. */
  countSpare(): number {
    return Math.ceil(this.#size / 2) - this.#lent.size - Math.max(this.#asked, this.#queue.size);
  }

  /** Whether work of a client would wait for a connection that somebody else uses. */
  get isBusy(): boolean {
    return this.#lent.size + Math.max(this.#asked, this.#queue.size) >= this.#size;
  }

  /** Whether work waits for a connection. */
  get hasWaiting(): boolean {
    return this.#queue.size > 0;
  }

  /** Whether the connection is in use. */
  isLent(client: Client): boolean {
    return this.#lent.has(client);
  }

  /** Gets work a connection, or rejects it. */
  request(work: Work): void {
    if (this.#isClosed) return work.refuse(closedError());
    if (this.#idle.length > 0 && this.#queue.takeAtOnce(work)) return this.#lendTo(this.#idle.pop()!, work);
    const refused = this.#queue.add(work);
    for (const each of refused) each.refuse(overloaded('too many requests are waiting for a database connection'));
    if (refused.at(-1) === work) return;
    work.arrived = performance.now();
    this.#waitTimer ??= setTimeout(() => this.#endWaits(), this.#options.queueTimeoutMillis).unref();
    this.#ask();
  }

  /** Waiting work no longer needs a connection. */
  withdraw(work: Work): void {
    this.#queue.remove(work);
  }

  /** Whether work holds a connection that others need soon. */
  isOnSpare(work: Work): boolean {
    return this.#queue.isOnSpare(work);
  }

  /** Work waited too long for a spare connection. */
  noteStuck(work: Work): void {
    this.#queue.noteStuck(work);
    this.#stuckTimer ??= setTimeout(() => {
      this.#stuckTimer = null;
      this.#queue.forgetStuck();
    }, stuckMillis).unref();
  }

  /** Work is done, in whatever time. */
  noteDone(work: Work): void {
    this.#queue.noteDone(work);
  }

  /** Other work that waits and may share a connection. */
  takeAlike(isAlike: (work: Work) => boolean, most: number): Work[] {
    return this.#queue.size === 0 ? [] : this.#queue.takeAlike(isAlike, most);
  }

  /** The connection is free; with an error it is unusable. */
  giveBack(client: Client, work: Work, error?: unknown): void {
    this.#queue.release(work);
    // Where a pool is shared, others wait for it too.
    if (error === undefined && this.#pool.waitingCount === 0 && this.#lend(client)) return;
    this.#lent.delete(client);
    this.#putAside(client, error);
    if (this.#isClosed && this.#lent.size === 0) this.#onAllReturned?.();
    this.#ask();
  }

  /** A connection has failed. Its user learns that elsewhere. */
  noteBroken(client: Client, error: unknown): void {
    const index = this.#idle.indexOf(client);
    if (index < 0) return;
    this.#idle.splice(index, 1);
    client.release(error);
    this.#options.onError(error);
  }

  /** Rejects all waiting and future work. Resolves when all connections are back. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of [this.#waitTimer, this.#retryTimer, this.#stuckTimer]) if (timer) clearTimeout(timer);
    for (const work of [...this.#queue]) this.#refuse(work, closedError());
    for (const client of this.#idle.splice(0)) client.release();
    return new Promise((resolve) => {
      if (this.#lent.size === 0) resolve();
      else this.#onAllReturned = resolve;
    });
  }

  get #size(): number {
    return this.#pool.options.max ?? defaultPoolSize;
  }

  /** Gets waiting work a connection: an idle one, or another one from the pool. */
  #ask(): void {
    while (this.#idle.length > 0 && this.#queue.hasNext) this.#take(this.#idle.pop()!);
    while (
      this.#retryTimer === null &&
      this.#asked < this.#queue.size &&
      this.#lent.size + this.#asked < this.#size &&
      this.#queue.hasNext &&
      !this.#isClosed
    ) {
      this.#asked += 1;
      const began = performance.now();
      this.#pool.connect((error, client) => {
        this.#asked -= 1;
        if (client === undefined) this.#noteFailure(error, began);
        else {
          this.#lastFailure = null;
          this.#take(client);
        }
      });
    }
  }

  #take(client: Client): void {
    this.#lent.add(client);
    if (this.#lend(client)) return;
    this.#lent.delete(client);
    this.#putAside(client);
  }

  /** Nobody needs the connection now. */
  #putAside(client: Client, error?: unknown): void {
    if (error === undefined && this.#options.keepsIdle && !this.#isClosed) this.#idle.push(client);
    else client.release(error);
  }

  #lendTo(client: Client, work: Work): void {
    this.#lent.add(client);
    this.#serve(client, work);
  }

  /** Whether there was work for the connection. */
  #lend(client: Client): boolean {
    const work = this.#queue.take();
    if (work === undefined) return false;
    this.#serve(client, work);
    return true;
  }

  /**
   * If the server has no free connection or is still starting, or connections in use may become free, work keeps waiting. Otherwise it is rejected,
   * because there is nothing to wait for.
   */
  #noteFailure(error: unknown, began: number): void {
    this.#options.onError(error);
    const failure = toDatabaseError(error);
    this.#lastFailure = failure;
    if (this.#isClosed) return;
    const isPassing = failure.sqlstate === tooManyConnections || failure.sqlstate === cannotConnectNow;
    if (this.#lent.size > 0 || isPassing) {
      this.#retryTimer ??= setTimeout(() => {
        this.#retryTimer = null;
        this.#ask();
      }, retryMillis).unref();
      return;
    }
    for (const work of [...this.#queue]) if (work.arrived <= began) this.#refuse(work, failure);
    this.#ask();
  }

  #refuse(work: Work, error: DatabaseError): void {
    this.withdraw(work);
    work.refuse(error);
  }

  #endWaits(): void {
    const { queueTimeoutMillis } = this.#options;
    this.#waitTimer = null;
    const now = performance.now();
    let next = Infinity;
    for (const work of [...this.#queue]) {
      // Internal work has its own deadline.
      if (work.client === null) continue;
      if (work.arrived + queueTimeoutMillis > now) next = Math.min(next, work.arrived + queueTimeoutMillis);
      else this.#refuse(work, this.#lastFailure ?? overloaded('no database connection became free in time'));
    }
    if (next < Infinity) this.#waitTimer = setTimeout(() => this.#endWaits(), next - now).unref();
  }
}

function overloaded(why: string): DatabaseError {
  return new DatabaseError(`The server is overloaded: ${why}. Try again later.`, { sqlstate: tooManyConnections, reason: 'overloaded' });
}

function closedError(): DatabaseError {
  return new DatabaseError('The database is closed', { sqlstate: null });
}

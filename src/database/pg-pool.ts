/**
 * The connections of a database: opens them, lends them to runs in the order of the scheduler, keeps them while they are idle, and closes
 * them. While the server refuses connections, it is asked for one at a time.
 */
import type { DatabaseError } from '../errors/database-error.ts';
import type { PoolStatistics } from '../statistics.ts';
import type { BudgetedPool, ConnectionBudget } from './connection-budget.ts';
import type { ConnectionOptions, Connector } from './connector.ts';
import type { Pace } from './pace.ts';
import type { PgConnection } from './pg-connection.ts';
import { type FlightContext, PgFlight } from './pg-flight.ts';
import { type PgRun, restartMillis } from './pg-run.ts';
import { type QueueBounds, Scheduler } from './scheduler.ts';
import { closedError, isPassing, isPoolersRefusal, mayBeRestarting, toDatabaseError } from './to-database-error.ts';
import { isPrepared } from './wire/encode-batch.ts';

/** One in this many connections is reserved. */
const reservedOf = 5;
/**
 * How long after the server refused a connection another one is opened: at least, and at most. It is random, or programs that attempt it at
 * regular times would take a connection from one another in the same order again and again, and one of them would never get it.
 */
const retryMillis = { shortest: 50, longest: 250 };
const retryDelay = (): number => retryMillis.shortest + (retryMillis.longest - retryMillis.shortest) * Math.random();
/** How long `close` waits before each further step. */
const closeMillis = 1_000;

interface PoolOptions {
  readonly bounds: Omit<QueueBounds, 'share' | 'size'>;
  /** What limits the connections of this pool and others together. */
  readonly budget: ConnectionBudget | null;
  readonly pace: Pace;
  /** Called when a connection cannot be opened, or fails while idle, with how many are left. */
  readonly onError: (error: unknown, left: number) => void;
}

export class PgPool implements BudgetedPool {
  readonly #connector: Connector;
  readonly #options: PoolOptions;
  readonly #flights: FlightContext;
  readonly #queue: Scheduler<PgRun>;
  readonly #lent = new Set<PgConnection>();
  /** Connections that are not in use, used last in, first out. */
  readonly #idle: PgConnection[] = [];
  #opening = 0;
  /** Until when none is opened. */
  #pause: NodeJS.Timeout | null = null;
  /** Why the last attempt to open a connection failed; null if it succeeded. */
  #lastFailure: DatabaseError | null = null;
  /** Since when the server has refused everything, in milliseconds of `performance.now()`; null if it has not. */
  #refusedSince: number | null = null;
  #wasServed = false;
  #onAllReturned: (() => void) | null = null;
  #isClosed = false;

  /** `open` makes the connector, whose connections call `onFailed` of this pool, and `onSilence`. */
  constructor(
    open: (events: Pick<ConnectionOptions, 'onFailed' | 'onSilence'>) => Connector,
    options: PoolOptions,
    flights: FlightContext,
  ) {
    this.#connector = open({
      onFailed: (connection, error) => this.#drop(connection, error),
      onSilence: (since) => this.#dropSilent(since),
    });
    this.#options = options;
    this.#flights = flights;
    const { size } = this.#connector;
    const bounds = { ...options.bounds, share: Math.max(1, size - Math.floor(size / reservedOf)), size };
    this.#queue = new Scheduler(
      bounds,
      () => this.#lastFailure,
      () => this.dispatch(),
    );
  }

  get connector(): Connector {
    return this.#connector;
  }

  /** The current state of the connections. Connections of a shared pool that somebody else uses count as idle or absent. */
  readStatistics(): PoolStatistics {
    const { size, idleCount } = this.#connector;
    return { size, busy: this.#lent.size, idle: this.#idle.length + idleCount, waiting: this.#queue.size };
  }

  /** Queues a run, or rejects it. It is served by `dispatch`. */
  add(run: PgRun): void {
    if (run.isSettled) return;
    const failure = this.#lastFailure;
    if (this.#isClosed) run.reject(closedError());
    else if (failure !== null && run.client !== null && this.#isAway(failure)) run.reject(failure);
    else {
      // What can be served need not make room.
      if (!this.#queue.hasRoom(run)) this.dispatch();
      if (this.#queue.add(run)) run.noteQueued(this);
    }
  }

  /** The run must stop. */
  withdraw(run: PgRun): void {
    this.#queue.remove(run);
  }

  /** Serves what may run now, and opens connections for what cannot. */
  dispatch(): void {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (this.#serveNext(connection)) continue;
      this.#idle.push(connection);
      break;
    }
    while (this.#mayOpen() && this.#queue.hasNext) {
      if (this.#options.budget?.take(this) === false) return;
      this.#open();
    }
  }

  closeIdle(): boolean {
    const connection = this.#idle.shift();
    if (connection !== undefined) this.#close(connection);
    return connection !== undefined;
  }

  openWanted(): void {
    this.dispatch();
  }

  /**
   * Rejects all waiting and future work. Gives what runs some time to finish, then cancels it, then closes its connections. Takes a few
   * seconds at most.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#options.budget?.stopWaiting(this);
    this.#queue.close(closedError());
    for (const connection of this.#idle.splice(0)) this.#close(connection);
    const steps = [(each: PgConnection) => each.cancel(), (each: PgConnection) => each.cut()];
    const timers = steps.map((step, index) => setTimeout(() => this.#lent.forEach(step), closeMillis * (index + 1)));
    await new Promise<void>((resolve) => {
      if (this.#lent.size === 0) resolve();
      else this.#onAllReturned = resolve;
    });
    for (const timer of timers) clearTimeout(timer);
    await this.#connector.leave();
  }

  /** Takes the next run, and sends it on a connection, with others that may share it. Returns whether there was one. */
  #serveNext(connection: PgConnection): boolean {
    const run = this.#queue.take();
    if (run === undefined) return false;
    this.#lent.add(connection);
    const isReserved = this.#queue.isReserved(run) && (run.isForgettable || run.isQuick);
    const runs = [run, ...this.#companyFor(run, connection)];
    const lender = {
      isReserved,
      onDone: () => this.#queue.noteDone(run),
      onStuck: () => this.#queue.noteStuck(run),
      onFree: (error: unknown) => this.#giveBack(connection, run, error),
    };
    new PgFlight(this.#flights, connection, run.batch === null ? null : connection.prepared, runs, lender).start();
    return true;
  }

  /**
   * Waiting runs that may share the connection with a run: as many as their pace allows, unless other connections could serve them. After a
   * failed Parse it would be unknown which of several batches failed; and on a reserved connection, none should wait for others.
   */
  #companyFor(run: PgRun, { prepared }: PgConnection): readonly PgRun[] {
    const { batch, kind } = run;
    if (this.#queue.size === 0 || prepared === null || batch === null || kind === undefined || !run.isSociable) return [];
    const most = Math.min(this.#options.pace.mostTogether(kind), Math.ceil((this.#queue.size + 1) / (1 + this.#countOthers(kind))));
    if (most < 2 || this.#queue.isReserved(run) || !isPrepared(batch, prepared)) return [];
    return this.#queue.takeAlike((other) => run.isAlike(other) && isPrepared(other.batch!, prepared), most - 1);
  }

  /** How many further connections should serve batches of a kind, but half of the pool at most. */
  #countOthers(kind: object): number {
    const wanted = Math.min(Math.ceil(this.#connector.size / 2), this.#options.pace.connectionsFor(kind));
    return Math.max(0, wanted - this.#lent.size);
  }

  /** Returns a connection; with an error it is unusable. */
  #giveBack(connection: PgConnection, run: PgRun, error: unknown): void {
    this.#queue.release(run);
    if (error === undefined) this.#noteServed();
    else if (isPoolersRefusal(error)) this.#noteRefused(toDatabaseError(error));
    this.#lent.delete(connection);
    this.#putToUse(connection, error);
    if (this.#isClosed && this.#lent.size === 0) this.#onAllReturned?.();
  }

  /** Serves the next run on a connection, keeps it idle, or closes it. */
  #putToUse(connection: PgConnection, error?: unknown): void {
    const { budget } = this.#options;
    const isNeeded = !this.#isClosed && !this.#connector.isWanted && budget?.isOwedBy(this) !== true;
    if (error !== undefined) this.#close(connection, error);
    else if (isNeeded && this.#serveNext(connection)) {
      // It is in use again.
    } else if (this.#connector.isOwn && isNeeded && budget?.isWantedBeside(this) !== true) this.#idle.push(connection);
    else this.#close(connection);
    // What has ended may have held back more than one.
    if (this.#queue.size > 0) this.dispatch();
  }

  #close(connection: PgConnection, error?: unknown): void {
    this.#connector.close(connection, error);
    this.#options.budget?.giveBack(this);
  }

  #drop(connection: PgConnection, error: unknown): void {
    const index = this.#idle.indexOf(connection);
    if (index < 0) return;
    this.#idle.splice(index, 1);
    this.#close(connection, error);
    this.#options.onError(error, this.#count());
  }

  /**
   * Closes the idle connections that have not replied since a time: the network silently dropped one, so it dropped the others, too.
   */
  #dropSilent(since: number): void {
    const silent = this.#idle.filter(({ repliedAt }) => repliedAt < since);
    for (const connection of silent) this.#drop(connection, new Error('The network has dropped another connection'));
  }

  #count(): number {
    return this.#lent.size + this.#idle.length;
  }

  /** Whether to open another connection: one for each item of waiting work, but only one at a time while the server refuses them. */
  #mayOpen(): boolean {
    if (this.#isClosed || this.#lent.size + this.#idle.length + this.#opening >= this.#connector.size) return false;
    if (this.#pause !== null && this.#opening >= this.#connector.idleCount) return false;
    return this.#opening < (this.#lastFailure === null ? this.#queue.size : Math.min(1, this.#queue.size));
  }

  /**
   * Whether work of clients is refused at once: the server has been away for long, and the next attempt to reach it is not due or under
   * way. rowgraph's own queries wait for that attempt.
   */
  #isAway(failure: DatabaseError): boolean {
    if (this.#count() > 0) return false;
    if (!this.#flights.isReplaceable && (!this.#isLongAway() || isPassing(failure))) return false;
    return this.#opening > 0 || this.#pause !== null;
  }

  /** Whether the server has been away for longer than a restart takes, or was never there. */
  #isLongAway(): boolean {
    return this.#refusedSince !== null && performance.now() - this.#refusedSince >= restartMillis;
  }

  #open(): void {
    this.#opening += 1;
    const began = performance.now();
    this.#connector.open((error, connection) => {
      this.#opening -= 1;
      if (connection === null) this.#endAttempt(error, began);
      else {
        this.#lastFailure = null;
        // Even if it is owed to another pool, it serves one run first.
        if (this.#isClosed || !this.#serveNext(connection)) this.#putToUse(connection);
        else if (this.#queue.size > 0) this.dispatch();
      }
    });
  }

  /**
   * No connection was opened. If the server has none free, is starting, or may be restarting, or if those in use may become free, work
   * keeps waiting; otherwise it is rejected: there is nothing to wait for.
   */
  #endAttempt(error: unknown, began: number): void {
    if (!this.#isClosed) {
      const failure = toDatabaseError(error);
      this.#options.onError(error, this.#count());
      this.#noteRefused(failure);
      const mayComeBack = isPassing(failure) || (mayBeRestarting(failure) && !this.#isLongAway());
      const isAwaited = mayComeBack && !this.#flights.isReplaceable;
      if (this.#lent.size === 0 && !isAwaited) this.#queue.refuseAll(failure, began);
    }
    this.#options.budget?.giveBack(this);
    this.dispatch();
  }

  /** The server has done some work. */
  #noteServed(): void {
    this.#wasServed = true;
    this.#refusedSince = null;
  }

  /** The server refused a connection, or a pooler work on one, because it does not reach the server. */
  #noteRefused(failure: DatabaseError): void {
    this.#lastFailure = failure;
    this.#refusedSince ??= this.#wasServed ? performance.now() : -Infinity;
    this.#pause ??= setTimeout(() => {
      this.#pause = null;
      this.dispatch();
    }, retryDelay()).unref();
  }
}

/**
 * A `Database` over a pool of `pg` connections: each batch is one write to one connection and one reply; some are sent together
 * (`pipelining.ts`). Accepts a URL, for which it opens and owns a pool, or the caller's pool, which may come from another copy of `pg`.
 * This file accepts batches, stops them when they must, and closes the pool. `pg-connections.ts` decides who gets a connection, and
 * `pg-job-runner.ts` uses it.
 */
import { Deadline, type StopReason } from '../budget/deadline.ts';
import type { CacheStatistics } from '../events.ts';
import { BatchMeasures } from './batch-measures.ts';
import type { ConnectionBudget } from './connection-budget.ts';
import type { Batch, BatchResult, Database, DatabaseStatistics, QueryOptions, Rows, RunStatement, Session } from './database.ts';
import { PgConnectionStates } from './pg-connection-states.ts';
import { PgConnections } from './pg-connections.ts';
import { JobGroup, PgJob } from './pg-job.ts';
import { PgJobRunner } from './pg-job-runner.ts';
import { PgListener } from './pg-listener.ts';
import { Pipelining } from './pipelining.ts';
import { toDatabaseError, tooManyConnections } from './to-database-error.ts';
import { tryOutOnClient } from './try-out.ts';
import { cutConnection, openClient, openPool, type PgPool, type PgPoolClient } from './wire/pg-client.ts';

export interface PgDatabaseOptions {
  /** Size of the pool that is opened for a URL. */
  readonly poolSize?: number;
  /** Whether to use named prepared statements; `false` for poolers that may use another connection for every transaction. */
  readonly prepare?: boolean;
  /** How many prepared statements to keep per connection. */
  readonly statementCacheSize?: number;
  /** How many batches may wait for a connection. Default: 1000. */
  readonly queueLength?: number;
  /** How many bytes of batches may wait. Default: 64 MB. */
  readonly queueBytes?: number;
  /** How long a batch waits for a connection. Default: 10,000 ms. */
  readonly queueTimeoutMillis?: number;
  /** The time limit of most batches: PostgreSQL keeps it. Default: 30,000 ms. */
  readonly requestTimeoutMillis?: number;
  /** What limits this pool and others together. No further connection is then opened to listen. */
  readonly budget?: ConnectionBudget;
  /**
   * Called when a connection fails while idle, or cannot be opened. `isStarved`: whether the server refuses connections because there are
   * too many, and this pool has none left.
   */
  readonly onConnectionError?: (error: unknown, isStarved: boolean) => void;
  /** Called when a batch is sent again because its connection was lost with this error. */
  readonly onResend?: (error: unknown) => void;
}

/** The default time limit of internal queries. */
const queryTimeoutMillis = 60_000;
/** How long `close` waits before each further step. */
const closeMillis = 1_000;

/** Opens a database on a PostgreSQL server. Nothing is connected before the first batch. */
export function openPgDatabase(target: string | PgPool, options: PgDatabaseOptions = {}): Database {
  if (typeof target !== 'string' && 'pipeline' in target.options && target.options.pipeline) {
    throw new TypeError('rowgraph pipelines statements itself and cannot use a pool with the option "pipeline". Remove the option.');
  }
  return new PgDatabase(target, options);
}

class PgDatabase implements Database {
  readonly #pool: PgPool;
  readonly #ownsPool: boolean;
  readonly #listens: boolean;
  readonly #listener: PgListener;
  readonly #connections: PgConnections<PgPoolClient, JobGroup>;
  readonly #onPoolError: (error: unknown) => void;
  readonly #states: PgConnectionStates;
  readonly #runner: PgJobRunner;
  readonly #measures = new BatchMeasures();
  readonly #onRemove = (client: PgPoolClient): void => {
    if (this.#states.forget(client)) this.#connections.noteRemoved();
  };
  readonly #pipelining: Pipelining<PgJob>;

  constructor(target: string | PgPool, options: PgDatabaseOptions) {
    const { onConnectionError = ignore, onResend = ignore } = options;
    this.#onPoolError = (error) => onConnectionError(error, false);
    this.#ownsPool = typeof target === 'string';
    this.#pool = typeof target === 'string' ? openPool(target, options.poolSize) : target;
    const { budget = null } = options;
    this.#listens = budget === null;
    this.#listener = new PgListener(() => openClient(this.#pool));
    const { queueLength = 1000, queueBytes = 64 * 1024 ** 2, queueTimeoutMillis = 10_000 } = options;
    const connectionOptions = {
      queueLength,
      queueBytes,
      queueTimeoutMillis,
      keepsIdle: this.#ownsPool,
      budget,
      onError: (error: unknown, left: number) => {
        const isStarved = left === 0 && toDatabaseError(error).sqlstate === tooManyConnections;
        // Requests need a connection more than the watch of the schema does.
        if (isStarved) this.#listener.giveUp();
        onConnectionError(error, isStarved);
      },
    };
    this.#connections = new PgConnections(
      this.#pool,
      connectionOptions,
      (client, group) => this.#runner.serve(client, group),
      (client) => void this.#states.of(client),
    );
    this.#pipelining = new Pipelining<PgJob>(
      (jobs) => this.#requestTogether(jobs),
      (wanted) => this.#connections.countSpare(wanted),
      (one, other) => one.isAlike(other),
    );
    const statementCacheSize = options.prepare === false ? null : (options.statementCacheSize ?? 256);
    const keptLimit = this.#ownsPool && options.prepare !== false ? (options.requestTimeoutMillis ?? 30_000) : null;
    this.#states = new PgConnectionStates(statementCacheSize, keptLimit, (client, error) => this.#connections.noteBroken(client, error));
    this.#runner = new PgJobRunner({
      connections: this.#connections,
      states: this.#states,
      pipelining: this.#pipelining,
      measures: this.#measures,
      stream: this.#pool.options.stream,
      request: (job) => this.#request(job),
      onSilence: (since) => this.#dropIdle(since),
      onResend,
    });
    // Without a listener, a connection that fails while idle would end the process. The pool drops it.
    this.#pool.on('error', this.#onPoolError);
    this.#pool.on('remove', this.#onRemove);
  }

  run(batch: Batch): Promise<BatchResult> {
    return new Promise((resolve, reject) => {
      const job = PgJob.ofBatch(batch, { resolve, reject });
      this.#watch(job);
      if (job.isSettled) return;
      // Without named statements, every batch of a group would be parsed anew, and a pooler might distribute them over several connections.
      if (batch.template === undefined || !this.#states.prepares) this.#request(job);
      else this.#pipelining.add(batch.template, job);
    });
  }

  query(text: string, parameters?: readonly (string | null)[], options: QueryOptions = {}): Promise<Rows> {
    const { timeoutMillis = queryTimeoutMillis, isRepeated = false } = options;
    const deadline = new Deadline(timeoutMillis);
    const answered = new Promise<Rows>((resolve, reject) => {
      // Every row of a query is text (see `PgExchange`).
      const job = PgJob.ofScript({ text, parameters, isRepeated }, deadline, { resolve: resolve as never, reject });
      this.#watch(job);
      this.#request(job);
    });
    return answered.finally(() => deadline.end());
  }

  tryOut<Result>(session: Session, timeoutMillis: number, work: (run: RunStatement) => Promise<Result>): Promise<Result> {
    return tryOutOnClient(() => openClient(this.#pool), session, timeoutMillis, work);
  }

  listen(channel: string, onNotification: (payload: string | null) => void): Promise<() => Promise<void>> {
    if (!this.#listens) return Promise.resolve(async () => {});
    return this.#listener.listen(channel, onNotification);
  }

  yieldConnection(): void {
    if (!this.#listener.giveUp()) this.#connections.yieldOne();
  }

  readCaches(): readonly CacheStatistics[] {
    return this.#states.readCaches();
  }

  readStatistics(): DatabaseStatistics {
    const { batchSeconds, batchBytes } = this.#measures;
    return { pool: this.#connections.readStatistics(), batchSeconds, batchBytes };
  }

  /** Gives running work some time to finish, then cancels it, then closes its connection. Takes a few seconds at most. */
  async close(): Promise<void> {
    const isReturned = this.#connections.close();
    const steps = [
      () => this.#states.eachRun((run) => run.cancel()),
      () => this.#states.eachRun((run) => run.abort()),
      () => this.#dropAll(),
    ];
    const timers = steps.map((step, index) => setTimeout(step, closeMillis * (index + 1)));
    await isReturned;
    const ending = [this.#listener.close(), this.#ownsPool && this.#pool.end()];
    // An unresponsive server never confirms that a connection has ended.
    const isLate = new Promise((resolve) => timers.push(setTimeout(resolve, closeMillis * steps.length)));
    await Promise.race([Promise.all(ending), isLate]);
    for (const timer of timers) clearTimeout(timer);
    this.#connections.leaveBudget();
    if (this.#ownsPool) return;
    this.#states.leave();
    this.#pool.removeListener('error', this.#onPoolError);
    this.#pool.removeListener('remove', this.#onRemove);
  }

  /** Makes sure that the job stops when it must. */
  #watch(job: PgJob): void {
    job.onStop((reason) => this.#stop(job, reason));
  }

  #request(job: PgJob): void {
    job.group = new JobGroup([job], this.#pipelining);
    this.#connections.request(job.group);
  }

  /** Sends jobs together if a connection is available; otherwise each waits in the queue of its client. */
  #requestTogether(all: readonly PgJob[]): void {
    const jobs = all.filter(({ isSettled }) => !isSettled);
    if (jobs.length < 2 || this.#connections.isBusy) {
      for (const job of jobs) this.#request(job);
      return;
    }
    this.#connections.request(new JobGroup(jobs, this.#pipelining));
  }

  /** Only PostgreSQL knows whether a mutation finished in time, so its reply is awaited for as long as a cancel request takes. */
  #stop(job: PgJob, reason: StopReason): void {
    const running = job.run;
    if (running === null) {
      if (job.group !== null) this.#connections.withdraw(job.group);
      return job.stop(reason);
    }
    if (job.isRead) job.stop(reason);
    if (running.jobs.length === 1 || running.jobs.every(({ isSettled }) => isSettled)) running.run.cancel();
  }

  /**
   * Destroys the idle connections that have not replied since a time, which makes the pool notice: the network silently dropped one, so it
   * dropped the others, too.
   */
  #dropIdle(since: number): void {
    if (!this.#ownsPool) return;
    for (const client of this.#states.clients(since)) if (!this.#connections.isLent(client)) cutConnection(client);
  }

  #dropAll(): void {
    if (!this.#ownsPool) return;
    for (const client of this.#states.clients()) cutConnection(client);
  }
}

function ignore(): void {}

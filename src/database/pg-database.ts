/**
 * A `Database` over a pool of `pg` connections: each batch is one write to one connection and one reply, some together with others
 * (`pipelining.ts`). Accepts a URL, whose pool it owns, or the caller's pool, which may come from another copy of `pg`. Who gets a connection is
 * decided in `pg-connections.ts`, how an exchange ends in `pg-run.ts`; here is what is sent, and what becomes of the response.
 */
import { Deadline, type StopReason } from '../budget/deadline.ts';
import type { CacheStatistics } from '../events.ts';
import type { Batch, BatchResult, Database, Rows } from './database.ts';
import { PgConnections } from './pg-connections.ts';
import { JobGroup, PgJob } from './pg-job.ts';
import { PgListener } from './pg-listener.ts';
import { openPool, type PgPool, type PgPoolClient } from './pg-pool.ts';
import { PgRun } from './pg-run.ts';
import { Pipelining } from './pipelining.ts';
import type { JitOff } from './session-statement.ts';
import { isStalePlan, toDatabaseError } from './to-database-error.ts';
import { isPrepared } from './wire/encode-batch.ts';
import type { PgExchange } from './wire/pg-exchange.ts';
import { PreparedStatements } from './wire/prepared-statements.ts';

export interface PgDatabaseOptions {
  /** Connections of the pool that is opened for a URL. */
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
  /** Called when a connection fails while idle, or cannot be opened. */
  readonly onConnectionError?: (error: unknown) => void;
}

/** How long an internal query may take, unless it says otherwise. */
const queryTimeoutMillis = 60_000;
/** How long `close` waits before it takes the next step. */
const closeMillis = 1_000;

/** The state of a connection. */
interface ConnectionState {
  /** Null: no named prepared statements. */
  readonly prepared: PreparedStatements | null;
  jitOff: JitOff;
  /** What runs on it. */
  run: PgRun | null;
}

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
  readonly #listener: PgListener;
  readonly #connections: PgConnections<PgPoolClient, JobGroup>;
  readonly #onConnectionError: (error: unknown) => void;
  /** Null: no named prepared statements. */
  readonly #statementCacheSize: number | null;
  /** Of the connections that are open. */
  readonly #states = new Map<PgPoolClient, ConnectionState>();
  /** What closed connections have added to the statistics. */
  readonly #gone = { hits: 0, misses: 0 };
  readonly #onRemove = (client: PgPoolClient): void => this.#forget(client);
  readonly #pipelining: Pipelining<PgJob>;

  constructor(target: string | PgPool, options: PgDatabaseOptions) {
    this.#statementCacheSize = options.prepare === false ? null : (options.statementCacheSize ?? 256);
    this.#onConnectionError = options.onConnectionError ?? ignore;
    this.#ownsPool = typeof target === 'string';
    this.#pool = typeof target === 'string' ? openPool(target, options.poolSize) : target;
    this.#listener = new PgListener(() => new this.#pool.Client(this.#pool.options));
    const { queueLength = 1000, queueBytes = 64 * 1024 ** 2, queueTimeoutMillis = 10_000 } = options;
    const connectionOptions = { queueLength, queueBytes, queueTimeoutMillis, keepsIdle: this.#ownsPool, onError: this.#onConnectionError };
    this.#connections = new PgConnections(this.#pool, connectionOptions, (client, group) => this.#serve(client, group));
    this.#pipelining = new Pipelining<PgJob>(
      (jobs) => this.#requestTogether(jobs),
      () => this.#connections.countSpare(),
      (one, other) => one.isAlike(other),
    );
    // A connection that fails while idle is reported here, and would end the process if nobody listened. The pool drops it.
    this.#pool.on('error', this.#onConnectionError);
    this.#pool.on('remove', this.#onRemove);
  }

  run(batch: Batch): Promise<BatchResult> {
    return new Promise((resolve, reject) => {
      const job = PgJob.ofBatch(batch, { resolve, reject });
      // Several batches without names would all be parsed, and their pooler may have other connections for them.
      this.#watch(job);
      if (job.isSettled) return;
      if (batch.template === undefined || this.#statementCacheSize === null) this.#request(job);
      else this.#pipelining.add(batch.template, job);
    });
  }

  query(text: string, parameters?: readonly (string | null)[], timeoutMillis = queryTimeoutMillis): Promise<Rows> {
    const deadline = new Deadline(timeoutMillis);
    const answered = new Promise<Rows>((resolve, reject) => {
      // Every row of a query is text (see `PgExchange`).
      const job = PgJob.ofScript({ text, parameters }, deadline, { resolve: resolve as never, reject });
      this.#watch(job);
      this.#request(job);
    });
    return answered.finally(() => deadline.end());
  }

  listen(channel: string, onNotification: (payload: string | null) => void): Promise<() => Promise<void>> {
    return this.#listener.listen(channel, onNotification);
  }

  readCaches(): readonly CacheStatistics[] {
    if (this.#statementCacheSize === null) return [];
    let { hits, misses } = this.#gone;
    let entries = 0;
    for (const { prepared } of this.#states.values()) {
      entries += prepared?.size ?? 0;
      hits += prepared?.hits ?? 0;
      misses += prepared?.misses ?? 0;
    }
    return [{ name: 'statement', entries, hits, misses }];
  }

  /** Running work has some time to end, is then cancelled, and loses its connection if that does not help: closing takes a few seconds at most. */
  async close(): Promise<void> {
    const isReturned = this.#connections.close();
    const steps = [
      () => this.#eachRun((run) => run.cancel()),
      () => this.#eachRun((run) => run.abort()),
      () => this.#eachConnection((client) => client.connection?.stream.destroy()),
    ];
    const timers = steps.map((step, index) => setTimeout(step, closeMillis * (index + 1)));
    await isReturned;
    const ending = [this.#listener.close(), this.#ownsPool && this.#pool.end()];
    // An unresponsive server never confirms the end.
    const isLate = new Promise((resolve) => timers.push(setTimeout(resolve, closeMillis * steps.length)));
    await Promise.race([Promise.all(ending), isLate]);
    for (const timer of timers) clearTimeout(timer);
    if (this.#ownsPool) return;
    this.#pool.removeListener('error', this.#onConnectionError);
    this.#pool.removeListener('remove', this.#onRemove);
  }

  #eachRun(act: (run: PgRun) => void): void {
    for (const { run } of this.#states.values()) if (run !== null) act(run);
  }

  #eachConnection(act: (client: PgPoolClient) => void): void {
    if (this.#ownsPool) for (const client of this.#states.keys()) act(client);
  }

  /** Makes sure that the job ends when it must. */
  #watch(job: PgJob): void {
    job.onStop((reason) => this.#stop(job, reason));
  }

  #request(job: PgJob): void {
    job.group = new JobGroup([job], this.#pipelining);
    this.#connections.request(job.group);
  }

  /** Sends them together if a connection is available; otherwise each waits in the queue of its client. */
  #requestTogether(all: readonly PgJob[]): void {
    const jobs = all.filter(({ isSettled }) => !isSettled);
    if (jobs.length < 2 || this.#connections.isBusy) {
      for (const job of jobs) this.#request(job);
      return;
    }
    this.#connections.request(new JobGroup(jobs, this.#pipelining));
  }

  #serve(client: PgPoolClient, group: JobGroup): void {
    const jobs = this.#gather(client, group);
    const first = jobs[0];
    if (first === undefined) setImmediate(() => this.#connections.giveBack(client, group));
    else if (jobs.length === 1 || (this.#isPrepared(client, first) && !this.#connections.isOnSpare(group)))
      this.#send(client, group, jobs, true);
    else {
      // Nobody could tell which of several batches has failed to parse a statement; and none is to wait on a spare connection for all of the others.
      this.#send(client, group, [first], true);
      for (const job of jobs.slice(1)) this.#request(job);
    }
  }

  /** The jobs of a group that are still wanted, together with waiting jobs of the same template. */
  #gather(client: PgPoolClient, group: JobGroup): readonly PgJob[] {
    if (group.jobs.length === 1 && !this.#connections.hasWaiting && !group.jobs[0]!.isSettled) return group.jobs;
    const jobs = group.jobs.filter(({ isSettled }) => !isSettled);
    const [first] = jobs;
    const template = first?.batch?.template;
    if (template === undefined || this.#statementCacheSize === null || this.#connections.isOnSpare(group)) return jobs;
    const room = this.#pipelining.mostOf(template) - jobs.length;
    if (room <= 0 || !this.#isPrepared(client, first!)) return jobs;
    const isAlike = (other: JobGroup): boolean => other.jobs.length === 1 && first!.isAlike(other.jobs[0]!);
    for (const other of this.#connections.takeAlike(isAlike, room)) jobs.push(...other.jobs.filter(({ isSettled }) => !isSettled));
    return jobs;
  }

  #isPrepared(client: PgPoolClient, { batch }: PgJob): boolean {
    const { prepared, jitOff } = this.#stateOf(client);
    return batch !== null && prepared !== null && isPrepared(batch, prepared, jitOff);
  }

  /** Sends jobs in one write. Each batch is a transaction of its own; one that fails in company runs again, alone. */
  #send(client: PgPoolClient, group: JobGroup, jobs: readonly PgJob[], mayRetry: boolean): void {
    const state = this.#stateOf(client);
    const isOnSpare = this.#connections.isOnSpare(group);
    let bytes: Uint8Array;
    try {
      bytes =
        jobs.length === 1
          ? jobs[0]!.encode(state.prepared, state.jitOff, isOnSpare)
          : Buffer.concat(jobs.map((job) => job.encode(state.prepared, state.jitOff, isOnSpare)));
    } catch (error) {
      state.prepared?.settle(0);
      // The connection is returned in a separate turn, because whatever waits for it may fail in the same way.
      setImmediate(() => this.#connections.giveBack(client, group));
      if (jobs.length === 1) jobs[0]!.reject(toDatabaseError(error));
      else for (const job of jobs) this.#request(job);
      return;
    }
    const started = performance.now();
    let completed = 0;
    let resend: (() => void) | null = null;
    const run = new PgRun(client, bytes, jobs[0]!.replyTo(jobs.length), {
      done: (exchange) => {
        const job = jobs[completed++]!;
        job.run = null;
        if (jobs.length === 1) resend = this.#finishAlone(client, group, job, exchange, mayRetry, performance.now() - started);
        else this.#finishInCompany(jobs, completed, exchange, performance.now() - started);
        if (completed < jobs.length && jobs.slice(completed).every(({ isSettled }) => isSettled)) run.cancel();
      },
      free: (error) => {
        state.run = null;
        if (resend !== null && error === undefined) resend();
        else {
          if (resend !== null) this.#request(jobs[0]!);
          this.#connections.giveBack(client, group, error);
        }
      },
      overflow: () => {
        // The outcome of a mutation must be known.
        if (jobs[completed]!.isRead) run.abort();
        else run.cancel();
      },
      silent: () => this.#dropIdle(),
    });
    state.run = run;
    const running = { run, jobs };
    for (const job of jobs) job.run = running;
    run.start();
  }

  /** Only PostgreSQL knows whether a mutation was in time, so wait for its reply for as long as a cancel request takes. */
  #stop(job: PgJob, reason: StopReason): void {
    const running = job.run;
    if (running === null) {
      if (job.group !== null) this.#connections.withdraw(job.group);
      return job.stop(reason);
    }
    if (job.isRead || reason === 'abandoned') job.stop(reason);
    if (running.jobs.length === 1 || running.jobs.every(({ isSettled }) => isSettled)) running.run.cancel();
  }

  /** Settles the only job of an exchange. Returns how it is sent again over the same connection, where that helps. */
  #finishAlone(
    client: PgPoolClient,
    group: JobGroup,
    job: PgJob,
    exchange: PgExchange,
    mayRetry: boolean,
    millis: number,
  ): (() => void) | null {
    const state = this.#stateOf(client);
    const { error, broken, written, completed, results } = exchange;
    const { batch } = job;
    state.prepared?.settle(completed);
    if (error === null && !exchange.overflown) {
      if (batch?.session && state.jitOff === 'connection') state.jitOff = 'nowhere';
      job.resolve(results);
      if (batch?.template) this.#pipelining.note(batch.template, 1, millis);
      this.#connections.noteDone(group);
    } else if (exchange.overflown) job.reject(job.explain(exchange));
    else if (job.isSettled) return null;
    else if (mayRetry && !broken && isStalePlan(error)) {
      state.prepared?.evictAll();
      return () => this.#send(client, group, [job], false);
    } else if (broken && job.mayBeResent(written)) this.#request(job);
    else if (job.waitedTooLong(exchange)) {
      this.#connections.noteStuck(group);
      this.#request(job);
    } else job.reject(job.explain(exchange));
    return null;
  }

  #finishInCompany(jobs: readonly PgJob[], completed: number, exchange: PgExchange, millis: number): void {
    const job = jobs[completed - 1]!;
    const template = job.batch!.template!;
    const { error, broken, results, overflown } = exchange;
    if (overflown) job.reject(job.explain(exchange));
    else if (error === null) job.resolve(results);
    if (error === null && !broken) {
      if (completed === jobs.length) this.#pipelining.note(template, jobs.length, millis);
      return;
    }
    this.#pipelining.noteFailure(template);
    for (const each of broken ? jobs.slice(completed - 1) : [job]) {
      each.run = null;
      if (each.isSettled) continue;
      if (!broken || each.mayBeResent(true)) this.#request(each);
      else each.reject(each.explain(exchange));
    }
  }

  #stateOf(client: PgPoolClient): ConnectionState {
    let state = this.#states.get(client);
    if (state === undefined) {
      // The pool listens only while the client is idle; a connection that ends while we hold it must not end the process.
      client.on('error', (error) => this.#connections.noteBroken(client, error));
      const prepared = this.#statementCacheSize === null ? null : new PreparedStatements(this.#statementCacheSize);
      // Leave nothing behind on the caller's connections, nor on those that a pooler shares.
      state = { prepared, jitOff: this.#ownsPool && prepared !== null ? 'connection' : 'transaction', run: null };
      this.#states.set(client, state);
    }
    return state;
  }

  #forget(client: PgPoolClient): void {
    const prepared = this.#states.get(client)?.prepared;
    this.#gone.hits += prepared?.hits ?? 0;
    this.#gone.misses += prepared?.misses ?? 0;
    this.#states.delete(client);
  }

  /** The network silently lost a connection, so the idle ones are lost too. The pool notices that they are gone. */
  #dropIdle(): void {
    this.#eachConnection((client) => {
      if (!this.#connections.isLent(client)) client.connection?.stream.destroy();
    });
  }
}

function ignore(): void {}

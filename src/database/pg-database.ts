/**
 * A `Database` over a pool of `pg` connections: each flight is one write to one connection and one answer, some together with others
 * (`pipelining.ts`). Takes a URL, whose pool it owns, or a pool of the caller's, which may come from another copy of `pg`.
 */
import { Socket } from 'node:net';
import { Client, type ClientConfig, Pool } from 'pg';
import type { CacheStatistics } from '../events.ts';
import { type Database, DatabaseError, type Field, type Flight, type FlightResult, type Rows } from './database.ts';
import { encodeFlight, encodeScript, isPrepared } from './encode-flight.ts';
import { type ExpectedReply, PgExchange } from './pg-exchange.ts';
import { PgListener, type PgListenerClient } from './pg-listener.ts';
import { PgSocket } from './pg-socket.ts';
import { Pipelining } from './pipelining.ts';
import { PreparedStatements } from './prepared-statements.ts';
import { type JitOff, toFlightError } from './session-statement.ts';
import { isStalePlan, toDatabaseError, tooManyConnections } from './to-database-error.ts';

/** What is used of a `pg.PoolClient`. */
export interface PgPoolClient {
  query(submittable: PgExchange): unknown;
  release(error?: unknown): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** What is used of a `pg.Pool`. */
export interface PgPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { readonly max?: number };
  readonly Client: new (options: object) => PgListenerClient;
  connect(callback: (error: Error | undefined, client: PgPoolClient | undefined) => void): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'remove', listener: (client: PgPoolClient) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'remove', listener: (client: PgPoolClient) => void): unknown;
  end(): Promise<void>;
}

export interface PgDatabaseOptions {
  /** Connections of the pool that is opened for a URL. */
  readonly poolSize?: number;
  /** Whether statements are prepared by name; `false` for poolers that hand a client another connection in every transaction. */
  readonly prepare?: boolean;
  /** How many statements stay prepared on each connection. */
  readonly statementCacheSize?: number;
  /** How long a flight waits for a free connection. */
  readonly acquireTimeoutMillis?: number;
  /** Takes note of a connection that broke while nobody used it, or could not be opened. */
  readonly onConnectionError?: (error: unknown) => void;
}

/** That of `pg`. */
const defaultPoolSize = 10;
/** How long opening a connection may take. */
const connectTimeoutMillis = 5_000;

/** What is known of a connection. */
interface ConnectionState {
  /** Null: nothing is prepared by name. */
  readonly prepared: PreparedStatements | null;
  jitOff: JitOff;
}

/** What some connection is to exchange, and who waits for it. */
interface Job {
  /** Null for a query outside of flights. */
  readonly flight: Flight | null;
  readonly encode: (state: ConnectionState) => Uint8Array;
  readonly reply: ExpectedReply;
  readonly toError: (error: unknown, completed: number) => DatabaseError;
  readonly resolve: (results: Field[][]) => void;
  readonly reject: (error: DatabaseError) => void;
}

/** Opens a database on a PostgreSQL server. Nothing is connected before the first flight. */
export function openPgDatabase(target: string | PgPool, options: PgDatabaseOptions = {}): Database {
  if (typeof target !== 'string' && 'pipeline' in target.options && target.options.pipeline) {
    throw new TypeError('A pool with the option "pipeline" takes no flights of ours, which are pipelines already: leave the option away');
  }
  return new PgDatabase(target, options);
}

class PgDatabase implements Database {
  readonly #pool: PgPool;
  readonly #ownsPool: boolean;
  readonly #listener: PgListener;
  readonly #acquireTimeoutMillis: number;
  readonly #onConnectionError: (error: unknown) => void;
  /** Null: nothing is prepared by name. */
  readonly #statementCacheSize: number | null;
  /** Of the connections that are open. */
  readonly #states = new Map<PgPoolClient, ConnectionState>();
  /** What those that are gone have added to the statistics. */
  readonly #gone = { hits: 0, misses: 0 };
  readonly #onRemove = (client: PgPoolClient): void => this.#forget(client);
  readonly #pipelining = new Pipelining<Job>(
    (jobs) => this.#startTogether(jobs),
    () => this.#countSpare(),
  );

  constructor(target: string | PgPool, options: PgDatabaseOptions) {
    this.#acquireTimeoutMillis = options.acquireTimeoutMillis ?? 10_000;
    this.#statementCacheSize = options.prepare === false ? null : (options.statementCacheSize ?? 256);
    this.#onConnectionError = options.onConnectionError ?? ignore;
    this.#ownsPool = typeof target === 'string';
    this.#pool = typeof target === 'string' ? openPool(target, options.poolSize ?? defaultPoolSize, this.#acquireTimeoutMillis) : target;
    this.#listener = new PgListener(() => new this.#pool.Client(this.#pool.options));
    // A connection that dies while it is idle is reported here, and takes the process down if nobody listens. The pool drops it.
    this.#pool.on('error', this.#onConnectionError);
    this.#pool.on('remove', this.#onRemove);
  }

  run(flight: Flight): Promise<FlightResult> {
    return new Promise((resolve, reject) => {
      const reply = { flights: 1, unwanted: flight.session === null ? 0 : 1, everyRow: false };
      const encode: Job['encode'] = ({ prepared, jitOff }) => encodeFlight(flight, prepared, jitOff);
      const toError: Job['toError'] = (error, completed) => toFlightError(error, flight, completed);
      const job = { flight, encode, reply, toError, resolve, reject };
      // Several flights without names would all be parsed, and their pooler may have other connections for them.
      if (flight.template === undefined || this.#statementCacheSize === null) this.#start(job, true);
      else this.#pipelining.add(flight.template, job);
    });
  }

  query(text: string, parameters?: readonly (string | null)[]): Promise<Rows> {
    return new Promise((resolve, reject) => {
      const reply = { flights: 1, unwanted: 0, everyRow: true };
      const encode = () => (parameters ? encodeFlight({ session: null, statements: [{ text, parameters }] }, null) : encodeScript(text));
      // Every row of a query is text (see `PgExchange`).
      this.#start({ flight: null, encode, reply, toError: toDatabaseError, resolve: resolve as Job['resolve'], reject }, true);
    });
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

  async close(): Promise<void> {
    await this.#listener.close();
    if (this.#ownsPool) await this.#pool.end();
    else {
      this.#pool.removeListener('error', this.#onConnectionError);
      this.#pool.removeListener('remove', this.#onRemove);
    }
  }

  #start(job: Job, mayRetry: boolean): void {
    this.#acquire((client) => this.#exchange(client, job, mayRetry), job.reject);
  }

  /** On one connection, if that has their statements prepared: nobody could tell which of several flights has failed to parse one. */
  #startTogether(jobs: readonly Job[]): void {
    const [first, ...others] = jobs as [Job, ...Job[]];
    this.#acquire(
      (client) => {
        if (others.length > 0 && this.#isPrepared(client, first)) return this.#share(client, jobs);
        this.#exchange(client, first, true);
        for (const job of others) this.#start(job, true);
      },
      (error) => {
        for (const job of jobs) job.reject(error);
      },
    );
  }

  #isPrepared(client: PgPoolClient, { flight }: Job): boolean {
    const { prepared, jitOff } = this.#stateOf(client);
    return flight !== null && prepared !== null && isPrepared(flight, prepared, jitOff);
  }

  /** Each flight is a transaction of its own. What does not succeed here runs again, alone. */
  #share(client: PgPoolClient, jobs: readonly Job[]): void {
    const template = jobs[0]!.flight!.template!;
    const state = this.#stateOf(client);
    const started = performance.now();
    let over = 0;
    const onDone = ({ error, broken, results }: PgExchange): void => {
      const job = jobs[over++]!;
      const isLast = broken || over === jobs.length;
      if (isLast) client.release(broken ? error : undefined);
      if (error === null) job.resolve(results);
      else {
        this.#pipelining.noteFailure(template);
        this.#start(job, true);
      }
      if (broken) for (const left of jobs.slice(over)) this.#start(left, true);
      else if (isLast) this.#pipelining.note(template, jobs.length, performance.now() - started);
    };
    const bytes = Buffer.concat(jobs.map((job) => job.encode(state)));
    client.query(new PgExchange(bytes, { ...jobs[0]!.reply, flights: jobs.length }, onDone));
  }

  #exchange(client: PgPoolClient, job: Job, mayRetry: boolean): void {
    const state = this.#stateOf(client);
    const { prepared } = state;
    let bytes: Uint8Array;
    try {
      bytes = job.encode(state);
    } catch (error) {
      client.release();
      return job.reject(toDatabaseError(error));
    }
    const { flight } = job;
    const started = performance.now();
    const onDone = ({ error, broken, written, completed, results }: PgExchange): void => {
      prepared?.settle(completed);
      if (error === null) {
        if (flight?.session && state.jitOff === 'connection') state.jitOff = 'nowhere';
        client.release();
        job.resolve(results);
        if (flight?.template) this.#pipelining.note(flight.template, 1, performance.now() - started);
      } else if (mayRetry && !broken && isStalePlan(error)) {
        prepared?.evictAll();
        this.#exchange(client, job, false);
      } else {
        client.release(broken ? error : undefined);
        if (mayRetry && !written) this.#start(job, false);
        else job.reject(job.toError(error, completed));
      }
    };
    client.query(new PgExchange(bytes, job.reply, onDone));
  }

  /** How many connections more are to be at work until half of the pool is. */
  #countSpare(): number {
    const { options, totalCount, idleCount, waitingCount } = this.#pool;
    return Math.ceil((options.max ?? defaultPoolSize) / 2) - (totalCount - idleCount + waitingCount);
  }

  #stateOf(client: PgPoolClient): ConnectionState {
    let state = this.#states.get(client);
    if (state === undefined) {
      // The pool listens only while the client is idle; a connection that ends while it is ours must not end the process.
      client.on('error', ignore);
      const prepared = this.#statementCacheSize === null ? null : new PreparedStatements(this.#statementCacheSize);
      // Nothing stays behind on connections of the caller's, nor on those that a pooler hands to others.
      state = { prepared, jitOff: this.#ownsPool && prepared !== null ? 'connection' : 'transaction' };
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

  /** Checks out a connection, waiting for a bounded time. The timer costs something, so it is spared while a connection is idle. */
  #acquire(onClient: (client: PgPoolClient) => void, reject: Job['reject']): void {
    let timer: NodeJS.Timeout | undefined;
    let timedOut = false;
    if (this.#pool.idleCount <= this.#pool.waitingCount) {
      timer = setTimeout(() => {
        timedOut = true;
        reject(new DatabaseError(`No connection became free within ${this.#acquireTimeoutMillis} ms`, { sqlstate: tooManyConnections }));
      }, this.#acquireTimeoutMillis);
    }
    this.#pool.connect((error, client) => {
      clearTimeout(timer);
      if (client === undefined) {
        this.#onConnectionError(error);
        if (!timedOut) reject(toDatabaseError(error));
      } else if (timedOut) client.release();
      else onClient(client);
    });
  }
}

function openPool(connectionString: string, size: number, acquireTimeoutMillis: number): PgPool {
  // Set on the pool, it would also start a timer at each checkout.
  class PatientClient extends Client {
    constructor(options: ClientConfig) {
      super({ ...options, connectionTimeoutMillis: Math.min(connectTimeoutMillis, acquireTimeoutMillis) });
    }
  }
  const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 };
  const options = { connectionString, max: size, idleTimeoutMillis: 0, ...keepAlive, stream: openSocket as () => Socket };
  return new Pool({ ...options, Client: PatientClient as never }) as unknown as PgPool;
}

/** Node reads TLS into buffers of its own. */
function openSocket({ ssl }: { readonly ssl?: unknown }): Socket {
  return ssl ? new Socket() : new PgSocket();
}

function ignore(): void {}

/**
 * A `Database` over a pool of `pg` connections: each flight is one write to one connection and one answer. Takes a URL, whose pool it
 * owns, or a pool of the caller's, which may come from another copy of `pg`.
 */
import { Socket } from 'node:net';
import { Client, type ClientConfig, Pool } from 'pg';
import type { CacheStatistics } from '../events.ts';
import { type Database, DatabaseError, type Field, type Flight, type FlightResult, type Rows } from './database.ts';
import { encodeFlight, encodeScript } from './encode-flight.ts';
import { PgExchange } from './pg-exchange.ts';
import { PgListener, type PgListenerClient } from './pg-listener.ts';
import { PgSocket } from './pg-socket.ts';
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
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: object;
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
  readonly encode: (state: ConnectionState) => Uint8Array;
  /** Whether it switches off what `ConnectionState.jitOff` says. */
  readonly hasSession: boolean;
  readonly rows: { readonly unwanted: number; readonly every: boolean };
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

  constructor(target: string | PgPool, options: PgDatabaseOptions) {
    this.#acquireTimeoutMillis = options.acquireTimeoutMillis ?? 10_000;
    this.#statementCacheSize = options.prepare === false ? null : (options.statementCacheSize ?? 256);
    this.#onConnectionError = options.onConnectionError ?? ignore;
    this.#ownsPool = typeof target === 'string';
    this.#pool = typeof target === 'string' ? openPool(target, options.poolSize ?? 10, this.#acquireTimeoutMillis) : target;
    this.#listener = new PgListener(() => new this.#pool.Client(this.#pool.options));
    // A connection that dies while it is idle is reported here, and takes the process down if nobody listens. The pool drops it.
    this.#pool.on('error', this.#onConnectionError);
    this.#pool.on('remove', this.#onRemove);
  }

  run(flight: Flight): Promise<FlightResult> {
    return new Promise((resolve, reject) => {
      const rows = { unwanted: flight.session === null ? 0 : 1, every: false };
      const encode: Job['encode'] = ({ prepared, jitOff }) => encodeFlight(flight, prepared, jitOff);
      const toError: Job['toError'] = (error, completed) => toFlightError(error, flight, completed);
      this.#start({ encode, hasSession: flight.session !== null, rows, toError, resolve, reject }, true);
    });
  }

  query(text: string, parameters?: readonly (string | null)[]): Promise<Rows> {
    return new Promise((resolve, reject) => {
      const rows = { unwanted: 0, every: true };
      const encode = () => (parameters ? encodeFlight({ session: null, statements: [{ text, parameters }] }, null) : encodeScript(text));
      // Every row of a query is text (see `PgExchange`).
      this.#start({ encode, hasSession: false, rows, toError: toDatabaseError, resolve: resolve as Job['resolve'], reject }, true);
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
    const onDone = ({ error, broken, written, completed, results }: PgExchange): void => {
      prepared?.settle(completed);
      if (error === null) {
        if (job.hasSession && state.jitOff === 'connection') state.jitOff = 'nowhere';
        client.release();
        job.resolve(results);
      } else if (mayRetry && !broken && isStalePlan(error)) {
        prepared?.evictAll();
        this.#exchange(client, job, false);
      } else {
        client.release(broken ? error : undefined);
        if (mayRetry && !written) this.#start(job, false);
        else job.reject(job.toError(error, completed));
      }
    };
    client.query(new PgExchange(bytes, job.rows, onDone));
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

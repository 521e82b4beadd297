/**
 * A `Database` over connections of `pg`: each batch is one write to one connection and one reply; some are sent together. Accepts a URL,
 * for which it opens connections, or the caller's pool, which may come from another copy of `pg`.
 */

import { Deadline, longestTimer } from '../budget/deadline.ts';
import { settings } from '../settings/settings.ts';
import { byteBounds, type CacheStatistics, Distribution, secondBounds } from '../statistics.ts';
import type { ConnectionBudget } from './connection-budget.ts';
import { PoolConnector, UrlConnector } from './connector.ts';
import type { Batch, BatchResult, Database, DatabaseStatistics, QueryOptions, Rows, RunStatement, Session, Sessions } from './database.ts';
import { Pace } from './pace.ts';
import type { FlightContext } from './pg-flight.ts';
import { PgPool } from './pg-pool.ts';
import { PgRun, type Task } from './pg-run.ts';
import { inRolledBackTransaction, queryBatch } from './session-statement.ts';
import { openSessions } from './sessions.ts';
import { toDatabaseError, tooManyConnections } from './to-database-error.ts';
import { WatchConnection } from './watch-connection.ts';
import { type PgPool as CallersPool, type PgClient, textTypes } from './wire/pg-client.ts';

export interface PgDatabaseOptions {
  /** The most connections that are opened for a URL. Default: 10. */
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
  /** What limits this pool and others together. No further connection is then opened to watch the schema. */
  readonly budget?: ConnectionBudget;
  /** Whether another server does what this one cannot, so that nothing waits for it to come back. Default: false. */
  readonly isReplaceable?: boolean;
  /** Called when a connection fails while idle, or cannot be opened. */
  readonly onConnectionError?: (error: unknown) => void;
  /** Called when a batch is sent again because its connection was lost with this error. */
  readonly onResend?: (error: unknown) => void;
}

const queryTimeoutMillis = 60_000;
/** How much longer than PostgreSQL the client waits for a statement, in case the network is silent. */
const graceMillis = 5_000;
/** How long LISTEN may take: an unresponsive server never answers. */
const listenMillis = 5000;

/** Opens a database on a PostgreSQL server. Nothing is connected before the first batch. */
export function openPgDatabase(target: string | CallersPool, options: PgDatabaseOptions = {}): Database {
  if (typeof target !== 'string' && 'pipeline' in target.options && target.options.pipeline) {
    throw new TypeError('rowgraph pipelines statements itself and cannot use a pool with the option "pipeline". Remove the option.');
  }
  return new PgDatabase(target, options);
}

class PgDatabase implements Database {
  readonly sessions: Sessions;
  readonly #pool: PgPool;
  /** Null if the budget has no connection for it. */
  readonly #watch: WatchConnection | null;
  readonly #pace = new Pace();
  readonly #flights: FlightContext;
  readonly #prepares: boolean;
  readonly #statements = { entries: 0, hits: 0, misses: 0 };
  /** Runs that arrived in this turn of the event loop, by template: those may be sent together. */
  #arrived = new Map<object, PgRun[]>();

  constructor(target: string | CallersPool, options: PgDatabaseOptions) {
    const {
      onConnectionError = ignore,
      onResend = ignore,
      budget = null,
      isReplaceable = false,
      poolSize = settings.poolSize.default,
      prepare = true,
      statementCacheSize = settings.statementCache.default,
    } = options;
    const {
      queueLength = settings.queueLength.default,
      queueBytes = settings.queueBytes.default,
      queueTimeoutMillis = settings.queueTimeout.default,
    } = options;
    this.#prepares = prepare;
    this.#flights = {
      pace: this.#pace,
      batchSeconds: new Distribution(secondBounds),
      batchBytes: new Distribution(byteBounds),
      queueAgain: (run) => this.#request(run),
      isReplaceable,
      onResend,
    };
    const onError = (error: unknown, left: number): void => {
      // Requests need a connection more than the watch of the schema does.
      if (left === 0 && toDatabaseError(error).sqlstate === tooManyConnections) this.#watch?.giveUp();
      onConnectionError(error);
    };
    const connections = { statementCacheSize: prepare ? statementCacheSize : null, counts: this.#statements };
    const bounds = { length: queueLength, bytes: queueBytes, timeoutMillis: queueTimeoutMillis };
    this.#pool = new PgPool(
      (events) =>
        typeof target === 'string'
          ? new UrlConnector(target, poolSize, { ...connections, ...events })
          : new PoolConnector(target, { ...connections, ...events }, onConnectionError),
      { bounds, budget, pace: this.#pace, onError },
      this.#flights,
    );
    this.sessions = openSessions(this.#pool.connector);
    const runScript = (text: string, send: (run: PgRun) => void): Promise<Rows> => this.#run({ kind: 'script', text }, listenMillis, send);
    this.#watch = budget === null ? new WatchConnection(this.#pool.connector, this.#flights, runScript) : null;
  }

  run(batch: Batch): Promise<BatchResult> {
    return new Promise((resolve, reject) => {
      const run = new PgRun({ kind: 'batch', batch }, batch.deadline ?? null, this.#pace, { resolve, reject });
      // Without named statements, every batch would be parsed anew, and a pooler might distribute them over several connections.
      if (batch.template === undefined || !this.#prepares) return this.#request(run);
      if (this.#arrived.size === 0) setImmediate(() => this.#endTurn());
      const alike = this.#arrived.get(batch.template);
      if (alike === undefined) this.#arrived.set(batch.template, [run]);
      else alike.push(run);
    });
  }

  query(text: string, parameters?: readonly (string | null)[], options: QueryOptions = {}): Promise<Rows> {
    const { timeoutMillis = queryTimeoutMillis, isRepeated = false, isHeavy = false } = options;
    const task: Task =
      parameters === undefined ? { kind: 'script', text } : { kind: 'query', batch: queryBatch({ text, parameters }, isHeavy) };
    return this.#run(task, timeoutMillis, (run) => {
      if (!isRepeated || this.#watch?.take(run) !== true) this.#request(run);
    });
  }

  tryOut<Result>(session: Session, timeoutMillis: number, work: (run: RunStatement) => Promise<Result>): Promise<Result> {
    return tryOutOnClient(() => this.#pool.connector.openClient(), session, timeoutMillis, work);
  }

  listen(channel: string, onNotification: (payload: string | null) => void): Promise<() => Promise<void>> {
    return this.#watch === null ? Promise.resolve(async () => {}) : this.#watch.listen(channel, onNotification);
  }

  readCaches(): readonly CacheStatistics[] {
    return this.#prepares ? [{ name: 'statement', ...this.#statements }] : [];
  }

  readStatistics(): DatabaseStatistics {
    const { batchSeconds, batchBytes } = this.#flights;
    return { pool: this.#pool.readStatistics(), batchSeconds, batchBytes };
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#watch?.close()]);
  }

  /** Runs a task of rowgraph's own, in limited time, where `send` puts it. */
  #run(task: Task, timeoutMillis: number, send: (run: PgRun) => void): Promise<Rows> {
    const deadline = new Deadline(timeoutMillis);
    const answered = new Promise<Rows>((resolve, reject) => {
      // Every value is text (see `PgExchange`).
      send(new PgRun(task, deadline, this.#pace, { resolve: resolve as never, reject }));
    });
    return answered.finally(() => deadline.end());
  }

  #request(run: PgRun): void {
    this.#pool.add(run);
    this.#pool.dispatch();
  }

  #endTurn(): void {
    const arrived = this.#arrived;
    this.#arrived = new Map();
    for (const alike of arrived.values()) for (const run of alike) this.#pool.add(run);
    this.#pool.dispatch();
  }
}

function ignore(): void {}

/** Runs work in a transaction that is rolled back, on a connection that is closed afterwards. Rejects with `DatabaseError`. */
export async function tryOutOnClient<Result>(
  open: () => Promise<PgClient>,
  session: Session,
  timeoutMillis: number,
  work: (run: RunStatement) => Promise<Result>,
): Promise<Result> {
  const client = await open().catch((error: unknown) => Promise.reject(toDatabaseError(error)));
  const query_timeout = Math.min(timeoutMillis + graceMillis, longestTimer);
  const run: RunStatement = async (text, parameters): Promise<Rows> => {
    try {
      return (await client.query({ text, values: parameters ?? [], rowMode: 'array', types: textTypes, query_timeout })).rows;
    } catch (error) {
      throw toDatabaseError(error);
    }
  };
  try {
    return await inRolledBackTransaction(run, session, timeoutMillis, work);
  } finally {
    // Not awaited: an unresponsive server never confirms the end.
    client.end().catch(() => undefined);
  }
}

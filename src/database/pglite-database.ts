/**
 * A `Database` over PGlite, PostgreSQL in this process: it has one session, so batches run one after the other. Each batch is passed in one
 * call, as the bytes that a server would receive.
 *
 * Relies on undocumented behaviour of PGlite (`test/contracts/pglite.test.ts`): its two locks, the names of the messages of a reply, which
 * types it parses, and that it looks serializers up by type.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Deadline, startTimer } from '../budget/deadline.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { settings } from '../settings/settings.ts';
import { byteBounds, type CacheStatistics, Distribution, secondBounds } from '../statistics.ts';
import type { Batch, BatchResult, Database, DatabaseStatistics, Rows, RunStatement, Session } from './database.ts';
import { afterRollback, countLeading, inRolledBackTransaction, queryBatch, toBatchError } from './session-statement.ts';
import { closedError, isStalePlan, stopError, toDatabaseError, tooLargeError, tooManyConnections } from './to-database-error.ts';
import { encodeBatches, encodeScript } from './wire/encode-batch.ts';
import { PreparedStatements } from './wire/prepared-statements.ts';

type Row = Rows[number];

/** What this file uses of a `PGlite`. */
export interface Pglite {
  readonly waitReady: Promise<void>;
  execProtocol(message: Uint8Array, options: { throwOnError: boolean }): Promise<{ readonly messages: readonly PgliteMessage[] }>;
  listen(channel: string, callback: (payload: string) => void): Promise<() => Promise<void>>;
  isInTransaction(): boolean;
  _runExclusiveTransaction<T>(run: () => Promise<T>): Promise<T>;
  _runExclusiveQuery<T>(run: () => Promise<T>): Promise<T>;
}

type PgliteMessage = { readonly name: string; readonly fields?: unknown };

interface PgliteDatabaseOptions {
  /** How many statements stay prepared. */
  readonly statementCacheSize?: number;
  /** How long a batch waits while somebody else has a transaction open in the only session. */
  readonly queueTimeoutMillis?: number;
}

const identity = (value: unknown): unknown => value;
/**
 * The types that PGlite parses by default: bool, bytea, integers, floats, JSON, dates. Listed because PGlite copies the parsers that it is
 * given, and so cannot take a proxy for all types.
 */
export const parsedTypes = [16, 17, 20, 21, 23, 26, 114, 700, 701, 1082, 1114, 1184, 3802];
/** Options with which values stay text in both directions. */
export const pgliteTextOptions = {
  rowMode: 'array',
  parsers: Object.fromEntries(parsedTypes.map((type) => [type, identity])),
  serializers: new Proxy({}, { get: () => identity }),
} as const;

/** Interval between checks whether somebody else's transaction is over. */
const pauseMillis = 10;

/** Opens a database on the caller's PGlite; the caller closes it. */
export function openPgliteDatabase(pglite: Pglite, options: PgliteDatabaseOptions = {}): Database {
  return new PgliteDatabase(pglite, options);
}

class PgliteDatabase implements Database {
  readonly sessions = null;
  readonly #pglite: Pglite;
  readonly #prepared: PreparedStatements;
  readonly #statements = { entries: 0, hits: 0, misses: 0 };
  readonly #batchSeconds = new Distribution(secondBounds);
  readonly #batchBytes = new Distribution(byteBounds);
  readonly #queueTimeoutMillis: number;
  #isClosed = false;

  constructor(pglite: Pglite, options: PgliteDatabaseOptions) {
    this.#pglite = pglite;
    this.#prepared = new PreparedStatements(options.statementCacheSize ?? settings.statementCache.default, this.#statements);
    this.#queueTimeoutMillis = options.queueTimeoutMillis ?? settings.queueTimeout.default;
  }

  async run(batch: Batch): Promise<BatchResult> {
    return this.#exclusively(batch.deadline ?? null, async () => {
      const started = performance.now();
      if (batch.marks !== undefined) batch.marks.sent = started;
      let reply = await this.#send(batch);
      if (isStalePlan(reply.error)) {
        this.#prepared.evictAll();
        reply = await this.#send(batch);
      }
      if (reply.error && batch.session?.resetsConnection) await this.#exchange(encodeScript(afterRollback));
      if (reply.error) throw toBatchError(reply.error, batch, reply.rows.length);
      const results = reply.rows.slice(countLeading(batch)).map((rows) => rows[0] ?? []);
      const length = lengthOf(results);
      this.#batchSeconds.note((performance.now() - started) / 1000);
      this.#batchBytes.note(length);
      if (length > (batch.maxBytes ?? Infinity)) throw tooLargeError(batch, false);
      return results;
    });
  }

  async query(text: string, parameters?: readonly (string | null)[]): Promise<Rows> {
    return this.#exclusively(null, () => (parameters ? this.#runStatements(queryBatch({ text, parameters })) : this.#runScript(text)));
  }

  async tryOut<Result>(session: Session, timeoutMillis: number, work: (run: RunStatement) => Promise<Result>): Promise<Result> {
    const run: RunStatement = (text, parameters) => {
      return parameters ? this.#runStatements({ session: null, statements: [{ text, parameters }] }) : this.#runScript(text);
    };
    const { value } = await this.#exclusively(null, async () => ({
      value: await inRolledBackTransaction(run, session, timeoutMillis, work),
    }));
    return value;
  }

  async listen(channel: string, onNotification: (payload: string | null) => void): Promise<() => Promise<void>> {
    const stop = await this.#pglite.listen(channel, onNotification);
    return () => stop();
  }

  readCaches(): readonly CacheStatistics[] {
    return [{ name: 'statement', ...this.#statements }];
  }

  readStatistics(): DatabaseStatistics {
    return { pool: null, batchSeconds: this.#batchSeconds, batchBytes: this.#batchBytes };
  }

  /** The PGlite stays open: it is the caller's. */
  async close(): Promise<void> {
    this.#isClosed = true;
  }

  /** The rows of the last statement. */
  async #runStatements(batch: Batch): Promise<Rows> {
    const { error, rows } = await this.#exchange(encodeBatches([batch], null, false));
    if (error) throw toDatabaseError(error);
    return rows.at(-1) ?? [];
  }

  async #runScript(text: string): Promise<Rows> {
    const { error, rows } = await this.#exchange(encodeScript(text));
    if (error) throw toDatabaseError(error);
    return rows.flat();
  }

  async #send(batch: Batch): Promise<Reply> {
    const reply = await this.#exchange(encodeBatches([batch], this.#prepared, false));
    this.#prepared.settle(reply.rows.length);
    return reply;
  }

  async #exchange(bytes: Uint8Array): Promise<Reply> {
    const { messages } = await this.#pglite.execProtocol(bytes, { throwOnError: false });
    return readReply(messages);
  }

  /**
   * Runs alone in the session. PGlite's own `query` and `transaction` take the same two locks in this order. A transaction that is opened
   * by protocol messages (by psql through a socket) holds neither lock between its messages, so its end is polled for.
   */
  async #exclusively<T>(deadline: Deadline | null, run: () => Promise<T>): Promise<T> {
    const wait = new TurnWait(deadline, this.#queueTimeoutMillis);
    const attempt = async () => {
      if (this.#isClosed) throw closedError();
      // A turn that comes too late does nothing.
      if (wait.isOver || this.#pglite.isInTransaction()) return null;
      // PostgreSQL blocks this process while it runs, so only the wait can be cut short.
      wait.end();
      return { value: await run() };
    };
    const takeTurn = async (): Promise<T> => {
      await this.#pglite.waitReady;
      while (!wait.isOver) {
        const outcome = await this.#pglite._runExclusiveTransaction(() => this.#pglite._runExclusiveQuery(attempt));
        if (outcome) return outcome.value;
        await sleep(pauseMillis);
      }
      return wait.refused;
    };
    try {
      return await Promise.race([takeTurn(), wait.refused]);
    } catch (error) {
      throw toDatabaseError(error);
    } finally {
      wait.end();
    }
  }
}

/** The wait for a turn in the only session. */
class TurnWait {
  /** Rejects if the turn does not come in time; otherwise stays pending. */
  readonly refused: Promise<never>;
  readonly #deadline: Deadline | null;
  readonly #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(deadline: Deadline | null, timeoutMillis: number) {
    const { promise, reject } = Promise.withResolvers<never>();
    const refuse = (error: DatabaseError): void => {
      this.end();
      reject(error);
    };
    this.refused = promise;
    this.#deadline = deadline;
    this.#timer = startTimer(() => {
      refuse(new DatabaseError('Another transaction is still open', { sqlstate: tooManyConnections }));
    }, timeoutMillis);
    deadline?.onStop((reason) => refuse(stopError(reason)));
  }

  /** Whether the turn has come, or is not wanted any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#deadline?.onStop(null);
  }
}

function lengthOf(results: BatchResult): number {
  let length = 0;
  for (const row of results) for (const value of row) if (typeof value === 'string') length += Buffer.byteLength(value);
  return length;
}

interface Reply {
  readonly error: unknown;
  /** The rows of each statement that ran to its end. */
  readonly rows: readonly (readonly Row[])[];
}

function readReply(messages: readonly PgliteMessage[]): Reply {
  const results: Row[][] = [];
  let rows: Row[] = [];
  let error: unknown = null;
  for (const message of messages) {
    if (message.name === 'dataRow') rows.push(message.fields as Row);
    else if (message.name === 'commandComplete' || message.name === 'emptyQuery') {
      results.push(rows);
      rows = [];
    } else if (message.name === 'error') error ??= message;
  }
  return { error, rows: results };
}

/**
 * The state of each open connection of a pool: its prepared statements, its settings, what runs on it. In: the connections as they are used
 * and removed; out: their states, and statistics of all prepared statements, including those of closed connections.
 *
 * Relies on an undocumented field of `pg`'s Client (`test/contracts/pg.test.ts`): the process id that the server announced.
 */
import type { CacheStatistics } from '../events.ts';
import { KeptSettings } from './kept-settings.ts';
import type { PgRun } from './pg-run.ts';
import type { PgPoolClient } from './wire/pg-client.ts';
import { PreparedStatements } from './wire/prepared-statements.ts';

/** The state of a connection. */
export interface ConnectionState {
  /** Null: statements are not prepared by name. */
  readonly prepared: PreparedStatements | null;
  readonly settings: KeptSettings;
  readonly onError: (error: Error) => void;
  /** When the server last replied, in milliseconds of `performance.now()`. */
  repliedAt: number;
  /** What runs on it. */
  run: PgRun | null;
}

export class PgConnectionStates {
  /** Null: statements are not prepared by name. */
  readonly #statementCacheSize: number | null;
  readonly #keptLimit: number | null;
  readonly #onBroken: (client: PgPoolClient, error: Error) => void;
  readonly #states = new Map<PgPoolClient, ConnectionState>();
  /** The statistics of connections that are closed. */
  readonly #gone = { hits: 0, misses: 0 };

  /**
   * `keptLimit`: the time limit to leave on the connections, in milliseconds; null if no settings may remain on them, because they are the
   * caller's or a pooler's. `onBroken` is called when a connection ends while in use.
   */
  constructor(statementCacheSize: number | null, keptLimit: number | null, onBroken: (client: PgPoolClient, error: Error) => void) {
    this.#statementCacheSize = statementCacheSize;
    this.#keptLimit = keptLimit;
    this.#onBroken = onBroken;
  }

  /** Whether statements are prepared by name. */
  get prepares(): boolean {
    return this.#statementCacheSize !== null;
  }

  of(client: PgPoolClient): ConnectionState {
    let state = this.#states.get(client);
    if (state === undefined) {
      // The pool listens for errors only while a client is idle; without this listener, a connection that ends while we hold it would end
      // the process.
      const onError = (error: Error): void => this.#onBroken(client, error);
      client.on('error', onError);
      const prepared = this.#statementCacheSize === null ? null : new PreparedStatements(this.#statementCacheSize);
      const settings = new KeptSettings(this.#keptLimit === null ? null : (client.processID ?? null), this.#keptLimit ?? Infinity);
      state = { prepared, settings, onError, repliedAt: performance.now(), run: null };
      this.#states.set(client, state);
    }
    return state;
  }

  /**
   * Must be called when a connection is removed from the pool. Returns whether it had a state: `pg` may remove a connection twice, and
   * removes some that it never lent.
   */
  forget(client: PgPoolClient): boolean {
    const prepared = this.#states.get(client)?.prepared;
    this.#gone.hits += prepared?.hits ?? 0;
    this.#gone.misses += prepared?.misses ?? 0;
    return this.#states.delete(client);
  }

  /** Leaves the connections to their other users. None may be in use. */
  leave(): void {
    for (const [client, { onError }] of this.#states) client.removeListener('error', onError);
    this.#states.clear();
  }

  /** All connections, or only those on which the server has not replied since a time. */
  *clients(silentSince = Infinity): Generator<PgPoolClient> {
    for (const [client, { repliedAt }] of this.#states) if (repliedAt < silentSince) yield client;
  }

  eachRun(act: (run: PgRun) => void): void {
    for (const { run } of this.#states.values()) if (run !== null) act(run);
  }

  readCaches(): readonly CacheStatistics[] {
    if (!this.prepares) return [];
    let { hits, misses } = this.#gone;
    let entries = 0;
    for (const { prepared } of this.#states.values()) {
      entries += prepared?.size ?? 0;
      hits += prepared?.hits ?? 0;
      misses += prepared?.misses ?? 0;
    }
    return [{ name: 'statement', entries, hits, misses }];
  }
}

/**
 * Recognizes what it is given, a connection URL, a `pg` pool or a PGlite, and opens a database over it. Pools and PGlites may come from
 * another copy of their packages.
 */
import type { Observer } from '../events.ts';
import type { ConnectionBudget } from './connection-budget.ts';
import type { Database } from './database.ts';
import { openPgDatabase } from './pg-database.ts';
import { openPgliteDatabase, type Pglite } from './pglite-database.ts';
import { toDatabaseError } from './to-database-error.ts';
import type { PgPool } from './wire/pg-client.ts';

export interface OpenOptions {
  readonly poolSize?: number | undefined;
  readonly prepare?: boolean | undefined;
  /** How many prepared statements to keep per connection. */
  readonly statementCacheSize?: number | undefined;
  /** How many batches may wait for a connection, their total bytes, and how long each may wait. */
  readonly queueLength?: number | undefined;
  readonly queueBytes?: number | undefined;
  readonly queueTimeoutMillis?: number | undefined;
  /** What the pool opened for a URL shares with others. */
  readonly budget?: ConnectionBudget | undefined;
  readonly observe: Observer;
}

/** Opens a database. Throws `TypeError` for anything else. */
export function openDatabase(database: unknown, { observe, ...given }: OpenOptions): Database {
  const options = {
    ...withoutUndefined(given),
    onConnectionError: (error: unknown, isStarved: boolean) => observe({ kind: 'pool-failed', error, isStarved }),
    onResend: (error: unknown) => observe({ kind: 'batch-retried', attempt: 1, sqlstate: toDatabaseError(error).sqlstate }),
  };
  if (typeof database === 'string') return openPgDatabase(database, options);
  if (isPglite(database)) return openPgliteDatabase(database, options);
  if (isPool(database)) return openPgDatabase(database, options);
  throw new TypeError('The option "database" must be a connection URL, a pg.Pool or a PGlite.');
}

function isPglite(value: unknown): value is Pglite {
  return typeof value === 'object' && value !== null && 'execProtocol' in value && 'waitReady' in value;
}

function isPool(value: unknown): value is PgPool {
  return typeof value === 'object' && value !== null && 'connect' in value && 'idleCount' in value;
}

/** Treats an option that is undefined as absent. */
function withoutUndefined<Options extends object>(options: Options): { [Key in keyof Options]?: Exclude<Options[Key], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}

/**
 * What a program may pass in: pools and connections of `pg` and PGlite, from any copy of these packages, and whatever extends or wraps
 * them. Described by what the published types of the packages have in common, so that none of them needs to be installed. Types only.
 */

/** A `pg.Pool`. */
export interface PgPoolLike {
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: object;
  connect(callback: (error: Error | undefined, client: PgClientLike | undefined) => void): void;
  end(): Promise<void>;
}

/** A connection of `pg`: a `Client` or a `PoolClient`, but not a `Pool`, which has the same method. */
export interface PgClientLike {
  readonly idleCount?: never;
  query(config: { text: string; values: unknown[]; rowMode: 'array' }): Promise<{ readonly rows: readonly (readonly unknown[])[] }>;
}

/** A `PGlite`. */
export interface PgliteLike extends PgliteTransactionLike {
  readonly waitReady: Promise<void>;
  execProtocol(message: Uint8Array, options?: { throwOnError?: boolean }): Promise<object>;
  listen(channel: string, callback: (payload: string) => void): Promise<unknown>;
  transaction<Result>(work: (transaction: PgliteTransactionLike) => Promise<Result>): Promise<Result>;
}

/** A transaction of PGlite. */
export interface PgliteTransactionLike {
  query(text: string, parameters?: unknown[], options?: { rowMode?: 'array' }): Promise<{ readonly rows: readonly unknown[] }>;
  exec(text: string, options?: { rowMode?: 'array' }): Promise<readonly { readonly rows: readonly unknown[] }[]>;
}

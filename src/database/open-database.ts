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

interface OpenOptions {
  readonly poolSize?: number | undefined;
  readonly prepare?: boolean | undefined;
  /** How many prepared statements to keep per connection. */
  readonly statementCacheSize?: number | undefined;
  /** How many batches may wait for a connection, their total bytes, and how long each may wait. */
  readonly queueLength?: number | undefined;
  readonly queueBytes?: number | undefined;
  readonly queueTimeoutMillis?: number | undefined;
  /** As in `PgDatabaseOptions`. */
  readonly isReplaceable?: boolean | undefined;
  /** What the pool opened for a URL shares with others. */
  readonly budget?: ConnectionBudget | undefined;
  readonly observe: Observer;
}

/** Opens a database. Throws `TypeError` for anything else. */
export function openDatabase(database: unknown, { observe, ...poolOptions }: OpenOptions): Database {
  const options = {
    ...withoutUndefined(poolOptions),
    onConnectionError: (error: unknown) => observe({ kind: 'pool-failed', error }),
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

/**
 * Tells what it is given: a connection URL, a `pg` pool or a PGlite, which may come from another copy of their packages.
 */
import type { Observer } from '../events.ts';
import type { Database } from './database.ts';
import { openPgDatabase, type PgPool } from './pg-database.ts';
import { openPgliteDatabase, type PgliteLike } from './pglite-database.ts';

export interface OpenOptions {
  readonly poolSize?: number | undefined;
  readonly prepare?: boolean | undefined;
  /** How many statements stay prepared on each connection. */
  readonly statementCacheSize?: number | undefined;
  readonly observe: Observer;
}

/** Opens a database. Throws `TypeError` for anything that is none of the three. */
export function openDatabase(database: unknown, { poolSize, prepare, statementCacheSize, observe }: OpenOptions): Database {
  const statements = statementCacheSize !== undefined && { statementCacheSize };
  const options = {
    ...(poolSize !== undefined && { poolSize }),
    ...(prepare !== undefined && { prepare }),
    ...statements,
    onConnectionError: (error: unknown) => observe({ kind: 'pool-failed', error }),
  };
  if (typeof database === 'string') return openPgDatabase(database, options);
  if (isPglite(database)) return openPgliteDatabase(database, { ...statements });
  if (isPool(database)) return openPgDatabase(database, options);
  throw new TypeError('The option "database" takes a connection URL, a pg.Pool or a PGlite.');
}

function isPglite(value: unknown): value is PgliteLike {
  return typeof value === 'object' && value !== null && 'execProtocol' in value && 'waitReady' in value;
}

function isPool(value: unknown): value is PgPool {
  return typeof value === 'object' && value !== null && 'connect' in value && 'idleCount' in value;
}

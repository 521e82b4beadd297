/**
 * A `RequestDatabase` over one connection of the caller: a `pg` client, a PGlite or a transaction of PGlite, possibly from another copy of
 * their packages. Everything runs under a savepoint of the open transaction, as the connection's current role; after an error the
 * transaction is as it was before.
 */

import { DatabaseError } from '../errors/database-error.ts';
import type { Batch, BatchResult, RequestDatabase, Rows } from './database.ts';
import { pgliteTextOptions } from './pglite-database.ts';
import { querySettings } from './session-statement.ts';
import { toDatabaseError } from './to-database-error.ts';
import { isUnconnected, textTypes } from './wire/pg-client.ts';

interface Result {
  readonly rows: Rows;
}

/** What this file uses of a client of `pg`. */
export interface PgClient {
  query(config: {
    text: string;
    values: readonly unknown[];
    rowMode: 'array';
    types: typeof textTypes;
  }): Promise<Result | readonly Result[]>;
}

/** What this file uses of a PGlite or of a transaction of it. */
interface PgliteClient {
  query(text: string, parameters: readonly unknown[], options: typeof pgliteTextOptions): Promise<Result>;
  exec(text: string, options: typeof pgliteTextOptions): Promise<readonly Result[]>;
  /** Only a PGlite has this, not its transactions. */
  transaction?<T>(work: (transaction: PgliteClient) => Promise<T>): Promise<T>;
}

export type Client = PgClient | PgliteClient;

/** The last work on each client: only one request at a time may use a savepoint. */
const queues = new WeakMap<object, Promise<unknown>>();

/**
 * Opens a database on a connection of the caller, which stays open. Several databases may share it. Throws `TypeError` if it is not a
 * connection. Inside a transaction of PGlite, pass the transaction: the PGlite itself would wait for the transaction to end.
 */
export function openClientDatabase(client: unknown): RequestDatabase {
  if (!isClient(client)) throw new TypeError('Not a database connection. Pass a client of pg, a PGlite, or a transaction of a PGlite.');
  if (isPool(client))
    throw new TypeError(
      'A pool is not a database connection: its queries run on any of its connections. Pass a client of it, from "await pool.connect()".',
    );
  // Its queries would wait until it is connected.
  if (isUnconnected(client)) throw new TypeError('The client is not connected. Call "await client.connect()" first.');
  return {
    run: (batch) => exclusively(client, () => runStatements(client, batch)),
    query: (text, parameters) => exclusively(client, () => runQuery(client, text, parameters)),
  };
}

function exclusively<T>(client: Client, work: () => Promise<T>): Promise<T> {
  const result = (queues.get(client) ?? Promise.resolve()).then(work);
  queues.set(
    client,
    result.catch(() => {}),
  );
  return result;
}

async function runStatements(client: Client, { session, statements }: Batch): Promise<BatchResult> {
  if (session !== null) throw new TypeError('A connection that the caller passes in keeps its own session');
  const runOn = async (connection: Client): Promise<BatchResult> => {
    const results: BatchResult[number][] = [];
    try {
      for (const { text, parameters } of statements) results.push((await send(connection, text, parameters))[0] ?? []);
    } catch (error) {
      if (error instanceof DatabaseError && error.sqlstate !== null) error.statement = results.length;
      throw error;
    }
    return results;
  };
  if (await openSavepoint(client)) return inSavepoint(client, () => runOn(client));
  return inTransaction(client, runOn);
}

async function runQuery(client: Client, text: string, parameters: readonly (string | null)[] | undefined): Promise<Rows> {
  if (!parameters) return (await openSavepoint(client)) ? inSavepoint(client, () => send(client, text)) : send(client, text);
  const readOn = async (connection: Client): Promise<Rows> => {
    await send(connection, querySettings.text);
    return send(connection, text, parameters);
  };
  if (!(await openSavepoint(client))) return inTransaction(client, readOn);
  // A query only reads, so this undoes nothing but settings.
  return readOn(client).finally(() => undoSavepoint(client));
}

/**
 * Opens a savepoint; returns false if no transaction is open. PostgreSQL has no function that reports whether one is, but outside of one it
 * refuses a savepoint, which changes nothing.
 */
async function openSavepoint(client: Client): Promise<boolean> {
  try {
    await send(client, 'savepoint rowgraph');
    return true;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (error.sqlstate === '25P01') return false;
    if (error.sqlstate !== '25P02') throw error;
    const message =
      'The open transaction on this connection has already failed. Roll it back, or roll back to a savepoint, before you send this request.';
    throw new DatabaseError(message, { sqlstate: error.sqlstate, cause: error });
  }
}

async function inSavepoint<T>(client: Client, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    await send(client, 'release savepoint rowgraph');
    return result;
  } catch (error) {
    await undoSavepoint(client);
    throw error;
  }
}

/** If even this fails, the connection is gone, and another error says so. */
async function undoSavepoint(client: Client): Promise<void> {
  await send(client, 'rollback to savepoint rowgraph; release savepoint rowgraph').catch(() => {});
}

async function inTransaction<T>(client: Client, work: (connection: Client) => Promise<T>): Promise<T> {
  // PGlite's own `transaction` is used, because other users of the same PGlite wait for it.
  if (isPglite(client) && client.transaction) {
    return client.transaction(work).catch((error: unknown) => Promise.reject(toDatabaseError(error)));
  }
  await send(client, 'begin');
  try {
    const result = await work(client);
    await send(client, 'commit');
    return result;
  } catch (error) {
    await send(client, 'rollback').catch(() => {});
    throw error;
  }
}

async function send(client: Client, text: string, parameters?: readonly (string | null)[]): Promise<Rows> {
  try {
    if (!isPglite(client)) {
      const result = await client.query({ text, values: parameters ?? [], rowMode: 'array', types: textTypes });
      return 'rows' in result ? result.rows : result.flatMap(({ rows }) => rows);
    }
    if (parameters) return (await client.query(text, parameters, pgliteTextOptions)).rows;
    return (await client.exec(text, pgliteTextOptions)).flatMap(({ rows }) => rows);
  } catch (error) {
    throw toDatabaseError(error);
  }
}

function isClient(client: unknown): client is Client {
  return typeof client === 'object' && client !== null && 'query' in client && typeof client.query === 'function';
}

/** A pool has the method of a client, but each query may run on another connection: a transaction would be spread over several. */
function isPool(client: Client): boolean {
  return 'idleCount' in client;
}

function isPglite(client: Client): client is PgliteClient {
  return 'exec' in client;
}

/**
 * Runs work as a caller in a transaction that is always rolled back. In: how to send a statement on a connection that nobody else uses
 * meanwhile, the session, and the work; out: the result of the work, with nothing changed.
 */
import { longestTimer } from '../budget/deadline.ts';
import type { Rows, RunStatement, Session } from './database.ts';
import { afterRollback, leadingStatements, sessionStatement } from './session-statement.ts';
import { toDatabaseError } from './to-database-error.ts';
import { connectClient, type PgClient } from './wire/pg-client.ts';

/** `timeoutMillis` becomes the `statement_timeout`, unless the role's own is shorter. */
export async function inRolledBackTransaction<Result>(
  run: RunStatement,
  session: Session,
  timeoutMillis: number,
  work: (run: RunStatement) => Promise<Result>,
): Promise<Result> {
  await run('begin');
  try {
    const timeout = Math.min(timeoutMillis, session.defaults?.statementTimeout ?? Infinity, longestTimer);
    for (const { text, parameters } of [...leadingStatements(session), sessionStatement(session, Math.max(1, Math.ceil(timeout)))])
      await run(text, parameters);
    return await work(run);
  } finally {
    // If even this fails, the connection is gone, and PostgreSQL rolls back by itself.
    await run('rollback').catch((): Rows => []);
    if (session.resetsConnection) await run(afterRollback).catch((): Rows => []);
  }
}

/**
 * Opens a connection outside the pool for one task, and closes it afterwards. In: how to open a `pg.Client`, and the task; out: its result.
 */

/** Values stay text. */
const types = { getTypeParser: () => (value: unknown) => value };
/** How much longer than PostgreSQL the client waits for a statement, in case the network is silent. */
const graceMillis = 5_000;

/** Runs work in a transaction that is rolled back, on a connection that is closed afterwards. Rejects with `DatabaseError`. */
export async function tryOutOnClient<Result>(
  open: () => PgClient,
  session: Session,
  timeoutMillis: number,
  work: (run: RunStatement) => Promise<Result>,
): Promise<Result> {
  const client = open();
  const query_timeout = Math.min(timeoutMillis + graceMillis, longestTimer);
  // An error is reported through the promise of the statement that fails.
  client.on('error', () => undefined);
  const run: RunStatement = async (text, parameters): Promise<Rows> => {
    try {
      return (await client.query({ text, values: parameters ?? [], rowMode: 'array', types, query_timeout })).rows;
    } catch (error) {
      throw toDatabaseError(error);
    }
  };
  try {
    await connectClient(client).catch((error: unknown) => Promise.reject(toDatabaseError(error)));
    return await inRolledBackTransaction(run, session, timeoutMillis, work);
  } finally {
    // Not awaited: an unresponsive server never confirms the end.
    client.end().catch(() => undefined);
  }
}

/**
 * Opens a connection outside the pool for one task, and closes it afterwards. In: how to open a `pg.Client`, and the task; out: its result.
 */
import { longestTimer } from '../budget/timers.ts';
import type { Rows, RunStatement, Session } from './database.ts';
import { connectClient, type PgTaskClient } from './pg-pool.ts';
import { inRolledBackTransaction } from './rolled-back-transaction.ts';
import { toDatabaseError } from './to-database-error.ts';

/** Values stay text. */
const types = { getTypeParser: () => (value: unknown) => value };
/** How much longer than PostgreSQL the client waits for a statement, in case the network is silent. */
const graceMillis = 5_000;

/** Runs work in a transaction that is rolled back, on a connection that is closed afterwards. Rejects with `DatabaseError`. */
export async function tryOutOnClient<Result>(
  open: () => PgTaskClient,
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

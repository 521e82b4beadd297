/**
 * A connection of its own for one task outside of the pool: opened, used and closed. In: how to open a `pg.Client`, and the task; out: its result.
 */
import type { Rows, RunStatement, Session } from './database.ts';
import type { PgTaskClient } from './pg-pool.ts';
import { inRolledBackTransaction } from './rolled-back-transaction.ts';
import { toDatabaseError } from './to-database-error.ts';

/** Values stay text. */
const types = { getTypeParser: () => (value: unknown) => value };
/** How much longer than PostgreSQL the client waits for a statement: the network may have fallen silent. */
const graceMillis = 5_000;

/** Runs work in a transaction that is rolled back, on a connection that is closed behind it. Rejects with `DatabaseError`. */
export async function tryOutOnClient<Result>(
  open: (options: { readonly query_timeout: number }) => PgTaskClient,
  session: Session,
  timeoutMillis: number,
  work: (run: RunStatement) => Promise<Result>,
): Promise<Result> {
  const client = open({ query_timeout: timeoutMillis + graceMillis });
  // Whoever waits for a statement is told by its promise.
  client.on('error', () => undefined);
  const run: RunStatement = async (text, parameters): Promise<Rows> => {
    try {
      return (await client.query({ text, values: parameters ?? [], rowMode: 'array', types })).rows;
    } catch (error) {
      throw toDatabaseError(error);
    }
  };
  try {
    await client.connect().catch((error: unknown) => Promise.reject(toDatabaseError(error)));
    return await inRolledBackTransaction(run, session, timeoutMillis, work);
  } finally {
    // Not awaited: an unresponsive server never confirms the end.
    client.end().catch(() => undefined);
  }
}

/**
 * Runs work as a caller in a transaction that is always rolled back. In: how to send a statement on a connection that nobody else uses
 * meanwhile, the session, and the work; out: the result of the work, with nothing changed.
 */
import { longestTimer } from '../budget/timers.ts';
import type { Rows, RunStatement, Session } from './database.ts';
import { afterRollback, leadingStatements, sessionStatement } from './session-statement.ts';

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
    const settings = { use: 'transaction', timeout: Math.max(1, Math.ceil(timeout)) } as const;
    for (const statement of [...leadingStatements(session), sessionStatement(session, settings)])
      await run(statement.text, statement.parameters);
    return await work(run);
  } finally {
    // If even this fails, the connection is gone, and PostgreSQL rolls back by itself.
    await run('rollback').catch((): Rows => []);
    if (session.resetsConnection) await run(afterRollback).catch((): Rows => []);
  }
}

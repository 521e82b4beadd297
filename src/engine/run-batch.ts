/**
 * Runs a batch and says what went wrong in the client's terms; runs it again where concurrent transactions were in its way.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Batch, type BatchResult, type Database, DatabaseError } from '../database/database.ts';
import { staleSchemaState } from '../database/session-statement.ts';
import type { Observer } from '../events.ts';
import { StaleSchemaError } from '../freshness/stale-schema-error.ts';
import { isConflict, toApiError } from './sqlstate.ts';

/** How often a batch runs at most. */
const maxAttempts = 4;
const firstPauseMillis = 10;

/** Runs a batch. Rejects with `ApiError` or `StaleSchemaError`; nothing is changed then. */
export function runBatch(database: Database, batch: Batch, observe: Observer): Promise<BatchResult> {
  const run = (attempt: number): Promise<BatchResult> => database.run(batch).catch((error: unknown) => runAgain(error, attempt));
  const runAgain = async (error: unknown, attempt: number): Promise<BatchResult> => {
    if (!(error instanceof DatabaseError)) throw error;
    if (error.sqlstate === staleSchemaState) throw new StaleSchemaError(error);
    // In a transaction of the caller's, only the caller can begin again.
    if (batch.session === null || !isConflict(error) || attempt === maxAttempts) throw toApiError(error);
    observe({ kind: 'batch-retried', attempt, sqlstate: error.sqlstate });
    // A random pause, so that those who met do not meet again.
    await sleep(firstPauseMillis * 2 ** attempt * Math.random());
    return run(attempt + 1);
  };
  return run(1);
}

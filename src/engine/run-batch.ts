/** Runs a batch and translates its errors for the client; retries it if it conflicts with concurrent transactions. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Batch, type BatchResult, DatabaseError, type RequestDatabase } from '../database/database.ts';
import type { Observer } from '../events.ts';
import { StaleSchemaError } from '../freshness/stale-schema-error.ts';
import { isConflict, toApiError } from './sqlstate.ts';

/** The most times that a batch runs. */
const maxAttempts = 4;
const firstPauseMillis = 10;

/** Runs a batch. Rejects with `ApiError` or `StaleSchemaError`; then nothing was changed. */
export async function runBatch(database: RequestDatabase, batch: Batch, observe: Observer): Promise<BatchResult> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.run(batch);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.reason === 'stale-schema') throw new StaleSchemaError(error);
      // In the caller's own transaction, only the caller can retry.
      if (batch.session === null || !isConflict(error) || attempt === maxAttempts) throw toApiError(error);
      observe({ kind: 'batch-retried', attempt, sqlstate: error.sqlstate });
    }
    // A random pause, so that the same transactions do not conflict again.
    await sleep(firstPauseMillis * 2 ** attempt * Math.random());
  }
}

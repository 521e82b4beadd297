/**
 * Runs a flight and says what went wrong in the client's terms; runs it again where concurrent transactions were in its way.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, DatabaseError, type Flight, type FlightResult } from '../database/database.ts';
import { staleSchemaState } from '../database/session-statement.ts';
import type { Observer } from '../events.ts';
import { isConflict, toApiError } from './sqlstate.ts';

/** A flight that was compiled for a schema which is not the present one. Nothing of it ran; compiled anew, it may run again. */
export class StaleSchemaError extends Error {
  constructor(cause: DatabaseError) {
    super('The schema has changed', { cause });
    this.name = 'StaleSchemaError';
  }
}

/** How often a flight runs at most. */
const maxAttempts = 4;
const firstPauseMillis = 10;

/** Runs a flight. Rejects with `ApiError` or `StaleSchemaError`; nothing is changed then. */
export function executeFlight(database: Database, flight: Flight, observe: Observer): Promise<FlightResult> {
  const run = (attempt: number): Promise<FlightResult> => database.run(flight).catch((error: unknown) => runAgain(error, attempt));
  const runAgain = async (error: unknown, attempt: number): Promise<FlightResult> => {
    if (!(error instanceof DatabaseError)) throw error;
    if (error.sqlstate === staleSchemaState) throw new StaleSchemaError(error);
    // In a transaction of the caller's, only the caller can begin again.
    if (flight.session === null || !isConflict(error) || attempt === maxAttempts) throw toApiError(error);
    observe({ kind: 'flight-retried', attempt, sqlstate: error.sqlstate });
    // A random pause, so that those who met do not meet again.
    await sleep(firstPauseMillis * 2 ** attempt * Math.random());
    return run(attempt + 1);
  };
  return run(1);
}

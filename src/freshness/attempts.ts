/** Runs a request again on a newer schema where an outdated one may explain its failure. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Deadline, untilStopped } from '../budget/deadline.ts';
import { stopError } from '../database/to-database-error.ts';
import { ApiError } from '../errors/api-error.ts';
import type { SchemaWatch } from './schema-watch.ts';
import { hasAskedDatabase, mayBeOutdated, messageAboutMissing, StaleSchemaError } from './stale-schema.ts';
import { type Loaded, mayRepeat } from './watch-state.ts';

/** How much longer to wait each time before a statement runs again that misses an object that the schema has. */
const repeatMillis = 20;
/**
 * How long to keep recompiling a request that fails on one schema after another. A request that is merely stale, or whose statement misses
 * an object, may retry until its deadline.
 */
const patienceMillis = 10_000;

/**
 * The attempts of one request. If one fails in a way that an outdated schema may explain, and there is a newer one, there is another on
 * that: this is safe because a batch that PostgreSQL rejects changes nothing. A statement that misses an object of the current schema is
 * run again a few times.
 */
export class Attempts<Snapshot> {
  readonly #watch: SchemaWatch<Snapshot>;
  readonly #deadline: Deadline;
  readonly #began = performance.now();
  #tried: Loaded<Snapshot>;
  #number = 1;
  #repeats = 0;

  /** The request begins now. The deadline ends its waits for a newer schema. */
  constructor(watch: SchemaWatch<Snapshot>, deadline: Deadline) {
    this.#watch = watch;
    this.#deadline = deadline;
    this.#tried = watch.state.loaded;
  }

  /** The snapshot of this attempt. */
  get snapshot(): Snapshot {
    return this.#tried.snapshot;
  }

  /** Waits until there may be another attempt, and returns null; otherwise returns the error to report. */
  async failed(error: unknown): Promise<unknown> {
    // Every other error stands, whatever the deadline: it may say that the outcome of a mutation is unknown, or that it was committed.
    const missing = messageAboutMissing(error);
    const isPatient = error instanceof StaleSchemaError || missing !== null;
    const isLate = !isPatient && performance.now() > this.#began + patienceMillis;
    if (!isPatient && (!mayBeOutdated(error) || (isLate && hasAskedDatabase(error)))) return error;
    try {
      const isOutdated = await untilStopped(this.#watch.isOutdated(error, this.#tried, this.#began), this.#deadline, stopError);
      // A schema that was read while it changed may lack what was dropped and created again.
      if (isLate) return isOutdated ? conflict(error) : error;
      if (!isOutdated) {
        if (missing === null || !this.#mayRepeat(missing)) return clientError(error);
        this.#repeats += 1;
        await untilStopped(pause(this.#repeats * repeatMillis), this.#deadline, stopError);
      }
    } catch (failure) {
      return failure;
    }
    this.#watch.observe({ kind: 'batch-retried', attempt: this.#number, sqlstate: null });
    this.#number += 1;
    this.#tried = this.#watch.state.loaded;
    return null;
  }

  #mayRepeat(missing: string): boolean {
    if (mayRepeat(this.#watch.state, missing, this.#repeats)) return true;
    this.#watch.note({ kind: 'repeats failed', message: missing });
    return false;
  }
}

function clientError(error: unknown): unknown {
  return error instanceof StaleSchemaError ? conflict(error) : error;
}

function conflict(cause: unknown): ApiError {
  return new ApiError('CONFLICT', 'The schema of the database keeps changing. Try again later.', { cause });
}

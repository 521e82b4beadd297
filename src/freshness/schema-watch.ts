/**
 * Keeps a snapshot of the schema fresh: loads a new one while the old one is in use, then swaps them. With our event triggers installed,
 * each batch carries the version that it was compiled for; otherwise a fingerprint is compared every second, and before a request is
 * rejected.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { type Deadline, untilStopped } from '../budget/deadline.ts';
import { type Database, DatabaseError } from '../database/database.ts';
import { stopError } from '../database/to-database-error.ts';
import { ApiError } from '../errors.ts';
import type { Observer } from '../events.ts';
import { RequestErrors } from '../request/parse-document.ts';
import { readChangeMarker } from './read-change-marker.ts';
import { schemaChannel } from './read-versions.ts';
import { isSameStamp, readSchemaStamp, type SchemaStamp } from './schema-stamp.ts';
import { singleFlight } from './single-flight.ts';
import { StaleSchemaError } from './stale-schema-error.ts';

const fingerprintMillis = 1000;
/**
 * How many comparisons that find no change may be triggered by requests that are rejected without asking the database: this many in a row,
 * then one per pause; a change resets the count. Beyond that, invalid requests cost the database nothing.
 */
const mostFruitlessChecks = 20;
const fruitlessCheckMillis = 200;
/** How often to run a statement again if it misses an object that the schema has, and how much longer to wait each time. */
const mostRepeats = 3;
const repeatMillis = 20;
/** How many errors that persisted after all repeats to remember. */
const mostPersistent = 100;
/**
 * How long to keep recompiling a request that fails on one schema after another. A request that is merely stale may retry until its
 * deadline.
 */
const patienceMillis = 10_000;
/** Errors that may be due only to an outdated schema. */
const refusals: ReadonlySet<string> = new Set([
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'PERMISSION_DENIED',
  'UNAUTHENTICATED',
  'IDEMPOTENCY_NOT_SUPPORTED',
]);
/**
 * SQLSTATE classes of errors that an outdated schema may cause: undefined names, schemas and roles, values of a wrong type, objects that
 * vanish while PostgreSQL looks at them (XX), and a second row where a key was unique (21).
 */
const undefinedClasses: ReadonlySet<string> = new Set(['42', '3F', '0P', '21', '22', 'XX']);
/** Undefined columns, functions, tables, types and schemas; XX000 is raised for an object that is dropped between two lookups. */
const missingStates: ReadonlySet<string> = new Set(['42703', '42883', '42P01', '42704', '3F000', 'XX000']);
/** A standby's error for commands that it cannot run. */
const readOnlyState = '25006';

/**
 * Loads the snapshot that replaces `previous`. The stamp was read before. The snapshot calls `onDoubt` if it finds later that the schema
 * has changed since; then earlier comparisons no longer count.
 */
export type LoadSnapshot<Snapshot> = (stamp: SchemaStamp, previous: Snapshot | null, onDoubt: () => void) => Promise<Snapshot>;

interface Loaded<Snapshot> {
  readonly stamp: SchemaStamp;
  readonly snapshot: Snapshot;
}

interface Comparison {
  /** In milliseconds of `performance.now()`. */
  at: number;
  /** Null if there is none (`read-change-marker.ts`). */
  marker: string | null;
}

export class SchemaWatch<Snapshot> {
  readonly #database: Database;
  readonly #schemas: readonly string[];
  readonly #load: (stamp: SchemaStamp, previous: Snapshot | null) => Promise<Snapshot>;
  readonly #observe: Observer;
  #loaded: Loaded<Snapshot>;
  /** Reloads the schema if it has changed. */
  readonly #refresh = singleFlight(() => this.#loadChanged());
  /**
   * When the last comparison that found no change began, and the marker then. A comparison that leads to a load proves nothing, because the
   * schema may change again meanwhile.
   */
  readonly #compared: Comparison;
  /** How many fruitless comparisons invalid requests may still trigger, as of a time. */
  #fruitlessChecks = { left: mostFruitlessChecks, at: performance.now() };
  /** Messages of errors that repeats did not resolve on the current schema and never will: a type without an operator has none. */
  readonly #persistent = new Set<string>();
  #isForced = false;
  #isFailing = false;
  #timer: NodeJS.Timeout | null = null;
  readonly #listening = singleFlight(() => this.#listen());
  #unlisten: (() => Promise<void>) | null = null;
  #hasFailedToListen = false;
  /** A standby rejects LISTEN, which is not tried again before the next load. */
  #isListenRefused = false;
  #isStopped = false;

  private constructor(
    database: Database,
    schemas: readonly string[],
    load: (stamp: SchemaStamp, previous: Snapshot | null) => Promise<Snapshot>,
    observe: Observer,
    loaded: Loaded<Snapshot>,
    compared: Comparison,
  ) {
    this.#database = database;
    this.#schemas = schemas;
    this.#load = load;
    this.#observe = observe;
    this.#loaded = loaded;
    this.#compared = compared;
  }

  /** Loads a snapshot of these schemas and starts watching them. Rejects if it cannot be loaded. */
  static async start<Snapshot>(
    database: Database,
    schemas: readonly string[],
    load: LoadSnapshot<Snapshot>,
    observe: Observer,
  ): Promise<SchemaWatch<Snapshot>> {
    const stamp = await readSchemaStamp(database, schemas);
    const compared: Comparison = { at: -Infinity, marker: null };
    const loadIn = (read: SchemaStamp, previous: Snapshot | null): Promise<Snapshot> => {
      return load(read, previous, () => {
        compared.at = -Infinity;
        compared.marker = null;
      });
    };
    const loaded = { stamp, snapshot: await loadIn(stamp, null) };
    const watch = new SchemaWatch(database, schemas, loadIn, observe, loaded, compared);
    await watch.#listening.run();
    watch.#schedule();
    return watch;
  }

  current(): Snapshot {
    return this.#loaded.snapshot;
  }

  /**
   * Runs `use` on the current snapshot. If it fails in a way that an outdated schema may explain, and there is a newer one, runs it again
   * on that: this is safe because a batch that PostgreSQL rejects changes nothing. A statement that misses an object of the current schema
   * is run again a few times. The deadline ends the wait for a newer schema. `recover` is given the error
   * that remains; it returns a value in its place, or throws.
   */
  withCurrent<T>(deadline: Deadline, use: (snapshot: Snapshot) => Promise<T>, recover: (error: unknown) => T): Promise<T> {
    const { snapshot } = this.#loaded;
    const began = performance.now();
    return use(snapshot).catch((error: unknown) => this.#runAgain(deadline, use, snapshot, error, began).catch(recover));
  }

  async #runAgain<T>(
    deadline: Deadline,
    use: (snapshot: Snapshot) => Promise<T>,
    failedOn: Snapshot,
    failure: unknown,
    began: number,
  ): Promise<T> {
    let snapshot = failedOn;
    let error = failure;
    let repeats = 0;
    for (let attempt = 1; ; attempt += 1) {
      // Every other error stands, whatever the deadline: it may say that the outcome of a mutation is unknown, or that it was committed.
      const isStale = error instanceof StaleSchemaError;
      if (!isStale && (!mayBeOutdated(error) || performance.now() > began + patienceMillis)) throw error;
      if (!(await untilStopped(this.#isOutdated(error, snapshot, began), deadline, stopError))) {
        const missing = messageAboutMissing(error);
        if (missing === null || this.#persistent.has(missing)) throw clientError(error);
        if (repeats === mostRepeats) {
          if (this.#persistent.size < mostPersistent) this.#persistent.add(missing);
          throw clientError(error);
        }
        repeats += 1;
        await untilStopped(pause(repeats * repeatMillis), deadline, stopError);
      }
      this.#observe({ kind: 'batch-retried', attempt, sqlstate: null });
      snapshot = this.#loaded.snapshot;
      try {
        return await use(snapshot);
      } catch (again) {
        error = again;
      }
    }
  }

  /** Reloads the schema, changed or not. */
  reload(): Promise<void> {
    this.#isForced = true;
    return this.#refresh.run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    // Running work must end before its connections do.
    await this.#refresh.settled();
    await this.#listening.settled();
    await this.#unlisten?.();
  }

  async #loadChanged(): Promise<void> {
    const { snapshot, stamp: known } = this.#loaded;
    const isForced = this.#isForced;
    this.#isForced = false;
    if (this.#isStopped) return;
    const began = performance.now();
    const marker = await readChangeMarker(this.#database);
    if (!isForced && marker !== null && marker === this.#compared.marker) {
      this.#compared.at = began;
      return;
    }
    const stamp = await readSchemaStamp(this.#database, this.#schemas);
    if (!isForced && isSameStamp(stamp, known)) {
      this.#compared.at = began;
      this.#compared.marker = marker;
      return;
    }
    this.#compared.marker = null;
    this.#loaded = { stamp, snapshot: await this.#load(stamp, snapshot) };
    this.#persistent.clear();
    this.#fruitlessChecks.left = mostFruitlessChecks;
    this.#isListenRefused = false;
    // Requests wait for the new schema, but not for this.
    void this.#listening.run();
  }

  /** Whether there is a newer schema than the one that may have caused the error. */
  async #isOutdated(error: unknown, snapshot: Snapshot, began: number): Promise<boolean> {
    const isStale = error instanceof StaleSchemaError;
    // The snapshot that is being loaded may be new enough. If not, the next attempt will show that.
    if (isStale && this.#loaded.snapshot === snapshot) await this.#refresh.settled();
    if (this.#loaded.snapshot !== snapshot) return true;
    const isFree = isStale || hasAskedDatabase(error);
    // A comparison that began after the request did has seen every change that the client can know of.
    if (!isFree && (this.#compared.at >= began || !this.#hasChecksLeft())) return false;
    try {
      await this.#refresh.run();
    } catch (failure) {
      if (isStale) throw failure;
      // The database does not respond: the last known schema is good enough to reject a request.
      return false;
    }
    const isOutdated = this.#loaded.snapshot !== snapshot;
    if (!isFree && !isOutdated) this.#fruitlessChecks.left -= 1;
    return isOutdated;
  }

  #hasChecksLeft(): boolean {
    const now = performance.now();
    const { left, at } = this.#fruitlessChecks;
    this.#fruitlessChecks = { left: Math.min(mostFruitlessChecks, left + (now - at) / fruitlessCheckMillis), at: now };
    return this.#fruitlessChecks.left >= 1;
  }

  /**
   * Starts listening if the triggers are installed, which may happen at any time. Never rejects: without it, the next comparison of the
   * fingerprint finds a change. The first of several failures is reported.
   */
  async #listen(): Promise<void> {
    if (this.#loaded.stamp.version === null || this.#unlisten !== null || this.#isListenRefused || this.#isStopped) return;
    try {
      this.#unlisten = await this.#database.listen(schemaChannel, () => void this.#refreshAndReport());
      this.#hasFailedToListen = false;
    } catch (error) {
      this.#isListenRefused = error instanceof DatabaseError && error.sqlstate === readOnlyState;
      if (!this.#isListenRefused && !this.#hasFailedToListen && !this.#isStopped) this.#observe({ kind: 'listen-failed', error });
      this.#hasFailedToListen = true;
    }
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.#tick().then(() => this.#schedule()), fingerprintMillis);
    this.#timer.unref();
  }

  async #tick(): Promise<void> {
    await this.#refreshAndReport();
    if (!this.#isFailing) await this.#listening.run();
  }

  /** Nobody waits for this refresh, so the first of several failures is reported to the observer. */
  async #refreshAndReport(): Promise<void> {
    try {
      await this.#refresh.run();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !this.#isStopped) this.#observe({ kind: 'schema-load-failed', error });
      this.#isFailing = true;
    }
  }
}

function mayBeOutdated(error: unknown): boolean {
  if (error instanceof RequestErrors) return true;
  if (!(error instanceof ApiError)) return false;
  const { sqlstate } = error.details;
  return refusals.has(error.code) || (typeof sqlstate === 'string' && undefinedClasses.has(sqlstate.slice(0, 2)));
}

/** Whether PostgreSQL itself rejected a request, which has then already cost it something. */
function hasAskedDatabase(error: unknown): boolean {
  return error instanceof ApiError && typeof error.details.sqlstate === 'string';
}

/**
 * The message of an error about a missing object, if one of our statements raised it and not a function that it calls; null for other
 * errors. If the schema is current nevertheless, the connection's backend has not yet heard of a change that others already see: PostgreSQL
 * announces changes after the commit.
 */
function messageAboutMissing(error: unknown): string | null {
  if (!(error instanceof ApiError && error.cause instanceof DatabaseError)) return null;
  const { sqlstate, context, message } = error.cause;
  return sqlstate !== null && missingStates.has(sqlstate) && context === undefined ? message : null;
}

function clientError(error: unknown): unknown {
  if (!(error instanceof StaleSchemaError)) return error;
  return new ApiError('CONFLICT', 'The schema of the database keeps changing. Try again later.', { cause: error });
}

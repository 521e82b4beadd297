/**
 * Keeps a snapshot of the schema fresh: loads a new one while the old one is in use, then swaps them. With our event triggers installed,
 * each batch carries the version that it was compiled for; otherwise a fingerprint is compared every second, and before a request is
 * rejected.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { type Deadline, untilStopped } from '../budget/deadline.ts';
import type { Database } from '../database/database.ts';
import { stopError } from '../database/to-database-error.ts';
import { ApiError } from '../errors/api-error.ts';
import { DatabaseError } from '../errors/database-error.ts';
import type { Observer } from '../events.ts';
import { readChangeMarker } from './fingerprint.ts';
import { singleFlight } from './single-flight.ts';
import { hasAskedDatabase, mayBeOutdated, messageAboutMissing, StaleSchemaError, SuspectTableError } from './stale-schema.ts';
import {
  changesBetween,
  isSameStamp,
  readSchemaStamp,
  readVersions,
  type SchemaChange,
  type SchemaStamp,
  schemaChannel,
} from './versions.ts';

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
 * How long to keep recompiling a request that fails on one schema after another. A request that is merely stale, or whose statement misses an
 * object, may retry until its deadline.
 */
const patienceMillis = 10_000;
/** A standby's error for commands that it cannot run. */
const readOnlyState = '25006';

/**
 * Loads the snapshot that replaces `previous`. The stamp was read before. The snapshot calls `onDoubt` if it finds later that the schema
 * has changed since; then earlier comparisons no longer count.
 */
export type LoadSnapshot<Snapshot> = (stamp: SchemaStamp, previous: Snapshot | null, onDoubt: () => void) => Promise<Snapshot>;

/** Moves snapshots on to newer schema versions without loading them again. */
export interface VersionAdoption<Snapshot> {
  /** These are all changes since. Returns how many tables need a newer snapshot; null if all do, and the version stays. */
  adopt(snapshot: Snapshot, version: string, changes: readonly SchemaChange[]): number | null;
  /** The fingerprint has not changed since. Returns whether that proves that the snapshot is still valid; if not, the version stays. */
  adoptUnchanged(snapshot: Snapshot, version: string, changes: readonly SchemaChange[]): boolean;
}

const neverAdopts: VersionAdoption<unknown> = { adopt: () => null, adoptUnchanged: () => false };

/** A snapshot with the stamp at which it is valid. Replaced as a whole whenever one of them changes. */
interface Loaded<Snapshot> {
  readonly stamp: SchemaStamp;
  readonly snapshot: Snapshot;
  /** How many of its tables have changed since. */
  readonly doubtful: number;
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
  readonly #adoption: VersionAdoption<Snapshot>;
  readonly #observe: Observer;
  #loaded: Loaded<Snapshot>;
  /** Takes note of a newer version, which takes a millisecond or two. */
  readonly #adopting = singleFlight(() => this.#adopt());
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
  /** Whether the database had a newer version when it was last read than that of the snapshot. */
  #isBehind = false;
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
    adoption: VersionAdoption<Snapshot>,
    observe: Observer,
    loaded: Loaded<Snapshot>,
    compared: Comparison,
  ) {
    this.#database = database;
    this.#schemas = schemas;
    this.#load = load;
    this.#adoption = adoption;
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
    adoption: VersionAdoption<Snapshot> = neverAdopts,
  ): Promise<SchemaWatch<Snapshot>> {
    const stamp = await readSchemaStamp(database, schemas);
    const compared: Comparison = { at: -Infinity, marker: null };
    const loadIn = (read: SchemaStamp, previous: Snapshot | null): Promise<Snapshot> => {
      return load(read, previous, () => {
        compared.at = -Infinity;
        compared.marker = null;
      });
    };
    const loaded = { stamp, snapshot: await loadIn(stamp, null), doubtful: 0 };
    const watch = new SchemaWatch(database, schemas, loadIn, adoption, observe, loaded, compared);
    await watch.#listening.run();
    watch.#schedule();
    return watch;
  }

  current(): Snapshot {
    return this.#loaded.snapshot;
  }

  /** The attempts of one request, which begins now. The deadline ends the wait for a newer schema. */
  begin(deadline: Deadline): Attempts<Snapshot> {
    return new Attempts(this, deadline, this.#observe);
  }

  /** The snapshot to try next. */
  get loaded(): Loaded<Snapshot> {
    return this.#loaded;
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
    await this.#adopting.settled();
    await this.#refresh.settled();
    await this.#listening.settled();
    await this.#unlisten?.();
  }

  async #loadChanged(): Promise<void> {
    const before = this.#loaded;
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
    if (!isForced && this.#isUnchanged(stamp, before)) {
      this.#compared.at = began;
      this.#compared.marker = marker;
      return;
    }
    this.#compared.marker = null;
    this.#loaded = { stamp, snapshot: await this.#load(stamp, before.snapshot), doubtful: 0 };
    this.#persistent.clear();
    this.#fruitlessChecks.left = mostFruitlessChecks;
    this.#isListenRefused = false;
    // Requests wait for the new schema, but not for this.
    void this.#listening.run();
  }

  /** Whether the schema is still that of the snapshot. If its version has moved, the snapshot moves with it. */
  #isUnchanged(stamp: SchemaStamp, before: Loaded<Snapshot>): boolean {
    if (isSameStamp(stamp, before.stamp) && before.doubtful === 0) return true;
    if (stamp.version === null || stamp.fingerprint !== before.stamp.fingerprint) return false;
    const changes = changesBetween(before.stamp, stamp);
    // The snapshot may have moved further meanwhile. Then it moves back, and does so again when the next request asks.
    if (changes === null || !this.#adoption.adoptUnchanged(before.snapshot, stamp.version, changes)) return false;
    this.#loaded = { ...before, stamp, doubtful: 0 };
    return true;
  }

  async #adopt(): Promise<void> {
    if (this.#isStopped) return;
    this.#isBehind = true;
    const versions = await readVersions(this.#database);
    const { snapshot, stamp } = this.#loaded;
    const { version } = versions;
    if (version !== null && version !== stamp.version) {
      const changes = changesBetween(stamp, versions);
      const doubtful = changes === null ? null : this.#adoption.adopt(snapshot, version, changes);
      if (doubtful !== null) this.#loaded = { snapshot, stamp: { ...stamp, ...versions }, doubtful };
    }
    this.#isBehind = version !== this.#loaded.stamp.version;
  }

  /** Whether there is a newer schema than the one that may have caused the error, or a newer version of it. */
  async isOutdated(error: unknown, tried: Loaded<Snapshot>, began: number): Promise<boolean> {
    const { snapshot } = tried;
    const isStale = error instanceof StaleSchemaError;
    if (isStale && !(error instanceof SuspectTableError)) {
      if (this.#loaded === tried) await this.#adopting.run();
      if (this.#loaded !== tried) return true;
    }
    // The snapshot that is being loaded may be new enough. If not, the next attempt will show that.
    if (isStale && this.#loaded === tried) await this.#refresh.settled();
    if (isStale ? this.#loaded !== tried : this.#loaded.snapshot !== snapshot) return true;
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
    const isOutdated = isStale ? this.#loaded !== tried : this.#loaded.snapshot !== snapshot;
    if (!isFree && !isOutdated) this.#fruitlessChecks.left -= 1;
    return isOutdated;
  }

  /** Whether to repeat a statement that misses an object of the current schema. */
  mayRepeat(message: string, repeats: number): boolean {
    if (this.#persistent.has(message)) return false;
    if (repeats < mostRepeats) return true;
    if (this.#persistent.size < mostPersistent) this.#persistent.add(message);
    return false;
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
      this.#unlisten = await this.#database.listen(schemaChannel, () => void this.#notice());
      this.#hasFailedToListen = false;
    } catch (error) {
      this.#isListenRefused = error instanceof DatabaseError && error.sqlstate === readOnlyState;
      if (!this.#isListenRefused && !this.#hasFailedToListen && !this.#isStopped) this.#observe({ kind: 'listen-failed', error });
      this.#hasFailedToListen = true;
    }
  }

  /** PostgreSQL has notified of a newer version: loads the schema if that matters. */
  async #notice(): Promise<void> {
    // If the version cannot be read, the refresh reports it.
    await this.#adopting.run().catch(() => {});
    if (this.#isBehind || this.#loaded.doubtful > 0) await this.#refreshAndReport();
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

/**
 * The attempts of one request. If one fails in a way that an outdated schema may explain, and there is a newer one, there is another on that:
 * this is safe because a batch that PostgreSQL rejects changes nothing. A statement that misses an object of the current schema is run again a
 * few times.
 */
export class Attempts<Snapshot> {
  readonly #watch: SchemaWatch<Snapshot>;
  readonly #deadline: Deadline;
  readonly #observe: Observer;
  readonly #began = performance.now();
  #tried: Loaded<Snapshot>;
  #number = 1;
  #repeats = 0;

  constructor(watch: SchemaWatch<Snapshot>, deadline: Deadline, observe: Observer) {
    this.#watch = watch;
    this.#deadline = deadline;
    this.#observe = observe;
    this.#tried = watch.loaded;
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
    if (!isPatient && (!mayBeOutdated(error) || performance.now() > this.#began + patienceMillis)) return error;
    try {
      if (!(await untilStopped(this.#watch.isOutdated(error, this.#tried, this.#began), this.#deadline, stopError))) {
        if (missing === null || !this.#watch.mayRepeat(missing, this.#repeats)) return clientError(error);
        this.#repeats += 1;
        await untilStopped(pause(this.#repeats * repeatMillis), this.#deadline, stopError);
      }
    } catch (failure) {
      return failure;
    }
    this.#observe({ kind: 'batch-retried', attempt: this.#number, sqlstate: null });
    this.#number += 1;
    this.#tried = this.#watch.loaded;
    return null;
  }
}

function clientError(error: unknown): unknown {
  if (!(error instanceof StaleSchemaError)) return error;
  return new ApiError('CONFLICT', 'The schema of the database keeps changing. Try again later.', { cause: error });
}

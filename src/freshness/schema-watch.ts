/**
 * Keeps a snapshot of the schema fresh: loads another beside the old one and swaps it whole. Where our event triggers are installed each
 * batch carries the version it was compiled for; elsewhere a fingerprint is compared every second, and before a request is refused.
 */

import { type Deadline, untilStopped } from '../budget/deadline.ts';
import type { Database } from '../database/database.ts';
import { stopError } from '../database/to-database-error.ts';
import { ApiError } from '../errors.ts';
import type { Observer } from '../events.ts';
import { RequestErrors } from '../request/parse-document.ts';
import { readStamp, type SchemaStamp } from './schema-stamp.ts';
import { schemaChannel } from './schema-triggers.ts';
import { singleFlight } from './single-flight.ts';
import { StaleSchemaError } from './stale-schema-error.ts';

const fingerprintMillis = 1000;
/**
 * How often requests that are refused without asking the database may have the schema compared in vain: so many times in a row, then once in a
 * pause, and anew after every change that is found. An invalid request costs the database nothing more.
 */
const mostVainChecks = 20;
const vainCheckMillis = 200;
/** How long a request is compiled anew because the schema keeps changing under it. */
const patienceMillis = 10_000;
/** What a request may be refused with only because of the schema that it was compiled for. */
const refusals: ReadonlySet<string> = new Set(['GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT', 'PERMISSION_DENIED', 'UNAUTHENTICATED']);
/**
 * Classes of SQLSTATE of what is undefined, or not what it was: names, schemas and roles, values that are none of their type, and what
 * vanishes while PostgreSQL looks at it; 21 is a second row where a key was unique.
 */
const undefinedClasses: ReadonlySet<string> = new Set(['42', '3F', '0P', '21', '22', 'XX']);

/** Loads the snapshot that takes the place of `previous`. The stamp was read before. */
export type LoadSnapshot<Snapshot> = (stamp: SchemaStamp, previous: Snapshot | null) => Promise<Snapshot>;

interface Loaded<Snapshot> {
  readonly stamp: SchemaStamp;
  readonly snapshot: Snapshot;
}

export class SchemaWatch<Snapshot> {
  readonly #database: Database;
  readonly #schemas: readonly string[];
  readonly #load: LoadSnapshot<Snapshot>;
  readonly #observe: Observer;
  #loaded: Loaded<Snapshot>;
  /** Reads the schema anew where it is not what it was. */
  readonly #refresh = singleFlight(() => this.#loadChanged());
  /** When the last comparison with the database began that is over. */
  #comparedAt = -Infinity;
  /** How many comparisons in vain invalid requests may ask for, as of a time. */
  #vainChecks = { left: mostVainChecks, at: performance.now() };
  #isForced = false;
  #isFailing = false;
  #timer: NodeJS.Timeout | null = null;
  #unlisten: (() => Promise<void>) | null = null;
  #isStopped = false;

  private constructor(
    database: Database,
    schemas: readonly string[],
    load: LoadSnapshot<Snapshot>,
    observe: Observer,
    loaded: Loaded<Snapshot>,
  ) {
    this.#database = database;
    this.#schemas = schemas;
    this.#load = load;
    this.#observe = observe;
    this.#loaded = loaded;
  }

  /** Loads a snapshot of these schemas and begins to watch them. Rejects where it cannot be loaded. */
  static async start<Snapshot>(
    database: Database,
    schemas: readonly string[],
    load: LoadSnapshot<Snapshot>,
    observe: Observer,
  ): Promise<SchemaWatch<Snapshot>> {
    const stamp = await readStamp(database, schemas);
    const watch = new SchemaWatch(database, schemas, load, observe, { stamp, snapshot: await load(stamp, null) });
    await watch.#listen();
    watch.#schedule();
    return watch;
  }

  current(): Snapshot {
    return this.#loaded.snapshot;
  }

  /**
   * Runs `use` on the current snapshot. Where it fails in a way that a newer schema may explain, and there is one, it runs again on that:
   * nothing has been changed by then, since a batch that PostgreSQL refuses changes nothing. The deadline ends waiting for a newer schema.
   */
  withCurrent<T>(deadline: Deadline, use: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const { snapshot } = this.#loaded;
    const began = performance.now();
    return use(snapshot).catch((error: unknown) => this.#runAgain(deadline, use, snapshot, error, began));
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
    for (let attempt = 1; ; attempt += 1) {
      const isOver = performance.now() > began + patienceMillis;
      if (isOver || !(await untilStopped(this.#isOutdated(error, snapshot, began), deadline, stopError))) throw clientError(error);
      this.#observe({ kind: 'batch-retried', attempt, sqlstate: null });
      snapshot = this.#loaded.snapshot;
      try {
        return await use(snapshot);
      } catch (again) {
        error = again;
      }
    }
  }

  /** Reads the schema anew, changed or not. */
  reload(): Promise<void> {
    this.#isForced = true;
    return this.#refresh.run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#unlisten?.();
    // What is under way has to end before its connections do.
    await this.#refresh.settled();
  }

  async #loadChanged(): Promise<void> {
    const { snapshot, stamp: known } = this.#loaded;
    const isForced = this.#isForced;
    this.#isForced = false;
    if (this.#isStopped) return;
    const began = performance.now();
    const stamp = await readStamp(this.#database, this.#schemas);
    this.#comparedAt = began;
    if (!isForced && stamp.version === known.version && stamp.fingerprint === known.fingerprint) return;
    this.#loaded = { stamp, snapshot: await this.#load(stamp, snapshot) };
    this.#vainChecks.left = mostVainChecks;
    await this.#listen();
  }

  /** Whether the error may be due to an old schema, and a newer one is loaded. */
  async #isOutdated(error: unknown, snapshot: Snapshot, began: number): Promise<boolean> {
    const isStale = error instanceof StaleSchemaError;
    if (!isStale && !mayBeOutdated(error)) return false;
    // What is being loaded may be new enough. If not, the next attempt will tell.
    if (isStale && this.#loaded.snapshot === snapshot) await this.#refresh.settled();
    if (this.#loaded.snapshot !== snapshot) return true;
    const isFree = isStale || hasAskedDatabase(error);
    // A comparison that began after the request did would have seen all that its client can know of.
    if (!isFree && (this.#comparedAt >= began || !this.#mayCheckInVain())) return false;
    try {
      await this.#refresh.run();
    } catch (failure) {
      if (isStale) throw failure;
      // The database does not answer: what was known before it went is good enough to refuse a request.
      return false;
    }
    const isOutdated = this.#loaded.snapshot !== snapshot;
    if (!isFree && !isOutdated) this.#vainChecks.left -= 1;
    return isOutdated;
  }

  #mayCheckInVain(): boolean {
    const now = performance.now();
    const { left, at } = this.#vainChecks;
    this.#vainChecks = { left: Math.min(mostVainChecks, left + (now - at) / vainCheckMillis), at: now };
    return this.#vainChecks.left >= 1;
  }

  /** Begins to listen where there is something to hear: the triggers may be installed at any time. */
  async #listen(): Promise<void> {
    if (this.#loaded.stamp.version === null || this.#unlisten !== null || this.#isStopped) return;
    this.#unlisten = await this.#database.listen(schemaChannel, () => void this.#refreshAndTell());
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.#refreshAndTell().then(() => this.#schedule()), fingerprintMillis);
    this.#timer.unref();
  }

  /** Nobody waits for it, so that a failure is told to the observer: the first of several. */
  async #refreshAndTell(): Promise<void> {
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

/** Whether PostgreSQL itself has refused a request, which cost it something already. */
function hasAskedDatabase(error: unknown): boolean {
  return error instanceof ApiError && typeof error.details.sqlstate === 'string';
}

function clientError(error: unknown): unknown {
  if (!(error instanceof StaleSchemaError)) return error;
  return new ApiError('CONFLICT', 'The schema of the database keeps changing. Try again later.', { cause: error });
}

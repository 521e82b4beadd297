/**
 * Keeps a snapshot of the schema fresh: loads a new one while the old one is in use, then swaps them. With our event triggers installed,
 * each batch carries the version that it was compiled for; otherwise a fingerprint is compared every second, and before a request is
 * rejected. `watch-state.ts` decides; here is the work.
 */
import { singleFlight } from '../budget/single-flight.ts';
import type { Database } from '../database/database.ts';
import { DatabaseError } from '../errors/database-error.ts';
import type { Observer } from '../events.ts';
import { type RoleState, readChangeMarker, readRoles } from './fingerprint.ts';
import { hasAskedDatabase, StaleSchemaError, SuspectTableError } from './stale-schema.ts';
import { changesBetween, readSchemaStamp, readVersions, type SchemaChange, type SchemaStamp, schemaChannel } from './versions.ts';
import {
  initialState,
  isUnchanged,
  type Loaded,
  mayCompare,
  provesNoChange,
  reduce,
  shouldListen,
  type WatchEvent,
  type WatchState,
} from './watch-state.ts';

const intervalMillis = 1000;
/** A standby's error for commands that it cannot run. */
const readOnlyState = '25006';

/** How snapshots are loaded and move on. */
export interface SnapshotLoader<Snapshot> {
  /**
   * Loads the snapshot that replaces `previous`. The stamp was read before. The snapshot calls `onDoubt` if it finds later that the schema
   * has changed since; then earlier comparisons no longer count.
   */
  load(stamp: SchemaStamp, previous: Snapshot | null, onDoubt: () => void): Promise<Snapshot>;
  /** These are all changes since. Returns how many tables need a newer snapshot; null if all do, and the version stays. */
  adopt?(snapshot: Snapshot, version: string, changes: readonly SchemaChange[]): number | null;
  /** The fingerprint has not changed since. Returns whether that proves that the snapshot is still valid; if not, the version stays. */
  adoptUnchanged?(snapshot: Snapshot, version: string, changes: readonly SchemaChange[]): boolean;
  /** Roles or memberships may have changed. It is called again after a second if it rejects. */
  checkRoles?(snapshot: Snapshot): Promise<void>;
}

export class SchemaWatch<Snapshot> {
  readonly #database: Database;
  readonly #schemas: readonly string[];
  readonly #loader: SnapshotLoader<Snapshot>;
  readonly observe: Observer;
  #state: WatchState<Snapshot>;
  /** Takes note of a newer version, which takes a millisecond or two. */
  readonly #adopting = singleFlight(() => this.#adopt());
  /** Reloads the schema if it has changed. */
  readonly #refreshing = singleFlight(() => this.#refresh());
  readonly #listening = singleFlight(() => this.#listen());
  /**
   * Looks for roles that became privileged, apart from the schema: loading one may take longer than such a role may go unnoticed, and
   * PostgreSQL fires no event triggers for roles.
   */
  readonly #checkingRoles = singleFlight(() => this.#checkRoles());
  #roles: RoleState = { marker: null, hash: null, writes: null };
  #timer: NodeJS.Timeout | null = null;
  #unlisten: (() => Promise<void>) | null = null;
  /**
   * Called when there is another snapshot, when tables of this one have changed, when roles or memberships have, and when what was changed may
   * have been undone before anybody looked.
   */
  onChange: (() => void) | null = null;

  private constructor(
    database: Database,
    schemas: readonly string[],
    loader: SnapshotLoader<Snapshot>,
    observe: Observer,
    loaded: Loaded<Snapshot>,
  ) {
    this.#database = database;
    this.#schemas = schemas;
    this.#loader = loader;
    this.observe = observe;
    this.#state = initialState(loaded, performance.now());
  }

  /** Loads a snapshot of these schemas and starts watching them. Rejects if it cannot be loaded. */
  static async start<Snapshot>(
    database: Database,
    schemas: readonly string[],
    loader: SnapshotLoader<Snapshot>,
    observe: Observer,
  ): Promise<SchemaWatch<Snapshot>> {
    const stamp = await readSchemaStamp(database, schemas);
    // A comparison is needed anyway: there has been none.
    const onDoubt = (): void => watch?.note({ kind: 'doubted' });
    let watch: SchemaWatch<Snapshot> | undefined;
    const snapshot = await loader.load(stamp, null, onDoubt);
    watch = new SchemaWatch(database, schemas, loader, observe, { stamp, snapshot, doubtful: 0 });
    if (shouldListen(watch.state)) await watch.#listening.run();
    watch.#timer = setInterval(() => watch.#tick(), intervalMillis).unref();
    return watch;
  }

  get state(): WatchState<Snapshot> {
    return this.#state;
  }

  current(): Snapshot {
    return this.#state.loaded.snapshot;
  }

  /** Reloads the schema, changed or not. */
  reload(): Promise<void> {
    this.note({ kind: 'reload asked' });
    return this.#refreshing.run();
  }

  async stop(): Promise<void> {
    this.note({ kind: 'stopped' });
    if (this.#timer) clearInterval(this.#timer);
    // Running work must end before its connections do.
    await Promise.all([this.#adopting, this.#refreshing, this.#listening, this.#checkingRoles].map((work) => work.settled()));
    await this.#unlisten?.();
  }

  /** Takes note of what has happened, and does what follows. */
  note(event: WatchEvent<Snapshot>): void {
    const { state, actions } = reduce(this.#state, event);
    const { loaded } = this.#state;
    const isOther = state.loaded.snapshot !== loaded.snapshot || (state.loaded !== loaded && state.loaded.doubtful > 0);
    this.#state = state;
    if (isOther) this.onChange?.();
    for (const action of actions) {
      // Nobody waits for this. It never rejects.
      if (action === 'listen') void this.#listening.run();
      else this.observe(action);
    }
  }

  #tick(): void {
    // Failures are noted where they happen. If the roles cannot be read, neither can the schema.
    if (!this.#refreshing.isRunning()) this.#refreshing.run().catch(() => {});
    if (!this.#checkingRoles.isRunning()) this.#checkingRoles.run().catch(() => {});
  }

  async #refresh(): Promise<void> {
    try {
      if (!this.#state.isStopped) await this.#loadChanged();
    } catch (error) {
      this.note({ kind: 'refresh failed', error });
      throw error;
    }
  }

  async #loadChanged(): Promise<void> {
    const before = this.#state;
    this.note({ kind: 'refresh began' });
    const began = performance.now();
    const marker = await readChangeMarker(this.#database);
    // The snapshot may move on meanwhile.
    if (provesNoChange(before, marker)) {
      this.note({ kind: 'unchanged', loaded: this.#state.loaded, compared: { at: began, marker } });
      return;
    }
    const stamp = await readSchemaStamp(this.#database, this.#schemas);
    const loaded = before.isForced ? null : this.#keepLoaded(before, stamp);
    if (loaded !== null) {
      this.note({ kind: 'unchanged', loaded, compared: { at: began, marker } });
      return;
    }
    const onDoubt = (): void => this.note({ kind: 'doubted' });
    const snapshot = await this.#loader.load(stamp, before.loaded.snapshot, onDoubt);
    this.note({ kind: 'changed', loaded: { stamp, snapshot, doubtful: 0 } });
  }

  /** The snapshot if the schema is still the same. If only its version has moved, the snapshot moves with it. */
  #keepLoaded(before: WatchState<Snapshot>, stamp: SchemaStamp): Loaded<Snapshot> | null {
    if (isUnchanged(before, stamp)) return this.#state.loaded;
    const { loaded } = before;
    if (stamp.version === null || stamp.fingerprint !== loaded.stamp.fingerprint) return null;
    const changes = changesBetween(loaded.stamp, stamp);
    // The snapshot may have moved further meanwhile. Then it moves back, and does so again when the next request asks.
    if (changes === null || !this.#loader.adoptUnchanged?.(loaded.snapshot, stamp.version, changes)) return null;
    return { ...loaded, stamp, doubtful: 0 };
  }

  async #adopt(): Promise<void> {
    if (this.#state.isStopped) return;
    this.note({ kind: 'version moved' });
    const versions = await readVersions(this.#database);
    const { snapshot, stamp } = this.#state.loaded;
    const { version } = versions;
    const changes = version === null || version === stamp.version ? null : changesBetween(stamp, versions);
    const doubtful = version !== null && changes !== null ? (this.#loader.adopt?.(snapshot, version, changes) ?? null) : null;
    const loaded = doubtful === null ? null : { snapshot, stamp: { ...stamp, ...versions }, doubtful };
    this.note({ kind: 'versions read', versions, loaded });
  }

  /** Whether there is a newer schema than the one that may have caused the error, or a newer version of it. */
  async isOutdated(error: unknown, tried: Loaded<Snapshot>, began: number): Promise<boolean> {
    const isStale = error instanceof StaleSchemaError;
    const isNewer = (): boolean => (isStale ? this.#state.loaded !== tried : this.#state.loaded.snapshot !== tried.snapshot);
    if (isStale && !(error instanceof SuspectTableError)) {
      if (!isNewer()) await this.#adopting.run();
      if (isNewer()) return true;
    }
    // The snapshot that is being loaded may be new enough. If not, the next attempt will show that.
    if (isStale && !isNewer()) await this.#refreshing.settled();
    if (isNewer()) return true;
    const isFree = isStale || hasAskedDatabase(error);
    if (!isFree && !mayCompare(this.#state, began, performance.now())) return false;
    try {
      await this.#refreshing.run();
    } catch (failure) {
      if (isStale) throw failure;
      // The database does not respond: the last known schema is good enough to reject a request.
      return false;
    }
    if (isNewer()) return true;
    if (!isFree) this.note({ kind: 'check found nothing', now: performance.now() });
    return false;
  }

  /** Starts listening. Never rejects: without it, the next comparison of the fingerprint finds a change. */
  async #listen(): Promise<void> {
    if (!shouldListen(this.#state)) return;
    try {
      this.#unlisten = await this.#database.listen(schemaChannel, () => void this.#noticeVersion());
      this.note({ kind: 'listening' });
    } catch (error) {
      this.note({ kind: 'listen failed', error, isRefused: error instanceof DatabaseError && error.sqlstate === readOnlyState });
    }
  }

  /** PostgreSQL has notified of a newer version: loads the schema if that matters. */
  async #noticeVersion(): Promise<void> {
    // If the version cannot be read, the refresh reports it.
    await this.#adopting.run().catch(() => {});
    if (this.#state.isBehind || this.#state.loaded.doubtful > 0) await this.#refreshing.run().catch(() => {});
  }

  async #checkRoles(): Promise<void> {
    if (this.#state.isStopped) return;
    const { marker, hash, writes } = await readRoles(this.#database, this.#roles.marker);
    const isOther = (hash !== null && hash !== this.#roles.hash) || writes !== this.#roles.writes;
    if (isOther) await this.#loader.checkRoles?.(this.current());
    this.#roles = { marker, hash: hash ?? this.#roles.hash, writes };
    if (isOther) this.onChange?.();
  }
}

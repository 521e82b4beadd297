/**
 * Opens a change feed: chooses among what the database has set up, and what the login may use, and falls back to polling while that does not
 * work. Whatever it may have missed, it makes up for by saying `everything`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Sessions } from '../../database/database.ts';
import { openSessionsAt } from '../../database/sessions.ts';
import type { Observer } from '../../events.ts';
import { changeChannel, type LiveMethod } from '../../extension/install-live.ts';
import type { Change, ChangeFeed, FeedStatus, LiveMode, OnChange } from './change-feed.ts';
import { type Coverage, readCoverage, type Setup } from './coverage.ts';
import { FeedSession, LostSession } from './feed-session.ts';
import { MarkerPoll } from './marker-poll.ts';

export interface FeedOptions {
  readonly mode: LiveMode | 'auto';
  /** Where to connect to for the replication stream, notifications and locks; undefined: where the database is. */
  readonly url?: string | undefined;
  readonly observe: Observer;
}

/** How long opening waits for the feed to be ready, in milliseconds. */
const patienceMillis = 2000;
/** How long to wait before what failed is tried again, in milliseconds: at first, and after many failures. */
const retries = { first: 200, longest: 10_000 };
/** How often to look whether a better mode has been set up meanwhile. */
const lookMillis = 30_000;

/**
 * Opens a feed of the changes in a database. Resolves when it is ready, or known to need longer; it says `everything` once it is. It
 * connects again by itself, and never rejects.
 */
export async function openChangeFeed(database: Database, options: FeedOptions, onChange: OnChange): Promise<ChangeFeed> {
  const feed = new Feed(database, options, onChange);
  await Promise.race([feed.settled, sleep(patienceMillis, undefined, { ref: false })]);
  return feed;
}

class Feed implements ChangeFeed {
  readonly #database: Database;
  readonly #options: FeedOptions;
  readonly #sessions: Sessions | null;
  readonly #onChange: OnChange;
  readonly #poll: MarkerPoll;
  readonly #closed = new AbortController();
  readonly #ended: Promise<void>;
  #status: FeedStatus = { mode: 'poll', reason: 'the feed is being opened', part: 'alone' };
  #coverage: Coverage | null = null;
  /** Ends a pause, or has the session look at what is set up. */
  #schemaChanged: () => void = ignore;
  #settle: () => void = ignore;
  /** Resolves when it is decided how changes are noticed, for the time being. */
  readonly settled = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });

  constructor(database: Database, options: FeedOptions, onChange: OnChange) {
    this.#database = database;
    this.#options = options;
    this.#sessions = options.url === undefined ? database.sessions : openSessionsAt(options.url);
    this.#onChange = onChange;
    this.#poll = new MarkerPoll(database, () => this.#tell({ kind: 'uncovered' }));
    this.#ended = this.#run();
  }

  get status(): FeedStatus {
    return this.#status;
  }

  covers(table: number): boolean {
    return this.#coverage?.covers(table) ?? false;
  }

  pollUncovered(isNeeded: boolean): void {
    if (isNeeded && !this.#closed.signal.aborted) this.#poll.start();
    else this.#poll.stop();
  }

  noteSchemaChange(): void {
    this.#schemaChanged();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#poll.stop();
    await this.#ended;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    let delay = retries.first;
    while (!this.#closed.signal.aborted) {
      const began = performance.now();
      const { reason, mayPass } = await this.#attempt();
      if (this.#closed.signal.aborted) return;
      this.#fallBack(reason);
      // What worked for a while is likely to work again.
      delay = performance.now() - began > retries.longest ? retries.first : delay;
      await this.#pause(mayPass ? delay : lookMillis);
      delay = Math.min(delay * 2, retries.longest);
    }
  }

  /** Follows changes for as long as that works. Resolves to why it does not, and whether that may pass by itself. */
  async #attempt(): Promise<{ readonly reason: string; readonly mayPass: boolean }> {
    const { mode } = this.#options;
    if (mode === 'poll') return { reason: 'the setting "live" says so', mayPass: false };
    try {
      const setup = await readCoverage((text) => this.#database.query(text, []));
      const method = setup.methods.find((each) => mode === 'auto' || each === mode || (isStreamed(each) && isStreamed(mode)));
      if (method === undefined) return { reason: nothingFor(mode), mayPass: false };
      if (this.#sessions === null) return await this.#listenHere(method, setup);
      return await this.#follow(this.#sessions, method);
    } catch (error) {
      const isSettled = error instanceof LostSession && !error.mayPass;
      return { reason: (error as Error).message, mayPass: !isSettled };
    }
  }

  /** For a database with a single session: its own triggers notify it. */
  async #listenHere(method: LiveMethod, setup: Setup): Promise<never> {
    if (method !== 'notify') throw new LostSession(`a database with a single session needs --method notify`, false);
    const stop = await this.#database.listen(changeChannel, (payload) => {
      const table = Number(payload);
      this.#changed(Number.isInteger(table) && table > 0 ? new Set([table]) : null);
    });
    try {
      this.#ready('notify', 'triggers notify, in the only session', 'alone', setup.coverageOf('notify'));
      await this.#schemaChange();
      throw new LostSession('what is set up may have changed');
    } finally {
      await stop().catch(ignore);
    }
  }

  async #follow(sessions: Sessions, method: LiveMethod): Promise<never> {
    const session = new FeedSession({
      database: this.#database,
      sessions,
      method,
      signal: this.#closed.signal,
      ready: (mode, reason, part, coverage) => this.#ready(mode, reason, part, coverage),
      notReady: (reason) => this.#fallBack(reason),
      changed: (tables) => this.#changed(tables),
    });
    this.#schemaChanged = () => session.noteSchemaChange();
    try {
      return await session.run();
    } finally {
      this.#schemaChanged = ignore;
    }
  }

  #ready(mode: LiveMode, reason: string, part: FeedStatus['part'], coverage: Coverage): void {
    if (this.#closed.signal.aborted) return;
    this.#coverage = coverage;
    this.#note({ mode, reason, part });
    void this.#tell({ kind: 'everything' });
  }

  #fallBack(reason: string): void {
    const wasCovering = this.#coverage !== null;
    this.#coverage = null;
    this.#note({ mode: 'poll', reason, part: 'alone' });
    if (wasCovering) void this.#tell({ kind: 'everything' });
  }

  #changed(tables: ReadonlySet<number> | null): void {
    const coverage = this.#coverage;
    if (coverage === null) return;
    void this.#tell(tables === null ? { kind: 'everything' } : { kind: 'tables', tables: coverage.relativesOf(tables) });
  }

  #tell(change: Change): Promise<boolean> {
    return this.#closed.signal.aborted ? Promise.resolve(false) : this.#onChange(change);
  }

  #note(status: FeedStatus): void {
    const { mode, reason, part } = this.#status;
    this.#status = status;
    this.#settle();
    if (mode === status.mode && reason === status.reason && part === status.part) return;
    this.#options.observe({ kind: 'live-mode', ...status, isWanted: status.mode !== 'poll' || this.#options.mode === 'poll' });
  }

  /** Ends early if the schema changes: something may have been set up. */
  async #pause(millis: number): Promise<void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, this.#closed.signal]);
    await Promise.race([sleep(millis, undefined, { signal, ref: false }).catch(ignore), this.#schemaChange()]);
    ended.abort();
  }

  /** Resolves at the next change of the schema, or at the end. */
  #schemaChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#closed.signal.addEventListener('abort', () => resolve(), { once: true });
      this.#schemaChanged = resolve;
    });
  }
}

function isStreamed(mode: LiveMode | 'auto'): boolean {
  return mode === 'wal' || mode === 'messages';
}

function nothingFor(mode: LiveMode | 'auto'): string {
  return mode === 'auto'
    ? 'nothing is set up in the database ("rowgraph live install" does that)'
    : `the database is not set up for it ("rowgraph live install --method ${mode}" does that)`;
}

function ignore(): void {}

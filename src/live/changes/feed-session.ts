/**
 * A connection to the database for as long as it lasts, and what a feed does over it: finds out whether it is to read the changes or another
 * process does, reads them or follows the other one, and notices if what is set up changes.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, DirectConnection, Rows, Sessions } from '../../database/database.ts';
import { DatabaseError } from '../../errors/database-error.ts';
import { changeChannel, type LiveMethod } from '../../extension/install-live.ts';
import type { FeedStatus } from './change-feed.ts';
import { type ChangeSource, ChangeTable, openStream } from './change-sources.ts';
import { type Coverage, coverageMarkerQuery, readCoverage, type Setup } from './coverage.ts';
import { Relay, relayChannel } from './relay.ts';

/** What a session is for. */
interface SessionOptions {
  readonly database: Database;
  readonly sessions: Sessions;
  readonly method: LiveMethod;
  readonly signal: AbortSignal;
  ready(method: LiveMethod, reason: string, part: FeedStatus['part'], coverage: Coverage): void;
  notReady(reason: string): void;
  changed(tables: ReadonlySet<number> | null): void;
}

/** Why a session is over; `mayPass`: whether to try again soon. */
export class LostSession extends Error {
  override readonly name = 'LostSession';
  readonly mayPass: boolean;

  constructor(message: string, mayPass = true) {
    super(message);
    this.mayPass = mayPass;
  }
}

/** How often to look at what is set up, in milliseconds, if anything has happened on the server since. */
const lookMillis = 1000;
/** How long to wait before a source is opened again: at first, after many failures, and if only the operator can help. */
const retries = { first: 100, longest: 10_000, refused: 30_000 };
/** How long a notification may take at most to come back, and another process to say that it leads. */
const answerMillis = 1000;
const reasons: Readonly<Record<LiveMethod, string>> = {
  wal: 'a publication and, for tables without a replica identity, triggers are set up',
  messages: 'triggers that write messages are set up',
  table: 'triggers that write to a table are set up',
  notify: 'triggers that notify are set up',
};

const waiting = 'a new replication slot waits until the transactions that are running have ended';
const placeText = 'select pg_catalog.pg_backend_pid()::text, pg_catalog.pg_is_in_recovery()';

export class FeedSession {
  readonly #options: SessionOptions;
  readonly #stopped = new AbortController();
  readonly #lost = Promise.withResolvers<never>();
  #relay: Relay | null = null;
  #source: ChangeSource | null = null;
  #setup: Setup | null = null;
  #marker: string | null = null;
  /** Ends the pause before the next look at what is set up. */
  #lookSoon = new AbortController();
  /** Something has happened on the server since what is set up was read. */
  #isStirred = false;
  /** What a notification is expected to say. */
  #expected: { readonly payload: string; readonly arrived: () => void } | null = null;
  /** The latest answer to who reads the changes, which holds for another coverage too. */
  #announced: { readonly method: LiveMethod; readonly reason: string; readonly part: FeedStatus['part'] } | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** The schema has changed: what is set up may have, too. */
  noteSchemaChange(): void {
    this.#isStirred = true;
    this.#lookSoon.abort();
  }

  /** Follows changes for as long as that works. Rejects with `LostSession` or `DatabaseError`. */
  async run(): Promise<never> {
    const { sessions, signal } = this.#options;
    const connection = await sessions.connect((channel, payload) => this.#receive(channel, payload));
    const close = (): void => this.#lost.reject(new LostSession('the feed is closed'));
    signal.addEventListener('abort', close);
    if (signal.aborted) close();
    const ended = connection.ended.then(() => Promise.reject(new LostSession('the connection of the feed was lost')));
    try {
      return await Promise.race([this.#lost.promise, ended, this.#serve(connection)]);
    } finally {
      signal.removeEventListener('abort', close);
      this.#stopped.abort();
      this.#source?.close();
      await this.#relay?.leave();
      await connection.close();
    }
  }

  async #serve(connection: DirectConnection): Promise<never> {
    const { database, method } = this.#options;
    const run = (text: string): Promise<Rows> => connection.query(text);
    const refusal = await this.#whyUnfit(connection);
    await this.#readSetup(run);
    if (refusal !== null && method !== 'table') throw new LostSession(refusal, false);
    if (refusal !== null) void this.#readChanges((text) => database.query(text, []), refusal, 'alone');
    else if (method === 'notify') {
      await run(`listen ${changeChannel}`);
      this.#announce('notify', reasons.notify, 'alone');
    } else await this.#join(connection, run);
    for (;;) {
      this.#lookSoon = new AbortController();
      const signal = AbortSignal.any([this.#stopped.signal, this.#lookSoon.signal]);
      await sleep(lookMillis, undefined, { signal, ref: false }).catch(ignore);
      this.#stopped.signal.throwIfAborted();
      await this.#lookAtSetup(run);
      this.#source?.check();
    }
  }

  /** Why the connection does not carry what belongs to a session, or the server does not write; null if all is well. */
  async #whyUnfit(connection: DirectConnection): Promise<string | null> {
    const [row] = await connection.query(placeText);
    if (row?.[1] === 't') throw new LostSession('the server is a standby, where only polling is possible', false);
    if (!connection.isPooled(Number(row?.[0]))) return null;
    // A pooler that gives each session a connection of its own does no harm.
    const payload = `${randomBytes(6).toString('hex')} test`;
    const arrived = new Promise<boolean>((resolve) => {
      this.#expected = { payload, arrived: () => resolve(true) };
    });
    await connection.query(`listen ${relayChannel}`);
    await this.#options.database.query(`select pg_catalog.pg_notify('${relayChannel}', '${payload}')`);
    const timely = sleep(answerMillis, false, { signal: this.#stopped.signal, ref: false });
    if (await Promise.race([arrived, timely])) return null;
    return 'a pooler shares connections between transactions, so that neither notifications nor replication pass; give a direct connection with --live-database-url';
  }

  async #join(connection: DirectConnection, run: (text: string) => Promise<Rows>): Promise<void> {
    const { changed, notReady, method } = this.#options;
    const relay = new Relay(connection, {
      elected: () => {
        if (this.#announced !== null) this.#retract('the process that read the changes has ended; this one takes its place');
        void this.#readChanges(run, null, 'leading');
      },
      following: (leadersMethod) => {
        if (leadersMethod !== null) this.#announce(leadersMethod, 'another process reads the changes and passes them on', 'following');
        else this.#retract('the process that is to read the changes does not at present');
      },
      changed,
    });
    this.#relay = relay;
    await relay.join();
    await sleep(answerMillis, undefined, { signal: this.#stopped.signal, ref: false });
    if (this.#announced === null && !relay.isLeading)
      notReady(`another process is to read the changes (${method}), but does not at present`);
  }

  /** Reads changes until the session is over; never rejects. `run` asks the primary; `reason` says why it is no better method. */
  async #readChanges(run: (text: string) => Promise<Rows>, reason: string | null, part: 'leading' | 'alone'): Promise<void> {
    const { signal } = this.#stopped;
    let delay = retries.first;
    while (!signal.aborted) {
      const began = performance.now();
      const error = await this.#readUntilFailure(run, reason, part).catch((failure: unknown) => failure);
      if (signal.aborted) return;
      this.#source?.close();
      this.#source = null;
      this.#isStirred = true;
      this.#relay?.announce(null);
      this.#retract(describeFailure(error));
      if (performance.now() - began > retries.longest) delay = retries.first;
      await sleep(isRefusal(error) ? retries.refused : delay, undefined, { signal, ref: false }).catch(ignore);
      delay = Math.min(delay * 2, retries.longest);
    }
  }

  /** Resolves to why the source has failed; rejects if it cannot be opened. */
  async #readUntilFailure(run: (text: string) => Promise<Rows>, reason: string | null, part: 'leading' | 'alone'): Promise<unknown> {
    const { sessions, method, changed } = this.#options;
    const failed = Promise.withResolvers<unknown>();
    const listener = {
      changed: (tables: ReadonlySet<number> | null): void => {
        // A table that was not there is nobody's yet, but may be the partition of one that is.
        if (tables !== null && !this.#knows(method, tables)) this.#isStirred = true;
        changed(tables);
        this.#relay?.pass(tables);
      },
      stirred: (): void => {
        this.#isStirred = true;
      },
      failed: failed.resolve,
    };
    const awaited = setTimeout(() => this.#options.notReady(waiting), answerMillis).unref();
    try {
      this.#source =
        method === 'table' ? await ChangeTable.open(run, listener) : await openStream(sessions, run, this.#stopped.signal, listener);
    } finally {
      clearTimeout(awaited);
    }
    if (this.#stopped.signal.aborted) this.#source.close();
    this.#announce(method, reason ?? reasons[method], part);
    this.#relay?.announce(method);
    return failed.promise;
  }

  #knows(method: LiveMethod, tables: ReadonlySet<number>): boolean {
    const coverage = this.#setup?.coverageOf(method);
    return coverage === undefined || [...tables].every((table) => coverage.knows(table));
  }

  #announce(method: LiveMethod, reason: string, part: FeedStatus['part']): void {
    if (this.#setup === null || this.#stopped.signal.aborted) return;
    this.#announced = { method, reason, part };
    this.#options.ready(method, reason, part, this.#setup.coverageOf(method));
  }

  #retract(reason: string): void {
    this.#announced = null;
    this.#options.notReady(reason);
  }

  async #readSetup(run: (text: string) => Promise<Rows>): Promise<void> {
    // First, so that a change in between is noticed.
    const [row] = await run(coverageMarkerQuery);
    this.#marker = row?.[0] ?? null;
    this.#setup = await readCoverage(run);
  }

  async #lookAtSetup(run: (text: string) => Promise<Rows>): Promise<void> {
    if (this.#source !== null && !this.#isStirred) return;
    this.#isStirred = false;
    const [row] = await run(coverageMarkerQuery);
    if ((row?.[0] ?? null) === this.#marker) return;
    await this.#readSetup(run);
    if (!this.#setup?.methods.some((method) => method === this.#options.method))
      throw new LostSession('what is set up in the database has changed');
    if (this.#announced !== null) this.#announce(this.#announced.method, this.#announced.reason, this.#announced.part);
  }

  #receive(channel: string, payload: string): void {
    if (payload === this.#expected?.payload) this.#expected.arrived();
    else if (channel === changeChannel) {
      const table = Number(payload);
      this.#options.changed(Number.isInteger(table) && table > 0 ? new Set([table]) : null);
    } else this.#relay?.receive(channel, payload);
  }
}

/** Whether PostgreSQL refuses it until somebody changes a privilege or a setting. */
function isRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && (error.sqlstate === '42501' || error.sqlstate === '55000');
}

function describeFailure(error: unknown): string {
  const { message } = error as Error;
  if (!(error instanceof DatabaseError) || error.sqlstate !== '42501') return message;
  return `${message}: the login may not replicate (alter role … replication, or give another login with --live-database-url)`;
}

function ignore(): void {}

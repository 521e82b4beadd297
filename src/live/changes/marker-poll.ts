/**
 * Whether any transaction has ended since one last looked: what can be known without any rights. It says nothing about which tables have
 * changed, so it is asked only for what nothing else covers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestDatabase } from '../../database/database.ts';

/** Milliseconds between two looks: after a change, and when nothing changes, or nothing comes of it. */
const pauses = { shortest: 250, longest: 1000 };
const growth = 1.4;
/** A server that needs longer counts as lost. */
const timeoutMillis = 5000;

/**
 * Which transaction ids are assigned and which of them are finished
 * (https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT). Ids of another server, or of the same one after a
 * restart or a promotion, say nothing about those of before.
 */
const markerText = `select pg_catalog.concat_ws(' ', pg_catalog.pg_current_snapshot(), pg_catalog.pg_postmaster_start_time(),
  pg_catalog.pg_is_in_recovery())`;

export class MarkerPoll {
  readonly #database: RequestDatabase;
  readonly #onMoved: () => Promise<boolean>;
  #stopped: AbortController | null = null;

  /** `onMoved` resolves to whether anything came of it. */
  constructor(database: RequestDatabase, onMoved: () => Promise<boolean>) {
    this.#database = database;
    this.#onMoved = onMoved;
  }

  /** Calls back once, and then whenever the marker has moved. */
  start(): void {
    if (this.#stopped !== null) return;
    this.#stopped = new AbortController();
    void this.#run(this.#stopped.signal);
  }

  stop(): void {
    this.#stopped?.abort();
    this.#stopped = null;
  }

  /** Never rejects: while the database cannot be asked, nothing can be evaluated either. */
  async #run(signal: AbortSignal): Promise<void> {
    let marker: string | null = null;
    let pause = pauses.shortest;
    while (!signal.aborted) {
      const now = await this.#read();
      if (signal.aborted) return;
      const hasMoved = now !== null && now !== marker;
      marker = now;
      const isUseful = hasMoved && (await this.#onMoved());
      pause = isUseful ? pauses.shortest : Math.min(pause * growth, pauses.longest);
      await sleep(pause, undefined, { signal, ref: false }).catch(ignore);
    }
  }

  async #read(): Promise<string | null> {
    try {
      const [row] = await this.#database.query(markerText, [], { timeoutMillis, isRepeated: true });
      return row?.[0] ?? null;
    } catch {
      return null;
    }
  }
}

function ignore(): void {}

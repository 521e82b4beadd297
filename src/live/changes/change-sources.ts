/** Where the process that leads reads changes from: the replication stream, or the table that triggers fill. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Rows, Sessions } from '../../database/database.ts';
import { publicationName } from '../../extension/install-live.ts';
import { literal, render } from '../../sql/sql.ts';
import { PgoutputReader } from './pgoutput.ts';
import { VisibilityGate } from './visibility-gate.ts';

interface SourceListener {
  /** These tables have changed, and every later snapshot sees it; null: any. */
  changed(tables: ReadonlySet<number> | null): void;
  /** Something happened on the server, which need not be a change. */
  stirred(): void;
  /** The source is over. Not called after `close`. */
  failed(error: unknown): void;
}

export interface ChangeSource {
  /** Called now and then: what says nothing may be dead. */
  check(): void;
  close(): void;
}

/** How long a stream may be silent before it is asked whether it is still there, and given up, in milliseconds. */
const silence = { asked: 10_000, longest: 30_000 };

type Run = (text: string) => Promise<Rows>;

/**
 * The replication stream. Resolves when it has begun; the server waits for all transactions that are running. `run` asks the primary what
 * is visible. Rejects with `DatabaseError`.
 */
export async function openStream(sessions: Sessions, run: Run, signal: AbortSignal, listener: SourceListener): Promise<ChangeSource> {
  const gate = new VisibilityGate(
    async () => (await run('select pg_catalog.pg_current_snapshot()::text'))[0]?.[0] ?? '',
    (tables) => listener.changed(tables),
    (error) => listener.failed(error),
  );
  const reader = new PgoutputReader((commit) => gate.add(commit));
  const stream = await sessions.replicate(publicationName, signal, {
    message: (bytes, start, end, isWhole) => reader.read(bytes, start, end, isWhole),
    drained: () => {
      reader.flush();
      // What was committed after a long transaction comes after it.
      if (reader.isHeldUp(performance.now())) listener.changed(null);
    },
    stirred: () => listener.stirred(),
    ended: (error) => listener.failed(error),
  });
  return {
    check: () => {
      if (stream.silentMillis > silence.longest) listener.failed(new Error('The replication stream has been silent for too long'));
      else if (stream.silentMillis > silence.asked) stream.ask();
    },
    close: () => {
      gate.close();
      stream.close();
    },
  };
}

/** Milliseconds between two readings of the table: after a change, and when nothing changes. */
const pauses = { shortest: 50, longest: 250, growth: 1.3 };
/** Rows are removed this many milliseconds after they were read. Who reads less often may have missed some. */
const keepMillis = 10_000;

/** The table of recent changes. Rows are new if the previous snapshot did not see them: they are not in the order of commits. */
export class ChangeTable implements ChangeSource {
  readonly #run: Run;
  readonly #listener: SourceListener;
  readonly #closed = new AbortController();
  #previous: { readonly snapshot: string; readonly at: number } | null = null;
  /** A snapshot whose rows can be removed later. */
  #old: { readonly snapshot: string; readonly at: number } | null = null;
  /** When rows were last found, and up to when they were removed. */
  #foundAt = -Infinity;
  #removedTo = -Infinity;

  /** Resolves when it has begun. Rejects with `DatabaseError`. */
  static async open(run: Run, listener: SourceListener): Promise<ChangeTable> {
    const table = new ChangeTable(run, listener);
    await table.#read();
    void table.#readAgain();
    return table;
  }

  private constructor(run: Run, listener: SourceListener) {
    this.#run = run;
    this.#listener = listener;
  }

  /** Every reading asks the server. */
  check(): void {}

  close(): void {
    this.#closed.abort();
  }

  async #readAgain(): Promise<void> {
    const { signal } = this.#closed;
    let pause = pauses.shortest;
    try {
      while (!signal.aborted) {
        await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
        if (signal.aborted) return;
        const hasChanged = await this.#read();
        pause = hasChanged ? pauses.shortest : Math.min(pause * pauses.growth, pauses.longest);
        await this.#clean();
      }
    } catch (error) {
      if (!signal.aborted) this.#listener.failed(error);
    }
  }

  async #read(): Promise<boolean> {
    const previous = this.#previous;
    const at = performance.now();
    const [row] = await this.#run(readText(previous?.snapshot ?? null));
    const [snapshot = null, ids = null] = row ?? [];
    if (snapshot === null || this.#closed.signal.aborted) return false;
    this.#previous = { snapshot, at };
    if (previous === null) return false;
    if (snapshot !== previous.snapshot) this.#listener.stirred();
    const isLate = at - previous.at > keepMillis / 2;
    if (ids !== null) this.#foundAt = at;
    if (isLate) this.#listener.changed(null);
    else if (ids !== null) this.#listener.changed(new Set(ids.split(',').map(Number)));
    return isLate || ids !== null;
  }

  async #clean(): Promise<void> {
    this.#old ??= this.#previous;
    if (this.#old === null || performance.now() - this.#old.at < keepMillis) return;
    const { snapshot, at } = this.#old;
    const hasRows = this.#foundAt > this.#removedTo;
    const [row] = hasRows ? await this.#run(`select rowgraph.clean_live_changes(${render(literal(snapshot)).text})`) : [];
    // More may be left, which the next reading is not to wait for.
    if (Number(row?.[0] ?? 0) >= 10_000) return;
    this.#removedTo = at;
    this.#old = this.#previous;
  }
}

function readText(previous: string | null): string {
  const snapshot = previous === null ? 'pg_catalog.pg_current_snapshot()' : `${render(literal(previous)).text}::pg_catalog.pg_snapshot`;
  return `select pg_catalog.pg_current_snapshot()::text, (
    select pg_catalog.string_agg(distinct c.relation::text, ',') from rowgraph.live_change c
    where c.xid >= pg_catalog.pg_snapshot_xmin(${snapshot}) and not pg_catalog.pg_visible_in_snapshot(c.xid, ${snapshot}))`;
}

/**
 * Holds commits back until others see them. PostgreSQL writes a commit to its log, from where the replication stream reads it, before the
 * transaction becomes visible: a moment later as a rule, but for as long as a synchronous standby that does not answer. A query in between
 * would give the old answer, and nothing would tell that it is old.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Commit } from './pgoutput.ts';

/** Milliseconds from one look to the next: after one that found something, and after each in a row that did not; the last one is repeated. */
const pauses = [5, 1, 2, 5, 10, 20];

/** What `pg_current_snapshot` returns (https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT). */
interface Snapshot {
  /** All lower ids have ended. */
  readonly xmin: bigint;
  /** The first id that has not been assigned. */
  readonly xmax: bigint;
  /** Those in between that are running. */
  readonly running: ReadonlySet<bigint>;
}

export class VisibilityGate {
  readonly #readSnapshot: () => Promise<string>;
  readonly #onVisible: (tables: Commit['tables']) => void;
  readonly #onFailed: (error: unknown) => void;
  #waiting: Commit[] = [];
  #isLooking = false;
  #lookedAt = -Infinity;
  readonly #closed = new AbortController();

  /** `readSnapshot` asks the primary. If it rejects, the gate is of no use any more. */
  constructor(readSnapshot: () => Promise<string>, onVisible: (tables: Commit['tables']) => void, onFailed: (error: unknown) => void) {
    this.#readSnapshot = readSnapshot;
    this.#onVisible = onVisible;
    this.#onFailed = onFailed;
  }

  add(commit: Commit): void {
    this.#waiting.push(commit);
    if (!this.#isLooking) void this.#look();
  }

  close(): void {
    this.#waiting = [];
    this.#closed.abort();
  }

  async #look(): Promise<void> {
    const { signal } = this.#closed;
    this.#isLooking = true;
    try {
      for (let vain = 0; this.#waiting.length > 0 && !signal.aborted; ) {
        const pause = (pauses[Math.min(vain, pauses.length - 1)] ?? 0) + this.#lookedAt - performance.now();
        await (pause > 0 ? sleep(pause, undefined, { signal }) : null);
        this.#lookedAt = performance.now();
        // What comes while the snapshot is read may be newer than it.
        const { length } = this.#waiting;
        const snapshot = parseSnapshot(await this.#readSnapshot());
        if (signal.aborted) return;
        vain = this.#release(snapshot, length) ? 0 : vain + 1;
      }
    } catch (error) {
      if (!signal.aborted) this.#onFailed(error);
    } finally {
      this.#isLooking = false;
    }
  }

  /** Whether any of the first `length` commits is visible. */
  #release(snapshot: Snapshot, length: number): boolean {
    const [visible, hidden]: [Commit[], Commit[]] = [[], []];
    for (const commit of this.#waiting.slice(0, length)) (isVisible(commit.xid, snapshot) ? visible : hidden).push(commit);
    if (visible.length === 0) return false;
    this.#waiting = [...hidden, ...this.#waiting.slice(length)];
    const isAnything = visible.some(({ tables }) => tables === null);
    this.#onVisible(isAnything ? null : new Set(visible.flatMap(({ tables }) => [...(tables ?? [])])));
    return true;
  }
}

/** The text: `xmin:xmax:running,…`. */
export function parseSnapshot(text: string): Snapshot {
  const [xmin = '0', xmax = '0', running = ''] = text.split(':');
  return { xmin: BigInt(xmin), xmax: BigInt(xmax), running: new Set(running === '' ? [] : running.split(',').map(BigInt)) };
}

/** Whether a snapshot sees what the transaction did. The id has 32 bits: it is the one nearest to the snapshot's. */
export function isVisible(xid: number, { xmin, xmax, running }: Snapshot): boolean {
  const full = xmax + BigInt.asIntN(32, BigInt(xid) - xmax);
  return full < xmin || (full < xmax && !running.has(full));
}

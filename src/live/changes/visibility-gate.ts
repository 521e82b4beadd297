/**
 * Holds commits back until others see them. PostgreSQL writes a commit to its log, from where the replication stream reads it, before the
 * transaction becomes visible: a moment later as a rule, but for as long as a synchronous standby that does not answer. A query in between
 * would give the old answer, and nothing would tell that it is old.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Commit } from './pgoutput.ts';

/** Milliseconds before each further look; the last one is repeated. */
const pauses = [0, 1, 2, 5, 10, 20, 50, 100, 250];

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
  #looks = 0;
  #sooner = new AbortController();
  #isClosed = false;

  /** `readSnapshot` asks the primary. If it rejects, the gate is of no use any more. */
  constructor(readSnapshot: () => Promise<string>, onVisible: (tables: Commit['tables']) => void, onFailed: (error: unknown) => void) {
    this.#readSnapshot = readSnapshot;
    this.#onVisible = onVisible;
    this.#onFailed = onFailed;
  }

  add(commit: Commit): void {
    this.#waiting.push(commit);
    this.#looks = 0;
    this.#sooner.abort();
    if (!this.#isLooking) void this.#look();
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#sooner.abort();
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    try {
      while (this.#waiting.length > 0 && !this.#isClosed) {
        await this.#pause();
        // What comes while the snapshot is read may be newer than it.
        const { length } = this.#waiting;
        const snapshot = parseSnapshot(await this.#readSnapshot());
        if (!this.#isClosed) this.#release(snapshot, length);
      }
    } catch (error) {
      if (!this.#isClosed) this.#onFailed(error);
    } finally {
      this.#isLooking = false;
    }
  }

  /** Ends at once if a commit comes meanwhile. */
  async #pause(): Promise<void> {
    const pause = pauses[Math.min(this.#looks++, pauses.length - 1)] ?? 0;
    this.#sooner = new AbortController();
    if (pause > 0) await sleep(pause, undefined, { signal: this.#sooner.signal }).catch(() => undefined);
  }

  #release(snapshot: Snapshot, length: number): void {
    const asked = this.#waiting.slice(0, length);
    const visible = asked.filter(({ xid }) => isVisible(xid, snapshot));
    if (visible.length === 0) return;
    this.#waiting = [...asked.filter((commit) => !visible.includes(commit)), ...this.#waiting.slice(length)];
    const isAnything = visible.some(({ tables }) => tables === null);
    this.#onVisible(isAnything ? null : new Set(visible.flatMap(({ tables }) => [...(tables ?? [])])));
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

/** What is known of the primary's log: where it is, and when it was where, by which the lag of replicas is measured. */
import { setTimeout as sleep } from 'node:timers/promises';
import { singleFlight } from '../budget/single-flight.ts';
import type { ColumnValue, RequestDatabase, Statement } from '../database/database.ts';
import { type Position, parseLsn } from './position.ts';

/** Where the log is, for a statement that runs behind a commit: what is inserted may not be written yet. */
const placeText = `s.system_identifier::text, pg_catalog.pg_walfile_name(l), l::text`;
export const afterCommit: Statement = {
  text: `select ${placeText} from pg_catalog.pg_control_system() s, pg_catalog.pg_current_wal_insert_lsn() l`,
  parameters: [],
};
/** What is flushed is what standbys receive. Without rows on a standby. */
const stateText = `select ${placeText}, pg_catalog.pg_current_wal_flush_lsn()::text
  from pg_catalog.pg_control_system() s, lateral (
    select pg_catalog.pg_current_wal_insert_lsn() where not pg_catalog.pg_is_in_recovery()
  ) as p (l)`;

const lookMillis = 2_000;
/** The shortest time between two looks, in milliseconds, however many claim to know of something newer. */
const pauseMillis = 5;

interface Sample {
  readonly lsn: bigint;
  /** The last time when the log had nothing newer, in milliseconds of `performance.now()`. */
  readonly at: number;
}

export class PrimaryLog {
  readonly #database: RequestDatabase;
  readonly #keptMillis: number;
  readonly #onPromotion: (from: number, to: number) => void;
  readonly #now: () => number;
  readonly #looking = singleFlight(() => this.#look());
  #latest: Position | null = null;
  #timelineSince = -Infinity;
  #lookedAt = -Infinity;
  /** In the order of time. */
  #samples: Sample[] = [];
  #sampledSince = 0;

  /** `keptMillis`: how long samples are kept. `onPromotion` is called when the timeline has changed. `now`: a clock in milliseconds. */
  constructor(
    database: RequestDatabase,
    keptMillis: number,
    onPromotion: (from: number, to: number) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#database = database;
    this.#keptMillis = keptMillis;
    this.#onPromotion = onPromotion;
    this.#now = now;
  }

  /** The latest place that is known; null if none is, or if the server is a standby. */
  get latest(): Position | null {
    return this.#latest;
  }

  /** For how long the timeline has been known, in milliseconds. */
  get timelineMillis(): number {
    return this.#now() - this.#timelineSince;
  }

  /** Reads where the log is now. Rejects with `DatabaseError`. */
  look(): Promise<void> {
    return this.#looking.run();
  }

  /** Takes note of the row of `afterCommit`. Returns its place. `isCurrent`: not an answer that may have come late. */
  note(row: readonly ColumnValue[], isCurrent = false): Position | null {
    const [system, file, lsn] = row.map(textOf);
    if (system == null || file == null || lsn == null) return null;
    const place = { system, timeline: Number.parseInt(file.slice(0, 8), 16), lsn: parseLsn(lsn) };
    const known = this.#latest;
    if (known !== null && known.system === system && known.timeline === place.timeline) {
      if (place.lsn > known.lsn) this.#latest = place;
      return place;
    }
    // From before a promotion, perhaps.
    if (!isCurrent && known !== null && known.system === system && place.timeline < known.timeline) return place;
    this.#latest = place;
    this.#timelineSince = known === null ? -Infinity : this.#now();
    this.#samples = [];
    if (known !== null) this.#onPromotion(known.timeline, place.timeline);
    return place;
  }

  /** For how long there have been samples, in milliseconds. */
  get sampledMillis(): number {
    return (this.#samples.at(-1)?.at ?? 0) - this.#sampledSince;
  }

  /** The time of the clock that samples go by. */
  get now(): number {
    return this.#now();
  }

  /** Until when a standby has everything that was flushed, if it has replayed the log up to a place; -Infinity if that is unknown. */
  completeUntil(replayed: bigint): number {
    return this.#samples.findLast(({ lsn }) => lsn <= replayed)?.at ?? -Infinity;
  }

  /**
   * How long ago, in milliseconds before the last sample, the log had nothing that a standby has not replayed. Infinity if that is longer
   * ago than samples go back. While the primary is away, nobody falls behind.
   */
  lagOf(replayed: bigint): number {
    const latest = this.#samples.at(-1);
    const seen = this.#samples.findLast(({ lsn }) => lsn <= replayed);
    return latest === undefined || seen === undefined ? Infinity : latest.at - seen.at;
  }

  async #look(): Promise<void> {
    await sleep(Math.max(0, this.#lookedAt + pauseMillis - this.#now()));
    const at = this.#now();
    this.#lookedAt = at;
    const [row] = await this.#database.query(stateText, [], { timeoutMillis: lookMillis, isRepeated: true });
    if (row === undefined) {
      this.#latest = null;
      this.#samples = [];
    } else if (this.note(row, true) !== null) this.#sample(parseLsn(row[3]!), at);
  }

  #sample(lsn: bigint, at: number): void {
    if (this.#samples.length === 0) this.#sampledSince = at;
    if (this.#samples.at(-1)?.lsn === lsn) this.#samples.pop();
    this.#samples.push({ lsn, at });
    while (this.#samples.length > 1 && this.#samples[1]!.at < at - this.#keptMillis) this.#samples.shift();
  }
}

function textOf(value: ColumnValue): string | null {
  if (value === null || typeof value === 'string') return value;
  return 'latin1' in value ? value.latin1 : Buffer.concat(value).toString();
}

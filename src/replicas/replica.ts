/** One standby: whether it may be read from, and reading from it. */
import type { Batch, BatchResult, Database, Rows } from '../database/database.ts';
import { behindMarker } from '../database/session-statement.ts';
import { queryCancelled } from '../database/to-database-error.ts';
import { DatabaseError, type FailureReason } from '../errors/database-error.ts';
import type { ReplicaStatistics } from '../statistics.ts';
import { parseLsn, writeLsn } from './position.ts';
import type { PrimaryLog } from './primary-log.ts';

/**
 * A standby says on which timeline it is by its last restartpoint, which may be minutes old, or, to roles that may read all statistics, by
 * what it receives now.
 */
const stateText = `select pg_catalog.pg_is_in_recovery()::text, s.system_identifier::text, pg_catalog.pg_last_wal_replay_lsn()::text,
  greatest(c.timeline_id, r.min_recovery_end_timeline, (select received_tli from pg_catalog.pg_stat_wal_receiver))::text,
  exists (select from pg_catalog.pg_stat_wal_receiver where received_tli is not null)::text
  from pg_catalog.pg_control_system() s, pg_catalog.pg_control_checkpoint() c, pg_catalog.pg_control_recovery() r`;

/**
 * Fails unless the standby has replayed the log up to a place, for which it waits for some steps of a millisecond. Only in a transaction
 * whose later statements see more than its first one.
 */
const checkText = `select case when pg_catalog.current_setting('transaction_isolation') = 'read committed' and (
    pg_catalog.pg_last_wal_replay_lsn() >= $1::pg_catalog.pg_lsn or exists (
      select from pg_catalog.generate_series(1, $2::int4)
      where pg_catalog.pg_sleep(0.001)::text is not null and pg_catalog.pg_last_wal_replay_lsn() >= $1::pg_catalog.pg_lsn
    )
  ) then 0 else ('${behindMarker}' || coalesce(pg_catalog.pg_last_wal_replay_lsn()::text, 'none'))::int4 end`;

const lookMillis = 2_000;
const patienceSteps = 8;
/** How long a replica that was behind is not asked for what is newer than it was, in milliseconds: at first, and at most. */
const restMillis = { shortest: 5, longest: 250 };

/** What stands although the primary might answer: it concerns the request, not the server. */
const finalReasons: ReadonlySet<FailureReason | undefined> = new Set(['timeout', 'cancelled', 'response-too-large', 'overloaded']);

/** A place in the log, and the time by which it has been flushed, as long as nothing is written behind it. */
interface Milestone {
  readonly lsn: bigint;
  readonly flushedAt: number;
}

/** Why a replica gets no queries; null if it does. */
type Problem = string | null;

/** Problems that pass by themselves, of which nobody needs to hear. */
const unknownYet = ['it has not been reached yet', 'it is not known yet how far it lags behind'] as const;

/** What the doctor says of a replica. */
export interface ReplicaReport {
  readonly name: string;
  readonly problem: string | null;
  /** Whether the login role sees which timeline it receives now. */
  readonly seesTimeline: boolean;
}

export class Replica {
  readonly name: string;
  readonly #open: () => Database;
  readonly #primary: PrimaryLog;
  readonly #maxLagMillis: number;
  readonly #onChange: (problem: Problem) => void;
  #database: Database;
  #problem: Problem = unknownYet[0];
  #seesTimeline = false;
  #reported: Problem | undefined;
  /** Up to where it has replayed the log, when it was last looked at. */
  #replayed = 0n;
  /** Until when nobody tries who needs more than that: it was behind, each time for longer. In milliseconds of `performance.now()`. */
  #restsUntil = 0;
  #restMillis = restMillis.shortest;
  /** Until when it has everything, by the clock of the log. */
  #completeUntil = -Infinity;
  #lagMillis = Infinity;
  #isLooking = false;
  #running = 0;
  readonly #counts = { answered: 0, behind: 0, failed: 0 };
  /** What only the primary can run, such as queries on unlogged tables. */
  readonly #unsuited = new WeakSet<object>();

  /** `open` opens the pool of its connections. `onChange` is called when it begins or ceases to get queries, and after the first look. */
  constructor(name: string, open: () => Database, primary: PrimaryLog, maxLagMillis: number, onChange: (problem: Problem) => void) {
    this.name = name;
    this.#open = open;
    this.#database = open();
    this.#primary = primary;
    this.#maxLagMillis = maxLagMillis;
    this.#onChange = onChange;
  }

  get running(): number {
    return this.#running;
  }

  /** Whether it may run a batch, and has replayed what everybody must see. `needed`: what the caller must see; null if nothing. */
  maySee(everybody: Milestone, needed: bigint | null, { origin }: Batch): boolean {
    if (this.#problem !== null) return false;
    if (this.#replayed < everybody.lsn && this.#completeUntil < everybody.flushedAt) return false;
    if (origin !== undefined && this.#unsuited.has(origin)) return false;
    return needed === null || needed <= this.#replayed || performance.now() >= this.#restsUntil;
  }

  /**
   * Runs a query once the standby has replayed what it must see, which is checked by the first statement of its transaction. Null if the
   * primary is to run it. Rejects with the `DatabaseError` of a request that failed for good.
   */
  async run(batch: Batch, needed: bigint | null): Promise<BatchResult | null> {
    const precondition = needed === null ? undefined : { text: checkText, parameters: [writeLsn(needed), String(patienceSteps)] };
    this.#running += 1;
    try {
      const result = await this.#database.run(precondition === undefined ? batch : { ...batch, precondition });
      this.#counts.answered += 1;
      if (needed !== null) this.#restMillis = restMillis.shortest;
      return result;
    } catch (error) {
      if (!(error instanceof DatabaseError) || finalReasons.has(error.reason) || error.sqlstate === queryCancelled) throw error;
      this.#noteFailure(error, batch);
      return null;
    } finally {
      this.#running -= 1;
    }
  }

  /** Looks at its state. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const rows = await this.#database.query(stateText, [], { timeoutMillis: lookMillis, isRepeated: true });
      this.#judge(this.#read(rows));
    } catch (error) {
      this.#judge(`it cannot be reached: ${(error as Error).message}`);
      if (error instanceof DatabaseError && error.reason === 'timeout') this.#reopen();
    } finally {
      this.#isLooking = false;
    }
  }

  /** Nothing is known of it until it is looked at again. */
  distrust(problem: string): void {
    this.#replayed = 0n;
    this.#completeUntil = -Infinity;
    this.#judge(problem);
  }

  get isPending(): boolean {
    return unknownYet.some((each) => each === this.#problem);
  }

  readReport(): ReplicaReport {
    return { name: this.name, problem: this.#problem, seesTimeline: this.#seesTimeline };
  }

  readStatistics(): ReplicaStatistics {
    const lagSeconds = this.#lagMillis === Infinity ? null : this.#lagMillis / 1000;
    return { name: this.name, isUsable: this.#problem === null, lagSeconds, ...this.#counts, pool: this.#database.readStatistics().pool };
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #read([row]: Rows): Problem {
    const [isStandby, system, replayed, timeline, seesTimeline] = row ?? [];
    const primary = this.#primary.latest;
    if (primary === null) return 'nothing is known of the primary, or it is a standby itself';
    if (isStandby !== 'true') return 'it is not a standby';
    if (system !== primary.system) return 'it is a standby of another cluster';
    if (timeline !== String(primary.timeline)) return `it is not known to follow timeline ${primary.timeline}`;
    this.#seesTimeline = seesTimeline === 'true';
    this.#replayed = parseLsn(replayed ?? '0/0');
    this.#completeUntil = this.#primary.completeUntil(this.#replayed);
    this.#lagMillis = this.#primary.lagOf(this.#replayed);
    if (this.#lagMillis <= this.#maxLagMillis) return null;
    return this.#primary.sampledMillis < this.#maxLagMillis ? unknownYet[1] : 'it lags too far behind';
  }

  #judge(problem: Problem): void {
    this.#problem = problem;
    if (this.#reported === problem || unknownYet.some((each) => each === problem)) return;
    this.#onChange(problem);
    this.#reported = problem;
  }

  #noteFailure({ reason, sqlstate, message }: DatabaseError, { origin, callsFunctions = false }: Batch): void {
    if (reason === 'behind') {
      this.#counts.behind += 1;
      const now = performance.now();
      if (now < this.#restsUntil) return;
      this.#restsUntil = now + this.#restMillis;
      this.#restMillis = Math.min(this.#restMillis * 2, restMillis.longest);
      return;
    }
    this.#counts.failed += 1;
    const isGone = (sqlstate === null && reason === undefined) || sqlstate?.startsWith('08') || sqlstate?.startsWith('57P');
    // A function may have ended its own connection.
    if (isGone && !(callsFunctions && sqlstate === '57P01')) this.distrust(`a connection failed: ${message}`);
    // Read-only, or an unlogged table: the same will happen again.
    else if (origin !== undefined && (sqlstate === '25006' || sqlstate === '0A000' || sqlstate === '55000')) this.#unsuited.add(origin);
  }

  /** Whatever waits for a server that says nothing is given up, and so comes to run elsewhere. */
  #reopen(): void {
    const silent = this.#database;
    this.#database = this.#open();
    void silent.close();
  }
}

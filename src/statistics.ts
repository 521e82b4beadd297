/** The current state of a graph's connections. */
export interface PoolStatistics {
  readonly size: number;
  readonly busy: number;
  readonly idle: number;
  /** Batches and internal queries that wait for a connection. */
  readonly waiting: number;
}

/** What a graph has done since it was opened, and its current state. */
export interface GraphStatistics {
  /** Null if there is no pool. */
  readonly pool: PoolStatistics | null;
  /** Seconds that PostgreSQL took for each batch, from sending it to the end of the reply. */
  readonly batchSeconds: Distribution;
  /** Bytes in the rows of each batch. */
  readonly batchBytes: Distribution;
  /** Rows that each request may read, as estimated for the limit. */
  readonly estimatedRows: Distribution;
  /** Absent without live queries. */
  readonly live?: LiveStatistics;
  /** Absent without replicas. */
  readonly replicas?: readonly ReplicaStatistics[];
}

/** A standby that queries run on, now and since the graph was opened. */
export interface ReplicaStatistics {
  /** `host:port`. */
  readonly name: string;
  /** Whether it gets queries. */
  readonly isUsable: boolean;
  /** How far it was behind the primary when it was last looked at; null if that is unknown. */
  readonly lagSeconds: number | null;
  /** Queries that it answered, and those that the primary ran because it had not replayed enough, or failed. */
  readonly answered: number;
  readonly behind: number;
  readonly failed: number;
  readonly pool: PoolStatistics | null;
}

/** Live queries, now and since the graph was opened. */
export interface LiveStatistics {
  readonly subscriptions: number;
  /** Sets of equal subscriptions. */
  readonly cohorts: number;
  readonly evaluations: number;
  /** Evaluations whose answer was another one than before. */
  readonly changes: number;
}

export interface CacheStatistics {
  readonly name: string;
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
}

/** How values are distributed: counts per bucket, updated as values come and read when metrics are scraped. */
export class Distribution {
  /** Upper bounds of the buckets, ascending. */
  readonly bounds: readonly number[];
  /** Each bucket counts the values above the previous bound, up to and including its own; the last has no upper bound. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = [...bounds, Infinity].map(() => 0);
  }

  note(value: number): void {
    const { bounds } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1;
    this.counts[bucket]! += 1;
    this.sum += value;
  }
}

/** Bounds for durations, in seconds. */
export const secondBounds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

/** Bounds for sizes, in bytes. */
export const byteBounds = [1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** Bounds for numbers of rows. */
export const rowBounds = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];

/**
 * The standbys of a primary: which of them runs a query, and what each caller must see there because it wrote it. docs/replicas.md says what
 * is promised.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Batch, BatchResult, Database, FollowUp, RequestDatabase } from '../database/database.ts';
import type { Observer } from '../events.ts';
import { hostOf, parseDatabaseUrl } from '../settings/database-url.ts';
import { settings } from '../settings/settings.ts';
import type { ReplicaStatistics } from '../statistics.ts';
import { latestOf, type Position, type ResponsePosition, writePosition } from './position.ts';
import { afterCommit, PrimaryLog } from './primary-log.ts';
import { Replica, type ReplicaReport } from './replica.ts';

/** How often to look at the primary and the replicas, in milliseconds. */
const lookIntervals = { usual: 250, onBudget: 1_000 };
/** How often the doctor looks before it says that something is not known. */
const mostLooks = 20;
/**
 * How much longer a write is remembered, in milliseconds: replicas are looked at now and then, and what is committed asynchronously is
 * flushed later.
 */
const graceMillis = 4_000;
/** By when the log of an asynchronous commit has been flushed, in milliseconds: `wal_writer_delay` is 200 ms. */
const flushMillis = 1_000;
/** How many callers' writes to remember. When one more writes, all queries must see what the one who wrote first has written. */
const mostWriters = 10_000;

interface ReplicasOptions {
  /** The replicas by name, each with what opens the pool of its connections. */
  readonly replicas: readonly (readonly [name: string, open: () => Database])[];
  readonly primary: RequestDatabase;
  /** Whether connections are limited, and looks take one from others. */
  readonly isOnBudget: boolean;
  /** In milliseconds: a replica that lags further behind gets no queries. */
  readonly maxLagMillis: number;
  readonly observe: Observer;
}

/** What a query must see: a place in the log, or whatever the primary has. */
type Needed = bigint | 'primary' | null;

export class Replicas {
  readonly #replicas: readonly Replica[];
  readonly #log: PrimaryLog;
  /** For how long a write is remembered, in milliseconds: by then it is on every replica that gets queries. */
  readonly memoryMillis: number;
  /** By client. `primary`: what it may have written is not known. */
  readonly #written: LRUCache<string, Position | 'primary'>;
  /** What every query must see: the schema that it was compiled for, and what is no longer remembered of single clients. */
  #everybody: Position | null = null;
  #everybodyAt = -Infinity;
  readonly #timer: NodeJS.Timeout;

  constructor({ replicas, primary, isOnBudget, maxLagMillis, observe }: ReplicasOptions) {
    this.memoryMillis = maxLagMillis + graceMillis;
    this.#log = new PrimaryLog(primary, this.memoryMillis, (from, to) => {
      observe({ kind: 'primary-promoted', from, to });
      this.#showEverybody(this.#log.latest);
      for (const replica of this.#replicas) replica.distrust('it is not known to follow the new primary');
    });
    this.#replicas = replicas.map(
      ([name, open]) =>
        new Replica(name, open, this.#log, maxLagMillis, (problem) => observe({ kind: 'replica-judged', replica: name, problem })),
    );
    this.#written = new LRUCache({
      max: mostWriters,
      ttl: this.memoryMillis,
      dispose: (written, _, reason) => {
        if (reason === 'evict') this.#showEverybody(written === 'primary' ? this.#log.latest : written);
      },
    });
    this.#timer = setInterval(() => void this.#look(), isOnBudget ? lookIntervals.onBudget : lookIntervals.usual).unref();
    void this.#look();
  }

  /**
   * Runs a query on the replica that has the least to do. Null if the primary is to run it. `asked`: what the caller says that it must see,
   * besides what it is known to have written here.
   */
  async read(batch: Batch, client: string, asked: Position | null): Promise<BatchResult | null> {
    const needed = await this.#neededBy(client, asked);
    const everybody = this.#placeIn(this.#everybody);
    if (needed === 'primary' || everybody === 'primary') return null;
    const candidates = this.#replicas.filter((replica) =>
      replica.maySee({ lsn: everybody ?? 0n, flushedAt: this.#everybodyAt + flushMillis }, needed, batch),
    );
    if (candidates.length === 0) return null;
    const least = Math.min(...candidates.map(({ running }) => running));
    const idle = candidates.filter(({ running }) => running === least);
    return idle[Math.floor(Math.random() * idle.length)]!.run(batch, needed);
  }

  /** What a batch that may write has to run behind it. `onPosition` is called with where the log was after its commit. */
  followUp(client: string, onPosition: (position: ResponsePosition) => void): FollowUp {
    const note: FollowUp['note'] = (row) => {
      const place = row === null ? null : this.#log.note(row);
      if (place === null) return this.noteDoubt(client);
      const known = this.#written.get(client);
      this.#written.set(client, known === undefined || known === 'primary' ? place : latestOf(known, place)!);
      onPosition({ text: writePosition(place), lifetime: this.memoryMillis });
    };
    return { statement: afterCommit, note };
  }

  /** The client may have written something, and it is not known where. */
  noteDoubt(client: string): void {
    this.#written.set(client, 'primary');
  }

  /** The schema has been read: from now on, queries are compiled for it, so replicas must have it. Rejects with `DatabaseError`. */
  async noteSchema(): Promise<void> {
    await this.#log.look();
    this.#showEverybody(this.#log.latest);
  }

  /** Whether any of them gets queries. */
  get isUsable(): boolean {
    return this.#replicas.some((replica) => replica.readStatistics().isUsable);
  }

  /** For the doctor. */
  async examine(): Promise<readonly ReplicaReport[]> {
    for (let count = 1; count <= mostLooks; count += 1) {
      await this.#look();
      if (!this.#replicas.some(({ isPending }) => isPending)) break;
      await sleep(lookIntervals.usual);
    }
    return this.#replicas.map((replica) => replica.readReport());
  }

  readStatistics(): readonly ReplicaStatistics[] {
    return this.#replicas.map((replica) => replica.readStatistics());
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#replicas.map((replica) => replica.close()));
  }

  async #neededBy(client: string, asked: Position | null): Promise<Needed> {
    const written = this.#written.get(client) ?? null;
    if (written === 'primary') return 'primary';
    const known = this.#placeIn(written);
    if (known === 'primary') return known;
    const claimed = asked === null ? null : await this.#judge(asked);
    if (known === null || claimed === null || claimed === 'primary') return claimed ?? known;
    return claimed > known ? claimed : known;
  }

  /**
   * What a caller claims must be a place that the log has reached, or everybody could send all queries to the primary. What belongs to
   * another cluster is of no concern.
   */
  async #judge(asked: Position): Promise<Needed> {
    const { latest } = this.#log;
    if (latest === null || asked.system !== latest.system) return null;
    if (asked.timeline < latest.timeline || (asked.timeline === latest.timeline && asked.lsn <= latest.lsn)) return this.#placeIn(asked);
    try {
      await this.#log.look();
    } catch {
      // As long as the primary does not say, nobody knows.
      return 'primary';
    }
    const now = this.#log.latest;
    const isReached = now !== null && (asked.timeline < now.timeline || (asked.timeline === now.timeline && asked.lsn <= now.lsn));
    return isReached ? this.#placeIn(asked) : null;
  }

  /**
   * The place on the current timeline. After a promotion nobody can compare those on the old one: until replicas have had the time to
   * replay what has survived, the primary answers.
   */
  #placeIn(position: Position | null): Needed {
    const { latest, timelineMillis } = this.#log;
    if (position === null) return null;
    if (latest !== null && position.system === latest.system && position.timeline === latest.timeline) return position.lsn;
    return latest === null || timelineMillis < this.memoryMillis ? 'primary' : null;
  }

  /** A place of another cluster replaces what is there: the primary is another one. */
  #showEverybody(place: Position | null): void {
    this.#everybody = latestOf(place, this.#everybody);
    this.#everybodyAt = this.#log.now;
  }

  /** Never rejects: while the primary is away, the replicas are as good as they were. */
  async #look(): Promise<void> {
    await this.#log.look().catch(() => undefined);
    await Promise.all(this.#replicas.map((replica) => replica.look()));
  }
}

interface OpenOptions extends Omit<ReplicasOptions, 'replicas' | 'maxLagMillis'> {
  /** Each host of each URL is a replica, or may become one. */
  readonly urls: string | readonly string[] | undefined;
  readonly maxLagMillis: number | undefined;
  /** Opens the pool of connections to one host. */
  readonly open: (url: string) => Database;
}

/**
 * Opens the replicas that settings name; undefined without URLs. Nothing is known of a replica before it has been looked at, so the
 * first queries run on the primary.
 *
 * A pooler may stand for several servers, by the names of databases: then their names are numbered.
 */
export function openReplicas({ urls = [], maxLagMillis, open, ...rest }: OpenOptions): Replicas | undefined {
  const hosts = [...new Set([urls].flat().flatMap((url) => parseDatabaseUrl(url).hosts))];
  if (hosts.length === 0) return undefined;
  const names = hosts.map(hostOf);
  const nameOf = (name: string, index: number): string => (names.indexOf(name) === names.lastIndexOf(name) ? name : `${name}#${index + 1}`);
  const replicas = hosts.map((host, index) => [nameOf(names[index]!, index), () => open(host)] as const);
  return new Replicas({ ...rest, replicas, maxLagMillis: maxLagMillis ?? settings.maxReplicaLag.default });
}

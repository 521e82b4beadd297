/**
 * Knowing that something has changed: a feed names the tables that transactions have changed, as soon as every later snapshot sees the
 * changes. Types only; `open-change-feed.ts` opens one.
 */

/**
 * Where changes come from, best first: `wal`, the replication stream with a publication; `messages`, the same stream with messages that
 * triggers write; `table`, a table that triggers fill; `poll`, whether any transaction has ended at all; `notify`, notifications of
 * triggers, which make commits wait for each other.
 */
export type LiveMode = 'wal' | 'messages' | 'table' | 'poll' | 'notify';

/**
 * What may have changed; every snapshot that is taken later sees it. `tables`: these, by their id in `pg_class`: the tables that hold the
 * rows, their partitions and children as far as the source does not tell them apart, and all that they are partitions or children of.
 * `uncovered`: any table that the feed does not cover. `everything`: any table at all, because the feed may have missed something, or
 * covers other tables than before.
 */
export type Change =
  | { readonly kind: 'tables'; readonly tables: ReadonlySet<number> }
  | { readonly kind: 'uncovered' }
  | { readonly kind: 'everything' };

/**
 * Takes note of a change. Resolves, when what depends on the change has been evaluated, to whether any answer is another one: the feed asks
 * less often for changes of tables that it does not cover while nothing comes of it. Never rejects. The feed goes on meanwhile.
 */
export type OnChange = (change: Change) => Promise<boolean>;

/** How a feed works at present. */
export interface FeedStatus {
  readonly mode: LiveMode;
  /** Why it is this mode and no better one, as a sentence for the operator. */
  readonly reason: string;
  /** `leading`: it reads the changes itself; `following`: another process does, and passes them on. */
  readonly part: 'leading' | 'following' | 'alone';
}

export interface ChangeFeed {
  /** Changes while the feed is open: it falls back to another mode if it must, and returns to the better one when it can. */
  readonly status: FeedStatus;
  /**
   * Whether all changes of a table, its partitions and its children are announced by name. Views and whatever else holds no rows count as
   * covered. Holds until the next `everything`.
   */
  covers(table: number): boolean;
  /** Whether anything depends on tables that are not covered: only then are they polled. It is not at first. */
  pollUncovered(isNeeded: boolean): void;
  /** The schema has changed: partitions, triggers and publications may be others. */
  noteSchemaChange(): void;
  close(): Promise<void>;
}

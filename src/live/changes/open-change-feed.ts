/** Opens a change feed. */
import type { Database } from '../../database/database.ts';
import type { Observer } from '../../events.ts';
import type { ChangeFeed, FeedStatus, LiveMode, OnChange } from './change-feed.ts';
import { MarkerPoll } from './marker-poll.ts';

export interface FeedOptions {
  readonly mode: LiveMode | 'auto';
  /** Where to connect to for the replication stream, notifications and locks; undefined: where the database is. */
  readonly url?: string | undefined;
  readonly observe: Observer;
}

/**
 * Opens a feed of the changes in a database. Resolves when it is ready, or known to need longer; it then says `everything` once it is. It
 * connects again by itself, and never rejects.
 */
export async function openChangeFeed(database: Database, _options: FeedOptions, onChange: OnChange): Promise<ChangeFeed> {
  return new PollFeed(database, onChange);
}

class PollFeed implements ChangeFeed {
  readonly status: FeedStatus = { mode: 'poll', reason: 'nothing else is set up', part: 'alone' };
  readonly #poll: MarkerPoll;

  constructor(database: Database, onChange: OnChange) {
    this.#poll = new MarkerPoll(database, () => onChange({ kind: 'uncovered' }));
  }

  covers(): boolean {
    return false;
  }

  pollUncovered(isNeeded: boolean): void {
    if (isNeeded) this.#poll.start();
    else this.#poll.stop();
  }

  noteSchemaChange(): void {}

  async close(): Promise<void> {
    this.#poll.stop();
  }
}

/** The feed of changes, which is open while anybody subscribes, and for a while after. */
import type { ChangeFeed } from './changes/change-feed.ts';
import type { Clock } from './cohort.ts';

/** How long it stays open for nobody: most clients that disconnect come back soon. */
const idleMillis = 10_000;

export class FeedHolder {
  readonly #open: () => Promise<ChangeFeed>;
  /** Called with the feed when it is open, and with null when it closes. */
  readonly #onFeed: (feed: ChangeFeed | null) => void;
  readonly #clock: Clock;
  #opened: Promise<ChangeFeed> | null = null;
  #stopIdle: (() => void) | null = null;

  constructor(open: () => Promise<ChangeFeed>, onFeed: (feed: ChangeFeed | null) => void, clock: Clock) {
    this.#open = open;
    this.#onFeed = onFeed;
    this.#clock = clock;
  }

  need(): void {
    this.#stopIdle?.();
    this.#stopIdle = null;
    if (this.#opened !== null) return;
    const opened = this.#open();
    this.#opened = opened;
    void opened.then((feed) => {
      if (this.#opened === opened) this.#onFeed(feed);
    });
  }

  release(): void {
    this.#stopIdle ??= this.#clock.after(idleMillis, () => void this.close());
  }

  async close(): Promise<void> {
    this.#stopIdle?.();
    this.#stopIdle = null;
    const opened = this.#opened;
    if (opened === null) return;
    this.#opened = null;
    this.#onFeed(null);
    await (await opened).close();
  }
}

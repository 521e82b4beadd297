/** Waits for a database that is not reachable yet. In: how to open it; out: the opened database. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UnreachableError } from './connect-once.ts';

export interface Waiting {
  /** How long to keep trying, in milliseconds; 0 tries once. */
  readonly milliseconds: number;
  /** Called before the first wait. */
  readonly onWait: (error: UnreachableError) => Promise<void>;
  /** Whether the database is no longer needed. */
  readonly isOver: () => boolean;
}

const firstPause = 100;
const longestPause = 1000;

/**
 * Opens the database, and tries again as long as that rejects with `UnreachableError`. Rejects with the last of these when the time is
 * over, and immediately with any other error. Null if the wait ends first.
 */
export async function awaitDatabase<T>(open: () => Promise<T>, { milliseconds, onWait, isOver }: Waiting): Promise<T | null> {
  const deadline = performance.now() + milliseconds;
  for (let pause = firstPause; !isOver(); pause = Math.min(pause * 2, longestPause)) {
    try {
      return await open();
    } catch (error) {
      const left = deadline - performance.now();
      if (!(error instanceof UnreachableError) || left <= 0) throw error;
      if (pause === firstPause) await onWait(error);
      await sleep(Math.min(pause, left));
    }
  }
  return null;
}

/** Waits for a database that is not reachable yet, or whose schema cannot be loaded yet. In: how to open it; out: the opened database. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SlowSchemaError, UnreachableError } from './connect-once.ts';

export interface Waiting {
  /** How long to keep trying, in milliseconds, not counting the time that loading the schema takes; 0 tries once. */
  readonly milliseconds: number;
  /** Called if an attempt takes long, which says nothing about its outcome. */
  readonly onSlow: () => Promise<unknown>;
  /** Called before the first wait. */
  readonly onWait: (error: UnreachableError) => Promise<void>;
  /** Whether the database is no longer needed. */
  readonly isOver: () => boolean;
}

const firstPause = 100;
const longestPause = 1000;
/** When an attempt counts as slow, in milliseconds. */
const slow = 3000;
/** How long an attempt may take to connect if another may follow, or if it is the only one, in milliseconds. */
const longestAttempt = 5000;

/**
 * Opens the database, and tries again as long as that rejects with `UnreachableError`. `open` is given the milliseconds in which it must
 * connect. Rejects with the last of these errors when the time is over, and immediately with any other error, also of `onSlow`. Null if the
 * wait ends first.
 */
export async function awaitDatabase<T>(
  open: (patience: number) => Promise<T>,
  { milliseconds, onSlow, onWait, isOver }: Waiting,
): Promise<T | null> {
  let deadline = performance.now() + milliseconds;
  const noteSlow = async (): Promise<unknown> => (isOver() ? undefined : onSlow());
  for (let pause = firstPause; !isOver(); pause = Math.min(pause * 2, longestPause)) {
    const patience = milliseconds === 0 ? longestAttempt : Math.max(1, Math.min(longestAttempt, deadline - performance.now()));
    const began = performance.now();
    try {
      return await withNotice(open(patience), noteSlow);
    } catch (error) {
      if (error instanceof SlowSchemaError) deadline += performance.now() - began;
      const left = deadline - performance.now();
      if (!(error instanceof UnreachableError) || left <= 0) throw error;
      if (pause === firstPause) await onWait(error);
      await sleep(Math.min(pause, left));
    }
  }
  return null;
}

/** The outcome of some work. Calls `onSlow` if it takes long; rejects if that does. */
function withNotice<T>(work: Promise<T>, onSlow: () => Promise<unknown>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => void onSlow().catch(reject), slow);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

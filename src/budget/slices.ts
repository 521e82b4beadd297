/**
 * Runs long work in slices of a few milliseconds, so that other requests get a turn in between. Work is a generator that yields wherever it
 * may pause. Concurrent work takes turns, so that many pieces of work block the event loop no longer than one.
 */
import { type Deadline, explainStop } from './deadline.ts';

/** Milliseconds of work in one turn of the event loop. */
const sliceLength = 5;

/** Continues work that waits for a turn, in order of arrival. */
const waiting: (() => void)[] = [];
/** When the first work of the current turn of the event loop began; null if none has. */
let sliceStart: number | null = null;

/**
 * Does the work in slices and yields to the event loop between them. Rejects with whatever the work throws, and with TIMEOUT or CANCELLED once the
 * deadline has stopped the request it is for.
 */
export function runInSlices<T>(work: Generator<void, T>, deadline: Deadline | null = null): Promise<T> {
  return new Promise((resolve, reject) => {
    const goOn = (): void => {
      try {
        while (!isSliceOver()) {
          checkDeadline(deadline);
          const { done, value } = work.next();
          if (done) return resolve(value);
        }
        waiting.push(goOn);
      } catch (error) {
        reject(error);
      }
    };
    goOn();
  });
}

/**
 * Does short work at once, or when a turn of the event loop has time for it: many pieces of short work may arrive in one turn. Throws or
 * rejects as `runInSlices` does.
 */
export function runInTurn<T>(work: () => T | Promise<T>, deadline: Deadline | null): T | Promise<T> {
  if (!isSliceOver()) return work();
  return new Promise((resolve, reject) => {
    waiting.push(() => {
      try {
        checkDeadline(deadline);
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** Does the work without a pause. */
export function runAtOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Does the work at once if it does not pause, and in slices from its first pause on. */
export function runFromFirstPause<T>(work: Generator<void, T>, deadline: Deadline | null): T | Promise<T> {
  const { done, value } = work.next();
  return done ? value : runInSlices(work, deadline);
}

function checkDeadline(deadline: Deadline | null): void {
  const stopped = deadline?.stopped ?? null;
  if (stopped !== null) throw explainStop(stopped);
}

function isSliceOver(): boolean {
  const now = performance.now();
  if (sliceStart !== null) return now - sliceStart >= sliceLength;
  sliceStart = now;
  setImmediate(beginTurn);
  return false;
}

/** Continues what waits until the slice of this turn of the event loop is over. One piece of work may need all of it. */
function beginTurn(): void {
  sliceStart = null;
  while (waiting.length > 0 && !isSliceOver()) waiting.shift()!();
}

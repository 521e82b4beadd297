/**
 * Long work in slices of a few milliseconds, so that requests are answered in between. Work is a generator that yields wherever it may
 * pause; all work that is under way at a time takes turns, so that many works hold up the event loop no longer than one.
 */

/** Milliseconds of work in one turn of the event loop. */
const sliceLength = 5;

/** Works that wait for a turn, in the order in which they come. */
const waiting: (() => void)[] = [];
/** When work began in the present turn of the event loop; null where none has. */
let sliceStart: number | null = null;

/** Does the work in slices and gives way to the event loop between them. Rejects with what the work throws. */
export async function runInSlices<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    while (isSliceOver()) await new Promise<void>((resolve) => waiting.push(resolve));
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Does the work without a pause. */
export function runAtOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Does the work at once if it does not pause, and in slices from its first pause on. */
export function runFromFirstPause<T>(work: Generator<void, T>): T | Promise<T> {
  const { done, value } = work.next();
  return done ? value : runInSlices(work);
}

function isSliceOver(): boolean {
  const now = performance.now();
  if (sliceStart !== null) return now - sliceStart >= sliceLength;
  sliceStart = now;
  setImmediate(beginTurn);
  return false;
}

/** One work goes on in each turn; the others stay behind it, for it may need the whole slice. */
function beginTurn(): void {
  sliceStart = null;
  waiting.shift()?.();
}

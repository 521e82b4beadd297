/** Measures how long the event loop is blocked during some work. */

export interface Measured<Result> {
  readonly result: Result;
  /** The longest turn of the event loop, in milliseconds. */
  readonly longestBlock: number;
  readonly milliseconds: number;
}

/** Does the work; a chain of immediates records the longest time between two turns meanwhile. */
export async function measureLongestBlock<Result>(work: () => Promise<Result>): Promise<Measured<Result>> {
  let longestBlock = 0;
  let running = true;
  const start = performance.now();
  let last = start;
  const note = (): void => {
    const now = performance.now();
    longestBlock = Math.max(longestBlock, now - last);
    last = now;
    if (running) setImmediate(note);
  };
  setImmediate(note);
  try {
    const result = await work();
    const milliseconds = performance.now() - start;
    // The turn in which the work ended counts to its end.
    await new Promise((resolve) => setImmediate(resolve));
    note();
    return { result, longestBlock, milliseconds };
  } finally {
    running = false;
  }
}

/** Measures how long the event loop stands still while something goes on. */

export interface Measured<Result> {
  readonly result: Result;
  /** Of the longest turn of the event loop, in milliseconds. */
  readonly longestBlock: number;
  readonly milliseconds: number;
}

/** Does the work; a chain of immediates beside it notes the longest time between two turns. */
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
    // What went on to the end of the turn that the work ended in counts too.
    await new Promise((resolve) => setImmediate(resolve));
    note();
    return { result, longestBlock, milliseconds };
  } finally {
    running = false;
  }
}

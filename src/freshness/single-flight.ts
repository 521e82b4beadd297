/**
 * Work of which one run at a time is enough, and which many may ask for at once.
 */

export interface SingleFlight {
  /**
   * Runs the work. A call during a run shares the run after it with all others of that time, because the present run may have begun too
   * early to see what they want seen.
   */
  run(): Promise<void>;
  /** Resolves when no run is under way that was when it was called, however that ended. */
  settled(): Promise<void>;
}

/** Gives the work that it is given, at most one run at a time. */
export function singleFlight(work: () => Promise<void>): SingleFlight {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    next = null;
    running = work().finally(() => {
      running = null;
    });
    return running;
  };
  const settled = async (): Promise<void> => {
    await running?.catch(() => {});
  };
  const run = (): Promise<void> => {
    // The next run is waited for also in the moment between the end of the present one and its own start.
    if (next !== null) return next;
    if (running === null) return start();
    next = settled().then(start);
    return next;
  };
  return { run, settled };
}

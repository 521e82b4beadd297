/** Work that several callers want at the same time. */
interface SingleFlight {
  /** Runs the work. Calls during a run share the next run, because the current one may have begun too early to see what they need. */
  run(): Promise<void>;
  /** Resolves when the runs in progress at the time of the call have ended, whether they succeeded or not. */
  settled(): Promise<void>;
  isRunning(): boolean;
}

/** Wraps work so that at most one run is in progress at a time. */
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
    // Also covers the moment between the end of the current run and the start of the next.
    if (next !== null) return next;
    if (running === null) return start();
    next = settled().then(start);
    return next;
  };
  return { run, settled, isRunning: () => running !== null };
}

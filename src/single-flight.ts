/**
 * Work of which one run at a time is enough, and which many may ask for at once.
 */

/**
 * Gives the work that it is given, at most one run at a time. A call during a run shares the run after it with all others of that time,
 * because the present run may have begun too early to see what they want seen.
 */
export function singleFlight(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    next = null;
    running = work().finally(() => {
      running = null;
    });
    return running;
  };
  return () => {
    if (running === null) return start();
    next ??= running.catch(() => {}).then(start);
    return next;
  };
}

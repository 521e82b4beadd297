/**
 * Waits for what no event tells of: looks again until it is so, however long that takes on a busy machine. The runner's time limit ends a test
 * that waits in vain, so that no test has to hold a time of its own.
 */
import { setTimeout as pause } from 'node:timers/promises';

/** Resolves when the condition holds. */
export async function until(condition: () => unknown): Promise<void> {
  while (!(await condition())) await pause(5);
}

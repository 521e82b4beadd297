/**
 * Waits for what no event tells of: looks again until it is so, however long that takes on a busy machine. The runner's time limit ends a test
 * that waits in vain, so that no test has to hold a time of its own, and asks here what the test was waiting for.
 */
import { setTimeout as pause } from 'node:timers/promises';

/** In milliseconds, between two looks: what comes soon is seen soon, and what takes longer is not slowed down by who looks. */
const pauses = { first: 2, last: 50, growth: 1.5 };

const waits = new Set<() => string>();

/** Resolves when the condition holds. Where that can become impossible, the condition throws: so does this, then. */
export async function until(condition: () => unknown): Promise<void> {
  const { stack } = new Error('The place of the call.');
  const describe = (): string => `${condition} ${stack?.split('\n')[2]?.trim()}`;
  waits.add(describe);
  try {
    for (let length = pauses.first; !(await condition()); length = Math.min(length * pauses.growth, pauses.last)) await pause(length);
  } finally {
    waits.delete(describe);
  }
}

/** The conditions that do not hold yet, each with the place that waits for it. */
export function describeWaits(): string[] {
  return [...waits].map((describe) => describe());
}

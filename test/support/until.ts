/**
 * Waits for conditions that no event announces: checks again until they hold, however long that takes on a busy machine. The runner's time
 * limit ends a test that waits in vain, and reports the conditions that it was waiting for, so no test needs a time limit of its own.
 */
import { setTimeout as pause } from 'node:timers/promises';

/**
 * In milliseconds, between two checks: short at first, so that what happens soon is noticed soon; then longer, so that checking does not
 * slow it down.
 */
const pauses = { first: 2, last: 50, growth: 1.5 };

const waits = new Set<() => string>();

/** Resolves when the condition holds. If it can become impossible, the condition should throw; this then rejects with that error. */
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

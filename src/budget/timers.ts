/** Timers for any time. In: milliseconds, perhaps more than Node's timers can wait, or Infinity; out: a timer, or none. */

/** In milliseconds, 25 days: a timer of Node ends at once if its time is longer. The longest time limit of PostgreSQL is the same. */
export const longestTimer = 2 ** 31 - 1;

/** Calls back after so many milliseconds. There is no timer for a time that is longer than the longest. */
export function startTimer(callback: () => void, millis: number): NodeJS.Timeout | undefined {
  return millis > longestTimer ? undefined : setTimeout(callback, millis);
}

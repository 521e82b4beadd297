/**
 * Keeps an application's observer from doing harm. In: the observer; out: one that never throws, and whose rejected promises never count as
 * unhandled.
 */
import type { Observer } from './events.ts';

/** Wraps an observer; its first failure is emitted as a process warning. */
export function createSafeObserver(observe: Observer): Observer {
  let isReported = false;
  const report = (error: unknown): void => {
    if (isReported) return;
    isReported = true;
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.emitWarning(`The function "observe" failed; further failures of it are not reported. ${reason}`, 'RowgraphWarning');
  };
  return (event) => {
    try {
      const returned: unknown = observe(event);
      if (returned instanceof Promise) returned.catch(report);
    } catch (error) {
      report(error);
    }
  };
}

/**
 * Preloaded for each test file that `run-files.ts` runs. Ends the process of a file that hangs: because one of its tests timed out, because
 * something is still open after all tests (such as a server that a failed test did not close), or because the runner gives up. Says what
 * hung.
 */
import { after, afterEach, beforeEach } from 'node:test';
import { describeWaits } from './until.ts';

/** In milliseconds: how long a file may take to end after its last test, and to report a test that timed out. */
const patience = { afterLast: 60_000, afterTimeout: 5_000 };

const running = new Set<string>();

function describe(): string {
  return [
    `  tests that run: ${[...running].join(', ') || 'none'}`,
    `  conditions waited for: ${describeWaits().join('\n    ') || 'none'}`,
    `  what is open: ${process.getActiveResourcesInfo().join(', ')}`,
  ].join('\n');
}

function end(reason: string): void {
  console.error(`${process.argv[1]}: ${reason}\n${describe()}`);
  process.exit(1);
}

/** The timer does not keep the process alive. */
function endLater(reason: string, milliseconds: number): void {
  setTimeout(() => end(reason), milliseconds).unref();
}

beforeEach((context) => {
  if ('fullName' in context) running.add(context.fullName);
});
afterEach((context) => {
  if (!('fullName' in context)) return;
  const { error } = context as { error?: { failureType?: string } | null };
  if (error?.failureType === 'testTimeoutFailure') {
    console.error(`${context.fullName} timed out.\n${describe()}`);
    endLater('ended because a test timed out.', patience.afterTimeout);
  }
  running.delete(context.fullName);
});
after(() => endLater('all tests are over, and the process does not end.', patience.afterLast));
process.once('SIGTERM', () => end('ended by the runner.'));

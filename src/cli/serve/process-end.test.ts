import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundEnd, longestEnd, type ProcessEnd } from './process-end.ts';

test('the process ends in time even if something hangs', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const exit = context.mock.method(process, 'exit', () => undefined as never);
  const written: string[] = [];
  context.mock.method(process.stderr, 'write', (text: string) => written.push(text) > 0);
  const configuration = { drainDelay: 4000, closeTimeout: 1000 };
  const never = new Promise<never>(() => {});
  const end: ProcessEnd = { begun: Promise.resolve('SIGTERM'), faulted: never, isBegun: () => true, hasFaults: () => false };
  boundEnd(end, configuration);
  await end.begun;
  context.mock.timers.tick(longestEnd(configuration) - 1);
  assert.equal(exit.mock.callCount(), 0);
  context.mock.timers.tick(1);
  assert.deepEqual(exit.mock.calls[0]?.arguments, [1]);
  assert.deepEqual(written, ['rowgraph: shutdown took longer than 10000 ms and was forced\n']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Progress } from './terminal.ts';

test('a long step is reported, with its state every second and its duration', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const lines: string[] = [];
  const progress = new Progress((line) => lines.push(line.replace(/[\d.]+ s$/, '… s')));
  const work = Promise.withResolvers<string>();
  let done = 0;
  const step = progress.step('Loading', () => work.promise, { describeState: () => `${done} of 9` });
  context.mock.timers.tick(500);
  done = 4;
  context.mock.timers.tick(500);
  work.resolve('loaded');
  assert.equal(await step, 'loaded');
  context.mock.timers.tick(5000);
  assert.deepEqual(lines, ['Loading …', 'Loading: 4 of 9', 'Loading: done in … s']);
});

test('a short step is not reported', async () => {
  const lines: string[] = [];
  await new Progress((line) => lines.push(line)).step('Loading', async () => undefined);
  assert.deepEqual(lines, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSafeObserver } from './event-details.ts';
import type { Event } from './events.ts';

const event: Event = { kind: 'request-started' };

for (const [how, observe] of [
  [
    'throws',
    () => {
      throw new Error('no disk');
    },
  ],
  ['rejects', () => Promise.reject(new Error('no disk'))],
] as const)
  test(`an observer that ${how} causes one warning`, async () => {
    const warnings: Error[] = [];
    const { promise: first, resolve } = Promise.withResolvers<void>();
    // Other tests of this process may cause warnings of Node's own.
    const warn = (warning: Error): void => {
      if (warning.name === 'ExperimentalWarning') return;
      warnings.push(warning);
      resolve();
    };
    process.on('warning', warn);
    const safe = createSafeObserver<Event>(observe as () => void);
    for (let count = 0; count < 3; count += 1) safe(event);
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warn);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!.message, /^The function "observe" failed; further failures of it are not reported\. Error: no disk/);
  });

test('an observer receives each event', () => {
  const seen: Event[] = [];
  createSafeObserver<Event>((each) => seen.push(each))(event);
  assert.deepEqual(seen, [event]);
});

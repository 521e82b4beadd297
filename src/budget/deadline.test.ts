import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline, longestTimer, startTimer } from './deadline.ts';

test('a time that is longer than a timer can wait has no timer, which would end at once', () => {
  const timer = startTimer(() => {}, longestTimer);
  assert.ok(timer);
  clearTimeout(timer);
  for (const millis of [longestTimer + 1, 3e9, Infinity])
    assert.equal(
      startTimer(() => assert.fail('too early'), millis),
      undefined,
    );
});

test('a deadline may never come', () => {
  for (const millis of [3e9, Infinity]) {
    const deadline = new Deadline(millis);
    assert.deepEqual([deadline.expiresAt, deadline.remaining, deadline.stopped], [Infinity, Infinity, null]);
    const reasons: string[] = [];
    deadline.onStop((reason) => reasons.push(reason));
    deadline.stop('abandoned');
    assert.deepEqual(reasons, ['abandoned']);
  }
});

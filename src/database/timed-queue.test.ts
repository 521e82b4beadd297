import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from '../errors/database-error.ts';
import { TimedQueue, type TimedWork } from './timed-queue.ts';

const refusals: string[] = [];
const work = (client: string | null, touches: readonly string[] = []): TimedWork => ({
  client,
  bytes: 1,
  isQuick: false,
  touches,
  arrived: 0,
  refuse: ({ message }) => void refusals.push(`${client}: ${message}`),
});

test('work that got stuck on a spare connection may use one again after a while', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let calls = 0;
  const onUnstuck = (): void => void calls++;
  const queue = new TimedQueue<TimedWork>({ length: 9, bytes: 9, share: 1 }, 60_000, () => null, onUnstuck);
  const [running, stuck, next] = [work('one', ['a']), work('other', ['b']), work('third', ['b'])];
  assert.ok(queue.takeAtOnce(running));
  assert.ok(queue.takeAtOnce(stuck));
  assert.ok(queue.spare.has(stuck));
  queue.noteStuck(stuck);
  queue.release(stuck);
  assert.ok(!queue.takeAtOnce(next));
  context.mock.timers.tick(4999);
  assert.equal(calls, 0);
  context.mock.timers.tick(1);
  assert.equal(calls, 1);
  assert.ok(queue.takeAtOnce(next));
});

test('a wait ends with the reason why no connection can be opened, if that is known', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  let why: DatabaseError | null = null;
  const queue = new TimedQueue<TimedWork>(
    { length: 9, bytes: 9, share: 1 },
    1000,
    () => why,
    () => {},
  );
  refusals.length = 0;
  assert.ok(queue.admit(work(null)));
  assert.ok(queue.admit(work('early')));
  now = 500;
  assert.ok(queue.admit(work('late')));
  now = 1000;
  context.mock.timers.tick(1000);
  const overloaded = 'The server is overloaded: no database connection became free in time. Try again later.';
  assert.deepEqual(refusals.splice(0), [`null: ${overloaded}`, `early: ${overloaded}`]);
  why = new DatabaseError('too many clients', { sqlstate: '53300' });
  now = 1500;
  context.mock.timers.tick(500);
  assert.deepEqual(refusals.splice(0), ['late: too many clients']);
  assert.equal(queue.size, 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../events.ts';
import { createTelemetry } from './create-telemetry.ts';
import { type Clock, LogLimit } from './log-stream.ts';

/** A clock that stands still until it is set. */
class TestClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, callback: () => void): void {
    this.#timers.push({ at: this.#now + milliseconds, callback });
  }

  /** `late` sets the time without calling back, as if the event loop were busy. */
  set(now: number, late = false): void {
    this.#now = now;
    if (late) return;
    const due = this.#timers.filter(({ at }) => at <= now);
    this.#timers = this.#timers.filter(({ at }) => at > now);
    for (const { callback } of due) callback();
  }
}

function open() {
  const clock = new TestClock();
  const omitted: [string, number, number][] = [];
  const limit = new LogLimit((key, count, seconds) => void omitted.push([key, count, seconds]), clock);
  const send = (key: string, count: number): number => Array.from({ length: count }, () => limit.admits(key)).filter(Boolean).length;
  return { clock, limit, omitted, send };
}

test('ten lines per key are written each second, and the number of the others at its end', () => {
  const { clock, omitted, send } = open();
  assert.equal(send('a', 10), 10);
  clock.set(400);
  assert.equal(send('a', 25), 0);
  clock.set(999);
  assert.deepEqual(omitted, []);
  clock.set(1000);
  assert.deepEqual(omitted, [['a', 25, 1]]);
  assert.equal(send('a', 12), 10);
  clock.set(2000);
  assert.deepEqual(omitted, [
    ['a', 25, 1],
    ['a', 2, 1],
  ]);
});

test('keys are counted separately, and nothing is written if nothing was omitted', () => {
  const { clock, omitted, send } = open();
  assert.deepEqual([send('a', 10), send('b', 11), send('c', 1)], [10, 10, 1]);
  clock.set(5000);
  assert.deepEqual(omitted, [['b', 1, 1]]);
});

test('a late timer neither loses a count nor reports it twice', () => {
  const { clock, omitted, send } = open();
  send('a', 15);
  clock.set(3000, true);
  assert.equal(send('a', 11), 10);
  assert.deepEqual(omitted, [['a', 5, 1]]);
  clock.set(3001);
  assert.deepEqual(omitted, [['a', 5, 1]]);
  clock.set(4000);
  assert.deepEqual(omitted, [
    ['a', 5, 1],
    ['a', 1, 1],
  ]);
});

test('of what lasts, the first line is written, then fewer and fewer with the number of the others; after a silence it begins anew', () => {
  const { clock, limit, omitted } = open();
  const written: number[] = [];
  for (let second = 0; second <= 100; second += 1) {
    clock.set(second * 1000);
    if (limit.admitsFewer('outage')) written.push(second);
  }
  assert.deepEqual(written, [0, 5, 15, 35, 75]);
  assert.deepEqual(omitted, [
    ['outage', 4, 5],
    ['outage', 9, 10],
    ['outage', 19, 20],
    ['outage', 39, 40],
  ]);
  assert.ok(limit.admitsFewer('another reason'));
  clock.set(114_999);
  assert.equal(omitted.length, 4);
  clock.set(115_000);
  assert.deepEqual(omitted.slice(4), [['outage', 25, 25]]);
  assert.ok(limit.admitsFewer('outage'));
});

test('of what lasts for days, a line is written every ten minutes', () => {
  const { clock, limit } = open();
  const written: number[] = [];
  for (let second = 0; second <= 86_400; second += 10) {
    clock.set(second * 1000);
    if (limit.admitsFewer('outage')) written.push(second);
  }
  assert.equal(written.at(-1)! - written.at(-2)!, 600);
});

test('of failed requests, ten lines per code are logged each second; successful ones are all logged, and everything is counted', async () => {
  const clock = new TestClock();
  const lines: Record<string, unknown>[] = [];
  const telemetry = createTelemetry({ level: 'debug', clock, destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  const request = { kind: 'request-finished', requestId: 'r', role: 'anon', seconds: 0.001, bytes: 1 } as const;
  const events: Event[] = [
    { ...request, code: 'DATABASE_UNAVAILABLE', status: 503 },
    { ...request, code: 'OVERLOADED', status: 503 },
    { ...request, code: null, status: 200 },
    { kind: 'pool-failed', error: new Error('ECONNREFUSED') },
  ];
  for (let round = 0; round < 100; round++) for (const event of events) telemetry.observe(event);
  clock.set(1000);
  const count = (predicate: (line: Record<string, unknown>) => boolean): number => lines.filter(predicate).length;
  assert.equal(
    count(({ msg, code }) => msg === 'request' && code === 'DATABASE_UNAVAILABLE'),
    10,
  );
  assert.equal(
    count(({ msg, code }) => msg === 'request' && code === 'OVERLOADED'),
    10,
  );
  assert.equal(
    count(({ msg, code }) => msg === 'request' && code === null),
    100,
  );
  assert.equal(
    count(({ msg }) => msg === 'database connection failed; another one is opened when it is needed'),
    1,
  );
  assert.deepEqual(
    lines.slice(-2).map(({ of, count: omitted }) => [of, omitted]),
    [
      ['request DATABASE_UNAVAILABLE', 90],
      ['request OVERLOADED', 90],
    ],
  );
  const metrics = await telemetry.writeMetrics();
  assert.match(metrics, /^rowgraph_requests_total\{code="OVERLOADED",role="anon"\} 100$/m);
  assert.match(metrics, /^rowgraph_pool_failures_total 100$/m);
});

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Deadline } from '../budget/deadline.ts';
import type { Batch } from './database.ts';
import { KeptSettings } from './kept-settings.ts';

/** A batch with so many milliseconds in all, and a role with its own limit. */
function batchOf(millis: number, roleMillis: number | null = null): Batch {
  const defaults = { statementTimeout: roleMillis, isolation: null, mayWrite: false, settings: [] };
  const deadline = new Deadline(millis);
  deadline.end();
  return { session: { role: 'anon', claims: '{}', searchPath: 'public', version: null, defaults }, statements: [], deadline };
}

const ours = [{ latin1: '' }, { latin1: '1' }];
const foreign = [{ latin1: '' }, { latin1: '0' }];

/** Settings with a usual time limit, which a batch like this one has made. */
function keptSince(batch: Batch, usualLimit = 30_000): KeptSettings {
  const settings = new KeptSettings(7, usualLimit);
  assert.equal(settings.choose(batch, true), 'connection');
  settings.settle(ours);
  return settings;
}

test('settings are kept by a batch that is alone, and made again after a tenth of a second', () => {
  let now = 1_000_000;
  const clock = mock.method(performance, 'now', () => now);
  try {
    const batch = batchOf(30_000);
    const settings = new KeptSettings(7, 30_000);
    assert.equal(settings.choose(batch, false), 'transaction');
    assert.equal(settings.choose(batch, true), 'connection');
    assert.deepEqual(settings.kept, { backend: 7, timeout: 30_000 });
    assert.equal(settings.choose(batch, true), 'connection', 'not before that batch has succeeded');
    settings.settle(ours);
    assert.equal(settings.choose(batch, false), 'kept');
    now += 99;
    assert.equal(settings.choose(batch, true), 'kept');
    now += 1;
    assert.deepEqual([settings.choose(batch, true), settings.choose(batch, false)], ['connection', 'transaction']);
    settings.settle(ours);
    assert.equal(settings.choose(batch, true), 'kept');
    settings.expire();
    assert.deepEqual([settings.isLimited, settings.choose(batch, true)], [true, 'connection']);
    settings.settle([]);
    assert.deepEqual([settings.isLimited, settings.choose(batch, true)], [true, 'connection'], 'the row was not read');
    settings.settle(ours);
    assert.equal(settings.choose(batch, true), 'kept');
    settings.noteReset();
    assert.deepEqual([settings.isLimited, settings.choose(batch, true)], [false, 'connection']);
  } finally {
    clock.mock.restore();
  }
});

test('nothing is kept on connections of the caller, or where another backend ran the batch', () => {
  const batch = batchOf(30_000);
  assert.equal(new KeptSettings(null, 30_000).choose(batch, true), 'transaction');
  const settings = keptSince(batch);
  assert.equal(settings.choose({ ...batch, session: null }, true), 'transaction');
  settings.settle(foreign);
  assert.equal(settings.choose(batch, true), 'transaction');
});

test('a kept time limit serves batches that need about the same one', () => {
  const clock = mock.method(performance, 'now', () => 1_000_000);
  try {
    const uses: readonly (readonly [Batch, string])[] = [
      [batchOf(30_000), 'kept'],
      [batchOf(29_000), 'kept'],
      [batchOf(28_000), 'limited'],
      [batchOf(30_000, 30_000), 'kept'],
      [batchOf(30_000, 29_999), 'limited'],
      [batchOf(60_000, 30_000), 'kept'],
      [batchOf(Infinity, 30_000), 'kept'],
      [batchOf(0), 'limited'],
    ];
    const settings = keptSince(batchOf(100));
    for (const [batch, use] of uses) assert.equal(settings.choose(batch, true), use, `${batch.deadline?.millis} ms`);
    assert.equal(settings.isLimited, true);
    const unlimited = keptSince(batchOf(30_000), Infinity);
    assert.deepEqual([unlimited.choose(batchOf(Infinity), true), unlimited.choose(batchOf(30_000), true)], ['kept', 'limited']);
    assert.equal(unlimited.isLimited, false);
  } finally {
    clock.mock.restore();
  }
});

test('no batch has less time than its own because of what is kept', () => {
  const clock = mock.method(performance, 'now', () => 1_000_000);
  try {
    const settings = keptSince(batchOf(10));
    for (const millis of [30_000.5, 7_200_000, Infinity]) {
      const longer = batchOf(millis);
      assert.deepEqual([settings.choose(longer, false), settings.choose(longer, true)], ['transaction', 'connection'], `${millis} ms`);
      assert.equal(settings.isTooShortFor(longer), true);
      assert.equal(settings.kept?.timeout, Math.ceil(millis));
      settings.settle(ours);
      assert.deepEqual([settings.choose(longer, true), settings.choose(batchOf(10), true)], ['kept', 'limited']);
      assert.equal(settings.isTooShortFor(longer), false);
    }
  } finally {
    clock.mock.restore();
  }
});

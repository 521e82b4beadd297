import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  initialState,
  isUnchanged,
  mayCompare,
  mayRepeat,
  provesNoChange,
  reduce,
  type WatchEvent,
  type WatchState,
} from './watch-state.ts';

const stamp = { version: '1', extension: '1.0', changes: [], fingerprint: 'a' };
const loaded = { stamp, snapshot: 1, doubtful: 0 };

/** The state after some events, and all actions that followed from them. */
function after(events: readonly WatchEvent<number>[], start: WatchState<number> = initialState(loaded, 0)) {
  const actions: unknown[] = [];
  const state = events.reduce((before, event) => {
    const step = reduce(before, event);
    actions.push(...step.actions);
    return step.state;
  }, start);
  return { state, actions };
}

const unchanged: WatchEvent<number> = { kind: 'unchanged', loaded, compared: { at: 5, marker: 'm' } };
const changed: WatchEvent<number> = { kind: 'changed', loaded: { ...loaded, snapshot: 2 } };

test('a comparison that found no change counts until the snapshot is in doubt, or a load has begun', () => {
  const compared = after([unchanged]).state;
  assert.ok(provesNoChange(compared, 'm'));
  assert.ok(!provesNoChange(compared, null));
  assert.ok(!mayCompare(compared, 4, 6));
  assert.ok(mayCompare(compared, 6, 6));
  for (const event of [{ kind: 'doubted' }, { kind: 'reload asked' }, changed] as const)
    assert.ok(!provesNoChange(after([event], compared).state, 'm'), event.kind);
});

test('rejected requests trigger few comparisons in a row', () => {
  const fruitless = Array.from({ length: 20 }, (): WatchEvent<number> => ({ kind: 'check found nothing', now: 0 }));
  const { state } = after(fruitless);
  assert.ok(!mayCompare(state, 0, 0));
  assert.ok(mayCompare(state, 0, 200));
  assert.ok(mayCompare(after([changed], state).state, 0, 0));
});

test('only the first of several failures is reported', () => {
  const failure: WatchEvent<number> = { kind: 'refresh failed', error: 'gone' };
  assert.deepEqual(after([failure, failure]).actions, [{ kind: 'schema-load-failed', error: 'gone' }]);
  assert.equal(after([{ kind: 'listening' }, failure, unchanged, failure]).actions.length, 2);
  const deaf: WatchEvent<number> = { kind: 'listen failed', error: 'gone', isRefused: false };
  assert.deepEqual(after([deaf, deaf]).actions, [{ kind: 'listen-failed', error: 'gone' }]);
  assert.deepEqual(after([{ kind: 'stopped' }, deaf, failure]).actions, []);
});

test('a failed LISTEN is tried again after each comparison, a refused one after a load', () => {
  const listenFailed = (isRefused: boolean): WatchEvent<number> => ({ kind: 'listen failed', error: 'gone', isRefused });
  assert.deepEqual(after([listenFailed(false), unchanged]).actions.slice(1), ['listen']);
  assert.deepEqual(after([listenFailed(true), unchanged]).actions, []);
  assert.deepEqual(after([listenFailed(true), changed]).actions, ['listen']);
  assert.deepEqual(after([{ kind: 'listening' }, changed]).actions, []);
});

test('the snapshot is behind until it has moved on to the version that was read', () => {
  const newer = { version: '2', extension: '1.0', changes: [] };
  const behind = after([{ kind: 'version moved' }, { kind: 'versions read', versions: newer, loaded: null }]).state;
  assert.ok(behind.isBehind);
  const moved = { ...loaded, stamp: { ...stamp, ...newer }, doubtful: 1 };
  const { state } = after([{ kind: 'versions read', versions: newer, loaded: moved }], behind);
  assert.ok(!state.isBehind);
  assert.ok(!isUnchanged(state, moved.stamp), 'a table is in doubt');
});

test('a message that repeats did not resolve is not repeated until the schema changes', () => {
  const { state } = after([{ kind: 'repeats failed', message: 'no operator' }]);
  assert.deepEqual(
    [mayRepeat(state, 'no operator', 0), mayRepeat(state, 'no column', 2), mayRepeat(state, 'no column', 3)],
    [false, true, false],
  );
  assert.ok(mayRepeat(after([changed], state).state, 'no operator', 0));
});

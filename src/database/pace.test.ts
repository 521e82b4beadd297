import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from './pace.ts';

test('batches are sent alone as long as nothing is known about them, and together if they are quick', () => {
  const pace = new Pace();
  const [unknown, quick, slower] = [{}, {}, {}];
  pace.note({}, 1, 1);
  pace.note(quick, 1, 1.1);
  pace.note(slower, 1, 2.5);
  assert.deepEqual(
    [unknown, quick, slower].map((kind) => pace.mostTogether(kind)),
    [1, 8, 2],
  );
  assert.deepEqual(
    [unknown, quick, slower].map((kind) => pace.connectionsFor(kind)),
    [Infinity, 1, 8],
  );
});

test('batches are sent alone for a while after one failed or took long', () => {
  const pace = new Pace();
  const kind = {};
  pace.note(kind, 1, 1);
  for (const setBack of [() => pace.noteFailure(kind), () => pace.note(kind, 1, 1000)]) {
    setBack();
    for (let time = 0; time < 300; time++) pace.note(kind, 1, 1);
    assert.equal(pace.mostTogether(kind), 1);
    for (let time = 0; time < 100; time++) pace.note(kind, 1, 1);
    assert.equal(pace.mostTogether(kind), 8);
  }
  for (let time = 0; time < 50; time++) pace.note(kind, 1, time % 2 ? 1 : 11);
  assert.equal(pace.mostTogether(kind), 1, 'slow on average');
});

test('batches are brief as long as the slowest recent one was', () => {
  const pace = new Pace();
  const mutation = {};
  pace.note({}, 1, 1);
  for (const millis of [5, 30, 90]) pace.note(mutation, 1, millis);
  assert.deepEqual([pace.isBrief(mutation), pace.isBrief({})], [true, false]);
  pace.note(mutation, 1, 130);
  assert.equal(pace.isBrief(mutation), false);
});

test('batches are measured by what each adds to a group, without the time of the network', () => {
  const pace = new Pace();
  const kind = {};
  pace.note({}, 1, 20);
  pace.note(kind, 8, 20 + 8);
  assert.equal(pace.mostTogether(kind), 4);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turnOver } from 'node:timers/promises';
import { Pipelining } from './pipelining.ts';

function start(spare = 0, isAlike = (_one: number, _other: number) => true) {
  const sent: number[][] = [];
  const pipelining = new Pipelining<number>(
    (jobs) => void sent.push([...jobs]),
    (wanted) => Math.min(spare, wanted) - sent.length,
    isAlike,
  );
  /** The sizes of the groups that this many batches, requested in one turn, are sent in. */
  const groupsOf = async (template: object, count: number): Promise<number[]> => {
    for (let job = 0; job < count; job++) pipelining.add(template, job);
    assert.equal(sent.length, 0, 'nothing is sent before the turn is over');
    await turnOver();
    assert.deepEqual(sent.flat(), [...Array(count).keys()], 'each is sent once');
    return sent.splice(0).map((jobs) => jobs.length);
  };
  return { sent, pipelining, groupsOf };
}

describe('batches of one turn', () => {
  test('are sent alone as long as nothing is known about them', async () => {
    const { groupsOf } = start();
    assert.deepEqual(await groupsOf({}, 3), [1, 1, 1]);
  });

  test('are sent together if they are quick, in groups of similar size that let none wait long', async () => {
    const { groupsOf, pipelining } = start();
    const [quick, middling, slow] = [{}, {}, {}];
    pipelining.note(quick, 1, 0.5);
    assert.deepEqual(await groupsOf(quick, 8), [8]);
    assert.deepEqual(await groupsOf(quick, 9), [5, 4]);
    assert.deepEqual(await groupsOf(quick, 1), [1]);
    pipelining.note(middling, 1, 0.5 + 1.3);
    assert.deepEqual(await groupsOf(middling, 8), [3, 3, 2]);
    pipelining.note(slow, 1, 0.5 + 2.1);
    assert.deepEqual(await groupsOf(slow, 3), [1, 1, 1]);
  });

  test('go to idle connections first', async () => {
    const { groupsOf, pipelining } = start(3);
    const template = {};
    pipelining.note({}, 1, 0.5);
    pipelining.note(template, 1, 0.5 + 0.5);
    assert.deepEqual(await groupsOf(template, 2), [1, 1]);
    assert.deepEqual(await groupsOf(template, 8), [3, 3, 2]);
    assert.deepEqual(await groupsOf(template, 40), [8, 8, 8, 8, 8]);
  });

  test('leave connections idle that this process could not keep busy', async () => {
    const { groupsOf, pipelining } = start(5);
    const [quick, quicker] = [{}, {}];
    pipelining.note(quicker, 1, 0.5);
    pipelining.note(quick, 1, 0.5 + 0.3);
    assert.deepEqual(await groupsOf(quicker, 6), [6]);
    assert.deepEqual(await groupsOf(quick, 6), [3, 3]);
  });

  test('are sent together only if they are alike', async () => {
    const { sent, pipelining } = start(0, (one, other) => one % 3 === other % 3);
    const template = {};
    pipelining.note(template, 1, 1);
    for (let job = 0; job < 7; job++) pipelining.add(template, job);
    await turnOver();
    assert.deepEqual(sent, [
      [0, 3, 6],
      [1, 4],
      [2, 5],
    ]);
  });

  test('are sent together only with batches of their template', async () => {
    const { sent, pipelining } = start();
    const [one, other] = [{}, {}];
    for (const template of [one, other]) pipelining.note(template, 1, 1);
    for (let job = 0; job < 6; job++) pipelining.add(job % 2 ? one : other, job);
    await turnOver();
    assert.deepEqual(sent, [
      [0, 2, 4],
      [1, 3, 5],
    ]);
  });

  test('are sent alone for a while after one failed or took long', async () => {
    const { groupsOf, pipelining } = start();
    const template = {};
    pipelining.note(template, 1, 1);
    for (const setBack of [() => pipelining.noteFailure(template), () => pipelining.note(template, 1, 1000)]) {
      setBack();
      for (let time = 0; time < 300; time++) pipelining.note(template, 1, 1);
      assert.deepEqual(await groupsOf(template, 2), [1, 1]);
      for (let time = 0; time < 100; time++) pipelining.note(template, 1, 1);
      assert.deepEqual(await groupsOf(template, 2), [2]);
    }
    for (let time = 0; time < 50; time++) pipelining.note(template, 1, time % 2 ? 1 : 11);
    assert.deepEqual(await groupsOf(template, 2), [1, 1], 'slow on average');
  });

  test('are brief as long as the slowest recent one was', () => {
    const { pipelining } = start();
    const [unknown, mutation] = [{}, {}];
    pipelining.note({}, 1, 1);
    for (const millis of [5, 30, 90]) pipelining.note(mutation, 1, millis);
    assert.equal(pipelining.isBrief(mutation), true);
    assert.equal(pipelining.isBrief(unknown), false);
    pipelining.note(mutation, 1, 130);
    assert.equal(pipelining.isBrief(mutation), false);
  });

  test('are measured by what each adds to a group, without the time of the network', async () => {
    const { groupsOf, pipelining } = start();
    const template = {};
    pipelining.note({}, 1, 20);
    pipelining.note(template, 8, 20 + 8);
    assert.deepEqual(await groupsOf(template, 8), [4, 4]);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestTurns } from './request-turns.ts';

const nextTurn = (): Promise<void> => new Promise(setImmediate);

test('so many requests may begin in each turn of the event loop', async () => {
  const turns = new RequestTurns();
  const takeAll = (): number => {
    let taken = 0;
    while (turns.take()) taken += 1;
    return taken;
  };
  const inFirst = takeAll();
  assert.ok(inFirst > 1);
  assert.equal(takeAll(), 0);
  await nextTurn();
  assert.equal(takeAll(), inFirst);
});

test('connections go on in their order, few per turn while many wait', async () => {
  const turns = new RequestTurns();
  const gone: number[] = [];
  const inTurns: number[] = [];
  for (let index = 0; index < 100; index++) turns.wait(() => gone.push(index));
  while (gone.length < 100) {
    const before = gone.length;
    await nextTurn();
    inTurns.push(gone.length - before);
  }
  assert.deepEqual(gone, [...gone.keys()]);
  assert.ok(
    inTurns.slice(0, 30).every((count) => count > 0 && count < 10),
    inTurns.join(' '),
  );
});

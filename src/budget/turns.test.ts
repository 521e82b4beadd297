import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Deadline } from './deadline.ts';
import { mapInSteps, runAtOnce, runInSlices } from './turns.ts';

let time = 0;

/** Work of this many steps, each of which takes 2 ms of the clock and adds its name to `done`. */
function* steps(name: string, count: number, done: string[]): Generator<void, string> {
  for (let step = 0; step < count; step++) {
    time += 2;
    done.push(name);
    yield;
  }
  return name;
}

beforeEach(() => {
  mock.method(performance, 'now', () => time);
});

afterEach(async () => {
  await nextTurn();
  mock.restoreAll();
});

describe('runInSlices', () => {
  it('does short work in the turn in which it is called', async () => {
    const done: string[] = [];
    const result = runInSlices(steps('short', 2, done));
    assert.deepEqual(done, ['short', 'short']);
    assert.equal(await result, 'short');
  });

  it('yields to the event loop at the end of a slice', async () => {
    const done: string[] = [];
    const result = runInSlices(steps('long', 7, done));
    assert.equal(done.length, 3);
    await nextTurn();
    assert.equal(done.length, 6);
    assert.equal(await result, 'long');
    assert.equal(done.length, 7);
  });

  it('lets concurrent work take turns, one slice each at most', async () => {
    const done: string[] = [];
    const results = ['a', 'b', 'c'].map((name) => runInSlices(steps(name, 4, done)));
    assert.deepEqual(await Promise.all(results), ['a', 'b', 'c']);
    // What is left of a slice goes to the next one.
    assert.equal(done.join(''), 'aaa' + 'abb' + 'ccc' + 'bbc');
  });

  it('stops with its request, between two slices', async () => {
    const done: string[] = [];
    const deadline = new Deadline(60_000);
    const stopped = assert.rejects(runInSlices(steps('long', 100, done), deadline), { code: 'CANCELLED' });
    const other = runInSlices(steps('other', 4, []));
    deadline.stop('abandoned');
    await stopped;
    assert.equal(done.length, 3);
    assert.equal(await other, 'other');
  });

  it('rejects with what the work throws, and continues with other work', async () => {
    function* failing(): Generator<void, never> {
      time += 20;
      yield;
      throw new Error('cannot');
    }
    const failed = assert.rejects(runInSlices(failing()), /^Error: cannot$/);
    assert.equal(await runInSlices(steps('after', 5, [])), 'after');
    await failed;
  });
});

describe('runAtOnce', () => {
  it('does all of the work', () => {
    const done: string[] = [];
    assert.equal(runAtOnce(steps('all', 100, done)), 'all');
    assert.equal(done.length, 100);
  });
});

it('mapInSteps yields after every five hundred items', () => {
  const pausesOf = (count: number): readonly [pauses: number, results: readonly number[]] => {
    const items = Array.from({ length: count }, (_, index) => index);
    const steps = mapInSteps(items, (item) => item + 1);
    for (let pauses = 0; ; pauses += 1) {
      const { done, value } = steps.next();
      if (done) return [pauses, value];
    }
  };
  assert.deepEqual(pausesOf(3), [0, [1, 2, 3]]);
  const [pauses, results] = pausesOf(1_700);
  assert.deepEqual([pauses, results.length, results.at(-1)], [3, 1_700, 1_700]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnusedMemory } from './return-pages.ts';

const megabytes = 1024 * 1024;

/** What `unused` decides for each of `times` looks that find so many megabytes. */
function look(unused: UnusedMemory, amount: number, times: number): boolean[] {
  return Array.from({ length: times }, () => unused.isWorthReturning(amount * megabytes));
}

test('memory is returned once when 64 MB were unused ten times in a row', () => {
  const unused = new UnusedMemory();
  assert.deepEqual(look(unused, 60, 20), Array(20).fill(false));
  assert.deepEqual(look(unused, 123, 20), Array(20).fill(false));
  assert.deepEqual(look(unused, 124, 9), Array(9).fill(false));
  assert.deepEqual(look(unused, 60, 1), [false]);
  assert.deepEqual(look(unused, 124, 20), [...Array(9).fill(false), true, ...Array(10).fill(false)]);
});

test('what a collection does not return is not asked for again, but what comes later is', () => {
  const unused = new UnusedMemory();
  look(unused, 60, 1);
  assert.equal(look(unused, 300, 10).at(-1), true);
  unused.forget();
  assert.deepEqual(look(unused, 300, 20), Array(20).fill(false));
  assert.equal(look(unused, 364, 10).at(-1), true);
  unused.forget();
  look(unused, 60, 1);
  assert.equal(look(unused, 124, 10).at(-1), true);
});

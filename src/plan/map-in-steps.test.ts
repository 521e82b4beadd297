import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mapInSteps } from './map-in-steps.ts';

it('yields after every five hundred items', () => {
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

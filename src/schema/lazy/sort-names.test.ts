import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sortNames } from './lazy-schema.ts';

function sorted(names: readonly string[]): { readonly names: readonly string[]; readonly pauses: number } {
  const sorting = sortNames(names);
  for (let pauses = 0; ; pauses++) {
    const { done, value } = sorting.next();
    if (done) return { names: value, pauses };
  }
}

describe('sortNames', () => {
  const scattered = (count: number) =>
    Array.from({ length: count }, (_, index) => `Thing${(index * 7919) % count}${index % 3 ? 'Édge' : '_'}`);

  it('sorts like sort(), however many names there are', () => {
    for (const count of [0, 1, 999, 1000, 1001, 2000, 5001, 12_345]) {
      const names = scattered(count);
      assert.deepEqual(sorted(names).names, [...names].sort(), `${count} names`);
    }
  });

  it('yields at least once per thousand names', () => {
    assert.ok(sorted(scattered(12_345)).pauses >= 12);
  });
});

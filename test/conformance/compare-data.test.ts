import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareData } from './compare-data.ts';

const isKnown = (name: string): boolean => name === 'known';
const paths = (expected: unknown, got: unknown, isKnownAddition?: typeof isKnown): string[] =>
  compareData(expected, got, isKnownAddition).differences.map(({ path }) => path);

test('data is equal to the letter, but for the order of keys and the sign of zero', () => {
  assert.deepEqual(paths({ a: 0, b: [1, null] }, { b: [1, null], a: -0 }), []);
  assert.deepEqual(paths({ a: '1' }, { a: 1 }), ['data.a']);
  assert.deepEqual(paths({ a: [1, 2] }, { a: [2, 1] }), ['data.a[0]', 'data.a[1]']);
  assert.deepEqual(paths({ a: [] }, { a: [1], b: null }), ['data.a[0]', 'data.b']);
  assert.deepEqual(paths({ a: null }, {}), ['data.a']);
  assert.deepEqual(paths({ a: {} }, { a: [] }), ['data.a']);
});

test('a superset takes members in any order, and further ones that are known', () => {
  const expected = { fields: [{ name: 'a', type: 'T' }, { name: 'b' }] };
  const got = { fields: [{ name: 'b' }, { name: 'known' }, { name: 'a', type: 'T' }] };
  assert.deepEqual(compareData(expected, got, isKnown), { differences: [], additions: ['known'] });
  assert.deepEqual(paths(expected, { fields: [{ name: 'a', type: 'U' }, { name: 'b' }] }, isKnown), ['data.fields[a].type']);
  assert.deepEqual(paths(expected, { fields: [...got.fields, { name: 'new' }] }, isKnown), ['data.fields[new]']);
  assert.deepEqual(paths(expected, { fields: [{ name: 'b' }] }, isKnown), ['data.fields[a]']);
  assert.deepEqual(paths({ at: ['X', 'Y'] }, { at: ['Y', 'X'] }, isKnown), []);
});

test('of names that pg_graphql lists twice, one member is enough', () => {
  const expected = [
    { name: 'a', type: 'T' },
    { name: 'a', type: 'U' },
  ];
  assert.deepEqual(paths(expected, [{ name: 'a', type: 'T' }], isKnown), []);
  assert.deepEqual(paths(expected, [{ name: 'a', type: 'V' }], isKnown), ['data[a].type']);
  assert.deepEqual(paths([{ name: 'a' }], [{ name: 'a' }, { name: 'a' }], isKnown), ['data[a]']);
});

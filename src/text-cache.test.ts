import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextCache } from './text-cache.ts';

/** A copy of the text that shares no memory with other strings. */
const fresh = (text: string): string => Buffer.from(text).toString();

test('finds a text among others of the same length', () => {
  const cache = new TextCache<{ name: string }>(10, 100);
  for (const name of ['aa', 'bb', 'ccc']) cache.set(name, { name });
  for (const name of ['aa', 'bb', 'aa', 'aa', 'ccc', 'bb']) assert.deepEqual(cache.get(fresh(name)), { name });
  assert.equal(cache.get('dd'), undefined);
  assert.deepEqual([cache.size, cache.characters], [3, 10]);
});

test('a text that is set again has its new value', () => {
  const cache = new TextCache<{ n: number }>(10, 100);
  cache.set('a', { n: 1 });
  assert.deepEqual(cache.get('a'), { n: 1 });
  cache.set('a', { n: 2 });
  assert.deepEqual(cache.get('a'), { n: 2 });
});

test('evicted entries are gone, and often used ones stay', () => {
  const cache = new TextCache<{ name: string }>(2, 100);
  cache.set('often', { name: 'often' });
  cache.set('seldom', { name: 'seldom' });
  for (let use = 0; use <= 64; use += 1) cache.get('often');
  cache.set('later', { name: 'later' });
  assert.deepEqual(
    ['often', 'seldom', 'later'].map((name) => cache.get(name)?.name),
    ['often', undefined, 'later'],
  );
  assert.equal(cache.pop()?.name, 'often');
  assert.equal(cache.get('often'), undefined, 'it was the latest of its length');
});

test('removed entries are gone, including the latest of its length', () => {
  const cache = new TextCache<{ name: string }>(10, 100);
  for (const name of ['aa', 'bb', 'ccc']) cache.set(name, { name });
  cache.get('bb');
  cache.remove(({ name }) => name !== 'aa');
  assert.deepEqual(
    ['aa', 'bb', 'ccc'].map((name) => cache.get(name)?.name),
    ['aa', undefined, undefined],
  );
  assert.deepEqual([cache.size, cache.characters], [1, 3]);
});

test('the total of characters is bounded', () => {
  const cache = new TextCache<object>(10, 12);
  for (const text of ['abcd', 'efgh', 'ijkl']) cache.set(text, {});
  assert.equal(cache.get('abcd'), undefined);
  assert.deepEqual([cache.size, cache.characters], [2, 10]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestDatabase } from '../database/database.ts';
import { TableSizeCache } from './snapshot/table-size-cache.ts';

let rows = '0';
let queries = 0;
let isFailing = false;
const database = {
  query: async () => {
    queries += 1;
    if (isFailing) throw new Error('no');
    return [['7', rows]];
  },
} as unknown as RequestDatabase;

test('sizes are rounded up to a power of ten, at least ten, so that they tell little', async () => {
  for (const [size, known] of [
    ['0', 10],
    ['10', 10],
    ['11', 100],
    ['3503', 10_000],
    ['1000000', 1_000_000],
  ] as const) {
    rows = size;
    assert.equal((await new TableSizeCache([]).read(database)).get(7), known, size);
  }
});

test('sizes are read once a minute, by one query for all who wait, and again after a failure', async () => {
  let now = 0;
  const sizes = new TableSizeCache([], () => now);
  const read = async () => (await sizes.read(database)).get(7);
  rows = '1';
  queries = 0;
  assert.deepEqual(await Promise.all([read(), read()]), [10, 10]);
  rows = '5000';
  now = 59_999;
  assert.equal(await read(), 10);
  assert.equal(queries, 1);
  now = 60_000;
  assert.equal(await read(), 10_000);
  now = 120_000;
  isFailing = true;
  await assert.rejects(read());
  isFailing = false;
  assert.equal(await read(), 10_000);
  assert.equal(queries, 4);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PreparedStatements } from './prepared-statements.ts';

test('a name belongs to one owner and text', () => {
  const prepared = new PreparedStatements(10);
  const name = prepared.add('anon', 'select 1', 0);
  assert.match(name, /^rowgraph_[\w-]{22}$/);
  assert.equal(prepared.find('anon', 'select 1'), name);
  assert.equal(prepared.find('admin', 'select 1'), undefined);
  assert.notEqual(prepared.add('admin', 'select 1', 1), name);
  assert.equal(new PreparedStatements(1).add('anon', 'select 1', 0), name, 'on every connection');
});

test('the least recently used statement makes room, and is returned once to be closed', () => {
  const counts = { entries: 0, hits: 0, misses: 0 };
  const prepared = new PreparedStatements(2, counts);
  prepared.add('', 'a', 0);
  const name = prepared.add('', 'b', 1);
  prepared.settle(2);
  prepared.find('', 'a');
  prepared.add('', 'c', 0);
  assert.deepEqual(counts, { entries: 2, hits: 1, misses: 3 });
  assert.equal(prepared.find('', 'b'), undefined);
  assert.deepEqual(prepared.takeEvicted(), [name]);
  assert.deepEqual(prepared.takeEvicted(), []);
});

test('a statement that is named again is not closed afterwards', () => {
  const prepared = new PreparedStatements(1);
  prepared.add('', 'a', 0);
  const name = prepared.add('', 'b', 1);
  prepared.add('', 'a', 2);
  assert.deepEqual(prepared.takeEvicted(), [name]);
});

test('a statement after an error is not prepared', () => {
  const counts = { entries: 0, hits: 0, misses: 0 };
  const prepared = new PreparedStatements(10, counts);
  for (const [position, text] of ['a', 'b', 'c'].entries()) prepared.add('', text, position);
  prepared.settle(1);
  assert.deepEqual(
    ['a', 'b', 'c'].filter((text) => prepared.find('', text)),
    ['a'],
  );
  prepared.add('', 'b', 0);
  prepared.settle(1);
  assert.ok(prepared.find('', 'b'));
  prepared.evictAll();
  assert.equal(prepared.find('', 'b'), undefined);
  assert.equal(counts.entries, 0);
  assert.equal(prepared.takeEvicted().length, 2);
});

test('connections that share their counts add up, until they are closed', () => {
  const counts = { entries: 0, hits: 0, misses: 0 };
  const [one, other] = [new PreparedStatements(10, counts), new PreparedStatements(10, counts)];
  for (const prepared of [one, other]) prepared.add('', 'a', 0);
  one.find('', 'a');
  assert.deepEqual(counts, { entries: 2, hits: 1, misses: 2 });
  one.close();
  assert.deepEqual(counts, { entries: 1, hits: 1, misses: 2 });
});

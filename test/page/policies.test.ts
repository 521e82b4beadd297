/** What two callers see side by side, without a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSchema, parse, print, validate } from 'graphql';
import { compareAnswers, identityKey, selectIdentities } from '../../graphiql/page/policies/compare-answers.ts';
import { compareRows, findUndecided, mergeKeys, type Row, type SeenRows } from '../../graphiql/page/policies/compare-rows.ts';

function seen(rows: readonly (readonly [key: string, row: Row])[], more: Partial<SeenRows> = {}): SeenRows {
  return { hasTable: true, rows: new Map(rows), columns: ['a', 'b'], isCut: false, total: null, ...more };
}

const linesOf = (one: SeenRows, other: SeenRows, known?: ReadonlySet<string>): string[] =>
  compareRows(one, other, known).rows.map(({ key, seenBy, differing }) => [key, seenBy, ...differing].join(' '));

test('rows that only one sees are marked, in the order of the table', () => {
  const one = seen([
    ['1', { a: 1, b: 1 }],
    ['2', { a: 2, b: 2 }],
    ['4', { a: 4, b: { c: [1] } }],
  ]);
  const other = seen([
    ['2', { a: 2, b: 2 }],
    ['3', { a: 3, b: 3 }],
    ['4', { a: 4, b: { c: [2] } }],
    ['5', { a: 5, b: 5 }],
  ]);
  assert.deepEqual(linesOf(one, other), ['1 one', '2 both', '3 other', '4 both b', '5 other']);
  assert.deepEqual(compareRows(one, other).counts, { both: 2, one: 1, other: 2, differing: 1 });
});

test('a column that only one may read differs in no row', () => {
  const one = seen([['1', { a: 1, b: 2 }]]);
  const other = seen([['1', { a: 1, c: 3 }]], { columns: ['a', 'c'] });
  const { columns, rows } = compareRows(one, other);
  assert.deepEqual(columns, [
    { name: 'a', readBy: 'both' },
    { name: 'b', readBy: 'one' },
    { name: 'c', readBy: 'other' },
  ]);
  assert.equal(rows[0]?.differing.size, 0);
});

test('behind the last common row, the end of one list says nothing of the other', () => {
  const all = seen(
    [1, 2, 3, 4].map((id) => [`${id}`, { a: id }]),
    { isCut: true },
  );
  const even = seen(
    [2, 4, 6, 8].map((id) => [`${id}`, { a: id }]),
    { isCut: true },
  );
  assert.deepEqual([findUndecided(all, even), findUndecided(even, all)], [[], ['6', '8']]);
  assert.deepEqual(linesOf(all, even), ['1 one', '2 both', '3 one', '4 both']);
  assert.equal(compareRows(all, even).undecided, 2);
  assert.deepEqual(linesOf(all, even, new Set(['6', '8'])).slice(-2), ['6 other', '8 other']);
  const strangers = seen([['9', {}]], { isCut: true });
  assert.deepEqual(findUndecided(strangers, all), ['9']);
  assert.deepEqual(findUndecided(strangers, { ...all, isCut: false }), []);
});

test('two orders are merged', () => {
  assert.deepEqual(mergeKeys(['a', 'c'], ['a', 'b', 'c', 'd']), ['a', 'b', 'c', 'd']);
  assert.deepEqual(mergeKeys(['a', 'b'], ['b', 'a']), ['a', 'b']);
  assert.deepEqual(mergeKeys([], ['x']), ['x']);
});

test('answers are compared by the identities of their rows', () => {
  const row = (id: string, name: string): object => ({ node: { name, [identityKey]: id } });
  const answer = (...edges: object[]): object => ({ data: { notes: { total: edges.length, edges } } });
  const { lines, counts } = compareAnswers(answer(row('1', 'x'), row('2', 'y')), answer(row('2', 'z'), row('3', 'w')));
  assert.deepEqual(counts, { both: 1, one: 1, other: 1 });
  assert.deepEqual(
    lines.filter(({ seenBy }) => seenBy !== 'both').map(({ text, seenBy }) => `${seenBy} ${text}`),
    [
      'one {',
      'one "node": {',
      'one "name": "x"',
      'one }',
      'one }',
      'one "name": "y"',
      'other "name": "z"',
      'other {',
      'other "node": {',
      'other "name": "w"',
      'other }',
      'other }',
    ],
  );
  assert.ok(lines.every(({ text }) => !text.includes(identityKey)));
});

test('answers of other forms are compared by their values', () => {
  const { lines } = compareAnswers({ data: null, errors: [{ message: 'no' }] }, { data: { list: [1, 1, 2], empty: [] } });
  assert.deepEqual(
    lines.map(({ depth, text, seenBy }) => `${seenBy[0]}${depth} ${text}`),
    [
      'b0 {',
      'o1 "data": null',
      'o1 "data": {',
      ...['o2 "list": [', 'o3 1', 'o3 1', 'o3 2', 'o2 ]', 'o2 "empty": []', 'o1 }'],
      ...['o1 "errors": [', 'o2 {', 'o3 "message": "no"', 'o2 }', 'o1 ]'],
      'b0 }',
    ],
  );
});

test('the identities that are asked for leave the operation valid', () => {
  const schema = buildSchema(`
    interface Node { nodeId: ID! }
    type Note implements Node { nodeId: ID!, id: Int, author: Member }
    type Member { name: String }
    type Query { note(id: Int): Note, node(nodeId: ID!): Node }
  `);
  const document = parse('query A($id: Int) { note(id: $id) { ...Part author { name } } } fragment Part on Note { id }');
  const asked = selectIdentities(document, schema);
  assert.deepEqual(validate(schema, asked), []);
  assert.equal(print(asked).split(`${identityKey}: nodeId`).length - 1, 2);
});

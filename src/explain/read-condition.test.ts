import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readComparisons, readSortKey } from './read-condition.ts';

const read = (condition: string, alias = 't1'): string[] =>
  readComparisons(condition, alias).map(({ column, kind, asText }) => `${column} ${kind}${asText ? ' as text' : ''}`);

describe('readComparisons', () => {
  test('finds comparisons that an index could serve', () => {
    assert.deepEqual(read("(t1.tag = 't1'::text)"), ['tag equality']);
    assert.deepEqual(read("((t1.a = ANY ('{1,2}'::integer[])) AND (t1.b >= 3) AND ((t1.c)::text = 'x AND (t1.d = 1)'::text))"), [
      'a membership',
      'b range',
      'c equality as text',
    ]);
    assert.deepEqual(read('((InitPlan 1).col1 = t1.owner)'), ['owner equality']);
    assert.deepEqual(read('(t1.account_id = t2.id)'), ['account_id equality']);
    assert.deepEqual(read('("the ""alias"."a ) AND (b" = 1)', 'the "alias'), ['"a ) AND (b" equality']);
  });

  test('finds tests for null, booleans and prefixes', () => {
    assert.deepEqual(read('(t1.a IS NULL)'), ['a null']);
    assert.deepEqual(read('(t1.done AND (NOT t1."Hidden") AND (t1.a IS NULL))'), ['done equality', '"Hidden" equality', 'a null']);
    assert.deepEqual(read("((t1.a ^@ 'x'::text) AND ((t1.b)::text ~~ E'x\\\\%'::text))"), ['a prefix', 'b prefix as text']);
  });

  test('finds members of composites and parts of JSON', () => {
    assert.deepEqual(read("((t1.home).city = 'c'::text)"), ['(home).city equality']);
    assert.deepEqual(read('(((t1."a b").home."Zip" >= 5) AND ((t1.x ->> \'k=\'::text) = ANY (\'{a}\'::text[])))'), [
      '("a b").home."Zip" range',
      "x ->> 'k='::text membership",
    ]);
    assert.deepEqual(read("(((t1.x -> 'a'::text) ->> 'it''s'::text) IS NULL)"), ["(x -> 'a'::text) ->> 'it''s'::text null"]);
    assert.deepEqual(read("(((t1.home).code)::text ^@ 'x'::text)"), ['((home).code)::text prefix']);
    for (const condition of [
      "((t2.home).city = 'c'::text)",
      '((t1.home).city = (t1.work).city)',
      '(((t1.home).zip + (t2.home).zip) = 5)',
      "(f((t1.home).city) = 'x'::text)",
      "(((t1.x ->> 'a'::text))::timestamp with time zone = now())",
      "((t1.x #>> '{a}'::text[]) = 'x'::text)",
      "((t1.x -> $1) = '1'::jsonb)",
    ])
      assert.deepEqual(read(condition), [], condition);
  });

  test('ignores everything else', () => {
    for (const condition of [
      '((t1.a = 1) OR (t1.b = 2))',
      '(t1.a <> 1)',
      '(t1.a = t1.b)',
      '(t1.a = (t1.b + 1))',
      '(lower(t1.a) = 1)',
      "(t1.a <> ALL ('{1}'::integer[]))",
      '(t2.a = 1)',
      "(t1.a ~~ '%x'::text)",
      "(t1.a ~~ '_x'::text)",
      "(t1.a ^@ ''::text)",
      '(t1.a ^@ t1.b)',
      "(t1.a ~~* 'x%'::text)",
      '(t1.a IS NOT NULL)',
      't2.a',
      '(ROW(t1.a, t1.b) > ROW(1, 2))',
      'true',
      '((',
      '',
    ])
      assert.deepEqual(read(condition), [], condition);
  });

  test('reads a long condition quickly', () => {
    const condition = `(${Array.from({ length: 5000 }, (_, index) => `(t1.c${index} = ${index})`).join(' AND ')})`;
    assert.equal(read(condition).length, 5000);
    assert.deepEqual(read(`t1.a = ${'('.repeat(50_000)}`), ['a equality']);
  });
});

test('readSortKey reads columns with their directions', () => {
  const at = (text: string) => readSortKey(text, 't1');
  assert.deepEqual(at('t1.at DESC'), { column: 'at', descending: true, nullsFirst: true });
  assert.deepEqual(at('t1.at DESC NULLS LAST'), { column: 'at', descending: true, nullsFirst: false });
  assert.deepEqual(at('t1."At" NULLS FIRST'), { column: '"At"', descending: false, nullsFirst: true });
  for (const text of ['t2.at', 'lower(t1.at)', 't1.at COLLATE "C"', '(t1.at)::text']) assert.equal(at(text), null, text);
});

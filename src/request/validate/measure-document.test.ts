import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'graphql';
import { noLimits } from '../../budget/limits.ts';
import { checkOperations, measureOperations } from './measure-document.ts';

const measure = (text: string) => [...measureOperations(parse(text)).operations.values()];

describe('measureOperations', () => {
  it('counts the fields of fragments wherever they are spread', () => {
    const text = `query a { x: a { ...f } ...g } query b { a }
      fragment f on T { b long: d ... on T { e } ...h } fragment g on Q { y: a { ...f } z } fragment h on T { i }`;
    assert.deepEqual(measure(text), [
      { depth: 2, fields: 11, rootFields: 3, aliases: 4, aliasLength: 10, fragments: 7, listElements: 0 },
      { depth: 1, fields: 1, rootFields: 1, aliases: 0, aliasLength: 0, fragments: 0, listElements: 0 },
    ]);
  });

  it('counts list elements and the nesting depth of values', () => {
    const [counts] = measure('{ a(b: { c: [[1, 2], [3]], d: { e: [] } }) { ...f } } fragment f on T { g(h: [1, 2]) i { g(h: [1]) } }');
    assert.deepEqual([counts?.listElements, counts?.depth], [8, 3]);
    assert.equal(measure('{ a(b: {c: {d: {e: {f: 1}}}}) }')[0]?.depth, 4);
  });

  it('counts the defaults of variables', () => {
    const [counts, other] = measure(`query a($a: A = {b: [{c: [1, 2]}, {c: [3]}]}, $b: [Int] = [1, 2], $c: Int) { a } query b { b }`);
    assert.deepEqual([counts?.listElements, counts?.depth], [7, 4]);
    assert.deepEqual([other?.listElements, other?.depth], [0, 1]);
  });

  it('measures the expanded size of an operation without expanding it', () => {
    const doubling = (count: number): string =>
      `{ ...f0 } ${Array.from({ length: count }, (_, index) => `fragment f${index} on T { a: b { ...f${index + 1} } c: b { ...f${index + 1} } }`).join(' ')} fragment f${count} on T { d }`;
    const document = measureOperations(parse(doubling(20)));
    const [counts] = [...document.operations.values()];
    assert.deepEqual([counts?.fields, counts?.aliases, counts?.depth], [2 ** 20 * 3 - 2, 2 ** 21 - 2, 21]);
    // A field and a spread for each line of the document, and the first field.
    assert.equal(document.visited, 20 * 4 + 2);
    assert.ok([...measureOperations(parse(doubling(1500))).operations.values()][0]!.fields === Infinity);
  });

  it('measures invalid documents', () => {
    assert.equal(measure('{ ...f ...unknown } fragment f on T { a ...g } fragment g on T { b ...f }')[0]?.fields, 2);
    assert.equal(measure('{ a } { b } type T { a: Int }').length, 2);
  });
});

describe('checkOperations', () => {
  it('throws for the first operation that exceeds a limit', () => {
    const { operations } = measureOperations(parse('query a { b } query c { d(e: [1, 2]) { f: g ...h } } fragment h on T { i }'));
    const counts = [...operations.values()];
    checkOperations(counts, {
      ...noLimits,
      operations: 2,
      depth: 2,
      fields: 3,
      rootFields: 1,
      aliases: 1,
      aliasLength: 1,
      fragments: 1,
      listElements: 2,
    });
    const codes = {
      operations: 'TOO_MANY_OPERATIONS',
      depth: 'TOO_DEEP',
      fields: 'TOO_MANY_FIELDS',
      listElements: 'TOO_MANY_ELEMENTS',
    } as const;
    for (const [name, code] of Object.entries(codes)) assert.throws(() => checkOperations(counts, { ...noLimits, [name]: 1 }), { code });
    for (const name of ['aliases', 'aliasLength', 'fragments', 'rootFields'] as const) {
      assert.throws(() => checkOperations(counts, { ...noLimits, [name]: 0 }), { details: { limit: name, maximum: 0, count: 1 } });
    }
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSchema, NoFragmentCyclesRule, NoUnusedFragmentsRule, OverlappingFieldsCanBeMergedRule, parse, validate } from 'graphql';
import { MergeableFieldsRule } from './mergeable-fields-rule.ts';

const schema = buildSchema(`
  interface Node { id: ID! }
  type Cat implements Node { id: ID! name(long: Boolean, of: Of): String lives: Int friend: Cat dog: Dog }
  type Dog implements Node { id: ID! name(long: Boolean, of: Of): String! lives: String friend: Dog cats: [Cat!]! }
  input Of { a: Int b: [Int] }
  type Query { node: Node cat(id: Int): Cat dog: Dog }
`);

const errorsOf = (text: string, rule = MergeableFieldsRule): readonly string[] =>
  validate(schema, parse(text), [NoFragmentCyclesRule, NoUnusedFragmentsRule, rule]).map(({ message }) => message);

test('accepts fields that can be merged, and reports others with graphql-js messages', () => {
  const documents = [
    '{ cat { name name } }',
    '{ cat { name name(long: true) } }',
    '{ cat { name(of: { a: 1, b: [1] }) name(of: { b: [1], a: 1 }) } }',
    '{ cat { name(of: { a: 1 }) name(of: { a: 2 }) } }',
    '{ cat { name(long: null) name(long: null) } }',
    '{ cat { name(long: null) name } }',
    '{ cat { x: name x: id } }',
    '{ cat { friend { x: name } } cat { friend { x: id } } }',
    '{ cat { friend { x: name } friend { x: id } } }',
    '{ cat(id: 1) { id } cat(id: 2) { id } }',
    '{ node { ... on Cat { lives } ... on Dog { lives } } }',
    '{ node { ... on Cat { x: name } ... on Dog { x: lives } } }',
    '{ node { ... on Cat { x: id } ... on Dog { x: id } } }',
    '{ node { ... on Cat { friend { x: lives } } ... on Dog { friend { x: lives } } } }',
    '{ node { ... on Cat { friend { x: id } } ... on Dog { friend { x: id } } } }',
    '{ node { x: id ... on Cat { x: lives } } }',
    '{ ...A ...B } fragment A on Query { cat { x: name } } fragment B on Query { cat { ...C } } fragment C on Cat { x: lives }',
    '{ cat { ...Self } } fragment Self on Cat { friend { ...Self } name ...Self }',
    '{ cat { unknown unknown x: unknown x: other } }',
  ];
  for (const document of documents) assert.deepEqual(errorsOf(document), errorsOf(document, OverlappingFieldsCanBeMergedRule), document);
});

test('agrees with graphql-js on the validity of random documents', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (seed >> 8) % below;
  };
  const pick = <T>(items: readonly T[]): T => items[random(items.length)]!;
  const leaf = (): string => `${pick(['', 'x: ', 'y: '])}${pick(['id', 'name', 'name(long: true)', 'lives'])}`;
  const selection = (depth: number, cat: boolean, spreadable = 2): string => {
    const fields = Array.from({ length: 1 + random(3) }, () => {
      const kind = depth > 0 ? random(4) : 0;
      if (kind === 0) return leaf();
      if (kind === 1) return `${pick(['', 'z: '])}friend { ${selection(depth - 1, cat, spreadable)} }`;
      return kind === 2 && spreadable > 0 ? `...${cat ? 'C' : 'D'}${random(spreadable)}` : `... on Node { ${pick(['', 'x: '])}id }`;
    });
    return fields.join(' ');
  };
  let invalid = 0;
  for (let round = 0; round < 1000; round += 1) {
    const fragments = [0, 1].map(
      (n) => `fragment C${n} on Cat { ${selection(1, true, n)} } fragment D${n} on Dog { ${selection(1, false, n)} }`,
    );
    const document = `{ node { ... on Cat { ${selection(2, true)} } ... on Dog { ${selection(2, false)} } } used: node { ...C0 ...C1 ...D0 ...D1 } cat { ${selection(2, true)} } } ${fragments.join(' ')}`;
    const expected = errorsOf(document, OverlappingFieldsCanBeMergedRule).length > 0;
    if (expected) invalid += 1;
    assert.equal(errorsOf(document).length > 0, expected, document);
  }
  assert.ok(invalid > 100 && invalid < 900, String(invalid));
});

test('accepts thousands of equal fields', () => {
  assert.deepEqual(errorsOf(`{ cat { ${'name '.repeat(5000)} ${'friend { id } '.repeat(2000)} } }`), []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSchema, type GraphQLInputObjectType, parse, ValuesOfCorrectTypeRule, validate } from 'graphql';
import { ValueTypesRule } from './value-types-rule.ts';

const schema = buildSchema(`
  enum Colour { RED BLUE }
  input Row { a: Int b: String! c: Row rows: [Row!] colours: [Colour] d: Int! = 1 }
  type Query { rows(rows: [Row!]!, grid: [[Int!]], colour: Colour): Int }
`);

const errorsOf = (text: string, rule = ValueTypesRule): readonly string[] =>
  validate(schema, parse(text), [rule], { maxErrors: 100 })
    .map(({ message, locations }) => JSON.stringify([message, locations]))
    .sort();

test('reports what graphql-js reports', () => {
  const values = [
    '{ b: "x" }',
    '[{ b: "x", a: 1, c: { b: "" }, rows: [{ b: "y", colours: [RED, null] }], d: 2 }]',
    '[{ a: 1 }, { b: "x", nope: { b: 1 } }, { b: 1, a: "x", bb: 2 }, { b: null, d: null }]',
    '[{ b: "x", rows: [{}, { b: "x", rows: { c: {} } }, null, 1, [{ b: "" }]] }]',
    '[{ b: $v, c: { a: $v, b: 1.5 }, rows: $v }, $v]',
    '[{ b: "x", colours: RED }, { b: "x", colours: [GREEN, "RED", [BLUE], {}] }]',
    '{ __proto__: 1, constructor: 2, b: "x" }',
    '[[{ b: "x" }]]',
    'null',
    '1',
    '[null]',
  ];
  const constant = values.filter((value) => !value.includes('$')).map((value) => `query ($r: [Row!]! = ${value}) { rows(rows: $r) }`);
  const grids = ['[[1, 2], [3]]', '1', '[1, [null], [[2]], { a: 1 }]', '[["x"], null]', '{ a: 1 }'];
  const documents = [
    ...values.map((value) => `query ($v: String) { rows(rows: ${value}) }`),
    ...constant,
    ...grids.map((grid) => `{ rows(rows: [], grid: ${grid}, colour: ${grid}, unknown: ${grid}) }`),
  ];
  for (const text of documents) assert.deepEqual(errorsOf(text), errorsOf(text, ValuesOfCorrectTypeRule), text);
});

test('looks at the fields that are written, not at all of the type', () => {
  const wide = buildSchema(
    `input Row { ${Array.from({ length: 500 }, (_, index) => `c${index}: Int`).join(' ')} } type Query { rows(rows: [Row]): Int }`,
  );
  const type = wide.getType('Row') as GraphQLInputObjectType;
  const fields = type.getFields();
  let reads = 0;
  const get = (target: typeof fields, name: string) => {
    reads += 1;
    return target[name];
  };
  type.getFields = () => new Proxy(fields, { get });
  assert.deepEqual(validate(wide, parse(`{ rows(rows: [${'{ c7: 1 } '.repeat(1000)}]) }`), [ValueTypesRule]), []);
  assert.ok(reads < 5000, `${reads} fields were read`);
});

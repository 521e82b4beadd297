import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseDocument, readVariables } from '../../test/support/request-stages.ts';
import { account, sampleModel } from '../../test/support/sample-model.ts';
import { buildSchema } from '../schema/build-schema.ts';
import type { Variables } from './read-variables.ts';

const schema = buildSchema(sampleModel);

/** Reads the variables of a query with these declarations, which are all used. */
function read(declarations: string, sent: Record<string, unknown>): Variables {
  const names = [...declarations.matchAll(/\$(\w+): *(\[?\w+)/g)];
  const argumentNames: Record<string, string> = {
    AccountFilter: 'filter',
    '[AccountOrderBy': 'orderBy',
    Int: 'first',
    Cursor: 'after',
  };
  const uses = names.map(([, name, type], index) => {
    if (type === 'Boolean') return `u${index}: __typename @include(if: $${name})`;
    if (type === 'ID') return `u${index}: node(nodeId: $${name}) { nodeId }`;
    const filter = { BigInt: 'balance', '[BigInt': 'balance', Mood: 'mood' }[type!];
    const operator = type!.startsWith('[') ? 'in' : 'eq';
    const argument = filter ? `filter: { ${filter}: { ${operator}: $${name} } }` : `${argumentNames[type!]}: $${name}`;
    return `u${index}: accountCollection(${argument}) { totalCount }`;
  });
  const [operation] = parseDocument(schema, `query (${declarations}) { ${uses.join(' ')} }`).operations;
  return readVariables(operation!.variables, sent);
}

const filterShape = (filter: unknown) => read('$f: AccountFilter', { f: filter }).shape;
const encode = (json: string) => Buffer.from(json).toString('base64');

describe('the shape of variables', () => {
  it('is one for all values of leaves', () => {
    assert.equal(filterShape({ name: { eq: 'a' } }), filterShape({ name: { eq: "b'" } }));
    assert.equal(filterShape({ balance: { in: [1] } }), filterShape({ balance: { in: [] } }));
    assert.equal(filterShape({ mood: { eq: 'calm' } }), filterShape({ mood: { eq: 'wild' } }));
    assert.equal(read('$c: Cursor', { c: encode('[1, "a"]') }).shape, read('$c: Cursor', { c: encode('[2, "b"]') }).shape);
    assert.equal(read('$i: ID!', { i: encode('["s","t",1]') }).shape, read('$i: ID!', { i: encode('["s","t",2]') }).shape);
  });

  it('differs where the SQL differs', () => {
    const shapes = [
      undefined,
      null,
      {},
      { name: null },
      { name: {} },
      { name: { eq: null } },
      { name: { eq: 'a' } },
      { name: { neq: 'a' } },
      { name: { is: 'NULL' } },
      { name: { is: 'NOT_NULL' } },
      { balance: { in: [1] } },
      { and: [] },
      { and: [{}] },
      { and: [{}, {}] },
      { or: [{}, {}] },
      { name: { eq: 'a' }, balance: { eq: 1 } },
      { and: [{ name: { eq: 'a' } }, { balance: { eq: 1 } }] },
    ].map(filterShape);
    assert.equal(new Set(shapes).size, shapes.length, shapes.join(' '));
  });

  it('differs by directions and conditions', () => {
    const order = (...directions: string[]) => read('$o: [AccountOrderBy!]', { o: directions.map((id) => ({ id })) }).shape;
    const condition = (value: boolean) => read('$b: Boolean!', { b: value }).shape;
    assert.notEqual(order('AscNullsLast'), order('DescNullsLast'));
    assert.notEqual(order('AscNullsLast'), order('AscNullsLast', 'AscNullsLast'));
    assert.notEqual(condition(true), condition(false));
  });

  it('differs by the nulls of a cursor and the table of a nodeId', () => {
    const cursor = (json: string) => read('$c: Cursor', { c: encode(json) }).shape;
    const nodeId = (json: string) => read('$i: ID!', { i: encode(json) }).shape;
    assert.equal(new Set(['[]', '[1]', '[null]', '[1,null]', '[null,1]'].map(cursor)).size, 5);
    assert.equal(new Set(['["a","b",1]', '["a","c",1]', '["ab","",1]', '["a","b",null]'].map(nodeId)).size, 4);
  });
});

describe('the values of variables', () => {
  it('are leaves in the order of the request', () => {
    const { values, leaves } = read('$f: AccountFilter, $n: Int', { n: 5, f: { name: { eq: 'a' }, balance: { in: [1, '2'] } } });
    assert.deepEqual(leaves, ['a', ['1', '2'], '5']);
    assert.deepEqual(values.get('n'), { kind: 'variable', leaf: 2 });
    const filter = values.get('f');
    assert.ok(filter?.kind === 'object');
    assert.deepEqual(
      filter.entries.map(({ name, binding }) => [name, binding]),
      [
        ['name', { kind: 'column', column: account.columns[1] }],
        ['balance', { kind: 'column', column: account.columns[2] }],
      ],
    );
  });

  it('keep every digit of a BigInt', () => {
    assert.deepEqual(read('$b: BigInt', { b: 9007199254740993n }).leaves, ['9007199254740993']);
    assert.deepEqual(read('$b: BigInt', { b: '123456789012345678901234567890' }).leaves, ['123456789012345678901234567890']);
    assert.deepEqual(read('$b: [BigInt!]', { b: [9007199254740993n, 1] }).leaves, [['9007199254740993', '1']]);
  });

  it('take one item for a list', () => {
    assert.deepEqual(read('$b: [BigInt!]', { b: 7 }).leaves, [['7']]);
    assert.equal(read('$o: [AccountOrderBy!]', { o: { id: 'AscNullsLast' } }).values.get('o')?.kind, 'list');
  });

  it('are known where they decide on a directive', () => {
    assert.deepEqual(read('$b: Boolean!', { b: true }).values.get('b'), { kind: 'constant', value: true });
  });

  it('have the default of the declaration where absent, and null where null is sent', () => {
    assert.deepEqual(read('$n: Int = 3', {}).values.get('n'), { kind: 'constant', value: '3' });
    assert.deepEqual(read('$n: Int = 3', { n: undefined }).values.get('n'), { kind: 'constant', value: '3' });
    assert.equal(read('$n: Int = 3', { n: null }).values.get('n'), null);
    assert.equal(read('$n: Int', {}).values.has('n'), false);
    assert.notEqual(read('$n: Int = 3', {}).shape, read('$n: Int = 3', { n: null }).shape);
  });

  it('are only those that are declared and own', () => {
    const { values, leaves } = read('$n: Int', { other: 1 });
    assert.deepEqual([values.size, leaves.length], [0, 0]);
    assert.throws(() => filterShape(JSON.parse('{"__proto__": {"eq": 1}}')), /Field "__proto__" is not defined/);
    assert.throws(() => filterShape({ constructor: {} }), /Field "constructor" is not defined/);
  });
});

describe('errors of variables', () => {
  it('name the variable', () => {
    const refused: [string, Record<string, unknown>, RegExp][] = [
      ['$n: Int', { n: 'x' }, /^Variable "\$n" got an invalid value: Int cannot represent/],
      ['$b: BigInt!', {}, /^Variable "\$b" is required: its type is BigInt!\.$/],
      ['$b: BigInt!', { b: null }, /^Variable "\$b" got an invalid value: Expected non-nullable/],
      ['$b: [BigInt!]', { b: [1, null] }, /^Variable "\$b" got an invalid value: Expected non-nullable/],
      ['$b: BigInt', { b: true }, /^Variable "\$b" got an invalid value: BigInt cannot represent true/],
      ['$m: Mood', { m: 'furious' }, /^Variable "\$m" got an invalid value: Value "furious" does not exist in "Mood" enum/],
      ['$f: AccountFilter', { f: [] }, /^Variable "\$f" got an invalid value: Expected type "AccountFilter" to be an object/],
      [
        '$f: AccountFilter',
        { f: { nope: 1 } },
        /^Variable "\$f" got an invalid value: Field "nope" is not defined by type "AccountFilter"/,
      ],
      [
        '$o: [AccountOrderBy!]',
        { o: [{ id: 'Up' }] },
        /^Variable "\$o" got an invalid value: Value "Up" does not exist in "OrderByDirection"/,
      ],
      ['$b: Boolean!', { b: 'true' }, /^Variable "\$b" got an invalid value: Boolean cannot represent/],
    ];
    for (const [declarations, sent, message] of refused) {
      assert.throws(() => read(declarations, sent), { code: 'BAD_USER_INPUT', message });
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coerceVariableValues, parseDocument } from '../../../test/support/request-stages.ts';
import { account, sampleModel } from '../../../test/support/sample-model.ts';
import { noLimits } from '../../budget/limits.ts';
import { runAtOnce } from '../../budget/turns.ts';
import { buildSchema } from '../../schema/build-schema.ts';
import { coerceVariables, type Variables } from './coerce-variables.ts';

const schema = runAtOnce(buildSchema(sampleModel));

/** Coerces variables for a query with these declarations, all of which it uses. */
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
  return coerceVariableValues(operation!.variables, sent);
}

const filterVariant = (filter: unknown) => read('$f: AccountFilter', { f: filter }).variant;
const encode = (json: string) => Buffer.from(json).toString('base64');

describe('the variant of variables', () => {
  it('is the same for all bind values', () => {
    assert.equal(filterVariant({ name: { eq: 'a' } }), filterVariant({ name: { eq: "b'" } }));
    assert.equal(filterVariant({ balance: { in: [1] } }), filterVariant({ balance: { in: [] } }));
    assert.equal(filterVariant({ mood: { eq: 'calm' } }), filterVariant({ mood: { eq: 'wild' } }));
    assert.equal(read('$c: Cursor', { c: encode('[1, "a"]') }).variant, read('$c: Cursor', { c: encode('[2, "b"]') }).variant);
    assert.equal(read('$i: ID!', { i: encode('["s","t",1]') }).variant, read('$i: ID!', { i: encode('["s","t",2]') }).variant);
  });

  it('differs if the SQL differs', () => {
    const variants = [
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
    ].map(filterVariant);
    assert.equal(new Set(variants).size, variants.length, variants.join(' '));
  });

  it('depends on directions and conditions', () => {
    const order = (...directions: string[]) => read('$o: [AccountOrderBy!]', { o: directions.map((id) => ({ id })) }).variant;
    const condition = (value: boolean) => read('$b: Boolean!', { b: value }).variant;
    assert.notEqual(order('AscNullsLast'), order('DescNullsLast'));
    assert.notEqual(order('AscNullsLast'), order('AscNullsLast', 'AscNullsLast'));
    assert.notEqual(condition(true), condition(false));
  });

  it('depends on the nulls of a cursor and the table of a nodeId', () => {
    const cursor = (json: string) => read('$c: Cursor', { c: encode(json) }).variant;
    const nodeId = (json: string) => read('$i: ID!', { i: encode(json) }).variant;
    assert.equal(new Set(['[]', '[1]', '[null]', '[1,null]', '[null,1]'].map(cursor)).size, 5);
    assert.equal(new Set(['["a","b",1]', '["a","c",1]', '["ab","",1]', '["a","b",null]'].map(nodeId)).size, 4);
  });
});

describe('the values of variables', () => {
  it('are bind values in the order of the request', () => {
    const { values, bindValues } = read('$f: AccountFilter, $n: Int', { n: 5, f: { name: { eq: 'a' }, balance: { in: [1, '2'] } } });
    assert.deepEqual(bindValues, ['a', ['1', '2'], '5']);
    assert.deepEqual(values.get('n'), { kind: 'variable', index: 2 });
    const filter = values.get('f');
    assert.ok(filter?.kind === 'object');
    assert.deepEqual(
      filter.entries.map(({ name, binding }) => [name, binding]),
      [
        ['name', { at: 'filter', kind: 'column', column: account.columns[1] }],
        ['balance', { at: 'filter', kind: 'column', column: account.columns[2] }],
      ],
    );
  });

  it('keep every digit of a BigInt', () => {
    assert.deepEqual(read('$b: BigInt', { b: 9007199254740993n }).bindValues, ['9007199254740993']);
    assert.deepEqual(read('$b: BigInt', { b: '123456789012345678901234567890' }).bindValues, ['123456789012345678901234567890']);
    assert.deepEqual(read('$b: [BigInt!]', { b: [9007199254740993n, 1] }).bindValues, [['9007199254740993', '1']]);
  });

  it('accept a single item as a list', () => {
    assert.deepEqual(read('$b: [BigInt!]', { b: 7 }).bindValues, [['7']]);
    assert.equal(read('$o: [AccountOrderBy!]', { o: { id: 'AscNullsLast' } }).values.get('o')?.kind, 'list');
  });

  it('are constants if a directive depends on them', () => {
    assert.deepEqual(read('$b: Boolean!', { b: true }).values.get('b'), { kind: 'constant', value: true });
  });

  it('are the declared default if absent, and null if null is sent', () => {
    assert.deepEqual(read('$n: Int = 3', {}).values.get('n'), { kind: 'constant', value: '3' });
    assert.deepEqual(read('$n: Int = 3', { n: undefined }).values.get('n'), { kind: 'constant', value: '3' });
    assert.equal(read('$n: Int = 3', { n: null }).values.get('n'), null);
    assert.equal(read('$n: Int', {}).values.has('n'), false);
    assert.notEqual(read('$n: Int = 3', {}).variant, read('$n: Int = 3', { n: null }).variant);
  });

  it('are only those of declared variables that are own properties', () => {
    const { values, bindValues } = read('$n: Int', { other: 1 });
    assert.deepEqual([values.size, bindValues.length], [0, 0]);
    assert.throws(() => filterVariant(JSON.parse('{"__proto__": {"eq": 1}}')), /Field "__proto__" is not defined/);
    assert.throws(() => filterVariant({ constructor: {} }), /Field "constructor" is not defined/);
  });
});

describe('errors of variables', () => {
  it('name the variable', () => {
    const refused: [string, Record<string, unknown>, RegExp][] = [
      ['$n: Int', { n: 'x' }, /^Variable "\$n" got an invalid value: Int cannot represent/],
      ['$b: BigInt!', {}, /^Variable "\$b" is required: its type is BigInt!\.$/],
      ['$b: BigInt!', { b: null }, /^Variable "\$b" got an invalid value: Expected non-nullable/],
      ['$b: [BigInt!]', { b: [1, null] }, /^Variable "\$b" got an invalid value at "b\[1\]": Expected non-nullable/],
      ['$b: BigInt', { b: true }, /^Variable "\$b" got an invalid value: BigInt cannot represent true/],
      ['$m: Mood', { m: 'furious' }, /^Variable "\$m" got an invalid value: Value "furious" does not exist in "Mood" enum/],
      ['$f: AccountFilter', { f: [] }, /^Variable "\$f" got an invalid value: Expected type "AccountFilter" to be an object/],
      [
        '$f: AccountFilter',
        { f: { nope: 1 } },
        /^Variable "\$f" got an invalid value: Field "nope" is not defined by type "AccountFilter"/,
      ],
      [
        '$f: AccountFilter',
        { f: { and: [{ name: { eq: 'a' } }, { not: { balance: { in: [1, true] } } }] } },
        /^Variable "\$f" got an invalid value at "f\.and\[1\]\.not\.balance\.in\[1\]": BigInt cannot represent true\. Pass a string or an integer\.$/,
      ],
      [
        '$f: AccountFilter',
        { f: { and: [{ nope: 1 }] } },
        /^Variable "\$f" got an invalid value at "f\.and\[0\]": Field "nope" is not defined by type "AccountFilter"/,
      ],
      ['$m: Mood', { m: '' }, /^Variable "\$m" got an invalid value: Value "" does not exist in "Mood" enum\.$/],
      [
        '$o: [AccountOrderBy!]',
        { o: [{ id: 'Up' }] },
        /^Variable "\$o" got an invalid value at "o\[0\].id": Value "Up" does not exist in "OrderByDirection"/,
      ],
      ['$b: Boolean!', { b: 'true' }, /^Variable "\$b" got an invalid value: Boolean cannot represent/],
    ];
    for (const [declarations, sent, message] of refused) {
      assert.throws(() => read(declarations, sent), { code: 'BAD_USER_INPUT', message });
    }
  });
});

describe('long variables', () => {
  const [operation] = parseDocument(schema, 'query ($f: AccountFilter) { accountCollection(filter: $f) { totalCount } }').operations;
  const members = (count: number) => Array.from({ length: count }, (_, index) => ({ balance: { eq: index } }));

  /** Counts how often coercing yields, and returns its result. */
  function readInSteps(f: unknown): { readonly pauses: number; readonly variables: Variables } {
    const steps = coerceVariables(operation!.variables, { f }, noLimits, 0, 'strict');
    for (let pauses = 0; ; pauses += 1) {
      const { done, value } = steps.next();
      if (done) return { pauses, variables: value };
    }
  }

  it('are coerced like short ones, but yield after every hundred objects', () => {
    for (const f of [{ and: members(225) }, { not: { or: [{ and: members(225) }, { balance: { eq: 1 } }] } }]) {
      const { pauses, variables } = readInSteps(f);
      assert.equal(pauses, 4);
      assert.deepEqual(variables, coerceVariableValues(operation!.variables, { f }));
    }
    for (const f of [{ balance: { eq: 1 } }, { and: members(10) }, { balance: { in: Array(1000).fill(1) } }])
      assert.equal(readInSteps(f).pauses, 0);
  });

  it('may be mixed with short ones, and have undefined members', () => {
    const text = 'query ($f: AccountFilter, $n: Int) { accountCollection(filter: $f, first: $n) { totalCount } }';
    const { variables } = parseDocument(schema, text).operations[0]!;
    const read = (f: object) => runAtOnce(coerceVariables(variables, { f, n: 3 }, noLimits, 0, 'strict'));
    const long = { and: members(450) };
    assert.deepEqual(read(long), coerceVariableValues(variables, { f: long, n: 3 }));
    assert.deepEqual(read({ ...long, or: undefined }), read(long));
    const short = coerceVariableValues(variables, { f: { balance: { eq: 1 }, or: undefined }, n: 3 });
    assert.deepEqual(short, coerceVariableValues(variables, { f: { balance: { eq: 1 } }, n: 3 }));
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type GraphQLEnumType, type GraphQLField, type GraphQLObjectType, parse, validate, validateSchema } from 'graphql';
import { account, columnOf, enumOf, int4, modelOf, sampleModel, tableWith, text } from '../../test/support/sample-model.ts';
import { runAtOnce } from '../budget/turns.ts';
import type { Table } from '../model/model.ts';
import { commonTypeNames } from '../model/naming/graphql-names.ts';
import { fieldBinding } from './bindings.ts';
import { buildSchema } from './build-schema.ts';
import type { LazySchema } from './lazy/lazy-schema.ts';

const fieldsOf = (schema: LazySchema, typeName: string) => (schema.getType(typeName) as GraphQLObjectType).getFields();
const rootFields = (...tables: Table[]) => Object.keys(fieldsOf(runAtOnce(buildSchema(modelOf(tables))), 'Query'));

describe('buildSchema', () => {
  const schema = runAtOnce(buildSchema(sampleModel));

  it('is a valid schema', () => {
    schema.getTypeMap();
    assert.deepEqual(validateSchema(schema), []);
  });

  it('has exactly the types whose names are reserved', () => {
    const names = [...runAtOnce(buildSchema(modelOf([]))).typeNames()].filter((name) => !name.startsWith('__'));
    assert.deepEqual(names.sort(), commonTypeNames.filter((name) => name !== 'Mutation').toSorted());
  });

  it('has root fields for tables, with their bindings', () => {
    const fields = fieldsOf(schema, 'Query');
    assert.deepEqual(Object.keys(fields), ['node', 'accountByPk', 'accountCollection', 'postByPk', 'postCollection']);
    assert.deepEqual(fieldBinding(fields.accountCollection!), { at: 'query', kind: 'collection', table: account });
    assert.deepEqual(Object.keys(fieldsOf(schema, 'Mutation')).slice(0, 3), [
      'insertIntoAccountCollection',
      'updateAccountCollection',
      'deleteFromAccountCollection',
    ]);
  });

  it('has lookups by unique keys, with the final names of columns', () => {
    const lookup = { fieldName: 'accountByNameAndId', table: account, columns: ['name', 'id'] };
    const { accountByNameAndId } = fieldsOf(runAtOnce(buildSchema({ ...modelOf([account]), lookups: [lookup] })), 'Query');
    assert.equal(accountByNameAndId?.description, 'Retrieve a record of type `Account` by its unique `name` and `id`');
    assert.deepEqual(
      accountByNameAndId?.args.map(({ name, type }) => `${name}: ${type}`),
      ['name: String!', 'id: Int!'],
    );
    assert.deepEqual(fieldBinding(accountByNameAndId!), { at: 'query', kind: 'by key', table: account });
  });

  it('has lazy root fields that behave like ordinary properties', () => {
    const fields = fieldsOf(schema, 'Query');
    const { get, enumerable } = Object.getOwnPropertyDescriptor(fields, 'accountByPk')!;
    assert.equal(get?.(), fields.accountByPk);
    assert.deepEqual([enumerable, Object.getOwnPropertyDescriptor(fields, 'gone')], [true, undefined]);
  });

  it('builds the same fields one by one as all together', () => {
    const describe = (field: GraphQLField<unknown, unknown>) => [field.name, String(field.type), field.toConfig()];
    for (const name of ['Query', 'Mutation', 'Account']) {
      assert.deepEqual([...schema.fieldsOf(schema.getType(name)!)!].map(describe), Object.values(fieldsOf(schema, name)).map(describe));
    }
    assert.equal(schema.fieldsOf(schema.getType('Mood')!), undefined);
  });

  it('has the columns with their types, and the relations', () => {
    const fields = Object.entries(fieldsOf(schema, 'Account')).map(([name, { type }]) => `${name}: ${type}`);
    assert.deepEqual(fields, [
      'nodeId: ID!',
      'id: Int!',
      'name: String',
      'balance: BigInt',
      'active: Boolean',
      'mood: Mood',
      'tags: [String]',
      'posts: PostConnection',
    ]);
  });

  it('has no Mutation type if nothing is writable', () => {
    const readOnly = { ...account, insertable: false, updatable: false, deletable: false, relations: [] };
    assert.equal(runAtOnce(buildSchema(modelOf([readOnly], []))).getMutationType(), undefined);
  });

  it('has nothing of a table that the role may not read', () => {
    assert.deepEqual(rootFields({ ...account, selectable: false }), ['node']);
  });

  it('lists only enum values with legal names', () => {
    const mood = enumOf({ calm: 'calm', 'not calm': 'not calm', true: 'true' });
    const values = (runAtOnce(buildSchema(modelOf([], [mood]))).getType('Mood') as GraphQLEnumType).getValues();
    assert.deepEqual(
      values.map(({ name }) => name),
      ['calm'],
    );
  });
});

describe('names of properties that every JavaScript object inherits', () => {
  const key = columnOf('id', int4, { notNull: true });

  it('can be names of tables', () => {
    const schema = runAtOnce(buildSchema(modelOf([tableWith('Constructor', [key]), tableWith('ToString', [key])])));
    assert.deepEqual(Object.keys(fieldsOf(schema, 'Query')), [
      'node',
      'constructorByPk',
      'constructorCollection',
      'toStringByPk',
      'toStringCollection',
    ]);
    assert.equal(runAtOnce(buildSchema(modelOf([tableWith('constructor', [key])]))).getType('constructor')?.name, 'constructor');
  });

  it('can be names of columns', () => {
    const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
    const table = tableWith('Odd', [key, ...names.map((name) => columnOf(name, text))]);
    const schema = runAtOnce(buildSchema(modelOf([table])));
    const fields = fieldsOf(schema, 'Odd');
    for (const name of names) assert.ok(Object.hasOwn(fields, name), name);
    const filter = (schema.getType('OddFilter') as unknown as GraphQLObjectType).getFields();
    for (const name of names) assert.ok(Object.hasOwn(filter, name), name);
    const query = '{ oddCollection(filter: { __proto__: { eq: "a" } }) { edges { node { constructor __proto__ toString } } } }';
    assert.deepEqual(validate(schema, parse(query)), []);
  });

  it('are not fields unless a table has them', () => {
    const schema = runAtOnce(buildSchema(sampleModel));
    for (const name of ['constructor', '__proto__', 'toString']) {
      assert.equal(fieldsOf(schema, 'Query')[name], undefined, name);
      assert.equal(schema.getType(name), undefined, name);
    }
  });
});

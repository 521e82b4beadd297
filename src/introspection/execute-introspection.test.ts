import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery, printSchema } from 'graphql';
import { coerceVariableValues, parseDocument } from '../../test/support/request-stages.ts';
import { columnOf, int4, modelOf, sampleModel, tableWith } from '../../test/support/sample-model.ts';
import { runAtOnce } from '../budget/turns.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Model } from '../model/model.ts';
import { getOperation } from '../request/validate/parse-document.ts';
import { buildSchema } from '../schema/build-schema.ts';
import { executeIntrospection } from './execute-introspection.ts';

interface ExecuteOptions {
  readonly variables?: Record<string, unknown>;
  readonly key?: string;
  readonly model?: Model;
}

/** Executes the selections of a document under these response keys. */
function executeAll(text: string, keys: readonly string[], { variables = {}, model = sampleModel }: ExecuteOptions = {}) {
  const document = parseDocument(runAtOnce(buildSchema(model)), text);
  const operation = getOperation(document, undefined);
  const coerced = coerceVariableValues(operation.variables, variables);
  return executeIntrospection(
    () => modelWithoutPause(model),
    { node: operation.node, fragments: document.fragments, variables: coerced },
    keys,
  );
}

/** Executes the selection under one key. */
function* execute(text: string, options: ExecuteOptions = {}): Generator<void, readonly Buffer[]> {
  const { key = '__schema' } = options;
  return (yield* executeAll(text, [key], options)).get(key)!;
}

// biome-ignore lint/correctness/useYield: an existing model needs no pause
function* modelWithoutPause(model: Model): Generator<void, Model> {
  return model;
}

function resultOf(text: string, options?: ExecuteOptions): unknown {
  return JSON.parse(Buffer.concat(runAtOnce(execute(text, options))).toString());
}

describe('executeIntrospection', () => {
  it('describes the whole schema to a client', () => {
    const described = {
      __schema: resultOf(getIntrospectionQuery({ schemaDescription: true, specifiedByUrl: true })),
    } as IntrospectionQuery;
    const client = buildClientSchema(described);
    const schema = runAtOnce(buildSchema(sampleModel));
    assert.equal(printSchema(client), printSchema(schema));
    assert.equal(client.getPossibleTypes(client.getType('Node') as never).length, 2);
  });

  it('yields between the members of lists', () => {
    let pauses = 0;
    const work = execute('{ __schema { types { name fields { name } } } }');
    while (!work.next().done) pauses++;
    assert.ok(pauses > 100);
  });

  it('supports aliases and fragments, and merges the selections of each key', () => {
    const text = `{ ...Root a: __type(name: "PageInfo") { __typename ... on __Type { n: name } } }
      fragment Root on Query { a: __type(name: "PageInfo") { n: name ...Fields } }
      fragment Fields on __Type { fields { name type { kind ofType { name } } } }`;
    assert.deepEqual(resultOf(text, { key: 'a' }), {
      n: 'PageInfo',
      fields: [
        { name: 'endCursor', type: { kind: 'SCALAR', ofType: null } },
        { name: 'hasNextPage', type: { kind: 'NON_NULL', ofType: { name: 'Boolean' } } },
        { name: 'hasPreviousPage', type: { kind: 'NON_NULL', ofType: { name: 'Boolean' } } },
        { name: 'startCursor', type: { kind: 'SCALAR', ofType: null } },
      ],
      __typename: '__Type',
    });
  });

  it('reads variables, and leaves out skipped fields', () => {
    const text = `query ($name: String!, $is: Boolean = true, $data: AccountFilter) {
      __type(name: $name) { name @skip(if: $is) kind @include(if: $is) ... @skip(if: $is) { description } }
      none: __type(name: $name) { name @skip(if: $is) }
      accountCollection(filter: $data) { pageInfo { endCursor } }
    }`;
    const variables = { name: 'Account', data: { id: { eq: 1 } } };
    assert.deepEqual(resultOf(text, { key: '__type', variables }), { kind: 'OBJECT' });
    assert.deepEqual(resultOf(text, { key: 'none', variables }), {});
    assert.deepEqual(resultOf(text, { key: 'none', variables: { ...variables, is: false } }), { name: 'Account' });
    assert.equal(resultOf(text, { key: 'none', variables: { name: 'Gone' } }), null);
  });

  it('returns empty lists of values and interfaces for types without any, and null for other lists', () => {
    const text =
      '{ __type(name: "String") { enumValues(includeDeprecated: true) { name } i: interfaces { name } fields { name } possibleTypes { name } } }';
    assert.deepEqual(resultOf(text, { key: '__type' }), { enumValues: [], i: [], fields: null, possibleTypes: null });
    const nested = '{ __type(name: "PageInfo") { fields { type { interfaces { name } enumValues { name } } } } }';
    assert.deepEqual((resultOf(nested, { key: '__type' }) as { fields: unknown[] }).fields[0], {
      type: { interfaces: [], enumValues: [] },
    });
  });

  it('describes introspection types identically by name and in the list of types', () => {
    const { types } = resultOf('{ __schema { types { name description } } }') as { types: { name: string }[] };
    assert.deepEqual(
      resultOf('{ __type(name: "__Directive") { name description } }', { key: '__type' }),
      types.find(({ name }) => name === '__Directive'),
    );
  });

  it('describes its own arguments as documents are validated against them', () => {
    const text = '{ __type(name: "__Type") { fields(includeDeprecated: null) { args { type { name } } } } }';
    const { fields } = resultOf(text, { key: '__type' }) as { fields: { args: unknown[] }[] };
    assert.deepEqual(
      fields.flatMap(({ args }) => args),
      Array.from({ length: 3 }, () => ({ type: { name: 'Boolean' } })),
    );
  });

  it('describes types named like inherited JavaScript properties', () => {
    const model = modelOf([tableWith('constructor', [columnOf('toString', int4)])]);
    const { types } = resultOf('{ __schema { types { name fields { name } } } }', { model }) as {
      types: { name: string; fields: unknown }[];
    };
    assert.deepEqual(types.find(({ name }) => name === 'constructor')?.fields, [{ name: 'nodeId' }, { name: 'toString' }]);
  });

  it('yields while it looks for the few types that implement an interface', () => {
    const steps = execute('{ __type(name: "Node") { possibleTypes { name } } }', { key: '__type' });
    let pauses = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) pauses += 1;
    assert.equal(Buffer.concat(step.value).toString(), '{"possibleTypes":[{"name":"Account"},{"name":"Post"}]}');
    assert.ok(pauses > runAtOnce(buildSchema(sampleModel)).typeNames().length, `${pauses} pauses`);
  });

  it('answers several root fields, each with its own selection', () => {
    const text = '{ a: __type(name: "PageInfo") { name } b: __schema { queryType { name } } c: __type(name: "Gone") { name } }';
    const json = runAtOnce(executeAll(text, ['a', 'b', 'c']));
    assert.deepEqual(
      [...json].map(([key, pieces]) => [key, JSON.parse(Buffer.concat(pieces).toString())]),
      [
        ['a', { name: 'PageInfo' }],
        ['b', { queryType: { name: 'Query' } }],
        ['c', null],
      ],
    );
  });

  it('limits the total length of all root fields', () => {
    const keys = Array.from({ length: 200 }, (_, index) => `a${index}`);
    const selection = '__schema { types { name description fields { name description args { name description } } } }';
    const text = `{ ${keys.map((key) => `${key}: ${selection}`).join(' ')} }`;
    assert.equal(runAtOnce(executeAll(text, keys.slice(0, 2))).size, 2);
    assert.throws(
      () => runAtOnce(executeAll(text, keys)),
      (error) => error instanceof ApiError && error.code === 'QUERY_TOO_COMPLEX' && error.message.includes('Select each field only once'),
    );
  });

  it('rejects an invalid argument', () => {
    const text = 'query ($name: String = "Query") { __type(name: $name) { name } }';
    assert.throws(
      () => resultOf(text, { key: '__type', variables: { name: null } }),
      (error) => error instanceof ApiError && error.code === 'BAD_USER_INPUT' && error.message.includes('(name:)'),
    );
  });
});

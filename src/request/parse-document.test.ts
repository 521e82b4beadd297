import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sampleModel } from '../../test/support/sample-model.ts';
import { ApiError } from '../errors.ts';
import { buildSchema } from '../schema/build-schema.ts';
import { chooseOperation, parseDocument, RequestErrors } from './parse-document.ts';

const schema = buildSchema(sampleModel);

/** What is told of the errors of a document. */
function errorsOf(text: string): { code: string; message: string; locations: unknown }[] {
  try {
    parseDocument(schema, text);
  } catch (error) {
    const errors = error instanceof RequestErrors ? error.errors : [error];
    return errors.map((each) => {
      assert.ok(each instanceof ApiError);
      return { code: each.code, message: each.message, locations: each.locations };
    });
  }
  return [];
}

describe('parseDocument', () => {
  it('has operations with their variables, and fragments', () => {
    const { operations, fragments } = parseDocument(
      schema,
      'query a($n: Int = 2, $b: Boolean!) { accountCollection(first: $n) @skip(if: $b) { ...f } } query b { __typename } fragment f on AccountConnection { totalCount }',
    );
    assert.deepEqual(
      operations.map(({ name }) => name),
      ['a', 'b'],
    );
    assert.deepEqual(
      operations[0]?.variables.map(({ name, type, defaultValue, isCondition }) => [name, String(type), defaultValue, isCondition]),
      [
        ['n', 'Int', { kind: 'constant', value: '2' }, false],
        ['b', 'Boolean!', undefined, true],
      ],
    );
    assert.deepEqual([...fragments.keys()], ['f']);
  });

  it('tells where the syntax is wrong', () => {
    assert.deepEqual(errorsOf('{\n  a(\n}'), [
      { code: 'GRAPHQL_PARSE_FAILED', message: 'Syntax Error: Expected Name, found "}".', locations: [{ line: 3, column: 1 }] },
    ]);
    assert.deepEqual(
      errorsOf('').map(({ code }) => code),
      ['GRAPHQL_PARSE_FAILED'],
    );
  });

  it('tells where the document does not fit the schema, up to five times', () => {
    assert.deepEqual(errorsOf('{ accountCollection {\n nope } ...x }'), [
      {
        code: 'GRAPHQL_VALIDATION_FAILED',
        message: 'Cannot query field "nope" on type "AccountConnection".',
        locations: [{ line: 2, column: 2 }],
      },
      { code: 'GRAPHQL_VALIDATION_FAILED', message: 'Unknown fragment "x".', locations: [{ line: 2, column: 12 }] },
    ]);
    const many = errorsOf(`{ ${Array.from({ length: 100 }, (_, index) => `x${index}`).join(' ')} }`);
    assert.equal(many.filter(({ message }) => message.startsWith('Cannot query field')).length, 5);
    assert.match(many[5]?.message ?? '', /^Too many validation errors/);
    assert.equal(many.length, 6);
  });

  it('refuses documents of too many tokens', () => {
    assert.match(errorsOf(`{ ${'a '.repeat(200_001)} }`)[0]?.message ?? '', /200000 tokens/);
  });

  it('refuses documents nested so deeply that the parser gives up', () => {
    assert.deepEqual(errorsOf('{a'.repeat(60_000)), [
      { code: 'QUERY_TOO_COMPLEX', message: 'The document is nested too deeply.', locations: undefined },
    ]);
  });
});

describe('chooseOperation', () => {
  const named = parseDocument(schema, 'query a { __typename } query b { __typename }');
  const fails = (text: string, name: string | null, message: RegExp) =>
    assert.throws(() => chooseOperation(parseDocument(schema, text), name), { code: 'OPERATION_RESOLUTION_FAILURE', message });

  it('takes the one that is named, or the only one', () => {
    assert.equal(chooseOperation(named, 'b').name, 'b');
    assert.equal(chooseOperation(parseDocument(schema, 'query a { __typename }'), null).name, 'a');
    assert.equal(chooseOperation(parseDocument(schema, '{ __typename }'), undefined).name, undefined);
  });

  it('refuses what leaves none or several', () => {
    fails('query a { __typename } query b { __typename }', null, /several operations/);
    fails('query a { __typename }', 'c', /no operation named "c"/);
    fails('{ __typename }', '', /no operation named ""/);
  });
});

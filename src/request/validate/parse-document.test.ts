import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseDocument } from '../../../test/support/request-stages.ts';
import { sampleModel } from '../../../test/support/sample-model.ts';
import { runAtOnce } from '../../budget/turns.ts';
import { ApiError } from '../../errors/api-error.ts';
import { buildSchema } from '../../schema/build-schema.ts';
import { getOperation, RequestErrors } from './parse-document.ts';

const schema = runAtOnce(buildSchema(sampleModel));

/** The code, message and locations of a document's errors. */
function errorsOf(text: string, suggests = true): { code: string; message: string; locations: unknown }[] {
  try {
    parseDocument(schema, text, 'strict', suggests);
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
  it('returns operations with their variables, and fragments', () => {
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

  it('locates a syntax error', () => {
    assert.deepEqual(errorsOf('{\n  a(\n}'), [
      { code: 'GRAPHQL_PARSE_FAILED', message: 'Syntax Error: Expected Name, found "}".', locations: [{ line: 3, column: 1 }] },
    ]);
    assert.deepEqual(
      errorsOf('').map(({ code }) => code),
      ['GRAPHQL_PARSE_FAILED'],
    );
  });

  it('locates up to five validation errors', () => {
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

  it('suggests names only if it may', () => {
    const guesses: [guess: string, suggested: RegExp][] = [
      ['{ accountCollectio { totalCount } }', /accountCollection/],
      ['{ Collection { totalCount } }', /postCollection/],
      ['{ accountCollection(filte: null) { totalCount } }', /filter/],
      ['{ accountCollection { totalCoun } }', /totalCount/],
      ['{ accountCollection(filter: {nodeI: null}) { totalCount } }', /nodeId/],
      ['{ accountCollection(orderBy: [{id: AscNullFirst}]) { totalCount } }', /AscNullsFirst/],
      ['{ accountCollection(orderBy: [{id: "AscNullsFirst"}]) { totalCount } }', /AscNullsFirst/],
      ['query ($f: AccountFilter = {nodeI: null}) { accountCollection(filter: $f) { totalCount } }', /nodeId/],
      ['query ($d: OrderByDirection = AscNullFirst) { accountCollection(orderBy: [{id: $d}]) { totalCount } }', /AscNullsFirst/],
      ['{ accountCollection { totalCount @skip(iff: true) } }', /"if"/],
    ];
    for (const [text, suggested] of guesses) {
      assert.match(errorsOf(text)[0]?.message ?? '', suggested, text);
      const [hidden] = errorsOf(text, false);
      assert.equal(hidden?.code, 'GRAPHQL_VALIDATION_FAILED');
      assert.doesNotMatch(hidden.message, /did you mean/i, text);
    }
  });

  it('locates errors in a document of several lines, with the first few locations of each', () => {
    assert.deepEqual(
      errorsOf('{\r\n\n  nope\r}').map(({ locations }) => locations),
      [[{ line: 3, column: 3 }]],
    );
    const cycle = Array.from({ length: 30 }, (_, index) => `fragment f${index} on Query { __typename ...f${(index + 1) % 30} }`);
    const [error] = errorsOf(`{ ...f0 } ${cycle.join('\n')}`);
    assert.match(error?.message ?? '', /^Cannot spread fragment "f0" within itself/);
    assert.equal((error!.locations as unknown[]).length, 10);
  });

  it('validates long documents by a few rules at a time, with the same result', () => {
    const long = (field: string): string => `{ accountCollection { edges { node { ${'id '.repeat(3000)} ${field} } } } }`;
    assert.deepEqual(errorsOf(long('balance')), []);
    assert.deepEqual(
      errorsOf(long('nope')).map(({ code, message }) => [code, message]),
      [['GRAPHQL_VALIDATION_FAILED', 'Cannot query field "nope" on type "Account". Did you mean "name"?']],
    );
  });

  it('shortens quotations from the document', () => {
    for (const text of [
      `{ ${'x'.repeat(100_000)} }`,
      `{ __typename @${'x'.repeat(100_000)} }`,
      `query a ${'x'.repeat(100_000)} { __typename }`,
    ]) {
      const [error] = errorsOf(text);
      assert.match(error?.message ?? '', /xxx/);
      assert.ok((error?.message.length ?? 0) < 500, error?.message.slice(0, 600));
    }
  });
});

describe('getOperation', () => {
  const named = parseDocument(schema, 'query a { __typename } query b { __typename }');
  const fails = (text: string, name: string | null, message: RegExp) =>
    assert.throws(() => getOperation(parseDocument(schema, text), name), { code: 'OPERATION_RESOLUTION_FAILURE', message });

  it('returns the named operation, or the only one', () => {
    assert.equal(getOperation(named, 'b').name, 'b');
    assert.equal(getOperation(parseDocument(schema, 'query a { __typename }'), null).name, 'a');
    assert.equal(getOperation(parseDocument(schema, '{ __typename }'), undefined).name, undefined);
  });

  it('never gets a document without an operation, which is invalid', () => {
    for (const text of [
      'fragment F on Query { __typename }',
      'fragment F on Query { ...G } fragment G on Query { ...F }',
      'type Query { a: Int }',
    ])
      assert.equal(errorsOf(text)[0]?.code, 'GRAPHQL_VALIDATION_FAILED', text);
    for (const text of ['', '# nothing']) assert.equal(errorsOf(text)[0]?.code, 'GRAPHQL_PARSE_FAILED', text);
  });

  it('rejects a name that matches none, and no name if there are several', () => {
    fails('query a { __typename } query b { __typename }', null, /several operations/);
    fails('query a { __typename }', 'c', /no operation named "c"/);
    fails('{ __typename }', '', /no operation named ""/);
    fails('{ __typename }', 'x'.repeat(100_000), /^The document contains no operation named "x{100}… \(100000 characters\)"\.$/);
  });
});

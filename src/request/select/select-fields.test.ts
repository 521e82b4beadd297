import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coerceVariableValues, parseDocument } from '../../../test/support/request-stages.ts';
import { account, post, sampleModel } from '../../../test/support/sample-model.ts';
import { noLimits, resolveLimits } from '../../budget/limits.ts';
import { runAtOnce } from '../../budget/turns.ts';
import { buildSchema } from '../../schema/build-schema.ts';
import type { Operation, SelectedField } from '../operation.ts';
import { getOperation } from '../validate/parse-document.ts';
import { selectFields, ValueCounter } from './select-fields.ts';

const schema = runAtOnce(buildSchema(sampleModel));

function select(text: string, sent: Record<string, unknown> = {}): Operation {
  return selectAndCount(text, sent).selected;
}

function selectAndCount(text: string, sent: Record<string, unknown> = {}, limits = noLimits) {
  const document = parseDocument(schema, text);
  const operation = getOperation(document, null);
  const { values } = coerceVariableValues(operation.variables, sent);
  const counter = new ValueCounter(values, limits);
  const selected = selectFields(schema, document.fragments, operation.node, values, counter);
  return { selected, counter };
}

/** The response keys of the selection, nested: `a { b c }`. */
function outline(fields: readonly SelectedField[]): string {
  return fields.map(({ key, selection }) => (selection.length > 0 ? `${key} { ${outline(selection)} }` : key)).join(' ');
}

const idOf = Buffer.from('["public","account",1]').toString('base64');

describe('selectFields', () => {
  it('merges selections under one key, in order of first occurrence', () => {
    const { fields } = select(`
      { a: accountCollection { totalCount } b: accountCollection { totalCount } ...more a: accountCollection { edges { cursor } } }
      fragment more on Query { a: accountCollection { ...inner edges { node { id } cursor } } }
      fragment inner on AccountConnection { totalCount edges { __typename } }`);
    assert.equal(outline(fields), 'a { totalCount edges { __typename node { id } cursor } } b { totalCount }');
  });

  it('has the bindings of fields and the types they are selected on', () => {
    const { kind, fields } = select('{ all: accountCollection { __typename edges { node { posts { totalCount } } } } }');
    assert.equal(kind, 'query');
    const [all] = fields;
    assert.deepEqual(
      [all?.key, all?.name, all?.parentType, all?.binding],
      ['all', 'accountCollection', 'Query', { at: 'query', kind: 'collection', table: account }],
    );
    assert.deepEqual([all?.selection[0]?.binding, all?.selection[0]?.parentType], [undefined, 'AccountConnection']);
    const relation = all?.selection[1]?.selection[0]?.selection[0]?.binding;
    assert.ok(relation?.kind === 'relation' && relation.relation.target === post);
  });

  it('has the arguments that are present, in schema order', () => {
    const { fields } = select('query ($o: Int, $n: Int) { accountCollection(offset: $o, last: $n, first: 2) { totalCount } }', { n: null });
    assert.deepEqual(
      fields[0]?.arguments.map(({ name, value }) => [name, value]),
      [
        ['first', { kind: 'constant', value: '2' }],
        ['last', null],
      ],
    );
  });

  it('treats a null argument that has a default as absent', () => {
    const text = 'mutation ($n: Int) { deleteFromAccountCollection(atMost: $n) { affectedCount } }';
    assert.deepEqual(select(text, { n: null }).fields[0]?.arguments, []);
    assert.equal(select(text, { n: 2 }).fields[0]?.arguments.length, 1);
    assert.equal(select(text).kind, 'mutation');
  });
});

describe('directives', () => {
  it('include or skip fields and fragments', () => {
    const text = `query ($yes: Boolean!, $no: Boolean = false) {
      a: __typename @skip(if: $yes) b: __typename @skip(if: $no) c: __typename @include(if: $yes) d: __typename @include(if: $no)
      e: __typename @include(if: true) @skip(if: true) ... @include(if: $no) { f: __typename } ... @include(if: $yes) { g: __typename }
      ...h @skip(if: $yes) ...h @skip(if: $no) } fragment h on Query { h: __typename }`;
    assert.equal(outline(select(text, { yes: true }).fields), 'b c g h');
    assert.equal(outline(select(text, { yes: false, no: true }).fields), 'a d f h');
  });

  it('may skip everything', () => {
    assert.deepEqual(select('{ __typename @skip(if: true) }').fields, []);
  });

  it('reject a null condition', () => {
    assert.throws(() => select('query ($b: Boolean = true) { __typename @skip(if: $b) }', { b: null }), {
      code: 'BAD_USER_INPUT',
      message: 'The argument "if" of @skip must be true or false.',
    });
  });
});

describe('selections of an interface', () => {
  it('depend on the object type', () => {
    const { fields } =
      select(`{ node(nodeId: "${idOf}") { nodeId __typename ... on Account { name } ...onPost ... on Node { again: nodeId } } }
      fragment onPost on Post { title }`);
    const [node] = fields;
    assert.deepEqual(node?.selection, []);
    assert.equal(outline(node!.on('Account')), 'nodeId __typename name again');
    assert.equal(outline(node!.on('Post')), 'nodeId __typename title again');
    assert.equal(node!.on('Post')[1]?.parentType, 'Post');
  });

  it('apply to the types that implement it', () => {
    const { fields } = select(
      '{ accountCollection { edges { node { ... on Node { nodeId } ...f ... { id } } } } } fragment f on Account { name }',
    );
    assert.equal(outline(fields), 'accountCollection { edges { node { nodeId name id } } }');
  });
});

describe('the values of arguments', () => {
  const countOf = (text: string, sent?: Record<string, unknown>): number => selectAndCount(text, sent).counter.total;
  const filtered = (filter: string) => `accountCollection(filter: ${filter}) { totalCount }`;

  it('are counted at any depth, also if they are empty', () => {
    assert.equal(countOf('{ accountCollection { totalCount } }'), 0);
    assert.equal(countOf('{ accountCollection(first: 1, offset: 2) { totalCount } }'), 2);
    assert.equal(countOf(`{ ${filtered('{ or: [{}, { id: {} }, { id: { in: [1, 2] } }] }')} }`), 2 + 1 + 2 + 5);
  });

  it('are counted once for each use of a variable, and for each spread of a fragment', () => {
    const sent = { f: { or: [{}, { id: { eq: 1 } }] } };
    assert.equal(countOf(`query ($f: AccountFilter!) { ${filtered('$f')} }`, sent), 6);
    assert.equal(countOf(`query ($f: AccountFilter!) { ${filtered('{ and: [$f, { not: $f }, $f] }')} }`, sent), 2 + 3 * 6 + 1);
    const fragment = `fragment F on Account { posts(filter: { id: { eq: 1 } }) { totalCount } }`;
    assert.equal(
      countOf(`{ a: accountCollection { edges { node { ...F } } } b: accountCollection { edges { node { ...F } } } } ${fragment}`),
      6,
    );
  });

  it('of a list that is bound as one are one', () => {
    const text = `query ($ids: [Int!]) { a: ${filtered('{ id: { in: $ids } }')} b: ${filtered('{ id: { in: $ids } }')} }`;
    assert.equal(countOf(text, { ids: [1, 2, 3] }), 2 * 3);
  });

  it('are not counted beyond the limit', () => {
    const uses = Array.from({ length: 1000 }, () => '{ or: $o }').join(' ');
    const counted = () =>
      selectAndCount(`query ($o: [AccountFilter!]) { ${filtered(`{ and: [${uses}] }`)} }`, { o: Array(1000).fill({}) }, resolveLimits());
    assert.throws(counted, { code: 'TOO_MANY_VALUES', details: { limit: 'inputValues', maximum: 150_000 } });
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coerceVariableValues, parseDocument } from '../../test/support/request-stages.ts';
import { sampleModel } from '../../test/support/sample-model.ts';
import { getOperation } from '../request/parse-document.ts';
import { selectFields } from '../request/select-fields.ts';
import { buildSchema } from '../schema/build-schema.ts';
import { evaluateRows, measurePlan } from './measure-plan.ts';
import { planOperation } from './plan-operation.ts';

const schema = buildSchema(sampleModel);

function measure(text: string, sent: Record<string, unknown> = {}) {
  const document = parseDocument(schema, text);
  const operation = getOperation(document, null);
  const variables = coerceVariableValues(operation.variables, sent);
  const plan = measurePlan(planOperation(selectFields(schema, document.fragments, operation.node, variables.values), sampleModel));
  return { ...plan, estimate: evaluateRows(plan.rows, variables.bindValues) };
}

const rowsOf = (text: string, sent?: Record<string, unknown>): number => measure(text, sent).estimate;

describe('the estimate of rows', () => {
  it('is the product of page sizes, and the sum of what stands beside each other', () => {
    assert.equal(rowsOf('{ accountCollection { edges { node { id } } } }'), 30);
    assert.equal(rowsOf('{ accountCollection(first: 3) { edges { cursor } pageInfo { hasNextPage } } }'), 3);
    assert.equal(rowsOf('{ accountCollection(last: 1000) { pageInfo { hasNextPage } } }'), 30);
    assert.equal(rowsOf('{ accountCollection(first: 3) { edges { node { posts(first: 2) { edges { node { id } } } } } } }'), 3 * (1 + 2));
    assert.equal(rowsOf('{ a: accountCollection(first: 3) { edges { cursor } } b: accountCollection(first: 4) { edges { cursor } } }'), 7);
    assert.equal(rowsOf('{ accountCollection(first: 0) { edges { node { posts { edges { cursor } } } } } }'), 0);
    assert.equal(rowsOf('{ accountCollection { __typename } __typename }'), 0);
  });

  it('counts aggregates for more than they answer', () => {
    assert.equal(rowsOf('{ accountCollection { totalCount aggregate { count } } }'), 20);
    assert.equal(rowsOf('{ accountCollection(first: 3) { edges { node { posts { totalCount } } } } }'), 3 * (1 + 10));
  });

  it('takes page sizes of variables by their value', () => {
    const text = 'query ($n: Int, $m: Int) { accountCollection(first: $n) { edges { node { posts(first: $m) { edges { cursor } } } } } }';
    assert.equal(rowsOf(text, { n: 2, m: 5 }), 2 * (1 + 5));
    assert.equal(rowsOf(text, { n: 2, m: 5000 }), 2 * (1 + 30));
    assert.equal(rowsOf(text, { n: -1, m: 5 }), 0);
    assert.equal(rowsOf(text, { n: null }), 30 * (1 + 30));
    assert.equal(rowsOf(text), 30 * (1 + 30));
    assert.equal(measure(text, { n: 2, m: 5 }).rows.constant, 0);
    assert.deepEqual(measure('{ accountCollection(first: 3) { edges { cursor } } }').rows.pages, []);
  });

  it('counts what a mutation writes and answers', () => {
    const insert =
      'mutation ($o: [AccountInsertInput!]!) { insertIntoAccountCollection(objects: $o) { affectedCount records { posts(first: 2) { edges { cursor } } } } }';
    assert.equal(rowsOf(insert, { o: [{ name: 'a' }, { name: 'b' }] }), 2 * (1 + 2));
    assert.equal(rowsOf('mutation { deleteFromAccountCollection(atMost: 1000) { affectedCount } }'), 0);
    assert.equal(rowsOf('mutation ($n: Int!) { deleteFromAccountCollection(atMost: $n) { records { id } } }', { n: 7 }), 7);
  });
});

describe('measurePlan', () => {
  it('counts the members of filters, wherever they come from', () => {
    const text = 'query ($f: AccountFilter!) { accountCollection(filter: { and: [$f, { name: { eq: "a" } }] }) { totalCount } }';
    assert.equal(
      measure(text, { f: { or: [{ id: { eq: 1 } }, { not: { id: { eq: 2, gt: 1 } } }] } }).filterMembers,
      1 + 1 + (1 + 1 + 1 + 1 + 2),
    );
    assert.equal(measure('{ accountCollection { totalCount } }').filterMembers, 0);
  });

  it('counts what is a subquery', () => {
    const text = '{ a: accountCollection { edges { node { id posts { edges { node { id } } } } } } b: accountCollection { totalCount } }';
    assert.equal(measure(text).subqueries, 3);
  });

  it('lists the tables and functions that are touched, each once', () => {
    const text = '{ a: accountCollection { edges { node { id posts { totalCount } } } } b: accountCollection { totalCount } __typename }';
    assert.deepEqual(measure(text).touches, ['public.account', 'public.post']);
    const insert = 'mutation { insertIntoAccountCollection(objects: [{ name: "a" }]) { records { posts { totalCount } } } }';
    assert.deepEqual(measure(insert).touches, ['public.account', 'public.post']);
    assert.deepEqual(measure('{ __typename }').touches, []);
  });

  it('counts the values of the largest insert', () => {
    const text = 'mutation { insertIntoAccountCollection(objects: [{ name: "a" }, { balance: 1 }, {}]) { affectedCount } }';
    assert.equal(measure(text).parameters, 6);
  });
});

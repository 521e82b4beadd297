import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coerceVariableValues, parseDocument } from '../../test/support/request-stages.ts';
import { sampleModel } from '../../test/support/sample-model.ts';
import { runAtOnce } from '../budget/turns.ts';
import { selectFields } from '../request/select/select-fields.ts';
import { getOperation } from '../request/validate/parse-document.ts';
import { buildSchema } from '../schema/build-schema.ts';
import { dependsOnValues, evaluateRows } from './evaluate-rows.ts';
import { measurePlan } from './measure.ts';
import { planOperation } from './plan-operation.ts';

const schema = runAtOnce(buildSchema(sampleModel));

function measure(text: string, sent: Record<string, unknown> = {}) {
  const document = parseDocument(schema, text);
  const operation = getOperation(document, null);
  const variables = coerceVariableValues(operation.variables, sent);
  const plan = measurePlan(
    runAtOnce(planOperation(selectFields(schema, document.fragments, operation.node, variables.values), sampleModel)),
  );
  return { ...plan, estimate: evaluateRows(plan.rows, variables.bindValues) };
}

const rowsOf = (text: string, sent?: Record<string, unknown>): number => measure(text, sent).estimate;

describe('the estimate of rows', () => {
  it('multiplies nested page sizes, and adds sibling ones', () => {
    assert.equal(rowsOf('{ accountCollection { edges { node { id } } } }'), 30);
    assert.equal(rowsOf('{ accountCollection(first: 3) { edges { cursor } pageInfo { hasNextPage } } }'), 3);
    assert.equal(rowsOf('{ accountCollection(last: 1000) { pageInfo { hasNextPage } } }'), 30);
    assert.equal(rowsOf('{ accountCollection(first: 3) { edges { node { posts(first: 2) { edges { node { id } } } } } } }'), 3 * (1 + 2));
    assert.equal(rowsOf('{ a: accountCollection(first: 3) { edges { cursor } } b: accountCollection(first: 4) { edges { cursor } } }'), 7);
    assert.equal(rowsOf('{ accountCollection(first: 0) { edges { node { posts { edges { cursor } } } } } }'), 0);
    assert.equal(rowsOf('{ accountCollection { __typename } __typename }'), 0);
  });

  it('counts one row of a page whose filter gives the key', () => {
    const inner = '{ edges { node { posts { edges { cursor } } } } }';
    assert.equal(rowsOf(`{ accountCollection(filter: {id: {eq: 1}, name: {neq: "a"}}) ${inner} }`), 1 + 30);
    assert.equal(rowsOf(`{ accountCollection(filter: {or: [{id: {eq: 1}}, {id: {eq: 2}}]}) ${inner} }`), 30 * (1 + 30));
    assert.equal(rowsOf(`{ accountCollection(filter: {id: {gt: 1}}) ${inner} }`), 30 * (1 + 30));
  });

  it('counts more rows for aggregates than they return', () => {
    assert.equal(rowsOf('{ accountCollection { totalCount aggregate { count } } }'), 20);
    assert.equal(rowsOf('{ accountCollection(first: 3) { edges { node { posts { totalCount } } } } }'), 3 * (1 + 10));
  });

  it('counts columns that aggregates sort, and groups', () => {
    assert.equal(rowsOf('{ accountCollection { aggregate { count countDistinct { id name __typename } } } }'), 10 * (1 + 2));
    assert.equal(rowsOf('{ accountCollection { groups(by: [{name: VALUE}], first: 5) { key { name } count } } }'), 10 + 5);
    assert.equal(rowsOf('{ accountCollection(first: 1) { groups(by: [{name: VALUE}]) { countDistinct { id } } } }'), 10 * 2 + 30);
    const compared =
      'having: {not: {countDistinct: {id: {gt: 1}, name: {is: NULL}}, count: {gt: 1}}}, orderBy: [{countDistinct: {id: AscNullsLast}}, {count: AscNullsLast}]';
    assert.equal(rowsOf(`{ accountCollection { groups(by: [{name: VALUE}], ${compared}, first: 5) { count } } }`), 10 * (1 + 3) + 5);
    const text =
      'query ($n: Int) { accountCollection(first: 2) { edges { node { posts { groups(by: [{title: VALUE}], first: $n) { count } } } } } }';
    assert.equal(rowsOf(text, { n: 7 }), 2 * (1 + 10 + 7));
  });

  it('uses the values of page sizes in variables', () => {
    const text = 'query ($n: Int, $m: Int) { accountCollection(first: $n) { edges { node { posts(first: $m) { edges { cursor } } } } } }';
    assert.equal(rowsOf(text, { n: 2, m: 5 }), 2 * (1 + 5));
    assert.equal(rowsOf(text, { n: 2, m: 5000 }), 2 * (1 + 30));
    assert.equal(rowsOf(text, { n: -1, m: 5 }), 0);
    assert.equal(rowsOf(text, { n: null }), 30 * (1 + 30));
    assert.equal(rowsOf(text), 30 * (1 + 30));
    assert.equal(dependsOnValues(measure(text, { n: 2, m: 5 }).rows), true);
    assert.equal(dependsOnValues(measure('{ accountCollection(first: 3) { edges { cursor } } }').rows), false);
  });

  it('counts the rows that a mutation writes and returns', () => {
    const insert =
      'mutation ($o: [AccountInsertInput!]!) { insertIntoAccountCollection(objects: $o) { affectedCount records { posts(first: 2) { edges { cursor } } } } }';
    assert.equal(rowsOf(insert, { o: [{ name: 'a' }, { name: 'b' }] }), 2 * (1 + 2));
    assert.equal(rowsOf('mutation { deleteFromAccountCollection(atMost: 1000) { affectedCount } }'), 0);
    assert.equal(rowsOf('mutation ($n: Int!) { deleteFromAccountCollection(atMost: $n) { records { id } } }', { n: 7 }), 7);
  });
});

describe('measurePlan', () => {
  it('counts relations in filters as members and as subqueries', () => {
    const { filterMembers, subqueries, touches } = measure(
      '{ accountCollection(filter: {posts: {none: {title: {eq: "a"}}, count: {gt: 1, lt: 5}}}) { totalCount } }',
    );
    // Both conditions, the `and`, and the three comparisons.
    assert.deepEqual([filterMembers, subqueries], [6, 3]);
    assert.deepEqual(touches, ['public.account', 'public.post']);
  });

  it('counts groups as subqueries, and conditions on them as members', () => {
    const groups =
      '{ accountCollection { groups(by: [{name: VALUE}], having: {count: {gt: 1}, not: {countDistinct: {id: {lt: 5}}}}) { count } } }';
    const { filterMembers, subqueries, touches } = measure(groups);
    // Both conditions, the `or`, and the negation.
    assert.deepEqual([filterMembers, subqueries, touches], [4, 2, ['public.account']]);
  });

  it('counts relations in orders as subqueries, once per value of the cursor', () => {
    const page = (more: string, selection = 'edges { cursor }') =>
      measure(
        `{ accountCollection(orderBy: [{posts: {count: DescNullsLast}}, {posts: {max: {title: AscNullsLast}}}]${more}) { ${selection} } }`,
      );
    assert.equal(page('').subqueries, 1 + 2);
    assert.deepEqual(page('').touches, ['public.account', 'public.post']);
    const cursor = Buffer.from('[1, "a", 2]').toString('base64');
    assert.equal(page(`, after: "${cursor}"`).subqueries, 1 + 2 * 3);
    // A count has no order.
    assert.equal(page('', 'totalCount').subqueries, 1);
    const update =
      'mutation { updateAccountCollection(set: {name: "a"}) { edges(orderBy: [{posts: {count: DescNullsLast}}]) { cursor } } }';
    assert.equal(measure(update).subqueries, 1 + 1);
  });

  it('counts the requested order keys of pages, groups and mutations that are used', () => {
    const keysOf = (text: string, sent?: Record<string, unknown>) => measure(text, sent).orderKeys;
    assert.equal(keysOf('{ accountCollection { edges { cursor } } }'), 0);
    const order = 'orderBy: [{name: AscNullsLast}, {name: DescNullsLast}, {posts: {count: DescNullsLast}}]';
    assert.equal(
      keysOf(`{ accountCollection(${order}) { edges { node { posts(orderBy: {title: AscNullsLast}) { edges { cursor } } } } } }`),
      4,
    );
    assert.equal(keysOf(`{ accountCollection(${order}) { totalCount } }`), 0);
    const grouped = 'groups(by: [{name: VALUE}], orderBy: [{count: DescNullsLast}, {countDistinct: {id: AscNullsLast}}]) { count }';
    assert.equal(keysOf(`{ accountCollection { ${grouped} } }`), 2);
    const update = `updateAccountCollection(set: {name: "a"}) { edges(${order}) { cursor } }`;
    assert.equal(keysOf(`mutation { ${update} b: ${update} }`), 6);
    const used =
      'query ($o: [AccountOrderBy!]) { a: accountCollection(orderBy: $o) { edges { cursor } } b: accountCollection(orderBy: $o) { edges { cursor } } }';
    assert.equal(keysOf(used, { o: [{ name: 'AscNullsLast' }, { id: 'AscNullsLast' }] }), 4);
  });

  it('counts filter members in document and variables', () => {
    const text = 'query ($f: AccountFilter!) { accountCollection(filter: { and: [$f, { name: { eq: "a" } }] }) { totalCount } }';
    assert.equal(
      measure(text, { f: { or: [{ id: { eq: 1 } }, { not: { id: { eq: 2, gt: 1 } } }] } }).filterMembers,
      1 + 1 + (1 + 1 + 1 + 1 + 2),
    );
    assert.equal(measure('{ accountCollection { totalCount } }').filterMembers, 0);
  });

  it('counts subqueries', () => {
    const text = '{ a: accountCollection { edges { node { id posts { edges { node { id } } } } } } b: accountCollection { totalCount } }';
    assert.equal(measure(text).subqueries, 3);
  });

  it('lists the tables and functions touched, without duplicates', () => {
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

/**
 * Types that PostgreSQL cannot compare or order still appear in filters and orders, as in pg_graphql: a request that uses them gets an
 * error that says so, and what to do.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let all: TestGraph;
before(async () => {
  all = await startTestGraph(`
    create extension ltree;
    create extension intarray;
    create table place_row (id int primary key, place point);
    create table keys (id int primary key, numbers int2vector);
    create table site (
      id int primary key, place point, area polygon, pattern lquery, cursor refcursor, versions jsonpath, around place_row
    );
    insert into place_row values (1, '(1,2)');
    insert into site (id, place, around) select n, '(1,2)', row(1, point '(1,2)')::place_row from generate_series(1, 2) n;
    create function broken() returns boolean stable language plpgsql as $$ begin return point '(1,2)' = point '(1,2)'; end $$;
    create function compared(site) returns boolean stable language plpgsql as $$ begin return $1.place = $1.place; end $$;
  `);
});
after(() => all.stop());

async function errorOf(query: string, variables: Record<string, unknown> = {}) {
  const { errors } = await all.graph.execute({ query, variables }, { role: 'service_role' });
  assert.equal(errors?.length, 1);
  const { message, path, extensions } = errors[0]!;
  return { message, path, code: extensions.code, sqlstate: extensions.sqlstate, hint: extensions.hint };
}

const refusal = { path: ['siteCollection'], code: 'BAD_USER_INPUT', sqlstate: '42883' };
const values: Readonly<Record<string, string>> = { place: '(1,2)', area: '((1,2))', pattern: 'a.*', cursor: 'c', versions: '$.a' };

for (const [column, value] of Object.entries(values)) {
  test(`equality of ${column}`, async () => {
    for (const [query, variables] of [
      [`{ siteCollection(filter: {${column}: {eq: "${value}"}}) { edges { node { id } } } }`, {}],
      [`query ($value: Opaque) { siteCollection(filter: {not: {${column}: {eq: $value}}}) { edges { node { id } } } }`, { value }],
    ] as const) {
      const { message, hint, ...told } = await errorOf(query, variables);
      assert.deepEqual(told, refusal);
      assert.match(message, /^operator does not exist: /);
      assert.match(String(hint), /Filter with "is"/);
    }
  });

  test(`order of ${column}`, async () => {
    const { message, hint, ...told } = await errorOf(`{ siteCollection(orderBy: [{${column}: AscNullsFirst}]) { edges { cursor } } }`);
    assert.deepEqual(told, refusal);
    assert.match(message, /^could not identify an ordering operator for type /);
    assert.match(String(hint), /PostgreSQL has no such comparison/);
  });

  test(`nulls of ${column}`, async () => {
    const data = await all.ask(`{ siteCollection(filter: {${column}: {is: NOT_NULL}}) { edges { node { id } } } }`);
    assert.deepEqual(data, { siteCollection: { edges: column === 'place' ? [{ node: { id: 1 } }, { node: { id: 2 } }] : [] } });
  });
}

test('an order of rows with such a column', async () => {
  const { hint, ...told } = await errorOf(
    '{ siteCollection(orderBy: [{around: AscNullsFirst}, {id: AscNullsFirst}]) { edges { cursor } } }',
  );
  assert.deepEqual(told, { ...refusal, message: told.message });
  assert.match(String(hint), /Filter with "is"/);
});

test('an operator that PostgreSQL cannot choose', async () => {
  // An int2vector is cast to an array of any kind, and there are operators of arrays and of intarray.
  const { hint, ...told } = await errorOf('{ keysCollection(filter: {numbers: {contains: [1]}}) { edges { node { id } } } }');
  const message = 'operator is not unique: int2vector @> int2vector';
  assert.deepEqual(told, { ...refusal, path: ['keysCollection'], sqlstate: '42725', message });
  assert.match(String(hint), /Filter with "is"/);
});

test("a missing operator in a function is not the client's error", async () => {
  for (const query of ['{ broken }', '{ siteCollection { edges { node { compared } } } }']) {
    const { code, hint } = await errorOf(query);
    assert.equal(code, 'DATABASE_ERROR');
    assert.doesNotMatch(String(hint), /Filter with/);
  }
});

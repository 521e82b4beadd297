/** PostgreSQL's numeric vectors, which are lists in the API: values that were read can be written and compared. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let all: TestGraph;
before(async () => {
  all = await startTestGraph(`
    create table path (id int primary key, steps int2vector, owners oidvector);
    create table path_note (id int primary key, path_id int references path);
    create function total(steps int2vector) returns bigint immutable language sql as 'select sum(s) from unnest(steps::int2[]) s';
  `);
});
after(() => all.stop());

const rows = [
  { id: 1, steps: [1, -2], owners: ['3', '4294967295'] },
  { id: 2, steps: [], owners: [] },
  { id: 3, steps: null, owners: null },
];

test('inserts, alone and nested', async () => {
  const query = 'mutation ($rows: [pathInsertInput!]!) { insertIntopathCollection(objects: $rows) { records { id steps owners } } }';
  const response = await all.graph.execute({ query, variables: { rows } }, { role: 'service_role' });
  assert.deepEqual(response, { data: { insertIntopathCollection: { records: rows } } });
  const nested =
    'mutation { insertIntopath_noteCollection(objects: [{id: 1, path: {create: {id: 4, steps: [5, 6]}}}]) { records { path { steps } } } }';
  assert.deepEqual(await all.ask(nested), { insertIntopath_noteCollection: { records: [{ path: { steps: [5, 6] } }] } });
});

test('filters and arguments', async () => {
  for (const filter of ['eq: [1, -2]', 'contains: [-2]', 'overlaps: [1, 9]', 'containedBy: [1, -2, 3], is: NOT_NULL']) {
    const query = `{ pathCollection(filter: {steps: {${filter}}, id: {eq: 1}}) { edges { node { id } } } }`;
    assert.deepEqual(await all.ask(query), { pathCollection: { edges: [{ node: { id: 1 } }] } }, filter);
  }
  assert.deepEqual(await all.ask('{ total(steps: [1, 2, 3]) }'), { total: '6' });
});

test('a null among the numbers', async () => {
  const { errors } = await all.graph.execute(
    { query: 'mutation { updatepathCollection(set: {steps: [1, null]}) { affectedCount } }' },
    { role: 'service_role' },
  );
  const [error] = errors ?? [];
  assert.deepEqual(
    [error?.message, error?.extensions.code, error?.path],
    ['A value of type int2vector cannot contain nulls. Leave them out.', 'BAD_USER_INPUT', ['updatepathCollection']],
  );
});

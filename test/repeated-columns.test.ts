/** A column selected under several names: its JSON is built once per row, whatever the names, and the rows are the same as without that. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let started: TestGraph;

before(async () => {
  // Columns with the names that statements give to derived columns.
  started = await startTestGraph(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create table knot (id int primary key, "(json 1)" text, "(number)" int, rope_id int references knot);
    comment on column knot."(json 1)" is '@graphql({"name": "title"})';
    comment on column knot."(number)" is '@graphql({"name": "number"})';
    insert into knot values (1, 'bow"line', null, null), (2, null, 7, 1), (3, 'sheet bend', 8, 1);`);
});
after(() => started.stop());

const ask = (query: string): Promise<unknown> => started.ask(query);

const names = 'a: title b: title n: number m: number';
const first = { a: 'bow"line', b: 'bow"line', n: null, m: null };
const second = { a: null, b: null, n: 7, m: 7 };
const third = { a: 'sheet bend', b: 'sheet bend', n: 8, m: 8 };

test('in pages, with counts and cursors', async () => {
  const page = `first: 2, orderBy: [{ number: DescNullsLast }]`;
  assert.deepEqual(await ask(`{ knotCollection(${page}) { edges { node { ${names} } } pageInfo { hasNextPage } } }`), {
    knotCollection: { edges: [{ node: third }, { node: second }], pageInfo: { hasNextPage: true } },
  });
  const cursor = Buffer.from('[7, 2]').toString('base64');
  assert.deepEqual(await ask(`{ knotCollection(${page}, after: "${cursor}") { edges { node { ${names} } } } }`), {
    knotCollection: { edges: [{ node: first }] },
  });
});

test('in pages of relations, and in the row that a relation leads to', async () => {
  assert.deepEqual(
    await ask(`{ knotCollection(filter: {id: {eq: 1}}) { edges { node { knotCollection { edges { node { ${names} } } } } } } }`),
    {
      knotCollection: { edges: [{ node: { knotCollection: { edges: [{ node: second }, { node: third }] } } }] },
    },
  );
  assert.deepEqual(await ask(`{ knotCollection(filter: {id: {eq: 2}}) { edges { node { rope { ${names} } ${names} } } } }`), {
    knotCollection: { edges: [{ node: { rope: first, ...second } }] },
  });
});

test('in the rows that a mutation returns', async () => {
  assert.deepEqual(
    await ask(`mutation { insertIntoKnotCollection(objects: [{id: 4, number: 8, title: "sheet bend"}]) { records { ${names} } } }`),
    {
      insertIntoKnotCollection: { records: [third] },
    },
  );
});

/** Patterns on columns with a nondeterministic collation, which PostgreSQL rejects: the error says so, and what to do. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRowgraph, type Rowgraph } from '../src/index.ts';
import { startTestDatabases, type TestDatabases } from './support/test-databases.ts';

let databases: TestDatabases;
let graph: Rowgraph;
before(async () => {
  databases = await startTestDatabases();
  const { url } = await databases.create(`
    create collation caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create table tag (id int primary key, name text collate caseless); insert into tag values (1, 'Ada'), (2, 'bob');
  `);
  graph = await createRowgraph({ database: url });
});
after(async () => {
  await graph.close();
  await databases.close();
});

const ask = (filter: string) =>
  graph.execute({ query: `{ tagCollection(filter: {name: {${filter}}}) { edges { node { id } } } }` }, { role: 'anon' });
const ada = { data: { tagCollection: { edges: [{ node: { id: 1 } }] } } };

for (const filter of ['like: "A%"', 'ilike: "A%"', 'regex: "^A"', 'iregex: "^A"', 'startsWith: "A"']) {
  test(filter, async () => {
    const response = await ask(filter);
    // From PostgreSQL 18 on, LIKE works.
    if (response.errors === undefined) assert.deepEqual([filter, response], ['like: "A%"', ada]);
    for (const { path, message, extensions } of response.errors ?? []) {
      assert.match(message, /nondeterministic collations/);
      assert.deepEqual([path, extensions.code, extensions.sqlstate], [['tagCollection'], 'BAD_USER_INPUT', '0A000']);
      assert.match(String(extensions.hint), /Filter with "eq" or "in"/);
    }
  });
}

test('equality', async () => {
  assert.deepEqual(await ask('eq: "ADA"'), ada);
});

/** Mutations of several statements as mutations like all others: with idempotency keys and the guard of the schema, on PostgreSQL and in PGlite, and through the executable schema. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { graphql } from 'graphql';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import { openPgliteDatabase } from '../../src/database/pglite-database.ts';
import { applyExtension } from '../../src/extension/install-extension.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { startTestDatabases, type TestDatabases } from '../support/test-databases.ts';

const setup = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table list(id int primary key generated always as identity, name text not null);
  create table item(id int primary key generated always as identity, list_id int not null references list, name text not null);
`;
const query = `mutation($objects: [ListInsertInput!]!) {
  first: insertIntoListCollection(objects: $objects) { affectedCount records { name itemCollection { edges { node { name } } } } }
  kind: __typename
  second: insertIntoItemCollection(objects: [{name: "z", list: {create: {name: "other"}}}]) { records { name list { name } } }
  third: updateItemCollection(set: {name: "w"}, filter: {name: {eq: "z"}}) {
    records { list { itemCollection { edges { node { name } } } } }
    query { after: itemCollection(filter: {name: {eq: "w"}}) { edges { node { name } } } }
  }
  fourth: deleteFromItemCollection(filter: {name: {eq: "w"}}) { records { name list { itemCollection { edges { node { name } } } } } }
}`;
const variables = { objects: [{ name: 'a', itemCollection: { create: [{ name: 'x' }, { name: 'y' }] } }, { name: 'b' }] };
const edges = (...names: readonly string[]) => ({ edges: names.map((name) => ({ node: { name } })) });
const data = {
  first: {
    affectedCount: 2,
    records: [
      { name: 'a', itemCollection: edges('x', 'y') },
      { name: 'b', itemCollection: edges() },
    ],
  },
  kind: 'Mutation',
  second: { records: [{ name: 'z', list: { name: 'other' } }] },
  third: { records: [{ list: { itemCollection: edges('w') } }], query: { after: edges('w') } },
  fourth: { records: [{ name: 'w', list: { itemCollection: edges() } }] },
};

interface Place {
  readonly graph: Rowgraph;
  count(): Promise<unknown>;
  close(): Promise<unknown>;
}

let databases: TestDatabases;
const places: Record<string, Place> = {};

before(async () => {
  databases = await startTestDatabases();
  const database = await databases.create(setup);
  const admin = openPgDatabase(database.url.replace('authenticator', 'postgres'));
  await applyExtension(admin);
  const graph = await createRowgraph({ database: database.url });
  const counting = 'select count(*)::int as count from item';
  const close = () => Promise.all([graph.close(), admin.close()]);
  places.PostgreSQL = { graph, count: async () => (await database.run(counting))[0]!.count, close };
  const pglite = await startPglite();
  await pglite.exec(rolesSql + grantsSql + setup);
  await applyExtension(openPgliteDatabase(pglite));
  const embedded = await createRowgraph({ database: pglite, schemaTriggers: true });
  const count = async () => (await pglite.query<{ count: number }>(counting)).rows[0]!.count;
  places.PGlite = { graph: embedded, count, close: () => embedded.close().then(() => pglite.close()) };
});
after(async () => {
  for (const place of Object.values(places)) await place.close();
  await databases.close();
});

for (const name of ['PostgreSQL', 'PGlite']) {
  describe(name, () => {
    test('with an idempotency key, it runs once, and the response is kept', async () => {
      const { graph, count } = places[name]!;
      const before = Number(await count());
      const send = async () => {
        const { chunks, isReplayed = false } = await graph.executeRaw(
          { query, variables },
          { role: 'authenticated' },
          { idempotencyKey: 'nested' },
        );
        return [JSON.parse(Buffer.concat(chunks).toString()), isReplayed];
      };
      assert.deepEqual(await send(), [{ data }, false]);
      assert.deepEqual(await send(), [{ data }, true]);
      assert.equal(await count(), before + 2);
    });

    test('all of it or nothing is written', async () => {
      const { graph, count } = places[name]!;
      const before = await count();
      const { errors } = await graph.execute(
        {
          query: 'mutation($objects: [ListInsertInput!]!) { insertIntoListCollection(objects: $objects) { affectedCount } }',
          variables: { objects: [{ name: 'a', itemCollection: { create: [{ name: 'x' }, { name: null }] } }] },
        },
        { role: 'anon' },
      );
      const { code, input } = errors![0]!.extensions!;
      assert.deepEqual([code, input], ['CONSTRAINT_VIOLATION', 'objects.itemCollection.create.name']);
      assert.equal(await count(), before);
    });

    test('through the executable schema, in the same transaction as other fields', async () => {
      const { graph } = places[name]!;
      const schema = await graph.schema({ role: 'anon' });
      const result = await graphql({ schema, source: query, variableValues: variables });
      assert.deepEqual(JSON.parse(JSON.stringify(result)), { data });
    });
  });
}

/**
 * One request is one statement in one network round trip, at any depth and with any number of root fields: counted on the wire.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import { applyExtension } from '../../src/extension/install-extension.ts';
import { createRowgraph, type GraphQLRequest, type Rowgraph } from '../../src/index.ts';
import { type BatchProxy, startBatchProxy } from '../support/batch-proxy.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';

const schemaSql = `
  comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
  create table shelf (id int primary key, label text not null, parent_id int references shelf (id));
  comment on table shelf is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  insert into shelf values (1, 'top', null), (2, 'middle', 1), (3, 'bottom', 2);`;

let server: PostgresServer;
let proxy: BatchProxy;
let graph: Rowgraph;

before(async () => {
  server = await startPostgres();
  proxy = await startBatchProxy(server.port);
  const admin = openPgDatabase(server.url);
  await admin.query(rolesSql + grantsSql + schemaSql);
  await admin.close();
  graph = await createRowgraph({ database: `postgres://authenticator@127.0.0.1:${proxy.port}/postgres`, poolSize: 1 });
  await graph.execute({ query: '{ __typename }' }, caller);
});

after(async () => {
  await graph.close();
  await proxy.stop();
  await server.stop();
});

const caller = { role: 'service_role' };

/** Ten levels up and down again. */
const deep = (depth: number): string =>
  depth === 0 ? 'id' : `parent { ${deep(depth - 1)} } shelfCollection(first: 2) { edges { cursor node { id } } pageInfo { hasNextPage } }`;
const manyRoots = Array.from({ length: 20 }, (_, index) => `r${index}: shelfByPk(id: ${index}) { label }`).join(' ');

const queries: Readonly<Record<string, string>> = {
  'a page with a count, an aggregate and its neighbours':
    '{ shelfCollection(first: 2, after: "WzFd") { totalCount aggregate { max { id } } edges { node { id } } pageInfo { hasNextPage hasPreviousPage } } }',
  'relations ten levels deep': `{ shelfCollection { edges { node { ${deep(10)} } } } }`,
  'twenty root fields': `{ ${manyRoots} }`,
  'data and introspection together':
    '{ shelfCollection { edges { node { id } } } __type(name: "Shelf") { name } node(nodeId: "WyJwdWJsaWMiLCAic2hlbGYiLCAxXQ==") { nodeId } }',
};

for (const [name, query] of Object.entries(queries)) {
  test(`one statement, one round trip, the first time and later: ${name}`, async () => {
    assert.equal((await graph.explain({ query }, caller, { mode: 'sql' })).statements.length, 1);
    assert.equal(await batchesOf(query), 1);
    assert.equal(await batchesOf(query), 1);
  });
}

test('a statement for each field of a mutation, two if it returns related rows, and one round trip', async () => {
  const query = `mutation {
    a: insertIntoShelfCollection(objects: [{id: 10, label: "a"}]) { affectedCount }
    b: updateShelfCollection(set: {label: "b"}, filter: {id: {eq: 10}}) { records { label } }
    c: deleteFromShelfCollection(filter: {id: {eq: 10}}) { records { label parent { id } } }
  }`;
  assert.equal((await graph.explain({ query }, caller, { mode: 'sql' })).statements.length, 4);
  assert.equal(await batchesOf(query), 1);
});

test('a mutation with an idempotency key is one round trip, and a repeat two: one to learn that there is a response, one to read it', async () => {
  const admin = openPgDatabase(server.url);
  await applyExtension(admin);
  await admin.close();
  await graph.reload();
  const note = (key: string) => ({
    query: 'mutation { updateShelfCollection(set: {label: "x"}, filter: {id: {eq: 1}}) { affectedCount } }',
    extensions: { idempotencyKey: key },
  });
  for (let run = 0; run < 2; run++) assert.equal(await fewestBatches((attempt) => note(`key ${run} ${attempt}`.replaceAll(' ', '-'))), 1);
  assert.equal(await fewestBatches(() => note('key-0-0'), 2), 2);
});

/**
 * The check of the schema's fingerprint takes the same way once a second, and so does the connection that listens while it is opened: the
 * fewest of several runs are the request's own.
 */
function batchesOf(query: string): Promise<number> {
  return fewestBatches(() => ({ query }));
}

async function fewestBatches(requestOf: (attempt: number) => GraphQLRequest, enough = 1): Promise<number> {
  const counts: number[] = [];
  for (let run = 0; run < 30; run++) {
    proxy.takeBatches();
    const { errors } = await graph.execute(requestOf(run), caller);
    counts.push(proxy.takeBatches());
    assert.equal(errors, undefined);
    if (counts.at(-1) === enough) break;
  }
  return Math.min(...counts);
}

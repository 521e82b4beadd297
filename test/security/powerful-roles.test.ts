/** Roles with powers of their own: a token, or a caller of the library, may not name them, unless a setting does. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import { installExtension } from '../../src/extension/install-extension.ts';
import { createRowgraph, type Rowgraph, type RowgraphOptions } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';

let databases: TestDatabases;
let database: TestDatabase;
const opened: Rowgraph[] = [];

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(`
    create role chief superuser; create role deputy noinherit in role chief;
    create role reader in role pg_read_all_data; create role second_reader noinherit in role reader;
    create role pgx_ordinary; create role stranger; create role overlord superuser;
    grant chief, deputy, reader, second_reader, pgx_ordinary, pg_read_all_data to authenticator;
    create table letter (id int primary key);
    grant usage on schema public to pgx_ordinary; grant select on letter to pgx_ordinary;
  `);
});
after(async () => {
  for (const graph of opened) await graph.close();
  await databases.close();
});

async function open(options: Partial<RowgraphOptions> = {}): Promise<Rowgraph> {
  const graph = await createRowgraph({ database: database.url, poolSize: 2, ...options });
  opened.push(graph);
  return graph;
}

/** The messages of the errors; none where the role was served. */
async function refusalOf(graph: Rowgraph, role: string): Promise<string | null> {
  const { data, errors } = await graph.execute({ query: '{ __typename }' }, { role, claims: {} });
  if (errors === undefined) assert.deepEqual(data, { __typename: 'Query' });
  else assert.deepEqual([data, errors.map(({ extensions }) => extensions.code)], [undefined, ['UNAUTHENTICATED']]);
  return errors?.map(({ message }) => message).join() ?? null;
}

test('the login role, superusers, predefined roles and their members are refused; others are not', async () => {
  const graph = await open();
  const ending = 'to let requests run as it, add it to trustedRoles';
  assert.equal(await refusalOf(graph, 'authenticator'), `role "authenticator" is the login role; ${ending}`);
  assert.equal(await refusalOf(graph, 'chief'), `role "chief" has special privileges; ${ending}`);
  assert.equal(await refusalOf(graph, 'deputy'), `role "deputy" is a member of "chief"; ${ending}`);
  assert.equal(await refusalOf(graph, 'pg_read_all_data'), `role "pg_read_all_data" has special privileges; ${ending}`);
  assert.equal(await refusalOf(graph, 'reader'), `role "reader" is a member of "pg_read_all_data"; ${ending}`);
  assert.equal(await refusalOf(graph, 'second_reader'), `role "second_reader" is a member of "pg_read_all_data"; ${ending}`);
  assert.match((await refusalOf(graph, 'stranger')) ?? '', /permission denied to set role "stranger"/);
  // Nobody is told to grant such a role.
  assert.equal(await refusalOf(graph, 'overlord'), `role "overlord" has special privileges; ${ending}`);
  for (const role of ['anon', 'authenticated', 'service_role', 'pgx_ordinary']) assert.equal(await refusalOf(graph, role), null, role);
});

test('a superuser as login opens no role that another login would not', async () => {
  const graph = await open({ database: database.url.replace('authenticator@', 'postgres@') });
  for (const role of ['postgres', 'chief', 'deputy', 'reader', 'pg_write_server_files']) {
    assert.match((await refusalOf(graph, role)) ?? '', /to let requests run as it, add it to trustedRoles/, role);
  }
  assert.equal(await refusalOf(graph, 'anon'), null);
});

test('trustedRoles opens the roles that it names, and no others; it makes nobody a member', async () => {
  const graph = await open({ trustedRoles: ['reader', 'chief', 'authenticator', 'stranger'] });
  for (const role of ['reader', 'chief', 'authenticator']) assert.equal(await refusalOf(graph, role), null, role);
  assert.match((await refusalOf(graph, 'second_reader')) ?? '', /to let requests run as it, add it to trustedRoles/);
  assert.match((await refusalOf(graph, 'stranger')) ?? '', /permission denied to set role "stranger"; grant it to the login role/);
});

test('a role that gets a power is refused from then on', async () => {
  const graph = await open();
  assert.equal(await refusalOf(graph, 'pgx_ordinary'), null);
  await database.run('grant pg_execute_server_program to pgx_ordinary');
  await graph.reload();
  assert.match((await refusalOf(graph, 'pgx_ordinary')) ?? '', /member of "pg_execute_server_program"/);
  await database.run('revoke pg_execute_server_program from pgx_ordinary');
  await graph.reload();
  assert.equal(await refusalOf(graph, 'pgx_ordinary'), null);
});

for (const triggers of ['without', 'with'])
  test(`${triggers} triggers, a role that gets a power is refused within a second, however long the schema takes to load`, async () => {
    const own = await databases.create('create table letter (id int primary key)');
    const admin = openPgDatabase(own.url.replace('authenticator@', 'postgres@'));
    if (triggers === 'with') await installExtension(admin);
    const graph = await open({ database: own.url, poolSize: 4 });
    /** Without a reason to doubt the schema. A request that is to be refused waits for the schema until its time limit. */
    const isServed = async (role: string): Promise<boolean> => {
      const query = '{ letterCollection { edges { node { id } } } }';
      const { errors } = await graph.execute({ query }, { role, claims: {} }, { timeout: 1000 });
      assert.match(String(errors?.[0]?.extensions.code), /^(undefined|TIMEOUT|UNAUTHENTICATED)$/);
      return errors === undefined;
    };
    for (const role of ['anon', 'service_role']) assert.ok(await isServed(role), role);
    const keeper = await own.connect();
    // Comments of the catalog are read with the schema, and not by requests.
    await keeper.query('begin; lock table pg_catalog.pg_description in access exclusive mode');
    try {
      await own.run('alter role anon superuser');
      await until(async () => !(await isServed('anon')));
      await own.run('alter role anon nosuperuser; grant pg_read_all_data to service_role');
      await until(async () => (await isServed('anon')) && !(await isServed('service_role')));
    } finally {
      await own.run('alter role anon nosuperuser; revoke pg_read_all_data from service_role');
      await keeper.query('rollback');
      await keeper.end();
    }
    assert.equal(await refusalOf(graph, 'service_role'), null);
    await admin.close();
  });

test('whoever owns the database is not refused for that', async () => {
  await database.run(`alter database ${database.name} owner to pgx_ordinary`);
  assert.equal(await refusalOf(await open(), 'pgx_ordinary'), null);
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { Client } from 'pg';
import { startPglite } from '../../test/support/pglite.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { rolesSql } from '../../test/support/roles.ts';
import { textsOf } from '../../test/support/texts-of.ts';
import { until } from '../../test/support/until.ts';
import { type Batch, type Database, DatabaseError } from '../database/database.ts';
import { openPgDatabase } from '../database/pg-database.ts';
import { openPgliteDatabase } from '../database/pglite-database.ts';
import { readVersions, schemaChannel } from '../freshness/read-versions.ts';
import { applyExtension, removeExtension } from './install-extension.ts';
import { judgeExtension, readExtension } from './read-extension.ts';

let server: PostgresServer;
let pglite: PGlite;
const databases: { readonly name: string; database: Database }[] = [];

before(async () => {
  [server, pglite] = await Promise.all([startPostgres(), startPglite()]);
  databases.push({ name: 'PostgreSQL', database: openPgDatabase(server.url) }, { name: 'PGlite', database: openPgliteDatabase(pglite) });
  for (const { database } of databases) {
    await database.query(`${rolesSql} create schema app; grant all on schema app to anon`);
    await applyExtension(database);
  }
});

after(async () => {
  for (const { database } of databases) await database.close();
  await pglite.close();
  await server.stop();
});

const batch = (version: string | null, text = 'select 1'): Batch => ({
  session: { role: 'anon', claims: '{}', searchPath: 'app', version },
  statements: [{ text, parameters: [] }],
});
const isStale = (error: unknown): boolean => error instanceof DatabaseError && error.sqlstate === 'RG001';

async function readSchemaVersion(database: Database): Promise<string | null> {
  return (await readVersions(database)).version;
}

async function stateOf(database: Database): Promise<string> {
  return judgeExtension(await readExtension(database));
}

async function moves(database: Database, sql: string): Promise<boolean> {
  const before = await readSchemaVersion(database);
  await database.query(sql);
  return (await readSchemaVersion(database)) !== before;
}

const changes = [
  'create table app.book (id int primary key, title text)',
  'alter table app.book add author text',
  'create index on app.book (title)',
  'grant select on app.book to anon',
  'revoke select on app.book from anon',
  "comment on table app.book is 'x'",
  'alter table app.book enable row level security',
  'create policy everything on app.book using (true)',
  'create function app.f() returns int language sql as $$ select 1 $$',
  'drop function app.f()',
  'create table app.copy as select 1 as one',
  'create materialized view app.summary as select 1 as one',
  'alter default privileges in schema app grant select on tables to anon',
  'drop table app.book',
  'drop schema if exists app2; create schema app2; drop schema app2',
];

const noChanges = [
  'refresh materialized view app.summary',
  'create temp table scratch (id serial primary key, note text); create index on scratch (note); alter table scratch add more int; drop table scratch',
  'create temp view peek as select 1 as one; drop view peek',
  'begin; create table app.never (id int); rollback',
  'insert into app.copy values (2); update app.copy set one = 3',
  'drop table if exists app.nothing',
  'do $$ begin create table app.never (id int); raise exception $x$no$x$; exception when others then null; end $$',
];

for (const index of [0, 1]) {
  describe(['PostgreSQL', 'PGlite'][index]!, () => {
    test('the version changes when DDL commits, and only then', async () => {
      const { database } = databases[index]!;
      for (const sql of changes) assert.ok(await moves(database, sql), sql);
      for (const sql of noChanges) assert.ok(!(await moves(database, sql)), sql);
    });

    test('a batch runs only for the current version', async () => {
      const { database } = databases[index]!;
      const version = await readSchemaVersion(database);
      assert.deepEqual(textsOf(await database.run(batch(version))), [['1']]);
      await database.query('create table app.later (id int); grant insert on app.later to anon');
      await assert.rejects(database.run(batch(version, 'insert into app.later values (1)')), isStale);
      assert.deepEqual(await database.query('select * from app.later'), []);
      await database.run(batch(await readSchemaVersion(database), 'insert into app.later values (1)'));
      await assert.rejects(database.run(batch('0')), isStale);
      await database.query('drop table app.later');
    });

    test('a role without privileges on the table of changes can change the schema, and savepoints are respected', async () => {
      const { database } = databases[index]!;
      const own = 'set local role anon; create table app.own (id int)';
      assert.ok(await moves(database, `begin; ${own}; commit`));
      assert.ok(
        await moves(
          database,
          `begin; ${own.replace('own', 'second')}; savepoint s; create table app.third (id int); rollback to s; commit`,
        ),
      );
      assert.ok(
        await moves(
          database,
          'begin; savepoint s; create table app.third (id int); rollback to s; create table app.fourth (id int); commit',
        ),
      );
      assert.ok(!(await moves(database, 'begin; savepoint s; create table app.third (id int); rollback to s; commit')));
    });

    test('folding keeps the version, and the number of rows small', async () => {
      const { database } = databases[index]!;
      const rows = async (): Promise<number> => Number((await database.query('select count(*) from rowgraph.schema_change'))[0]?.[0]);
      for (let count = 0; count < 110; count++) await database.query('create schema passing; drop schema passing');
      assert.ok((await rows()) <= 101);
      assert.ok(!(await moves(database, 'select rowgraph.fold_schema_changes()')));
      assert.equal(await rows(), 1);
    });

    test('installing again changes nothing; without triggers there is no version', async () => {
      const { database } = databases[index]!;
      const version = await readSchemaVersion(database);
      assert.ok(version);
      await applyExtension(database);
      assert.equal(await readSchemaVersion(database), version);
      assert.equal(await stateOf(database), 'installed');
      await database.query('alter event trigger rowgraph_drop disable');
      assert.equal(await readSchemaVersion(database), null);
      assert.equal(await stateOf(database), 'outdated');
      await applyExtension(database);
      assert.ok(await readSchemaVersion(database));
      await database.query("create or replace function rowgraph.version() returns text language sql immutable as $$ select '1.0'::text $$");
      assert.equal(await stateOf(database), 'outdated');
      await removeExtension(database);
      await removeExtension(database);
      assert.equal(await stateOf(database), 'absent');
      assert.equal(await readSchemaVersion(database), null);
      await assert.rejects(database.run(batch(version)), isStale);
      assert.deepEqual(textsOf(await database.run(batch(null))), [['1']]);
      await applyExtension(database);
      assert.notEqual(await readSchemaVersion(database), version);
    });

    test('removing fails, and removes nothing, if the schema contains objects of others', async () => {
      const { database } = databases[index]!;
      await database.query('create table rowgraph.somebodys (id int)');
      const isTheirs = (error: unknown): boolean => error instanceof DatabaseError && error.sqlstate === '2BP01';
      await assert.rejects(removeExtension(database), isTheirs);
      assert.equal(await stateOf(database), 'installed');
      await database.query('drop table rowgraph.somebodys');
    });

    test('DDL notifies when it commits', async () => {
      const { database } = databases[index]!;
      const heard: unknown[] = [];
      const stop = await database.listen(schemaChannel, (payload) => void heard.push(payload));
      await database.query('begin; create table app.never (id int); rollback');
      await database.query('begin; create table app.told (id int); create index on app.told (id); commit');
      await until(() => heard.length > 0);
      assert.deepEqual(heard, ['']);
      await stop();
    });
  });
}

test('concurrent DDL neither waits nor is lost, in any commit order', async () => {
  const { database } = databases[0]!;
  const clients = Array.from({ length: 4 }, () => new Client(server.url));
  try {
    const versions = new Set([await readSchemaVersion(database)]);
    for (const [index, client] of clients.entries()) {
      await client.connect();
      await client.query(`set lock_timeout = '2s'; begin isolation level ${index < 2 ? 'read committed' : 'serializable'}`);
      await client.query(`create table app.parallel_${index} (id int)`);
      if (index < 2) await client.query('select rowgraph.fold_schema_changes()');
    }
    versions.add(await readSchemaVersion(database));
    assert.equal(versions.size, 1, 'nothing has committed yet');
    for (const client of clients.toReversed()) {
      await client.query('commit');
      versions.add(await readSchemaVersion(database));
    }
    assert.equal(versions.size, 1 + clients.length);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
});

test('several processes can install at once; a login role can use the extension but not install it', async () => {
  await databases[0]!.database.query('drop schema rowgraph cascade');
  const others = Array.from({ length: 4 }, () => openPgDatabase(server.url));
  await Promise.all(others.map((other) => applyExtension(other)));
  await Promise.all(others.map((other) => other.close()));
  const authenticator = openPgDatabase(`postgres://authenticator@127.0.0.1:${server.port}/postgres`);
  const version = await readSchemaVersion(authenticator);
  assert.ok(version);
  assert.deepEqual(textsOf(await authenticator.run(batch(version))), [['1']]);
  await assert.rejects(authenticator.run(batch('1')), isStale);
  await databases[0]!.database.query('drop schema rowgraph cascade');
  await assert.rejects(applyExtension(authenticator), (error) => error instanceof DatabaseError && error.sqlstate === '42501');
  assert.equal(await readSchemaVersion(authenticator), null);
  await authenticator.close();
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { Client } from 'pg';
import { startPglite } from '../../test/support/pglite.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { rolesSql } from '../../test/support/roles.ts';
import { textsOf } from '../../test/support/texts-of.ts';
import { until } from '../../test/support/until.ts';
import type { Batch, Database } from '../database/database.ts';
import { openPgDatabase } from '../database/pg-database.ts';
import { openPgliteDatabase } from '../database/pglite-database.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { changesBetween, readVersions, schemaChannel } from '../freshness/versions.ts';
import { applyExtension, judgeExtension, readExtension, removeExtension } from './install-extension.ts';

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

/** What is noted of each: its schema, its table, whether it concerns that alone, whether the schema must be loaded. `*` is any schema. */
const notes: readonly (readonly [sql: string, ...notes: string[]])[] = [
  ['create table app.note (id serial primary key, a int)', 'app - - load', 'app note - compare'],
  [
    'create table app.other (id int primary key, note int references app.note)',
    'app note alone compare',
    'app other - compare',
    'app other alone compare',
  ],
  ['alter table app.note add b int', 'app note alone compare'],
  ['alter table app.note drop b', 'app note alone compare'],
  ['alter table app.note rename a to c', 'app note alone compare'],
  ['alter table app.other add x int', 'app note alone compare', 'app other alone compare'],
  ['alter table app.note rename to note2', 'app note2 alone compare'],
  ['create index on app.note2 (c)', 'app note2 - compare'],
  ['comment on table app.note2 is $$x$$', 'app note2 - compare'],
  ['create view app.peek as select * from app.note2', '* peek - load'],
  ['alter view app.peek rename to peek2', '* peek2 - load'],
  ['drop view app.peek2', 'app gone - compare'],
  ['alter table app.note2 drop constraint note_pkey cascade', 'app - - compare', 'app note2 alone compare'],
  ['alter table app.note2 set schema elsewhere', 'elsewhere note2 alone compare'],
  ['drop table elsewhere.note2, app.other', 'app gone - compare', 'elsewhere gone - compare'],
  // Partitions in another schema, and children.
  ['create table app.whole (id int) partition by range (id)', 'app whole - compare'],
  ['create table elsewhere.part partition of app.whole for values from (0) to (9)', 'app whole - compare', 'elsewhere part - compare'],
  ['alter table elsewhere.part add check (id > -1)', 'app whole - compare', 'elsewhere part - compare'],
  ['alter table app.whole detach partition elsewhere.part', '* whole - compare'],
  ['drop table app.whole, elsewhere.part', 'app gone - compare', 'elsewhere - - compare', 'elsewhere gone - compare'],
  ['create table app.base (id int)', 'app base - compare'],
  ['create table elsewhere.heir () inherits (app.base)', 'app base - load', 'elsewhere heir - load'],
  ['alter table app.base add more int', '* base - compare'],
  ['drop table app.base cascade', 'app gone - compare', 'elsewhere gone - compare'],
  // Whatever may be used from other schemas.
  ['create function elsewhere.f() returns int language sql as $$ select 1 $$', '* - - compare'],
  ["create type elsewhere.mood as enum ('calm')", '* - - compare'],
  ['drop function elsewhere.f()', '* - - compare'],
  ['create domain elsewhere.d as int', '* - - load'],
  ['drop type elsewhere.mood; drop domain elsewhere.d', '* - - compare'],
  ['grant usage on schema elsewhere to anon', '* - - compare'],
  ['create schema fresh', 'fresh - - compare'],
  ['alter schema fresh rename to stale', '* - - compare'],
  ['drop schema stale', 'stale - - compare'],
  ['create sequence app.numbers', 'app - - load'],
  ['drop sequence app.numbers', 'app - - load'],
  ['create aggregate elsewhere.total (int) (sfunc = int4pl, stype = int)', '* - - load'],
  ['drop aggregate elsewhere.total (int)', '* - - load'],
  [
    'begin; create table app.one (id int); alter table app.one add b int; create temp table scratch (id int); commit',
    'app one - compare',
    'app one alone compare',
  ],
  ['drop table app.one, scratch', 'app gone - compare'],
  // Tables with code that runs wherever they are used from.
  ['create function app.f(int) returns int immutable language sql as $$ select 1 $$', '* - - compare'],
  ['create domain app.d as int', '* - - load'],
  ['create table app.plain (id int primary key, a int)', 'app plain - compare'],
  ['alter table app.plain alter a set default app.f(1)', '* plain - load'],
  ['alter table app.plain alter a drop default', 'app plain alone compare'],
  ['create index on app.plain (app.f(a))', '* plain - load'],
  ['drop index app.plain_f_idx', 'app - - compare'],
  ['alter table app.plain add check (app.f(a) > 0)', '* plain - load'],
  ['alter table app.plain drop constraint plain_a_check', 'app plain alone compare'],
  ['alter table app.plain alter a type app.d', '* plain - load'],
  ['alter table app.plain alter a type int', 'app plain alone compare'],
  ['alter table app.plain alter a set default length(set_config($$a.b$$, $$c$$, false))', '* plain - load'],
  ['alter table app.plain alter a drop default', 'app plain alone compare'],
  ["alter table app.plain alter a set default length(current_setting('a.b', true))", '* plain - load'],
  ['alter table app.plain alter a drop default', 'app plain alone compare'],
  ['create policy p on app.plain using (true)', '* - - compare'],
  ['alter table app.plain add b int', '* plain alone load'],
  [
    'create table elsewhere.child (id int references app.plain on delete cascade)',
    'app plain alone compare',
    'elsewhere child - compare',
    'elsewhere child alone compare',
  ],
  ['drop table elsewhere.child, app.plain', 'app gone - compare', 'elsewhere - - compare', 'elsewhere gone - compare'],
  ['drop function app.f; drop domain app.d', '* - - compare'],
];

for (const index of [0, 1]) {
  describe(['PostgreSQL', 'PGlite'][index]!, () => {
    test('the version changes when DDL commits, and only then', async () => {
      const { database } = databases[index]!;
      for (const sql of changes) assert.ok(await moves(database, sql), sql);
      for (const sql of noChanges) assert.ok(!(await moves(database, sql)), sql);
    });

    test('what changed is noted with the version, and adds up to it', async () => {
      const { database } = databases[index]!;
      await database.query('create schema elsewhere');
      for (const [sql, ...expected] of notes) {
        const before = await readVersions(database);
        await database.query(sql);
        const changes = changesBetween(before, await readVersions(database));
        const noted = changes?.map(({ schema, relation, name, isLocal, isAlone, needsLoad }) =>
          [
            isLocal ? schema : '*',
            name ?? (relation === null ? '-' : 'gone'),
            isAlone ? 'alone' : '-',
            needsLoad ? 'load' : 'compare',
          ].join(' '),
        );
        assert.deepEqual([...new Set(noted)].sort(), [...expected].sort(), sql);
      }
      await database.query('drop schema elsewhere');
    });

    test('of a transaction that changes very much, only that is noted; what is no longer noted is not known', async () => {
      const { database } = databases[index]!;
      const before = await readVersions(database);
      const table = (number: number) => `create table app.many_${number} (id int); drop table app.many_${number};`;
      await database.query(`begin; ${Array.from({ length: 60 }, (_, number) => table(number)).join(' ')} commit`);
      const after = await readVersions(database);
      const changes = changesBetween(before, after);
      assert.ok(
        changes!.length <= 101 && changes!.some(({ schema, needsLoad }) => schema === null && needsLoad),
        `${changes!.length} changes`,
      );
      await database.query('delete from rowgraph.recent_change');
      assert.equal(changesBetween(before, await readVersions(database)), null);
      assert.deepEqual(changesBetween(after, await readVersions(database)), []);
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

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import type { Database } from '../database/database.ts';
import { openPgDatabase } from '../database/pg-database.ts';
import { readFingerprint } from './fingerprint.ts';

/** Changes of the API, in an order in which they can be made. */
const relevantChanges = [
  'create table fresh (id int primary key, a int)',
  'alter table fresh add b text',
  'alter table fresh rename b to c',
  'alter table fresh alter c set not null',
  'alter table fresh alter c type varchar(9)',
  'alter table fresh drop c',
  'alter table fresh rename to renamed',
  'create unique index renamed_a on renamed (a)',
  'alter index renamed_a rename to renamed_b',
  'drop index renamed_b',
  'alter table renamed add constraint self foreign key (a) references renamed (id)',
  'alter table renamed enable row level security',
  'grant select on renamed to someone',
  'grant update (a) on renamed to someone',
  'revoke update (a) on renamed from someone',
  'revoke usage on schema public from public',
  'create role joiner',
  'grant someone to joiner',
  'alter role joiner noinherit',
  `comment on table renamed is '@graphql({"name": "A"})'`,
  `comment on table renamed is '@graphql({"name": "B"})'`,
  `comment on column renamed.a is '@graphql({"name": "b"})'`,
  `comment on schema public is '@graphql({"inflect_names": true})'`,
  'comment on table renamed is null',
  `create type mood as enum ('calm')`,
  `alter type mood add value 'wild'`,
  `alter type mood rename value 'wild' to 'mild'`,
  'alter type mood rename to temper',
  `create collation plain (locale = 'C')`,
  'alter collation plain rename to simple',
  'create view seen as select id from renamed',
  'create or replace view seen as select distinct id from renamed',
  'alter view seen set (security_invoker = true)',
  'create function act() returns trigger language plpgsql as $$ begin return null; end $$',
  'create trigger acts instead of insert on seen for each row execute function act()',
  'create function f() returns int language sql as $$ select 1 $$',
  'alter function f() stable',
  'revoke execute on function f() from public',
  'drop function f()',
  'create function other.computed(row_ renamed) returns int language sql as $$ select 1 $$',
  'alter table renamed set schema other',
  'alter schema other rename to another',
  'create schema other',
  `create table elsewhere.base (id int primary key); create view elsewhere.inner_view as select distinct id from elsewhere.base;
    create view outer_view as select * from elsewhere.inner_view`,
  'create trigger acts instead of insert on elsewhere.inner_view for each row execute function act()',
  'create rule acts as on update to elsewhere.inner_view do instead nothing',
  'grant usage on schema elsewhere to someone',
  // The keys and relations of views are inferred from this, although it is not exposed.
  'create or replace view elsewhere.inner_view as select id from elsewhere.base',
  'alter table elsewhere.base drop constraint base_pkey',
  'alter table elsewhere.base add primary key (id)',
  'alter table elsewhere.base add constraint own foreign key (id) references elsewhere.base (id)',
  'create extension citext schema elsewhere',
  'revoke execute on function elsewhere.citext_eq(elsewhere.citext, elsewhere.citext) from public',
  'create table elsewhere.heir () inherits (elsewhere.base)',
  // What these call decides whether plans and connections may be shared by callers.
  'create table guarded (id int primary key, a int)',
  'create function elsewhere.helper() returns int language sql as $$ select 1 $$',
  'alter function elsewhere.helper() immutable',
  'create policy own on guarded using (elsewhere.helper() = 1)',
  'alter policy own on guarded using (elsewhere.helper() = 2)',
  'alter table guarded alter a set default elsewhere.helper()',
  'alter table guarded add constraint helped check (elsewhere.helper() > 0)',
  'create trigger acts after update on guarded for each row execute function act()',
  'alter table elsewhere.base add constraint falls foreign key (id) references elsewhere.base (id) on delete cascade',
  // Which settings requests get depends on what reads them.
  "create policy own on elsewhere.base using (current_setting('request.path', true) = '/')",
  "alter policy own on elsewhere.base using (current_setting('request.method', true) = 'GET')",
  "create function elsewhere.path() returns text language sql as $$ select current_setting('request.path', true) $$",
  "create or replace function elsewhere.path() returns text language sql as $$ select current_setting('request.method', true) $$",
  'drop function elsewhere.path()',
  'create table defaults (id int primary key, a text)',
  "alter table defaults alter a set default 'x'",
  "alter table defaults alter a set default current_setting('request.path', true)",
];

const irrelevantChanges = [
  'insert into busy select g, g from generate_series(1, 1000) g',
  'analyze busy',
  'vacuum busy',
  'vacuum freeze busy',
  'update busy set a = 2',
  'truncate busy',
  'reindex table busy',
  `comment on table busy is 'only words'`,
  'create temporary table passing (id int primary key)',
  'create table elsewhere.work (id int primary key)',
  'alter table elsewhere.work add a int',
  'refresh materialized view material',
];

/** Changes to objects that come with PostgreSQL, in schemas that are rarely exposed. */
const changesOfSystemSchemas = {
  information_schema: [
    'revoke select on information_schema.tables from public',
    `comment on view information_schema.tables is '@graphql({"name": "Table"})'`,
    `comment on column information_schema.tables.table_name is '@graphql({"name": "name"})'`,
    'revoke execute on function information_schema._pg_truetypid(pg_catalog.pg_attribute, pg_catalog.pg_type) from public',
  ],
  pg_catalog: [
    'revoke select on pg_catalog.pg_class from public',
    `comment on table pg_catalog.pg_class is '@graphql({"name": "Relation"})'`,
    'grant select (relname) on pg_catalog.pg_class to public',
    'revoke execute on function pg_catalog.lower(text) from public',
  ],
};

describe('readFingerprint', () => {
  let server: PostgresServer;
  let client: Client;
  let database: Database;

  before(async () => {
    server = await startPostgres();
    client = new Client(server.url);
    await client.connect();
    database = openPgDatabase(server.url, { poolSize: 1 });
    await client.query(`
      create role someone; create schema other; create schema elsewhere;
      create table busy (id int primary key, a int); create materialized view material as select count(*) from busy;
    `);
  });
  after(async () => {
    await client.end();
    await database.close();
    await server.stop();
  });

  const read = () => readFingerprint(database, ['public', 'other']);

  it('stays the same while the API does', async () => {
    const start = await read();
    for (const sql of irrelevantChanges) {
      await client.query(sql);
      assert.equal(await read(), start, sql);
    }
  });

  it('changes with whatever changes the API', async () => {
    let previous = await read();
    for (const sql of relevantChanges) {
      // PostgreSQL has had this option since version 15.
      if (server.version < 15 && sql.includes('security_invoker')) continue;
      await client.query(sql);
      const fingerprint = await read();
      assert.notEqual(fingerprint, previous, sql);
      previous = fingerprint;
    }
  });

  for (const [schema, changes] of Object.entries(changesOfSystemSchemas)) {
    it(`changes with objects that come with PostgreSQL if ${schema} is exposed`, async () => {
      let previous = await readFingerprint(database, [schema]);
      for (const sql of changes) {
        await client.query(sql);
        const fingerprint = await readFingerprint(database, [schema]);
        assert.notEqual(fingerprint, previous, sql);
        previous = fingerprint;
      }
    });
  }

  it('sees two changes of one row in one transaction', async () => {
    const query = async (sql: string) => (await client.query({ text: sql, rowMode: 'array' })).rows;
    const transaction: Database = { ...database, query: (text) => query(text) };
    await client.query('begin; create table twice (id int)');
    await client.query(`comment on table twice is '@graphql({"name": "A"})'`);
    const first = await readFingerprint(transaction, ['public']);
    await client.query(`comment on table twice is '@graphql({"name": "B"})'`);
    assert.notEqual(await readFingerprint(transaction, ['public']), first);
    await client.query('rollback');
  });
});

/** What each method announces: every table that a transaction has changed, when it is committed, and nothing that was rolled back. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { LiveMethod } from '../../../src/extension/install-live.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../../support/test-databases.ts';
import { until } from '../../support/until.ts';
import { fenceSql, openFeed, setUp } from './recorded-feed.ts';

const schemaSql = `${fenceSql}
  create table owner (id int primary key, name text);
  create table pet (id int primary key, owner int references owner on delete cascade);
  create table note (text text);
  create table whole (text text);
  alter table whole replica identity full;
  create unlogged table scratch (id int primary key);
  create table event (id int, day int, primary key (id, day)) partition by list (day);
  create table event_1 partition of event for values in (1);
  create table event_2 partition of event for values in (2);
  create table base (id int primary key);
  create table child () inherits (base);
  create table "Odd "" name" ("a b" int primary key);
  create materialized view summary as select count(*) from owner;`;

let databases: TestDatabases;
before(async () => {
  databases = await startTestDatabases({ settings: { wal_level: 'logical', max_prepared_transactions: '2', synchronous_commit: 'on' } });
  const { run } = await databases.create('');
  await run('alter role authenticator replication');
});
after(() => databases.close());

/** What is announced depends on the method only where a statement names a parent: a trigger does not tell its children apart. */
const statements: readonly [sql: string, announced: readonly string[], byTriggers?: readonly string[]][] = [
  ["insert into owner values (1, 'a')", ['owner']],
  ["insert into owner values (1, 'b') on conflict (id) do update set name = excluded.name", ['owner']],
  ['insert into pet values (1, 1)', ['pet']],
  ['delete from owner', ['owner', 'pet']],
  ['truncate owner cascade', ['owner', 'pet']],
  ["insert into note values ('a'); update note set text = 'b'", ['note']],
  ["insert into whole values ('a'); update whole set text = 'b'; delete from whole", ['whole']],
  ["copy note from program 'echo c'", ['note']],
  ['insert into scratch values (1)', ['scratch']],
  ['insert into event values (1, 1)', ['event', 'event_1'], ['event', 'event_1', 'event_2']],
  ['insert into event_2 values (1, 2)', ['event', 'event_2']],
  ['update event set day = 2, id = 3 where day = 1', ['event', 'event_1', 'event_2']],
  ['truncate event', ['event', 'event_1', 'event_2']],
  ['insert into child values (5)', ['base', 'child']],
  ['update base set id = 6', ['base', 'child']],
  ['insert into "Odd "" name" values (1)', ['Odd " name']],
  ['begin; insert into owner values (2); insert into pet values (2, 2); commit', ['owner', 'pet']],
  ['begin; insert into owner values (3); rollback', []],
  [
    "begin; insert into pet values (3); savepoint s; insert into note values ('d'); rollback to s; insert into owner values (3); commit",
    ['owner', 'pet'],
  ],
  [
    'do $$ begin insert into owner values (4); begin insert into note values (1/0); exception when others then null; end; end $$',
    ['owner'],
  ],
  ['refresh materialized view summary', ['summary']],
  ['begin; alter table note disable trigger all; delete from note; alter table note enable trigger all; commit', ['note']],
];

for (const method of ['wal', 'messages', 'table', 'notify'] as const satisfies LiveMethod[]) {
  suite(method, () => {
    let database: TestDatabase;
    before(async () => {
      database = await databases.create(schemaSql);
      await setUp(database, method);
    });

    test('each statement announces what it has changed', async (context) => {
      const { after, untilMode } = await openFeed(context, database);
      await untilMode(method);
      for (const [sql, announced, byTriggers = announced] of statements) {
        const names = await after(sql);
        // A change of what is set up may be everything.
        if (names === 'everything' && sql.includes('disable trigger')) continue;
        assert.deepEqual(names, method === 'wal' ? announced : byTriggers, sql);
      }
    });

    test('a prepared transaction announces its changes when it is committed', { skip: method === 'notify' }, async (context) => {
      const { after, untilMode } = await openFeed(context, database);
      await untilMode(method);
      assert.deepEqual(await after("begin; insert into pet values (10); prepare transaction 'p'"), []);
      assert.deepEqual(await after("commit prepared 'p'"), ['pet']);
      assert.deepEqual(await after("begin; insert into pet values (11); prepare transaction 'p'"), []);
      assert.deepEqual(await after("rollback prepared 'p'"), []);
    });

    test('all tables are covered, and those that are created later, with no trace once they are gone', async (context) => {
      const { feed, after, untilMode } = await openFeed(context, database);
      await untilMode(method);
      const ids = await database.run(`select oid::int8::int as id, relname from pg_class where relkind in ('r', 'p', 'm', 'v')
        and relnamespace = 'public'::regnamespace`);
      assert.deepEqual(
        ids.filter(({ id }) => !feed.covers(Number(id))).map(({ relname }) => relname),
        [],
      );
      const [sequence] = await database.run("select 'fence_id_seq'::regclass::oid::int8::int as id");
      assert.ok(!feed.covers(Number(sequence?.id)), 'nothing announces what sequences do');
      await database.run(`create table later (id int primary key); create table copied as select 1 as x;
        create table event_3 partition of event for values in (3)`);
      const later = await database.run("select oid::int8::int as id from pg_class where relname in ('later', 'copied', 'event_3')");
      feed.noteSchemaChange();
      await until(() => later.every(({ id }) => feed.covers(Number(id))));
      assert.deepEqual(await after('insert into later values (1); insert into copied values (1)'), ['copied', 'later']);
      const names = await after('insert into event_3 values (1, 3)');
      assert.deepEqual(names, ['event', 'event_3']);
      await database.run('drop table later, copied, event_3');
    });
  });
}

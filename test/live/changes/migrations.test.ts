/** Migrations of tables that announce their changes: none fails, no write fails after it, and the tables are covered again. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openPgDatabase } from '../../../src/database/pg-database.ts';
import { removeExtension } from '../../../src/extension/install-extension.ts';
import type { LiveMethod } from '../../../src/extension/install-live.ts';
import { startTestDatabases, type TestDatabases } from '../../support/test-databases.ts';
import { until } from '../../support/until.ts';
import { fenceSql, openFeed, setUp, superuserUrl } from './recorded-feed.ts';

let databases: TestDatabases;
before(async () => {
  databases = await startTestDatabases({ settings: { wal_level: 'logical', synchronous_commit: 'on' } });
  const { run } = await databases.create('');
  await run('alter role authenticator replication');
});
after(() => databases.close());

const schemaSql = `${fenceSql}
  create table item (id int primary key, code int not null unique, text text);
  create table plain (id int, text text);
  create table part (id int not null, day int not null, primary key (id, day)) partition by list (day);
  create table part_1 partition of part for values in (1);
  insert into item values (1, 1, 'a');`;

/** Each with what is written afterwards. */
const migrations: readonly string[] = [
  'alter table item alter id type bigint',
  "alter table item add more text default 'x'",
  'alter table item rename id to key; alter table item rename key to id',
  'alter table item set unlogged',
  'alter table item set logged',
  'alter table item replica identity full',
  'alter table item replica identity nothing',
  'alter table item replica identity using index item_code_key',
  'drop index if exists item_code_index; alter table item drop constraint item_code_key',
  'alter table item replica identity default',
  'alter table item drop constraint item_pkey',
  'alter table item add primary key (id)',
  'begin; alter table item drop column id; alter table item add id int generated always as identity primary key; commit',
  'alter table item rename to thing; alter table thing rename to item',
  'create schema moved; alter table item set schema moved; alter table moved.item set schema public',
  'do $$ begin alter table item alter id type bigint; end $$',
];

for (const method of ['wal', 'messages', 'table'] as const satisfies LiveMethod[])
  suite(method, () => {
    test('each migration succeeds, and so do writes, which are announced', async (context) => {
      const database = await databases.create(schemaSql);
      await setUp(database, method);
      const { feed, after, untilMode } = await openFeed(context, database);
      await untilMode(method);
      const idOf = async (name: string): Promise<number> =>
        Number((await database.run(`select '${name}'::regclass::oid::int8 as id`))[0]?.id);
      for (const sql of migrations) {
        for (const command of sql.startsWith('do') ? [sql] : sql.split('; ')) await database.run(command);
        feed.noteSchemaChange();
        const item = await idOf('item');
        await until(() => feed.covers(item));
        const names = await after(
          "insert into item (code, text) select 2, 'b' where false; update item set text = text || 'c'; delete from item where false",
        );
        assert.ok(names === 'everything' || names.includes('item'), sql);
      }
    });

    test('partitions come and go', async (context) => {
      const database = await databases.create(schemaSql);
      await setUp(database, method);
      const { feed, after, untilMode } = await openFeed(context, database);
      await untilMode(method);
      await database.run('create table part_2 (id int not null, day int not null)');
      await database.run('alter table part attach partition part_2 for values in (2)');
      feed.noteSchemaChange();
      const [row] = await database.run("select 'part_2'::regclass::oid::int8 as id");
      await until(() => feed.covers(Number(row?.id)));
      let names = await after('insert into part values (1, 2)');
      assert.ok(names === 'everything' || (names.includes('part') && names.includes('part_2')), String(names));
      await database.run('alter table part detach partition part_2');
      names = await after('update part_2 set id = 2');
      assert.ok(names === 'everything' || names.includes('part_2'), String(names));
    });

    test('the extension can be removed, and with it what announces changes', async () => {
      const database = await databases.create(schemaSql);
      await setUp(database, method);
      const admin = openPgDatabase(superuserUrl(database), { poolSize: 1 });
      await removeExtension(admin);
      await admin.close();
      const [row] = await database.run(`select (select count(*)::int from pg_trigger where tgname = 'rowgraph_live') as triggers,
        (select count(*)::int from pg_publication) as publications, to_regnamespace('rowgraph') as schema`);
      assert.deepEqual(row, { triggers: 0, publications: 0, schema: null });
      await database.run("update item set text = 'z'");
    });
  });

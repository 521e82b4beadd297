/**
 * Keys of views: of the examples below, and of random views, which are checked against their rows. Runs on a real server, whose version
 * determines the text of the definitions.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { randomViews } from '../../../test/support/random-views.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../../../test/support/test-databases.ts';
import { joined, withKey, withoutKey } from '../../../test/support/view-examples.ts';
import type { Database } from '../../database/database.ts';
import { openPgDatabase } from '../../database/pg-database.ts';
import { loadCatalog } from '../load-catalog.ts';
import { asNode, parseNodeTree } from './parse-node-tree.ts';

let databases: TestDatabases;
let database: TestDatabase;
let connections: Database;

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(`
    create schema fixed; create schema random; grant usage on schema fixed, random to public; set search_path = fixed;
    create table author (id int primary key, name varchar(9) unique, code numeric unique deferrable, shout text, hidden int);
    create unique index on author (lower(shout)); create unique index on author (hidden) where id > 5;
    create table post (id int primary key, author_id int not null references author, author_name text, title text);
    create table comment (id bigint primary key, post_id int references post, words text);
    create table note (post_id int, place int, words text, primary key (post_id, place));
    create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create domain padded as bpchar; create domain named as text;
    create table sale (id int primary key, kind text not null, day date not null, region text, amount numeric not null, weight float not null, code text collate loose not null,
      tag varchar(9) not null, fixed char(3) not null, price numeric(8, 2), at timestamptz, free bpchar not null, padded padded not null, label text collate "C" not null, post_id int references post);
    create function own(text) returns text language sql immutable as $$ select $1 $$;
    create table local (at timestamp primary key, x text);
    create table late (id int primary key deferrable);
    create table parent (id int primary key); create table child () inherits (parent);
    create table part (id int primary key) partition by list (id);`);
  connections = openPgDatabase(database.url, { poolSize: 1 });
});
after(async () => {
  await connections.close();
  await databases.close();
});

/** The names of the inferred key columns of each view in a schema, or why there is no key. */
async function inferIn(schema: string) {
  const { tables, views } = await loadCatalog(connections, [schema]);
  return tables.flatMap(({ id, name, columns }) => {
    const view = views.get(id);
    const named = (numbers: readonly number[]) => numbers.map((number) => columns.find((column) => column.number === number)!.name);
    if (view === undefined) return [];
    const { key, keyMayBeNull, isSummary, unique, problem } = view;
    return [{ name, key: key && named(key), keyMayBeNull, isSummary, unique: unique.map(named), problem }];
  });
}

describe('inferViews', () => {
  it('infers keys of views that show each row of a table once, and says why others have none', async () => {
    const all = [...withKey, ...withoutKey].map(([query], index) => `create view fixed.v${index} as ${query};`);
    await database.run(`set search_path = fixed; ${all.join('\n')}`);
    const found = new Map((await inferIn('fixed')).map((view) => [view.name, view]));
    for (const [index, [query, ...key]] of withKey.entries()) {
      const view = found.get(`v${index}`)!;
      assert.deepEqual([...(view.key ?? [view.problem])].sort(), key.map((name) => name.replace('?', '')).sort(), query);
      assert.equal(
        view.keyMayBeNull,
        key.some((name) => name.endsWith('?')),
        query,
      );
    }
    for (const [index, [query, problem]] of withoutKey.entries()) {
      const view = found.get(`v${withKey.length + index}`)!;
      assert.deepEqual(view.key, null, query);
      assert.match(view.problem ?? '', problem, query);
    }
  });

  it('rejects text in another format, and reads any depth', () => {
    for (const text of ['', '(', ')', '{A', '({)}', '(})', '{A b}', '{(a)}', 'a b', '{A :constvalue 4 [ 1 2'])
      assert.throws(() => parseNodeTree(text), text);
    const depth = 100_000;
    assert.ok(parseNodeTree(`${'('.repeat(depth)}${')'.repeat(depth)}`));
    const node = asNode(parseNodeTree('{A :constvalue 4 [ 1 0 ] :__proto__ \\<> :none <> :list (b \\{ c\\ d)}'))!;
    assert.deepEqual(
      [...node.fields],
      [
        ['constvalue', '4 [ 1 0 ]'],
        ['__proto__', '<>'],
        ['none', null],
        ['list', ['b', '{', 'c d']],
      ],
    );
  });

  it('sees through views on views and materialized views', async () => {
    await database.run(`set search_path = fixed; create view inner_view as select p.id as post, a.name from ${joined};
      create materialized view stored as select * from inner_view; create view over_all as select s.post, c.id from stored s join comment c on c.post_id = s.post;
      create view over_none as select c.post_id, s.name from stored s join comment c on c.post_id = s.post;
      create view deep as with x as (select 1 as one, * from over_all) select * from x where one = 1;`);
    const keys = Object.fromEntries((await inferIn('fixed')).map(({ name, key }) => [name, key]));
    assert.deepEqual([keys['stored'], keys['over_all'], keys['over_none'], keys['deep']], [['post'], ['id'], null, ['id']]);
  });

  it('infers no key of random views that their rows violate', async () => {
    const { setup, views } = randomViews(20260401, 400);
    await database.run(`set search_path = random; ${setup}`);
    const refused: string[] = [];
    for (const [index, { query, substitute }] of views.entries()) {
      await database.run(`create view v${index} as ${query}`).catch(async () => {
        refused.push(query);
        await database.run(`create view v${index} as ${substitute}`);
      });
    }
    const inferred = await inferIn('random');
    const sets = inferred.flatMap(({ name, key, keyMayBeNull, unique }) =>
      unique.map((columns) => ({ name, columns, isKey: columns.join() === key?.join(), keyMayBeNull })),
    );
    const checks = sets.map(({ name, columns, isKey, keyMayBeNull }) => {
      const row = columns.map((column) => `"${column}"`).join(', ');
      const nulls = isKey && !keyMayBeNull ? `(${row}) is not null` : 'true';
      const compared = isKey && keyMayBeNull ? 'true' : `(${row}) is not null`;
      return `select '${name}' as name, '${row}' as columns, not bool_and(${nulls}) as has_nulls,
        (select count(*) from (select from ${name} where ${compared} group by ${row} having count(*) > 1) d) as twice from ${name}`;
    });
    const wrong = await database.run(`set jit = off; select * from (${checks.join(' union all ')}) c where c.has_nulls or c.twice > 0`);
    assert.deepEqual(
      wrong.map((row) => ({ ...row, query: views[Number(String(row['name']).slice(1))]!.query })),
      [],
    );
    const keys = inferred.filter(({ key }) => key !== null).length;
    const withNulls = inferred.filter(({ keyMayBeNull }) => keyMayBeNull).length;
    const oneRow = await database.run(
      `select * from (values ${
        inferred
          .filter(({ isSummary }) => isSummary)
          .map(({ name }) => `((select count(*) from ${name}), '${name}')`)
          .join() || "(1, '')"
      }) v(n, name) where n > 1`,
    );
    assert.deepEqual(
      oneRow.map(({ name }) => views[Number(String(name).slice(1))]!.query),
      [],
    );
    assert.ok(
      refused.length < 60 && keys > 60 && keys < 280 && withNulls > 20,
      `${refused.length} refused, ${keys} keys, ${withNulls} with nulls`,
    );
  });
});

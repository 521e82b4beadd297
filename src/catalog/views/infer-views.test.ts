/**
 * Keys of views: of the examples below, and of random views, which are checked against their rows. Runs on a real server, whose version
 * determines the text of the definitions.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { randomViews } from '../../../test/support/random-views.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../../../test/support/test-databases.ts';
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
    create domain padded as bpchar;
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

const joined = 'post p join author a on a.id = p.author_id';

/** Queries, with the key of a view on each; a question mark after columns that may be null. */
const withKey: readonly (readonly [query: string, ...key: string[]])[] = [
  ['select * from post', 'id'],
  ['select title, id as "odd ( {name} \\ <> :resno" from post', 'odd ( {name} \\ <> :resno'],
  ['select title as ":expr", id as ":resname", author_id as "a)b", author_name as "<>" from post', ':resname'],
  [`select words as "2", post_id as "(", place as "} [ 4" from note where words <> '{VAR :varno 1} [ 1 0 ]'`, '(', '} [ 4'],
  [`select p.*, a.name, a.id as key from ${joined}`, 'id'],
  [`select a.name, p.id from ${joined.replace('join', 'left join')}`, 'id'],
  ['select p.id from author a right join post p on p.author_id = a.id', 'id'],
  ['select p.id, a.name from post p, author a where p.author_name = a.name and p.id > 3', 'id'],
  ['select p.id, q.id as other from post p, post q', 'id', 'other'],
  [`select c.id, v.name from comment c left join (select p.id, a.name from ${joined}) v on v.id = c.post_id`, 'id'],
  [`select c.id, a.name from comment c left join (${joined}) on p.id = c.post_id`, 'id'],
  [`select p.id, n.words from post p left join note n on n.post_id = p.id and n.place = 1`, 'id'],
  [`select p.id, n.words from post p join note n on n.post_id = p.id and 1 = n.place`, 'id'],
  [`select a.id, a.name, count(*) from ${joined} group by a.id`, 'id'],
  [`select p.id, a.name, count(*) from ${joined} left join comment c on c.post_id = p.id group by p.id, a.name having count(*) >= 0`, 'id'],
  [`select distinct a.id, a.name from ${joined}`, 'id'],
  [`select distinct on (a.id) a.id, p.title, generate_series(1, 2) from ${joined}`, 'id'],
  ['select a.id, s.c from author a left join lateral (select count(*) as c from post p where p.author_id = a.id) s on true', 'id'],
  [
    'with x as (select * from post), y as (select * from x) select y.*, (select count(*) from comment c where c.post_id = y.id) from y',
    'id',
  ],
  ['select s.id from (select id, author_id from post where title is null) s join author using (id)', 'id'],
  ['select * from note join (select id as post_id, title from post) t using (post_id)', 'post_id', 'place'],
  ['select id, row_number() over (order by title) from post order by title limit 3', 'id'],
  ['select *, exists (select from comment c where c.post_id = p.id) from post p tablesample system (50)', 'id'],
  ['select p.id from post p where p.id in (select post_id from comment union select 1)', 'id'],
  ['select * from part', 'id'],
  // The columns that rows are grouped by.
  ['select kind, count(*) from sale group by kind', 'kind'],
  ['select count(*), day, max(amount), kind from sale group by kind, day having count(*) > 1', 'day', 'kind'],
  ['select price, count(*) from sale group by price', 'price?'],
  ['select distinct kind, day from sale', 'kind', 'day'],
  ['select distinct on (kind) kind, amount, generate_series(1, 2) from sale order by kind, amount', 'kind'],
  ['select region, count(*) from sale where region is not null and amount > 0 group by region', 'region'],
  ['select distinct fixed from sale', 'fixed'],
  ["select tag, label, 'x' as const, count(*) from sale group by 1, 2, 3", 'tag', 'label'],
  [`select s.kind, p.author_id, count(*) from sale s join post p on p.id = s.post_id group by s.kind, p.author_id`, 'kind', 'author_id'],
  ['select s.kind, count(p.id) from sale s left join post p on p.id = s.post_id group by s.kind', 'kind'],
  ['select kind, n from (select kind, count(*) as n from sale group by kind) s where n > 1', 'kind'],
  [
    'select a.id, t.kinds from author a left join (select author_id, count(*) as kinds from post group by author_id) t on t.author_id = a.id',
    'id',
  ],
  ['select n, count(*) from (select kind, count(*) as n from sale group by kind) s group by n', 'n'],
  // Where they may be null.
  ['select region, count(*) from sale group by region', 'region?'],
  ['select distinct region, kind from sale', 'region?', 'kind'],
  ['select region, count(*) from sale where region is not null or kind is not null group by region', 'region?'],
  ['select p.title, count(*) from sale s left join post p on p.id = s.post_id and p.title is not null group by p.title', 'title?'],
  ['select s.kind, count(*) from post p left join sale s on s.post_id = p.id group by s.kind', 'kind?'],
  ['select r.region from (select distinct region from sale) r', 'region?'],
  ['select r.region, p.id from (select distinct region from sale) r cross join post p', 'region?', 'id'],
  // Expressions.
  ['select lower(kind) as kind, count(*) from sale group by 1', 'kind?'],
  ["select date_trunc('month', at) as month, kind, sum(amount) from sale group by 1, 2", 'month?', 'kind'],
  ["select extract(year from day)::int as year, to_char(at, 'MM') as month from sale group by 1, 2", 'year?', 'month?'],
  [
    "select day - interval '1 day' as eve, case when amount > 5 then 'much' else 'little' end as size, count(*) from sale group by 1, 2",
    'eve?',
    'size?',
  ],
  [
    "select coalesce(region, 'none') as region, region is null as empty, kind = any('{a,b}') as common from sale group by 1, 2, 3",
    'region?',
    'empty?',
    'common?',
  ],
  ['select distinct upper(kind) as kind, day from sale', 'kind?', 'day'],
  ['select distinct kind, generate_series(1, 2) as n from sale', 'kind', 'n?'],
  ['select distinct on (lower(label)) lower(label) as label, amount from sale', 'label?'],
  ['select g.k, count(*) from (select kind || label as k from sale) g group by g.k', 'k?'],
  ['select (at at time zone $$UTC$$)::date as day, count(*) from sale group by 1', 'day?'],
  // Several queries.
  ['select title from post union select name from author', 'title?'],
  ['select id from parent union select id from post', 'id?'],
  ["select id, 'post' as kind from post union select id, 'author' from author", 'id', 'kind'],
  ["select id, null::text as kind from post union select id, 'author' from author", 'id', 'kind?'],
  // A row of an outer join's optional side may be null for some rows of the other side, and not for others.
  ['select distinct on (a.name) a.name, a.id from post p left join author a on p.title = a.name and a.id = 2', 'name?'],
  ['select distinct a.name from post p left join author a on p.id = 5 and a.id = 2', 'name?'],
  ['select distinct p.id, a.name from comment c cross join post p left join author a on a.id = p.id and c.id = 1', 'id', 'name?'],
  [
    'select p.id, a.name, count(*) from post p left join author a on a.id = p.author_id left join comment c on c.post_id = p.id group by 1, 2',
    'id',
  ],
  ['select distinct s.n, p.id from post p left join (select count(*) as n from author) s on p.id > 3', 'id'],
  ['select distinct s.n from post p left join (select count(*) as n from author) s on p.id > 3', 'n?'],
  ['select kind, day from sale union select kind, day from sale where amount > 1 union select kind, day from sale', 'kind', 'day'],
  ['select kind from sale union all select kind from sale union select region from sale', 'kind?'],
  ['select id from post union (select id from author order by name, code limit 3) order by id limit 5', 'id'],
  ['select price from sale union select price from sale', 'price?'],
  ['select id from post union select id from comment', 'id'],
  ['select id, title from post except select id, name from author', 'id'],
  ['select id, title from post except all select id, name from author', 'id'],
  ['select title, author_id from post intersect select name, id from author', 'author_id'],
  ['select title, author_id from post intersect all select name, id from author', 'author_id'],
  ['select title, author_name from post intersect select name, shout from author', 'title?', 'author_name?'],
  ['select title, author_name from post except select name, shout from author', 'title?', 'author_name?'],
  ['select id, title from post except (select id, name from author union all select post_id, words from comment)', 'id'],
  ['select distinct id from (select id from post union all select id from post) u', 'id'],
  ['select u.id, p.title from (select id from author union select 7) u join post p on p.id = u.id', 'id'],
  ['with a as (select id from post), b as (select * from a union select * from a) select * from b', 'id'],
  ['select count(*) as n from post union select count(*) from author', 'n'],
  // A single row.
  ['select count(*) from post', 'count'],
  ['select max(id), count(*)::int as n from post', 'n'],
  ['select max(id) as latest, count(title) as titles, avg(id) from post', 'titles'],
  ['select coalesce(sum(amount), 0) as total from sale', 'total'],
  ['select s.n, s.m from (select count(*) as n, max(id) as m from post) s', 'n'],
];

/** Queries, with why a view on each has no key. */
const withoutKey: readonly (readonly [query: string, problem: RegExp])[] = [
  ['select title from post', /does not show the primary key of post/],
  ['select post_id, words from note', /does not show the primary key of note/],
  [
    'select a.id, p.id as pid from author a left join post p on p.author_id = a.id',
    /several rows for one of a: those of p, which an outer join/,
  ],
  [`select a.id from ${joined}`, /several rows for one of a: those of p/],
  ['select p.id from author a full join post p on p.author_id = a.id', /does not show the primary key of a, p/],
  ['select id from author union all select id from post', /combines queries with union all/],
  ['select id from author union select id from author union all select id from post', /union all/],
  ['select title from post except all select name from author', /combines queries with except all/],
  ['select title from post intersect all (select id::text from post union all select name from author)', /intersect all/],
  ['select amount from sale union select amount from sale', /equal values may differ/],
  ['select price from sale union select amount from sale', /equal values may differ/],
  ['select code from sale union select code from sale', /equal values may differ/],
  ['select id, random() < 0.5 as r from post union select id, true from author', /may be others each time/],
  ['select own(kind) as k from sale union select kind from sale', /may be others each time/],
  ['select id, xmin from post union select id, xmin from author', /cannot be ordered/],
  // Its keys are cast, which may make them equal.
  ["select at, amount from (select '2026-01-01'::timestamp as at, amount from sale) s except select at, amount from sale", /equal values/],
  ['select local.at, local.x from local except all select at, label from sale', /except all/],
  ['select id, generate_series(1, 2) from post', /set-returning function/],
  ['select p.id, g from post p, generate_series(1, 3) g', /reads g: it is neither/],
  ['select p.id, v.x from post p, (values (1), (2)) v (x)', /neither a table nor a query/],
  ['select id::bigint from post', /does not show/],
  [
    'select p.id, count(*) from post p left join comment c on c.post_id = p.id group by p.id, c.words',
    /several rows for one of p: those of c/,
  ],
  ['select id, count(*) from post group by grouping sets ((id), ())', /grouping sets/],
  ['select id, count(*) from post group by rollup (id)', /grouping sets/],
  ['select distinct id, title from post group by rollup (id, title)', /grouping sets/],
  ['select distinct on (id) id, title from post group by cube (id, title)', /grouping sets/],
  ['select max(id) from post', /single row, and no column/],
  ['select 1 as one', /single row, and no column/],
  ['select sum(id) as s, count(*) filter (where random() < 0.5) as c from post', /single row, and no column/],
  ['select coalesce(max(id), (random() * 9)::int) as c from post', /single row, and no column/],
  ['select s.n from post p left join (select count(*) as n from author) s on true', /does not show the primary key of p/],
  // Null, values that are equal but not the same, expressions, and groups that are not shown.
  ['select amount, count(*) from sale group by amount', /equal values may differ/],
  ['select weight, kind from sale group by weight, kind', /equal values may differ/],
  ['select distinct code from sale', /equal values may differ/],
  ['select distinct free from sale', /equal values may differ/],
  ['select s.free from (select free from sale) s group by s.free', /equal values may differ/],
  ['select padded, count(*) from sale group by padded', /equal values may differ/],
  ['select r, count(*) from (select (random() * 9)::int as r from sale) s where r is not null group by r', /may be others each time/],
  ['select own(kind) as k, count(*) from sale group by 1', /may be others each time/],
  ['select random() < 0.5 as r, count(*) from sale group by 1', /may be others each time/],
  ['select (select max(id) from post) as m, count(*) from sale group by 1', /may be others each time/],
  ['select distinct row_number() over (order by day) as n from sale', /may be others each time/],
  ['select n, count(*) from (select row_number() over (order by day) as n from sale) s group by n', /may be others each time/],
  ['select amount + 1 as a, count(*) from sale group by 1', /equal values may differ/],
  ['select weight::text::float as w from sale group by 1', /equal values may differ/],
  ['select code || code as c, count(*) from sale group by 1', /equal values may differ/],
  ['select lower(kind) as k, upper(kind) as u from sale group by 1, 2, label', /groups rows by an expression/],
  ['select lower(kind) as k, count(*) from sale group by grouping sets ((1), ())', /grouping sets/],
  ['select kind, count(*) from sale group by kind, day', /does not show the primary key of sale/],
  ['select kind, generate_series(1, 2) from sale group by kind', /set-returning function/],
  ['select kind, count(*) from sale group by rollup (kind)', /grouping sets/],
  ['select distinct kind, day from sale group by cube (kind, day)', /grouping sets/],
  ['select distinct id, random() < 0.5 as r, lower(title) from post, generate_series(1, 2)', /may be others each time/],
  [
    'select a.id, s.title from author a left join lateral (select title from post p where p.author_id = a.id limit 3) s on true',
    /reads s: /,
  ],
  ['select s.id from post p cross join lateral (select id from author a where a.id >= p.author_id) s', /several rows|does not show/],
  ['with recursive r as (select id from post union all select id + 1 from r where id < 5) select * from r', /recursive/],
  ['select * from late', /no primary key, or only a deferrable one/],
  ['select * from parent', /inherit/],
  ['select oid, relname from pg_class', /its keys are unknown/],
  // The unique index and the join compare the columns differently.
  ['select p.id, a.name from post p join author a on lower(a.shout) = p.title', /several rows/],
  ['select p.id from post p join author a on a.hidden = p.id', /several rows/],
  ['select p.id from post p join author a on a.code = p.id', /several rows/],
  ['select p.id from post p join author a on a.id >= p.author_id', /several rows/],
  ['select p.id from post p join author a on a.id = p.author_id or a.id = 1', /several rows/],
  ['select p.id from post p join author a on not (a.id = p.author_id)', /several rows/],
  ['select p.id from post p join author a on a.id + 0 = p.author_id', /several rows/],
  [
    'select p.id from post p left join author a on a.id = p.author_id left join comment c on p.id = 1 and c.id = c.post_id',
    /several rows for one of p: those of c/,
  ],
  // The condition of an outer join removes no rows of the preserved side.
  ['select p.id from (post p cross join author a) left join comment c on a.id = p.author_id', /several rows/],
];

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
        ['constvalue', '4'],
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

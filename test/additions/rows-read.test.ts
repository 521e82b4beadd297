/** That filters and orders by relations, aggregates, groups, increments, upserts, nested writes and views without comments read no more rows than statements that a person writes for the same, by what PostgreSQL counts as it runs both. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { DatabasePlanNode } from '../../src/index.ts';
import { type PgliteGraph, startPgliteGraph } from '../support/pglite-graph.ts';

const schemaSql = `
comment on schema public is '@graphql({"inflect_names": true})';
create table author (id int primary key, name text not null);
create table post (id int primary key, author_id int references author, editor_id int not null references author, views int not null);
comment on constraint post_editor_id_fkey on post is '@graphql({"local_name": "edited"})';
create table comment (id int primary key, post_id int not null references post, stars int);
comment on table comment is '@graphql({"aggregate": {"enabled": true}})';
insert into author select n, 'a' || (n * 37) % 500 from generate_series(1, 500) as n;
insert into post select n, nullif((n * 7919) % 510, 0) % 500 + 1, (n * 104729) % 500 + 1, n % 100 from generate_series(1, 3000) as n;
insert into comment select n, (n * 7907) % 3000 + 1, n % 6 from generate_series(1, 9000) as n;
create table shelf (id int primary key generated always as identity, author_id int references author);
create table book (id int primary key generated always as identity, shelf_id int references shelf, title text not null);
insert into shelf (author_id) select n % 500 + 1 from generate_series(1, 2000) as n;
insert into book (shelf_id, title) select n % 2000 + 1, 't' || n from generate_series(1, 20000) as n;
create index on book (shelf_id);
create table branch (town int, number int, name text, primary key (town, number));
create table desk (town int, number int, branch_number int, words text, primary key (town, number), foreign key (town, branch_number) references branch);
insert into branch select n % 50, n / 50, 'b' || n from generate_series(0, 1999) as n;
insert into desk select n % 50, n / 50, n / 50 % 40, 'd' || n from generate_series(0, 19999) as n;
create index on desk (town, branch_number);
create view shown_post with (security_invoker = true) as select p.id, p.author_id, p.views, a.name as author_name from post p left join author a on a.id = p.author_id;
create view post_score with (security_invoker = true) as
  select p.id, p.author_id, count(c.id)::int as comments from post p left join comment c on c.post_id = p.id group by p.id;
create index on author (name); create index on post (author_id); create index on post (editor_id); create index on comment (post_id);
analyze;`;

interface Case {
  readonly name: string;
  readonly arguments: string;
  readonly collection?: 'postCollection' | 'authorCollection';
  /** A select of the ids of the same rows in the same order. */
  readonly sql: string;
}

const cases: readonly Case[] = [
  {
    name: 'a filter by a row',
    arguments: 'filter: {author: {name: {eq: "a7"}}}, first: 20',
    sql: `select p.id from post p join author a on a.id = p.author_id where a.name = 'a7' order by p.id limit 20`,
  },
  {
    name: 'a filter by some rows',
    arguments: 'filter: {commentCollection: {some: {id: {lt: 5}}}}, first: 20',
    sql: 'select p.id from post p where p.id in (select c.post_id from comment c where c.id < 5) order by p.id limit 20',
  },
  {
    name: 'a filter by a count',
    arguments: 'filter: {commentCollection: {count: {gt: 2}}}, first: 20',
    sql: 'select p.id from post p where (select count(*) from comment c where c.post_id = p.id) > 2 order by p.id limit 20',
  },
  {
    name: 'an order by a row that may not be there',
    arguments: 'orderBy: [{author: {name: AscNullsLast}}], first: 20',
    sql: 'select p.id from post p left join author a on a.id = p.author_id order by a.name, p.id limit 20',
  },
  {
    name: 'an order by a row that is always there',
    arguments: 'orderBy: [{editor: {name: DescNullsLast}}], first: 20',
    sql: 'select p.id from post p join author a on a.id = p.editor_id order by a.name desc, p.id limit 20',
  },
  {
    name: 'a page of it after a cursor',
    arguments: `orderBy: [{editor: {name: AscNullsLast}}], first: 20, after: "${cursor('"a250"', '1500')}"`,
    sql: `select p.id from post p join author a on a.id = p.editor_id where a.name >= 'a250' and (a.name, p.id) > ('a250', 1500) order by a.name, p.id limit 20`,
  },
  {
    name: 'a page after a cursor by a row that may not be there',
    arguments: `orderBy: [{author: {name: AscNullsLast}}], first: 20, after: "${cursor('"a250"', '1500')}"`,
    sql: `select p.id from post p join author a on a.id = p.author_id where a.name >= 'a250' and (a.name, p.id) > ('a250', 1500) order by a.name, p.id limit 20`,
  },
  {
    name: 'a page among nulls',
    arguments: `orderBy: [{author: {name: AscNullsLast}}], first: 20, after: "${cursor('null', '1')}"`,
    sql: 'select p.id from post p left join author a on a.id = p.author_id where a.name is null and p.id > 1 order by p.id limit 20',
  },
  {
    name: 'an order by a row of few rows',
    arguments: 'orderBy: [{author: {name: DescNullsLast}}], filter: {authorId: {gte: 40, lt: 50}}, first: 20',
    sql: `select p.id from post p left join author a on a.id = p.author_id where p.author_id >= 40 and p.author_id < 50
      order by a.name desc nulls last, p.id limit 20`,
  },
  {
    name: 'an order by a row of many rows',
    arguments: 'orderBy: [{author: {name: DescNullsLast}}], filter: {authorId: {gte: 1}}, first: 20',
    sql: `select p.id from post p join author a on a.id = p.author_id where p.author_id >= 1 order by a.name desc, p.id limit 20`,
  },
  {
    name: 'a page of few rows after a cursor',
    arguments: `orderBy: [{author: {name: DescNullsLast}}], filter: {id: {gte: 1400, lt: 1500}}, first: 20, after: "${cursor('"a250"', '1450')}"`,
    sql: `select p.id from post p left join author a on a.id = p.author_id where p.id >= 1400 and p.id < 1500
      and ((a.name = 'a250' and p.id > 1450) or a.name < 'a250' or a.name is null) order by a.name desc nulls last, p.id limit 20`,
  },
  {
    name: 'an order by a count',
    arguments: 'orderBy: [{postCollection: {count: DescNullsLast}}], first: 20',
    collection: 'authorCollection',
    sql: `select a.id from author a left join (select p.author_id, count(*) as posts from post p group by p.author_id) p on p.author_id = a.id
      order by coalesce(p.posts, 0) desc, a.id limit 20`,
  },
  {
    name: 'an order by a count of few rows',
    arguments: 'orderBy: [{commentCollection: {count: DescNullsLast}}], filter: {authorId: {eq: 8}}, first: 20',
    sql: 'select p.id from post p where p.author_id = 8 order by (select count(*) from comment c where c.post_id = p.id) desc, p.id limit 20',
  },
  {
    name: 'a page by an average after a cursor',
    arguments: `orderBy: [{commentCollection: {avg: {stars: DescNullsLast}}}], first: 20, after: "${cursor('2.5', '1500')}"`,
    sql: `select p.id from post p left join (select c.post_id, avg(c.stars) as stars from comment c group by c.post_id) c on c.post_id = p.id
      where c.stars < 2.5 or (c.stars = 2.5 and p.id > 1500) or c.stars is null order by c.stars desc nulls last, p.id limit 20`,
  },
  {
    name: 'distinct rows of a column with an index',
    arguments: 'distinctOn: [authorId], orderBy: [{views: DescNullsLast}], first: 20',
    sql: `select id from (select distinct on (author_id) id, author_id from post order by author_id, views desc, id) p order by author_id limit 20`,
  },
  {
    name: 'distinct rows after a cursor',
    arguments: `distinctOn: [authorId], orderBy: [{views: DescNullsLast}], first: 20, after: "${cursor('250')}"`,
    sql: `select id from (select distinct on (author_id) id, author_id from post where author_id > 250 order by author_id, views desc, id) p
      order by author_id limit 20`,
  },
];

/** Requests over all rows of a collection, and a mutation, with statements that read the same. */
const summaries: readonly { readonly name: string; readonly query: string; readonly sql: string }[] = [
  {
    name: 'more aggregates',
    query: '{ commentCollection { aggregate { count countDistinct { postId } stddev { stars } percentile(fraction: 0.5) { stars } } } }',
    sql: 'select count(*), count(distinct post_id), stddev(stars), percentile_cont(0.5) within group (order by stars) from comment',
  },
  {
    name: 'groups',
    query: `{ commentCollection(filter: {id: {lte: 900}}) { groups(by: [{stars: VALUE}, {bucket: {postId: 100}}], having: {count: {gt: 1}},
      orderBy: [{sum: {stars: DescNullsLast}}], first: 5) { key { stars postId } count sum { stars } max { id } } } }`,
    sql: `select stars, floor(post_id / 100), count(*), sum(stars), max(id) from comment where id <= 900
      group by 1, 2 having count(*) > 1 order by 4 desc limit 5`,
  },
  {
    name: 'groups by columns of related rows',
    query:
      '{ commentCollection(filter: {id: {lte: 900}}) { groups(by: [{post: {author: {name: VALUE}}}, {post: {views: VALUE}}]) { key { post { author { name } } } count } } }',
    sql: `select a.name, p.views, count(*) from comment c left join post p on p.id = c.post_id left join author a on a.id = p.author_id
      where c.id <= 900 group by 1, 2 order by 1, 2 limit 30`,
  },
  {
    name: 'increments by key',
    query: 'mutation { updatePostCollection(set: {}, increment: {views: 2}, filter: {id: {eq: 7}}) { records { views authorId } } }',
    sql: 'update post set views = views + 2 where id = 7 returning views, author_id',
  },
  {
    name: 'increments of several rows',
    query: 'mutation { updatePostCollection(set: {}, increment: {views: 1}, filter: {authorId: {eq: 8}}, atMost: 100) { affectedCount } }',
    sql: 'update post set views = views + 1 where author_id = 8 returning 1',
  },
  {
    name: 'rows of a view by the key that is inferred',
    query: '{ shownPostByPk(id: 7) { views authorName author { name } commentCollection(first: 5) { edges { node { stars } } } } }',
    sql: `select p.views, p.author_name, a.name, (select json_agg(c.stars) from (select stars from comment where post_id = p.id order by id limit 5) c)
      from shown_post p left join author a on a.id = p.author_id where p.id = 7`,
  },
  {
    name: 'a page of a view after a cursor',
    query: `{ shownPostCollection(first: 10, after: "${cursor('100')}") { edges { node { id authorName } } pageInfo { hasNextPage } } }`,
    sql: 'select id, author_name from shown_post where id > 100 order by id limit 11',
  },
  {
    name: 'a page of a view that groups, with what its rows are related to',
    query: '{ postScoreCollection(first: 5) { edges { node { comments author { name } } } } }',
    sql: 'select s.comments, a.name from (select * from post_score order by id limit 5) s left join author a on a.id = s.author_id order by s.id',
  },
  {
    name: 'views that rows lead to by the keys of their tables',
    query: '{ authorByPk(id: 8) { shownPostCollection(first: 3) { edges { node { views } } } } }',
    sql: 'select (select json_agg(p.views) from (select views from shown_post where author_id = a.id order by id limit 3) p) from author a where id = 8',
  },
  {
    name: 'filters and orders by the relations of a view',
    query:
      '{ shownPostCollection(filter: {author: {id: {eq: 7}}}, orderBy: [{commentCollection: {count: DescNullsLast}}], first: 20) { edges { node { id } } } }',
    sql: `select p.id from shown_post p join author a on a.id = p.author_id where a.id = 7
      order by (select count(*) from comment c where c.post_id = p.id) desc, p.id limit 20`,
  },
  {
    name: 'upserts',
    query: `mutation { insertIntoAuthorCollection(objects: [{id: 1, name: "a37"}, {id: 2, name: "x"}, {id: 501, name: "y"}],
      onConflict: {constraint: author_pkey, updateColumns: [name], filter: {postCollection: {some: {views: {lt: 200}}}}}) { records { name } } }`,
    sql: `insert into author as a values (1, 'a37'), (2, 'x'), (501, 'y') on conflict (id) do update set name = excluded.name
      where exists (select from post p where p.author_id = a.id and p.views < 200) returning name`,
  },
];

/** Writes with related rows, with the statements that a person sends one after the other for the same. Theirs make keys from 90,000 on. */
const nested: readonly { readonly name: string; readonly query: string; readonly sql: readonly string[] }[] = [
  {
    name: 'an increment with a related row in its response',
    query: 'mutation { updatePostCollection(set: {}, increment: {views: 2}, filter: {id: {eq: 7}}) { records { views author { name } } } }',
    sql: [
      'update post set views = views + 2 where id = 7 returning id',
      'select p.views, a.name from post p left join author a on a.id = p.author_id where p.id = 7',
    ],
  },
  {
    name: 'an insert with related rows',
    query: `mutation { insertIntoShelfCollection(objects: [{author: {connect: {id: 7}}, bookCollection: {create: [{title: "a"}, {title: "b"}], connect: [{id: 5}]}}]) {
      records { id bookCollection { edges { node { title } } } } } }`,
    sql: [
      'select id from author where id = 7',
      'insert into shelf (id, author_id) values (90000, 7) returning id',
      'select id from book where id = 5',
      'update book set shelf_id = 90000 where id in (5) returning id',
      `insert into book (id, shelf_id, title) values (90000, 90000, 'a'), (90001, 90000, 'b') returning id`,
      'select s.id, b.title from shelf s join book b on b.shelf_id = s.id where s.id = 90000',
    ],
  },
  {
    name: 'many rows with many that belong to them',
    query: `mutation { insertIntoShelfCollection(objects: [${Array.from(
      { length: 100 },
      (_, shelf) =>
        `{authorId: 7, bookCollection: {create: [${Array.from({ length: 5 }, (_, book) => `{title: "${shelf} ${book}"}`).join(', ')}]}}`,
    ).join(', ')}]) { affectedCount } }`,
    sql: [
      'insert into shelf (id, author_id) select n, 7 from generate_series(90000, 90099) as n returning id',
      `insert into book (id, shelf_id, title) select 90000 + n, 90000 + n % 100, 'x' from generate_series(0, 499) as n returning id`,
    ],
  },
  {
    name: 'an update with related rows',
    query: `mutation { updateShelfCollection(filter: {id: {eq: 3}}, set: {author: {connect: {id: 8}}, bookCollection: {
      delete: {filter: {title: {eq: "t2002"}}, atMost: 9}, disconnect: {filter: {title: {eq: "t4002"}}, atMost: 9}, update: [{set: {title: "new"}, atMost: 99}]}}) { affectedCount } }`,
    sql: [
      'select id from author where id = 8',
      'select id from shelf where id = 3 for update',
      'update shelf set author_id = 8 where id = 3 returning id',
      `delete from book where shelf_id = 3 and title = 't2002' returning 1`,
      `update book set shelf_id = null where shelf_id = 3 and title = 't4002' returning 1`,
      `update book set title = 'new' where shelf_id = 3 returning id`,
    ],
  },
];

/** The same over keys of several columns. */
const overPairs: typeof nested = [
  {
    name: 'an update of rows that refer by two columns',
    query: `mutation { updateBranchCollection(filter: {town: {eq: 3}, number: {eq: 7}}, set: {name: "new", deskCollection: {
      delete: {filter: {words: {eq: "d353"}}, atMost: 9}, disconnect: {filter: {words: {eq: "d2353"}}, atMost: 9}, update: [{set: {words: "new"}, atMost: 99}]}}) {
      affectedCount records { name deskCollection { edges { node { words } } } } } }`,
    sql: [
      'select town, number from branch where town = 3 and number = 7 for update',
      `update branch set name = 'new' where town = 3 and number = 7 returning 1`,
      `delete from desk where town = 3 and branch_number = 7 and words = 'd353' returning 1`,
      `update desk set branch_number = null where town = 3 and branch_number = 7 and words = 'd2353' returning 1`,
      `update desk set words = 'new' where town = 3 and branch_number = 7 returning 1`,
      `select b.name, (select json_agg(d.words) from (select words from desk where town = b.town and branch_number = b.number order by number limit 30) d)
        from branch b where town = 3 and number = 7`,
    ],
  },
  {
    name: 'an update of many rows of several that they refer to',
    query: `mutation { updateBranchCollection(filter: {town: {eq: 3}, number: {in: [7, 8, 9]}}, atMost: 9, set: {deskCollection: {update: [{set: {words: "new"}, atMost: 99}]}}) {
      affectedCount records { name } } }`,
    sql: [
      'select town, number from branch where town = 3 and number in (7, 8, 9) for update',
      `update desk set words = 'new' where (town, branch_number) in ((3, 7), (3, 8), (3, 9)) returning 1`,
      'select name from branch where (town, number) in ((3, 7), (3, 8), (3, 9))',
    ],
  },
  {
    name: 'rows that are related anew by keys of two columns',
    query: `mutation { updateBranchCollection(filter: {town: {eq: 3}, number: {eq: 7}}, set: {deskCollection: {
      set: [{town: 3, number: 7}, {town: 3, number: 8}], connect: [{town: 3, number: 9}]}}) { affectedCount } }`,
    sql: [
      'select town, number from branch where town = 3 and number = 7 for update',
      'select town, number from desk where (town, number) in ((3, 7), (3, 8))',
      'update desk set branch_number = null where town = 3 and branch_number = 7 and number not in (7, 8) returning 1',
      'select * from desk where (town, number) in ((3, 7), (3, 8))',
      'update desk set branch_number = 7 where (town, number) in ((3, 8)) returning 1',
      'select * from desk where (town, number) in ((3, 9))',
      'update desk set branch_number = 7 where (town, number) in ((3, 9)) returning 1',
    ],
  },
  {
    name: 'a row that is inserted with others that refer to it by two columns',
    query: `mutation { insertIntoBranchCollection(objects: [{number: 90, town: 3, name: "x", deskCollection: {create: [{number: 900, words: "y"}], connect: [{town: 3, number: 9}]}}]) {
      records { name deskCollection { edges { node { words } } } } } }`,
    sql: [
      `insert into branch values (3, 90, 'x') returning 1`,
      'select * from desk where town = 3 and number = 9',
      'update desk set branch_number = 90 where town = 3 and number = 9 returning 1',
      `insert into desk values (3, 900, 90, 'y') returning 1`,
      `select b.name, (select json_agg(d.words) from (select words from desk where town = b.town and branch_number = b.number order by number limit 30) d)
        from branch b where town = 3 and number = 90`,
    ],
  },
];

let database: PgliteGraph;
before(async () => {
  database = await startPgliteGraph(schemaSql);
});
after(() => database.stop());

for (const { name, arguments: given, collection = 'postCollection', sql } of cases) {
  test(`${name} reads no more rows than by hand`, async () => {
    const { pglite, ask } = database;
    const query = `{ ${collection}(${given}) { edges { node { id } } } }`;
    const { edges } = ((await ask(query)) as Record<string, { edges: { node: { id: number } }[] }>)[collection]!;
    const byHand = await pglite.query<{ id: number }>(sql);
    assert.ok(byHand.rows.length > 0);
    assert.deepEqual(
      edges.map(({ node }) => node.id),
      byHand.rows.map(({ id }) => id),
    );
    await assertReadsNoMore(query, sql);
  });
}

for (const { name, query, sql } of summaries) test(`${name} read no more rows than by hand`, () => assertReadsNoMore(query, sql));

for (const { name, query, sql } of [...nested, ...overPairs])
  test(`${name} reads no more rows than by hand`, () => assertReadsNoMore(query, ...sql));

async function assertReadsNoMore(query: string, ...sql: readonly string[]): Promise<void> {
  const { graph, pglite } = database;
  const { statements } = await graph.explain({ query }, { role: 'service_role' }, { mode: 'analyze' });
  const ours = statements.reduce((sum, { databasePlan }) => sum + (databasePlan ? rowsOf(databasePlan.root) : 0), 0);
  let theirs = 0;
  await pglite.transaction(async (transaction) => {
    for (const statement of sql) {
      const overriding = statement.replace(/^(insert into (?:shelf|book) \(.*?\))/, '$1 overriding system value');
      const { rows } = await transaction.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(`explain (analyze, format json) ${overriding}`);
      theirs += rowsByHand(rows[0]!['QUERY PLAN'][0]!.Plan);
    }
    await transaction.rollback();
  });
  assert.ok(ours > 0 && ours <= theirs, `${ours} rows, by hand ${theirs}`);
}

/** Rows that scans of tables return or leave out. An index is read by a scan of its own below that of the table. */
function rowsOf({ table, actual, children }: DatabasePlanNode): number {
  const own = table && actual ? (actual.rows + actual.removed) * actual.loops : 0;
  return own + children.reduce((sum, child) => sum + rowsOf(child), 0);
}

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

function rowsByHand(node: PlanNode): number {
  const own = node['Relation Name'] ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'] : 0;
  return own + (node.Plans ?? []).reduce((sum, child) => sum + rowsByHand(child), 0);
}

function cursor(...elements: readonly string[]): string {
  return Buffer.from(`[${elements.join(', ')}]`).toString('base64');
}

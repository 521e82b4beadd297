/** Advice beside indexes of every kind: what is there and serves is not advised again, and what is advised serves. Over a real PostgreSQL. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Caller, createRowgraph, type DatabasePlanNode, type Explanation, type Rowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

const schemaSql = `
comment on schema public is '@graphql({"inflect_names": true})';
create table item (id int primary key, hashed text, named text, plain text, code varchar(20), byte_code text collate "C", collated text, email text, covered int,
  blocked int, flag boolean, rare boolean, gone_at timestamptz, score int, queue int, made_at timestamptz, seen_at timestamptz, tags text[], brand int, shelf int, bad int);
insert into item select i, 'h' || i % 1000, 'n' || i, 'p' || i, 'c' || i, 'b' || i, 'x' || i % 1000, 'E' || i, i % 1000, i % 1000, i % 50 = 0, i % 50 = 0,
  case when i % 50 > 0 then timestamptz '2024-01-01' end, i % 1000, i % 1000, case when i % 50 > 0 then '2024-01-01'::timestamptz + i * interval '1 minute' end,
  case when i % 50 > 0 then '2024-01-01'::timestamptz + i * interval '1 minute' end, array['t' || i % 1000], i % 900, i % 900, i % 1000 from generate_series(1, 20000) i;
create index on item using hash (hashed);
create index on item (named text_pattern_ops);
create index on item (collated collate "C");
create index on item (lower(email));
create index on item (id) include (covered);
create index on item using brin (blocked);
create index on item (score) where flag;
create index on item (made_at desc nulls last, id);
create index on item using brin (made_at);
create index on item using hash (made_at);
create index on item using gin (tags);
create index on item (brand);
create table holder (id int primary key);
insert into holder select i from generate_series(1, 2000) i;
create table hash_part (id int primary key, holder_id int references holder);
create table some_part (id int primary key, holder_id int references holder);
create table null_part (id int primary key, holder_id int references holder);
insert into hash_part select i, i % 2000 + 1 from generate_series(1, 20000) i;
insert into some_part select * from hash_part;
insert into null_part select * from hash_part;
create index on hash_part using hash (holder_id);
create index on some_part (holder_id) where id > 100;
create index on null_part (holder_id) where holder_id is not null;
create view item_view as select id, queue, shelf from item;
comment on view item_view is '@graphql({"primary_key_columns": ["id"]})';
create view item_count as select shelf, count(*) as items from item group by shelf;
comment on view item_count is '@graphql({"primary_key_columns": ["shelf"]})';
create materialized view item_copy as select id, shelf from item;
comment on materialized view item_copy is '@graphql({"primary_key_columns": ["id"]})';
create table old (id int primary key, kind text);
create table newer (primary key (id)) inherits (old);
insert into newer select i, 'k' || i % 1000 from generate_series(1, 20000) i;
create table owned (id int primary key, owner text, team int);
insert into owned select i, 'u' || i % 1000, i % 500 from generate_series(1, 20000) i;
alter table owned enable row level security;
create function me() returns text stable language sql as $$ select nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub' $$;
create function may_see(team int) returns boolean stable language plpgsql as $$ begin return team > 0; end $$;
create policy own on owned using (owner = me());
create policy teams on owned using (may_see(team));
create policy later on owned as restrictive using (now() > timestamptz '2020-01-01');
grant all on all tables in schema public to anon;
vacuum analyze;
`;

const caller: Caller = { role: 'anon', claims: { sub: 'u1' } };
let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;
before(async () => {
  databases = await startTestDatabases();
  const [setup = '', last = ''] = schemaSql.split(/(?=vacuum)/);
  database = await databases.create(setup);
  await database.run(last);
  graph = await createRowgraph({ database: database.url });
});
after(async () => {
  await graph.close();
  await databases.close();
});

const adviceOf = ({ advice }: Explanation) => advice.map(({ sql }) => sql);
const nodesOf = (node: DatabasePlanNode): DatabasePlanNode[] => [node, ...node.children.flatMap(nodesOf)];
const costOf = ({ statements }: Explanation) =>
  statements.reduce((sum, { databasePlan }) => sum + databasePlan!.root.estimate.totalCost, 0);
const explain = (query: string, mode: 'plan' | 'analyze' = 'plan') => graph.explain({ query }, caller, { mode });

const items = (filter: string) => `{ itemCollection(filter: { ${filter} }) { edges { node { id } } } }`;
const newest = (column: string, order: string) =>
  `{ itemCollection(first: 5, orderBy: [{ ${column}: ${order} }]) { edges { node { id } } pageInfo { hasNextPage } } }`;
const parts = (field: string) => `{ holderCollection(first: 5) { edges { node { ${field} { edges { node { id } } } } } } }`;

const served: Readonly<Record<string, string>> = {
  'a hash index, by a value': items('hashed: { eq: "h7" }'),
  'an index of patterns, by a value': items('named: { eq: "n7" }'),
  'an index of patterns, by a prefix': items('named: { startsWith: "n77" }'),
  'a partial index whose condition holds': items('flag: { eq: true }, score: { eq: 50 }'),
  'an index of arrays': items('tags: { contains: ["t7"] }'),
  'an index of one of two columns': items('brand: { eq: 7 }, shelf: { eq: 7 }'),
  'an index that has nulls last': newest('madeAt', 'DescNullsLast'),
  'the same, backwards': newest('madeAt', 'AscNullsFirst'),
  'the same, with nulls at the other end': newest('madeAt', 'DescNullsFirst'),
  'the same, with nulls at the other end, backwards': newest('madeAt', 'AscNullsLast'),
  'a relation with a hash index': parts('hashPartCollection'),
  'a relation whose index leaves out nulls': parts('nullPartCollection'),
};

const unserved: Readonly<Record<string, readonly [query: string, ...sql: string[]]>> = {
  'a range, and an index of patterns': [items('named: { gt: "n9998" }'), 'item (named)'],
  'an index of another collation': [items('collated: { eq: "x7" }'), 'item (collated)'],
  'an index of an expression': [items('email: { eq: "E7" }'), 'item (email)'],
  'a column that an index only includes': [items('covered: { eq: 7 }'), 'item (covered)'],
  'an index of blocks': [items('blocked: { eq: 7 }'), 'item (blocked)'],
  'a partial index whose condition does not hold': [items('score: { eq: 51 }'), 'item (score)'],
  'a prefix': [items('plain: { startsWith: "p77" }'), 'item (plain text_pattern_ops)'],
  'a pattern that begins with text, in a varchar': [items('code: { like: "c77%" }'), 'item (code text_pattern_ops)'],
  'nulls that are few': [items('goneAt: { is: NULL }'), 'item (gone_at)'],
  'a boolean that is rare, in the order of the key': [items('rare: { eq: true }'), 'item (rare, id)'],
  'a value that is rare, in the order of an index': [
    '{ itemCollection(first: 5, filter: { shelf: { eq: 7 } }, orderBy: [{ madeAt: DescNullsLast }]) { edges { node { id } } } }',
    'item (shelf, made_at desc nulls last, id)',
  ],
  'nulls last': [newest('seenAt', 'DescNullsLast'), 'item (seen_at desc nulls last, id)'],
  'a relation whose index leaves out rows': [parts('somePartCollection'), 'some_part (holder_id)'],
  'a view': ['{ itemViewCollection(filter: { queue: { eq: 7 } }) { edges { node { id } } } }', 'item (queue)'],
  'a materialized view': ['{ itemCopyCollection(filter: { shelf: { eq: 7 } }) { edges { node { id } } } }', 'item_copy (shelf)'],
  'the heirs of a table': ['{ oldCollection(filter: { kind: { eq: "k7" } }) { edges { node { id } } } }', 'newer (kind)'],
};

const nothing: Readonly<Record<string, string>> = {
  'a filter that most rows pass': items('bad: { neq: 7 }'),
  'either of two conditions': items('or: [{ bad: { eq: 7 } }, { shelf: { eq: 7 } }]'),
  'the middle of a text': items('plain: { like: "%77" }'),
  'a prefix in any case': items('plain: { ilike: "p77%" }'),
  'a view of groups, by a count': '{ itemCountCollection(filter: { items: { eq: "7" } }) { edges { node { shelf } } } }',
};

describe('advice', () => {
  for (const [name, query] of Object.entries(served)) {
    test(`none for ${name}`, async () => {
      for (const mode of ['plan', 'analyze'] as const) {
        const explained = await explain(query, mode);
        assert.deepEqual(adviceOf(explained), []);
        const types = explained.statements.flatMap(({ databasePlan }) => nodesOf(databasePlan!.root).map(({ type }) => type));
        assert.ok(!types.includes('Seq Scan'), types.join());
      }
    });
  }

  for (const [name, query] of Object.entries(nothing))
    test(`none that would help: ${name}`, async () => assert.deepEqual(adviceOf(await explain(query)), []));

  for (const [name, [query, ...targets]] of Object.entries(unserved)) {
    test(`for ${name}, which is gone once its SQL has run, and the plan is better`, async () => {
      const before = await explain(query);
      assert.deepEqual(
        adviceOf(before),
        targets.map((target) => `create index concurrently on public.${target};`),
      );
      assert.deepEqual(adviceOf(await explain(query, 'analyze')), adviceOf(before));
      for (const sql of adviceOf(before)) await database.run(sql);
      await database.run(`analyze ${targets.map((target) => target.slice(0, target.indexOf(' '))).join(', ')}`);
      await graph.reload();
      const after = await explain(query);
      assert.deepEqual(adviceOf(after), []);
      assert.ok(costOf(after) < costOf(before) / 1.5, `${costOf(after)} is not much less than ${costOf(before)}`);
    });
  }

  test('for policies: a call with the same result for all rows is wrapped; one of a column, and those of PostgreSQL, are left alone', async () => {
    const query = '{ ownedCollection { edges { node { id } } } }';
    const before = await explain(query);
    assert.deepEqual(adviceOf(before), ['alter policy own on public.owned using ((owner = (select me())));']);
    await database.run(adviceOf(before).join(' '));
    const after = await explain(query);
    assert.deepEqual(adviceOf(after), []);
    assert.ok(costOf(after) < costOf(before));
  });

  test('a page behind a cursor is read from an index that has nulls last', async () => {
    const first = await graph.execute({ query: newest('madeAt', 'DescNullsLast').replace('hasNextPage', 'endCursor') }, caller);
    const { endCursor } = (first.data as { itemCollection: { pageInfo: { endCursor: string } } }).itemCollection.pageInfo;
    const query = newest('madeAt', 'DescNullsLast').replace('first: 5', `first: 5, after: "${endCursor}"`);
    const { statements } = await explain(query, 'analyze');
    const scans = nodesOf(statements[0]!.databasePlan!.root).filter(({ type, actual }) => type.endsWith('Scan') && actual!.loops > 0);
    assert.ok(scans.length > 0 && scans.every(({ actual }) => actual!.rows <= 10), JSON.stringify(scans));
  });
});

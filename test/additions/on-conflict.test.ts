/** Upserts while others write, on a PostgreSQL server: nothing is inserted twice, every increment counts, and waiting for another transaction loses nothing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Client } from 'pg';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;
let other: Client;

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(`
    create table page (id int primary key, path text not null, hits int not null default 1, title text);
    create unique index page_path on page (lower(path));
    create table own (id int primary key, owner text not null, n int not null default 0);
    alter table own enable row level security;
    create policy mine on own to anon using (owner = 'me');
  `);
  graph = await createRowgraph({ database: database.url, poolSize: 8 });
  other = await database.connect();
});
after(async () => {
  await graph.close();
  await databases.close();
});

const upsert = (objects: string, conflict: string, table = 'page', role = 'service_role') =>
  graph.execute(
    { query: `mutation { insertInto${table}Collection(objects: ${objects}, onConflict: {${conflict}}) { affectedCount records { id } } }` },
    { role },
  );
const written = (id: number, table = 'page') => ({
  data: { [`insertInto${table}Collection`]: { affectedCount: 1, records: [{ id }] } },
});

test('many at once insert a row once, and each counts', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      upsert(
        `[{id: ${number + 1}, path: "${number % 2 ? 'Home' : 'home'}"}]`,
        'constraint: page_path, updateColumns: [], increment: {hits: 1}',
      ),
    ),
  );
  for (const answer of answers) assert.equal(answer.errors, undefined);
  const ids = answers.map(({ data }) => (data as ReturnType<typeof written>['data']).insertIntopageCollection!.records[0]!.id);
  assert.equal(new Set(ids).size, 1);
  assert.deepEqual(await database.run('select hits, count(*) over ()::int from page'), [{ hits: 20, count: 1 }]);
});

test('a row that another transaction is inserting is waited for, and updated', async () => {
  await other.query(`begin; insert into page values (100, 'new', 7, 'theirs')`);
  const answer = upsert(
    '[{id: 101, path: "NEW", title: "ours"}]',
    'constraint: page_path, updateColumns: [title], filter: {hits: {eq: 7}}',
  );
  await database.untilLocked('insert into "public"."page"', 1);
  await other.query('commit');
  assert.deepEqual(await answer, written(100));
  assert.deepEqual(await database.run('select hits, title from page where id = 100'), [{ hits: 7, title: 'ours' }]);
});

test('the filter is held against the row as it is when its turn comes', async () => {
  await other.query(`begin; update page set hits = 8 where id = 100`);
  const answer = upsert('[{id: 100, path: "x", title: "late"}]', 'constraint: page_pkey, updateColumns: [title], filter: {hits: {eq: 7}}');
  await database.untilLocked('insert into "public"."page"', 1);
  await other.query('commit');
  assert.deepEqual(await answer, { data: { insertIntopageCollection: { affectedCount: 0, records: [] } } });
  assert.deepEqual(await database.run('select title from page where id = 100'), [{ title: 'ours' }]);
});

test('under policies, a filter sees the rows that were there when the statement began', async () => {
  await other.query(`begin; insert into own values (1, 'me', 5)`);
  const conflict = 'constraint: own_pkey, updateColumns: [], increment: {n: 1}';
  const unfiltered = upsert('[{id: 1, owner: "me"}]', conflict, 'own', 'anon');
  const filtered = upsert('[{id: 1, owner: "me"}]', `${conflict}, filter: {n: {gt: 0}}`, 'own', 'anon');
  await database.untilLocked('insert into "public"."own"', 2);
  await other.query('commit');
  assert.deepEqual(await unfiltered, written(1, 'own'));
  assert.deepEqual(await filtered, { data: { insertIntoownCollection: { affectedCount: 0, records: [] } } });
  assert.deepEqual(await upsert('[{id: 1, owner: "me"}]', `${conflict}, filter: {n: {eq: 6}}`, 'own', 'anon'), written(1, 'own'));
});

/** What `graph.access` says, held against what PostgreSQL does. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../../test/support/test-databases.ts';
import { createRowgraph, type Rowgraph } from '../index.ts';
import type { AccessReport, Reach, TableAccess, Verb } from './access.ts';

const claim = "(select current_setting('request.jwt.claims', true)::json ->> 'sub')";

const sql = `
  alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;
  create role staff nologin; create role editor nologin inherit; grant staff to editor; create role writer nologin; create role keeper nologin;
  create role guest nologin noinherit; grant staff to guest;
  grant staff, editor, guest, writer, keeper to authenticator; revoke usage on schema public from public; grant usage on schema public to authenticator, staff, editor, guest, keeper;

  create table post (id int primary key, title text, body text, author text, status text default 'draft', secret text);
  insert into post values (1, 'One', 'b', 'ada', 'published'), (2, 'Two', 'b', 'ada', 'draft'), (3, 'Three', 'b', 'bob', 'draft');
  alter table post enable row level security;
  grant select (id, title, body, author, status) on post to anon; grant select, insert, delete on post to authenticated;
  grant update (title, body) on post to authenticated; grant all on post to service_role; grant select on post to writer;
  create policy published on post for select using (status = 'published');
  create policy own on post to authenticated using (author = ${claim}) with check (author = ${claim} and status <> 'locked');
  create policy "not one" on post as restrictive for delete to authenticated using (id <> 1);

  create table team (id int primary key, name text); insert into team values (1, 'Red');
  alter table team enable row level security;
  grant select on team to staff; create policy staff_reads on team for select to staff using (true);

  create table "Open Book" (id int primary key); insert into "Open Book" values (1);
  grant select on "Open Book" to public; grant insert on "Open Book" to anon with grant option;
  create policy useless on "Open Book" using (false);

  create table kept (id int primary key); insert into kept values (1); alter table kept owner to keeper;
  alter table kept enable row level security; create policy none on kept using (false);
  create table forced (id int primary key); insert into forced values (1); alter table forced owner to keeper;
  alter table forced enable row level security; alter table forced force row level security;

  create table shut (id int primary key); alter table shut enable row level security; grant select, update on shut to anon;

  create view all_posts as select id, title from post; grant select on all_posts to anon;
  create view my_posts as select id, title from post; grant select on my_posts to anon, authenticated;
  create view counted with (security_invoker = true) as select author, count(*) from post group by author; grant all on counted to anon;
  alter view my_posts set (security_invoker = true);
  create view kept_view as select id from forced; alter view kept_view owner to keeper; grant select on kept_view to anon;

  create table log (id int, at date) partition by range (at); create table log_1 partition of log for values from ('2020-01-01') to ('2021-01-01');
  grant select on log to anon;

  create function peek() returns bigint stable security definer language sql as 'select count(*) from post';
  revoke execute on function peek from public; grant execute on function peek to anon;
  revoke execute on function peek from authenticated, service_role;
`;

let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;
let report: AccessReport;
const roles = ['anon', 'authenticated', 'service_role', 'editor', 'guest', 'writer', 'keeper', 'nobody'];

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create('');
  await database.run(sql);
  graph = await createRowgraph({ database: database.url });
  report = await graph.access({ roles });
});
after(async () => {
  await graph?.close();
  await databases?.close();
});

function table(name: string): TableAccess {
  const found = report.tables.find((each) => each.name === name);
  assert.ok(found, name);
  return found;
}

const said = (name: string): string[] => table(name).sentences.map(({ text }) => text);
const verbOf = (name: string, role: string, verb: Verb) => table(name).roles.find((each) => each.role === role)!.verbs[verb];

test('who may do what is said in sentences', () => {
  assert.deepEqual(said('post'), [
    "anon may read only id, title, body, author and status of rows where status = 'published'.",
    "authenticated may read rows where author = the claim sub or status = 'published'.",
    'service_role may read every row.',
    "authenticated may insert rows where author = the claim sub and status <> 'locked'.",
    'service_role may insert any row.',
    "authenticated may update only title and body of rows where author = the claim sub, of those that it may read; afterwards they must have author = the claim sub and status <> 'locked'.",
    'service_role may update every row.',
    'authenticated may delete rows where author = the claim sub and id <> 1, of those that it may read.',
    'service_role may delete every row.',
  ]);
  assert.deepEqual(said('team'), ['editor may read every row.', 'Nobody may insert.', 'Nobody may update.', 'Nobody may delete.']);
  assert.deepEqual(said('shut'), [
    'anon has the privilege to read, but no policy lets it read any row.',
    'Nobody may read.',
    'Nobody may insert.',
    'anon has the privilege to update, but it may read no row, so none is found to update.',
    'Nobody may update.',
    'Nobody may delete.',
  ]);
});

test('roles that do not exist are left out, and memberships that are not inherited give nothing', () => {
  assert.deepEqual(
    report.roles.map(({ name, inherits }) => [name, ...inherits].join(' ')),
    ['anon', 'authenticated', 'service_role', 'editor staff', 'guest', 'writer', 'keeper'],
  );
  assert.deepEqual([verbOf('team', 'editor', 'select').reach, verbOf('team', 'guest', 'select').reach], ['all', 'none']);
  assert.equal(verbOf('team', 'editor', 'select').reason, 'granted to staff, whose privileges it inherits; policy staff_reads');
});

test('a privilege counts only in a schema that the role may use', () => {
  const { isGranted, reason } = verbOf('post', 'writer', 'select');
  assert.deepEqual([isGranted, reason], [false, 'granted to writer, but no usage of the schema public']);
});

test('the owner obeys policies only if they are forced', () => {
  assert.deepEqual([verbOf('kept', 'keeper', 'select').reach, verbOf('forced', 'keeper', 'select').reach], ['all', 'none']);
  assert.deepEqual([table('kept').rowSecurity, table('forced').rowSecurity, table('Open Book').rowSecurity], ['on', 'forced', 'off']);
});

test('notes say what holds for the whole table', () => {
  const notes = (name: string): string[] => table(name).notes.map(({ text, isWarning }) => `${isWarning ? '! ' : ''}${text}`);
  assert.deepEqual(notes('Open Book'), [
    '! Row level security is off. anon, authenticated, editor, guest and keeper use their privileges on every row.',
    '! Its policy has no effect, because row level security is off.',
  ]);
  assert.deepEqual(notes('all_posts'), [
    '! It reads from public.post as postgres, its owner (no security_invoker), to whom the policies of public.post do not apply: whoever may read it sees what they hide.',
  ]);
  assert.deepEqual(notes('my_posts'), [
    'It reads from public.post as its caller (security_invoker): grants and policies there apply to whoever asks.',
  ]);
  assert.ok(notes('log_1').includes('It is a partition: queries of public.log obey the policies of public.log, not these.'));
});

test('a view takes only the writes that PostgreSQL can make of it', () => {
  assert.deepEqual([verbOf('counted', 'anon', 'insert').isGranted, verbOf('counted', 'anon', 'select').reach], [false, 'some']);
  assert.equal(verbOf('my_posts', 'anon', 'select').condition, 'the policies of public.post let them pass');
  assert.equal(verbOf('kept_view', 'anon', 'select').condition, 'the policies of public.forced let them pass for keeper');
});

test('functions that run as their owner name those who may execute them', () => {
  assert.deepEqual(report.definers, [{ name: 'public.peek()', owner: 'postgres', ownerBypassesRowSecurity: true, roles: ['anon'] }]);
});

test('the SQL gives an empty copy of the table the same grants and policies', async () => {
  const { sql: grants, policies } = table('post');
  assert.match(grants, /grant select \(id, title, body, author, status\) on table public\.post to anon;/);
  assert.match(table('Open Book').sql, /grant insert on table public\."Open Book" to anon with grant option;/);
  const text = [grants, ...policies.map((policy) => policy.sql)].join('\n').replaceAll('public.post', 'public.copy');
  await database.run(`create table copy (like post including all); ${text}`);
  const again = await graph.access({ roles, table: 'public.copy' });
  assert.deepEqual(again.tables[0]!.sentences, table('post').sentences);
  assert.deepEqual(
    again.tables[0]!.policies.map(({ text: words }) => words),
    policies.map(({ text: words }) => words),
  );
  await database.run('drop table copy');
});

test('policies are said in words', () => {
  assert.deepEqual(
    table('post').policies.map(({ name, text }) => `${name}: ${text}`),
    [
      'not one: Restricts authenticated: may delete only rows where id <> 1, whatever other policies allow.',
      "own: Lets authenticated read, insert, update and delete rows where author = the claim sub; new and changed rows must have author = the claim sub and status <> 'locked'.",
      "published: Lets everybody read rows where status = 'published'.",
    ],
  );
});

test('without roles, those that grants and policies name', async () => {
  const { roles: named } = await graph.access({ table: 'team' });
  assert.deepEqual(
    named.map(({ name }) => name),
    ['staff'],
  );
});

/** As PostgreSQL answers: an error is none, and a part of the rows is some. */
async function tryOut(role: string, text: string, all: number): Promise<Reach> {
  const client = await database.connect();
  try {
    await client.query('begin');
    await client.query(`set local role ${role}`);
    await client.query(`select set_config('request.jwt.claims', '{"sub":"ada"}', true)`);
    const { rowCount } = await client.query(text);
    return rowCount === 0 ? 'none' : rowCount === all ? 'all' : 'some';
  } catch {
    return 'none';
  } finally {
    await client.query('rollback');
    await client.end();
  }
}

test('PostgreSQL agrees', async () => {
  const all: Readonly<Record<string, number>> = { post: 3, team: 1, 'Open Book': 1, kept: 1, forced: 1, all_posts: 3, my_posts: 3 };
  for (const [name, count] of Object.entries(all))
    for (const { role, verbs } of table(name).roles) {
      const read = await tryOut(role, `select id from "${name}"`, count);
      assert.equal(read, verbs.select.reach, `${role} reads ${name}`);
      const removed = await tryOut(role, `delete from "${name}" where id > 0`, count);
      assert.equal(removed, verbs.delete.reach, `${role} deletes ${name}`);
    }
  for (const role of ['anon', 'authenticated', 'service_role'])
    assert.equal(
      await tryOut(role, "update post set title = 'x' where id > 0", 3),
      verbOf('post', role, 'update').reach,
      `${role} updates`,
    );
});

/** `rowgraph dev --database-url`: the page on a database of the user's own, in which nothing changes. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { makeFolder, removeFolder, runCommand } from './run-command.ts';
import { ask, askBackend, type Printed, startDev } from './start-dev.ts';

let home: string;
let server: PostgresServer;
let superuser: pg.Client;
let dev: Printed;

const password = 'never-print-this';
const tables = `
  create schema auth;
  create table auth.users (id uuid primary key default gen_random_uuid(), email text);
  insert into auth.users values ('00000000-0000-4000-8000-000000000001', 'ada@example.org');
  create table note (id int primary key, text text);
  insert into note values (1, 'Hello');
  grant select on note to anon;
  create table hidden (id int primary key);
  create role editor; grant select on note to editor;
  create role stranger;
  create role app login password '${password}';
  grant anon, editor to app;`;

before(async () => {
  home = await makeFolder();
  server = await startPostgres();
  superuser = new pg.Client(server.url);
  await superuser.connect();
});
after(async () => {
  await dev?.command.stop();
  await superuser.end();
  await server.stop();
  await removeFolder(home);
});

/** The URL of the same database as another user. */
function urlOf(user: string): string {
  const url = new URL(server.url);
  url.username = user;
  url.password = password;
  return url.href;
}

/** Every object, role and privilege, and what was committed. */
async function readState(): Promise<unknown> {
  const { rows } = await superuser.query(`select
    (select json_agg(c order by c.oid) from (select oid, relname, relacl::text, relnamespace from pg_class) c)::text as classes,
    (select json_agg(n order by n.oid) from (select oid, nspname, nspacl::text from pg_namespace where nspname !~ '^pg_temp') n)::text as schemas,
    (select json_agg(oid order by oid) from pg_proc)::text as routines,
    (select json_agg(oid order by oid) from pg_roles)::text as roles,
    (select json_agg((roleid, member) order by oid) from pg_auth_members)::text as members,
    (select json_agg(extname) from pg_extension)::text as extensions,
    (select count(*) from pg_event_trigger) as triggers,
    (select count(*) from pg_replication_slots) as slots,
    (select count(*) from pg_publication) as publications,
    (select json_agg(s order by s.setdatabase, s.setrole)::text from pg_db_role_setting s) as settings,
    (select json_agg(p order by oid) from (select oid, polname, polroles::text from pg_policy) p)::text as policies,
    (select json_agg(n) from note n)::text as notes`);
  return rows[0];
}

const dev2 = (...flags: string[]) => runCommand(['dev', '--port', '0', ...flags], { home });

test('without the roles, it says what to run', async () => {
  const { code, stderr } = await dev2('--database-url', server.url);
  assert.equal(code, 2);
  assert.match(stderr, /^rowgraph: --anon-role: the role "anon" does not exist \("rowgraph roles" prints the SQL/);
});

test('an empty database is said to be empty, and what to do; the anonymous role is enough', async () => {
  await superuser.query('create role anon');
  const empty = await startDev(home, '--database-url', server.url);
  assert.match(
    empty.text,
    /^The API is empty because there are no tables or functions in the schema public: create some with psql, or expose/m,
  );
  assert.equal((await empty.command.stop()).code, 0);
});

test('what is missing from the API is not promised to roles that do not exist', async () => {
  await superuser.query(
    'create table note (id int primary key, text text); create view shown as select 1 as x; grant select on shown to anon',
  );
  await superuser.query('create function two() returns int stable language sql as $$ select 2 $$');
  const one = await startDev(home, '--database-url', server.url);
  assert.match(
    one.text,
    /^public\.note is missing from the API because anon has no privilege on it\. .*\n {2}grant select on public\.note to anon;$/m,
  );
  assert.equal((await one.command.stop()).code, 0);
  await superuser.query('drop table note; drop view shown; drop function two');
  await superuser.query((await runCommand(['roles'], { home })).stdout);
});

test('a superuser: everything that is printed works, and nothing in the database changes', async () => {
  await superuser.query(tables);
  const state = await readState();
  const url = new URL(server.url);
  url.password = password;
  // What is set for `serve` does not make `dev` change the database.
  await writeFile(path.join(home, 'rowgraph.config.json'), '{"schemaTriggers": true, "databaseUrl": "postgres://nowhere/x"}');
  dev = await startDev(home, '--database-url', url.href);
  assert.match(dev.text, /^rowgraph serves postgres:\/\/\S+$/m);
  assert.ok(!dev.text.includes(password));
  assert.match(dev.text, /^The login role "\w+" is a superuser: .*"serve --strict" refuses it\.$/m);
  assert.match(dev.text, /^public\.hidden is missing from the API because neither anon nor authenticated has any privilege on it/m);
  assert.equal(dev.facts['DB URL'], undefined);
  assert.ok(dev.facts['service_role key']);
  const notes = '{ noteCollection { edges { node { text } } } }';
  const answer = { noteCollection: { edges: [{ node: { text: 'Hello' } }] } };
  assert.deepEqual((await ask(dev, notes)).data, answer);
  assert.ok((await ask(dev, '{ __schema { queryType { name } } }')).data, 'introspection is on');

  const callers = (await askBackend(dev, 'callers', {})).answer;
  assert.deepEqual(callers, {
    roles: ['anon', 'authenticated', 'service_role', 'editor'],
    users: [{ id: '00000000-0000-4000-8000-000000000001', label: 'ada@example.org' }],
  });
  const { token } = (await askBackend(dev, 'sign', { role: 'editor', claims: { sub: '1' } })).answer as { token: string };
  assert.deepEqual((await ask({ ...dev, facts: { ...dev.facts, editor: token } }, notes, 'editor')).data, answer);
  for (const role of ['stranger', 'postgres', 'app', 'pg_read_all_data'])
    assert.equal((await askBackend(dev, 'sign', { role })).status, 400, role);
  const explained = (await askBackend(dev, 'explain', { role: 'anon', query: notes, mode: 'analyze' })).answer as { statements: unknown[] };
  assert.equal(explained.statements.length, 1);
  assert.equal((await askBackend(dev, 'doctor', { role: 'anon' })).status, 200);
  assert.deepEqual(await readState(), state);
});

test('what changes in the schema is served, and pointed out', async () => {
  await superuser.query('create table later (id int primary key); grant select on later to anon; create table unseen (id int primary key)');
  await dev.command.waitFor(/^public\.unseen is missing from the API/m, 'stderr');
  assert.deepEqual((await ask(dev, '{ laterCollection { edges { cursor } } }')).data, { laterCollection: { edges: [] } });
  assert.equal((await dev.command.stop()).code, 0);
});

test('an ordinary login: its roles alone, users only if it may read them, no warning; event triggers only if asked for', async () => {
  const ordinary = await startDev(home, '--database-url', urlOf('app'), '--base-path', '/api');
  assert.doesNotMatch(ordinary.text, /login role/);
  assert.equal(ordinary.facts['service_role key'], undefined);
  assert.doesNotMatch(ordinary.text, /service_role/);
  assert.deepEqual((await askBackend(ordinary, 'callers', {})).answer, { roles: ['anon', 'editor'], users: [] });
  assert.deepEqual((await ask(ordinary, '{ noteCollection { edges { node { id } } } }')).data, {
    noteCollection: { edges: [{ node: { id: 1 } }] },
  });
  await ordinary.command.stop();

  const refused = await dev2('--database-url', urlOf('app'), '--schema-triggers');
  assert.equal(refused.code, 2);
  assert.match(
    refused.stderr,
    /^rowgraph: --schema-triggers: app cannot install event triggers .*"rowgraph extension apply" once as a superuser/,
  );
  const asked = await startDev(home, '--database-url', server.url, '--schema-triggers');
  await asked.command.stop();
  const { rowCount } = await superuser.query("select from pg_event_trigger where evtname in ('rowgraph_ddl', 'rowgraph_drop')");
  assert.equal(rowCount, 2);
});

test('flags that do not go together are refused with exit code 2, without the password', async () => {
  await writeFile(path.join(home, 'a.sql'), 'select 1');
  const url = urlOf('app');
  const refused: [string[], RegExp][] = [
    [['--database-url', url, '--sql', 'a.sql'], /--database-url serves your own database, so --sql of the embedded one cannot be given/],
    [['--database-url', url, '--data-dir', 'd', '--db-port', '0'], /so --data-dir, --db-port of the embedded one/],
    [['--database-url', url, '--host', '0.0.0.0'], /--host 0\.0\.0\.0: with --database-url, dev listens on this machine alone/],
    [['--database-url', 'mysql://x'], /--database-url/],
    [['--watch'], /--watch requires --sql/],
    [['--watch', '--sql', 'a.sql', '--data-dir', 'd'], /omit --data-dir/],
  ];
  for (const [flags, message] of refused) {
    const { code, stderr, stdout } = await dev2(...flags);
    assert.deepEqual([code, stdout], [2, ''], flags.join(' '));
    assert.match(stderr, message);
    assert.ok(!stderr.includes(password));
  }
});

test('an unreachable database is one line, without the password', async () => {
  const { code, stderr } = await dev2('--database-url', `postgres://app:${password}@127.0.0.1:1/x`);
  assert.equal(code, 1);
  assert.match(stderr, /^rowgraph: cannot use the database postgres:\/\/app@127\.0\.0\.1:1\/x: [^\n]+\n$/);
});

/** `rowgraph dev --sql` with SQL written for Supabase: by hand, and by a dump. What the embedded database lacks is told. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { SignJWT } from 'jose';
import pg from 'pg';
import { signKey } from '../../src/auth/sign-key.ts';
import { connectOnce } from '../../src/cli/check-database.ts';
import { startPostgres } from '../support/postgres.ts';
import { removeFolder, runCommand, startCommand } from './run-command.ts';
import { ask, makeDevFolder, startDev } from './start-dev.ts';

const ada = '0000000a-0000-4000-8000-000000000000';
const fileOf = (name: string): string => path.join(import.meta.dirname, 'supabase', name);

let home: string;
before(async () => {
  home = await makeDevFolder();
});
after(() => removeFolder(home));

/** A token as the auth server would give it to Ada. */
function signIn(secret: string | undefined): Promise<string> {
  return signKey(secret ?? '', 'authenticated', undefined, { sub: ada, email: 'ada@plants.example', app_metadata: { staff: false } });
}

/** What the lines of warnings say, without the name of the file. */
function warningsOf(stderr: string): string[] {
  return [...stderr.matchAll(/^rowgraph: WARNING: .*?\.sql: (.*)$/gm)].map(([, text = '']) => text);
}

test('a project’s own SQL: users, policies, triggers, extensions, realtime; files and jobs are left out and named', async () => {
  const printed = await startDev(home, '--sql', fileOf('project.sql'));
  const names = (answer: { data?: Record<string, unknown> }, field: string): unknown =>
    (answer.data?.[field] as { edges: { node: { name: string } }[] } | undefined)?.edges.map(({ node }) => node.name) ?? answer;

  const plants = '{ plantsCollection(orderBy: [{name: AscNullsLast}]) { edges { node { name } } } }';
  assert.deepEqual(names(await ask(printed, plants), 'plantsCollection'), ['Ivy', 'Monstera']);
  const token = await signIn(printed.facts['JWT secret']);
  assert.deepEqual(names(await ask(printed, plants, 'anon key', token), 'plantsCollection'), ['Fern', 'Ivy', 'Monstera']);

  const profiles =
    '{ profilesCollection(orderBy: [{username: AscNullsLast}]) { edges { node { username plantsCollection { edges { node { name } } } } } } }';
  assert.deepEqual((await ask(printed, profiles)).data, {
    profilesCollection: {
      edges: [
        { node: { username: 'ada', plantsCollection: { edges: [{ node: { name: 'Monstera' } }] } } },
        { node: { username: 'bo', plantsCollection: { edges: [{ node: { name: 'Ivy' } }] } } },
      ],
    },
  });

  const added = await ask(
    printed,
    'mutation { insertIntoplantsCollection(objects: [{name: "Palm"}]) { records { owner_id } } }',
    'anon key',
    token,
  );
  assert.deepEqual(added.data, { insertIntoplantsCollection: { records: [{ owner_id: ada }] } });
  const similar = `{ similar_plants(to_plant: "00000001-0000-4000-8000-000000000000", first: 1) { edges { node { name } } } }`;
  assert.deepEqual(names(await ask(printed, similar), 'similar_plants'), ['Ivy'], 'pgvector');
  const { data } = await ask(printed, '{ invite(secret: "x") }');
  assert.match(String(data?.invite), /^\$1\$salt\$/, 'a function finds those of the schema extensions');

  const { stderr } = await printed.command.stop();
  assert.deepEqual(warningsOf(stderr), [
    'skipped line 7, because the embedded database has no extension "pg_cron"',
    'skipped lines 80, 81, 82, because the embedded database has no schema "storage", which belongs to the Supabase platform',
    'skipped line 84, because the embedded database has no schema "cron", which belongs to the Supabase platform',
    'skipped line 85, because the embedded database has no schema "supabase_functions", which belongs to the Supabase platform',
    'skipped line 103, because the embedded database has no relation "auth.sessions", which belongs to the Supabase platform',
  ]);
});

test('a dump: its settings, owners, grants and default privileges', async () => {
  const user = path.join(home, 'user.sql');
  await writeFile(user, `insert into auth.users (id, email) values ('${ada}', 'ada@posts.example')`);
  const printed = await startDev(home, '--sql', fileOf('dump.sql'), user);
  const posts = '{ postsCollection(filter: {slug: {eq: "FIRST"}}) { edges { node { slug status } } } }';
  assert.deepEqual((await ask(printed, posts)).data, { postsCollection: { edges: [{ node: { slug: 'First', status: 'published' } }] } });
  const token = await signIn(printed.facts['JWT secret']);
  assert.deepEqual((await ask(printed, '{ mine }', 'anon key', token)).data, { mine: '2' });

  const client = new pg.Client(printed.facts['DB URL'] ?? '');
  await client.connect();
  const { rows } = await client.query("select tablename from pg_publication_tables where pubname = 'supabase_realtime'");
  assert.deepEqual(rows, [{ tablename: 'posts' }]);
  await client.end();
  const { stderr } = await printed.command.stop();
  assert.deepEqual(
    warningsOf(stderr).map((text) => text.replace(/, because the embedded database has no/, ':')),
    [
      'skipped line 19: extension "pg_net"',
      'skipped line 20: extension "pgsodium"',
      'skipped lines 24, 25: extension "pg_graphql"',
      'skipped line 28: extension "supabase_vault"',
      'skipped line 100: schema "storage", which belongs to the Supabase platform',
    ],
  );
});

test('what the API needs and the embedded database lacks ends the load with a line that says so', async () => {
  const file = path.join(home, 'photos.sql');
  await writeFile(file, 'create table photo (\n  id int primary key,\n  object_id uuid references storage.objects (id)\n);');
  const { code, stderr } = await runCommand(['dev', '--port', '0', '--sql', file], { home });
  assert.equal(code, 1);
  const reason = 'the embedded database has no schema "storage", which belongs to the Supabase platform';
  assert.ok(stderr.includes(`photos.sql:1: schema "storage" does not exist; ${reason}. Remove the statement, or`), stderr);
});

test('a file may create what Supabase has, in a transaction too', async () => {
  const file = path.join(home, 'own.sql');
  await writeFile(
    file,
    `begin;
    create schema auth;
    create schema if not exists extensions;
    insert into storage.buckets (id) values ('x');
    create table auth.users (id int primary key, nick text);
    create or replace function auth.uid() returns int stable language sql as $$ select 7 $$;
    commit;
    create publication supabase_realtime;
    create table note (id int primary key references auth.users, role text default auth.role());
    insert into auth.users values (auth.uid(), 'Ada');
    insert into note values (7);`,
  );
  const printed = await startDev(home, '--sql', file, '--schemas', 'public,auth');
  const query = '{ noteCollection { edges { node { role users { nick } } } } }';
  assert.deepEqual((await ask(printed, query)).data, { noteCollection: { edges: [{ node: { role: null, users: { nick: 'Ada' } } }] } });
  assert.deepEqual(warningsOf((await printed.command.stop()).stderr).length, 1);
});

test('docs/from-supabase.md: a login role that is made as the page says serves a project with the keys of the platform', async (context) => {
  const server = await startPostgres();
  context.after(() => server.stop());
  const page = await readFile(new URL('../../docs/from-supabase.md', import.meta.url), 'utf8');
  const login = /^ {3}```sql\n([\s\S]*?)^ {3}```/m.exec(page)?.[1] ?? '';
  await connectOnce(server.url, async (client) => {
    // The platform’s roles, of which the owner of a project is no superuser.
    await client.query(`
      create role anon nologin noinherit; create role authenticated nologin noinherit; create role service_role nologin noinherit bypassrls;
      create role owner nologin createrole bypassrls;
      grant anon, authenticated, service_role to owner with admin option;
      alter role anon set statement_timeout = '1h';
      create schema extensions; grant usage on schema extensions to public;
      create function extensions.shout(text) returns text immutable language sql as $$ select upper($1) $$;
      create schema auth; grant usage on schema auth to public;
      create function auth.uid() returns uuid stable language sql as
        $$ select (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid $$;
      grant create, usage on schema public to owner;
      set role owner; set search_path = "$user", public, extensions`);
    await client.query(login);
    await client.query(`
      create table post (id int primary key, author uuid default auth.uid(), body text);
      alter table post enable row level security;
      create policy own on post using (author = auth.uid());
      grant select, insert on post to authenticated;
      create function loud(body text) returns text stable language sql as $$ select shout(body) || current_setting('statement_timeout') $$;
      insert into post values (1, '${ada}', 'Hello')`);
  });
  const secret = 'the legacy secret of a project on the platform';
  const databaseUrl = server.url.replace(/\/\/[^@]*@/, '//rowgraph@');
  const environment = { ROWGRAPH_DATABASE_URL: databaseUrl, ROWGRAPH_JWT_SECRET: secret, ROWGRAPH_PORT: '0' };
  const command = startCommand(['serve', '--extra-search-path', 'extensions', '--request-timeout', '24h'], { home, environment });
  const url = /serves (\S+)/.exec(await command.waitFor(/serves \S+\n/))?.[1] ?? '';
  const sign = (claims: Record<string, string>): Promise<string> =>
    new SignJWT({ iss: 'supabase', ref: 'abcdefghijklmnopqrst', ...claims })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuedAt()
      .setExpirationTime('10y')
      .sign(Buffer.from(secret));
  const headers = { apiKey: await sign({ role: 'anon' }), 'content-type': 'application/json' };
  const send = async (query: string, more: Record<string, string> = {}): Promise<unknown> =>
    (await fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ query }) })).json();
  assert.deepEqual(await send('{ loud(body: "hey") }'), { data: { loud: 'HEY1h' } });
  const authorization = `Bearer ${await sign({ role: 'authenticated', aud: 'authenticated', sub: ada })}`;
  const added = await send('mutation { insertIntopostCollection(objects: [{id: 2}]) { records { author } } }', { authorization });
  assert.deepEqual(added, { data: { insertIntopostCollection: { records: [{ author: ada }] } } });
  assert.equal((await command.stop()).code, 0);
});

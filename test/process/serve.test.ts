/** `rowgraph roles`, `keys`, `schema` and `serve` against a real PostgreSQL server, from an empty database to a graceful end. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type JWTPayload, SignJWT } from 'jose';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { assertRefused, makeFolder, removeFolder, runCommand, startCommand } from './run-command.ts';

const secret = 'a secret that has more than 32 characters';
let home: string;
let server: PostgresServer;
let superuser: pg.Client;

before(async () => {
  home = await makeFolder();
  server = await startPostgres();
  superuser = new pg.Client(server.url);
  await superuser.connect();
});
after(async () => {
  await superuser.end();
  await server.stop();
  await removeFolder(home);
});

/** The URL of the same database as another user. */
function urlOf(user: string): string {
  const url = new URL(server.url);
  url.username = user;
  return url.href;
}

const environment = { ROWGRAPH_JWT_SECRET: secret, ROWGRAPH_PORT: '0' };

async function keysByRole(): Promise<Record<string, string>> {
  const { stdout } = await runCommand(['keys'], { home, environment });
  return Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/)),
  ) as Record<string, string>;
}

async function ask(url: string, key: string | undefined, query: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { apiKey: key }) };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
}

test('serve refuses a database without the roles, and says what to do', async () => {
  const { code, stderr } = await runCommand(['serve', '--database-url', server.url], { home, environment });
  assert.equal(code, 2);
  assert.equal(stderr, 'rowgraph: --anon-role: the role "anon" does not exist ("rowgraph roles" prints the SQL that creates the roles)\n');
});

test('the SQL of roles runs in a fresh database, and again', async () => {
  const { stdout, code } = await runCommand(['roles', '--schemas', 'public,inner "world"'], { home });
  assert.equal(code, 0);
  await superuser.query(stdout);
  await superuser.query(stdout);
  const { rows } = await superuser.query(`select rolname, rolcanlogin, rolbypassrls, rolinherit from pg_roles
    where rolname in ('anon', 'authenticated', 'service_role', 'authenticator') order by rolname`);
  assert.deepEqual(
    rows.map((row) => Object.values(row as object)),
    [
      ['anon', false, false, false],
      ['authenticated', false, false, false],
      ['authenticator', true, false, false],
      ['service_role', false, true, false],
    ],
  );
  await superuser.query(`create table "inner ""world""".probe (); create table public.probe (); drop schema "inner ""world""" cascade`);
  const isGranted = async (): Promise<unknown> =>
    (await superuser.query("select has_table_privilege('anon', 'public.probe', 'select') as granted")).rows[0]?.granted;
  assert.equal(await isGranted(), false);
  await superuser.query((await runCommand(['roles', '--grants', 'all'], { home })).stdout);
  await superuser.query('drop table public.probe; create table public.probe ()');
  assert.equal(await isGranted(), true);
});

test('each script of roles has a new password for the login role, which keeps the one it has', async () => {
  const passwordOf = (sql: string): string => /password '([\w-]{32})'/.exec(sql)?.[1] ?? assert.fail(sql);
  const [one, other] = await Promise.all([runCommand(['roles'], { home }), runCommand(['roles'], { home })]);
  assert.notEqual(passwordOf(one.stdout), passwordOf(other.stdout));
  const read = async (): Promise<unknown[]> =>
    (await superuser.query("select rolpassword from pg_authid where rolname = 'authenticator'")).rows;
  const known = await read();
  assert.match(JSON.stringify(known), /SCRAM-SHA-256/);
  await superuser.query(one.stdout);
  assert.deepEqual(await read(), known);
});

test('what the roles of clients get is what --grants says, in present and future tables', async () => {
  const privileges = ['select', 'insert', 'update', 'delete'];
  const grantedBy = async (grants: string): Promise<string[][]> => {
    const schema = `by_${grants}`;
    await superuser.query(`create schema ${schema}; create table ${schema}.old_one (); create table ${schema}.guarded ();
      alter table ${schema}.guarded enable row level security`);
    const { stdout } = await runCommand(['roles', '--schemas', schema, '--grants', grants], { home });
    const warnings: string[] = [];
    const onNotice = ({ message }: { message?: string | undefined }): void => void warnings.push(message ?? '');
    superuser.on('notice', onNotice);
    await superuser.query(stdout);
    superuser.off('notice', onNotice);
    const isOpen = warnings.filter((message) => message === `table ${schema}.old_one has no row level security: its rows are open`);
    assert.deepEqual([isOpen.length, warnings.some((message) => message.includes('guarded'))], [grants === 'none' ? 0 : 1, false]);
    await superuser.query(`create table ${schema}.new_one ()`);
    const text = `select coalesce(string_agg(p, ' ' order by o), '') as granted from unnest($1::text[]) with ordinality _(p, o)
      where has_schema_privilege($2, $3, 'usage') and has_table_privilege($2, $3 || '.' || $4, p)`;
    const read = async (role: string, table: string): Promise<string> =>
      (await superuser.query<{ granted: string }>(text, [privileges, role, schema, table])).rows[0]?.granted ?? '';
    const granted: string[][] = [];
    for (const role of ['anon', 'authenticated', 'service_role']) granted.push([await read(role, 'old_one'), await read(role, 'new_one')]);
    return granted;
  };
  const [all, none] = [privileges.join(' '), ''];
  assert.deepEqual(await grantedBy('all'), [
    [all, all],
    [all, all],
    [all, all],
  ]);
  assert.deepEqual(await grantedBy('read'), [
    ['select', 'select'],
    ['select', 'select'],
    [all, all],
  ]);
  assert.deepEqual(await grantedBy('none'), [
    [none, none],
    [none, none],
    [all, all],
  ]);
});

test('serve answers each role what it may see, and ends gracefully', async () => {
  await superuser.query(`create table letter (id int primary key, body text);
    insert into letter values (1, 'open'), (2, 'sealed');
    alter table letter enable row level security;
    create policy open_ones on letter for select using (body = 'open');
    create function held() returns int stable language sql as 'select 7 from pg_advisory_xact_lock_shared(1)';`);
  const command = startCommand(['serve', '--database-url', urlOf('authenticator'), '--log-level', 'info'], { home, environment });
  const [, url = ''] = /^rowgraph serves (\S+)\n$/.exec(await command.waitFor(/\n/)) ?? [];
  const keys = await keysByRole();
  const query = '{ letterCollection { edges { node { id } } } }';
  const idsOf = async (key: string | undefined): Promise<unknown> => (await (await ask(url, key, query)).json()) as unknown;
  assert.deepEqual(await idsOf(keys.anon), { data: { letterCollection: { edges: [{ node: { id: 1 } }] } } });
  assert.deepEqual(await idsOf(keys.service_role), { data: { letterCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }] } } });
  assert.equal((await ask(url, undefined, query)).status, 401);
  assert.equal((await fetch(new URL('/graphiql', url))).status, 404);

  await superuser.query('select pg_advisory_lock(1)');
  const inFlight = ask(url, keys.anon, '{ held }').then((response) => response.json());
  const waiting = "select from pg_stat_activity where wait_event = 'advisory'";
  await until(async () => ((await superuser.query(waiting)).rowCount ?? 0) > 0);
  command.process.kill('SIGTERM');
  await command.waitFor(/finishing the requests in flight/, 'stderr');
  await superuser.query('select pg_advisory_unlock(1)');
  assert.deepEqual(await inFlight, { data: { held: 7 } });
  const { code, stdout, stderr } = await command.ended;
  assert.equal(code, 0);
  assert.equal(stdout, `rowgraph serves ${url}\n`);
  for (const line of stderr.trim().split('\n')) assert.doesNotThrow(() => JSON.parse(line), line);
});

test('serve verifies tokens by public keys alone, and says what is wrong with their file', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const file = join(home, 'keys.pem');
  const start = ['serve', '--database-url', urlOf('authenticator'), '--jwt-keys', file, '--role-claim', '.app.role'];
  const settings = { home, environment: { ROWGRAPH_PORT: '0' } };
  const refused = await runCommand(start, settings);
  assert.deepEqual([refused.code, refused.stderr.startsWith(`rowgraph: --jwt-keys ${file}: ENOENT`)], [2, true], refused.stderr);
  await writeFile(file, publicKey.export({ type: 'spki', format: 'pem' }));
  const command = startCommand(start, settings);
  const [url = ''] = /http\S+/.exec(await command.waitFor(/\n/)) ?? [];
  const sign = (claims: JWTPayload): Promise<string> => new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
  const answer = async (key: string): Promise<unknown> => (await ask(url, key, '{ __typename }')).json();
  assert.deepEqual(await answer(await sign({ app: { role: 'anon' } })), { data: { __typename: 'Query' } });
  assert.equal((await ask(url, await sign({ role: 'anon' }), '{ __typename }')).status, 401);
  assert.equal((await ask(url, (await keysByRole()).anon, '{ __typename }')).status, 401);
  command.process.kill('SIGTERM');
  assert.equal((await command.ended).code, 0);
});

test('a database that cannot be used is one line and exit code 2', async () => {
  const refuse = (url: string, line: RegExp, ...more: string[]): Promise<void> =>
    assertRefused(['serve', '--database-url', url, ...more], line, { home, environment });
  await refuse(urlOf('nobody'), /role "nobody" does not exist/);
  await refuse(server.url.replace(/\/postgres$/, '/nowhere'), /database "nowhere" does not exist/);
  await refuse(server.url, /--schemas names a schema that does not exist: nope/, '--schemas', 'public,nope');
  await superuser.query('create role stranger nologin; create role visitor login');
  await refuse(urlOf('visitor'), /visitor cannot switch to stranger; run: grant stranger to visitor/, '--anon-role', 'stranger');
});

test('schema prints what a role sees', async () => {
  const options = { home, environment: { ROWGRAPH_DATABASE_URL: urlOf('authenticator') } };
  await superuser.query('create table secret_letter (id int primary key); revoke all on secret_letter from anon');
  const anonymous = await runCommand(['schema'], options);
  assert.match(anonymous.stdout, /^type letter implements Node \{$/m);
  assert.doesNotMatch(anonymous.stdout, /secret_letter/);
  const service = await runCommand(['schema', '--role', 'service_role'], options);
  assert.match(service.stdout, /^type secret_letter implements Node \{$/m);
  const wrong = await runCommand(['schema', '--role', 'nope'], options);
  assert.deepEqual([wrong.code, wrong.stderr.split(' (')[0]], [2, 'rowgraph: --role: the role "nope" does not exist']);
});

test('schema --watch keeps a file fresh while tables change', async () => {
  const options = { home, environment: { ROWGRAPH_DATABASE_URL: urlOf('authenticator') } };
  const file = join(home, 'schema.graphql');
  const homeless = await runCommand(['schema', '--watch'], options);
  assert.deepEqual([homeless.code, homeless.stderr], [2, 'rowgraph: --watch needs --out: the file to keep up to date\n']);
  const nowhere = await runCommand(['schema', '--out', join(home, 'no', 'folder')], options);
  assert.equal(nowhere.code, 2, nowhere.stderr);
  const watching = startCommand(['schema', '--watch', '--out', file], options);
  await watching.waitFor(/schema\.graphql: written/, 'stderr');
  assert.doesNotMatch(await readFile(file, 'utf8'), /^type postcard /m);
  await superuser.query('create table postcard (id int primary key); grant select on postcard to anon');
  await watching.waitFor(/schema\.graphql: updated/, 'stderr');
  assert.match(await readFile(file, 'utf8'), /^type postcard implements Node \{$/m);
  // It outlives its connections.
  await superuser.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator'`);
  await superuser.query('create table telegram (id int primary key); grant select on telegram to anon');
  await watching.waitFor(/updated\n[\s\S]*updated\n/, 'stderr');
  assert.match(await readFile(file, 'utf8'), /^type telegram implements Node \{$/m);
  // A file that cannot be written is said so, and written at the next change.
  await rm(file);
  await mkdir(file);
  await superuser.query('create table parcel (id int primary key); grant select on parcel to anon');
  await watching.waitFor(/^rowgraph: --out .*schema\.graphql cannot be written: /m, 'stderr');
  await rmdir(file);
  await superuser.query('drop table parcel');
  await watching.waitFor(/cannot be written[\s\S]*schema\.graphql: written\n/, 'stderr');
  const ended = await watching.stop();
  assert.deepEqual([ended.code, ended.signal], [0, null]);
  const again = await runCommand(['schema', '--out', file], options);
  assert.deepEqual([again.code, again.stderr], [0, '']);
  await superuser.query('drop table postcard, telegram');
});

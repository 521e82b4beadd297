/**
 * `rowgraph serve` behind PgBouncer in transaction mode, with statements prepared by name and without: right answers, each with the role and
 * the claims of its own request, although all requests share two connections. Runs where there is a `pgbouncer` on the path.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { signKey } from '../../src/auth/sign-key.ts';
import { createRowgraph, type Event } from '../../src/index.ts';
import { setUp } from '../live/changes/recorded-feed.ts';
import { freePort } from '../support/free-port.ts';
import { checkCallers, leakySql } from '../support/leaky-functions.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { until } from '../support/until.ts';
import { makeFolder, removeFolder, startCommand } from './run-command.ts';

/** PgBouncer refuses to run as root. */
const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const secret = 'a secret that has more than 32 characters';
const environment = { ROWGRAPH_JWT_SECRET: secret, ROWGRAPH_PORT: '0', ROWGRAPH_POOL_SIZE: '8' };

/** The version as one number, 1.21 as 1021; null where there is no PgBouncer. */
const version = await promisify(execFile)('pgbouncer', ['--version']).then(
  ({ stdout }) => {
    const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? [];
    return Number(major) * 1000 + Number(minor);
  },
  () => null,
);
const absent = version === null ? 'there is no pgbouncer on the path' : false;
const keepsNone = version === null || version < 1021 ? 'this PgBouncer keeps no prepared statements (1.21 and newer do)' : false;

let home: string;
let server: PostgresServer;
let superuser: pg.Client;

before(async () => {
  if (absent) return;
  home = await makeFolder();
  server = await startPostgres();
  superuser = new pg.Client(server.url);
  await superuser.connect();
  await superuser.query(`${rolesSql} ${grantsSql}
    create table letter (id int primary key, owner text not null);
    insert into letter select id, 'reader ' || id % 5 from generate_series(1, 50) id;
    alter table letter enable row level security;
    create policy own on letter to authenticated using (owner = current_setting('request.jwt.claims')::json ->> 'sub');
    create policy open on letter to anon using (id = 50);
    create function whoami() returns text stable language sql as $$
      select current_user || ', ' || coalesce(current_setting('request.jwt.claims')::json ->> 'sub', 'nobody') $$;
    create table tick (id int generated always as identity);
    alter table tick enable row level security;
    create function tick() returns int security definer language sql as 'insert into tick default values returning 1';
    grant execute on function whoami() to anon, authenticated;
    create schema code;
    grant usage on schema code to public;
    create function code.secret() returns text immutable language sql as $$ select 'secret'::text $$;
    revoke execute on function code.secret from public;
    grant execute on function code.secret to authenticated;
    create view secret as select 1 as id, code.secret() as text;
    revoke insert, update, delete on secret from anon, authenticated, service_role;
    comment on view secret is '@graphql({"primary_key_columns": ["id"]})';`);
});
after(async () => {
  if (absent) return;
  await superuser.end();
  await server.stop();
  await removeFolder(home);
});

/** Starts PgBouncer with two connections to the database. Resolves to the URL of the login role through it. */
async function startPooler(t: TestContext, settings = ''): Promise<string> {
  const port = await freePort();
  const file = path.join(home, `pgbouncer-${port}.ini`);
  await writeFile(
    file,
    `[databases]
* = host=127.0.0.1 port=${server.port} user=authenticator
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
${settings}
`,
  );
  if (user.uid !== undefined) for (const each of [home, file]) await chown(each, user.uid, user.gid);
  const pooler = spawn('pgbouncer', ['-q', file], { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
  t.after(() => end(pooler));
  await untilOpen(port, pooler);
  return `postgres://authenticator@127.0.0.1:${port}/postgres`;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function untilOpen(port: number, pooler: ChildProcess): Promise<void> {
  let log = '';
  pooler.stderr?.on('data', (text: Buffer) => {
    log += text;
  });
  await until(async () => {
    assert.equal(pooler.exitCode, null, log);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isOpen;
  });
}

interface Answer {
  readonly data?: { readonly whoami: string; readonly letterCollection: { readonly edges: readonly { readonly node: unknown }[] } };
}

const selections = ['id', 'owner', 'id owner', 'owner id', 'nodeId', 'nodeId id'];

/** Serves through the pooler and asks as six callers at once, with several statements. Every response must be its caller's own. */
async function checkService(databaseUrl: string, prepare: 'on' | 'off'): Promise<void> {
  const command = startCommand(['serve', '--database-url', databaseUrl, '--prepare', prepare], { home, environment });
  const [, url = ''] = /^rowgraph serves (\S+)\n$/.exec(await command.waitFor(/\n/)) ?? [];
  const callers = await Promise.all([null, 0, 1, 2, 3, 4].map((reader) => makeCaller(url, reader)));
  await Promise.all(Array.from({ length: 180 }, (_, turn) => callers[turn % callers.length]?.(selections[turn % 7] ?? 'id')));
  await checkSecret(url);
  await checkMutations(url);
  await checkDdl(url, callers);
  const { code, stderr } = await command.stop('SIGTERM');
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr, /"level":(40|50|60)/);
  await checkClean(databaseUrl);
}

/** Asks as anonymous (null) or as one of the readers, each of whom owns ten letters. */
async function makeCaller(url: string, reader: number | null): Promise<(selection: string) => Promise<void>> {
  const role = reader === null ? 'anon' : 'authenticated';
  const key = await signKey(secret, role, undefined, reader === null ? {} : { sub: `reader ${reader}` });
  const headers = { 'content-type': 'application/json', apiKey: key, authorization: `Bearer ${key}` };
  return async (selection) => {
    const body = JSON.stringify({ query: `{ whoami letterCollection { edges { node { ${selection} } } } }` });
    const text = await (await fetch(url, { method: 'POST', headers, body })).text();
    const { data } = JSON.parse(text) as Answer;
    assert.equal(data?.whoami, reader === null ? 'anon, nobody' : `authenticated, reader ${reader}`, text);
    assert.equal(data.letterCollection.edges.length, reader === null ? 1 : 10, text);
    assert.deepEqual(
      data.letterCollection.edges.filter(
        ({ node }) => 'owner' in (node as object) && (node as { owner: string }).owner !== `reader ${reader ?? 0}`,
      ),
      [],
    );
  };
}

/** NOTIFY does not come through, so a new column has to be found by the fingerprint. */
async function checkDdl(url: string, callers: readonly ((selection: string) => Promise<void>)[]): Promise<void> {
  assert.notEqual(url, '');
  await superuser.query('alter table letter add column sealed boolean not null default true');
  await Promise.all(callers.map((ask) => ask('sealed')));
  await superuser.query('alter table letter drop column sealed');
}

/** PostgreSQL checks who may execute the function only when a statement is planned. */
async function checkSecret(url: string): Promise<void> {
  for (const role of ['authenticated', 'anon', 'authenticated', 'anon', 'anon', 'authenticated', 'anon']) {
    const headers = { 'content-type': 'application/json', apiKey: await signKey(secret, role) };
    const body = JSON.stringify({ query: '{ secretCollection { edges { node { text } } } }' });
    const text = await (await fetch(url, { method: 'POST', headers, body })).text();
    assert.match(text, role === 'anon' ? /PERMISSION_DENIED/ : /"text":"secret"/);
  }
}

/** Mutations run once, those that had to be prepared anew included. */
async function checkMutations(url: string): Promise<void> {
  const headers = { 'content-type': 'application/json', apiKey: await signKey(secret, 'anon') };
  await superuser.query('truncate tick');
  const answers = Array.from({ length: 60 }, async (_, turn) => {
    const query = `mutation { tick other${turn % 4}: tick }`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    assert.deepEqual(await response.json(), { data: { tick: 1, [`other${turn % 4}`]: 1 } });
  });
  await Promise.all(answers);
  assert.deepEqual((await superuser.query('select count(*)::int as ticks from tick')).rows, [{ ticks: 120 }]);
}

/** What a request sets must be gone from the connections that the pooler keeps, and they must be in no transaction. */
async function checkClean(databaseUrl: string): Promise<void> {
  const clients = [new pg.Client(databaseUrl), new pg.Client(databaseUrl)];
  for (const client of clients) await client.connect();
  // A transaction each, so that both of the pooler's connections are looked at.
  for (const client of clients) await client.query('begin');
  const text = `select current_user::text as role, coalesce(current_setting('request.jwt.claims', true), '') as claims,
    current_setting('jit') as jit, current_setting('statement_timeout') as timeout`;
  for (const { rows } of await Promise.all(clients.map((client) => client.query(text))))
    assert.deepEqual(rows, [{ role: 'authenticator', claims: '', jit: 'on', timeout: '0' }]);
  for (const client of clients) await client.query('commit');
  for (const client of clients) await client.end();
  const open = "select from pg_stat_activity where usename = 'authenticator' and state <> 'idle'";
  assert.equal((await superuser.query(open)).rowCount, 0);
}

test('without prepared statements', { skip: absent }, async (t) => {
  await checkService(await startPooler(t), 'off');
});

test('with prepared statements, at a pooler that keeps them', { skip: absent || keepsNone }, async (t) => {
  await checkService(await startPooler(t, 'max_prepared_statements = 200'), 'on');
});

test('with prepared statements, at a pooler that keeps none: never a wrong answer', { skip: absent }, async (t) => {
  await checkService(await startPooler(t, keepsNone ? '' : 'max_prepared_statements = 0'), 'on');
});

test("nobody meets another caller's values that a function left or PostgreSQL planned ahead", { skip: absent }, async (t) => {
  const database = 'leaky';
  await superuser.query(`create database ${database} template template0`);
  const admin = new pg.Client(server.url.replace(/postgres$/, database));
  await admin.connect();
  await admin.query(grantsSql + leakySql);
  await admin.end();
  const url = (await startPooler(t)).replace(/postgres$/, database);
  const graph = await createRowgraph({ database: url, poolSize: 4, prepare: false });
  try {
    await checkCallers(graph, 49, true);
  } finally {
    await graph.close();
  }
});

test('with the schema triggers, whose notifications do not come through', { skip: absent }, async (t) => {
  const installer = await createRowgraph({ database: server.url, schemaTriggers: true });
  await installer.close();
  await checkService(await startPooler(t), 'off');
});

test('live queries behind it poll, and say why, unless they have a way around it', { skip: absent }, async (t) => {
  const direct = `postgres://authenticator@127.0.0.1:${server.port}/postgres`;
  await setUp({ url: direct }, 'notify');
  const pooled = await startPooler(t);
  for (const [options, mode, reason] of [
    [{}, 'poll', /a pooler shares connections between transactions.*--live-database-url/],
    [{ liveDatabaseUrl: direct }, 'notify', /triggers that notify/],
  ] as const) {
    const modes: string[] = [];
    const observe = (event: Event): void => {
      if (event.kind === 'live-mode') modes.push(`${event.mode}: ${event.reason}`);
    };
    const graph = await createRowgraph({ database: pooled, prepare: false, poolSize: 2, observe, ...options });
    const answers = graph.subscribe({ query: 'subscription { letterByPk(id: 50) { owner } }' }, { role: 'anon' });
    const first = (await answers.next()).value;
    await until(() => modes.some((each) => each.startsWith(mode) && reason.test(each)));
    const owner = `${mode} ${options.liveDatabaseUrl === undefined}`;
    assert.notDeepEqual(first?.data, { letterByPk: { owner } });
    await superuser.query('update letter set owner = $1 where id = 50', [owner]);
    assert.deepEqual((await answers.next()).value?.data, { letterByPk: { owner } });
    await graph.close();
  }
});

/** How `rowgraph serve` starts without its database, survives faults, and ends: real processes against a real PostgreSQL server. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Client } from 'pg';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startSilentProxy } from '../support/silent-proxy.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';
import { type RunningCommand, removeFolder, runCommand, runShell, startCommand } from './run-command.ts';
import { makeDevFolder } from './start-dev.ts';

const secret = 'a secret that has more than 32 characters';
const environment: Record<string, string> = { ROWGRAPH_JWT_SECRET: secret, ROWGRAPH_PORT: '0', ROWGRAPH_POOL_SIZE: '4' };

/** Signals that make the process fail in ways that nothing in it catches. */
const faults = `
  let count = 0;
  process.on('SIGUSR2', () => void Promise.reject(new Error('injected rejection', { cause: new Error('its cause') })));
  process.on('SIGHUP', () => setImmediate(() => { throw new Error('injected exception ' + ++count); }));`;

let home: string;
let databases: TestDatabases;
let database: TestDatabase;
let holder: Client;
let keys: Record<string, string>;

before(async () => {
  home = await makeDevFolder();
  databases = await startTestDatabases();
  database = await databases.create(`
    create table letter (id int primary key); alter table letter enable row level security;
    create policy every on letter using (true); insert into letter values (1);
    create function held() returns int stable language sql as 'select 7 from pg_advisory_xact_lock_shared(1)';
    create function endless() returns int stable language sql as 'select 8 from pg_sleep(600)';`);
  holder = await database.connect();
  await writeFile(path.join(home, 'faults.mjs'), faults);
  const { stdout } = await runCommand(['keys'], { home, environment });
  keys = Object.fromEntries([...stdout.matchAll(/^(\w+) +(\S+)$/gm)].map(([, role, key]) => [role, key]));
});
after(async () => {
  await databases.close();
  await removeFolder(home);
});

interface Service extends RunningCommand {
  readonly url: string;
  ask(query: string): Promise<unknown>;
  fetch(path: string): Promise<Response>;
}

function start(flags: readonly string[] = [], databaseUrl = database.url): RunningCommand {
  const options = `--import ${pathToFileURL(path.join(home, 'faults.mjs')).href}`;
  return startCommand(['serve', '--database-url', databaseUrl, ...flags], { home, environment: { ...environment, NODE_OPTIONS: options } });
}

async function withUrl(command: RunningCommand, url: string): Promise<Service> {
  const headers = { 'content-type': 'application/json', apiKey: keys.anon ?? '', connection: 'close' };
  return {
    ...command,
    url,
    fetch: (to) => fetch(new URL(to, url), { headers: { connection: 'close' } }),
    ask: async (query) => (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) })).json(),
  };
}

async function serve(...flags: string[]): Promise<Service> {
  const command = start(flags);
  const [, url = ''] = /^rowgraph serves (\S+)/.exec(await command.waitFor(/\n/)) ?? [];
  return withUrl(command, url);
}

/** The lines of a log, without those for people. */
function linesOf(stderr: string): Record<string, unknown>[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const letters = '{ letterCollection { edges { node { id } } } }';
const lettersAnswer = { data: { letterCollection: { edges: [{ node: { id: 1 } }] } } };

test('an unhandled rejection is logged with its cause, counted, and survived', async () => {
  const service = await serve();
  for (let count = 1; count <= 2; count++) {
    service.process.kill('SIGUSR2');
    await service.waitFor(new RegExp(`(injected rejection[\\s\\S]*){${count * 2}}`), 'stderr');
  }
  assert.match(await (await service.fetch('/metrics')).text(), /^rowgraph_defects_total 2$/m);
  assert.deepEqual(await service.ask(letters), lettersAnswer);
  const { code, stderr } = await service.stop('SIGTERM');
  assert.equal(code, 0);
  const defects = linesOf(stderr).filter(({ msg }) => String(msg).startsWith('bug in rowgraph: unhandled promise rejection'));
  assert.equal(defects.length, 2);
  assert.match(JSON.stringify(defects[0]), /injected rejection.*its cause/);
});

test('an uncaught exception is logged, what is in flight is answered, and the process ends with 1', async () => {
  const service = await serve();
  await holder.query('select pg_advisory_lock(1)');
  const inFlight = service.ask('{ held }');
  await database.untilRunning('held', 1);
  service.process.kill('SIGHUP');
  await service.waitFor(/injected exception 1/, 'stderr');
  await service.waitFor(/finishing the requests in flight/, 'stderr');
  await holder.query('select pg_advisory_unlock(1)');
  assert.deepEqual(await inFlight, { data: { held: 7 } });
  const { code, signal, stderr } = await service.ended;
  assert.deepEqual({ code, signal }, { code: 1, signal: null });
  assert.match(stderr, /bug in rowgraph: uncaught exception; the process ends/);
});

test('a second uncaught exception ends the process at once', async () => {
  const service = await serve();
  await holder.query('select pg_advisory_lock(1)');
  const inFlight = service.ask('{ held }').then(
    () => 'answered',
    () => 'cut',
  );
  await database.untilRunning('held', 1);
  service.process.kill('SIGHUP');
  await service.waitFor(/injected exception 1/, 'stderr');
  service.process.kill('SIGHUP');
  const { code, stderr } = await service.ended;
  assert.equal(code, 1);
  assert.match(stderr, /injected exception 2/);
  assert.equal(await inFlight, 'cut');
  await holder.query('select pg_advisory_unlock(1)');
});

test('a worker with an uncaught exception answers what it has, and is replaced', async () => {
  const service = await serve('--workers', '2');
  const log = await service.waitFor(/("msg":"serving"[\s\S]*){2}/, 'stderr');
  const [worker = 0] = linesOf(log).map(({ pid }) => Number(pid));
  process.kill(worker, 'SIGHUP');
  const after = await service.waitFor(/worker exited[\s\S]*"msg":"serving"/, 'stderr');
  const [end] = linesOf(after).filter(({ msg }) => msg === 'worker exited; another one takes its place');
  assert.deepEqual([end?.worker, end?.code, end?.signal], [worker, 1, null]);
  assert.deepEqual(await service.ask(letters), lettersAnswer);
  assert.equal((await service.stop('SIGTERM')).code, 0);
});

test('the first process survives a rejection, and ends all workers at an exception', async () => {
  const service = await serve('--workers', '2');
  service.process.kill('SIGUSR2');
  await service.waitFor(/injected rejection/, 'stderr');
  assert.deepEqual(await service.ask(letters), lettersAnswer);
  service.process.kill('SIGHUP');
  const { code, signal, stderr } = await service.ended;
  assert.deepEqual({ code, signal }, { code: 1, signal: null });
  assert.equal(linesOf(stderr).filter(({ msg }) => msg === 'stopped').length, 2);
});

test('dev survives a rejection, and ends with 1 at an exception', async () => {
  await writeFile(path.join(home, 'empty.sql'), '');
  const options = { NODE_OPTIONS: `--import ${pathToFileURL(path.join(home, 'faults.mjs')).href}` };
  const command = startCommand(['dev', '--port', '0', '--sql', 'empty.sql'], { home, environment: options });
  await command.waitFor(/Ctrl-C stops/);
  command.process.kill('SIGUSR2');
  await command.waitFor(/injected rejection/, 'stderr');
  command.process.kill('SIGHUP');
  const { code, signal, stderr } = await command.ended;
  assert.deepEqual({ code, signal }, { code: 1, signal: null });
  assert.match(stderr, /injected exception 1/);
});

test('SIGTERM ends the process whatever PostgreSQL does', async () => {
  const service = await serve('--drain-delay', '50ms', '--close-timeout', '100ms');
  const cut = service.ask('{ endless }').then(
    () => 'answered',
    () => 'cut',
  );
  await database.untilRunning('endless', 1);
  const { code, stderr } = await service.stop('SIGTERM');
  assert.equal(await cut, 'cut');
  assert.equal(code, 0, stderr);
});

for (const workers of ['1', '2']) {
  test(`after SIGTERM it is not ready, yet serves, until the drain delay is over or a second signal comes, with ${workers} workers`, async () => {
    const service = await serve('--drain-delay', '1h', '--workers', workers);
    assert.equal((await service.fetch('/health/ready')).status, 200);
    service.process.kill('SIGTERM');
    await until(async () => (await service.fetch('/health/ready')).status !== 200);
    assert.deepEqual(await service.ask(letters), lettersAnswer);
    assert.equal((await service.fetch('/health/live')).status, 200);
    // Signals that follow closely on each other are one.
    await until(() => !service.process.kill('SIGTERM'));
    assert.equal((await service.ended).code, 130);
  });
}

test('an exception during the drain delay ends it', async () => {
  const service = await serve('--drain-delay', '1h');
  service.process.kill('SIGTERM');
  await until(async () => (await service.fetch('/health/ready')).status !== 200);
  service.process.kill('SIGHUP');
  assert.equal((await service.ended).code, 1);
});

async function throughProxy(run: (proxy: FaultProxy, url: string) => Promise<void>): Promise<void> {
  const proxy = await startFaultProxy(databases.port);
  try {
    await proxy.goDown();
    const url = new URL(database.url);
    url.port = String(proxy.port);
    await run(proxy, url.href);
  } finally {
    await proxy.stop();
  }
}

for (const workers of ['1', '2']) {
  test(`a database that is down at the start is waited for, with ${workers} workers`, async () => {
    await throughProxy(async (proxy, url) => {
      const command = start(['--workers', workers], url);
      const noted = linesOf(await command.waitFor(/waiting for it\W/, 'stderr'));
      const waiting = noted.find(({ msg }) => String(msg).endsWith('waiting for it'));
      assert.deepEqual([waiting?.msg, waiting?.milliseconds], ['the database cannot be reached; waiting for it', 60_000]);
      const [{ url: base = '' } = {}] = linesOf(await command.waitFor(/"serving"/, 'stderr')).filter(({ msg }) => msg === 'serving');
      const service = await withUrl(command, `${base}/graphql/v1`);
      assert.equal((await service.fetch('/health/live')).status, 200);
      assert.equal((await service.fetch('/health/ready')).status, 503);
      assert.match(JSON.stringify(await service.ask(letters)), /^\{"errors":.*"code":"DATABASE_UNAVAILABLE"/);
      await proxy.comeBack();
      assert.equal(await command.waitFor(/\n/), `rowgraph serves ${service.url}${workers === '1' ? '' : ' from 2 processes'}\n`);
      assert.deepEqual(await service.ask(letters), lettersAnswer);
      const { code, stderr } = await service.stop('SIGTERM');
      assert.equal(code, 0);
      assert.equal(linesOf(stderr).filter(({ msg }) => msg === waiting?.msg).length, 1, 'it is said once');
      assert.equal(linesOf(stderr).filter(({ msg }) => String(msg).startsWith('worker exited')).length, 0);
    });
  });
}

test('a server that has no connection to spare is waited for too', async () => {
  await database.run('alter role authenticator connection limit 0');
  const command = start();
  await command.waitFor(/too many connections for role/, 'stderr');
  await command.waitFor(/"serving"/, 'stderr');
  await database.run('alter role authenticator connection limit -1');
  await command.waitFor(/^rowgraph serves/);
  assert.equal((await command.stop()).code, 0);
});

test('the port is open while a database accepts connections and says nothing', async () => {
  const proxy = await startSilentProxy(databases.port);
  try {
    proxy.fallSilent();
    const url = new URL(database.url);
    url.port = String(proxy.port);
    const command = start([], url.href);
    const [{ url: base = '' } = {}] = linesOf(await command.waitFor(/"serving"/, 'stderr'));
    const service = await withUrl(command, `${base}/graphql/v1`);
    assert.equal((await service.fetch('/health/live')).status, 200);
    assert.equal((await service.fetch('/health/ready')).status, 503);
    // Only now has the first attempt failed.
    const log = linesOf(await command.waitFor(/waiting for it\W/, 'stderr'));
    assert.deepEqual(
      log.map(({ msg }) => msg),
      ['serving', 'the database cannot be reached; waiting for it'],
    );
    proxy.speak();
    await command.waitFor(/^rowgraph serves/);
    assert.deepEqual(await service.ask(letters), lettersAnswer);
    assert.equal((await command.stop()).code, 0);
  } finally {
    await proxy.stop();
  }
});

/** Runs a test while the catalogs cannot be read; `release` ends that. */
async function withLockedCatalog(run: (release: () => Promise<void>) => Promise<void>): Promise<void> {
  const locker = await database.connect();
  const release = async (): Promise<void> => void (await locker.query('rollback'));
  await locker.query('begin; lock table pg_catalog.pg_description in access exclusive mode');
  try {
    await run(release);
  } finally {
    await release();
    await locker.end();
  }
}

test('while the schema is loaded, requests wait for it, and `ready` and the log say so', async () => {
  await withLockedCatalog(async (release) => {
    const command = start();
    const noted = linesOf(await command.waitFor(/"serving"/, 'stderr'));
    const [{ url: base = '' } = {}] = noted.filter(({ msg }) => msg === 'serving');
    assert.ok(noted.some(({ msg }) => msg === 'loading the schema takes long; requests wait for it'));
    const service = await withUrl(command, `${base}/graphql/v1`);
    const ready = await service.fetch('/health/ready');
    assert.deepEqual([ready.status, ready.headers.get('retry-after')], [503, '1']);
    assert.match(await ready.text(), /"code":"SCHEMA_LOADING"/);
    const answers = Promise.all([service.ask(letters), service.ask(letters)]);
    await release();
    assert.deepEqual(await answers, [lettersAnswer, lettersAnswer]);
    await command.waitFor(/^rowgraph serves/);
    assert.equal((await command.stop()).code, 0);
  });
});

test('a schema that cannot be loaded in time is tried again, or ends the command with one line', async () => {
  await database.run("alter role authenticator set statement_timeout = '100ms'");
  try {
    await withLockedCatalog(async (release) => {
      const { code, stdout, stderr } = await runCommand(['serve', '--database-url', database.url, '--wait-for-database', '0s'], {
        home,
        environment,
      });
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
      assert.match(stderr, /^rowgraph: cannot load the schema of postgres:\/\/[^\n]*: canceling statement due to statement timeout\n$/);
      const command = start();
      const noted = linesOf(await command.waitFor(/trying again/, 'stderr'));
      assert.ok(noted.some(({ msg }) => msg === 'the schema cannot be loaded; trying again'));
      await release();
      await command.waitFor(/^rowgraph serves/);
      assert.equal((await command.stop()).code, 0);
    });
  } finally {
    await database.run('alter role authenticator reset statement_timeout');
  }
});

test('who waits for the database can be stopped', async () => {
  await throughProxy(async (_proxy, url) => {
    const command = start([], url);
    await command.waitFor(/"serving"/, 'stderr');
    const { code, stdout } = await command.stop('SIGTERM');
    assert.deepEqual({ code, stdout }, { code: 0, stdout: '' });
  });
});

test('a database that stays away is one line and exit code 1', async () => {
  await throughProxy(async (_proxy, url) => {
    for (const time of ['0s', '150ms']) {
      const { code, stdout, stderr } = await runCommand(['serve', '--database-url', url, '--wait-for-database', time], {
        home,
        environment,
      });
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
      assert.match(stderr, /^rowgraph: cannot use the database postgres:.* ECONNREFUSED .*$/m);
    }
  });
  const unknown = ['--database-url', 'postgres://nowhere.invalid/x', '--wait-for-database', '0s'];
  const { code, stderr } = await runCommand(['serve', ...unknown], { home, environment });
  assert.equal(code, 1, stderr);
});

test('a database that a pooler does not know is one line and exit code 2, and what passes is waited for', async () => {
  await throughProxy(async (proxy, url) => {
    await proxy.comeBack({ sqlstate: '08P01', message: 'no such database: postgres' });
    const { code, stdout, stderr } = await runCommand(['serve', '--database-url', url], { home, environment });
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, /^rowgraph: cannot use the database postgres:.*: no such database: postgres\n$/);
    await proxy.comeBack({ sqlstate: '08P01', message: 'server login has been failing, try again later (server_login_retry)' });
    const command = start([], url);
    await command.waitFor(/server login has been failing/, 'stderr');
    await proxy.comeBack();
    await command.waitFor(/^rowgraph serves/);
    assert.equal((await command.stop()).code, 0);
  });
});

test('a login role with powers is warned of, and refused with --strict', async () => {
  await database.run('create role bypasser login bypassrls; grant anon to bypasser');
  for (const [login, reason] of [
    ['postgres', 'is a superuser'],
    ['bypasser', 'bypasses row level security'],
  ] as const) {
    const url = database.url.replace('authenticator@', `${login}@`);
    const refused = await runCommand(['serve', '--database-url', url, '--strict'], { home, environment });
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, new RegExp(`^rowgraph: --strict: the login role "${login}" ${reason}: [^\n]+\n$`));
    const command = start(['--log-level', 'fatal'], url);
    await command.waitFor(/serves/);
    const { stderr } = await command.stop();
    assert.match(stderr, new RegExp(`^rowgraph: WARNING: the login role "${login}" ${reason}`));
  }
  const service = await serve('--strict');
  assert.doesNotMatch((await service.stop()).stderr, /WARNING|the login role/);
});

test('a limit of open files that is too low for the clients is named at the start', async () => {
  // It ends by itself, because it is strict.
  const url = database.url.replace('authenticator@', 'postgres@');
  const warningsWith = async (clients: number) => {
    const script = `ulimit -n 2000; rowgraph serve --strict --database-url '${url}' --max-connections ${clients}`;
    const { code, stderr } = await runShell(script, { home, environment });
    assert.equal(code, 2, stderr);
    return linesOf(stderr).filter(({ needed }) => needed !== undefined);
  };
  assert.deepEqual(await warningsWith(100), []);
  assert.deepEqual(
    (await warningsWith(2000)).map((line) => [line.level, line.limit]),
    [[40, 2000]],
  );
});

test('tables that anon may write without row level security are named at the start, as the doctor finds them', async () => {
  const named = Array.from({ length: 7 }, (_, index) => `public.open_${index}`);
  await database.run(`${named.map((name) => `create table ${name} (id int primary key)`).join(';')};
    create table "Odd" (id int primary key); create table closed (id int primary key); revoke insert, update, delete on closed from anon;
    create table by_column (id int primary key); revoke all on by_column from anon; grant update (id) on by_column to anon;
    create view seen as select 1 as id;`);
  const service = await serve();
  const { stderr } = await service.stop();
  const [line] = linesOf(stderr).filter(({ tables }) => tables !== undefined);
  const doctor = await runCommand(['doctor', '--database-url', database.url, '--json'], { home });
  const { findings } = JSON.parse(doctor.stdout) as { findings: { code: string; name: string }[] };
  const found = findings.filter(({ code }) => code === 'writable-without-rls').map(({ name }) => name);
  assert.deepEqual([line?.role, line?.tables], ['anon', found.length]);
  assert.match(
    String(line?.msg),
    /^"anon" can change any row of public.Odd, public.by_column, public.open_0, public.open_1, public.open_2 and 4 more:/,
  );
});

test('an API in which clients find nothing is reported at the start, with what to do', async () => {
  const messagesWith = async (sql: string): Promise<unknown[]> => {
    await database.run(`drop schema if exists bare cascade; create schema bare; ${sql}`);
    const service = await serve('--schemas', 'bare');
    const { stderr } = await service.stop();
    return linesOf(stderr).flatMap(({ msg }) => (String(msg).includes('API is empty') ? [msg] : []));
  };
  const table = 'create table bare.note (id int primary key); grant usage on schema bare to anon, authenticated;';
  assert.deepEqual(await messagesWith(''), [
    'the API is empty: there are no tables or functions in bare; create some, or expose other schemas with --schemas',
  ]);
  assert.deepEqual(await messagesWith(table), [
    'the API is empty for anon and authenticated: neither has a privilege on a table of bare; grant some, such as: grant select on <table> to anon',
  ]);
  assert.deepEqual(await messagesWith(`${table} grant select (id) on bare.note to authenticated`), []);
  assert.deepEqual(await messagesWith("create function bare.f() returns int language sql as 'select 1'"), []);
});

test('schemas of the extra search path that do not exist are named at the start', async () => {
  const service = await serve('--extra-search-path', 'public,nowhere');
  const { code, stderr } = await service.stop('SIGTERM');
  assert.equal(code, 0);
  assert.deepEqual(
    linesOf(stderr).flatMap(({ schemas }) => schemas ?? []),
    ['nowhere'],
  );
});

test('serve says where GraphiQL is, and that introspection is off', async () => {
  const printed = async (...flags: string[]): Promise<string[]> => {
    const command = start(['--graphiql', ...flags]);
    await command.waitFor(flags.includes('on') ? /GraphiQL: .*\n/ : /Introspection .*\n/);
    return (await command.stop()).stdout.replaceAll(/:\d+/g, '').trim().split('\n');
  };
  const serves = 'rowgraph serves http://127.0.0.1/graphql/v1';
  const graphiql = 'GraphiQL: http://127.0.0.1/graphiql';
  const off = 'Introspection is off for anon, so GraphiQL cannot show the schema; turn it on with --introspection on';
  assert.deepEqual(await printed('--introspection', 'on'), [serves, graphiql]);
  assert.deepEqual(await printed(), [serves, graphiql, off]);
  assert.deepEqual(await printed('--workers', '2'), [`${serves} from 2 processes`, graphiql, off]);
});

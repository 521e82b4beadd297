/** `rowgraph serve --workers`: several processes behind one port, against a real PostgreSQL server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { signKey } from '../../src/auth/sign-key.ts';
import { connectSocket } from '../http/socket-client.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { until } from '../support/until.ts';
import { assertRefused, makeFolder, type RunningCommand, removeFolder, startCommand } from './run-command.ts';

const secret = 'a secret that has more than 32 characters';
let home: string;
let server: PostgresServer;
let superuser: pg.Client;
let databaseUrl: string;

before(async () => {
  home = await makeFolder();
  server = await startPostgres();
  superuser = new pg.Client(server.url);
  await superuser.connect();
  await superuser.query(`${rolesSql} ${grantsSql} create table letter (id int primary key); insert into letter values (1);
    create function held() returns int stable language sql as 'select 7 from pg_advisory_xact_lock_shared(1)';`);
  databaseUrl = server.url.replace('postgres@', 'authenticator@');
});
after(async () => {
  await superuser.end();
  await server.stop();
  await removeFolder(home);
});

const environment = { ROWGRAPH_JWT_SECRET: secret, ROWGRAPH_PORT: '0', ROWGRAPH_POOL_SIZE: '2' };

interface Service {
  readonly command: RunningCommand;
  /** Without a path. */
  readonly url: string;
  /** Sends a query on a connection of its own, which the primary hands to the next worker. */
  ask(query: string): Promise<unknown>;
  /** The lines of the log so far. */
  log(): readonly LogLine[];
}

interface LogLine {
  readonly limit?: number;
  readonly needed?: number;
  readonly pid: number;
  readonly msg: string;
  readonly worker?: number;
  readonly signal?: string | null;
  readonly restartMilliseconds?: number;
}

async function startService(count: number, more: Readonly<Record<string, string>> = {}): Promise<Service> {
  const flags = ['--workers', String(count), '--database-url', databaseUrl, '--log-level', 'debug'];
  const command = startCommand(['serve', ...flags], { home, environment: { ...environment, ...more } });
  let written = '';
  command.process.stderr?.on('data', (text: string) => {
    written += text;
  });
  const line = await command.waitFor(/\n/);
  const [, url = ''] = new RegExp(`^rowgraph serves (\\S+) from ${count} processes\\n$`).exec(line) ?? [];
  assert.notEqual(url, '', line);
  const headers = { 'content-type': 'application/json', apiKey: await signKey(secret, 'anon') };
  const service: Service = {
    command,
    url: new URL(url).origin,
    ask: async (query) => JSON.parse(await post(url, headers, JSON.stringify({ query }))) as unknown,
    log: () =>
      written
        .split('\n')
        .slice(0, -1)
        // What is wrong with settings is a line for people.
        .filter((text) => text.startsWith('{'))
        .map((text) => JSON.parse(text) as LogLine),
  };
  // The logs come over a pipe of their own, later or sooner than the line.
  await until(() => pidsOf(service.log(), 'serving').length === count);
  return service;
}

function post(url: string, headers: Record<string, string>, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent: false }, (response) => {
      response
        .setEncoding('utf8')
        .toArray()
        .then((chunks) => resolve(chunks.join('')), reject);
    });
    sent.once('error', reject).end(body);
  });
}

/** The status of the response to a GET request on a connection of its own. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false }, (response) => resolve(response.resume().statusCode));
    sent.once('error', reject).end();
  });
}

/** Resolves when the port of a URL refuses connections. Waits for no answer: a worker that hangs may have been given the connection. */
async function untilClosed(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  await until(async () => {
    const socket = connect(Number(port), hostname);
    const [error] = await once(socket, 'connect').catch((reason: unknown) => [reason]);
    socket.destroy();
    return (error as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
  });
}

/** The processes whose log has this message. */
function pidsOf(log: readonly LogLine[], message: string): number[] {
  return [...new Set(log.filter(({ msg }) => msg === message).map(({ pid }) => pid))];
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const letters = '{ letterCollection { edges { node { id } } } }';
const lettersAnswer = { data: { letterCollection: { edges: [{ node: { id: 1 } }] } } };

test('WebSockets and event streams work in each worker, and end with the service', async () => {
  const { command, url } = await startService(2);
  const endpoint = `${url}/graphql/v1`;
  const apikey = await signKey(secret, 'anon');
  const query = 'subscription { letterCollection(filter: {id: {gt: 1}}) { edges { node { id } } } }';
  const clients = await Promise.all(Array.from({ length: 12 }, () => connectSocket(endpoint, { apikey })));
  for (const { send, next } of clients) {
    send({ id: '1', type: 'subscribe', payload: { query } });
    assert.deepEqual((await next()).payload, { data: { letterCollection: { edges: [] } } });
  }
  await superuser.query('insert into letter values (2)');
  for (const { next } of clients)
    assert.deepEqual((await next()).payload, { data: { letterCollection: { edges: [{ node: { id: 2 } }] } } });
  await superuser.query('delete from letter where id = 2');
  for (const { next } of clients) assert.deepEqual((await next()).payload, { data: { letterCollection: { edges: [] } } });
  const stream = await fetch(`${endpoint}?query=${encodeURIComponent(query)}`, { headers: { apikey, accept: 'text/event-stream' } });
  const reserved = await fetch(endpoint, { method: 'PUT', headers: { apikey } });
  assert.equal(reserved.status, 405);
  assert.match(await reserved.text(), /several processes/);
  command.process.kill('SIGTERM');
  for (const { closed } of clients) assert.equal((await closed).code, 1012);
  assert.match(await stream.text(), /SHUTTING_DOWN/);
  const { code } = await command.ended;
  assert.equal(code, 0);
});

test('every worker answers, learns of DDL, is replaced when it dies, and ends gracefully', async (t) => {
  const { command, ask, log } = await startService(3);
  const started = pidsOf(log(), 'serving');
  assert.equal(started.length, 3);
  assert.ok(!started.includes(command.process.pid ?? 0));

  await t.test('every worker answers', async () => {
    for (const answer of await Promise.all(Array.from({ length: 12 }, () => ask(letters)))) assert.deepEqual(answer, lettersAnswer);
    await until(() => pidsOf(log(), 'request').length === 3);
  });

  await t.test('every worker learns of DDL', async () => {
    await superuser.query('create table postcard (id int primary key)');
    const askAll = (): Promise<unknown[]> =>
      Promise.all(Array.from({ length: 12 }, () => ask('{ postcardCollection { edges { node { id } } } }')));
    for (const answer of await askAll()) assert.deepEqual(answer, { data: { postcardCollection: { edges: [] } } });
    await superuser.query('drop table postcard');
    for (const answer of await askAll()) {
      assert.match(JSON.stringify(answer), /Cannot query field .+postcardCollection.+GRAPHQL_VALIDATION_FAILED/);
    }
  });

  await t.test('a worker that dies is replaced, and the others go on', async () => {
    const [victim = 0] = started;
    process.kill(victim, 'SIGKILL');
    await until(() => !isAlive(victim));
    for (let count = 0; count < 12; count++) assert.deepEqual(await ask(letters), lettersAnswer);
    await until(() => pidsOf(log(), 'serving').length === 4);
    const [end] = log().filter(({ worker }) => worker === victim);
    assert.equal(end?.pid, command.process.pid);
  });

  await t.test('all workers at once are replaced, at the same port', async () => {
    for (const pid of pidsOf(log(), 'serving').filter(isAlive)) process.kill(pid, 'SIGKILL');
    await until(() => pidsOf(log(), 'serving').length === 7);
    assert.deepEqual(await ask(letters), lettersAnswer);
  });

  await t.test('SIGTERM ends all when the requests in flight are answered', async () => {
    await superuser.query('select pg_advisory_lock(1)');
    const inFlight = ask('{ held }');
    const waiting = "select from pg_stat_activity where wait_event = 'advisory'";
    await until(async () => ((await superuser.query(waiting)).rowCount ?? 0) > 0);
    command.process.kill('SIGTERM');
    await command.waitFor(/(finishing the requests in flight[\s\S]*){3}/, 'stderr');
    await superuser.query('select pg_advisory_unlock(1)');
    assert.deepEqual(await inFlight, { data: { held: 7 } });
    const { code, signal, stdout } = await command.ended;
    assert.deepEqual({ code, signal, lines: stdout.split('\n').length }, { code: 0, signal: null, lines: 2 });
    assert.deepEqual(pidsOf(log(), 'serving').filter(isAlive), []);
    assert.equal(pidsOf(log(), 'stopped').length, 3);
  });
});

test('a connection that no worker may take is closed', async () => {
  const service = await startService(2, { ROWGRAPH_MAX_CONNECTIONS: '2' });
  const { hostname, port } = new URL(service.url);
  const sockets = Array.from({ length: 40 }, () => connect(Number(port), hostname).on('error', () => {}));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  await until(() => sockets.filter(({ destroyed }) => destroyed).length >= 36);
  assert.equal(sockets.filter(({ destroyed }) => !destroyed).length, 4);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await service.ask(letters).catch(() => null)) !== null);
  assert.equal((await service.command.stop('SIGTERM')).code, 0);
});

test('workers that may open more connections than the server allows are reported at the start, and share what there is', async () => {
  await superuser.query('alter role authenticator connection limit 4');
  try {
    const service = await startService(2, { ROWGRAPH_POOL_SIZE: '3' });
    const reported = service.log().filter(({ needed }) => needed !== undefined);
    assert.deepEqual(
      reported.map(({ limit, needed }) => [limit, needed]),
      [[4, 8]],
    );
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.ask(letters)));
    for (const answer of answers) assert.deepEqual(answer, lettersAnswer);
    assert.equal((await service.command.stop('SIGTERM')).code, 0);
  } finally {
    await superuser.query('alter role authenticator connection limit -1');
  }
});

test('connections on their way to a worker that dies are closed at once', {
  skip: process.platform === 'win32' && 'Windows cannot stop a process with SIGSTOP',
}, async () => {
  const { command, ask, log } = await startService(2);
  const [victim = 0] = pidsOf(log(), 'serving');
  // Stopped, it takes none of the connections that the system has for it; the others go to the other worker.
  process.kill(victim, 'SIGSTOP');
  const outcomes = { answered: 0, closed: 0 };
  const sent = Array.from({ length: 20 }, async () => {
    const answer = await ask(letters).catch(() => null);
    if (answer !== null) assert.deepEqual(answer, lettersAnswer);
    outcomes[answer === null ? 'closed' : 'answered'] += 1;
  });
  await until(() => outcomes.answered > 0);
  await setTimeout(500);
  process.kill(victim, 'SIGKILL');
  await until(() => outcomes.answered + outcomes.closed === 20);
  await Promise.all(sent);
  assert.ok(outcomes.closed > 0);
  assert.equal((await command.stop('SIGTERM')).code, 0);
});

test('no connection that is opened while workers stop is left without an answer or an end', async () => {
  const { command, ask, log } = await startService(2);
  await superuser.query('select pg_advisory_lock(1)');
  const inFlight = ask('{ held }');
  const waiting = "select from pg_stat_activity where wait_event = 'advisory'";
  await until(async () => ((await superuser.query(waiting)).rowCount ?? 0) > 0);
  const settled: Promise<unknown>[] = [];
  let isClosed = false;
  for (let count = 0; !isClosed; count++) {
    if (count === 20) command.process.kill('SIGTERM');
    const sent = ask(letters).then(
      (answer) => assert.deepEqual(answer, lettersAnswer),
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED') isClosed = true;
      },
    );
    settled.push(sent);
    await new Promise(setImmediate);
  }
  // Although a request is in flight.
  await Promise.all(settled);
  await superuser.query('select pg_advisory_unlock(1)');
  assert.deepEqual(await inFlight, { data: { held: 7 } });
  assert.equal((await command.ended).code, 0);
  assert.equal(pidsOf(log(), 'stopped').length, 2);
});

test('the port closes after the drain delay', async () => {
  const patient = await startService(2, { ROWGRAPH_DRAIN_DELAY: '1h' });
  patient.command.process.kill('SIGTERM');
  // Of either worker.
  let drained = 0;
  await until(async () => {
    drained = (await statusOf(`${patient.url}/health/ready`)) === 503 ? drained + 1 : 0;
    return drained > 4;
  });
  assert.deepEqual(await patient.ask(letters), lettersAnswer);
  await patient.command.stop('SIGKILL');
  const quick = await startService(2, { ROWGRAPH_DRAIN_DELAY: '100ms' });
  quick.command.process.kill('SIGTERM');
  await untilClosed(quick.url);
  assert.equal((await quick.command.ended).code, 0);
});

test('a worker that hangs is killed in the end, and the port is closed', {
  skip: process.platform === 'win32' && 'Windows cannot stop a process with SIGSTOP',
}, async () => {
  const { command, url, log } = await startService(2, { ROWGRAPH_CLOSE_TIMEOUT: '0s' });
  const [victim = 0] = pidsOf(log(), 'serving');
  process.kill(victim, 'SIGSTOP');
  command.process.kill('SIGTERM');
  assert.equal((await command.ended).code, 0);
  assert.ok(!isAlive(victim));
  await untilClosed(url);
});

test('a second signal ends all at once, whatever they are doing', async () => {
  const { command, ask, log } = await startService(2);
  await superuser.query('select pg_advisory_lock(1)');
  const cutOff = assert.rejects(ask('{ held }'));
  const waiting = "select from pg_stat_activity where wait_event = 'advisory'";
  await until(async () => ((await superuser.query(waiting)).rowCount ?? 0) > 0);
  command.process.kill('SIGTERM');
  await command.waitFor(/(finishing the requests in flight[\s\S]*){2}/, 'stderr');
  // Those that come close behind the first count as one with it.
  const again = setInterval(() => command.process.kill('SIGTERM'), 100);
  const { code } = await command.ended;
  clearInterval(again);
  await cutOff;
  await superuser.query('select pg_advisory_unlock(1)');
  assert.equal(code, 130);
  await until(() => !pidsOf(log(), 'serving').some(isAlive));
});

test('a worker that has served is replaced at once, as often as that happens; one that cannot start, after a while: until then nobody is ready', async () => {
  const { command, url, ask, log } = await startService(2);
  const ready = (): Promise<number | undefined> => statusOf(`${url}/health/ready`);
  const serving = (): number[] => pidsOf(log(), 'serving');
  const delays = (): (number | undefined)[] => log().flatMap((line) => (line.worker === undefined ? [] : [line.restartMilliseconds]));
  for (let round = 0; round < 5; round++) {
    process.kill(serving().filter(isAlive)[0]!, 'SIGKILL');
    await until(() => delays().length === round + 1);
    assert.deepEqual(await ask(letters), lettersAnswer, 'the other worker answers');
    assert.equal(await ready(), 200, 'a worker that is being replaced does not take the other one away');
    await until(() => serving().length === 3 + round);
  }
  assert.deepEqual(delays(), [0, 0, 0, 0, 0]);
  await superuser.query('revoke anon from authenticator');
  try {
    process.kill(serving().filter(isAlive)[0]!, 'SIGKILL');
    await until(() => delays().length >= 9);
    await until(async () => (await ready()) === 503);
    assert.equal(await statusOf(`${url}/health/live`), 200);
  } finally {
    await superuser.query('grant anon to authenticator');
  }
  assert.deepEqual(delays().slice(5, 9), [0, 100, 200, 400]);
  await until(() => serving().length === 8);
  await until(async () => (await ready()) === 200);
  assert.equal((await command.stop('SIGTERM')).code, 0);
});

test('a worker that ends but does not exit is killed and replaced', async () => {
  const hang = `import cluster from 'node:cluster';
    if (cluster.isWorker) process.on('exit', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));`;
  await writeFile(path.join(home, 'hang.mjs'), hang);
  const { command, ask, log } = await startService(2, { NODE_OPTIONS: `--import ${pathToFileURL(path.join(home, 'hang.mjs')).href}` });
  const serving = (): number[] => pidsOf(log(), 'serving');
  const [victim = 0] = serving();
  process.kill(victim, 'SIGTERM');
  await until(() => serving().length === 3);
  assert.deepEqual(
    log().flatMap(({ worker, signal }) => (worker === undefined ? [] : [{ worker, signal }])),
    [{ worker: victim, signal: 'SIGKILL' }],
  );
  assert.deepEqual(await ask(letters), lettersAnswer);
  assert.equal((await command.stop('SIGTERM')).code, 0);
});

test('workers end when the primary is killed', async () => {
  const { command, log } = await startService(2);
  await command.stop('SIGKILL');
  await until(() => !pidsOf(log(), 'serving').some(isAlive));
});

test('Ctrl-C while the workers start ends all', async () => {
  const flags = ['--workers', '4', '--database-url', databaseUrl];
  const command = startCommand(['serve', ...flags], { home, environment });
  await new Promise((resolve) => command.process.stderr?.once('data', resolve));
  const { code, stdout } = await command.stop('SIGINT');
  assert.deepEqual({ code, stdout }, { code: 0, stdout: '' });
});

test('what is wrong is one line and exit code 2, however many workers there are', async () => {
  const refuse = (line: RegExp, ...flags: string[]): Promise<void> =>
    assertRefused(['serve', '--database-url', databaseUrl, ...flags], line, { home, environment });
  await refuse(/--workers must be a whole number from 1 to 256 \(it is "0"\)/, '--workers', '0');
  await refuse(/--workers must be a whole number from 1 to 256 \(it is "auto"\)/, '--workers', 'auto');
  await refuse(/--workers must be a whole number from 1 to 256 \(it is "1000"\)/, '--workers', '1000');
  await refuse(/--host 192\.0\.2\.1 is not an address of this machine/, '--workers', '2', '--host', '192.0.2.1', '--port', '0');
  await refuse(/the role "nobody" does not exist/, '--workers', '2', '--anon-role', 'nobody');
  await refuse(/--port \d+ is already in use/, '--workers', '2', '--log-level', 'silent', '--port', String(server.port));
});

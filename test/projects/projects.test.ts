/**
 * One server, many projects: which project a host names, what each has for itself, what happens to the others while one is broken, and how projects come, change
 * and go while requests run. On real databases, because PostgreSQL counts the connections.
 */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { SignJWT } from 'jose';
import type { Client } from 'pg';
import { signKey } from '../../src/auth/sign-key.ts';
import { serveSettings } from '../../src/cli/command-settings.ts';
import { addProject, checkProjects, listProjects, removeProject, rotateKeys } from '../../src/cli/commands/manage-projects.ts';
import { readConfiguration } from '../../src/cli/config.ts';
import { openProjects, type ServedProjects } from '../../src/cli/serve/serve-projects.ts';
import type { Event } from '../../src/events.ts';
import { Admission, type AdmittedRequest, type ProjectPart, type Refusal } from '../../src/http/admission/admission.ts';
import { type RunningServer, startServer } from '../../src/http/transport/start-server.ts';
import { readProjectFiles, readReference } from '../../src/projects/project-files.ts';
import { createTelemetry, type Telemetry } from '../../src/telemetry/create-telemetry.ts';
import { connectSocket } from '../http/socket-client.ts';
import { rawResponse } from '../http/start-test-server.ts';
import { runCommand, startCommand } from '../process/run-command.ts';
import { sendRequest } from '../support/send-request.ts';
import { startSilentProxy } from '../support/silent-proxy.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';

const a = 'aaaaaaaaaaaaaaaaaaaa';
const b = 'bbbbbbbbbbbbbbbbbbbb';
const c = 'cccccccccccccccccccc';
const secretOf = (reference: string): string => `the secret of the project ${reference}`;

let folder: string;
let databases: TestDatabases;
/** A database each, whose table says whose it is. */
let bases: Record<'a' | 'b' | 'c', TestDatabase>;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-projects-'));
  databases = await startTestDatabases();
  const make = (name: string) => databases.create(`create table own (name text primary key); insert into own values ('${name}')`);
  bases = { a: await make('a'), b: await make('b'), c: await make('c') };
});
after(async () => {
  await databases.close();
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The code of the error, or whose database answered. */
  readonly outcome: string;
}

interface TestService extends ServedProjects {
  readonly server: RunningServer;
  readonly events: Event[];
  readonly telemetry: Telemetry;
  readonly log: string[];
  /** Replaces the file of projects and has it read. */
  write(projects: object | string): Promise<void>;
  /** Asks the project of a host, with a key of a project. */
  ask(
    host: string,
    key?: string,
    more?: { path?: string; headers?: Record<string, string>; signal?: AbortSignal; body?: string },
  ): Promise<Answer>;
  stop(): Promise<void>;
}

let count = 0;

/** The machine may be busy. */
const patience = { requestTimeout: '24h', queueTimeout: '24h' };

/** A server with projects in a file. */
async function serve(projects: object, flags: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const file = path.join(folder, `service-${++count}.json`);
  await writeFile(file, JSON.stringify(projects));
  const configuration = readConfiguration(serveSettings, {
    flags: { projects: file, ...patience, ...flags },
    environment: {},
    file: undefined,
  });
  const events: Event[] = [];
  const log: string[] = [];
  const telemetry = createTelemetry({ level: 'info', destination: { write: (line) => void log.push(line) } });
  const observe = (event: Event): void => {
    events.push(event);
    telemetry.observe(event);
  };
  const served = await openProjects(configuration, observe);
  assert.ok(served !== null);
  telemetry.watchProjects(served.counts);
  const graph = {
    executeRaw: async () => rawResponse('{"data":{"ownCollection":"default"}}'),
    readCaches: () => [],
    readStatistics: () => null,
    ping: async () => {},
  };
  const server = await startServer({
    graph,
    ...served.serverOptions,
    telemetry: { ...telemetry, observe },
    jwtSecret: secretOf('default'),
  });
  const keys = new Map<string, string>();
  const ask: TestService['ask'] = async (host, key = host.slice(0, 20), { path = '/graphql/v1', headers = {}, signal, body } = {}) => {
    if (!keys.has(key)) keys.set(key, await signKey(secretOf(key), 'anon'));
    return send(server.port, path, { host, apikey: keys.get(key)!, ...headers }, signal, body);
  };
  const write: TestService['write'] = async (content) => {
    await writeFile(`${file}.new`, typeof content === 'string' ? content : JSON.stringify(content));
    await rename(`${file}.new`, file);
    await served.refresh();
  };
  const stop = async (): Promise<void> => {
    await server.close();
    await served.close();
  };
  return { ...served, server, events, telemetry, log, write, ask, stop };
}

const query = JSON.stringify({ query: '{ ownCollection { edges { node { name } } } }' });

async function send(port: number, target: string, headers: Record<string, string>, signal?: AbortSignal, body = query): Promise<Answer> {
  const sent = { 'content-type': 'application/json', 'content-length': String(body.length), ...headers };
  const options = { port, path: target, method: 'POST', headers: sent, ...(signal && { signal }) };
  const response = await sendRequest(options, body);
  const { data, errors } = JSON.parse(response.body);
  const outcome = errors?.[0].extensions.code ?? data.ownCollection.edges?.[0].node.name ?? data.ownCollection;
  return { status: response.status, headers: response.headers, outcome };
}

const projectOf = (reference: string, { url }: { readonly url: string }, more: object = {}) => ({
  [reference]: { databaseUrl: url, jwtSecret: secretOf(reference), ...more },
});

/** The processes that serve rowgraph's connections to a database. */
const backendsOf = async ({ name }: TestDatabase): Promise<unknown[]> =>
  (await bases.a.run(`select pid from pg_stat_activity where usename = 'authenticator' and datname = '${name}'`)).map(({ pid }) => pid);

/** Waits until rowgraph has no connection to these databases. */
const untilClosed = (...all: readonly TestDatabase[]): Promise<void> =>
  until(async () => (await Promise.all(all.map(backendsOf))).every((backends) => backends.length === 0));

/** Has requests wait for the table until the client that is returned commits. */
async function lock(database: TestDatabase): Promise<Client> {
  const client = await database.connect();
  await client.query('begin; lock table own');
  return client;
}

test('a host names a project by its first label, whatever its case, port or trailing dot', () => {
  const read = (host: string | undefined, domain: string | null = null, url = '/graphql/v1'): string | null => {
    try {
      return readReference({ url, headers: host === undefined ? {} : { host } }, domain);
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  for (const host of [`${a}.example.com`, `${a.toUpperCase()}.Example.com:443`, `${a}.example.com.`, `${a}.localhost:`, `${a}.a`])
    assert.equal(read(host), a, host);
  const without = [
    undefined,
    '',
    'example.com',
    a,
    `${a}:80`,
    `${a}.`,
    `${a}a.example.com`,
    `www.${a}.example.com`,
    '127.0.0.1',
    '[::1]:4000',
  ];
  for (const host of [...without, '__proto__.example.com', `${a.slice(1)}-.example.com`, '1.2.3.4:80'])
    assert.equal(read(host), null, host);
  const malformed = [
    `${a}..example.com`,
    `.${a}.example.com`,
    `x@${a}.example.com`,
    `${a}.example.com:80:80`,
    `${a}.example.com:http`,
    `${a}.example.com/`,
  ];
  for (const host of [
    ...malformed,
    `${a}.example.com, ${b}.example.com`,
    '[::1',
    '::1',
    `${a}.é`,
    `${a}.${'x'.repeat(300)}`,
    ' ',
    `${a}%2eexample.com`,
  ])
    assert.equal(read(host), 'BAD_REQUEST', host);
  // The host of a target that is a whole URL is read as strictly.
  const targets = [
    ...malformed,
    `${a}%2eexample.com`,
    `${a}.é`,
    `user:password@${a}.example.com`,
    '[::1',
    ' ',
    `${a}.${'x'.repeat(300)}`,
    '',
  ];
  for (const host of targets.filter((each) => !each.endsWith('/')))
    assert.equal(read('example.com', null, `http://${host}/graphql/v1`), 'BAD_REQUEST', `http://${host}`);
  assert.deepEqual(
    [read(`${a}.example.com:80`, 'example.com'), read(`${a}.evil.com`, 'example.com'), read(`${a}.x.example.com`, 'example.com')],
    [a, null, null],
  );
  for (const target of [`http://${b}.example.com/graphql/v1`, `HTTPS://${b.toUpperCase()}.example.com:443`, `http://${b}.a?query=x`])
    assert.equal(read(`${a}.example.com`, null, target), b, target);
  for (const target of [`/${b}`, `//${b}.example.com/graphql/v1`, '*', `/?x=http://${b}.example.com`])
    assert.equal(read(`${a}.example.com`, null, target), a, target);
});

test('each host is served by its project, with its own keys; others are for the default project or not found', async () => {
  const service = await serve(
    {
      ...projectOf(a, bases.a),
      ...projectOf(b, bases.b, { jwtSecret: undefined, apiKeys: 'none.json' }),
      ...projectOf(c, bases.c),
    },
    { databaseUrl: bases.c.url, jwtSecret: secretOf('default') },
  );
  try {
    const outcomes = async (...asked: Parameters<TestService['ask']>[]): Promise<unknown[]> =>
      (await Promise.all(asked.map((each) => service.ask(...each)))).map(({ status, outcome }) => [status, outcome]);
    assert.deepEqual(
      await outcomes([`${a}.example.com`], [`${a.toUpperCase()}.example.com:80`, a], [`${c}.localhost.`], ['example.com', 'default']),
      [
        [200, 'a'],
        [200, 'a'],
        [200, 'c'],
        [200, 'default'],
      ],
    );
    // The key of another project, and of the default one; a reference that nobody has; a host that is none; settings that are wrong.
    assert.deepEqual(
      await outcomes(
        [`${a}.example.com`, c],
        [`${a}.example.com`, 'default'],
        ['example.com', a],
        [`${'d'.repeat(20)}.example.com`, a],
        ['a..b', a],
        [`${b}.example.com`],
      ),
      [
        [401, 'UNAUTHENTICATED'],
        [401, 'UNAUTHENTICATED'],
        [401, 'UNAUTHENTICATED'],
        [404, 'PROJECT_NOT_FOUND'],
        [400, 'BAD_REQUEST'],
        [503, 'PROJECT_UNAVAILABLE'],
      ],
    );
    const forwarded = await service.ask('example.com', 'default', {
      headers: { 'x-forwarded-host': `${a}.example.com`, forwarded: `host=${a}.example.com` },
    });
    assert.equal(forwarded.outcome, 'default');
    const whole = await service.ask(`${a}.example.com`, c, { path: `http://${c}.example.com/graphql/v1` });
    assert.equal(whole.outcome, 'c');
    const { headers } = await service.ask(`${'d'.repeat(20)}.example.com`, a, { headers: { origin: 'https://app.example' } });
    assert.equal(headers['access-control-allow-origin'], '*');
    const metrics = await service.telemetry.writeMetrics();
    assert.match(metrics, new RegExp(`rowgraph_project_requests_total{project="${a}",code="OK"} 2`));
    assert.match(metrics, /rowgraph_projects{state="open"} 2/);
    assert.match(service.log.join(''), new RegExp(`"project":"${b}"`));
    assert.ok(!service.log.join('').includes('the secret of'));
  } finally {
    await service.stop();
  }
  await untilClosed(bases.a, bases.c);
});

test('a project answers all of its requests while the database of another one is silent', async () => {
  const proxy = await startSilentProxy(databases.port);
  const url = bases.a.url.replace(`:${databases.port}/`, `:${proxy.port}/`);
  const never = 'postgres://authenticator@127.0.0.1:1/none';
  const service = await serve({ ...projectOf(a, { url }), ...projectOf(b, bases.b), ...projectOf(c, { url: never }) });
  try {
    assert.equal((await service.ask(`${a}.example.com`)).outcome, 'a');
    proxy.fallSilent();
    const client = new AbortController();
    const begun = service.events.filter(({ kind, project }) => kind === 'request-started' && project === a).length;
    const silent = Array.from({ length: 30 }, () => service.ask(`${a}.example.com`, a, { signal: client.signal }).catch(() => 'gone'));
    await until(() => service.events.filter(({ kind, project }) => kind === 'request-started' && project === a).length === begun + 30);
    const answers = await Promise.all(Array.from({ length: 30 }, () => service.ask(`${b}.example.com`)));
    assert.deepEqual(new Set(answers.map(({ outcome }) => outcome)), new Set(['b']));
    const down = await service.ask(`${c}.example.com`);
    assert.deepEqual([down.status, down.outcome], [503, 'DATABASE_UNAVAILABLE']);
    // There is no default project here.
    assert.equal((await service.ask('example.com', a)).outcome, 'PROJECT_NOT_FOUND');
    client.abort();
    assert.deepEqual(new Set(await Promise.all(silent)), new Set(['gone']));
  } finally {
    await proxy.stop();
    await service.stop();
  }
});

test('large requests of a project do not wait for those of another one whose database is silent', async () => {
  const [closed, opened] = [await startSilentProxy(databases.port), await startSilentProxy(databases.port)];
  closed.fallSilent();
  const through = ({ url }: TestDatabase, port: number) => ({ url: url.replace(`:${databases.port}/`, `:${port}/`) });
  const silent = { ...projectOf(a, through(bases.a, closed.port)), ...projectOf(c, through(bases.c, opened.port)) };
  const service = await serve({ ...silent, ...projectOf(b, bases.b) });
  const client = new AbortController();
  // Two of them are more than may be prepared at a time.
  const body = JSON.stringify({ query: JSON.parse(query).query, variables: { padding: 'x'.repeat(300_000) } });
  const askSilent = async (project: string, role: string): Promise<unknown> => {
    const headers = { apikey: await signKey(secretOf(project), role) };
    return service.ask(`${project}.example.com`, project, { headers, signal: client.signal, body }).catch(() => 'gone');
  };
  const askOther = async () => (await service.ask(`${b}.example.com`, b, { body })).outcome;
  try {
    const opening = askSilent(a, 'anon');
    await until(() => closed.connections > 0);
    assert.equal(await askOther(), 'b', 'another project is not open yet');
    assert.equal((await service.ask(`${c}.example.com`)).outcome, 'c');
    opened.fallSilent();
    const loading = askSilent(c, 'authenticated');
    for (let count = 0; count < 5; count += 1) assert.equal(await askOther(), 'b', 'a role of another project is not known yet');
    client.abort();
    assert.deepEqual(await Promise.all([opening, loading]), ['gone', 'gone']);
  } finally {
    await Promise.all([closed.stop(), opened.stop()]);
    await service.stop();
  }
});

test('all projects together keep within the number of connections, and those that nobody uses close theirs', async () => {
  const service = await serve(
    { ...projectOf(a, bases.a), ...projectOf(b, bases.b), ...projectOf(c, bases.c) },
    { projectConnections: '2' },
  );
  try {
    const hosts = Array.from({ length: 30 }, (_, index) => [a, b, c][index % 3]!);
    const answers = await Promise.all(
      hosts.map(async (reference) => {
        const { outcome } = await service.ask(`${reference}.example.com`);
        assert.ok(service.counts().connections <= 2);
        return outcome === reference[0];
      }),
    );
    assert.deepEqual(new Set(answers), new Set([true]));
    // Two connections are enough for one project to be open; others were opened at the same time.
    service.closeUnused(-1);
    assert.ok(service.counts().open >= 1);
    service.closeUnused(Number.POSITIVE_INFINITY);
    await until(() => service.counts().connections === 0);
    assert.deepEqual(service.counts(), { known: 3, open: 0, connections: 0 });
    for (const reference of [b, a, c]) {
      assert.equal((await service.ask(`${reference}.example.com`)).outcome, reference[0]);
      assert.equal(service.counts().open, 1);
    }
  } finally {
    await service.stop();
  }
});

test('where more projects are used than may be open, the one that was used least recently is closed', async () => {
  const service = await serve(
    { ...projectOf(a, bases.a), ...projectOf(b, bases.b), ...projectOf(c, bases.c) },
    { projectConnections: '4' },
  );
  try {
    for (const reference of [a, b, a, c, a, b]) {
      assert.equal((await service.ask(`${reference}.example.com`)).outcome, reference[0]);
      assert.ok(service.counts().open <= 2);
    }
    const opened = service.events.flatMap((event) => (event.kind === 'schema-loaded' ? [event.project] : []));
    assert.deepEqual(opened, [a, b, c, b]);
  } finally {
    await service.stop();
  }
});

test('requests of a project that is removed or gets another database run to their end', async () => {
  const service = await serve({ ...projectOf(a, bases.a), ...projectOf(b, bases.b) });
  try {
    const locks = [await lock(bases.a), await lock(bases.b)];
    const running = [service.ask(`${a}.example.com`), service.ask(`${b}.example.com`)];
    await Promise.all([bases.a.untilLocked('own', 1), bases.b.untilLocked('own', 1)]);
    await service.write(projectOf(b, bases.c));
    assert.equal((await service.ask(`${a}.example.com`)).outcome, 'PROJECT_NOT_FOUND');
    assert.equal((await service.ask(`${b}.example.com`)).outcome, 'c');
    for (const client of locks) await client.query('commit');
    assert.deepEqual(
      (await Promise.all(running)).map(({ outcome }) => outcome),
      ['a', 'b'],
    );
    await untilClosed(bases.a, bases.b);
    await service.write({ ...projectOf(a, bases.a), ...projectOf(b, bases.c) });
    assert.equal((await service.ask(`${a}.example.com`)).outcome, 'a');
  } finally {
    await service.stop();
  }
});

test('a subscription belongs to its project, and ends when that changes', async () => {
  const service = await serve({ ...projectOf(a, bases.a), ...projectOf(b, bases.b) });
  const endpoint = `http://127.0.0.1:${service.server.port}/graphql/v1`;
  const open = async (reference: string, key: string) =>
    connectSocket(endpoint, { apikey: await signKey(secretOf(key), 'anon') }, { headers: { host: `${reference}.example.com` } });
  await assert.rejects(open(a, b), /4403/);
  const [ofA, ofB] = await Promise.all([open(a, a), open(b, b)]);
  for (const [client, name] of [
    [ofA, 'a'],
    [ofB, 'b'],
  ] as const) {
    client.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { ownCollection { edges { node { name } } } }' } });
    assert.deepEqual((await client.next()).payload.data, { ownCollection: { edges: [{ node: { name } }] } });
  }
  await service.write({ ...projectOf(a, bases.c), ...projectOf(b, bases.b) });
  assert.equal((await ofA.closed).code, 1012);
  await untilClosed(bases.a);
  assert.equal(ofB.socket.readyState, ofB.socket.OPEN);
  await assert.rejects(open(c, c), /4403|404/);
  await service.stop();
  assert.equal((await ofB.closed).code, 1012);
});

test('new keys need no new connections, and what is broken in the file changes nothing', async () => {
  const service = await serve({ ...projectOf(a, bases.a), ...projectOf(b, bases.b) });
  try {
    await untilClosed(bases.a);
    assert.equal((await service.ask(`${a}.example.com`)).outcome, 'a');
    const connected = await backendsOf(bases.a);
    await service.write({ ...projectOf(a, bases.a, { jwtSecret: secretOf(c), previousJwtSecret: secretOf(a) }), ...projectOf(b, bases.b) });
    for (const key of [a, c]) assert.equal((await service.ask(`${a}.example.com`, key)).outcome, 'a');
    await service.write({ ...projectOf(a, bases.a, { jwtSecret: secretOf(c) }), ...projectOf(b, bases.b) });
    assert.equal((await service.ask(`${a}.example.com`, a)).outcome, 'UNAUTHENTICATED');
    // There may be another one by now, for the watch of the schema.
    const backends = await backendsOf(bases.a);
    assert.deepEqual(
      connected.filter((pid) => !backends.includes(pid)),
      [],
    );
    for (const broken of ['{"aaaa', '[]', JSON.stringify({ ...projectOf(a, bases.a, { poolSize: 'many' }), ...projectOf(b, bases.b) })]) {
      await service.write(broken);
      assert.equal((await service.ask(`${a}.example.com`, c)).outcome, 'a');
      assert.equal((await service.ask(`${b}.example.com`)).outcome, 'b');
    }
    assert.match(service.log.join(''), /is not JSON.*must hold a JSON object.*must be a whole number/s);
  } finally {
    await service.stop();
  }
});

test('files of projects are read within bounds, each for itself, and no problem repeats what they hold', async () => {
  const place = path.join(folder, 'many');
  await mkdir(place);
  const write = (name: string, text: string) => writeFile(path.join(place, name), text);
  await write('1.json', JSON.stringify({ [a]: { databaseUrl: 'one' }, [b]: { databaseUrl: 'one' } }));
  await write('2.json', `{"__proto__": {"secret": 1}, "constructor": {}, "${a.toUpperCase()}": {}, "${c}": {}}`);
  const first = await readProjectFiles(place, null);
  assert.deepEqual([...first.byReference.keys()].sort(), [a, b, c]);
  assert.equal(first.problems.length, 3);
  await write('1.json', `{"${a}": {"databaseUrl": "postgres://user:hidden`);
  await write('2.json', JSON.stringify({ [c]: {}, [b]: { databaseUrl: 'two' } }));
  await writeFile(path.join(place, '3.json'), '');
  await truncate(path.join(place, '3.json'), 50_000_000);
  const second = await readProjectFiles(place, first);
  const texts = [...second.byReference].map(([reference, { text }]) => [reference, text]);
  assert.deepEqual(
    new Map(texts as [string, string][]),
    new Map([
      [a, '{"databaseUrl":"one"}'],
      [b, '{"databaseUrl":"one"}'],
      [c, '{}'],
    ]),
  );
  assert.match(second.problems.join('\n'), /1\.json is not JSON.*"bbbbbbbbbbbbbbbbbbbb" is in .*1\.json, too.*3\.json has 50000000 bytes/s);
  assert.ok(!second.problems.join().includes('hidden'));
});

test('rowgraph projects adds, lists, checks, rotates and removes, and shows no secret that was not asked for', async () => {
  for (const location of [path.join(folder, 'added.json'), path.join(folder, 'added')]) {
    const [reference = '', anonKey = ''] = await addProject(location, null, { databaseUrl: bases.a.url }, 'anon');
    await addProject(location, b, { databaseUrl: 'postgres://user:hidden@127.0.0.1:1/none', schemas: 'public' }, 'anon');
    assert.match(reference, /^[a-z]{20}$/);
    assert.match(anonKey, /^anon +ey/);
    await assert.rejects(addProject(location, b, { databaseUrl: bases.a.url }, 'anon'), /exists already/);
    await assert.rejects(addProject(location, '__proto__', { databaseUrl: bases.a.url }, 'anon'), /is not a reference/);
    await assert.rejects(addProject(location, c, { databaseUrl: 'nowhere' }, 'anon'), /"databaseUrl" in c+ of .* must be a URL/);
    const listed = (await listProjects(location)).join('\n');
    assert.match(listed, /postgres:\/\/user@127.0.0.1:1\/none {2}schemas: public {2}keys: jwtSecret/);
    const right: string[] = [];
    const problems = await checkProjects(location, (each) => right.push(each));
    assert.deepEqual(right, [reference]);
    assert.match(problems.join(), new RegExp(`^${b}: cannot use the database postgres://user@127.0.0.1:1/none`));
    const files = location.endsWith('.json') ? [location] : [path.join(location, `${reference}.json`)];
    const before = await readFile(files[0]!, 'utf8');
    const secret = JSON.parse(before)[reference].jwtSecret;
    assert.ok(![listed, ...problems].some((text) => text.includes(secret) || text.includes('hidden')));
    assert.equal((await stat(files[0]!)).mode & 0o777, 0o600);
    await rotateKeys(location, reference, false, 'anon');
    assert.equal(JSON.parse(await readFile(files[0]!, 'utf8'))[reference].previousJwtSecret, secret);
    await rotateKeys(location, reference, true, 'anon');
    assert.equal(JSON.parse(await readFile(files[0]!, 'utf8'))[reference].previousJwtSecret, undefined);
    await writeFile(`${files[0]}.lock`, '');
    await assert.rejects(removeProject(location, reference), /is being changed by another command/);
    await rm(`${files[0]}.lock`);
    await assert.rejects(removeProject(location, c), /there is no project/);
    await removeProject(location, reference);
    assert.match((await listProjects(location)).join(), new RegExp(`^${b} [^\n]*$`));
  }
});

test('two commands that change one file at a time undo nothing of each other', async () => {
  const location = path.join(folder, 'together.json');
  await addProject(location, a, { databaseUrl: bases.a.url }, 'anon');
  const references = [b, c];
  const outcomes = await Promise.allSettled(references.map((each) => addProject(location, each, { databaseUrl: bases.a.url }, 'anon')));
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') assert.match(outcome.reason.message, /is being changed by another command/);
  const added = references.filter((_, index) => outcomes[index]!.status === 'fulfilled');
  assert.notEqual(added.length, 0);
  assert.deepEqual(Object.keys(JSON.parse(await readFile(location, 'utf8'))).sort(), [a, ...added]);
});

test('a project that is added on the command line is served by a server without a default project, with the keys that were printed', async () => {
  // The environment is that of a server: the secret of its default project must not become that of others.
  const environment = { ROWGRAPH_PROJECTS: 'served', ROWGRAPH_JWT_SECRET: secretOf('default'), ROWGRAPH_PORT: '0' };
  const home = folder;
  const added = await runCommand(['projects', 'add', '--database-url', bases.c.url], { home, environment });
  assert.deepEqual([added.code, added.stderr], [0, '']);
  const [, reference = '', apikey = ''] = /^([a-z]{20})\nanon +(\S+)\nservice_role +\S+\n$/.exec(added.stdout) ?? [];
  assert.ok(!(await readFile(path.join(folder, 'served', `${reference}.json`), 'utf8')).includes(secretOf('default')));
  const command = startCommand(['serve'], { home, environment });
  try {
    const port = Number(/^rowgraph serves http:\/\/127\.0\.0\.1:(\d+)\/graphql\/v1\n/.exec(await command.waitFor(/\n/))?.[1]);
    assert.equal((await send(port, '/graphql/v1', { host: `${reference}.localhost:${port}`, apikey })).outcome, 'c');
    assert.equal((await send(port, '/graphql/v1', { host: `localhost:${port}`, apikey })).outcome, 'PROJECT_NOT_FOUND');
    assert.equal((await fetch(`http://127.0.0.1:${port}/health/ready`)).status, 200);
  } finally {
    assert.equal((await command.stop('SIGTERM')).code, 0);
  }
  const projects = (...flags: string[]) => runCommand(['projects', ...flags], { home, environment });
  const rotated = await projects('rotate-keys', reference, '--revoke');
  assert.match(rotated.stdout, /^anon +\S+\nservice_role +\S+\n$/);
  assert.ok(!rotated.stdout.includes(apikey));
  assert.deepEqual(await projects('check'), { code: 0, signal: null, stdout: `${reference}: ok\n`, stderr: '' });
  assert.equal((await projects('add', b, '--database-url', 'postgres://127.0.0.1:1/none')).code, 0);
  const checked = await projects('check');
  assert.deepEqual([checked.code, checked.stderr], [1, 'rowgraph: 1 problem found\n']);
  assert.match(checked.stdout, new RegExp(`^${b}: cannot use the database .*`, 'm'));
  for (const each of [reference, b]) assert.equal((await projects('remove', each)).code, 0);
  assert.equal((await projects('list')).stdout, '');
});

test('a project whose login role has powers is warned of once', async () => {
  const powerful = bases.a.url.replace('authenticator', 'postgres');
  const service = await serve(projectOf(a, { url: powerful }));
  try {
    for (const _ of [1, 2]) assert.equal((await service.ask(`${a}.localhost`)).outcome, 'a');
    const warnings = service.events.filter(({ kind }) => kind === 'login-powerful');
    assert.deepEqual(warnings, [{ kind: 'login-powerful', role: 'postgres', isSuperuser: true, project: a }]);
  } finally {
    await service.stop();
  }
});

test('a strict project refuses a login role with powers; keys that cannot be fetched are reported', async () => {
  const powerful = bases.a.url.replace('authenticator', 'postgres');
  const keyless = { databaseUrl: bases.b.url, jwtKeys: 'http://127.0.0.1:1/jwks.json' };
  const service = await serve({ ...projectOf(a, { url: powerful }, { strict: true }), [b]: keyless });
  try {
    assert.equal((await service.ask(`${a}.localhost`)).outcome, 'DATABASE_UNAVAILABLE');
    assert.match(service.log.join(''), /\\"strict\\": .*postgres.* is a superuser/);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const apikey = await new SignJWT({ role: 'anon' }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
    const answer = await service.ask(`${b}.localhost`, b, { headers: { apikey } });
    assert.deepEqual([answer.status, service.events.some(({ kind }) => kind === 'keys-load-failed')], [503, true]);
  } finally {
    await service.stop();
  }
});

test('no project may hold all requests or bytes in flight', () => {
  const whole = new Admission({ requests: 40, clientRequests: 1000, bytes: 10_000_000 });
  const [one, two, three] = ['one', 'two', 'three'].map((name): ProjectPart => ({ name, requests: 0, bytes: 0 })) as [
    ProjectPart,
    ProjectPart,
    ProjectPart,
  ];
  const admit = (project: ProjectPart): AdmittedRequest | Refusal => whole.admit(whole.refer('127.0.0.1'), project);
  const fill = (project: ProjectPart): AdmittedRequest[] => {
    const filled: AdmittedRequest[] = [];
    for (let admitted = admit(project); typeof admitted !== 'string'; admitted = admit(project)) filled.push(admitted);
    return filled;
  };
  const [first, ...others] = fill(one);
  assert.deepEqual([others.length + 1, fill(two).length, fill(three).length], [20, 12, 8]);
  assert.equal(first?.admitUser('user ada'), null);
  for (const admitted of others) admitted.release();
  // The requests of a batch count like others.
  assert.match(String(first.admitMore(20)), /^This project has too many requests/);
  assert.equal(first.admitMore(11), null);
  assert.match(String(admit(one)), /^This project has too many requests/);
  first.leaveMore(11);
  first.hold(5_000_001);
  assert.match(String(admit(one)), /of this project .* too large/);
  first.hold(-5_000_001);
  assert.notEqual(typeof admit(one), 'string');
});

/** `--admin-port`, `--metrics-key` and the metrics of several workers, over PostgreSQL. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';
import { makeFolder, type RunningCommand, removeFolder, runCommand, startCommand } from './run-command.ts';

const secret = 'a secret that has more than 32 characters';
const key = 'a-key-of-metrics-in-tests';
let home: string;
let databases: TestDatabases;
let database: TestDatabase;
let headers: Record<string, string>;
before(async () => {
  home = await makeFolder();
  databases = await startTestDatabases();
  database = await databases.create('create table note (id int primary key)');
  headers = { apiKey: await signKey(secret, 'anon'), 'content-type': 'application/json' };
});
after(async () => {
  await databases.close();
  await removeFolder(home);
});

interface Service {
  readonly command: RunningCommand;
  readonly url: string;
  /** Of the metrics. */
  readonly admin: string;
  ask(): Promise<number>;
}

async function start(flags: readonly string[], environment: Record<string, string> = {}): Promise<Service> {
  const all = ['serve', '--database-url', database.url, '--port', '0', '--pool-size', '2', '--jwt-secret', secret, ...flags];
  const command = startCommand(all, { home, environment });
  const text = await command.waitFor(flags.includes('--admin-port') ? /Metrics: \S+\n/ : /serves \S+.*\n/);
  const url = /serves (\S+)/.exec(text)?.[1] ?? '';
  const admin = /Metrics: (\S+)/.exec(text)?.[1] ?? url.replace('/graphql/v1', '/metrics');
  const body = JSON.stringify({ query: '{ noteCollection { edges { node { id } } } }' });
  // A connection of its own, which the primary hands to the next worker.
  const ask = async (): Promise<number> =>
    (await fetch(url, { method: 'POST', headers: { ...headers, connection: 'close' }, body })).status;
  return { command, url, admin, ask };
}

const readCount = async (admin: string): Promise<number> => {
  const text = await (await fetch(admin)).text();
  return Number(/^rowgraph_requests_total\{code="OK",role="anon"\} (\d+)$/m.exec(text)?.[1] ?? 0);
};

test('the metrics of workers add up on the admin port, and what a dead one has counted stays', async () => {
  const { command, url, admin, ask } = await start(['--workers', '2', '--admin-port', '0']);
  for (let index = 0; index < 10; index += 1) assert.equal(await ask(), 200);
  assert.equal(await readCount(admin), 10);
  const text = await (await fetch(admin)).text();
  assert.match(text, /^rowgraph_workers 2$/m);
  assert.match(text, /^rowgraph_pool_connections\{state="size"\} 4$/m);
  assert.match(text, /^rowgraph_batch_duration_seconds_count 1[0-9]$/m);
  const base = admin.replace('/metrics', '');
  assert.equal((await fetch(`${base}/health/ready`)).status, 200);
  assert.equal((await fetch(`${base}/graphql/v1`)).status, 404);
  assert.equal((await fetch(`${base}/metrics`, { method: 'POST' })).status, 405);
  assert.equal((await fetch(url.replace('/graphql/v1', '/metrics'))).status, 404);
  assert.equal((await fetch(url.replace('/graphql/v1', '/health/live'))).status, 200);

  // Workers die while the metrics are collected.
  const victim = Number(/"pid":(\d+)[^\n]*"msg":"serving"/.exec(await command.waitFor(/"serving"/, 'stderr'))?.[1]);
  const collecting = Promise.all(Array.from({ length: 5 }, () => readCount(admin)));
  process.kill(victim, 'SIGKILL');
  assert.ok((await collecting).every((count) => count === 10));
  await until(async () => /^rowgraph_worker_exits_total 1$/m.test(await (await fetch(admin)).text()));
  assert.equal(await readCount(admin), 10);
  await until(async () => (await ask().catch(() => 0)) === 200);
  assert.equal(await readCount(admin), 11);
  assert.equal((await command.stop()).code, 0);
});

test('without an admin port, each worker answers for all, if it is given the key', async () => {
  const { command, admin, ask } = await start(['--workers', '2'], { ROWGRAPH_METRICS_KEY: key });
  for (let index = 0; index < 6; index += 1) assert.equal(await ask(), 200);
  for (let index = 0; index < 3; index += 1) {
    const response = await fetch(admin, { headers: { authorization: `Bearer ${key}`, connection: 'close' } });
    assert.match(await response.text(), /^rowgraph_requests_total\{code="OK",role="anon"\} 6$/m);
  }
  for (const authorization of ['', key, `Bearer ${key}x`, `Bearer ${key.slice(1)}`])
    assert.equal((await fetch(admin, { headers: { authorization } })).status, 401, authorization);
  assert.equal((await fetch(admin)).status, 401);
  assert.equal((await command.stop()).code, 0);
});

test('traces and metrics reach the receiver that the environment names, the last of them at the end', async () => {
  const receiver = await startOtlpReceiver();
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SERVICE_NAME: 'notes' };
  const { command, ask } = await start(['--admin-port', '0', '--trace-database', '--slow-operations', '1ms', '--access-log'], environment);
  assert.equal(await ask(), 200);
  const { code, stderr } = await command.stop();
  assert.equal(code, 0);
  assert.equal(receiver.spans.filter(({ kind }) => kind === 2).length, 1);
  assert.equal(receiver.metrics.get('rowgraph_requests_total')?.sum?.dataPoints[0]?.asDouble, 1);
  assert.match(stderr, /"msg":"access"/);
  await receiver.stop();
});

test('settings that are wrong are one line', async () => {
  const flags = ['serve', '--database-url', database.url, '--port', '0', '--jwt-secret', secret];
  const wrong: [string[], Record<string, string>, RegExp][] = [
    [['--admin-port', new URL(database.url.replace('postgres:', 'http:')).port], {}, /--admin-port \d+ is already in use/],
    [['--metrics-key', 'short'], {}, /--metrics-key must have at least 16 ASCII characters/],
    [[], { OTEL_EXPORTER_OTLP_ENDPOINT: 'nowhere' }, /OTEL_EXPORTER_OTLP_ENDPOINT must be a URL/],
  ];
  for (const [more, environment, message] of wrong) {
    const { code, stderr } = await runCommand([...flags, ...more], { home, environment });
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
  }
});

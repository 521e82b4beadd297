/**
 * Two servers that share rate limits and persisted queries through Redis, and go on by themselves without it. Runs where there is a
 * `redis-server` or a `valkey-server` on the path.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { createClient } from '@redis/client';
import type { Observer } from '../../src/events.ts';
import { hashOf } from '../../src/http/documents/persisted-queries.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { type Execute, rawResponse, startTestServer, type TestServer } from './start-test-server.ts';

const execute: Execute = async ({ query }) => rawResponse(JSON.stringify({ data: { query } }));
const options = { execute, persistedQueries: 100_000, trustProxy: true, maxBatch: 10 };

const program = await findProgram();
const skip = program === null ? 'there is no redis-server and no valkey-server on the path' : false;
/** How often Redis was too slow or gone. */
let failures = 0;
let networks = 0;
let redis: ChildProcess;
let redisUrl: string;
let one: TestServer;
let other: TestServer;

async function findProgram(): Promise<string | null> {
  for (const name of ['redis-server', 'valkey-server']) {
    const found = await promisify(execFile)(name, ['--version']).then(
      () => true,
      () => false,
    );
    if (found) return name;
  }
  return null;
}

async function startRedis(): Promise<void> {
  const { port } = new URL(redisUrl);
  redis = spawn(program!, ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
  await until(async () => {
    const client = createClient({ url: redisUrl, socket: { reconnectStrategy: false } });
    client.on('error', () => {});
    const answers = await client.connect().then(
      () => true,
      () => false,
    );
    client.destroy();
    return answers;
  });
}

async function stopRedis(): Promise<void> {
  const ended = once(redis, 'exit');
  redis.kill('SIGKILL');
  await ended;
}

before(async () => {
  if (skip) return;
  redisUrl = `redis://127.0.0.1:${await freePort()}`;
  await startRedis();
  const telemetry = createTelemetry({ destination: { write: () => {} } });
  const observe: Observer = (event) => {
    if (event.kind === 'shared-store-failed') failures += 1;
    telemetry.observe(event);
  };
  const rateLimit = { max: 20, windowMilliseconds: 3_600_000 };
  const start = () => startTestServer({ ...options, redisUrl, rateLimit, telemetry: { ...telemetry, observe } });
  [one, other] = [await start(), await start()];
});
after(async () => {
  if (skip) return;
  await Promise.all([one.close(), other.close(), stopRedis()]);
});

/** Waits until both servers ask Redis: after a failure neither does for a while. */
async function untilShared(): Promise<void> {
  networks += 1;
  let address = 0;
  await until(async () => {
    address += 1;
    await (await post(one, `10.1.${networks}.${address}`)).text();
    return (await post(other, `10.1.${networks}.${address}`)).headers.get('x-ratelimit-remaining') === '18';
  });
}

/** On a busy machine Redis may not answer in time, and each server then goes on alone: tries again, from another address. */
async function undisturbed(work: (network: string) => Promise<void>): Promise<void> {
  for (;;) {
    await untilShared();
    const before = failures;
    networks += 1;
    const error = await work(`10.1.${networks}`).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (failures > before) continue;
    if (error !== null) throw error;
    return;
  }
}

const from = (address: string) => ({ 'x-forwarded-for': address });
const post = (server: TestServer, address: string, body: unknown = { query: '{ a }' }) => server.post({ body, headers: from(address) });

test('the requests of an address count for all servers, and a refusal holds at all', { skip }, () =>
  undisturbed(async (network) => {
    const left: (string | null)[] = [];
    for (let request = 0; request < 20; request++) {
      const response = await post(request % 2 === 0 ? one : other, `${network}.1`);
      assert.equal(response.status, 200);
      left.push(response.headers.get('x-ratelimit-remaining'));
      await response.text();
    }
    assert.deepEqual(
      left,
      Array.from({ length: 20 }, (_, index) => String(19 - index)),
    );
    for (const server of [one, other, one, other]) {
      const response = await post(server, `${network}.1`);
      assert.equal(response.status, 429);
      assert.ok(Number(response.headers.get('retry-after')) > 3000);
    }
    const many = await Promise.all(Array.from({ length: 60 }, (_, index) => post(index % 2 === 0 ? one : other, `${network}.2`)));
    assert.equal(many.filter(({ status }) => status === 200).length, 20, 'as many at the same time');
    const batch = await post(one, `${network}.3`, Array(10).fill({ query: '{ a }' }));
    assert.equal(batch.status, 200);
    assert.equal((await post(other, `${network}.3`)).headers.get('x-ratelimit-remaining'), '9');
  }),
);

const persisted = (query: string) => ({ persistedQuery: { version: 1, sha256Hash: hashOf(query) } });

test('a document that a client has stored at one server is found at the other, and no other that stands under its hash', { skip }, () =>
  undisturbed(async (network) => {
    const query = `{ stored(at: "${network}") }`;
    const extensions = persisted(query);
    assert.match(await (await post(other, `${network}.1`, { extensions })).text(), /PERSISTED_QUERY_NOT_FOUND/);
    assert.equal((await post(one, `${network}.1`, { query, extensions })).status, 200);
    const client = createClient({ url: redisUrl });
    await client.connect();
    const nameOf = (text: string) => `rowgraph:document::${hashOf(text)}`;
    const before = failures;
    await until(async () => failures > before || (await client.exists(nameOf(query))) === 1);
    assert.deepEqual(await (await post(other, `${network}.2`, { extensions })).json(), { data: { query } });
    await client.set(nameOf('{ forged }'), '{ other }');
    const answer = await post(other, `${network}.2`, { extensions: persisted('{ forged }') });
    assert.match(await answer.text(), /PERSISTED_QUERY_NOT_FOUND/);
    client.destroy();
  }),
);

test('a client stores no more than its part', { skip }, () =>
  undisturbed(async (network) => {
    const client = createClient({ url: redisUrl });
    await client.connect();
    const before = (await client.keys('rowgraph:document::*')).length;
    for (let count = 0; count < 15; count++) {
      const query = `{ flood(n: ${count}, text: "${network}${'x'.repeat(2000)}") }`;
      assert.equal((await post(one, `${network}.3`, { query, extensions: persisted(query) })).status, 200);
    }
    // Nobody waits for what is written, but commands are answered in their order.
    assert.equal((await post(one, `${network}.4`)).status, 200);
    assert.equal((await client.keys('rowgraph:document::*')).length, before + 2);
    client.destroy();
  }),
);

test('while Redis does not answer, and while it is gone, each server counts and stores alone; then they share again', {
  skip,
}, async () => {
  redis.kill('SIGSTOP');
  for (let request = 0; request < 20; request++) {
    assert.equal((await post(one, '10.0.2.1')).status, 200);
    assert.equal((await post(other, '10.0.2.1')).status, 200);
  }
  for (const server of [one, other]) assert.equal((await post(server, '10.0.2.1')).status, 429);
  redis.kill('SIGCONT');
  await stopRedis();
  const query = '{ alone }';
  const extensions = { persistedQuery: { version: 1, sha256Hash: hashOf(query) } };
  assert.equal((await post(one, '10.0.2.2', { query, extensions })).status, 200);
  assert.equal((await post(one, '10.0.2.2', { extensions })).status, 200);
  assert.match(await (await post(other, '10.0.2.2', { extensions })).text(), /PERSISTED_QUERY_NOT_FOUND/);
  assert.ok(failures > 0);
  await startRedis();
  await untilShared();
});

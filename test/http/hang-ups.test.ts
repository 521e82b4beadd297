/** Clients that go away, over a real PostgreSQL: what they asked for is stopped there, and nobody else's request is. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { createFetchHandler } from '../../src/http/transport/create-fetch-handler.ts';
import { createNodeHandler } from '../../src/http/transport/create-node-handler.ts';
import { type RunningServer, startServer } from '../../src/http/transport/start-server.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { connectRaw, rawRequest } from './raw-client.ts';
import { secret } from './start-test-server.ts';

const setup = `
  create function nap() returns text stable language plpgsql as $$ begin perform pg_sleep(600); return 'rested'; end $$;
  create function held() returns text stable language sql as $$ select 'held' from pg_advisory_xact_lock_shared(1) $$;`;
let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;
let server: RunningServer;
let key: string;

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(setup);
  graph = await createRowgraph({ database: database.url, poolSize: 3 });
  server = await startServer({ graph, jwtSecret: secret, telemetry: createTelemetry({ level: 'silent' }) });
  key = await signKey(secret, 'anon');
});
after(async () => {
  await server.close();
  await graph.close();
  await databases.close();
});

const requestOf = (query: string): string => rawRequest(key, { body: JSON.stringify({ query }) });
const nap = (): string => requestOf('{ nap }');

test('requests of clients that went away end in PostgreSQL and in the queue, and the one that stayed gets its response', async () => {
  const keeper = await database.connect();
  for (const leave of ['destroy', 'resetAndDestroy', 'end'] as const) {
    await keeper.query('select pg_advisory_lock(1)');
    const staying = await connectRaw(server.port, requestOf('{ held }'));
    await database.untilRunning('held', 1);
    const leaving = await Promise.all(Array.from({ length: 20 }, () => connectRaw(server.port, nap())));
    const pipelined = await connectRaw(server.port, nap().repeat(10));
    await database.untilRunning('nap', 2);
    for (const { socket } of [...leaving, pipelined]) socket[leave]();
    await database.untilRunning('nap', 0);
    await keeper.query('select pg_advisory_unlock(1)');
    const [answer] = await staying.answers(1);
    assert.deepEqual([answer?.status, answer?.body], [200, '{"data":{"held":"held"}}']);
    staying.socket.destroy();
  }
});

test('a request over its deadline is answered, and ends in PostgreSQL', async () => {
  const client = await connectRaw(server.port, nap().replace('host: x', 'host: x\r\nprefer: wait=0.2'));
  const [answer] = await client.answers(1);
  assert.match(answer?.body ?? '', /"code":"TIMEOUT"/);
  await database.untilRunning('nap', 0);
  client.socket.destroy();
});

test('a request that its signal aborts ends in PostgreSQL, and in servers of others a client that went away does', async () => {
  const handler = createFetchHandler(graph, { jwtSecret: secret });
  const controller = new AbortController();
  const headers = { apiKey: key, 'content-type': 'application/json' };
  const body = JSON.stringify({ query: '{ nap }' });
  const running = handler(new Request('https://x.example/', { method: 'POST', headers, body, signal: controller.signal }));
  await database.untilRunning('nap', 1);
  controller.abort();
  await database.untilRunning('nap', 0);
  assert.equal((await running).status, 499);
  const mounted = createServer(createNodeHandler(graph, { jwtSecret: secret })).listen(0, '127.0.0.1');
  await once(mounted, 'listening');
  const leaving = await connectRaw((mounted.address() as AddressInfo).port, nap());
  await database.untilRunning('nap', 1);
  leaving.socket.destroy();
  await database.untilRunning('nap', 0);
  mounted.close();
});

test('a handler whose graph was closed says so', async () => {
  const own = await createRowgraph({ database: database.url, poolSize: 1 });
  const handler = createFetchHandler(own, { jwtSecret: secret });
  await own.close();
  const headers = { apiKey: key, 'content-type': 'application/json' };
  const response = await handler(new Request('https://x.example/', { method: 'POST', headers, body: '{"query":"{ held }"}' }));
  const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
  assert.deepEqual([response.status, errors[0]?.extensions.code], [503, 'DATABASE_UNAVAILABLE']);
});

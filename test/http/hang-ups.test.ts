/** Clients that go away, over a real PostgreSQL: what they asked for is stopped there, and nobody else's request is. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { signKey } from '../../src/auth/sign-key.ts';
import { type RunningServer, startServer } from '../../src/http/start-server.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { connectRaw, rawRequest } from './raw-client.ts';
import { secret } from './start-test-server.ts';

const setup = `create function nap(seconds float8) returns text stable language plpgsql as $$ begin perform pg_sleep(seconds); return 'rested'; end $$;`;
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

const nap = (seconds: number): string => rawRequest(key, { body: JSON.stringify({ query: `{ nap(seconds: ${seconds}) }` }) });

async function untilNapping(wanted: number): Promise<void> {
  const sql = `select count(*)::int as count from pg_stat_activity where usename = 'authenticator' and state = 'active' and query like '%nap%'`;
  while ((await database.run(sql))[0]?.count !== wanted) await sleep(5);
}

test('requests of clients that went away end in PostgreSQL and in the queue, and the one that stayed gets its response', async () => {
  for (const leave of ['destroy', 'resetAndDestroy', 'end'] as const) {
    const staying = await connectRaw(server.port, nap(0.5));
    const leaving = await Promise.all(Array.from({ length: 20 }, () => connectRaw(server.port, nap(30))));
    const pipelined = await connectRaw(server.port, nap(30).repeat(10));
    await untilNapping(3);
    for (const { socket } of [...leaving, pipelined]) socket[leave]();
    const [answer] = await staying.answers(1);
    assert.deepEqual([answer?.status, answer?.body], [200, '{"data":{"nap":"rested"}}']);
    await untilNapping(0);
    staying.socket.destroy();
  }
});

test('a request over its deadline is answered, and ends in PostgreSQL', async () => {
  const client = await connectRaw(server.port, nap(30).replace('host: x', 'host: x\r\nprefer: wait=0.2'));
  const [answer] = await client.answers(1);
  assert.match(answer?.body ?? '', /"code":"TIMEOUT"/);
  await untilNapping(0);
  client.socket.destroy();
});

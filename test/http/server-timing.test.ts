/** The header Server-Timing: only where it is asked for, with the stages that a request came through. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { type RunningServer, startServer } from '../../src/http/transport/start-server.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';
import { secret, startTestServer } from './start-test-server.ts';

let database: TestGraph;
let server: RunningServer;
let apiKey: string;
before(async () => {
  database = await startTestGraph(`create function nap() returns int language sql volatile as 'select 1 from pg_sleep(0.2)';
    create table note (id int primary key)`);
  server = await startServer({
    graph: database.graph,
    jwtSecret: secret,
    serverTiming: true,
    maxBatch: 5,
    telemetry: createTelemetry({ level: 'silent' }),
  });
  apiKey = await signKey(secret, 'anon');
});
after(async () => {
  await server.close();
  await database.stop();
});

/** The stages of a response, in their order, with their milliseconds. */
async function timesOf(body: unknown, headers: Record<string, string> = {}): Promise<Record<string, number>> {
  const init = { method: 'POST', headers: { apiKey, 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
  return read(await fetch(`${server.url}/graphql/v1`, init));
}

function read(response: Response): Record<string, number> {
  const header = response.headers.get('server-timing') ?? '';
  return Object.fromEntries(
    header.split(', ').map((metric) => {
      const [, name, duration] = /^([a-z]+);dur=(\d+\.\d\d)$/.exec(metric) ?? [];
      assert.ok(name !== undefined, header);
      return [name, Number(duration)];
    }),
  );
}

test('a request that runs has all stages, whose times fit together', async () => {
  const query = 'mutation { nap }';
  await timesOf({ query });
  const times = await timesOf({ query });
  assert.deepEqual(Object.keys(times), ['auth', 'plan', 'queue', 'db', 'total']);
  const { auth, plan, queue, db, total } = times as { auth: number; plan: number; queue: number; db: number; total: number };
  assert.ok(db >= 190 && db <= total, `${db} of ${total}`);
  assert.ok(auth + plan + queue + db <= total + 0.1);
});

test('GET, 304 included, has it too', async () => {
  const url = `${server.url}/graphql/v1?query=%7BnoteCollection%7Bedges%7Bnode%7Bid%7D%7D%7D%7D`;
  const first = await fetch(url, { headers: { apiKey } });
  assert.deepEqual(Object.keys(read(first)), ['auth', 'plan', 'queue', 'db', 'total']);
  const again = await fetch(url, { headers: { apiKey, 'if-none-match': first.headers.get('etag') ?? '' } });
  assert.deepEqual([again.status, Object.keys(read(again)).at(-1)], [304, 'total']);
});

test('stages that a request does not reach are missing', async () => {
  assert.deepEqual(Object.keys(await timesOf({ query: '{ __typename }' })), ['auth', 'plan', 'total']);
  assert.deepEqual(Object.keys(await timesOf({ query: '{ nothing }' })), ['auth', 'total']);
  assert.deepEqual(Object.keys(await timesOf({ query: '{ a }' }, { apiKey: 'x' })), ['total']);
  assert.deepEqual(Object.keys(await timesOf([{ query: '{ __typename }' }, { query: 'mutation { nap }' }])), ['auth', 'total']);
});

test('without the setting there is no such header', async () => {
  const without = await startTestServer();
  assert.equal((await without.post()).headers.get('server-timing'), null);
  assert.deepEqual(Object.keys(without.calls[0]?.options ?? {}), ['deadline', 'client', 'http']);
  await without.close();
});

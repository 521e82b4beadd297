/** The packages graphql-ws and graphql-sse, and `fetch`, as clients of a real database: what they get when rows change. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createClient as createEventClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { SignJWT } from 'jose';
import { WebSocket } from 'ws';
import { signKey } from '../../src/auth/sign-key.ts';
import { type RunningServer, startServer } from '../../src/http/transport/start-server.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { connectSocket } from './socket-client.ts';
import { secret } from './start-test-server.ts';

const setup = `
  create table bird (id int primary key, name text not null, owner text);
  alter table bird enable row level security;
  create policy own on bird for all using (owner is null or owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
  grant select, insert, update, delete on bird to anon, authenticated;
  insert into bird values (1, 'wren', null), (2, 'owl', 'u1');`;
const query = 'subscription Birds { birdCollection(orderBy: [{id: AscNullsLast}]) { edges { node { name } } } }';
let databases: TestDatabases;
let database: TestDatabase;
let writer: Awaited<ReturnType<TestDatabase['connect']>>;
let graph: Rowgraph;
let server: RunningServer;
let endpoint: string;
let key: string;

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(setup);
  writer = await database.connect();
  graph = await createRowgraph({ database: database.url, poolSize: 3 });
  server = await startServer({ graph, jwtSecret: secret, telemetry: createTelemetry({ level: 'silent' }) });
  endpoint = `${server.url}/graphql/v1`;
  key = await signKey(secret, 'anon');
});
after(async () => {
  await server.close();
  await graph.close();
  await databases.close();
});

interface Birds {
  readonly birdCollection: { readonly edges: readonly { readonly node: { readonly name: string } }[] };
}

type Results = AsyncIterable<{ readonly data?: unknown; readonly errors?: unknown }>;

/** Follows the names that a client gets until they are those expected: some may be skipped. */
async function follow(results: Results, act: (names: string) => Promise<unknown>, last: string): Promise<void> {
  for await (const { data, errors } of results) {
    assert.equal(errors, undefined);
    const names = (data as Birds).birdCollection.edges.map(({ node }) => node.name).join();
    if (names === last) return;
    await act(names);
  }
  throw new Error('the answers ended');
}

const rename = (from: string, to: string) => async (names: string) => {
  if (names.includes(from)) await writer.query(`update bird set name = '${to}' where name = '${from}'`);
};

test('graphql-ws follows a query, under the claims of its caller', async () => {
  const token = await signKey(secret, 'authenticated', undefined, { sub: 'u1' });
  const client = createSocketClient({
    url: endpoint.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: { apikey: key, authorization: `Bearer ${token}` },
  });
  await follow(client.iterate({ query }), rename('wren', 'rook'), 'rook,owl');
  const mutation = 'mutation { updatebirdCollection(set: {name: "wren"}, filter: {id: {eq: 1}}) { affectedCount } }';
  for await (const { data } of client.iterate({ query: mutation }))
    assert.deepEqual(JSON.parse(JSON.stringify(data)), { updatebirdCollection: { affectedCount: 1 } });
  await client.dispose();
});

for (const singleConnection of [false, true]) {
  test(`graphql-sse does, with ${singleConnection ? 'one connection' : 'a connection for each operation'}`, async () => {
    const client = createEventClient({ url: endpoint, headers: { apikey: key }, singleConnection, retryAttempts: 0 } as Parameters<
      typeof createEventClient
    >[0]);
    await follow(client.iterate({ query }), rename('wren', 'rook'), 'rook');
    await follow(client.iterate({ query }), rename('rook', 'wren'), 'wren');
    await assert.rejects(async () => {
      for await (const { errors } of client.iterate({ query: 'subscription { none }' }))
        if (errors !== undefined) throw new Error('refused');
    });
    client.dispose();
  });
}

test('a plain request for a subscription says how to get its answers', async () => {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { apikey: key, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
  assert.equal(errors[0]?.extensions.code, 'SUBSCRIPTION_NOT_SUPPORTED');
});

test('a mutation with an idempotency key is told apart in any format', async () => {
  const send = (key: string) =>
    fetch(endpoint, {
      method: 'POST',
      headers: { apikey: key, accept: 'text/event-stream', 'content-type': 'application/json', 'idempotency-key': 'k1' },
      body: JSON.stringify({ query: 'mutation { insertIntobirdCollection(objects: [{id: 9, name: "kite"}]) { affectedCount } }' }),
    });
  const text = await (await send(key)).text();
  // The database has no extension that stores keys.
  assert.match(text, /IDEMPOTENCY_NOT_SUPPORTED/);
});

test('a stream goes on where it was for a caller with a new token', async () => {
  const client = await connectSocket(endpoint, { apikey: key });
  client.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { birdStream { node { id } } }' } });
  const nextIds = async (): Promise<readonly number[]> => {
    const { type, payload } = await client.next();
    assert.equal(type, 'next', JSON.stringify(payload));
    return payload.data.birdStream.map(({ node }: { node: { id: number } }) => node.id);
  };
  await writer.query("truncate bird; insert into bird values (1, 'wren', null), (2, 'owl', 'u1')");
  while ((await nextIds()).at(-1) !== 1);
  const token = await new SignJWT({ role: 'authenticated', sub: 'u1' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(secret));
  client.send({ type: 'ping', payload: { authorization: `Bearer ${token}` } });
  assert.equal((await client.next()).type, 'pong');
  assert.deepEqual(await nextIds(), [2]);
  await writer.query("insert into bird values (3, 'lark', null)");
  assert.deepEqual(await nextIds(), [3]);
  client.socket.terminate();
});

/** WebSockets by the protocol graphql-transport-ws: what each message does, and with which code each wrong one closes the socket. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SignJWT } from 'jose';
import { LiveGraph } from './live-graph.ts';
import { connectSocket, openSocket } from './socket-client.ts';
import { rawResponse, secret, startTestServer, type TestServer } from './start-test-server.ts';

const graph = new LiveGraph();
let server: TestServer;
const start = (options: Parameters<typeof startTestServer>[0] = {}) => startTestServer({ subscribeRaw: graph.subscribeRaw, ...options });
const signToken = (claims: Record<string, unknown>) =>
  new SignJWT({ role: 'authenticated', ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret));
const subscribe = (id: string, query = 'subscription { a }', more: object = {}) => ({ id, type: 'subscribe', payload: { query, ...more } });

before(async () => {
  server = await start();
});
after(() => server.close());

describe('a connection', () => {
  test('gets answers as they change, until its client completes', async () => {
    const client = await connectSocket(server.endpoint, { apiKey: server.anonKey });
    client.send(subscribe('1'));
    const { id, type, payload } = await client.next();
    assert.deepEqual([id, type, payload.data.role], ['1', 'next', 'anon']);
    graph.publish({ a: 1 });
    assert.deepEqual(await client.next(), { id: '1', type: 'next', payload: { data: { a: 1 } } });
    client.send({ id: '1', type: 'complete' });
    await graph.until(0);
    // The id is free again, also at once.
    client.send(subscribe('1'));
    assert.equal((await client.next()).type, 'next');
    client.send({ id: '1', type: 'complete' });
    client.send(subscribe('1'));
    assert.equal((await client.next()).type, 'next');
    client.socket.close(1000);
    await graph.until(0);
    assert.equal((await client.closed).code, 1000);
  });

  test('runs queries and mutations, too', async () => {
    const client = await connectSocket(server.endpoint, { apikey: server.anonKey });
    client.send(subscribe('q', '{ a }'));
    assert.deepEqual(await client.next(), { id: 'q', type: 'next', payload: { data: { kind: 'single' } } });
    assert.deepEqual(await client.next(), { id: 'q', type: 'complete' });
    client.socket.close();
  });

  test('gets the errors of a request that is refused, and goes on', async () => {
    const client = await connectSocket(server.endpoint, { apikey: server.anonKey });
    client.send(subscribe('1', 'subscription { refuse }'));
    const { type, payload } = await client.next();
    assert.equal(type, 'error');
    assert.deepEqual(
      payload.map(({ message }: { message: string }) => message),
      ['one', 'two'],
    );
    client.send({ type: 'ping', payload: { a: 1 } });
    assert.deepEqual(await client.next(), { type: 'pong', payload: { a: 1 } });
    client.socket.close();
  });

  test('takes its key from headers, the URL or the payload, and its token from the payload', async () => {
    const token = await signToken({ sub: 'u1' });
    for (const [url, headers, payload] of [
      [server.endpoint, { apikey: server.anonKey }, {}],
      [`${server.endpoint}?apikey=${server.anonKey}`, {}, {}],
      [server.endpoint, {}, { headers: { APIKEY: server.anonKey } }],
      [server.endpoint, {}, { apiKey: server.anonKey, Authorization: `Bearer ${token}` }],
    ] as const) {
      const client = await connectSocket(url, payload, { headers });
      client.send(subscribe('1'));
      const answer = await client.next();
      assert.equal(answer.payload.data.role, 'Authorization' in payload ? 'authenticated' : 'anon');
      client.socket.close();
    }
    await graph.until(0);
  });

  test('goes on as another caller with a new token', async () => {
    const client = await connectSocket(server.endpoint, { apikey: server.anonKey });
    client.send(subscribe('1'));
    assert.equal((await client.next()).payload.data.role, 'anon');
    const token = await signToken({ sub: 'u1' });
    client.send({ type: 'ping', payload: { authorization: `Bearer ${token}`, n: 1 } });
    assert.deepEqual(await client.next(), { type: 'pong', payload: { n: 1 } });
    assert.equal((await client.next()).payload.data.role, 'authenticated');
    await graph.until(1);
    graph.publish({ a: 2 });
    assert.deepEqual((await client.next()).payload, { data: { a: 2 } });
    client.socket.close();
  });

  test('a subscription that waits for its first answer goes on as another caller, too', async () => {
    const client = await connectSocket(server.endpoint, { apikey: server.anonKey });
    client.send(subscribe('1', 'subscription { wait }'));
    await graph.until(1);
    client.send({ type: 'ping', payload: { authorization: `Bearer ${await signToken({ sub: 'u1' })}` } });
    assert.equal((await client.next()).type, 'pong');
    const answer = client.next();
    const ended = graph.until(0);
    graph.publish({ a: 1 });
    await Promise.race([ended, answer]);
    await graph.until(1);
    assert.deepEqual(
      [...graph.open].map(({ caller }) => caller.role),
      ['authenticated'],
    );
    graph.publish({ a: 2 });
    assert.deepEqual((await answer).payload, { data: { a: 2 } });
    client.socket.close();
    await graph.until(0);
  });

  test('a mutation whose answer is not read yet does not run again as another caller', async () => {
    const roles: string[] = [];
    const large = rawResponse(JSON.stringify({ data: { text: 'x'.repeat(16_000_000) } }));
    const once = new LiveGraph(async (_request, { role }) => {
      roles.push(role);
      return large;
    });
    const own = await startTestServer({ subscribeRaw: once.subscribeRaw });
    const client = await connectSocket(own.endpoint, { apikey: own.anonKey });
    client.socket.pause();
    client.send(subscribe('1', 'mutation { a }'));
    client.send({ type: 'ping', payload: { authorization: `Bearer ${await signToken({ sub: 'u1' })}` } });
    client.send(subscribe('2', 'subscription { a }'));
    await once.until(1);
    assert.deepEqual(roles, ['anon']);
    client.socket.terminate();
    await own.close();
  });

  test('goes on as its key alone after a logout', async () => {
    const authorization = `Bearer ${await signToken({ sub: 'u1' })}`;
    for (const payload of [
      { authorization: '' },
      { authorization: null },
      { headers: { Authorization: '' } },
      { apikey: server.anonKey },
    ]) {
      const client = await connectSocket(server.endpoint, { apikey: server.anonKey }, { headers: { authorization } });
      client.send(subscribe('1'));
      assert.equal((await client.next()).payload.data.role, 'authenticated');
      client.send({ type: 'ping', payload: { ...payload, n: 1 } });
      assert.deepEqual(await client.next(), { type: 'pong', payload: { n: 1 } });
      assert.equal((await client.next()).payload.data.role, 'anon', JSON.stringify(payload));
      client.send({ type: 'ping', payload: { n: 2 } });
      assert.deepEqual(await client.next(), { type: 'pong', payload: { n: 2 } });
      client.socket.close();
      await graph.until(0);
    }
  });
});

describe('a socket closes', () => {
  const closes = (name: string, code: number, act: (client: Awaited<ReturnType<typeof openSocket>>) => void, isReady = true) =>
    test(`with ${code}: ${name}`, async () => {
      const client = isReady ? await connectSocket(server.endpoint, { apikey: server.anonKey }) : await openSocket(server.endpoint);
      act(client);
      const closed = await client.closed;
      assert.equal(closed.code, code, closed.reason);
    });
  closes('text that is not JSON', 4400, ({ send }) => send('{'));
  closes('a list', 4400, ({ send }) => send([]));
  closes('no type', 4400, ({ send }) => send({ id: '1' }));
  closes('an unknown type', 4400, ({ send }) => send({ type: 'start' }));
  closes('a binary message', 4400, ({ send }) => send(Buffer.from('{"type":"ping"}')));
  closes('no id', 4400, ({ send }) => send({ type: 'subscribe', payload: { query: '{ a }' } }));
  closes('an id that is too long', 4400, ({ send }) => send(subscribe('1'.repeat(1001))));
  closes('no payload', 4400, ({ send }) => send({ id: '1', type: 'subscribe' }));
  closes('no query', 4400, ({ send }) => send({ id: '1', type: 'subscribe', payload: {} }));
  closes('variables that are no object', 4400, ({ send }) => send(subscribe('1', '{ a }', { variables: 1 })));
  closes('a payload that is no object', 4400, ({ send }) => send({ type: 'ping', payload: 5 }));
  closes('an operation before connection_init', 4401, ({ send }) => send(subscribe('1')), false);
  closes('no key', 4403, ({ send }) => send({ type: 'connection_init' }), false);
  closes('a wrong key', 4403, ({ send }) => send({ type: 'connection_init', payload: { apikey: 'x' } }), false);
  closes('a wrong new token', 4403, ({ send }) => send({ type: 'ping', payload: { authorization: 'Bearer x' } }));
  closes('an id in use', 4409, ({ send }) => {
    send(subscribe('1'));
    send(subscribe('1'));
  });
  closes('a second connection_init', 4429, ({ send }) => send({ type: 'connection_init', payload: { apikey: server.anonKey } }));
  closes('a message that is too large', 1009, ({ send }) => send({ type: 'ping', payload: { text: 'x'.repeat(600 * 1024) } }));

  test('with 4406 if it does not speak the protocol', async () => {
    for (const protocol of ['graphql-ws', []]) {
      const { closed } = await openSocket(server.endpoint, { protocol });
      assert.equal((await closed).code, 4406);
    }
  });

  test('with 4408: no connection_init in time', async () => {
    const strict = await start({ initTimeout: 50 });
    const { closed } = await openSocket(strict.endpoint);
    assert.equal((await closed).code, 4408);
    await strict.close();
  });
});

test('a socket whose messages wait for first answers is not taken for a silent one', async (t) => {
  const answers = new LiveGraph();
  const own = await startTestServer({ subscribeRaw: answers.subscribeRaw, liveHeartbeat: 100 });
  const client = await connectSocket(own.endpoint, { apikey: own.anonKey });
  t.after(async () => {
    client.socket.terminate();
    await own.close();
  });
  for (let id = 0; id < 22; id++) client.send(subscribe(String(id), 'subscription { wait }'));
  await answers.until(20);
  let pings = 0;
  const pinged = new Promise<void>((resolve) => client.socket.on('ping', () => ++pings === 4 && resolve()));
  await Promise.race([pinged, client.closed.then(({ code }) => assert.fail(`closed with ${code}`))]);
  answers.publish({ a: 1 });
  await answers.until(22);
});

test('large messages take turns, and are held while they run', async () => {
  const strict = await start({ maxBytesInFlight: 2_000_000 });
  const client = await connectSocket(strict.endpoint, { apikey: strict.anonKey });
  const large = (id: string) => subscribe(id, `subscription { a } #${'x'.repeat(400_000)}`);
  const kinds: string[] = [];
  for (const id of ['1', '2', '3']) {
    client.send(large(id));
    kinds.push((await client.next()).type);
  }
  assert.deepEqual(kinds, ['next', 'next', 'error']);
  client.send({ id: '1', type: 'complete' });
  client.send({ id: '2', type: 'complete' });
  await graph.until(0);
  client.send(large('3'));
  assert.equal((await client.next()).type, 'next');
  client.socket.terminate();
  await strict.close();
});

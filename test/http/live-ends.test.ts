/** How live connections end: tokens, a server that stops, clients that are gone, slow or hostile; and which pages may open them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { SignJWT } from 'jose';
import { WebSocket } from 'ws';
import { RevokedTokens } from '../../src/auth/revoked-tokens.ts';
import type { ServerOptions } from '../../src/http/transport/start-server.ts';
import { until } from '../support/until.ts';
import { LiveGraph } from './live-graph.ts';
import { connectRaw } from './raw-client.ts';
import { connectSocket, openSocket } from './socket-client.ts';
import { secret, startTestServer, type TestServer } from './start-test-server.ts';

const servers: TestServer[] = [];
after(() => Promise.all(servers.map((server) => server.close())));

async function start(options: Partial<ServerOptions> = {}) {
  const graph = new LiveGraph();
  const server = await startTestServer({ subscribeRaw: graph.subscribeRaw, ...options });
  servers.push(server);
  return { graph, server };
}

const signToken = (claims: Record<string, unknown>) =>
  new SignJWT({ role: 'authenticated', ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret));
const subscribe = (id: string, query = 'subscription { a }') => ({ id, type: 'subscribe', payload: { query } });
const openStream = async (server: TestServer, headers: Record<string, string> = {}) => {
  const response = await fetch(`${server.endpoint}?query=subscription{a}`, {
    headers: { apikey: server.anonKey, accept: 'text/event-stream', ...headers },
  });
  return { response, text: response.text() };
};
/** A time in so many milliseconds, as the claim `exp`, rounded up. */
const expiry = (milliseconds: number): number => Math.ceil((Date.now() + milliseconds) / 1000);

test('an expired token ends its subscriptions, unless a new one has come', async () => {
  const { graph, server } = await start({ initTimeout: 200 });
  const short = `Bearer ${await signToken({ sub: 'u', exp: expiry(1000) })}`;
  const long = `Bearer ${await signToken({ sub: 'u' })}`;
  const ending = await connectSocket(server.endpoint, { apikey: server.anonKey, authorization: short });
  const renewed = await connectSocket(server.endpoint, { apikey: server.anonKey, authorization: short });
  ending.send(subscribe('1'));
  renewed.send(subscribe('1'));
  const stream = await openStream(server, { authorization: short });
  await graph.until(3);
  await renewed.next();
  renewed.send({ type: 'ping', payload: { authorization: long } });
  assert.equal((await renewed.next()).type, 'pong');
  const { code, reason } = await ending.closed;
  assert.equal(code, 4403);
  assert.match(reason, /^UNAUTHENTICATED: The bearer token has expired/);
  assert.match(
    await stream.text,
    /event: next\ndata: \{"errors":\[\{"message":"The bearer token has expired.*"UNAUTHENTICATED".*\n\nevent: complete/,
  );
  await graph.until(1);
  graph.publish({ a: 1 });
  assert.equal((await renewed.next()).type, 'next');
  renewed.socket.close();
});

test('a token that expires before the first answer ends its subscription, too', async () => {
  const { graph, server } = await start({ initTimeout: 200 });
  const exp = expiry(2000);
  const headers = { apikey: server.anonKey, accept: 'text/event-stream', authorization: `Bearer ${await signToken({ sub: 'u', exp })}` };
  const response = fetch(`${server.endpoint}?query=subscription{wait}`, { headers });
  await graph.until(1);
  await until(async () => Date.now() >= exp * 1000);
  graph.publish({ a: 1 });
  assert.match(await (await response).text(), /"UNAUTHENTICATED".*\n\nevent: complete/);
  await graph.until(0);
});

test('a revoked token ends its subscriptions, as does a key that is gone', async () => {
  const revoked = { current: new RevokedTokens([]) };
  const { graph, server } = await start({ initTimeout: 200, tokens: { revoked } });
  const token = await signToken({ sub: 'u', jti: 'j' });
  const client = await connectSocket(server.endpoint, { apikey: server.anonKey, authorization: `Bearer ${token}` });
  const other = await connectSocket(server.endpoint, { apikey: server.anonKey });
  const stream = await openStream(server, { authorization: `Bearer ${token}` });
  revoked.current = new RevokedTokens([{ jti: 'j' }]);
  assert.match((await client.closed).reason, /has been revoked/);
  assert.match(await stream.text, /has been revoked/);
  assert.equal(other.socket.readyState, WebSocket.OPEN);
  other.socket.close();
  await graph.until(0);
});

test('a server that stops ends all, so that clients come back', async () => {
  const { graph, server } = await start();
  const clients = await Promise.all(Array.from({ length: 60 }, () => connectSocket(server.endpoint, { apikey: server.anonKey })));
  for (const { send } of clients) send(subscribe('1'));
  const streams = await Promise.all(Array.from({ length: 3 }, () => openStream(server)));
  await graph.until(63);
  const closing = server.close();
  const codes = await Promise.all(clients.map(async ({ closed }) => (await closed).code));
  assert.deepEqual([...new Set(codes)], [1012]);
  for (const { text } of streams) assert.match(await text, /SHUTTING_DOWN.*\n\n$/);
  await closing;
  await graph.until(0);
});

test('a client that is gone without a word is noticed', async () => {
  const { graph, server } = await start({ liveHeartbeat: 100 });
  const client = await connectSocket(server.endpoint, { apikey: server.anonKey });
  client.send(subscribe('1'));
  await graph.until(1);
  // Reads nothing, so it answers no ping.
  client.socket.pause();
  await graph.until(0);
  client.socket.terminate();
});

test('live connections get signs of life', async () => {
  const { server } = await start({ liveHeartbeat: 100 });
  const client = await connectSocket(server.endpoint, { apikey: server.anonKey });
  await once(client.socket, 'ping');
  await once(client.socket, 'ping');
  client.socket.close();
  const response = await fetch(`${server.endpoint}?query=subscription{a}`, {
    headers: { apikey: server.anonKey, accept: 'text/event-stream' },
  });
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (/\n:\n\n:\n\n$/.test(text)) break;
  }
});

test('a slow client holds one answer, and then gets the latest', async () => {
  const { graph, server } = await start();
  const client = await connectSocket(server.endpoint, { apikey: server.anonKey });
  client.send(subscribe('1'));
  await client.next();
  client.socket.pause();
  const large = 'x'.repeat(4 * 1024 * 1024);
  // The system takes some of them; then they wait.
  for (let n = 1; n <= 100; n += 1) {
    graph.publish({ n, large });
    await new Promise(setImmediate);
  }
  client.socket.resume();
  const seen: number[] = [];
  while (seen.at(-1) !== 100) seen.push((await client.next()).payload.data.n);
  assert.ok(seen.length < 50, seen.join());
  assert.deepEqual(
    seen,
    seen.toSorted((one, other) => one - other),
  );
  client.socket.close();
});

test('a client that asks and does not read is disconnected', async () => {
  const { server } = await start();
  const client = await connectSocket(server.endpoint, { apikey: server.anonKey });
  client.socket.pause();
  const text = 'x'.repeat(100_000);
  const isOpen = (): boolean => client.socket.readyState === WebSocket.OPEN;
  while (isOpen()) {
    if (client.socket.bufferedAmount < 10_000_000) client.send({ type: 'ping', payload: { text } });
    await new Promise(setImmediate);
    // What was sent shows whether the other side is there.
    if (client.socket.bufferedAmount > 5_000_000) client.socket.resume();
  }
});

test('thousands of messages at once leave others their turn', async () => {
  const { graph, server } = await start({ maxClientRequests: 50 });
  const client = await connectSocket(server.endpoint, { apikey: server.anonKey });
  for (let id = 0; id < 500; id += 1) client.send(subscribe(String(id), 'subscription { wait }'));
  await graph.until(20);
  const other = await connectSocket(server.endpoint, { apikey: server.anonKey });
  other.send(subscribe('1'));
  assert.equal((await other.next()).type, 'next');
  graph.publish({ a: 1 });
  client.socket.terminate();
  other.socket.terminate();
  await graph.until(0);
});

test('sockets whose clients do not say who they are are bounded', async () => {
  const { server } = await start({ initTimeout: 60_000 });
  const sockets = await Promise.all(Array.from({ length: 1000 }, () => openSocket(server.endpoint)));
  await assert.rejects(openSocket(server.endpoint), /status 503/);
  for (const { socket } of sockets.slice(0, 500)) socket.terminate();
  for (const { send } of sockets.slice(500)) send({ type: 'connection_init', payload: { apikey: server.anonKey } });
  for (const { next } of sockets.slice(500)) await next();
  const client = await connectSocket(server.endpoint, { apikey: server.anonKey });
  for (const { socket } of [...sockets.slice(500), client]) socket.terminate();
});

test('frames that no client may send close the socket', async () => {
  const { server } = await start();
  const handshake = [
    'GET /graphql/v1 HTTP/1.1',
    'host: x',
    'upgrade: websocket',
    'connection: upgrade',
    'sec-websocket-version: 13',
    'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-protocol: graphql-transport-ws',
  ].join('\r\n');
  for (const frame of [
    '\x81\x00',
    '\xff\xff\xff',
    '\x89\xfe\x01\x00',
    '\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff',
    '\x00\x80aaaa',
    '\xc1\x80aaaa',
  ]) {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`${handshake}\r\n\r\n`);
    await once(socket, 'data');
    socket.write(Buffer.from(frame, 'latin1'));
    await once(socket, 'close');
  }
});

test('a handshake that is none gets a response', async () => {
  const { server } = await start();
  const lines = ['GET /graphql/v1 HTTP/1.1', 'host: x', 'upgrade: websocket', 'connection: upgrade'];
  const { closed } = await connectRaw(server.port, `${lines.join('\r\n')}\r\n\r\n`);
  const [answer] = await closed();
  assert.equal(answer?.status, 400);
  assert.match(answer!.body, /handshake/);
});

test('pages of other origins open WebSockets only where they could send requests', async () => {
  const { server } = await start({ corsOrigins: ['https://app.example'] });
  await assert.rejects(openSocket(server.endpoint, { headers: { origin: 'https://evil.example' } }), /status 403/);
  for (const origin of ['https://app.example', server.url]) {
    const client = await openSocket(server.endpoint, { headers: { origin } });
    client.socket.close();
  }
  const cookies: (string | undefined)[] = [];
  const { server: open } = await start({
    authenticate: ({ headers }) => {
      cookies.push(headers.cookie);
      return { role: 'anon' };
    },
  });
  for (const origin of ['https://evil.example', open.url]) {
    const client = await connectSocket(open.endpoint, {}, { headers: { origin, cookie: 'session=1' } });
    client.socket.close();
  }
  assert.deepEqual(cookies, [undefined, 'session=1']);
});

test('no key or token is in the log', async () => {
  const { server } = await start();
  const token = await signToken({ sub: 'u' });
  const client = await connectSocket(`${server.endpoint}?apikey=${server.anonKey}`, { authorization: `Bearer ${token}` });
  client.send(subscribe('1'));
  await client.next();
  client.send({ type: 'ping', payload: { authorization: 'Bearer wrong.token.text' } });
  await client.closed;
  await until(() => server.log.some((line) => line.includes('WebSocket closed')));
  const log = server.log.join('');
  for (const text of [token, server.anonKey, 'wrong.token.text']) assert.ok(!log.includes(text));
});

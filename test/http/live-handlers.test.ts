/** Live queries where rowgraph is mounted: in a server of `node:http`, and as a handler of Fetch. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import type { StandardWebSocket } from '../../src/http/endpoint/endpoint-options.ts';
import { createFetchHandler } from '../../src/http/transport/create-fetch-handler.ts';
import { createNodeHandler } from '../../src/http/transport/create-node-handler.ts';
import { until } from '../support/until.ts';
import { LiveGraph } from './live-graph.ts';
import { connectRaw } from './raw-client.ts';
import { connectSocket } from './socket-client.ts';
import { rawResponse, secret } from './start-test-server.ts';

const key = await signKey(secret, 'anon');
const executeRaw = async () => rawResponse('{}');
const subscribe = { id: '1', type: 'subscribe', payload: { query: 'subscription { a }' } };
const closing: (() => void)[] = [];
after(() => {
  for (const close of closing) close();
});

async function mount(options = {}) {
  const graph = new LiveGraph();
  const handler = createNodeHandler({ executeRaw, subscribeRaw: graph.subscribeRaw }, { jwtSecret: secret, ...options });
  const server = createServer(handler);
  server.on('upgrade', handler.upgrade);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { graph, handler, port, url: `http://127.0.0.1:${port}/any/path` };
}

test('handler.upgrade serves WebSockets, and the handler event streams', async () => {
  const { graph, handler, url } = await mount();
  const client = await connectSocket(url, { apikey: key });
  client.send(subscribe);
  assert.equal((await client.next()).payload.data.role, 'anon');
  const response = await fetch(`${url}?query=subscription{a}`, { headers: { apikey: key, accept: 'text/event-stream' } });
  assert.equal(response.status, 200);
  await graph.until(2);
  await handler.endSubscriptions(100);
  assert.equal((await client.closed).code, 1012);
  assert.match(await response.text(), /SHUTTING_DOWN/);
  await graph.until(0);
});

test('handler.upgrade refuses other protocols', async () => {
  const { port } = await mount();
  const { closed } = await connectRaw(port, 'GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n');
  const [answer] = await closed();
  assert.equal(answer?.status, 400);
});

test('a handler of Fetch streams, and stops when its reader does', async () => {
  const graph = new LiveGraph();
  const handle = createFetchHandler({ executeRaw, subscribeRaw: graph.subscribeRaw }, { jwtSecret: secret });
  for (const accept of ['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0']) {
    const controller = new AbortController();
    const request = new Request('http://x/graphql/v1', {
      method: 'POST',
      headers: { apikey: key, accept, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'subscription { a }' }),
      signal: controller.signal,
    });
    const response = await handle(request);
    assert.equal(response.status, 200);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('"role":"anon"')) text += (await reader.read()).value;
    // Nobody reads meanwhile: the latest one is kept.
    for (let n = 1; n <= 10; n += 1) {
      graph.publish({ n });
      await new Promise(setImmediate);
    }
    while (!text.includes('"n":10')) text += (await reader.read()).value;
    assert.ok(!text.includes('"n":5'), text);
    if (accept === 'text/event-stream') await reader.cancel();
    else controller.abort();
    await graph.until(0);
  }
});

test('a reader of Fetch who does not read in time is given up', async () => {
  const graph = new LiveGraph();
  const handle = createFetchHandler({ executeRaw, subscribeRaw: graph.subscribeRaw }, { jwtSecret: secret, writeTimeout: 50 });
  await handle(new Request('http://x/?query=subscription{a}', { headers: { apikey: key, accept: 'text/event-stream' } }));
  await graph.until(0);
});

/** The server's end of a WebSocket as the standard has it, and what a client does at the other end. */
class FakeSocket implements StandardWebSocket {
  readonly #listeners: [type: string, listener: (event: { readonly data?: unknown }) => void][] = [];
  readyState = 0;
  bufferedAmount = 0;
  readonly protocol = 'graphql-transport-ws';
  readonly sent: string[] = [];
  closedWith: number | undefined;

  addEventListener(type: string, listener: (event: { readonly data?: unknown }) => void): void {
    this.#listeners.push([type, listener]);
  }

  #report(type: string, data?: unknown): void {
    for (const [name, listener] of this.#listeners) if (name === type) listener({ data });
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(code?: number): void {
    this.readyState = 3;
    this.closedWith = code;
    this.#report('close');
  }

  open(): void {
    this.readyState = 1;
    this.#report('open');
  }

  receive(data: unknown): void {
    this.#report('message', typeof data === 'string' ? data : JSON.stringify(data));
  }
}

test('a handler of Fetch serves WebSockets where its platform makes them', async () => {
  const graph = new LiveGraph();
  const socket = new FakeSocket();
  const upgraded = new Response(null);
  const handle = createFetchHandler(
    { executeRaw, subscribeRaw: graph.subscribeRaw },
    { jwtSecret: secret, liveHeartbeat: 1000, upgradeWebSocket: () => ({ socket, response: upgraded }) },
  );
  assert.equal(await handle(new Request('http://x/', { headers: { upgrade: 'websocket' } })), upgraded);
  socket.open();
  await until(() => socket.readyState === 1);
  await new Promise(setImmediate);
  socket.receive({ type: 'connection_init', payload: { apikey: key } });
  socket.receive(subscribe);
  await graph.until(1);
  await until(() => socket.sent.some((text) => text.includes('"role":"anon"')));
  // A slow client gets the latest.
  socket.bufferedAmount = 1_000_000;
  for (let n = 1; n <= 10; n += 1) {
    graph.publish({ n });
    await new Promise(setImmediate);
  }
  socket.bufferedAmount = 0;
  await until(() => socket.sent.at(-1)?.includes('"n":10'));
  await until(() => socket.sent.includes('{"type":"ping"}'));
  socket.receive('x'.repeat(600_000));
  assert.equal(socket.closedWith, 4009);
  await graph.until(0);
});

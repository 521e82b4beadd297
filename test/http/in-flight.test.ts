/** Bounds of what is in hand: requests of a connection, of a client and in all, bytes, connections. What is beyond is refused at once, and nothing else. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import type { RawResponse } from '../../src/engine/request.ts';
import { RandomSource } from '../property/random-source.ts';
import { connectRaw, exchange, type RawClient, rawRequest } from './raw-client.ts';
import { answer, rawResponse, readError, secret, startTestServer, type TestServer } from './start-test-server.ts';

interface GatedServer extends TestServer {
  /** Lets all requests be answered, those to come too. */
  open(): void;
  /** Resolves when so many requests have reached the graph. */
  reached(count: number): Promise<void>;
}

/** A server whose graph answers when it is let. */
async function withGatedServer(
  options: Parameters<typeof startTestServer>[0] & { text?: string },
  use: (server: GatedServer) => Promise<void>,
): Promise<void> {
  const gate = Promise.withResolvers<void>();
  const execute = async (): Promise<RawResponse> => {
    await gate.promise;
    return rawResponse(options.text ?? answer);
  };
  const server = await startTestServer({ execute, ...options });
  const reached = async (count: number): Promise<void> => {
    while (server.calls.length < count) await new Promise(setImmediate);
  };
  try {
    await use({ ...server, open: gate.resolve, reached });
  } finally {
    gate.resolve();
    await server.close();
  }
}

async function assertOverloaded(response: Response): Promise<string> {
  const { code, message } = await readError(response);
  assert.deepEqual([response.status, code], [503, 'OVERLOADED']);
  assert.ok(response.headers.get('retry-after'));
  assert.ok(response.headers.get('x-request-id'));
  return message;
}

/** Resolves when nothing more has been read for some turns of the event loop, in both processes' sockets. */
async function untilQuiet(client: RawClient, server: TestServer): Promise<void> {
  let before = -1;
  for (let quiet = 0; quiet < 50; ) {
    await new Promise(setImmediate);
    const now = server.calls.length + client.received().length;
    quiet = now === before ? quiet + 1 : 0;
    before = now;
  }
}

test('a connection that pipelines as many requests as it may gets all answers in their order', () =>
  withGatedServer({ maxPipelinedRequests: 10 }, async (server) => {
    const ids = Array.from({ length: 10 }, (_, index) => `id-${index}`);
    const client = await connectRaw(server.port, ids.map((id) => rawRequest(server.anonKey, { lines: [`x-request-id: ${id}`] })).join(''));
    await server.reached(10);
    server.open();
    const answers = await client.answers(10);
    assert.deepEqual(
      answers.map(({ status, body, headers }) => [status, body, headers.get('x-request-id')]),
      ids.map((id) => [200, answer, id]),
    );
    client.socket.destroy();
  }));

test('a connection that pipelines more requests than it may is closed, and no other', () =>
  withGatedServer({ maxPipelinedRequests: 3 }, async (server) => {
    const staying = await connectRaw(server.port, rawRequest(server.anonKey));
    await server.reached(1);
    for (const more of ['GET / HTTP/1.1\r\nhost:x\r\n\r\n', rawRequest(server.anonKey)]) {
      const greedy = await Promise.all(
        Array.from({ length: 20 }, () => connectRaw(server.port, rawRequest(server.anonKey) + more.repeat(1000))),
      );
      for (const client of greedy) assert.ok((await client.closed()).length <= 3);
    }
    server.open();
    assert.equal((await staying.answers(1))[0]?.status, 200);
    staying.socket.destroy();
    assert.equal((await server.post()).status, 200);
  }));

test('requests of every form are answered in their order, however they are cut into packets', () =>
  withGatedServer({ maxPipelinedRequests: 300 }, async (server) => {
    server.open();
    const forms: ((id: string) => string)[] = [
      (id) => rawRequest(server.anonKey, { lines: [id] }),
      (id) => rawRequest(server.anonKey, { lines: [id], body: JSON.stringify({ query: '{ __typename }', extensions: 'x'.repeat(3000) }) }),
      (id) =>
        rawRequest(server.anonKey, { lines: [id, 'transfer-encoding: chunked'] }).replace(
          /content-length.*\r\n\r\n(.*)/,
          '\r\n1a\r\n$1\r\n0\r\n\r\n',
        ),
      (id) => `GET /health/live HTTP/1.1\r\nhost: x\r\n${id}\r\n\r\n`,
      (id) => `GET /nothing HTTP/1.1\r\nhost: x\r\n${id}\r\n\r\n`,
    ];
    const random = new RandomSource(7);
    const ask = async (count: number): Promise<void> => {
      const ids = Array.from({ length: count }, (_, index) => `id-${index}`);
      const input = ids.map((id) => random.pick(forms)(`x-request-id: ${id}`)).join('');
      const client = await connectRaw(server.port);
      client.socket.setNoDelay(true);
      for (let start = 0; start < input.length; ) {
        const end = start + random.integer(1, random.chance(0.3) ? 200 : 30_000);
        client.socket.write(input.slice(start, end));
        start = end;
        if (random.chance(0.5)) await new Promise(setImmediate);
      }
      const answers = await client.answers(count);
      assert.deepEqual(
        answers.map(({ headers }) => headers.get('x-request-id')),
        ids,
      );
      client.socket.destroy();
    };
    await Promise.all(Array.from({ length: 10 }, () => ask(300)));
  }));

for (const before of [1, 2])
  test(`a request whose head comes too late behind ${before} others has only one response, and is not served`, () =>
    withGatedServer({ maxPipelinedRequests: 2, headersTimeout: 50, receiveTimeout: 50 }, async (server) => {
      const request = rawRequest(server.anonKey);
      const client = await connectRaw(server.port, request.repeat(before) + request.slice(0, 20));
      await server.reached(before);
      // The client above has been waiting longer.
      assert.equal((await exchange(server.port, request.slice(0, 20)))[0]?.status, 408);
      client.socket.write(request.slice(20) + request);
      await untilQuiet(client, server);
      server.open();
      const statuses = (await client.closed()).map(({ status }) => status);
      assert.deepEqual(statuses, [...Array.from({ length: before }, () => 200), 408]);
      assert.equal(server.calls.length, before);
    }));

test('nothing is served behind a response that ends the connection', () =>
  withGatedServer({}, async (server) => {
    const request = rawRequest(server.anonKey);
    const client = await connectRaw(server.port, request);
    await server.reached(1);
    client.socket.write(request.replace('host: x\r\n', ''));
    await untilQuiet(client, server);
    client.socket.write(request);
    await untilQuiet(client, server);
    server.open();
    assert.deepEqual(
      (await client.closed()).map(({ status }) => status),
      [200, 400],
    );
    assert.equal(server.calls.length, 1);
  }));

test('pipelined requests are served while the server closes, and not when the client has gone', () =>
  withGatedServer({ maxPipelinedRequests: 5 }, async (server) => {
    const leaving = await connectRaw(server.port, rawRequest(server.anonKey).repeat(5));
    await server.reached(5);
    leaving.socket.resetAndDestroy();
    const staying = await connectRaw(server.port, rawRequest(server.anonKey).repeat(5));
    await server.reached(10);
    const closing = server.close();
    server.open();
    const answers = await staying.closed();
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('connection')]),
      [...Array.from({ length: 4 }, () => [200, 'keep-alive']), [200, 'close']],
    );
    await closing;
  }));

/** Sends a request with an agent that keeps connections open; resolves to its status and what it says of the connection. */
function askByAgent(server: TestServer, agent: Agent): Promise<[status: number, connection: string, isReused: boolean]> {
  return new Promise((resolve, reject) => {
    const headers = { apiKey: server.anonKey, 'content-type': 'application/json' };
    const asked = request(server.endpoint, { agent, method: 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve([response.statusCode ?? 0, response.headers.connection ?? '', asked.reusedSocket]));
    });
    asked.on('error', reject);
    asked.end('{"query":"{ __typename }"}');
  });
}

test('clients that keep connections open lose no request while the server drains and closes', async () => {
  const server = await startTestServer();
  const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const askAll = () => Promise.all(agents.map((agent) => askByAgent(server, agent)));
  const all = (...expected: [number, string, boolean]) => Array.from({ length: 8 }, () => expected);
  assert.deepEqual(await askAll(), all(200, 'keep-alive', false));
  assert.deepEqual(await askAll(), all(200, 'keep-alive', true));
  // Without a delay, the server is only told that it drains.
  await server.drain();
  assert.equal((await fetch(`${server.url}/health/ready`)).status, 503);
  assert.deepEqual(await askAll(), all(200, 'close', true), 'each learns of it by its next response');
  assert.deepEqual(await askAll(), all(200, 'close', false), 'and opens another connection as long as the server listens');
  await server.close();
  for (const agent of agents) agent.destroy();
});

test('a request that is on its way when the server closes is served, on a connection that was idle or has never been used', async () => {
  const server = await startTestServer();
  const used = await connectRaw(server.port, rawRequest(server.anonKey));
  await used.answers(1);
  const fresh = await connectRaw(server.port);
  const silent = await connectRaw(server.port);
  // All connections are accepted by now.
  const last = await connectRaw(server.port, rawRequest(server.anonKey));
  await last.answers(1);
  const closing = server.close();
  for (const client of [used, fresh]) client.socket.write(rawRequest(server.anonKey));
  const ends = (await Promise.all([used, fresh, silent, last].map((client) => client.closed()))).map((answers) =>
    answers.map(({ status, headers }) => [status, headers.get('connection')]),
  );
  const kept = [200, 'keep-alive'];
  assert.deepEqual(ends, [[kept, [200, 'close']], [[200, 'close']], [], [kept]]);
  await closing;
  await assert.rejects(fetch(server.url), 'the port is closed');
});

test('connections that wait to be accepted when the server closes are accepted, and their requests served', async () => {
  const server = await startTestServer();
  const closing = server.close();
  const opening = Array.from({ length: 30 }, () => connectRaw(server.port, rawRequest(server.anonKey)));
  // The server accepts none of them before the time is over in which it waits for connections.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  for (const client of await Promise.all(opening)) {
    const answers = await client.closed();
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('connection')]),
      [[200, 'close']],
    );
  }
  await closing;
});

test('requests in all are bounded, before their keys are looked at', () =>
  withGatedServer({ maxRequests: 3 }, async (server) => {
    const inHand = Array.from({ length: 3 }, () => server.post());
    await server.reached(3);
    await assertOverloaded(await server.post());
    await assertOverloaded(await server.post({ headers: { apiKey: 'x' } }));
    assert.equal((await fetch(`${server.url}/health/live`)).status, 200);
    assert.equal((await fetch(`${server.url}/metrics`)).status, 200);
    server.open();
    for (const response of await Promise.all(inHand)) assert.equal(response.status, 200);
    assert.equal((await server.post()).status, 200);
    assert.equal(server.calls.length, 4);
  }));

test('a refused request is answered while its body is still to come', () =>
  withGatedServer({ maxRequests: 1 }, async (server) => {
    const inHand = server.post();
    await server.reached(1);
    const client = await connectRaw(server.port, rawRequest(server.anonKey).slice(0, -5));
    assert.equal((await client.answers(1))[0]?.status, 503);
    client.socket.destroy();
    server.open();
    assert.equal((await inHand).status, 200);
  }));

test('requests of one address are bounded, and those of another one are served', () =>
  withGatedServer({ maxClientRequests: 2, trustProxy: 'loopback' }, async (server) => {
    const from = (address: string): Promise<Response> => server.post({ headers: { 'x-forwarded-for': address } });
    const inHand = [from('198.51.100.7'), from('198.51.100.7')];
    await server.reached(2);
    assert.match(await assertOverloaded(await from('198.51.100.7')), /This client/);
    inHand.push(from('198.51.100.8'), from('2001:db8::1'), from('2001:db8::2'));
    await server.reached(5);
    await assertOverloaded(await from('2001:db8::3'));
    server.open();
    for (const response of await Promise.all(inHand)) assert.equal(response.status, 200);
  }));

test('whoever is not a trusted proxy does not choose its address', () =>
  withGatedServer({ maxClientRequests: 1, trustProxy: '192.0.2.1' }, async (server) => {
    const inHand = server.post({ headers: { 'x-forwarded-for': '198.51.100.7' } });
    await server.reached(1);
    await assertOverloaded(await server.post({ headers: { 'x-forwarded-for': '198.51.100.8' } }));
    server.open();
    assert.equal((await inHand).status, 200);
  }));

test('requests of one user are bounded, from wherever they come, and those of another one are served', () =>
  withGatedServer({ maxClientRequests: 2, trustProxy: 'loopback' }, async (server) => {
    const tokens = new Map<string, string>();
    for (const sub of ['alice', 'bob']) tokens.set(sub, await signKey(secret, 'authenticated', '1h', { sub }));
    const ask = (sub: string, address: string): Promise<Response> =>
      server.post({ headers: { authorization: `Bearer ${tokens.get(sub)}`, 'x-forwarded-for': address } });
    const inHand = [ask('alice', '198.51.100.1'), ask('alice', '198.51.100.2')];
    await server.reached(2);
    await assertOverloaded(await ask('alice', '198.51.100.3'));
    inHand.push(ask('bob', '198.51.100.3'));
    await server.reached(3);
    server.open();
    for (const response of await Promise.all(inHand)) assert.equal(response.status, 200);
    const clients = server.calls.map(({ options }) => options.client);
    assert.deepEqual([clients[0], clients[1], new Set(clients).size], [clients[1], clients[0], 2]);
  }));

test('who is not known as a user is one client with those of its role at its address', () =>
  withGatedServer({ trustProxy: 'loopback' }, async (server) => {
    server.open();
    const service = await signKey(secret, 'service_role');
    const clientOf = async (apiKey: string, address: string): Promise<string | undefined> => {
      await server.post({ headers: { apiKey, 'x-forwarded-for': address } });
      return server.calls.at(-1)?.options.client;
    };
    const first = await clientOf(server.anonKey, '198.51.100.1');
    assert.equal(await clientOf(server.anonKey, '198.51.100.1'), first);
    assert.notEqual(await clientOf(server.anonKey, '198.51.100.2'), first);
    assert.notEqual(await clientOf(service, '198.51.100.1'), first);
  }));

test('a client that leaves makes no room before the work for it has ended', () =>
  withGatedServer({ maxRequests: 1 }, async (server) => {
    const client = await connectRaw(server.port, rawRequest(server.anonKey));
    await server.reached(1);
    const { deadline } = server.calls[0]?.options ?? {};
    client.socket.destroy();
    while (deadline?.stopped !== 'abandoned') await new Promise(setImmediate);
    await assertOverloaded(await server.post());
    server.open();
    let response = await server.post();
    while (response.status === 503) response = await server.post();
    assert.equal(response.status, 200);
  }));

test('bytes of bodies are bounded', () =>
  withGatedServer({ maxBytesInFlight: 100_000 }, async (server) => {
    const body = `{"query":"{ a }","x":"${'x'.repeat(20_000)}"}`;
    const inHand = [server.post({ body }), server.post({ body })];
    await server.reached(2);
    assert.match(await assertOverloaded(await server.post({ body })), /too large/);
    server.open();
    for (const response of await Promise.all(inHand)) assert.equal(response.status, 200);
    assert.equal((await server.post()).status, 200);
  }));

test('bytes of bodies that are still being received are bounded', () =>
  withGatedServer({ maxBytesInFlight: 8_000_000, bodyLimit: 32_000_000, trustProxy: 'loopback' }, async (server) => {
    server.open();
    const whole = (address: string): string =>
      rawRequest(server.anonKey, { lines: [`x-forwarded-for: ${address}`], body: `{"query":"{ a }","x":"${'x'.repeat(3_000_000)}"}` });
    // All but the end: nothing of it can be worked on.
    const begin = (address: string): Promise<RawClient> => connectRaw(server.port, whole(address).slice(0, -1));
    const clients = [await begin('198.51.100.1'), await begin('198.51.100.1')];
    const refused = await Promise.any(clients.map(async (client) => ({ client, answers: await client.answers(1) })));
    assert.deepEqual(
      refused.answers.map(({ status }) => status),
      [503],
    );
    assert.match(refused.answers[0]!.body, /OVERLOADED/);
    // The server waits for the rest of what it refused, when it closes, too.
    refused.client.socket.destroy();
    const other = await begin('198.51.100.2');
    assert.equal((await server.post({ headers: { 'x-forwarded-for': '198.51.100.2' } })).status, 200);
    for (const client of [other, ...clients.filter((each) => each !== refused.client)]) {
      client.socket.write('}');
      assert.deepEqual(
        (await client.answers(1)).map(({ status }) => status),
        [200],
      );
    }
  }));

test('bytes of responses that nobody reads are bounded', () =>
  withGatedServer({ maxBytesInFlight: 50_000_000, trustProxy: 'loopback', text: `"${'x'.repeat(30_000_000)}"` }, async (server) => {
    server.open();
    const reader = await connectRaw(server.port);
    reader.socket.pause();
    reader.socket.write(rawRequest(server.anonKey, { lines: ['x-forwarded-for: 198.51.100.1'] }));
    await server.reached(1);
    const from = (address: string): Promise<Response> =>
      server.post({ headers: { 'x-forwarded-for': address, 'accept-encoding': 'zstd' } });
    assert.match(await assertOverloaded(await from('198.51.100.1')), /of this client/);
    assert.equal((await from('198.51.100.2')).status, 200);
    reader.socket.destroy();
    let response = await from('198.51.100.1');
    while (response.status === 503) response = await from('198.51.100.1');
    assert.equal(response.status, 200);
  }));

test('answers that come together are bounded, but for those of mutations', async () => {
  const text = `"${'x'.repeat(30_000_000)}"`;
  for (const isMutation of [false, true]) {
    const execute = async (): Promise<RawResponse> => {
      if (server.calls.length < 4) await gate.promise;
      gate.resolve();
      return { ...rawResponse(text), isMutation };
    };
    const gate = Promise.withResolvers<void>();
    const server = await startTestServer({ execute, maxBytesInFlight: 100_000_000 });
    const clients = await Promise.all(Array.from({ length: 4 }, () => connectRaw(server.port)));
    for (const { socket } of clients) socket.pause().write(rawRequest(server.anonKey));
    await gate.promise;
    // Then all are read, and each is a response.
    for (const { socket } of clients) socket.resume();
    const answers = await Promise.all(clients.map((client) => client.answers(1)));
    const statuses = answers.map(([only]) => only?.status).sort();
    assert.deepEqual(statuses, isMutation ? [200, 200, 200, 200] : [200, 200, 503, 503]);
    for (const { socket } of clients) socket.destroy();
    await server.close();
  }
});

test('connections are bounded', () =>
  withGatedServer({ maxConnections: 2 }, async (server) => {
    const kept = [await connectRaw(server.port), await connectRaw(server.port)];
    const more = await connectRaw(server.port);
    await more.closed();
    server.open();
    for (const client of kept) {
      client.socket.write(rawRequest(server.anonKey));
      assert.equal((await client.answers(1))[0]?.status, 200);
      client.socket.destroy();
    }
  }));

test('metrics that nobody reads count as bytes in flight', async () => {
  await withGatedServer({ maxBytesInFlight: 64 * 1024, maxPipelinedRequests: 50 }, async ({ port }) => {
    const count = 50;
    const client = await connectRaw(port, 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(count));
    const answers = await client.answers(count);
    const refused = answers.filter(({ status }) => status === 503);
    assert.ok(answers[0]!.status === 200 && refused.length > count / 2, `${refused.length} refused`);
    assert.match(refused[0]!.body, /"code":"OVERLOADED"/);
    client.socket.destroy();
    const again = await connectRaw(port, 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
    assert.equal((await again.answers(1))[0]!.status, 200, 'the bytes were released');
    again.socket.destroy();
  });
});

/** Time: how long clients may take to send and to read, how long a request may run, and what becomes of it when nobody waits for it any more. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { SignJWT } from 'jose';
import type { StopReason } from '../../src/budget/deadline.ts';
import { ApiError } from '../../src/errors/api-error.ts';
import { until } from '../support/until.ts';
import { connectRaw, rawRequest } from './raw-client.ts';
import { type Execute, rawResponse, readError, type TestServer, withServer } from './start-test-server.ts';

/** A graph that answers nothing, and notes why each request was stopped. */
function createStuckGraph(): { readonly execute: Execute; readonly stops: StopReason[]; stopped(count: number): Promise<void> } {
  const stops: StopReason[] = [];
  let notice = Promise.withResolvers<void>();
  return {
    execute: (_request, _caller, { deadline }) =>
      new Promise((_resolve, reject) => {
        deadline?.onStop((reason) => {
          stops.push(reason);
          notice.resolve();
          notice = Promise.withResolvers();
          reject(new ApiError(reason === 'expired' ? 'TIMEOUT' : 'CANCELLED', 'Stopped.'));
        });
      }),
    stops,
    stopped: async (count) => {
      while (stops.length < count) await notice.promise;
    },
  };
}

/** Writes a little again and again, until the connection is closed. */
function drip(socket: Socket, bytes: string): Promise<void> {
  return until(() => {
    if (socket.writable) socket.write(bytes);
    return socket.closed;
  });
}

async function inFlight(server: TestServer): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^rowgraph_requests_in_flight (.*)$/m.exec(text)?.[1]);
}

test('a head that does not come in time is refused, however slowly it goes on', () =>
  withServer({ headersTimeout: 100 }, async (server) => {
    const silent = await connectRaw(server.port);
    const slow = await connectRaw(server.port, 'POST /graphql/v1 HTTP/1.1\r\n');
    const dripping = drip(slow.socket, 'x: y\r\n');
    for (const client of [silent, slow]) {
      const [answer] = await client.closed();
      assert.equal(answer?.status, 408);
      assert.match(answer?.body ?? '', /"REQUEST_TIMEOUT"/);
    }
    await dripping;
    // A request may be late on a busy machine, too.
    await until(async () => (await server.post()).status === 200);
  }));

test('a body that does not come in time is refused, however slowly it goes on', () =>
  withServer({ receiveTimeout: 100 }, async (server) => {
    const half = await connectRaw(server.port, rawRequest(server.anonKey).slice(0, -5));
    const slow = await connectRaw(
      server.port,
      rawRequest(server.anonKey)
        .replace(/content-length: \d+/, 'transfer-encoding: chunked')
        .slice(0, -26),
    );
    const dripping = drip(slow.socket, '1\r\n \r\n');
    for (const client of [half, slow]) {
      const [answer] = await client.closed();
      assert.deepEqual([answer?.status, answer?.headers.get('connection')], [408, 'close']);
      assert.match(answer?.body ?? '', /"REQUEST_TIMEOUT"/);
    }
    await dripping;
    assert.equal(server.calls.length, 0);
    assert.equal(await inFlight(server), 0);
  }));

test('the deadline of a request holds while its body is read', () =>
  withServer({ requestTimeout: 50 }, async (server) => {
    await until(async () => {
      const client = await connectRaw(server.port, rawRequest(server.anonKey).slice(0, -5));
      const [answer] = await client.answers(1);
      // On a busy machine, its time may be up before its body is read.
      if (answer?.status === 200 && answer.body.includes('"TIMEOUT"')) return void client.socket.destroy();
      assert.equal(answer?.status, 408);
      assert.match(answer?.body ?? '', /"REQUEST_TIMEOUT"/);
      await client.closed();
      return true;
    });
  }));

test('the deadline of a request holds while the keys for its token are fetched', async () => {
  const publicKeys = { currentSet: () => null, find: () => new Promise<never>(() => {}) };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const token = await new SignJWT({ role: 'anon' }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
  await withServer({ tokens: { publicKeys } }, async (server) => {
    const response = await server.post({ headers: { authorization: `Bearer ${token}`, prefer: 'wait=0.05' } });
    assert.equal((await readError(response)).code, 'TIMEOUT');
    const client = await connectRaw(server.port, rawRequest(server.anonKey, { lines: [`authorization: Bearer ${token}`] }));
    await until(async () => (await inFlight(server)) === 1);
    client.socket.destroy();
    await until(async () => (await inFlight(server)) === 0);
  });
});

test('a refused request whose body does not come ends with its connection', () =>
  withServer({ receiveTimeout: 100 }, async (server) => {
    const client = await connectRaw(server.port, rawRequest('x').slice(0, -5));
    assert.deepEqual(
      (await client.closed()).map(({ status }) => status),
      [401],
    );
  }));

test('a response that nobody reads ends with its connection', () =>
  withServer({ writeTimeout: 50, execute: async () => rawResponse(`"${'x'.repeat(20_000_000)}"`) }, async (server) => {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    // It is never read from, so only the server can end it: what the client sends then fails.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(rawRequest(server.anonKey));
    await Promise.all([closed, drip(socket, ' ')]);
    assert.equal(server.calls.length, 1);
  }));

test('a client that sends broken HTTP and reads nothing is disconnected', () =>
  withServer({ writeTimeout: 50 }, async (server) => {
    // The network takes nothing more, as when the client has not read earlier responses.
    const block = (message: unknown): void => {
      const { socket } = message as { readonly socket: Socket };
      if (socket.localPort === server.port) Object.assign(socket, { _write: () => {}, _writev: () => {} });
    };
    subscribe('net.server.socket', block);
    try {
      const client = await connectRaw(server.port, 'nonsense\r\n\r\n');
      assert.deepEqual(await client.closed(), []);
    } finally {
      unsubscribe('net.server.socket', block);
    }
  }));

test('a large response that is read comes whole', () =>
  withServer({ writeTimeout: 60_000, execute: async () => rawResponse(`"${'x'.repeat(20_000_000)}"`) }, async (server) => {
    const response = await server.post({ headers: { 'accept-encoding': 'identity' } });
    assert.equal((await response.text()).length, 20_000_002);
  }));

test('the deadline goes with the request; a client may ask for less, and not for more', () =>
  withServer({ requestTimeout: 20_000 }, async (server) => {
    /** Between which times a deadline has begun that expires so many milliseconds later. */
    const isWithin = async (prefer: string | undefined, milliseconds: number): Promise<boolean> => {
      const before = performance.now();
      await server.post({ headers: { prefer } });
      const began = (server.calls.at(-1)?.options.deadline?.expiresAt ?? Number.NaN) - milliseconds;
      return began >= before && began <= performance.now();
    };
    const cases: readonly (readonly [prefer: string | undefined, milliseconds: number])[] = [
      [undefined, 20_000],
      ['wait=5', 5000],
      ['return=minimal, wait=2.5', 2500],
      ['Wait="3"; x=y', 3000],
      ['wait=100', 20_000],
      ['wait=-1', 20_000],
      ['wait=NaN', 20_000],
      ['wait=1e1', 20_000],
      ['await=1', 20_000],
      ['wait', 20_000],
      // Nothing is answered in no time.
      ['wait=0', 20_000],
      ['wait=00', 20_000],
      ['wait="0.0"', 20_000],
      ['wait=007', 7000],
      ['wait=99999999999999999999', 20_000],
      ['wait="5', 20_000],
      ['wait; x=5', 20_000],
      // The first counts, and a comma inside quotes separates nothing.
      ['wait=3, wait=2', 3000],
      ['wait=soon, wait=2', 20_000],
      ['x="a, wait=1", wait=2', 2000],
    ];
    for (const [prefer, milliseconds] of cases) assert.ok(await isWithin(prefer, milliseconds), prefer);
  }));

test('a request that takes too long is stopped', async () => {
  const graph = createStuckGraph();
  await withServer({ requestTimeout: 50, execute: graph.execute }, async (server) => {
    // On a busy machine its time may be over before the graph is asked.
    let response = await server.post();
    while (server.calls.length === 0) response = await server.post();
    assert.equal((await readError(response)).code, 'TIMEOUT');
    assert.deepEqual(graph.stops, ['expired']);
  });
});

test('a client that goes away stops its request, whether it closes or resets the connection', async () => {
  const graph = createStuckGraph();
  await withServer({ execute: graph.execute }, async (server) => {
    for (const [count, leave] of (['end', 'destroy', 'resetAndDestroy'] as const).entries()) {
      const client = await connectRaw(server.port, rawRequest(server.anonKey));
      while (server.calls.length <= count) await new Promise(setImmediate);
      client.socket[leave]();
      await graph.stopped(count + 1);
    }
    assert.deepEqual(graph.stops, ['abandoned', 'abandoned', 'abandoned']);
    while ((await inFlight(server)) > 0);
  });
});

test('a client that goes away stops all requests that it has pipelined', async () => {
  const graph = createStuckGraph();
  await withServer({ execute: graph.execute }, async (server) => {
    const client = await connectRaw(server.port, rawRequest(server.anonKey).repeat(20));
    while (server.calls.length < 20) await new Promise(setImmediate);
    client.socket.destroy();
    await graph.stopped(20);
    while ((await inFlight(server)) > 0);
  });
});

for (const bytes of ['CONNECT x:443 HTTP/1.1\r\n\r\nmore', 'GET / HTTP/1.1\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'])
  test(`a client that goes away stops what it has asked for before ${bytes.split(' ', 1)[0]}`, async () => {
    const graph = createStuckGraph();
    await withServer({ execute: graph.execute }, async (server) => {
      for (const [index, leave] of (['end', 'destroy', 'resetAndDestroy'] as const).entries()) {
        const client = await connectRaw(server.port, rawRequest(server.anonKey).repeat(2) + bytes);
        while (server.calls.length < 2 * (index + 1)) await new Promise(setImmediate);
        client.socket[leave]();
        await graph.stopped(2 * (index + 1));
      }
      while ((await inFlight(server)) > 0);
    });
  });

test('a client that goes away while its response is written leaves nothing behind', () =>
  withServer({ execute: async () => rawResponse(`"${'x'.repeat(20_000_000)}"`), maxBytesInFlight: 50_000_000 }, async (server) => {
    for (let count = 0; count < 10; count++) {
      const client = await connectRaw(server.port, rawRequest(server.anonKey));
      await once(client.socket, 'data');
      client.socket.destroy();
      await client.closed();
    }
    // What was held for them is free again, or this would be refused.
    let response = await server.post();
    while (response.status === 503) response = await server.post();
    assert.equal(response.status, 200);
    await response.text();
  }));

test('the deadline of a request that was answered stops nothing', () =>
  withServer({ requestTimeout: 100 }, async (server) => {
    // A request may be late on a busy machine, too.
    await until(async () => (await server.post()).status === 200 && server.calls.length > 0);
    const deadline = server.calls.at(-1)?.options.deadline;
    await until(() => deadline?.remaining === 0);
    assert.equal(deadline?.stopped, null);
  }));

/** What an operator relies on: health, metrics, limits, and a stop that loses no request. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { RawResponse } from '../../src/engine/request.ts';
import { until } from '../support/until.ts';
import { connectRaw, rawRequest } from './raw-client.ts';
import { rawResponse, readError, startTestServer, type TestServer, withServer } from './start-test-server.ts';

/** A promise that is resolved from outside. */
function createGate(): { readonly opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Keeps the event loop busy. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

async function readMetric(server: TestServer, line: RegExp): Promise<number> {
  const response = await fetch(`${server.url}/metrics`);
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain/);
  const found = line.exec(await response.text());
  return Number(found?.[1] ?? Number.NaN);
}

test('live says that the process answers, whatever the database does', () =>
  withServer({ ping: () => Promise.reject(new Error('down')) }, async (server) => {
    const response = await fetch(`${server.url}/health/live`);
    assert.deepEqual([response.status, await response.json()], [200, { status: 'live' }]);
  }));

test('ready follows the database, and does not ask it for each request', async () => {
  let up = true;
  let pings = 0;
  const ping = async (): Promise<void> => {
    pings += 1;
    if (!up) throw new Error('connection refused at 10.0.0.1');
  };
  await withServer({ ping }, async (server) => {
    const ask = (): Promise<Response> => fetch(`${server.url}/health/ready`);
    const first = await Promise.all(Array.from({ length: 200 }, ask));
    assert.ok(first.every(({ status }) => status === 200));
    assert.ok(pings < 100, `${pings} pings`);
    up = false;
    let response: Response;
    do response = await ask();
    while (response.status === 200);
    const { code, message } = await readError(response);
    assert.deepEqual([response.status, code], [503, 'DATABASE_UNAVAILABLE']);
    assert.ok(!message.includes('10.0.0.1'));
    up = true;
    await until(async () => (await ask()).status === 200);
  });
});

test('draining says 503 at ready while all else is served, then close ends it', async () => {
  const server = await startTestServer({ drainMilliseconds: 20 });
  assert.equal((await fetch(`${server.url}/health/ready`)).status, 200);
  const drained = server.drain();
  const ready = await fetch(`${server.url}/health/ready`);
  assert.deepEqual([ready.status, (await readError(ready)).code], [503, 'SHUTTING_DOWN']);
  assert.equal((await fetch(`${server.url}/health/live`)).status, 200);
  const response = await server.post();
  assert.deepEqual([response.status, response.headers.get('connection')], [200, 'close']);
  await drained;
  await server.close();
});

test('all that a connection has pipelined is answered on close', async () => {
  const gate = createGate();
  const server = await startTestServer({ execute: () => gate.opened.then(() => rawResponse('{"data":{"done":true}}')) });
  const client = await connectRaw(server.port, rawRequest(server.anonKey).repeat(3));
  await until(() => server.calls.length >= 3);
  const closing = server.close();
  gate.open();
  const answers = await client.closed();
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get('connection')]),
    [
      [200, 'keep-alive'],
      [200, 'keep-alive'],
      [200, 'close'],
    ],
  );
  await closing;
});

test('metrics count requests by code and role, their time, and those in flight', async () => {
  const gate = createGate();
  const execute = async (request: { query: string }): Promise<RawResponse> => {
    if (request.query === 'wait') await gate.opened;
    return request.query === 'bad' ? rawResponse('{"errors":[]}', 'GRAPHQL_PARSE_FAILED') : rawResponse('{"data":{}}');
  };
  await withServer({ execute }, async (server) => {
    await server.post();
    await server.post();
    await server.post({ body: { query: 'bad' } });
    await server.post({ headers: { apiKey: 'x' } });
    const waiting = server.post({ body: { query: 'wait' } });
    await until(() => server.calls.length === 4);
    assert.equal(await readMetric(server, /^rowgraph_requests_in_flight (.*)$/m), 1);
    gate.open();
    await waiting;
    assert.equal(await readMetric(server, /^rowgraph_requests_in_flight (.*)$/m), 0);
    assert.equal(await readMetric(server, /^rowgraph_requests_total\{code="OK",role="anon"\} (.*)$/m), 3);
    assert.equal(await readMetric(server, /^rowgraph_requests_total\{code="GRAPHQL_PARSE_FAILED",role="anon"\} (.*)$/m), 1);
    assert.equal(await readMetric(server, /^rowgraph_requests_total\{code="UNAUTHENTICATED",role=""\} (.*)$/m), 1);
    assert.equal(await readMetric(server, /^rowgraph_request_duration_seconds_count (.*)$/m), 5);
    assert.equal(await readMetric(server, /^rowgraph_cache_misses\{cache="token"\} (.*)$/m), 2);
    assert.equal(await readMetric(server, /^rowgraph_cache_hits\{cache="token"\} (.*)$/m), 3);
    assert.equal(await readMetric(server, /^rowgraph_cache_misses\{cache="document"\} (.*)$/m), 3);
    assert.equal(await readMetric(server, /^rowgraph_cache_entries\{cache="token"\} (.*)$/m), 1);
    assert.ok((await readMetric(server, /^process_resident_memory_bytes (.*)$/m)) > 0);
  });
});

test('a request in flight is finished on close, new connections are refused, and idle ones end', async () => {
  const gate = createGate();
  const server = await startTestServer({ execute: () => gate.opened.then(() => rawResponse('{"data":{"done":true}}')) });
  const idle = connect(server.port, '127.0.0.1');
  idle.on('error', () => {});
  const idleEnded = new Promise((resolve) => idle.on('close', resolve));
  await new Promise((resolve) => idle.on('connect', resolve));
  const inFlight = server.post();
  await until(() => server.calls.length > 0);
  const closing = server.close();
  await idleEnded;
  await assert.rejects(fetch(`${server.url}/health/live`));
  gate.open();
  const response = await inFlight;
  assert.deepEqual([response.status, await response.json()], [200, { data: { done: true } }]);
  assert.equal(response.headers.get('connection'), 'close');
  await closing;
  await server.close();
});

test('a head of which only a part has come does not keep the server from closing; a request in flight does', async () => {
  const gate = createGate();
  const execute = () => (server.calls.length > 1 ? gate.opened : Promise.resolve()).then(() => rawResponse('{"data":{"done":true}}'));
  const server: TestServer = await startTestServer({ execute, closeMilliseconds: 3_600_000 });
  const half = await connectRaw(server.port, `${rawRequest(server.anonKey)}POST /graphql/v1 HTTP/1.1\r\nho`);
  await half.answers(1);
  const inFlight = server.post();
  await until(() => server.calls.length > 1);
  const closing = server.close();
  assert.equal((await half.closed()).length, 1);
  gate.open();
  assert.equal((await inFlight).status, 200);
  await closing;
});

test('close cuts off what does not finish in time', async () => {
  const server = await startTestServer({ execute: () => new Promise(() => {}), closeMilliseconds: 20 });
  const inFlight = assert.rejects(server.post());
  await until(() => server.calls.length > 0);
  await server.close();
  await inFlight;
});

test('kept connections are closed by close', async () => {
  // Nothing is cut off: it would not end otherwise.
  const server = await startTestServer({ closeMilliseconds: 3_600_000 });
  await Promise.all(Array.from({ length: 5 }, () => server.post().then((response) => response.text())));
  await server.close();
});

test('a port that is taken is an error', () =>
  withServer({}, async (server) => {
    await assert.rejects(startTestServer({ port: server.port }), /EADDRINUSE/);
  }));

test('the server says where it listens', async () => {
  await withServer({ host: '::1' }, async ({ url, port }) => assert.equal(url, `http://[::1]:${port}`));
  await withServer({ host: '0.0.0.0' }, async (server) => {
    assert.equal(server.url, `http://localhost:${server.port}`);
    assert.equal((await server.post()).status, 200);
  });
  await withServer({ host: 'localhost' }, async (server) => {
    assert.equal(server.url, `http://localhost:${server.port}`);
    assert.equal((await server.post()).status, 200);
  });
});

test('a rate limit holds for the endpoint, says when to try again, and leaves health alone', () =>
  withServer({ rateLimit: { max: 3, windowMilliseconds: 3_600_000 } }, async (server) => {
    for (let count = 0; count < 3; count++) assert.equal((await server.post()).status, 200);
    const response = await server.post({ headers: { origin: 'https://app.example' } });
    assert.deepEqual([response.status, (await readError(response)).code], [429, 'RATE_LIMITED']);
    assert.ok(Number(response.headers.get('retry-after')) > 0);
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    assert.equal(server.calls.length, 3);
    assert.equal((await fetch(`${server.url}/health/live`)).status, 200);
  }));

test('behind a proxy that is trusted, the limit is per client', () =>
  withServer({ rateLimit: { max: 1, windowMilliseconds: 3_600_000 }, trustProxy: true }, async (server) => {
    const statuses = [];
    for (const client of ['10.0.0.1', '10.0.0.2', '10.0.0.1'])
      statuses.push((await server.post({ headers: { 'x-forwarded-for': client } })).status);
    assert.deepEqual(statuses, [200, 200, 429]);
  }));

test('a server whose event loop is late refuses requests, while health answers', () =>
  withServer({ maxEventLoopDelay: 20 }, async (server) => {
    // On a busy machine the event loop may be late without our help.
    await until(async () => (await server.post()).status === 200);
    let refused: Response;
    do {
      block(120);
      refused = await server.post();
    } while (refused.status !== 503);
    assert.equal((await readError(refused)).code, 'OVERLOADED');
    assert.ok(refused.headers.get('retry-after'));
    assert.equal((await fetch(`${server.url}/health/live`)).status, 200);
  }));

test('an empty secret is refused', async () => {
  await assert.rejects(startTestServer({ jwtSecret: '' }), /secret must not be empty/);
});

/** The endpoint as a handler of the Fetch standard: a `Request` in, a `Response` out, and what happens in between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import type { Event } from '../../src/events.ts';
import { createFetchHandler, type FetchHandler, type FetchHandlerOptions } from '../../src/http/transport/create-fetch-handler.ts';
import { answer, brokenResponse, type Execute, rawResponse, readError, runUntilStopped, secret } from './start-test-server.ts';

const url = 'https://example.com/anywhere';
const query = '{ __typename }';
const key = await signKey(secret, 'anon');
const headers = { apiKey: key, 'content-type': 'application/json' };

interface Opened {
  readonly handler: FetchHandler;
  /** Those of the requests that are over. */
  readonly finished: Event[];
}

function open({
  execute = async () => rawResponse(answer),
  ...options
}: Partial<FetchHandlerOptions> & { execute?: Execute } = {}): Opened {
  const finished: Event[] = [];
  const observe = (event: Event): void => {
    if (event.kind === 'request-finished') finished.push(event);
  };
  const executeRaw = ((request, caller, given = {}) => execute(request, caller, given)) as Execute;
  return { handler: createFetchHandler({ executeRaw: executeRaw as never }, { jwtSecret: secret, observe, ...options }), finished };
}

function postOf(body: unknown = { query }, more: RequestInit = {}): Request {
  const payload = typeof body === 'string' || body instanceof ReadableStream ? body : JSON.stringify(body);
  return new Request(url, { method: 'POST', headers, body: payload, duplex: 'half', ...more } as RequestInit);
}

test('it does what the server does', async () => {
  const { handler, finished } = open({ maxBatch: 2, cacheControl: 'private, max-age=5', serverTiming: true });
  const response = await handler(postOf());
  assert.deepEqual([response.status, await response.text()], [200, answer]);
  assert.deepEqual(
    ['content-type', 'content-length', 'vary', 'x-content-type-options', 'connection'].map((name) => response.headers.get(name)),
    ['application/json; charset=utf-8', String(answer.length), 'Accept-Encoding', 'nosniff', null],
  );
  assert.match(response.headers.get('server-timing') ?? '', /total;dur=/);
  assert.equal(await (await handler(postOf([{ query }, { query }]))).text(), `[${answer},${answer}]`);
  const target = `${url}?query=${encodeURIComponent(query)}`;
  const got = await handler(new Request(target, { headers }));
  assert.deepEqual([got.status, await got.text(), got.headers.get('cache-control')], [200, answer, 'private, max-age=5']);
  const again = await handler(new Request(target, { headers: { ...headers, 'if-none-match': got.headers.get('etag')! } }));
  assert.deepEqual([again.status, again.body], [304, null]);
  const head = await handler(new Request(target, { method: 'HEAD', headers }));
  assert.deepEqual([head.status, head.body, head.headers.get('content-length')], [200, null, String(answer.length)]);
  const asked = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
  const preflight = await handler(new Request(url, { method: 'OPTIONS', headers: asked }));
  assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-origin')], [204, '*']);
  assert.equal(finished.length, 5);
  const given = await handler(postOf({ query }, { headers: { ...headers, 'x-request-id': 'mine' } }));
  assert.equal(given.headers.get('x-request-id'), 'mine');
});

test('wrong requests get errors in the GraphQL format', async () => {
  const { handler } = open({ bodyLimit: 100 });
  const used = postOf();
  await used.text();
  const locked = postOf();
  locked.body?.getReader();
  const brokenBody = new ReadableStream({ pull: (controller) => controller.error(new Error('broken')) });
  const oddBody = new ReadableStream({ pull: (controller) => controller.enqueue('text') });
  const repeated = new Headers(headers);
  for (const token of ['x', 'y']) repeated.append('authorization', `Bearer ${token}`);
  for (const [expected, request] of [
    ['BAD_REQUEST', postOf('{')],
    ['BAD_REQUEST', postOf('')],
    ['BAD_REQUEST', new Request(url, { method: 'POST', headers })],
    ['BAD_REQUEST', postOf(brokenBody)],
    ['BAD_REQUEST', postOf(oddBody)],
    ['BAD_REQUEST', postOf({ query }, { headers: repeated })],
    ['PAYLOAD_TOO_LARGE', postOf({ query: 'x'.repeat(200) })],
    ['PAYLOAD_TOO_LARGE', postOf('{}', { headers: { ...headers, 'content-length': '1000' } })],
    ['UNSUPPORTED_MEDIA_TYPE', postOf('{}', { headers: { ...headers, 'content-type': 'text/plain' } })],
    ['UNAUTHENTICATED', postOf('{}', { headers: { 'content-type': 'application/json', apiKey: 'wrong', __proto__: 'x' } as never })],
    ['METHOD_NOT_ALLOWED', new Request(url, { method: 'PUT', headers })],
    ['INTERNAL_ERROR', used],
    ['INTERNAL_ERROR', locked],
  ] as const)
    assert.equal((await readError(await handler(request))).code, expected);
  const again = postOf();
  await again.text();
  assert.match((await readError(await handler(again))).message, /^The body was read before rowgraph got the request.*request\.clone\(\)/);
});

test('a body that never ends, or that is too long, is not read on', async () => {
  const { handler } = open({ bodyLimit: 1_000_000 });
  const cancelled: unknown[] = [];
  const bodyOf = (pull: (controller: ReadableStreamDefaultController) => void) =>
    new ReadableStream({ pull, cancel: (reason) => void cancelled.push(reason) });
  const endless = await handler(postOf(bodyOf((controller) => controller.enqueue(new Uint8Array(100_000)))));
  assert.equal((await readError(endless)).code, 'PAYLOAD_TOO_LARGE');
  const silent = postOf(
    bodyOf(() => {}),
    { headers: { ...headers, prefer: 'wait=0.01' } },
  );
  assert.equal((await readError(await handler(silent))).code, 'REQUEST_TIMEOUT');
  assert.equal(cancelled.length, 2);
});

test('a response that cannot be sent is a defect, and the next request is served', async () => {
  const defects: Event[] = [];
  const executeRaw: Execute = async () => (defects.length === 0 ? brokenResponse() : rawResponse(answer));
  const observe = (event: Event): void => {
    if (event.kind === 'defect-found') defects.push(event);
  };
  const handler = createFetchHandler({ executeRaw: executeRaw as never }, { jwtSecret: secret, observe, maxRequests: 1 });
  const broken = await handler(postOf());
  assert.deepEqual([broken.status, await broken.text(), defects.length], [500, '', 1]);
  assert.equal(await (await handler(postOf())).text(), answer);
});

test('the signal of a request stops it, whenever it comes', async () => {
  const { execute, started, stops } = runUntilStopped();
  const { handler, finished } = open({ execute, maxRequests: 1 });
  const controller = new AbortController();
  const running = handler(postOf({ query }, { signal: controller.signal }));
  await started;
  assert.equal((await handler(postOf())).status, 503);
  controller.abort();
  assert.equal((await running).status, 499);
  assert.deepEqual(stops, ['abandoned']);
  const reading = new AbortController();
  const read = handler(postOf(new ReadableStream({ pull: () => reading.abort() }), { signal: reading.signal }));
  assert.equal((await read).status, 499);
  assert.equal((await handler(postOf({ query }, { signal: AbortSignal.abort() }))).status, 499);
  assert.deepEqual(
    finished.map((event) => event.kind === 'request-finished' && event.code),
    ['OVERLOADED', null, 'CANCELLED', 'CANCELLED'],
  );
  assert.equal(stops.length, 1);
});

const large = `{"data":{"text":"${'ab'.repeat(500_000)}"}}`;
const answerLarge: Execute = async () => {
  const bytes = Buffer.from(large);
  return { chunks: [bytes.subarray(0, 10), bytes.subarray(10)], length: bytes.length, errorCode: null };
};

test('a large response is a stream, and counts until it is read, cancelled, or given up', async () => {
  const { handler } = open({ execute: answerLarge, maxBytesInFlight: 1_500_000, maxRequests: 1 });
  const first = await handler(postOf());
  assert.equal((await handler(postOf())).status, 503, 'the first is not read');
  assert.equal(await first.text(), large);
  const second = await handler(postOf());
  const reader = second.body!.getReader();
  assert.ok((await reader.read()).value!.length <= 64 * 1024);
  await reader.cancel();
  const third = await handler(postOf());
  assert.equal(await third.text(), large);
  const { handler: hasty, finished } = open({ execute: answerLarge, writeTimeout: 1, maxRequests: 1 });
  const slow = await hasty(postOf());
  await assert.rejects(
    new Promise((_resolve, reject) => {
      const again = async (): Promise<void> => {
        const { status } = await hasty(postOf());
        if (status === 503) setImmediate(() => void again());
        else reject(new Error('there is room'));
      };
      void again();
    }),
    /there is room/,
  );
  await assert.rejects(slow.text(), /was not read in time/);
  assert.ok(finished.length > 1);
});

test('a large response is compressed for those who ask', async () => {
  const { handler } = open({ execute: answerLarge });
  const response = await handler(postOf({ query }, { headers: { ...headers, 'accept-encoding': 'gzip' } }));
  assert.equal(response.headers.get('content-encoding'), 'gzip');
  assert.equal(await new Response(response.body?.pipeThrough(new DecompressionStream('gzip'))).text(), large);
});

test('clients are told apart by the address that the server knows', async () => {
  const executeRaw = async () => rawResponse(answer);
  const options = { jwtSecret: secret, rateLimit: { max: 1, windowMilliseconds: 3_600_000 } };
  const handler = createFetchHandler({ executeRaw }, { ...options, clientAddress: (_request, info: { address: string }) => info.address });
  const statusOf = async (address: string): Promise<number> => (await handler(postOf(), { address })).status;
  assert.deepEqual([await statusOf('192.0.2.1'), await statusOf('192.0.2.2'), await statusOf('192.0.2.1')], [200, 200, 429]);
  assert.throws(
    () => createFetchHandler({ executeRaw }, options),
    /^Error: rateLimit counts requests per address\. Set clientAddress or trustProxy/,
  );
  assert.throws(
    () => createFetchHandler({ executeRaw }, { ...options, trustProxy: 'loopback' }),
    /^Error: trustProxy names proxies by their addresses\. Set clientAddress/,
  );
  const behind = createFetchHandler({ executeRaw }, { ...options, trustProxy: true });
  const forwarded = async (address: string): Promise<number> =>
    (await behind(postOf({ query }, { headers: { ...headers, 'x-forwarded-for': address } }))).status;
  assert.deepEqual([await forwarded('192.0.2.1'), await forwarded('192.0.2.2'), await forwarded('192.0.2.1:5123')], [200, 200, 429]);
  const listed = createFetchHandler({ executeRaw }, { ...options, trustProxy: '10.0.0.0/8', clientAddress: () => '10.0.0.1' });
  const listedStatus = async (address: string): Promise<number> =>
    (await listed(postOf({ query }, { headers: { ...headers, 'x-forwarded-for': address } }))).status;
  assert.deepEqual([await listedStatus('192.0.2.1'), await listedStatus('192.0.2.2'), await listedStatus('192.0.2.1')], [200, 200, 429]);
});

test('a client whose address cannot be found is served as an unknown one', async () => {
  const failures: unknown[] = [];
  const observe = (event: Event): void => {
    if (event.kind === 'defect-found') failures.push(event.error);
  };
  for (const clientAddress of [
    () => {
      throw new Error('no connection');
    },
    () => Promise.reject(new Error('later')) as never,
  ]) {
    const { handler } = open({ clientAddress, observe });
    assert.equal((await handler(postOf())).status, 200);
  }
  assert.deepEqual(failures.map(String), [
    'Error: The function "clientAddress" failed: no connection',
    'Error: The function "clientAddress" failed: it must return its value, not a promise',
  ]);
});

test('a graph that fails is a defect that is reported, and not thrown', async () => {
  const events: Event[] = [];
  const execute: Execute = async () => {
    throw new Error('a defect');
  };
  const { handler } = open({ execute, observe: (event) => void events.push(event) });
  assert.deepEqual((await readError(await handler(postOf()))).code, 'INTERNAL_ERROR');
  assert.ok(events.some(({ kind }) => kind === 'defect-found'));
});

test('bodies that are too large together are refused while they are read', async () => {
  const { handler, finished } = open({ maxBytesInFlight: 100_000 });
  const body = { query, padding: 'x'.repeat(60_000) };
  const { code, message } = await readError(await handler(postOf(body)));
  assert.equal(code, 'OVERLOADED');
  assert.match(message, /of this client/);
  assert.equal((await handler(postOf())).status, 200);
  assert.equal(finished.length, 2);
});

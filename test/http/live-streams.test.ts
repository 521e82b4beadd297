/** Subscriptions over HTTP: event streams, reserved ones too, and multipart messages. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SignJWT } from 'jose';
import { ApiError } from '../../src/errors/api-error.ts';
import { LiveGraph } from './live-graph.ts';
import { rawResponse, secret, startTestServer, type TestServer } from './start-test-server.ts';

const graph = new LiveGraph();
let server: TestServer;

before(async () => {
  server = await startTestServer({ subscribeRaw: graph.subscribeRaw });
});
after(() => server.close());

const apollo = 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json';
const events = 'text/event-stream';

/** A response whose text is read as it comes. */
async function open(accept: string, query = 'subscription { a }', more: RequestInit & { url?: string } = {}) {
  const { url = server.endpoint, headers = { 'accept-encoding': 'gzip, br' }, ...init } = more;
  const response = await fetch(url, {
    method: 'POST',
    body: init.method === 'GET' ? null : JSON.stringify({ query }),
    ...init,
    headers: { ...(url.includes('?') ? {} : { apikey: server.anonKey }), accept, 'content-type': 'application/json', ...headers },
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    response,
    cancel: () => reader.cancel(),
    /** Resolves with all text when it matches. */
    async until(pattern: RegExp): Promise<string> {
      while (!pattern.test(text)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`the response ended: ${text}`);
        text += value;
      }
      return text;
    },
    async end(): Promise<string> {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return text;
        text += value;
      }
    },
  };
}

describe('an event stream', () => {
  test('has an event for each answer, until its client goes', async () => {
    const stream = await open(events);
    assert.equal(stream.response.status, 200);
    assert.equal(stream.response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(stream.response.headers.get('content-encoding'), null);
    assert.match(stream.response.headers.get('cache-control')!, /no-transform/);
    assert.match(await stream.until(/\n\n.*\n.*\n\n/), /^retry: \d{4}\n\nevent: next\ndata: \{"data":\{"role":"anon".*\}\n\n$/);
    graph.publish({ a: 'line\nend' });
    assert.match(await stream.until(/line/), /data: \{"data":\{"a":"line\\nend"\}\}\n\n$/);
    await stream.cancel();
    await graph.until(0);
  });

  test('is had by GET, with the key in the URL, as EventSource does', async () => {
    const url = `${server.endpoint}?query=${encodeURIComponent('subscription { a }')}&apikey=${server.anonKey}`;
    const stream = await open(events, '', { url, method: 'GET' });
    await stream.until(/event: next/);
    await stream.cancel();
    await graph.until(0);
    assert.equal(
      server.log.some((line) => line.includes(server.anonKey)),
      false,
    );
  });

  test('has the errors of a request that is refused, and one answer to a query', async () => {
    const refused = await (await open(events, 'subscription { refuse }')).end();
    assert.match(refused, /event: next\ndata: \{"errors":\[\{"message":"one".*"two".*\}\n\nevent: complete\ndata: \n\n$/);
    const query = await (await open(events, '{ a }')).end();
    assert.match(query, /event: next\ndata: \{"data":\{"kind":"single"\}\}\n\nevent: complete\ndata: \n\n$/);
  });

  test('says why it ends', async () => {
    const stream = await open(events);
    await stream.until(/event: next/);
    graph.fail(new ApiError('GRAPHQL_VALIDATION_FAILED', 'gone'));
    assert.match(await stream.end(), /data: \{"errors":\[\{"message":"gone".*\n\nevent: complete\ndata: \n\n$/);
  });

  test('has no white space that ends its lines', async () => {
    const opening = open(events, 'subscription { wait }');
    await graph.until(1);
    const [subscription] = graph.open;
    subscription!.give({ ...rawResponse('{\r\n"data":\n{}}'), isLive: true });
    const stream = await opening;
    assert.match(await stream.until(/data: .*\n\n$/), /data: \{ {2}"data": \{\}\}\n\n$/);
    await stream.cancel();
  });

  test('is refused by status before it begins', async () => {
    const wrong = await fetch(server.endpoint, { headers: { accept: events } });
    assert.equal(wrong.status, 401);
    const head = await fetch(`${server.endpoint}?query=subscription{a}`, {
      method: 'HEAD',
      headers: { accept: events, apikey: server.anonKey },
    });
    assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream; charset=utf-8']);
    await graph.until(0);
  });
});

describe('a multipart message', () => {
  test('has a part for each answer, in the envelope of Apollo', async () => {
    const stream = await open(apollo);
    assert.equal(stream.response.headers.get('content-type'), 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0');
    await stream.until(/\r\n--graphql\r\nContent-Type: application\/json.*\r\n\r\n\{"payload":\{"data":\{"role".*\}\}\r\n--graphql$/);
    graph.publish({ a: 1 });
    await stream.until(/\{"payload":\{"data":\{"a":1\}\}\}\r\n--graphql$/);
    graph.fail(new ApiError('UNAUTHENTICATED', 'gone'));
    assert.match(await stream.end(), /\{"payload":null,"errors":\[\{"message":"gone".*\]\}\r\n--graphql--\r\n$/);
  });

  test('or plain', async () => {
    const stream = await open('multipart/mixed');
    assert.equal(stream.response.headers.get('content-type'), 'multipart/mixed; boundary="graphql"');
    await stream.until(/\r\n\r\n\{"data":\{"role".*\}\r\n--graphql$/);
    await stream.cancel();
    await graph.until(0);
  });

  test('is only for subscriptions if the client takes JSON', async () => {
    for (const accept of [apollo, 'application/graphql-response+json, application/json, text/event-stream, multipart/mixed']) {
      const query = await open(accept, '{ a }');
      assert.match(query.response.headers.get('content-type')!, /json/);
      assert.equal(await query.end(), '{"data":{"kind":"single"}}');
      const refused = await open(accept, 'subscription { refuse }');
      assert.match(refused.response.headers.get('content-type')!, /json/);
      assert.match(await refused.end(), /"one".*"two"/);
    }
  });
});

test('a batch has a single response, also for a client that takes streams', async () => {
  const own = await startTestServer({ subscribeRaw: graph.subscribeRaw, maxBatch: 2 });
  const body = [{ query: '{ a }' }, { query: '{ b }' }];
  const accepted = await own.post({ headers: { accept: 'application/json, text/event-stream' }, body });
  assert.equal(((await accepted.json()) as unknown[]).length, 2);
  const refused = await own.post({ headers: { accept: events }, body });
  assert.equal(refused.status, 400);
  await own.close();
});

describe('a reserved event stream', () => {
  const reserve = async (headers: Record<string, string> = {}) =>
    fetch(server.endpoint, { method: 'PUT', headers: { apikey: server.anonKey, ...headers } });
  const send = (token: string, method: string, { body = null, query = '', headers = {} as Record<string, string> } = {}) =>
    fetch(server.endpoint + query, {
      method,
      body,
      headers: { apikey: server.anonKey, 'content-type': 'application/json', 'x-graphql-event-stream-token': token, ...headers },
    });
  const operation = (operationId: string, query = 'subscription { a }') =>
    JSON.stringify({ query, extensions: { operationId } }) as unknown as null;

  test('carries the answers of several operations', async () => {
    const reserved = await reserve();
    assert.equal(reserved.status, 201);
    const token = await reserved.text();
    const stream = await open(events, '', { method: 'GET', url: `${server.endpoint}?token=${token}` });
    assert.equal(stream.response.status, 200);
    const second = await open(events, '', { method: 'GET', url: `${server.endpoint}?token=${token}` });
    assert.equal(second.response.status, 400);
    const accepted = await send(token, 'POST', { body: operation('1') });
    assert.deepEqual([accepted.status, await accepted.text()], [202, '']);
    await stream.until(/event: next\ndata: \{"id":"1","payload":\{"data":\{"role":"anon".*\}\}\n\n/);
    assert.equal((await send(token, 'POST', { body: operation('1') })).status, 400);
    await send(token, 'POST', { body: operation('2', '{ a }') });
    await stream.until(/"id":"2","payload":\{"data":\{"kind":"single"\}\}\}\n\nevent: complete\ndata: \{"id":"2"\}\n\n/);
    const refused = await send(token, 'POST', { body: operation('3', 'subscription { refuse }') });
    assert.match(await refused.text(), /"one"/);
    assert.equal((await send(token, 'DELETE', { query: '?operationId=1' })).status, 200);
    await graph.until(0);
    await send(token, 'POST', { body: operation('1') });
    await graph.until(1);
    await stream.cancel();
    await graph.until(0);
    assert.equal((await send(token, 'POST', { body: operation('1') })).status, 404);
  });

  test('knows an operation before its first answer', async () => {
    const token = await (await reserve()).text();
    const stream = await open(events, '', { method: 'GET', url: `${server.endpoint}?token=${token}` });
    const waiting = send(token, 'POST', { body: operation('1', 'subscription { wait }') });
    await graph.until(1);
    assert.equal((await send(token, 'POST', { body: operation('1') })).status, 400);
    assert.equal((await send(token, 'DELETE', { query: '?operationId=1' })).status, 200);
    graph.publish({ a: 1 });
    assert.equal((await waiting).status, 202);
    await graph.until(0);
    await send(token, 'POST', { body: operation('1', '{ a }') });
    assert.doesNotMatch(await stream.until(/complete/), /"a":1/);
    await stream.cancel();
  });

  test('belongs to one caller', async () => {
    const token = await (await reserve()).text();
    const other = await new SignJWT({ role: 'authenticated', sub: 'u' }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret));
    const refused = await send(token, 'POST', { body: operation('1'), headers: { authorization: `Bearer ${other}` } });
    assert.equal(refused.status, 401);
    assert.equal((await fetch(server.endpoint, { method: 'PUT' })).status, 401);
    assert.equal((await send('x', 'DELETE', { query: '?operationId=1' })).status, 404);
  });
});

/** Heads of requests that Node would answer by itself, or read in a way that a proxy in front may not: each gets a response in our own form. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { connectRaw, exchange, type RawAnswer, type RawClient, rawRequest } from './raw-client.ts';
import { answer, rawResponse, startTestServer, type TestServer } from './start-test-server.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer({ graphiql: true });
});
after(() => server.close());

const body = '{"query":"{ __typename }"}';
const last = ['connection: close'];
const tunnel = 'CONNECT example.org:443 HTTP/1.1\r\nhost: example.org\r\n\r\n';

function codeOf({ body }: RawAnswer): string {
  const { errors } = JSON.parse(body) as { errors: { extensions: { code: string } }[] };
  return errors[0]?.extensions.code ?? '';
}

function assertOwnForm({ headers }: RawAnswer, name: string): void {
  assert.ok(headers.get('x-request-id'), `${name}: x-request-id`);
  assert.match(headers.get('content-type') ?? '', /^application\/json/, name);
  assert.equal(headers.get('x-content-type-options'), 'nosniff', name);
}

/** A good request in another version. */
const inVersion = (version: string): string => rawRequest(server.anonKey).replace('HTTP/1.1', version);
/** A good request whose body is in one chunk, under this Transfer-Encoding, and another request that must not be served. */
const inCoding = (coding: string): string =>
  rawRequest(server.anonKey)
    .replace(/content-length: \d+/, `transfer-encoding: ${coding}`)
    .replace(body, `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`) + rawRequest(server.anonKey);

/** Bytes that end their connection, with the status and code of the last answer. */
const refused: Record<string, () => readonly [bytes: string, status: number, code: string]> = {
  'two keys': () => [rawRequest(server.anonKey, { lines: [`apiKey: ${server.anonKey}`, ...last] }), 400, 'BAD_REQUEST'],
  'two tokens': () => [
    rawRequest(server.anonKey, { lines: [`Authorization: Bearer ${server.anonKey}`, 'authorization: Bearer x', ...last] }),
    400,
    'BAD_REQUEST',
  ],
  'two content types': () => [rawRequest(server.anonKey, { lines: ['Content-Type: text/plain', ...last] }), 400, 'BAD_REQUEST'],
  'two hosts': () => [rawRequest(server.anonKey, { lines: ['HOST: y', ...last] }), 400, 'BAD_REQUEST'],
  'two hosts elsewhere': () => ['GET /health/live HTTP/1.1\r\nhost: x\r\nhost: y\r\nconnection: close\r\n\r\n', 400, 'BAD_REQUEST'],
  'no host': () => [rawRequest(server.anonKey, { lines: last }).replace('host: x\r\n', ''), 400, 'BAD_REQUEST'],
  'no host elsewhere': () => ['GET / HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'BAD_REQUEST'],
  'an expectation that nobody knows': () => [rawRequest(server.anonKey, { lines: ['expect: a miracle'] }), 417, 'BAD_REQUEST'],
  'no HTTP at all': () => ['hello\r\n\r\n', 400, 'BAD_REQUEST'],
  'HTTP/3.0': () => [inVersion('HTTP/3.0'), 505, 'HTTP_VERSION_NOT_SUPPORTED'],
  'HTTP/2.0': () => [inVersion('HTTP/2.0'), 505, 'HTTP_VERSION_NOT_SUPPORTED'],
  'HTTP/1.2': () => [inVersion('HTTP/1.2'), 505, 'HTTP_VERSION_NOT_SUPPORTED'],
  'HTTP/0.9': () => ['GET /\r\n\r\n', 505, 'HTTP_VERSION_NOT_SUPPORTED'],
  'HTTP/2.0 elsewhere': () => ['GET /health/live HTTP/2.0\r\nhost: x\r\n\r\n', 505, 'HTTP_VERSION_NOT_SUPPORTED'],
  'the preface of HTTP/2': () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505, 'HTTP_VERSION_NOT_SUPPORTED'],
  'another protocol': () => [inVersion('HTTPS/1.1'), 400, 'BAD_REQUEST'],
  'a compressed body in chunks': () => [inCoding('gzip, chunked'), 501, 'TRANSFER_CODING_NOT_SUPPORTED'],
  'a compressed body in chunks, of two headers': () => [
    inCoding('deflate\r\nTransfer-Encoding: Chunked'),
    501,
    'TRANSFER_CODING_NOT_SUPPORTED',
  ],
  'an unknown coding in chunks': () => [inCoding('identity,chunked '), 501, 'TRANSFER_CODING_NOT_SUPPORTED'],
  'a coding without chunks': () => [inCoding('gzip'), 400, 'BAD_REQUEST'],
  'chunks within a coding': () => [inCoding('chunked, gzip'), 400, 'BAD_REQUEST'],
  'chunks in HTTP/1.0': () => [inCoding('chunked').replace('HTTP/1.1', 'HTTP/1.0'), 400, 'BAD_REQUEST'],
  'headers that are too large': () => [rawRequest('x'.repeat(20_000)), 431, 'BAD_REQUEST'],
  'a chunk without size': () => [
    rawRequest(server.anonKey)
      .replace(/content-length: \d+/, 'transfer-encoding: chunked')
      .replace(body, 'zz\r\n'),
    400,
    'BAD_REQUEST',
  ],
  'a length and chunks': () => [rawRequest(server.anonKey, { lines: ['transfer-encoding: chunked'] }), 400, 'BAD_REQUEST'],
  'a length that is negative': () => [rawRequest(server.anonKey).replace(/content-length: \d+/, 'content-length: -1'), 400, 'BAD_REQUEST'],
  'a tunnel': () => [tunnel, 405, 'METHOD_NOT_ALLOWED'],
  'every resource': () => ['OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 404, 'NOT_FOUND'],
  'a good request and then no HTTP': () => [`${rawRequest(server.anonKey)}hello\r\n\r\n`, 400, 'BAD_REQUEST'],
};

for (const [name, make] of Object.entries(refused)) {
  test(`${name}: refused in the form of all responses`, async () => {
    const [bytes, status, code] = make();
    const answers = await exchange(server.port, bytes);
    const got = answers.at(-1);
    assert.ok(got, 'no response');
    assert.deepEqual([got.status, codeOf(got)], [status, code]);
    assertOwnForm(got, name);
    assert.equal(got.headers.get('connection'), 'close');
  });
}

const longBody = `"${'x'.repeat(5_000_000)}"`;

/** The responses to three requests that wait for each other; `write` is given a key. Each has a body `longBody`. */
async function slowResponses(write: (key: string) => string): ReturnType<RawClient['closed']> {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const slow = await startTestServer({
    execute: async () => {
      await opened;
      return rawResponse(longBody);
    },
  });
  try {
    const client = await connectRaw(slow.port, write(slow.anonKey));
    while (slow.calls.length < 3) await new Promise(setImmediate);
    open();
    return await client.closed();
  } finally {
    await slow.close();
  }
}

for (const [name, bytes, status] of [
  ['broken HTTP', 'hello\r\n\r\n', 400],
  ['CONNECT', tunnel, 405],
  ['CONNECT and what follows it', tunnel + 'x'.repeat(300_000), 405],
] as const)
  test(`the response to ${name} comes behind those to the requests before it, however slow and long they are`, async () => {
    const answers = await slowResponses((key) => rawRequest(key).repeat(3) + bytes);
    assert.deepEqual(
      answers.map((each) => each.status),
      [200, 200, 200, status],
    );
    assert.ok(answers.slice(0, 3).every((each) => each.body === longBody));
  });

test('CONNECT in the middle of a response is answered behind it', async () => {
  const long = `"${'x'.repeat(20_000_000)}"`;
  const slow = await startTestServer({ execute: async () => rawResponse(long) });
  try {
    const client = await connectRaw(slow.port, rawRequest(slow.anonKey));
    await once(client.socket, 'data');
    client.socket.pause();
    client.socket.write(tunnel, () => client.socket.resume());
    const [first, second] = await client.closed();
    assert.deepEqual([first?.status, first?.body === long, second?.status], [200, true, 405]);
  } finally {
    await slow.close();
  }
});

test('the key is checked before the body is asked for', async () => {
  const expecting = (key: string, lines: string[] = []): string =>
    rawRequest(key, { lines: ['expect: 100-continue', ...lines] }).replace(body, '');
  const bad = await connectRaw(server.port, expecting('x'));
  const [refusal] = await bad.closed();
  assert.deepEqual([refusal?.status, refusal?.headers.get('connection')], [401, 'close']);
  const [wrongType] = await exchange(server.port, expecting(server.anonKey).replace('application/json', 'text/plain'));
  assert.equal(wrongType?.status, 415);
  const [tooLarge] = await exchange(server.port, expecting(server.anonKey).replace(/content-length: \d+/, 'content-length: 99999999'));
  assert.equal(tooLarge?.status, 413);
  const good = await connectRaw(server.port, expecting(server.anonKey));
  assert.equal((await good.answers(1))[0]?.status, 100);
  good.socket.write(body);
  assert.deepEqual(
    (await good.answers(2)).map(({ status }) => status),
    [100, 200],
  );
  good.socket.destroy();
});

test('every response has an id, and takes the one that a proxy gave', async () => {
  const preflight = 'origin: https://app.example\r\naccess-control-request-method: POST';
  const heads = [
    'GET / ',
    'GET /health/live ',
    'GET /health/ready ',
    'GET /metrics ',
    'GET /graphiql ',
    'GET /graphiql/page.js ',
    'HEAD /graphql/v1 ',
    'PUT /metrics ',
    'GET /graphql/v1 ',
    'GET /% ',
    'OPTIONS /graphql/v1 ',
    'POST /graphql/v1 ',
  ];
  for (const head of heads) {
    const lines = head.startsWith('OPTIONS') ? `${preflight}\r\n` : '';
    const client = await connectRaw(
      server.port,
      `${head}HTTP/1.1\r\nhost: x\r\n${lines}x-request-id: from-a-proxy\r\nconnection: close\r\n\r\n`,
    );
    await client.closed();
    assert.match(client.received(), /\r\nx-request-id: from-a-proxy\r\n/i, head);
  }
});

test('a target may be a whole URL', async () => {
  for (const origin of [
    'http://example.org',
    'HTTP://Example.org',
    'http://example.org:80',
    'https://example.org:443',
    'http://[::1]:8000',
  ]) {
    const request = rawRequest(server.anonKey, { lines: last }).replace('POST /', `POST ${origin}/`);
    const [got] = await exchange(server.port, request);
    assert.deepEqual([got?.status, got?.body], [200, answer], origin);
  }
});

/** A request that asks for another protocol. */
const upgrade = (query: string, lines: string[] = []): string =>
  rawRequest(server.anonKey, { lines: ['Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings', ...lines], body: JSON.stringify({ query }) });
const ask = (query: string): string => rawRequest(server.anonKey, { body: JSON.stringify({ query }) });
const queriesSince = (count: number): string[] => server.calls.slice(count).map(({ request }) => request.query);

test('a request for another protocol is served as if it had not asked for one, and the connection stays', async () => {
  const before = server.calls.length;
  const client = await connectRaw(server.port);
  for (const [index, query] of ['{ a }', '{ b }', '{ c }'].entries()) {
    client.socket.write(upgrade(query));
    const answers = await client.answers(index + 1);
    assert.deepEqual(
      [answers[index]?.status, answers[index]?.body, answers[index]?.headers.get('connection')],
      [200, answer, 'keep-alive'],
    );
  }
  client.socket.write(upgrade('{ d }', ['connection: close']));
  assert.equal((await client.closed()).length, 4);
  assert.deepEqual(queriesSince(before), ['{ a }', '{ b }', '{ c }', '{ d }']);
});

test('nothing that follows a request for another protocol in its packet is lost', async () => {
  const chunked = (text: string): string =>
    text.replace(/content-length: \d+\r\n\r\n(.*)$/, 'transfer-encoding: chunked\r\n\r\n5\r\n{"que\r\nc\r\nry":"{ a }"}\r\n0\r\n\r\n');
  const end = rawRequest(server.anonKey, { body: '{"query":"{ c }"}', lines: last });
  for (const first of [upgrade('{ a }'), chunked(upgrade('{ a }'))]) {
    const text = first + ask('{ b }') + end;
    // In one piece, and cut in two anywhere.
    for (let cut = 0; cut < text.length; cut += 17) {
      const before = server.calls.length;
      const client = await connectRaw(server.port, text.slice(0, cut));
      if (cut > 0) await new Promise(setImmediate);
      client.socket.write(text.slice(cut));
      const statuses = (await client.closed()).map(({ status }) => status);
      assert.deepEqual(
        [statuses, queriesSince(before)],
        [
          [200, 200, 200],
          ['{ a }', '{ b }', '{ c }'],
        ],
        `cut at ${cut}`,
      );
    }
  }
});

test('a request for another protocol behind others ends the connection after their responses, however slow and long they are', async () => {
  const answers = await slowResponses(
    (key) => rawRequest(key).repeat(3) + rawRequest(key, { lines: ['upgrade: x', 'connection: upgrade'] }) + rawRequest(key),
  );
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body === longBody]),
    Array.from({ length: 3 }, () => [200, true]),
  );
});

test('the body of a request for another protocol ends where its headers say, however many there are', async () => {
  const before = server.calls.length;
  const many = Array.from({ length: 190 }, () => 'a:');
  const ending = ask('{ b }').replace('host: x', 'host: x\r\nconnection: close');
  assert.deepEqual(
    (await exchange(server.port, upgrade('{ a }', many) + ending)).map(({ status }) => status),
    [200, 200],
  );
  assert.deepEqual(queriesSince(before), ['{ a }', '{ b }']);
  // And a header that must not be repeated is not hidden by others.
  const [repeated] = await exchange(server.port, rawRequest(server.anonKey, { lines: [...many, 'apikey: x', ...last] }));
  assert.equal(repeated?.status, 400);
});

for (const count of [201, 3000])
  test(`a request with ${count} headers is refused, and what follows it is not served`, async () => {
    const before = server.calls.length;
    const many = Array.from({ length: count }, () => 'a:');
    for (const request of [rawRequest(server.anonKey, { lines: many }), upgrade('{ a }', many)]) {
      const [refusal, ...more] = await exchange(server.port, request + ask('{ b }'));
      // Node before 24.21 leaves the refusal to us.
      assert.ok(refusal?.status === 431 || refusal?.status === 400, `status ${refusal?.status}`);
      assert.match(refusal.body, /200 headers/);
      assert.deepEqual(more, []);
    }
    assert.deepEqual(queriesSince(before), []);
  });

test('HTTP/1.0 needs no host', async () => {
  const request = rawRequest(server.anonKey).replace('HTTP/1.1', 'HTTP/1.0').replace('host: x\r\n', '');
  const [got] = await exchange(server.port, request);
  assert.deepEqual([got?.status, got?.body], [200, answer]);
});

test('a byte order mark before the body is skipped, and Identity is no encoding, in any case', async () => {
  assert.equal((await server.post({ body: `\ufeff${body}` })).status, 200);
  for (const encoding of ['identity', 'Identity', 'IDENTITY'])
    assert.equal((await server.post({ headers: { 'content-encoding': encoding } })).status, 200);
});

test('requests of pages of other origins are answered as all others are, but for what CORS adds', async () => {
  const requests: Parameters<TestServer['post']>[0][] = [
    {},
    { headers: { apiKey: 'x' } },
    { headers: { accept: 'text/html' } },
    { headers: { 'content-type': 'text/plain' } },
    { headers: { 'content-encoding': 'gzip' } },
    { headers: { authorization: 'Basic x' } },
    { headers: { 'accept-encoding': '*;q=0' } },
    { body: '{' },
    { path: '/graphql/v1?x=1' },
    { path: '/graphql/v1/' },
    { method: 'PUT' },
  ];
  for (const request of requests) {
    const [plain, fromPage] = await Promise.all([
      server.post(request),
      server.post({ ...request, headers: { ...request?.headers, origin: 'https://app.example' } }),
    ]);
    assert.equal(fromPage.status, plain.status);
    assert.equal(await fromPage.text(), await plain.text());
    const names = (response: Response): string[] => [...response.headers.keys()].filter((name) => !name.startsWith('access-control-'));
    assert.deepEqual(names(fromPage), names(plain));
    assert.equal(fromPage.headers.get('access-control-allow-origin'), '*');
  }
});

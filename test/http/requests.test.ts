/** What a request must look like: path, method, content type and body. Whatever is wrong is told in a GraphQL error, and nothing runs. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { until } from '../support/until.ts';
import { answer, type PostChanges, readError, startTestServer, type TestServer } from './start-test-server.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer({ bodyLimit: 100_000 });
});
after(() => server.close());

async function assertError(response: Response, status: number, code: string): Promise<string> {
  const error = await readError(response);
  assert.deepEqual([response.status, error.code], [status, code], error.message);
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
  return error.message;
}

async function readInFlight(): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^rowgraph_requests_in_flight (.*)$/m.exec(metrics)?.[1]);
}

/** Sends bytes as they are; resolves to all that comes back until the server ends the connection. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let received = '';
  for await (const chunk of socket) received += chunk;
  return received;
}

test('a good request runs with its four members and comes back byte for byte', async () => {
  const body = { query: 'query A($x: Int) { __typename }', variables: { x: 1 }, operationName: 'A', extensions: { y: [2] } };
  const response = await server.post({ body });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(response.headers.get('content-length'), String(answer.length));
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.equal(await response.text(), answer);
  assert.deepEqual(server.calls.at(-1)?.request, body);
});

test('null members are taken as absent, other members are left out', async () => {
  const body = { query: '{ a }', variables: null, operationName: null, extensions: null, id: 7, query2: 'x' };
  assert.equal((await server.post({ body })).status, 200);
  assert.deepEqual(server.calls.at(-1)?.request, { query: '{ a }', variables: null, operationName: null, extensions: null });
  await server.post({ body: { query: '{ a }', operationName: '' } });
  assert.equal(server.calls.at(-1)?.request.operationName, undefined);
});

test('text beyond ASCII arrives as it was sent', async () => {
  const query = '{ a(b: "Grüße 🙂 \u2028 \u0000 \ud800") }';
  assert.equal((await server.post({ body: { query } })).status, 200);
  assert.equal(server.calls.at(-1)?.request.query, query);
});

const badBodies: Record<string, unknown> = {
  'no JSON': '{"query": ',
  'JSON with a comma too many': '{"query":"{a}",}',
  'a byte order mark and no JSON': '\ufeff',
  'an empty body': '',
  'no body': null,
  'bytes that are not UTF-8': new Uint8Array([...Buffer.from('{"query":"'), 0xff, 0xfe, ...Buffer.from('"}')]),
  'UTF-8 cut off': Buffer.from('{"query":"ü"}').subarray(0, 11),
  'a batch': [{ query: '{ __typename }' }],
  'an empty batch': [],
  'a string': '"{ __typename }"',
  'a number': '1',
  null: 'null',
  'no query': {},
  'query null': { query: null },
  'query a number': { query: 1 },
  'query an object': { query: {} },
  'variables a list': { query: '{ a }', variables: [] },
  'variables a string': { query: '{ a }', variables: '{}' },
  'variables a number': { query: '{ a }', variables: 0 },
  'variables false': { query: '{ a }', variables: false },
  'operationName a number': { query: '{ a }', operationName: 1 },
  'operationName a list': { query: '{ a }', operationName: ['A'] },
  'extensions a list': { query: '{ a }', extensions: [] },
  'extensions a string': { query: '{ a }', extensions: 'x' },
  'a query in the prototype': '{"__proto__":{"query":"{ a }"}}',
};

for (const [name, body] of Object.entries(badBodies)) {
  test(`a body that is ${name} is 400`, async () => {
    const ran = server.calls.length;
    for (const accept of [undefined, 'application/json']) {
      await assertError(await server.post({ body, headers: { accept } }), 400, 'BAD_REQUEST');
    }
    const modern = await server.post({ body, headers: { accept: 'application/graphql-response+json' } });
    assert.equal(modern.status, 400);
    assert.equal(modern.headers.get('content-type'), 'application/graphql-response+json; charset=utf-8');
    assert.equal((await readError(modern)).code, 'BAD_REQUEST');
    assert.equal(server.calls.length, ran);
  });
}

test('names of the prototype in variables are plain names', async () => {
  const body = '{"query":"{ a }","variables":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}';
  assert.equal((await server.post({ body })).status, 200);
  const variables = server.calls.at(-1)?.request.variables as object;
  assert.deepEqual(Object.keys(variables), ['__proto__', 'constructor']);
  assert.equal(Object.getPrototypeOf(variables), Object.prototype);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test('a body nested as deep as its size allows does no harm', async () => {
  // A short body is parsed at once, and the graph says what is too deep; a long one ends where it can no longer be of use.
  const nested = (depth: number): string => `{"query":"{ a }","variables":{"x":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
  assert.equal((await server.post({ body: nested(30_000) })).status, 200);
  await assertError(await server.post({ body: nested(45_000) }), 400, 'TOO_DEEP');
  await assertError(await server.post({ body: '['.repeat(90_000) }), 400, 'TOO_DEEP');
});

test('the content type must be JSON in UTF-8', async () => {
  const ran = server.calls.length;
  for (const type of [
    'text/plain',
    'application/graphql',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/jsonp',
    'json',
    ';',
  ]) {
    await assertError(await server.post({ headers: { 'content-type': type } }), 415, 'UNSUPPORTED_MEDIA_TYPE');
  }
  await assertError(
    await server.post({ headers: { 'content-type': undefined }, body: Buffer.from('{"query":"{ a }"}') }),
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  );
  assert.equal(server.calls.length, ran);
  for (const type of [
    'application/json;charset=utf-8',
    'Application/JSON; Charset="UTF-8"',
    'application/json; charset=utf8',
    'application/json; x=y',
  ]) {
    assert.equal((await server.post({ headers: { 'content-type': type } })).status, 200, type);
  }
});

test('a compressed body is refused with words', async () => {
  const changes = { headers: { 'content-encoding': 'gzip' }, body: gzipSync('{"query":"{ a }"}') };
  assert.match(await assertError(await server.post(changes), 415, 'UNSUPPORTED_MEDIA_TYPE'), /Content-Encoding/);
});

test('a body over the limit is 413, whether its length is announced or not, and the connection lives on', async () => {
  const ran = server.calls.length;
  const padded = (size: number): string => '{"query":"{ a }"}'.padEnd(size, ' ');
  assert.equal((await server.post({ body: padded(100_000) })).status, 200);
  for (const size of [100_001, 3_000_000]) {
    assert.match(await assertError(await server.post({ body: padded(size) }), 413, 'PAYLOAD_TOO_LARGE'), /100000 bytes/);
    const stream = new Blob([padded(size)]).stream();
    const init = { method: 'POST', headers: { apiKey: server.anonKey, 'content-type': 'application/json' }, body: stream, duplex: 'half' };
    await assertError(await fetch(server.endpoint, init as RequestInit), 413, 'PAYLOAD_TOO_LARGE');
  }
  assert.equal(server.calls.length, ran + 1);
  const head = `POST /graphql/v1 HTTP/1.1\r\nhost: x\r\napikey: ${server.anonKey}\r\ncontent-type: application/json\r\n`;
  const pipelined = `${head}content-length: 200000\r\n\r\n${padded(200_000)}${head}content-length: 17\r\nconnection: close\r\n\r\n{"query":"{ a }"}`;
  const received = await exchange(server.port, pipelined);
  assert.deepEqual(
    [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ['413', '200'],
  );
});

test('a body without end is cut off', async () => {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.write(
    `POST /graphql/v1 HTTP/1.1\r\nhost: x\r\napikey: ${server.anonKey}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  let sent = 0;
  while (!socket.closed) {
    sent += 1;
    await Promise.race([new Promise((resolve) => socket.write(chunk.repeat(16), resolve)), closed]);
  }
  assert.ok(sent > 1);
});

test('a client that goes away in the middle of a body leaves nothing behind', async () => {
  const before = server.log.length;
  const socket = connect(server.port, '127.0.0.1');
  socket.write(
    `POST /graphql/v1 HTTP/1.1\r\nhost: x\r\napikey: ${server.anonKey}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"query`,
  );
  await until(async () => (await readInFlight()) === 1);
  socket.destroy();
  await until(() => server.log.length > before);
  assert.match(server.log.slice(before).join(''), /BAD_REQUEST/);
  assert.equal(await readInFlight(), 0);
});

test('with a slash at the end it is 404 with the right path, whatever the method', async () => {
  for (const method of ['GET', 'POST', 'PUT']) {
    const response = await server.post({ path: '/graphql/v1/', method, body: method === 'GET' ? null : '{}' });
    assert.match(await assertError(response, 404, 'NOT_FOUND'), /\/graphql\/v1, without a trailing slash/);
  }
});

test('other methods are 405 with Allow, and words that say what to do', async () => {
  for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY']) {
    for (const path of ['/graphql/v1', '/graphql/v1?query=%7B__typename%7D']) {
      const response = await server.post({ path, method, body: null });
      assert.equal(response.headers.get('allow'), 'GET, HEAD, POST', method);
      assert.match(await assertError(response, 405, 'METHOD_NOT_ALLOWED'), /POST/);
    }
  }
});

test('other paths are 404', async () => {
  const changes: PostChanges[] = [
    { path: '/' },
    { path: '/graphql' },
    { path: '/graphql/v2' },
    { path: '//graphql/v1' },
    { path: '/graphql/V1' },
    { path: '/graphql/v1/x' },
  ];
  for (const change of changes) {
    const response = await server.post(change);
    const { code } = await readError(response);
    assert.ok(response.status === 404 && code === 'NOT_FOUND', JSON.stringify(change));
  }
});

test('a path that cannot be decoded is 400', async () => {
  await assertError(await server.post({ path: '/%' }), 400, 'BAD_REQUEST');
});

test('a query string at the endpoint changes nothing', async () => {
  assert.equal((await server.post({ path: '/graphql/v1?x=1' })).status, 200);
  assert.deepEqual(server.calls.at(-1)?.request.query, '{ __typename }');
});

test('a base path comes before the endpoint', async () => {
  const based = await startTestServer({ basePath: '/some/api' });
  try {
    assert.equal((await based.post()).status, 200);
    assert.match(
      await assertError(await based.post({ path: '/some/api/graphql/v1/' }), 404, 'NOT_FOUND'),
      /\/some\/api\/graphql\/v1, without/,
    );
    assert.match(await assertError(await based.post({ path: '/graphql/v1' }), 404, 'NOT_FOUND'), /\/some\/api\/graphql\/v1/);
    await assertError(await based.post({ path: '/some/api/graphql/v1', method: 'PUT', body: null }), 405, 'METHOD_NOT_ALLOWED');
  } finally {
    await based.close();
  }
  for (const basePath of ['api', '/api/', '/a b', '/a?b', '//']) await assert.rejects(startTestServer({ basePath }), /base path/);
});

test('bytes that are no HTTP are answered in the same form', async () => {
  assert.match(await exchange(server.port, 'hello\r\n\r\n'), /^HTTP\/1\.1 400 [\s\S]*\{"errors":\[\{"message":/);
  const large = `POST /graphql/v1 HTTP/1.1\r\nhost: x\r\napikey: ${'x'.repeat(20_000)}\r\n\r\n`;
  assert.match(await exchange(server.port, large), /^HTTP\/1\.1 431 [\s\S]*\{"errors":/);
  assert.match(await exchange(server.port, 'POST /graphql/v1 HTTP/1.1\r\n\r\n'), /^HTTP\/1\.1 400 /, 'no host');
});

test('every request has an id, in the response and in the log', async () => {
  const first = (await server.post()).headers.get('x-request-id');
  const second = (await server.post()).headers.get('x-request-id');
  assert.ok(first && second && first !== second);
  assert.ok(server.log.some((line) => line.includes(second)));
  const given = (await server.post({ headers: { 'x-request-id': 'from-a-proxy:1' } })).headers.get('x-request-id');
  assert.equal(given, 'from-a-proxy:1');
  for (const hostile of ['a b', '"},{"level":60', 'x'.repeat(129)]) {
    const id = (await server.post({ headers: { 'x-request-id': hostile } })).headers.get('x-request-id');
    assert.notEqual(id, hostile);
  }
});

/** Queries by GET: parameters in the URL, what caches may keep, and that nothing is changed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { signKey } from '../../src/auth/sign-key.ts';
import { Deadline } from '../../src/budget/deadline.ts';
import { makeCacheable, type ResponseState } from '../../src/http/endpoint/graphql-response.ts';
import { type RunningServer, startServer } from '../../src/http/transport/start-server.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';
import { until } from '../support/until.ts';
import { connectRaw } from './raw-client.ts';
import { answer, rawResponse, readError, secret, startTestServer, type TestServer } from './start-test-server.ts';

let server: TestServer;
let cached: TestServer;
before(async () => {
  server = await startTestServer();
  cached = await startTestServer({
    cacheControl: 'private, max-age=60',
    corsOrigins: ['https://app.example'],
    execute: async ({ query }) =>
      query === 'fails' ? rawResponse('{"errors":[]}', 'RAISED') : rawResponse(JSON.stringify({ data: { text: query.repeat(20_000) } })),
  });
});
after(() => Promise.all([server.close(), cached.close()]));

/** Sends a GET request with the anon key; a string goes into the URL as it is. */
function get(
  to: TestServer,
  parameters: Readonly<Record<string, string>> | string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<Response> {
  const search = typeof parameters === 'string' ? parameters : String(new URLSearchParams(parameters));
  return fetch(`${to.endpoint}?${search}`, { method, headers: { apiKey: to.anonKey, ...headers } });
}

test('the parameters of a URL are those of a body', async () => {
  const parameters = { query: 'query A($x: Int) { a }', variables: '{"x":"ü +&=%"}', operationName: 'A', extensions: '{"y":[2]}', z: '1' };
  const response = await get(server, parameters);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(await response.text(), answer);
  assert.deepEqual(server.calls.at(-1)?.request, {
    query: parameters.query,
    variables: { x: 'ü +&=%' },
    operationName: 'A',
    extensions: { y: [2] },
  });
  assert.equal(server.calls.at(-1)?.options.readOnly, true);
  assert.equal(server.calls.at(-1)?.caller.role, 'anon');
});

test('empty and null parameters are absent', async () => {
  await get(server, 'query=%7Ba%7D&variables=&operationName=&extensions=null&&=&a');
  const nothing = { variables: undefined, operationName: undefined };
  assert.deepEqual(server.calls.at(-1)?.request, { query: '{a}', ...nothing, extensions: null });
});

const badUrls: Record<string, readonly [search: string, message: RegExp]> = {
  'no parameters': ['', /no "query"/],
  'no query': ['variables={}', /no "query"/],
  'a percent sign without digits': ['query=%', /"query" cannot be decoded: "%"/],
  'a percent sign with one digit': ['query=%7', /cannot be decoded/],
  'bytes that are not UTF-8': ['query=%ff%fe', /cannot be decoded/],
  'half a surrogate pair': ['query=%ed%a0%80', /cannot be decoded/],
  'a name that cannot be decoded': ['%zz=1', /name of a URL parameter cannot be decoded/],
  'two queries': ['query=a&query=b', /"query" is there more than once/],
  'two queries, of which one has an encoded name': ['query=a&quer%79=b', /"query" is there more than once/],
  'two variables, of which one is empty': ['query=a&variables=&variables={}', /"variables" is there more than once/],
  'variables that are not JSON': ['query=a&variables={a}', /"variables" is not valid JSON/],
  'variables cut off': ['query=a&variables=%7B', /"variables" is not valid JSON/],
  'variables a list': ['query=a&variables=[]', /"variables" must be an object/],
  'variables a string': ['query=a&variables="{}"', /"variables" must be an object/],
  'extensions a number': ['query=a&extensions=1', /"extensions" must be an object/],
  'an array, as a batch would be': ['[{"query":"a"}]', /no "query"/],
  'a query in the prototype': ['__proto__=%7B%22query%22%3A%22a%22%7D&__proto__[query]=a&constructor=b', /no "query"/],
  'a query with the name in capitals': ['QUERY=a', /no "query"/],
};

for (const [name, [search, message]] of Object.entries(badUrls)) {
  test(`a URL that has ${name} is 400`, async () => {
    const ran = server.calls.length;
    const response = await get(server, search);
    const error = await readError(response);
    assert.deepEqual([response.status, error.code, server.calls.length], [400, 'BAD_REQUEST', ran]);
    assert.match(error.message, message);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.equal(response.headers.get('etag'), null);
  });
}

test('names of the prototype in variables are plain names', async () => {
  await get(server, { query: 'a', variables: '{"__proto__":{"polluted":true}}' });
  assert.deepEqual(Object.keys(server.calls.at(-1)?.request.variables as object), ['__proto__']);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test('a long URL is 414 and says what to do; a longer one is 431', async () => {
  const long = await get(server, { query: 'x'.repeat(8200) });
  const { code, message } = await readError(long);
  assert.deepEqual([long.status, code], [414, 'URI_TOO_LONG']);
  assert.match(message, /POST/);
  const longer = await get(server, { query: 'x'.repeat(17_000) });
  assert.equal(longer.status, 431);
  assert.match((await readError(longer)).message, /URL .* POST/);
  assert.equal((await get(server, { query: 'x'.repeat(8000) })).status, 200);
});

test('a key is required, and a token decides, as for POST', async () => {
  assert.equal((await fetch(`${server.endpoint}?query=a`)).status, 401);
  assert.equal((await fetch(`${server.endpoint}?query=a&apiKey=${server.anonKey}`)).status, 401);
  assert.equal((await get(server, 'query=a', { authorization: 'Bearer x' })).status, 401);
  const token = await signKey(secret, 'authenticated', '1h', { sub: 'u' });
  assert.equal((await get(server, 'query=a', { authorization: `Bearer ${token}` })).status, 200);
  assert.deepEqual([server.calls.at(-1)?.caller.role, server.calls.at(-1)?.options.client], ['authenticated', 'authenticated u']);
});

test('a body is refused', async () => {
  const lines = ['GET /graphql/v1?query=a HTTP/1.1', 'host: x', `apikey: ${server.anonKey}`];
  for (const more of ['content-length: 2\r\n\r\n{}', 'transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n']) {
    const client = await connectRaw(server.port, `${lines.join('\r\n')}\r\n${more}`);
    const [refused] = await client.answers(1);
    assert.equal(refused?.status, 400);
    assert.match(refused?.body ?? '', /must not have a body/);
    client.socket.destroy();
  }
});

test('pipelined GET requests are answered in order, and HEAD has no body', async () => {
  const request = (method: string, search: string): string =>
    `${method} /graphql/v1?${search} HTTP/1.1\r\nhost: x\r\napikey: ${cached.anonKey}\r\n\r\n`;
  const client = await connectRaw(cached.port, request('GET', 'query=a') + request('GET', 'variables=1') + request('GET', 'query=b'));
  const answers = await client.answers(3);
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.slice(0, 20)]),
    [
      [200, '{"data":{"text":"aaa'],
      [400, '{"errors":[{"message'],
      [200, '{"data":{"text":"bbb'],
    ],
  );
  client.socket.destroy();
  const [one, other] = await Promise.all([get(cached, 'query=a', {}, 'HEAD'), get(cached, 'query=a')]);
  assert.deepEqual([one.status, await one.text(), one.headers.get('etag')], [200, '', other.headers.get('etag')]);
  assert.equal(one.headers.get('content-length'), other.headers.get('content-length'));
});

test('a response says how it may be kept, and what it depends on', async () => {
  const response = await get(cached, 'query=a', { origin: 'https://app.example' });
  assert.equal(response.headers.get('cache-control'), 'private, max-age=60');
  assert.equal(response.headers.get('vary'), 'Accept-Encoding, Origin, Host, Accept, apiKey, Authorization');
  assert.equal(response.headers.get('access-control-allow-origin'), 'https://app.example');
  assert.match(response.headers.get('etag') ?? '', /^W\/"[\w-]{27}"$/);
  const failed = await get(cached, 'query=fails');
  assert.deepEqual([failed.status, failed.headers.get('cache-control'), failed.headers.get('etag')], [200, 'no-store', null]);
  const post = await cached.post({ body: { query: 'a' } });
  assert.deepEqual([post.headers.get('cache-control'), post.headers.get('etag')], ['no-store', null]);
  assert.equal((await get(server, 'query=a')).headers.get('cache-control'), 'no-store');
});

test('who has a response gets 304', async () => {
  const first = await get(cached, 'query=a', { 'accept-encoding': 'gzip' });
  const etag = first.headers.get('etag') ?? '';
  assert.equal(first.headers.get('content-encoding'), 'gzip');
  for (const known of [etag, etag.slice(2), `"x", ${etag}`, '*']) {
    const again = await get(cached, 'query=a', { 'if-none-match': known, origin: 'https://app.example' });
    assert.deepEqual([again.status, await again.text(), again.headers.get('etag')], [304, '', etag], known);
    assert.equal(again.headers.get('content-length'), null);
    assert.equal(again.headers.get('cache-control'), 'private, max-age=60');
    assert.equal(again.headers.get('access-control-allow-origin'), 'https://app.example');
    assert.ok(again.headers.get('x-request-id'));
  }
  for (const other of ['"x"', 'W/""', '', etag.toLowerCase(), etag.slice(0, -2)]) {
    assert.equal((await get(cached, 'query=a', { 'if-none-match': other })).status, 200, other);
  }
  assert.equal((await get(cached, 'query=fails', { 'if-none-match': '*' })).status, 200);
  assert.equal((await cached.post({ body: { query: 'a' }, headers: { 'if-none-match': '*' } })).status, 200);
  assert.equal((await get(cached, 'query=b', { 'if-none-match': etag })).status, 200);
  const modern = await get(cached, 'query=a', { accept: 'application/graphql-response+json' });
  assert.notEqual(modern.headers.get('etag'), etag);
  assert.ok(cached.log.some((line) => line.includes('"status":304')));
});

test('the tag of a large response is computed in slices, which end with the request', async () => {
  const chunk = Buffer.alloc(64 * 1024 * 1024, 'x');
  const deadline = new Deadline(Infinity);
  const exchange = { headers: {}, cacheControl: null, deadline };
  const response = { status: 200, code: null, body: { chunks: [chunk], length: chunk.length } };
  const state: ResponseState = { mediaType: 'application/json', headers: [], caching: null };
  const options = { usesCookies: false, cacheControl: 'no-store', vary: '' };
  await assert.rejects(
    () => {
      setImmediate(() => deadline.stop('abandoned'));
      return makeCacheable(exchange, state, response, options);
    },
    { code: 'CANCELLED' },
  );
  assert.equal(state.caching, null);
});

test('a compressed response has all of its text', async () => {
  const client = await connectRaw(
    cached.port,
    `GET /graphql/v1?query=a HTTP/1.1\r\nhost: x\r\napikey: ${cached.anonKey}\r\naccept-encoding: gzip\r\n\r\n`,
  );
  const [compressed] = await client.answers(1);
  assert.equal(gunzipSync(Buffer.from(compressed?.body ?? '', 'latin1')).length, 20_000 + '{"data":{"text":""}}'.length);
  client.socket.destroy();
});

test('a preflight request for GET is answered without a key', async () => {
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'GET', 'access-control-request-headers': 'apikey' };
  const response = await fetch(`${cached.endpoint}?query=a`, { method: 'OPTIONS', headers });
  assert.deepEqual([response.status, response.headers.get('access-control-allow-methods')], [204, 'GET, POST']);
});

test('a whole URL as the target is taken apart alike', async () => {
  const request = `GET http://x/graphql/v1?query=whole HTTP/1.1\r\nhost: x\r\napikey: ${server.anonKey}\r\n\r\n`;
  const client = await connectRaw(server.port, request);
  assert.equal((await client.answers(1))[0]?.status, 200);
  assert.equal(server.calls.at(-1)?.request.query, 'whole');
  client.socket.destroy();
});

test('requests by GET count against the limits', async () => {
  const stuck = { execute: () => new Promise<never>(() => {}), closeMilliseconds: 20 };
  const limited = await startTestServer({ ...stuck, rateLimit: { max: 1, windowMilliseconds: 3_600_000 } });
  const waiting = get(limited, 'query=a').catch(() => null);
  await until(() => limited.calls.length === 1);
  assert.equal((await get(limited, 'query=a')).status, 429);
  const overloaded = await startTestServer({ ...stuck, maxRequests: 1 });
  const first = get(overloaded, 'query=a').catch(() => null);
  await until(() => overloaded.calls.length === 1);
  assert.equal((await get(overloaded, 'query=a')).status, 503);
  await Promise.all([limited.close(), overloaded.close()]);
  await Promise.all([waiting, first]);
});

test('over a database, a query runs and a mutation is 405 and changes nothing', async () => {
  const database: TestGraph = await startTestGraph('create table note (id int primary key, body text); insert into note values (1, $$ü$$)');
  const real: RunningServer = await startServer({
    graph: database.graph,
    jwtSecret: secret,
    telemetry: createTelemetry({ level: 'silent' }),
  });
  try {
    const apiKey = await signKey(secret, 'anon');
    const ask = (query: string, accept = 'application/json'): Promise<Response> =>
      fetch(`${real.url}/graphql/v1?${new URLSearchParams({ query })}`, { headers: { apiKey, accept } });
    const good = await ask('{ noteCollection { edges { node { id body } } } }');
    const etag = good.headers.get('etag');
    assert.deepEqual(await good.json(), { data: { noteCollection: { edges: [{ node: { id: 1, body: 'ü' } }] } } });
    for (const query of [
      'mutation { insertIntonoteCollection(objects: [{ id: 2 }]) { affectedCount } }',
      'mutation { deleteFromnoteCollection(atMost: 5) { affectedCount } }',
      'mutation { __typename }',
    ]) {
      for (const accept of ['application/json', 'application/graphql-response+json']) {
        const refused = await ask(query, accept);
        assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'POST']);
        assert.equal((await readError(refused)).code, 'METHOD_NOT_ALLOWED');
      }
    }
    assert.equal((await ask('query A { __typename } mutation B { __typename }')).status, 200);
    assert.equal((await ask('{ noteCollection { edges { node { id body } } } }')).headers.get('etag'), etag);
    await database.database.run('insert into note values (2)');
    assert.notEqual((await ask('{ noteCollection { edges { node { id body } } } }')).headers.get('etag'), etag);
  } finally {
    await real.close();
    await database.stop();
  }
});

/**
 * What the page of `rowgraph dev` may do beyond the endpoint, over HTTP: only its own page gets through, from this machine; and without a backend there is
 * nothing to reach.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApiError } from '../../src/errors/api-error.ts';
import type { PageBackend } from '../../src/http/routes/graphiql-page.ts';
import { type ReceivedResponse, sendRequest } from '../support/send-request.ts';
import { readError, startTestServer, type TestServer } from './start-test-server.ts';

const asked: unknown[] = [];
const backend: PageBackend = {
  listCallers: async () => ({ roles: ['anon'], users: [] }),
  sign: async (caller) => {
    asked.push(caller);
    return { token: 'signed', expiresAt: 1 };
  },
  explain: async (...given) => {
    asked.push(given);
    if (given[0].query === 'broken') throw Object.assign(new Error('several'), { errors: [new ApiError('GRAPHQL_PARSE_FAILED', 'one')] });
    return { explained: true };
  },
  examine: async (role) => ({ role, findings: [] }),
  readAccess: async () => ({ tables: [] }),
  readSchemaVersion: () => '1',
  operations: null,
};

let server: TestServer;
before(async () => {
  server = await startTestServer({ graphiql: { anonKey: 'k', backend }, basePath: '/api', corsOrigins: ['*'] });
});
after(() => server.close());

interface Sent {
  readonly name?: string;
  readonly method?: string;
  /** Undefined leaves a header out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** As the page sends it, but for the changes. */
function send({ name = 'sign', method = 'POST', headers, body = '{"role":"anon"}' }: Sent = {}): Promise<ReceivedResponse> {
  const host = `127.0.0.1:${server.port}`;
  const all = { host, origin: `http://${host}`, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const options = { port: server.port, path: `/api/graphiql/${name}`, method, headers: sent };
  return sendRequest(options, method === 'GET' || method === 'OPTIONS' ? undefined : body);
}

test('the page gets what it asks for, and nobody keeps it', async () => {
  const { status, headers, body } = await send({ body: '{"role":"authenticated","claims":{"sub":"ada","__proto__":{"role":"x"}}}' });
  assert.deepEqual([status, JSON.parse(body)], [200, { token: 'signed', expiresAt: 1 }]);
  assert.deepEqual([headers['cache-control'], headers['access-control-allow-origin']], ['no-store', undefined]);
  assert.equal(JSON.stringify(asked.pop()), '{"role":"authenticated","claims":{"sub":"ada","__proto__":{"role":"x"}}}');
  assert.deepEqual(JSON.parse((await send({ name: 'callers', body: '{}' })).body), { roles: ['anon'], users: [] });
  assert.deepEqual(JSON.parse((await send({ name: 'doctor' })).body), { role: 'anon', findings: [] });
  const page = await (await fetch(`${server.url}/api/graphiql`)).text();
  assert.match(page, /"backend":"\/api\/graphiql"/);
});

test('a request is explained with its variables, and its errors come back together', async () => {
  const body = JSON.stringify({
    role: 'anon',
    claims: { sub: 1 },
    query: '{ a }',
    variables: { b: 1 },
    operationName: null,
    mode: 'analyze',
  });
  assert.deepEqual(JSON.parse((await send({ name: 'explain', body })).body), { explained: true });
  const wanted = [
    { query: '{ a }', variables: { b: 1 }, operationName: null, extensions: undefined },
    { role: 'anon', claims: { sub: 1 } },
    'analyze',
  ];
  assert.deepEqual(asked.pop(), wanted);
  const broken = await send({ name: 'explain', body: '{"role":"anon","query":"broken"}' });
  assert.deepEqual([broken.status, JSON.parse(broken.body).errors[0].message], [400, 'one']);
});

test('nobody else gets through: other sites, other names for this machine, forms, proxies', async () => {
  asked.length = 0;
  const others: Sent['headers'][] = [
    { origin: undefined },
    { origin: 'null' },
    { origin: 'http://evil.example' },
    { origin: `https://127.0.0.1:${server.port}` },
    { origin: `http://127.0.0.1:${server.port + 1}` },
    // A name that an attacker lets lead to 127.0.0.1, so that the browser takes both for one site.
    { host: 'evil.example', origin: 'http://evil.example' },
    { host: `127.0.0.1.evil.example:${server.port}`, origin: `http://127.0.0.1.evil.example:${server.port}` },
    { host: 'evil.example@127.0.0.1', origin: 'http://evil.example@127.0.0.1' },
    { host: '2130706433', origin: 'http://2130706433' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'x-forwarded-for': '127.0.0.1' },
    { forwarded: 'for=127.0.0.1' },
    { via: '1.1 proxy' },
  ];
  for (const headers of others) {
    const { status, body } = await send({ headers: { ...headers } });
    assert.equal(status, 400, JSON.stringify(headers));
    assert.match(body, /Only the page of \\"rowgraph dev\\" may send this request/, JSON.stringify(headers));
  }
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', undefined])
    assert.equal((await send({ headers: { 'content-type': type } })).status, 415, type);
  assert.deepEqual(asked, []);
});

test('a preflight request is not answered with permission, and GET reaches nothing', async () => {
  const preflight = {
    origin: 'http://evil.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  };
  for (const method of ['OPTIONS', 'GET', 'PUT', 'DELETE']) {
    const { status, headers } = await send({ method, headers: preflight });
    assert.deepEqual([status, headers.allow, headers['access-control-allow-origin']], [405, 'POST', undefined], method);
  }
});

test('what is no such request is refused with the reason', async () => {
  const bodies: [name: string, body: string][] = [
    ['sign', ''],
    ['sign', '[]'],
    ['sign', 'null'],
    ['sign', '{"role":1}'],
    ['sign', '{"role":"anon","claims":[]}'],
    ['sign', '{'],
    ['doctor', '{}'],
    ['explain', '{"role":"anon"}'],
    ['explain', '{"role":"anon","query":1}'],
    ['explain', '{"role":"anon","query":"{ a }","variables":[]}'],
    ['explain', '{"role":"anon","query":"{ a }","mode":"drop"}'],
  ];
  for (const [name, body] of bodies) {
    const answer = await send({ name, body });
    assert.equal(answer.status, 400, `${name} ${body}`);
    assert.equal(JSON.parse(answer.body).errors[0].extensions.code, 'BAD_REQUEST');
  }
  assert.equal((await send({ body: JSON.stringify({ role: 'anon', claims: { a: 'x'.repeat(2 ** 20) } }) })).status, 413);
});

test('claims that are nested too deep are refused before a token is made of them', async () => {
  asked.length = 0;
  const nested = (depth: number, open: string, close: string) =>
    `{"role":"anon","query":"{ a }","claims":{"a":${open.repeat(depth)}1${close.repeat(depth)}}}`;
  for (const name of ['sign', 'explain']) {
    for (const body of [nested(5000, '{"a":', '}'), nested(5000, '[', ']'), nested(100, '{"__proto__":', '}'), nested(100, '[', ']')]) {
      const answer = await send({ name, body });
      const [{ message, extensions }] = JSON.parse(answer.body).errors;
      assert.deepEqual([answer.status, extensions.code], [400, 'TOO_DEEP'], `${name} ${body.slice(0, 80)}`);
      assert.equal(message, '"claims" is nested deeper than 100 levels, the maximum. Nest the values less.');
    }
  }
  assert.deepEqual(asked, []);
  assert.equal((await send({ body: nested(99, '{"a":', '}') })).status, 200);
});

test('without a backend there is nothing to reach, and the page knows', async () => {
  const plain = await startTestServer({ graphiql: true });
  try {
    assert.match(await (await fetch(`${plain.url}/graphiql`)).text(), /"backend":null/);
    for (const name of ['callers', 'sign', 'explain', 'doctor']) {
      const headers = { origin: plain.url, 'content-type': 'application/json' };
      const response = await fetch(`${plain.url}/graphiql/${name}`, { method: 'POST', headers, body: '{"role":"service_role"}' });
      assert.deepEqual([response.status, (await readError(response)).code], [404, 'NOT_FOUND'], name);
    }
  } finally {
    await plain.close();
  }
});

/** Automatic persisted queries, as the clients of Apollo and urql speak them: without the setting, with it, and by those who would abuse it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { PersistedQueries } from '../../src/http/documents/persisted-queries.ts';
import { type Execute, rawResponse, startTestServer, type TestServer } from './start-test-server.ts';

const execute: Execute = async ({ query }) =>
  query.startsWith('invalid')
    ? rawResponse('{"errors":[{}]}', 'GRAPHQL_VALIDATION_FAILED')
    : rawResponse(JSON.stringify({ data: { query } }));

let without: TestServer;
let server: TestServer;
before(async () => {
  without = await startTestServer({ execute, maxBatch: 5 });
  server = await startTestServer({ execute, maxBatch: 5, persistedQueries: 100_000, trustProxy: true });
});
after(() => Promise.all([without.close(), server.close()]));

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const extensionsOf = (sha256Hash: unknown, version: unknown = 1) => ({ persistedQuery: { version, sha256Hash } });

interface Answer {
  readonly status: number;
  readonly data?: { query: string };
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

async function post(to: TestServer, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await to.post({ body, headers });
  assert.equal(response.headers.get('cache-control'), 'no-store');
  return { status: response.status, ...((await response.json()) as object) };
}

async function get(to: TestServer, parameters: Record<string, string>): Promise<Answer> {
  const response = await fetch(`${to.endpoint}?${new URLSearchParams(parameters)}`, { headers: { apiKey: to.anonKey } });
  return { status: response.status, ...((await response.json()) as object) };
}

function assertError(answer: Answer, status: number, code: string, message: RegExp): void {
  const [error] = answer.errors ?? [];
  assert.deepEqual([answer.status, error?.extensions.code, 'data' in answer], [status, code, false], error?.message);
  assert.match(error?.message ?? '', message);
}

test('without the setting, clients are told to send their documents, which then run', async () => {
  for (const accept of ['*/*', 'application/json', 'application/graphql-response+json']) {
    const answer = await post(without, { extensions: extensionsOf(hashOf('{ a }')) }, { accept });
    assertError(answer, 200, 'PERSISTED_QUERY_NOT_SUPPORTED', /^PersistedQueryNotSupported$/);
  }
  const byUrl = await get(without, { extensions: JSON.stringify(extensionsOf(hashOf('{ a }'))) });
  assertError(byUrl, 200, 'PERSISTED_QUERY_NOT_SUPPORTED', /^PersistedQueryNotSupported$/);
  assert.deepEqual((await post(without, { query: '{ a }', extensions: extensionsOf(hashOf('{ a }')) })).data, { query: '{ a }' });
});

test('with it, a document is not found, then stored, then found, by POST and by GET', async () => {
  const query = '{ über }';
  const extensions = extensionsOf(hashOf(query));
  assertError(await post(server, { extensions }), 200, 'PERSISTED_QUERY_NOT_FOUND', /^PersistedQueryNotFound$/);
  const found = { extensions: JSON.stringify(extensions) };
  assertError(await get(server, found), 200, 'PERSISTED_QUERY_NOT_FOUND', /^PersistedQueryNotFound$/);
  assert.deepEqual((await post(server, { query, extensions, variables: { x: 1 } })).data, { query });
  assert.deepEqual((await post(server, { extensions, variables: { x: 2 } })).data, { query });
  assert.deepEqual(server.calls.at(-1)?.request, { query, variables: { x: 2 }, operationName: undefined, extensions });
  assert.deepEqual((await get(server, { ...found, variables: '{"x":3}' })).data, { query });
  assert.equal(server.calls.at(-1)?.options.readOnly, true);
});

test('a GET request stores too, and a response that was found may be kept', async () => {
  const query = '{ byUrl }';
  const extensions = JSON.stringify(extensionsOf(hashOf(query)));
  assert.deepEqual((await get(server, { query, extensions })).data, { query });
  const response = await fetch(`${server.endpoint}?${new URLSearchParams({ extensions })}`, { headers: { apiKey: server.anonKey } });
  assert.ok(response.headers.get('etag'));
});

test('in a batch each request has its own document', async () => {
  const [one, other] = ['{ one }', '{ other }'];
  const named = [{ extensions: extensionsOf(hashOf(one)) }, { extensions: extensionsOf(hashOf(other)) }];
  await post(server, { query: one, ...named[0] });
  const response = await server.post({ body: [named[1], named[0], { query: other, ...named[1] }] });
  const all = (await response.json()) as Omit<Answer, 'status'>[];
  assert.deepEqual(
    all.map(({ data, errors }) => data?.query ?? errors?.[0]?.extensions.code),
    ['PERSISTED_QUERY_NOT_FOUND', one, other],
  );
});

test('a hash of something else is refused, and nothing runs', async () => {
  const ran = server.calls.length;
  const query = '{ mine }';
  for (const hash of [hashOf('{ yours }'), hashOf(query).toUpperCase(), ` ${hashOf(query)}`, hashOf(query).slice(1), 'x', '__proto__']) {
    assertError(await post(server, { query, extensions: extensionsOf(hash) }), 400, 'BAD_REQUEST', /sha256Hash is not that of the query/);
    assertError(await post(server, { extensions: extensionsOf(hash) }), 200, 'PERSISTED_QUERY_NOT_FOUND', /./);
  }
  assert.equal(server.calls.length, ran);
});

test('what is not a persisted query is refused', async () => {
  const query = '{ a }';
  const bad = [1, 'x', true, [], {}, { version: 1 }, { version: 2, sha256Hash: hashOf(query) }, { sha256Hash: hashOf(query) }];
  for (const persistedQuery of [...bad, extensionsOf(1).persistedQuery, extensionsOf('').persistedQuery, extensionsOf({}).persistedQuery]) {
    for (const to of [server, without])
      assertError(await post(to, { query, extensions: { persistedQuery } }), 400, 'BAD_REQUEST', /"extensions.persistedQuery" must have/);
  }
  assert.deepEqual((await post(server, { query, extensions: { persistedQuery: null } })).data, { query });
  assertError(await post(server, '{"extensions":{"__proto__":{"persistedQuery":{}}}}'), 400, 'BAD_REQUEST', /no "query"/);
});

test('what cannot run is not stored, and nobody stores without a key', async () => {
  const query = 'invalid';
  const extensions = extensionsOf(hashOf(query));
  assert.equal((await post(server, { query, extensions })).errors?.length, 1);
  assertError(await post(server, { extensions }), 200, 'PERSISTED_QUERY_NOT_FOUND', /./);
  const stranger = { query: '{ stranger }', extensions: extensionsOf(hashOf('{ stranger }')) };
  assert.equal((await post(server, stranger, { apiKey: 'x' })).status, 401);
  assertError(await post(server, { extensions: stranger.extensions }), 200, 'PERSISTED_QUERY_NOT_FOUND', /./);
});

test('who stores much displaces only documents of its own', async () => {
  const query = '{ precious }';
  const extensions = extensionsOf(hashOf(query));
  await post(server, { query, extensions }, { 'x-forwarded-for': '10.0.0.1' });
  for (let count = 0; count < 200; count++) {
    const flood = `{ flood(n: ${count}, text: "${'x'.repeat(300)}") }`;
    await post(server, { query: flood, extensions: extensionsOf(hashOf(flood)) }, { 'x-forwarded-for': '10.0.0.2' });
  }
  assert.deepEqual((await post(server, { extensions })).data, { query });
  const huge = `{ a(text: "${'x'.repeat(50_000)}") }`;
  assert.equal((await post(server, { query: huge, extensions: extensionsOf(hashOf(huge)) })).status, 200);
  assertError(await post(server, { extensions: extensionsOf(hashOf(huge)) }), 200, 'PERSISTED_QUERY_NOT_FOUND', /./);
});

test('the cache keeps to its size, and counts for nobody what it has let go', () => {
  const cache = new PersistedQueries(80_000, null);
  const text = 'x'.repeat(1000);
  for (let owner = 0; owner < 100; owner++) for (let count = 0; count < 10; count++) cache.add(`${owner} ${count}`, text, `owner ${owner}`);
  const { entries } = cache.readStatistics();
  assert.ok(entries <= 32 && entries >= 28, `${entries}`);
  // The latest owners have an eighth each, the least recently used of their own documents are gone.
  assert.equal(cache.get('99 9', 'owner'), text);
  assert.equal(cache.get('99 5', 'owner'), null);
  assert.equal(cache.get('0 9', 'owner'), null);
  assert.equal(cache.get('99 7', 'owner'), text);
  cache.add('new', text, 'owner 99');
  assert.equal(cache.get('99 7', 'owner'), text, 'what was just used stays');
  cache.add('99 7', 'other', 'owner 1');
  assert.equal(cache.get('99 7', 'owner'), text);
});

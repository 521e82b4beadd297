/** The headers Idempotency-Key and Idempotency-Replayed, over a graph with the extension. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { readError, startTestServer, type TestServer } from './start-test-server.ts';

let pglite: PGlite;
let graph: Rowgraph;
let server: TestServer;

before(async () => {
  pglite = await startPglite();
  await pglite.exec(`${rolesSql} ${grantsSql} create table entry (id serial primary key, note text);
    grant all on all sequences in schema public to anon;`);
  graph = await createRowgraph({ database: pglite, schemaTriggers: true, idempotencyKeyRoles: ['anon'] });
  server = await startTestServer({ maxBatch: 5, execute: (request, caller, options) => graph.executeRaw(request, caller, options) });
});
after(async () => {
  await server.close();
  await graph.close();
  await pglite.close();
});

const insert = (note: string) => ({
  query: `mutation { insertIntoentryCollection(objects: [{note: "${note}"}]) { records { id note } } }`,
});
const post = (key: string, body: unknown): Promise<Response> => server.post({ headers: { 'idempotency-key': key }, body });
const rows = async (note: string): Promise<number> =>
  (await pglite.query<{ n: number }>('select count(*)::int as n from entry where note = $1', [note])).rows[0]!.n;

test('a repeat has the body of the first response, and says so in a header', async () => {
  const first = await post('9b1c', insert('once'));
  const body = await first.text();
  assert.deepEqual([first.status, first.headers.get('idempotency-replayed')], [200, null]);
  for (const key of ['9b1c', '"9b1c"']) {
    const again = await post(key, insert('once'));
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed'), await again.text()], [200, 'true', body]);
  }
  assert.equal(await rows('once'), 1);
});

test('pages of other origins may send the one and read the other', async () => {
  const preflight = await fetch(server.endpoint, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'idempotency-key,content-type',
    },
  });
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /idempotency-key/);
  const { headers } = await server.post({ headers: { origin: 'https://app.example' } });
  assert.match(headers.get('access-control-expose-headers') ?? '', /idempotency-replayed/);
});

test('another mutation under the key has status 422', async () => {
  await post('reused', insert('first'));
  const response = await post('reused', insert('second'));
  assert.equal(response.status, 422);
  assert.equal((await readError(response)).code, 'IDEMPOTENCY_KEY_REUSED');
  assert.equal(await rows('second'), 0);
});

test('headers that are not a key, or several', async () => {
  for (const key of ['', 'two words', 'one, two', 'é', `k${'x'.repeat(10_000)}`]) {
    const response = await post(key, insert('wrong'));
    assert.deepEqual([response.status, (await readError(response)).code], [400, 'BAD_REQUEST'], key);
  }
  const repeated = new Headers({ 'content-type': 'application/json', apiKey: server.anonKey });
  for (const key of ['one', 'two']) repeated.append('idempotency-key', key);
  const response = await fetch(server.endpoint, { method: 'POST', headers: repeated, body: JSON.stringify(insert('wrong')) });
  assert.equal((await readError(response)).code, 'BAD_REQUEST');
  assert.equal(await rows('wrong'), 0);
});

test('in a batch each mutation has its own key, in its extensions; a header is refused', async () => {
  const withKey = (note: string, idempotencyKey: string) => ({ ...insert(note), extensions: { idempotencyKey } });
  const batch = [withKey('a', 'batch-a'), withKey('b', 'batch-b'), withKey('a', 'batch-a'), insert('free'), { query: '{ __typename }' }];
  const answers = (await (await server.post({ body: batch })).json()) as { data: unknown }[];
  assert.deepEqual(answers[0], answers[2]);
  assert.deepEqual([await rows('a'), await rows('b'), await rows('free')], [1, 1, 1]);
  const response = await post('batch', batch);
  assert.equal(response.status, 400);
  assert.equal((await readError(response)).code, 'BAD_REQUEST');
});

test('a query takes any key, and GET runs no mutation whatever its key', async () => {
  const query = await post('reused', { query: '{ entryCollection(first: 1) { edges { node { id } } } }' });
  assert.deepEqual([query.status, query.headers.get('idempotency-replayed')], [200, null]);
  const url = `${server.endpoint}?query=${encodeURIComponent(insert('get').query)}`;
  const get = await fetch(url, { headers: { apiKey: server.anonKey, 'idempotency-key': 'get' } });
  assert.equal(get.status, 405);
});

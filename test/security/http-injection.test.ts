/** Hostile texts over HTTP: in headers, in tokens, in every member of the body and in the path. Nothing runs, and nothing is told. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SignJWT } from 'jose';
import type { ExecutionResult } from '../../src/engine/request.ts';
import { type RunningServer, startServer } from '../../src/http/transport/start-server.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { openRecordedPool, type RecordedPool } from '../support/recorded-pool.ts';
import { type ReceivedResponse, sendRequest } from '../support/send-request.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { catalogChecksum, hostileTexts, leaksOf, marker, quoted, storableTexts } from './hostile-texts.ts';

const secret = 'a-secret-of-tests-with-more-than-32-bytes';
const setup = `
  create table canary (id int);
  create table item (id serial primary key, note text);
  create function claims() returns json stable language sql as $$ select current_setting('request.jwt.claims')::json $$;
  create function echo(value text) returns text stable language sql as 'select value';
`;

let databases: TestDatabases;
let database: TestDatabase;
let recorded: RecordedPool;
let graph: Rowgraph;
let server: RunningServer;
let key: string;
const log: string[] = [];
let untouched: unknown;

const checksum = async (): Promise<unknown> => (await database.run(catalogChecksum))[0]?.checksum;
const sign = (claims: Record<string, unknown>): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret));

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(setup);
  recorded = openRecordedPool(database.url, 4);
  graph = await createRowgraph({ database: recorded.pool });
  const telemetry = createTelemetry({ level: 'debug', destination: { write: (line) => void log.push(line) } });
  server = await startServer({ graph, jwtSecret: secret, telemetry });
  key = await sign({ role: 'anon' });
  untouched = await checksum();
});
after(async () => {
  await server.close();
  await graph.close();
  await recorded.pool.end();
  await databases.close();
});

function send(headers: Record<string, string>, body: string, path = '/graphql/v1'): Promise<ReceivedResponse> {
  const options = { port: server.port, path, method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
  return sendRequest(options, body);
}

const post = (body: unknown, headers: Record<string, string> = { apiKey: key }): Promise<ReceivedResponse> =>
  send(headers, JSON.stringify(body));

/** The response is GraphQL's, tells nothing, and nothing has run. */
function assertHarmless({ body }: ReceivedResponse, given: string): ExecutionResult {
  const result = JSON.parse(body) as ExecutionResult;
  assert.deepEqual(leaksOf(result.errors, given), []);
  return result;
}

async function assertUntouched(): Promise<void> {
  assert.equal(await checksum(), untouched);
  assert.equal(
    recorded.texts.find((text) => text.includes(marker) || text.includes('canary')),
    undefined,
  );
  // A line of the log stays one line, whatever a client sent.
  for (const line of log) assert.doesNotThrow(() => JSON.parse(line), line);
}

const query = '{ itemCollection { edges { node { note } } } }';

test('in headers', async () => {
  for (const text of hostileTexts) {
    // What HTTP cannot carry in a header is refused before it is sent.
    const value = Buffer.from(text)
      .toString('latin1')
      .replace(/[^\t\x20-\x7e\x80-\xff]/g, '')
      .slice(0, 10_000);
    for (const header of [
      'apiKey',
      'authorization',
      'accept',
      'content-type',
      'x-request-id',
      'origin',
      'accept-encoding',
      'cookie',
      'traceparent',
    ]) {
      const answer = await send({ apiKey: key, [header]: value }, JSON.stringify({ query }));
      const { data } = assertHarmless(answer, value);
      if (header === 'apiKey' || header === 'authorization') assert.deepEqual([answer.status, data], [401, undefined]);
    }
    assert.equal((await send({ apiKey: key, authorization: `Bearer ${value}` }, JSON.stringify({ query }))).status, 401);
  }
  await assertUntouched();
});

test('in the claims and the role of a token that is signed well', async () => {
  for (const text of hostileTexts.filter((each) => each.length < 5000)) {
    const apiKey = await sign({ role: 'anon', sub: text, [text]: { [text]: [text] } });
    const { data } = assertHarmless(await post({ query: '{ claims }' }, { apiKey }), text);
    if (storableTexts.includes(text)) assert.equal(JSON.parse(String(data?.claims)).sub, text);
    const role = await post({ query }, { apiKey: await sign({ role: text }) });
    assert.equal(assertHarmless(role, text).data, undefined);
  }
  await assertUntouched();
});

test('in the members of a body', async () => {
  for (const text of hostileTexts) {
    const echo = assertHarmless(
      await post({ query: 'query ($v: String!) { echo(value: $v) }', variables: { v: text }, extensions: { [text]: text } }),
      text,
    );
    if (storableTexts.includes(text)) assert.deepEqual(echo, { data: { echo: text } });
    const bodies = [
      { query: text },
      { query: `{ echo(value: ${quoted(text)}) }`, operationName: text },
      { query, variables: text },
      { query, variables: { [text]: text } },
      { query, extensions: { persistedQuery: { version: 1, sha256Hash: text } } },
      { [text]: text, query },
      { query: `query ${text.replace(/\W/g, '_')} { __typename }`, operationName: text },
      [text],
      text,
    ];
    for (const body of bodies) assertHarmless(await post(body), text);
    assertHarmless(await send({ apiKey: key }, text), text);
  }
  await assertUntouched();
});

test('in the path', async () => {
  for (const text of hostileTexts.filter((each) => each.length < 5000)) {
    const part = encodeURIComponent(text.toWellFormed());
    for (const path of [`/graphql/v1/${part}`, `/graphql/v1?query=${part}`, `/${part}`]) {
      const answer = await send({ apiKey: key }, JSON.stringify({ query: '{ __typename }' }), path);
      assertHarmless(answer, text);
      assert.ok(!answer.body.includes(marker) || answer.status === 404, answer.body);
    }
  }
  await assertUntouched();
});

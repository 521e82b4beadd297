/** Batches: an array of requests, run side by side and answered in order, each counted as a request of its own. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { ApiError } from '../../src/errors/api-error.ts';
import { startServer } from '../../src/http/transport/start-server.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { startTestGraph } from '../support/test-graph.ts';
import { until } from '../support/until.ts';
import { type Execute, rawResponse, readError, secret, startTestServer, type TestServer } from './start-test-server.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer({
    maxBatch: 3,
    execute: async ({ query }) => {
      if (query === 'refused') throw new ApiError('PERMISSION_DENIED', 'No.');
      if (query === 'bug') throw new Error('a secret');
      if (query === 'failed') return rawResponse('{"errors":[{"message":"x"}]}', 'DATABASE_UNAVAILABLE');
      return rawResponse(JSON.stringify({ data: { query } }));
    },
  });
});
after(() => server.close());

async function readAll(response: Response): Promise<{ data?: { query: string }; errors?: { extensions: { code: string } }[] }[]> {
  return (await response.json()) as never;
}

test('requests run side by side and are answered in order', async () => {
  const ended = { b: Promise.withResolvers<void>(), c: Promise.withResolvers<void>() };
  // Each ends after the next one, so that none would end if they ran one after the other.
  const execute = async ({ query }: { query: string }) => {
    if (query === 'a') await ended.b.promise;
    if (query === 'b') await ended.c.promise.then(ended.b.resolve);
    if (query === 'c') ended.c.resolve();
    return rawResponse(JSON.stringify({ data: { query } }));
  };
  const reversed = await startTestServer({ maxBatch: 3, execute });
  const response = await reversed.post({ body: [{ query: 'a' }, { query: 'b', variables: { x: 1 } }, { query: 'c' }] });
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/json; charset=utf-8']);
  assert.deepEqual(
    (await readAll(response)).map(({ data }) => data?.query),
    ['a', 'b', 'c'],
  );
  assert.deepEqual(reversed.calls.at(-2)?.request.variables, { x: 1 });
  await reversed.close();
});

test('a batch of one is answered with an array', async () => {
  assert.deepEqual(await readAll(await server.post({ body: [{ query: 'a' }] })), [{ data: { query: 'a' } }]);
});

test('what fails leaves the others alone', async () => {
  for (const bad of [null, 1, 'a', [], [{ query: 'a' }], {}, { query: 1 }, { query: 'a', variables: [] }, { __proto__: 1 }]) {
    const all = await readAll(await server.post({ body: [{ query: 'a' }, bad, { query: 'b' }] }));
    assert.deepEqual([all[0]?.data, all[1]?.errors?.[0]?.extensions.code, all[2]?.data], [{ query: 'a' }, 'BAD_REQUEST', { query: 'b' }]);
  }
  const response = await server.post({ body: ['refused', 'bug', 'failed'].map((query) => ({ query })) });
  assert.equal(response.status, 200);
  const text = await response.text();
  assert.ok(!text.includes('a secret'));
  const codes = (JSON.parse(text) as { errors: { extensions?: { code: string } }[] }[]).map(({ errors }) => errors[0]?.extensions?.code);
  assert.deepEqual(codes, ['PERMISSION_DENIED', 'INTERNAL_ERROR', undefined]);
  assert.ok(server.log.some((line) => line.includes('a secret')));
});

test('the answers of a batch are bounded together, but for those of mutations', async () => {
  for (const isMutation of [false, true]) {
    const execute = async () => ({ ...rawResponse(`"${'x'.repeat(3_000_000)}"`), isMutation });
    const bounded = await startTestServer({ maxBatch: 4, execute, maxBytesInFlight: 10_000_000 });
    const answers = await readAll(await bounded.post({ body: Array.from({ length: 4 }, () => ({ query: 'a' })) }));
    const codes = answers.map((answer) => (typeof answer === 'string' ? 'OK' : answer.errors?.[0]?.extensions.code));
    assert.deepEqual(codes, isMutation ? ['OK', 'OK', 'OK', 'OK'] : ['OK', 'OK', 'OVERLOADED', 'OVERLOADED']);
    // The bytes of what was read are free again.
    await until(async () => (await bounded.post({ body: [{ query: 'a' }] }).then(readAll))[0]?.errors === undefined);
    await bounded.close();
  }
});

test('a batch that is empty, too long or not allowed is refused before anything runs', async () => {
  const ran = server.calls.length;
  const empty = await server.post({ body: [] });
  assert.deepEqual([empty.status, (await readError(empty)).code], [400, 'BAD_REQUEST']);
  const long = await server.post({ body: Array.from({ length: 4 }, () => ({ query: 'a' })) });
  const { code, message } = await readError(long);
  assert.deepEqual([long.status, code], [400, 'BATCH_TOO_LARGE']);
  assert.match(message, /has 4 requests; the limit is 3/);
  for (const body of [`[${'0,'.repeat(200_000)}0]`, `[${'[],'.repeat(150_000)}[]]`]) {
    const huge = await server.post({ body });
    assert.deepEqual([huge.status, (await readError(huge)).code], [400, 'BATCH_TOO_LARGE']);
  }
  const deep = await server.post({ body: '['.repeat(100_000) });
  assert.deepEqual([deep.status, (await readError(deep)).code], [400, 'TOO_DEEP']);
  const off = await startTestServer();
  const refused = await off.post({ body: [{ query: 'a' }] });
  assert.match((await readError(refused)).message, /--max-batch/);
  assert.equal(off.calls.length + server.calls.length, ran);
  await off.close();
  const url = `${server.endpoint}?${new URLSearchParams({ query: '[{"query":"a"}]' })}`;
  assert.equal((await fetch(url, { headers: { apiKey: server.anonKey } })).status, 200, 'a URL has no batch: this is one document');
});

test('each request counts among those in flight, and leaves again', async () => {
  const gate = Promise.withResolvers<void>();
  const execute = () => gate.promise.then(() => rawResponse('{}'));
  const limited = await startTestServer({ maxBatch: 10, maxRequests: 6, maxClientRequests: 5, execute });
  const send = (count: number): Promise<Response> => limited.post({ body: Array.from({ length: count }, () => ({ query: 'a' })) });
  const first = send(4);
  await until(() => limited.calls.length === 4);
  const second = await send(2);
  assert.deepEqual([second.status, (await readError(second)).code], [503, 'OVERLOADED']);
  assert.equal(limited.calls.length, 4);
  gate.resolve();
  assert.equal((await readAll(await first)).length, 4);
  for (let round = 0; round < 5; round++) assert.equal((await send(5)).status, 200);
  assert.equal((await send(6)).status, 503);
  await limited.close();
});

test('each request of a user counts for the user', async () => {
  const gate = Promise.withResolvers<void>();
  const limited = await startTestServer({
    maxBatch: 10,
    maxClientRequests: 5,
    trustProxy: true,
    execute: () => gate.promise.then(() => rawResponse('{}')),
  });
  const authorization = `Bearer ${await signKey(secret, 'authenticated', '1h', { sub: 'u' })}`;
  const send = (address: string): Promise<Response> =>
    limited.post({ headers: { authorization, 'x-forwarded-for': address }, body: Array.from({ length: 3 }, () => ({ query: 'a' })) });
  const first = send('10.0.0.1');
  await until(() => limited.calls.length === 3);
  assert.equal((await send('10.0.0.2')).status, 503);
  gate.resolve();
  assert.equal((await first).status, 200);
  assert.equal((await send('10.0.0.2')).status, 200);
  await limited.close();
});

test('each request counts against the rate', async () => {
  const limited = await startTestServer({ maxBatch: 10, rateLimit: { max: 5, windowMilliseconds: 3_600_000 } });
  const send = (count: number): Promise<Response> => limited.post({ body: Array.from({ length: count }, () => ({ query: 'a' })) });
  assert.equal((await send(4)).status, 200);
  assert.equal((await send(2)).status, 429);
  assert.equal(limited.calls.length, 4);
  await limited.close();
});

test('all requests of a batch have the deadline of the batch, and end with its client', async () => {
  const stopped: string[] = [];
  const stuck: Execute = (_request, _caller, { deadline }) =>
    new Promise((resolve) => {
      deadline?.onStop((reason) => {
        stopped.push(reason);
        resolve(rawResponse('{"errors":[]}', 'TIMEOUT'));
      });
    });
  const body = [{ query: 'a' }, { query: 'b' }, { query: 'c' }];
  const hurried = await startTestServer({ maxBatch: 10, requestTimeout: 100, execute: stuck });
  // On a busy machine the time may be over before the graph is asked.
  let response = await hurried.post({ body });
  while (hurried.calls.length === 0) response = await hurried.post({ body });
  assert.equal((await readAll(response)).length, 3);
  assert.deepEqual(stopped.splice(0), ['expired', 'expired', 'expired']);
  await hurried.close();
  const patient = await startTestServer({ maxBatch: 10, execute: stuck });
  const controller = new AbortController();
  const { anonKey: apiKey } = patient;
  const aborted = fetch(patient.endpoint, {
    method: 'POST',
    headers: { apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: controller.signal,
  });
  await until(() => patient.calls.length === 3);
  controller.abort();
  await assert.rejects(aborted);
  await until(() => stopped.length === 3);
  assert.deepEqual(stopped, ['abandoned', 'abandoned', 'abandoned']);
  await patient.close();
});

test('a large batch has one turn, which ends once all its requests are prepared', async () => {
  const gate = Promise.withResolvers<void>();
  const execute = async (_request: unknown, _caller: unknown, options: { onPrepared?: (() => void) | undefined }) => {
    options.onPrepared?.();
    await gate.promise;
    return rawResponse('{}');
  };
  const large = await startTestServer({ maxBatch: 3, bodyLimit: 1024 * 1024, execute });
  const body = [{ query: 'x'.repeat(200_000) }, { query: 'x'.repeat(200_000) }, {}];
  const all = [large.post({ body }), large.post({ body }), large.post({ body })];
  await until(() => large.calls.length === 6);
  gate.resolve();
  for (const response of await Promise.all(all)) assert.equal((await readAll(response)).length, 3);
  await large.close();
});

test('over a database, each request is a transaction of its own', async () => {
  const database = await startTestGraph('create table note (id int primary key); insert into note values (1)');
  const real = await startServer({
    graph: database.graph,
    jwtSecret: secret,
    maxBatch: 10,
    telemetry: createTelemetry({ level: 'silent' }),
  });
  try {
    const headers = { apiKey: await signKey(secret, 'anon'), 'content-type': 'application/json' };
    const insert = (id: number) => ({ query: `mutation { insertIntonoteCollection(objects: [{ id: ${id} }]) { affectedCount } }` });
    const body = JSON.stringify([insert(2), insert(1), insert(3), { query: '{ nothing }' }, { query: '{ __typename }' }]);
    const response = await fetch(`${real.url}/graphql/v1`, { method: 'POST', headers, body });
    const codes = (await readAll(response)).map(({ errors }) => errors?.[0]?.extensions.code);
    assert.deepEqual(codes, [undefined, 'CONSTRAINT_VIOLATION', undefined, 'GRAPHQL_VALIDATION_FAILED', undefined]);
    const rows = await database.database.run('select id from note order by id');
    assert.deepEqual(rows, [{ id: 1 }, { id: 2 }, { id: 3 }]);
  } finally {
    await real.close();
    await database.stop();
  }
});

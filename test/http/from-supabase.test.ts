/** What docs/from-supabase.md says of requests, keys, status codes and settings, by what a client and a function see. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiKey } from '../../src/auth/api-keys.ts';
import { signKey } from '../../src/auth/sign-key.ts';
import { createFetchHandler } from '../../src/http/transport/create-fetch-handler.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

const secret = 'a secret that has more than 32 characters';
const opaque = createApiKey('publishable');
let started: TestGraph;
let handler: (request: Request) => Promise<Response>;
let anonKey: string;

before(async () => {
  started = await startTestGraph(`
    create schema graphql_public; create function graphql_public.graphql() returns json language sql as $$ select '{}'::json $$;
    create table note (id int primary key, text text not null);
    create function seen() returns json stable language sql as $$ select json_build_object('claims', current_setting('request.jwt.claims')::json,
      'path', current_setting('request.path'), 'headers', current_setting('request.headers')::json,
      'cookies', current_setting('request.cookies', true), 'role', current_user) $$;
    create function answer() returns int volatile language sql as $$ select set_config('response.status', '418', true)::int $$;`);
  const apiKeys = { web: { hash: opaque.hash, role: 'anon', claims: { sub: 'web' } } };
  handler = createFetchHandler(started.graph, { jwtSecret: secret, apiKeys });
  anonKey = await signKey(secret, 'anon');
});
after(() => started.stop());

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function send({ headers = {}, body = { query: '{ seen }' } }: Sent): Promise<readonly [number, unknown]> {
  const request = new Request('http://api.example/graphql/v1', {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const response = await handler(request);
  return [response.status, await response.json()] as const;
}

async function seenBy(sent: Sent): Promise<Record<string, unknown>> {
  const [, body] = await send(sent);
  return JSON.parse((body as { data: { seen: string } }).data.seen) as Record<string, unknown>;
}

/** The status, the code of the first error, and whether the response has data, if only null. */
async function failureOf(sent: Sent): Promise<unknown[]> {
  const [status, body] = await send(sent);
  const { errors } = body as { errors: { extensions: { code: string } }[] };
  return [status, errors[0]?.extensions.code, 'data' in (body as object)];
}

test('keys, and what SQL knows of them', async () => {
  const token = await signKey(secret, 'authenticated', undefined, { sub: 'ada' });
  assert.deepEqual((await seenBy({ headers: { authorization: `Bearer ${anonKey}` } })).role, 'anon');
  const { claims, role } = (await seenBy({ headers: { authorization: `Bearer ${token}` } })) as { claims: { sub: string }; role: string };
  assert.deepEqual([claims.sub, role], ['ada', 'authenticated']);
  const { claims: opaqueClaims } = await seenBy({ headers: { apikey: opaque.key } });
  assert.deepEqual(opaqueClaims, { sub: 'web', role: 'anon' });
  assert.deepEqual(await failureOf({ headers: { apikey: 'x.y.z', authorization: `Bearer ${token}` } }), [401, 'UNAUTHENTICATED', false]);
});

test('headers of the REST server, and the settings it makes', async () => {
  const headers = {
    'accept-profile': 'private',
    'content-profile': 'graphql_public',
    prefer: 'tx=rollback',
    cookie: 'a=b',
    'x-client-info': 'js/2',
  };
  const seen = await seenBy({ headers });
  assert.deepEqual([seen.path, seen.headers, seen.cookies], ['/graphql/v1', { 'x-client-info': 'js/2' }, null]);
  const insert = 'mutation { insertIntonoteCollection(objects: [{id: 1, text: "a"}]) { affectedCount } }';
  await send({ headers, body: { query: insert } });
  assert.deepEqual(await started.database.run('select id from note'), [{ id: 1 }]);
  assert.deepEqual(await send({ body: { query: 'mutation { answer }' } }), [200, { data: { answer: 418 } }]);
});

test('status codes and the shape of errors', async () => {
  const taken = 'mutation { insertIntonoteCollection(objects: [{id: 1, text: "a"}]) { affectedCount } }';
  const cases: readonly (readonly [Sent, number, string, boolean])[] = [
    [{ body: { query: '{ nothing }' } }, 200, 'GRAPHQL_VALIDATION_FAILED', false],
    [{ body: { query: '{' } }, 200, 'GRAPHQL_PARSE_FAILED', false],
    [{ body: { query: '{ __schema { description } }' } }, 200, 'GRAPHQL_VALIDATION_FAILED', false],
    [{ body: { query: taken } }, 200, 'CONSTRAINT_VIOLATION', true],
    [{ body: {} }, 400, 'BAD_REQUEST', false],
    [{ body: [{ query: '{ seen }' }] }, 400, 'BAD_REQUEST', false],
    [{ headers: { apikey: '' } }, 401, 'UNAUTHENTICATED', false],
    [{ headers: { apikey: await signKey(secret, 'anon', -60) } }, 401, 'UNAUTHENTICATED', false],
    [{ headers: { apikey: await signKey(secret, 'postgres') } }, 401, 'UNAUTHENTICATED', false],
    [{ headers: { 'content-type': 'text/plain' } }, 415, 'UNSUPPORTED_MEDIA_TYPE', false],
  ];
  for (const [sent, ...expected] of cases) assert.deepEqual(await failureOf(sent), expected, JSON.stringify(sent));
});

test('a schema is exposed only if it is listed', async () => {
  assert.doesNotMatch(await started.graph.sdl(), /graphql: /);
});

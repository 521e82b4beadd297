/** `authenticate`: the application finds out who sends a request, by a cookie or a store of its own; what it does wrong harms nobody. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { inspect } from 'node:util';
import type { Authenticate, RequestHead } from '../../src/auth/caller.ts';
import { RevokedTokens } from '../../src/auth/revoked-tokens.ts';
import { signKey } from '../../src/auth/sign-key.ts';
import { createFetchHandler } from '../../src/http/transport/create-fetch-handler.ts';
import { ApiError } from '../../src/index.ts';
import { answer, rawResponse, readError, secret, startTestServer, type TestServer } from './start-test-server.ts';

const opened: TestServer[] = [];
after(() => Promise.all(opened.map((server) => server.close())));

async function serve(authenticate: Authenticate, options: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> {
  const server = await startTestServer({ authenticate, ...options });
  opened.push(server);
  return server;
}

const cookie = { apiKey: undefined, cookie: 'session=7' };

test('the caller is the one that the application names, before keys and tokens, which decide where it names none', async () => {
  const sessions = new Map([['session=7', { role: 'authenticated', claims: { sub: 'ada' } }]]);
  const heads: RequestHead[] = [];
  const server = await serve(async (head) => {
    heads.push(head);
    return sessions.get(head.headers.cookie ?? '');
  });
  assert.equal((await server.post({ headers: cookie })).status, 200);
  assert.deepEqual(server.calls.at(-1)?.caller, { role: 'authenticated', claims: { sub: 'ada' }, user: 'authenticated ada' });
  assert.deepEqual([heads[0]?.method, heads[0]?.url, heads[0]?.headers['content-type']], ['POST', '/graphql/v1', 'application/json']);
  // It is asked first: an invalid key beside the cookie is not even looked at.
  assert.equal((await server.post({ headers: { ...cookie, apiKey: 'x' } })).status, 200);
  assert.equal((await server.post()).status, 200);
  assert.equal(server.calls.at(-1)?.caller.role, 'anon');
  const bearer = `Bearer ${await signKey(secret, 'service_role')}`;
  assert.equal((await server.post({ headers: { authorization: bearer } })).status, 200);
  assert.equal(server.calls.at(-1)?.caller.role, 'service_role');
  assert.equal((await server.post({ headers: { ...cookie, cookie: 'session=8' } })).status, 401);
  // Nobody can change what the store holds.
  assert.equal(Object.isFrozen(sessions.get('session=7')?.claims), false);
});

test('it works alone, at once or later, and what depends on a cookie says so to caches', async () => {
  const server = await serve(({ url }) => (url.includes('nobody') ? null : { role: 'anon' }), {
    jwtSecret: undefined as never,
    cacheControl: 'private, max-age=60',
  });
  const get = (search: string): Promise<Response> => fetch(`${server.endpoint}?${search}`);
  const found = await get('query=%7B__typename%7D');
  assert.equal(found.status, 200);
  assert.equal(found.headers.get('vary'), 'Accept-Encoding, Origin, Host, Accept, apiKey, Authorization, Cookie');
  const none = await get('query=%7B__typename%7D&nobody');
  assert.deepEqual([none.status, (await readError(none)).code], [401, 'UNAUTHENTICATED']);
  // Without a secret there is no token that it accepts.
  for (const apiKey of [server.anonKey, 'rg_secret_x', '..'])
    assert.equal((await fetch(`${server.endpoint}?query=%7B__typename%7D&nobody`, { headers: { apiKey } })).status, 401);
});

test('it refuses a request by an ApiError; any other error is for the log, not for the client', async () => {
  const errors: unknown[] = [
    new ApiError('UNAUTHENTICATED', 'The session has ended. Sign in again.'),
    new Error('connect ECONNREFUSED secret.internal:6379'),
    'a text',
    null,
    undefined,
    // Made here, as JavaScript might: the constructor knows the codes.
    (() => {
      try {
        return new ApiError('SESSION_EXPIRED' as never, 'no');
      } catch (error) {
        return error;
      }
    })(),
  ];
  assert.ok(errors.at(-1) instanceof TypeError);
  let count = 0;
  const server = await serve(() => {
    throw errors[count];
  });
  const refused = await server.post({ headers: cookie });
  assert.deepEqual(
    [refused.status, await readError(refused)],
    [401, { code: 'UNAUTHENTICATED', message: 'The session has ended. Sign in again.' }],
  );
  for (count = 1; count < errors.length; count += 1) {
    const failed = await server.post({ headers: cookie });
    assert.equal(failed.status, 503);
    assert.equal(failed.headers.get('retry-after'), '1');
    const { code, message } = await readError(failed);
    assert.equal(code, 'AUTHENTICATION_UNAVAILABLE');
    assert.ok(!message.includes('secret.internal'));
    assert.ok(
      server.log.some((line) => line.includes('\\"authenticate\\" failed') && line.includes(String(failed.headers.get('x-request-id')))),
    );
  }
  assert.ok(server.log.some((line) => line.includes('secret.internal')));
  assert.deepEqual(server.calls, []);
});

test('what it returns must be a caller', async () => {
  const wrong: unknown[] = [
    {},
    { role: '' },
    { role: 'none' },
    { role: 7 },
    { role: 'a\0' },
    { role: 'anon', claims: [] },
    { role: 'anon', claims: 'x' },
    { role: 'anon', claims: { sub: 1n } },
    'anon',
    true,
  ];
  let returned: unknown;
  const server = await serve(() => returned as never);
  for (returned of wrong) {
    const response = await server.post({ headers: cookie });
    assert.deepEqual([response.status, (await readError(response)).code], [503, 'AUTHENTICATION_UNAVAILABLE'], inspect(returned));
  }
  assert.equal(server.calls.length, 0);
  returned = { role: 'anon', claims: Object.freeze(JSON.parse('{"__proto__":{"sub":"eve"}}')) };
  assert.equal((await server.post({ headers: cookie })).status, 200);
  assert.equal(server.calls.at(-1)?.caller.claims?.sub, undefined);
});

test('it has as long as the request: then its signal is aborted, and what it does later changes nothing', async () => {
  const aborted = Promise.withResolvers<unknown>();
  const late = Promise.withResolvers<never>();
  const server = await serve(
    ({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason));
      return late.promise;
    },
    { requestTimeout: 20 },
  );
  const response = await server.post({ headers: cookie });
  assert.equal((await readError(response)).code, 'TIMEOUT');
  assert.match(String(await aborted.promise), /time limit/);
  late.reject(new Error('too late'));
  assert.deepEqual(server.calls, []);
});

test('its signal is aborted when the client has gone', async () => {
  const asked = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<unknown>();
  const server = await serve(({ signal }) => {
    signal.addEventListener('abort', () => aborted.resolve(signal.reason));
    asked.resolve();
    return new Promise<never>(() => undefined);
  });
  const controller = new AbortController();
  const request = fetch(server.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ __typename }"}',
    signal: controller.signal,
  });
  await asked.promise;
  controller.abort();
  await assert.rejects(request, { name: 'AbortError' });
  assert.match(String(await aborted.promise), /cancelled/);
});

test('requests from one page to another cannot use its cookie: a body needs a type that browsers ask about first', async () => {
  const server = await serve(() => ({ role: 'authenticated' }));
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', undefined]) {
    const response = await server.post({ headers: { ...cookie, origin: 'https://evil.example', 'content-type': type } });
    assert.equal(response.status, 415, type);
  }
  const preflight = await fetch(server.endpoint, {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
  });
  assert.equal(preflight.headers.get('access-control-allow-credentials'), null);
  assert.deepEqual(server.calls, []);
});

test('the handler of the Fetch standard asks it, too', async () => {
  const handler = createFetchHandler(
    { executeRaw: async () => rawResponse(answer) },
    { authenticate: ({ headers }) => (headers.cookie === 'session=7' ? { role: 'authenticated' } : undefined) },
  );
  const ask = (headers: Record<string, string>) => handler(new Request('http://host/graphql?query=%7B__typename%7D', { headers }));
  assert.deepEqual([(await ask({ cookie: 'session=7' })).status, (await ask({})).status], [200, 401]);
  assert.throws(() => createFetchHandler({ executeRaw: async () => rawResponse(answer) }, {}), /"authenticate" is required/);
});

test('opaque keys and revoked tokens are options of a handler', async () => {
  const handle = (options: Parameters<typeof createFetchHandler>[1]) =>
    createFetchHandler({ executeRaw: async () => rawResponse(answer) }, options);
  const hash = 'sha256:2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683'; // of "key"
  const handler = handle({ apiKeys: { web: { hash, role: 'anon' } }, jwtSecret: secret, revokedTokens: [{ sub: 'eve' }] });
  const ask = async (apiKey: string) => (await handler(new Request('http://host/?query=%7B__typename%7D', { headers: { apiKey } }))).status;
  const tokenOf = (sub: string) => signKey(secret, 'authenticated', '1h', { sub });
  assert.deepEqual(
    [await ask('key'), await ask('other'), await ask(await tokenOf('ada')), await ask(await tokenOf('eve'))],
    [200, 401, 200, 401],
  );
  assert.throws(() => handle({ apiKeys: { web: { hash: 'x', role: 'anon' } } }), /apiKeys the key "web" must have a "hash"/);
  assert.throws(() => handle({ jwtSecret: secret, revokedTokens: [{}] }), /revokedTokens entry 1 must have one of/);
});

test('a token that is revoked while its request runs: that one finishes, the next is refused', async () => {
  const revoked = { current: new RevokedTokens([]) };
  const began = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const server = await startTestServer({
    tokens: { revoked },
    execute: async () => {
      began.resolve();
      await end.promise;
      return rawResponse(answer);
    },
  });
  opened.push(server);
  const headers = { authorization: `Bearer ${await signKey(secret, 'authenticated', '1h', { sub: 'ada' })}` };
  const running = server.post({ headers });
  await began.promise;
  revoked.current = new RevokedTokens([{ sub: 'ada' }]);
  assert.deepEqual(await readError(await server.post({ headers })), {
    code: 'UNAUTHENTICATED',
    message: 'The bearer token has been revoked. Get a new one.',
  });
  end.resolve();
  assert.equal((await running).status, 200);
});

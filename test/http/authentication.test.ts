/** Who may ask, and as whom: every kind of key and token at the endpoint, and that nothing runs for the bad ones. */
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { after, before, mock, test } from 'node:test';
import { SignJWT } from 'jose';
import { signKey } from '../../src/auth/sign-key.ts';
import type { Observer } from '../../src/events.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { rawResponse, readError, secret, startTestServer, type TestServer } from './start-test-server.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const base64url = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** A token put together by hand, so that it can be wrong in any way. */
function forge(header: unknown, payload: unknown, { key = secret, hash = 'sha256' } = {}): string {
  const input = `${base64url(header)}.${base64url(payload)}`;
  return `${input}.${createHmac(hash, key).update(input).digest('base64url')}`;
}

const hs256 = { alg: 'HS256', typ: 'JWT' };
const now = Math.floor(Date.now() / 1000);
const unsigned = `${base64url({ alg: 'none', typ: 'JWT' })}.${base64url({ role: 'service_role' })}.`;

/** The last characters of a signature may differ in bits that base64 does not use, so one in the middle is changed. */
function tamper(token: string): string {
  const [header, , signature] = token.split('.');
  return [header, base64url({ role: 'service_role' }), signature].join('.');
}

async function signWithKeyPair(): Promise<string> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return new SignJWT({ role: 'service_role' }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
}

const badTokens: Record<string, string | Promise<string>> = {
  'no token at all': 'hello',
  'two parts': 'a.b',
  'four parts': `${forge(hs256, { role: 'anon' })}.x`,
  'a header that is not JSON': forge('{', { role: 'anon' }),
  'a payload that is not JSON': forge(hs256, '{'),
  'a payload that is a list': forge(hs256, ['anon']),
  'a payload that is null': forge(hs256, 'null'),
  'alg none': unsigned,
  'alg none with a signature': forge({ alg: 'none' }, { role: 'service_role' }),
  'alg NONE': `${base64url({ alg: 'NONE' })}.${base64url({ role: 'service_role' })}.`,
  'no alg': forge({ typ: 'JWT' }, { role: 'anon' }),
  'alg HS384': forge({ alg: 'HS384' }, { role: 'anon' }, { hash: 'sha384' }),
  'alg HS512': forge({ alg: 'HS512' }, { role: 'anon' }, { hash: 'sha512' }),
  'alg ES256': signWithKeyPair(),
  'alg hs256 in small letters': forge({ alg: 'hs256' }, { role: 'anon' }),
  'an unknown critical header': forge({ ...hs256, crit: ['x'], x: 1 }, { role: 'anon' }),
  'another secret': forge(hs256, { role: 'anon' }, { key: 'another secret of more than 32 bytes' }),
  'the empty secret': signKeyWith('\0'),
  'a changed payload': tamper(forge(hs256, { role: 'anon' })),
  'no signature': forge(hs256, { role: 'anon' }).replace(/[^.]*$/, ''),
  expired: forge(hs256, { role: 'anon', exp: now - 1 }),
  'expires now': forge(hs256, { role: 'anon', exp: now }),
  'exp is text': forge(hs256, { role: 'anon', exp: 'tomorrow' }),
  'not yet valid': forge(hs256, { role: 'anon', nbf: now + 3600 }),
  'nbf is text': forge(hs256, { role: 'anon', nbf: 'yesterday' }),
  'exp is infinite': forge(hs256, '{"role":"anon","exp":1e999}'),
  'exp is null': forge(hs256, { role: 'anon', exp: null }),
  'exp is a list': forge(hs256, { role: 'anon', exp: [now + 3600] }),
  'nbf is infinitely long ago': forge(hs256, '{"role":"anon","nbf":-1e999}'),
  'iat is text': forge(hs256, { role: 'anon', iat: 'now' }),
  'iat is infinite': forge(hs256, '{"role":"anon","iat":1e999}'),
  'issued in the future': forge(hs256, { role: 'anon', iat: now + 3600 }),
  'a payload that is not encoded': forge({ ...hs256, b64: false, crit: ['b64'] }, { role: 'anon' }),
  'crit that is not a list': forge({ ...hs256, crit: 'b64' }, { role: 'anon' }),
  'a header nested deeply': forge(`{"alg":"HS256","x":${'['.repeat(4000)}${']'.repeat(4000)}}`, { role: 'anon' }, { key: 'x'.repeat(32) }),
  'a role named twice, the last time wrongly': forge(hs256, '{"role":"anon","role":["anon"]}'),
  'no role': forge(hs256, { sub: '1' }),
  'role null': forge(hs256, { role: null }),
  'role a number': forge(hs256, { role: 1 }),
  'role a list': forge(hs256, { role: ['anon'] }),
  'role empty': forge(hs256, { role: '' }),
  'role none, which resets to the login role': forge(hs256, { role: 'none' }),
  'role with a zero byte': forge(hs256, { role: 'anon\0' }),
  'role that is half a character': forge(hs256, '{"role":"\\ud800"}'),
  'role in a prototype': forge(hs256, '{"__proto__":{"role":"service_role"}}'),
};

function signKeyWith(key: string): string {
  return forge(hs256, { role: 'anon' }, { key });
}

async function assertRefused(response: Response): Promise<string> {
  assert.equal(response.status, 401);
  assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer/);
  const { code, message } = await readError(response);
  assert.equal(code, 'UNAUTHENTICATED');
  assert.ok(!message.includes(secret), 'the secret is not told');
  assert.ok(!/\bat .*:\d+/.test(message), 'no stack trace');
  return message;
}

for (const [name, given] of Object.entries(badTokens)) {
  test(`a token with ${name} is refused, as key and as bearer token, and nothing runs`, async () => {
    const token = await given;
    const ran = server.calls.length;
    assert.match(await assertRefused(await server.post({ headers: { apiKey: token } })), /^The apiKey /);
    assert.match(await assertRefused(await server.post({ headers: { authorization: `Bearer ${token}` } })), /^The bearer token /);
    const good = { apiKey: token, authorization: `Bearer ${server.anonKey}` };
    assert.match(
      await assertRefused(await server.post({ headers: good })),
      /^The apiKey /,
      'a good bearer token does not make up for a bad key',
    );
    assert.equal(server.calls.length, ran);
  });
}

test('without a key nothing runs, also with a bearer token', async () => {
  const ran = server.calls.length;
  assert.match(await assertRefused(await server.post({ headers: { apiKey: undefined } })), /apiKey/);
  assert.match(await assertRefused(await server.post({ headers: { apiKey: '' } })), /apiKey/);
  await assertRefused(await server.post({ headers: { apiKey: undefined, authorization: `Bearer ${server.anonKey}` } }));
  await assertRefused(await server.post({ headers: { apiKey: undefined }, path: `/graphql/v1?apiKey=${server.anonKey}` }));
  assert.equal(server.calls.length, ran);
});

test('the messages say what is wrong', async () => {
  const messageOf = async (token: string): Promise<string> => assertRefused(await server.post({ headers: { apiKey: token } }));
  assert.match(await messageOf(forge(hs256, { role: 'anon', exp: now - 1 })), /expired/);
  assert.match(await messageOf(forge(hs256, { role: 'anon', nbf: now + 3600 })), /not yet valid/);
  assert.match(await messageOf(forge(hs256, { role: 'anon' }, { key: 'x'.repeat(40) })), /invalid signature/);
  assert.match(await messageOf(unsigned), /not signed with HS256/);
  assert.match(await messageOf(forge(hs256, { sub: '1' })), /role/);
  assert.match(await messageOf('hello'), /not a JSON Web Token/);
});

test('a refused client that speaks the newer media type is answered in it', async () => {
  const response = await server.post({ headers: { apiKey: 'x', accept: 'application/graphql-response+json' } });
  assert.equal(response.headers.get('content-type'), 'application/graphql-response+json; charset=utf-8');
  await assertRefused(response);
});

test('the clock of whoever signs tokens may be somewhat ahead', async () => {
  for (const iat of [now + 30, now - 3600, now + 0.5])
    assert.equal((await server.post({ headers: { apiKey: forge(hs256, { role: 'anon', iat }) } })).status, 200);
  const future = await server.post({ headers: { apiKey: forge(hs256, { role: 'anon', iat: now + 3600 }) } });
  assert.match(await assertRefused(future), /iat/);
});

function lastCaller(): unknown {
  const { role, claims } = server.calls.at(-1)!.caller;
  return { role, claims };
}

test('the key decides role and claims', async () => {
  const claims = { role: 'anon', iss: 'x', nested: { list: [1, null] } };
  const response = await server.post({ headers: { apiKey: forge(hs256, claims) } });
  assert.equal(response.status, 200);
  assert.deepEqual(lastCaller(), { role: 'anon', claims });
});

test('the name of the header counts in any case, and so does the scheme', async () => {
  for (const name of ['apiKey', 'apikey', 'APIKEY', 'ApiKey']) {
    const response = await server.post({ headers: { apiKey: undefined, [name]: server.anonKey } });
    assert.equal(response.status, 200, name);
  }
  const token = await signKey(secret, 'authenticated');
  for (const authorization of [`bearer ${token}`, `BEARER ${token}`, `Bearer   ${token} `]) {
    assert.equal((await server.post({ headers: { authorization } })).status, 200);
    assert.equal(server.calls.at(-1)?.caller.role, 'authenticated');
  }
});

test('a bearer token decides instead of the key, on the first request and when both are known', async () => {
  const claims = { role: 'authenticated', sub: 'user-1' };
  for (let round = 0; round < 2; round++) {
    const response = await server.post({ headers: { authorization: `Bearer ${forge(hs256, claims)}` } });
    assert.equal(response.status, 200);
    assert.deepEqual(lastCaller(), { role: 'authenticated', claims });
  }
});

test('another scheme is refused, not passed over', async () => {
  const ran = server.calls.length;
  for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer ', server.anonKey, `Token ${server.anonKey}`]) {
    await assertRefused(await server.post({ headers: { authorization } }));
  }
  assert.equal(server.calls.length, ran);
});

test('a bad key beside another scheme is refused, and leaves no promise that nobody awaits', async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on('unhandledRejection', note);
  try {
    for (const authorization of ['Basic x', 'Bearer', 'Bearer ', 'x'])
      await assertRefused(await server.post({ headers: { apiKey: 'x', authorization } }));
    // Node reports a rejection when the microtasks are done, which two round trips more outlast.
    for (let count = 0; count < 2; count++) assert.equal((await server.post()).status, 200);
  } finally {
    process.off('unhandledRejection', note);
  }
  assert.deepEqual(rejections, []);
});

test('two keys in one request are not a key', async () => {
  const response = await fetch(server.endpoint, {
    method: 'POST',
    headers: [
      ['apiKey', server.anonKey],
      ['apikey', server.anonKey],
      ['content-type', 'application/json'],
    ],
    body: '{"query":"{ __typename }"}',
  });
  await assertRefused(response);
});

test('a token that was good ends when it expires, though it is remembered, and a clock set back does not revive it', async () => {
  mock.timers.enable({ apis: ['Date'], now: now * 1000 });
  try {
    const token = forge(hs256, { role: 'anon', nbf: now, exp: now + 10 });
    const ask = (): Promise<Response> => server.post({ headers: { apiKey: token } });
    assert.equal((await ask()).status, 200);
    mock.timers.setTime((now + 9) * 1000 + 999);
    assert.equal((await ask()).status, 200);
    mock.timers.setTime((now + 10) * 1000);
    assert.match(await assertRefused(await ask()), /expired/);
    assert.match(await assertRefused(await ask()), /expired/);
    mock.timers.setTime(now * 1000);
    assert.equal((await ask()).status, 200);
    mock.timers.setTime((now - 1) * 1000);
    assert.match(await assertRefused(await ask()), /not yet valid/);
    assert.match(await assertRefused(await ask()), /not yet valid/);
  } finally {
    mock.timers.reset();
  }
});

test('a role that the graph finds cannot be assumed is told as a GraphQL error with status 401, in both media types', async () => {
  const body = '{"errors":[{"message":"The role ghost does not exist.","extensions":{"code":"UNAUTHENTICATED"}}]}';
  const strict = await startTestServer({ execute: async () => rawResponse(body, 'UNAUTHENTICATED') });
  try {
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const response = await strict.post({ headers: { apiKey: await signKey(secret, 'ghost'), accept } });
      assert.match(await assertRefused(response), /ghost/);
    }
  } finally {
    await strict.close();
  }
});

test('keys are never written to the log', async () => {
  const token = await signKey(secret, 'authenticated');
  await server.post({ headers: { authorization: `Bearer ${token}` } });
  await server.post({ headers: { apiKey: 'not-a-key-but-secret' } });
  await server.post({ path: `/elsewhere?apikey=${token}` });
  const text = server.log.join('');
  assert.ok(text.length > 0);
  for (const word of [token, server.anonKey, secret, 'not-a-key-but-secret']) assert.ok(!text.includes(word));
});

/** The status of a request with this query in its URL, and the role that it ran as. */
async function askByUrl(
  at: TestServer,
  query: string,
  { method = 'POST', headers = {} }: RequestInit = {},
): Promise<[number, string | undefined]> {
  const ran = at.calls.length;
  const url = `${at.endpoint}?${query}${method === 'GET' ? '&query={__typename}' : ''}`;
  const body = method === 'GET' ? null : '{"query":"{ __typename }"}';
  const response = await fetch(url, { method, headers: { 'content-type': 'application/json', ...headers }, body });
  await response.text();
  return [response.status, at.calls[ran]?.caller.role];
}

test("a key may be in the URL, as Supabase's gateway accepts it; the header wins", async () => {
  const { anonKey } = server;
  const service = await signKey(secret, 'service_role');
  for (const method of ['POST', 'GET']) {
    const ask = (query: string, headers: Record<string, string> = {}) => askByUrl(server, query, { method, headers });
    assert.deepEqual(await ask(`apikey=${anonKey}`), [200, 'anon']);
    assert.deepEqual(await ask(`x=1&apikey=${encodeURIComponent(anonKey).replaceAll('.', '%2E')}&y`), [200, 'anon']);
    assert.deepEqual(await ask(`apikey=${anonKey}`, { authorization: `Bearer ${service}` }), [200, 'service_role']);
    assert.deepEqual(await ask(`apikey=${anonKey}`, { apiKey: service }), [200, 'service_role']);
    assert.deepEqual(await ask('apikey=x', { apiKey: anonKey }), [200, 'anon']);
    for (const apiKey of ['x', '']) assert.deepEqual(await ask(`apikey=${anonKey}`, { apiKey }), [401, undefined]);
    for (const query of [
      'apikey=x',
      'apikey=',
      'apikey',
      `apikey=${anonKey}&apikey=${anonKey}`,
      `apikey=${anonKey}&%61pikey=x`,
      `apiKey=${anonKey}`,
      `xapikey=${anonKey}`,
      `apikey=%zz${anonKey}`,
    ])
      assert.deepEqual(await ask(query), [401, undefined], query);
    assert.deepEqual(await ask('', { authorization: `Bearer ${service}` }), [401, undefined], 'a token alone');
  }
});

test('with keyInUrl: false, a key in the URL is none', async () => {
  const strict = await startTestServer({ keyInUrl: false });
  assert.deepEqual(await askByUrl(strict, `apikey=${strict.anonKey}`), [401, undefined]);
  assert.deepEqual(await askByUrl(strict, `apikey=${strict.anonKey}`, { headers: { apiKey: strict.anonKey } }), [200, 'anon']);
  await strict.close();
});

test('a key in the URL is in no log, event or response, and responses vary as others do', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const telemetry = createTelemetry({ level: 'trace', destination, accessLog: true, slowOperations: { milliseconds: 0, hasValues: true } });
  const events: unknown[] = [];
  const observe: Observer = (event) => {
    events.push(event);
    telemetry.observe(event);
  };
  const traced = await startTestServer({
    telemetry: { ...telemetry, observe },
    detailedEvents: true,
    serverTiming: true,
    cacheControl: 'private, max-age=5',
  });
  const { anonKey, endpoint } = traced;
  const heads: string[] = [];
  for (const query of [
    `apikey=${anonKey}&query={__typename}`,
    `apikey=${anonKey}&query=%zz`,
    `apikey=x${anonKey}`,
    `apikey=${anonKey}&apikey=${anonKey}`,
  ]) {
    const response = await fetch(`${endpoint}?${query}`);
    heads.push(JSON.stringify([...response.headers]) + (await response.text()));
  }
  const byHeader = await fetch(`${endpoint}?query={__typename}`, { headers: { apiKey: anonKey } });
  const byUrl = await fetch(`${endpoint}?query={__typename}&apikey=${anonKey}`);
  for (const name of ['vary', 'cache-control', 'etag']) assert.equal(byUrl.headers.get(name), byHeader.headers.get(name), name);
  await traced.close();
  assert.ok(lines.length > 0 && events.length > 0);
  for (const text of [...lines, ...heads, JSON.stringify(events), await telemetry.writeMetrics()])
    assert.ok(!text.includes(anonKey.split('.')[2]!), text);
});

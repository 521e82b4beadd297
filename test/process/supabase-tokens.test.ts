/** `rowgraph serve` with the keys and tokens of a Supabase project: what its gateway takes is taken, whatever kind of keys the project has. */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { SignJWT } from 'jose';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { makeFolder, type RunningCommand, removeFolder, startCommand } from './run-command.ts';

const legacySecret = 'the legacy secret of a project on the platform';
const kid = '5d4c1f7e-0000-4000-8000-000000000001';
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const publishable = 'sb_publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH';
const secretKey = 'sb_secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz';
const hashOf = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;

let home: string;
let databases: TestDatabases;
let database: TestDatabase;
let origin: string;
const asked: (string | undefined)[] = [];
/** The authentication server of the project. */
const auth = createServer((request, response) => {
  asked.push(request.url);
  const jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig', key_ops: ['verify'], ext: true };
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
});
before(async () => {
  home = await makeFolder();
  databases = await startTestDatabases();
  database = await databases.create(`create function who() returns text language sql stable as
    $$ select current_user || coalesce(' ' || (current_setting('request.jwt.claims', true)::json ->> 'sub'), '') $$`);
  await once(auth.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${(auth.address() as AddressInfo).port}`;
  await writeFile(
    path.join(home, 'keys.json'),
    JSON.stringify({ web: { hash: hashOf(publishable), role: 'anon' }, worker: { hash: hashOf(secretKey), role: 'service_role' } }),
  );
});
after(async () => {
  auth.closeAllConnections();
  auth.close();
  await databases.close();
  await removeFolder(home);
});

/** As the authentication server signs for a user. */
function signIn(signer = pair, claims: object = {}): Promise<string> {
  const user = { aud: 'authenticated', role: 'authenticated', email: 'ada@plants.example', phone: '', aal: 'aal1', is_anonymous: false };
  const rest = { app_metadata: { provider: 'email' }, user_metadata: {}, amr: [{ method: 'password', timestamp: 1 }], session_id: 's' };
  const token = new SignJWT({ iss: `${origin}/auth/v1`, sub: 'ada', ...user, ...rest, ...claims });
  return token.setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' }).setIssuedAt().setExpirationTime('1h').sign(signer.privateKey);
}

function legacyKey(role: string): Promise<string> {
  const token = new SignJWT({ iss: 'supabase', ref: 'abcdefghijklmnopqrst', role });
  return token.setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).setIssuedAt().setExpirationTime('10y').sign(Buffer.from(legacySecret));
}

interface Service {
  readonly command: RunningCommand;
  /** Who the caller is to PostgreSQL, or the code of the error. */
  ask(apikey: string, bearer?: string): Promise<unknown>;
}

async function serve(...flags: readonly string[]): Promise<Service> {
  const environment = { ROWGRAPH_DATABASE_URL: database.url, ROWGRAPH_PORT: '0' };
  const command = startCommand(['serve', ...flags], { home, environment });
  const url = /serves (\S+)/.exec(await command.waitFor(/serves \S+\n/))?.[1] ?? '';
  const ask: Service['ask'] = async (apikey, bearer) => {
    const headers = { apikey, 'content-type': 'application/json', ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) };
    const response = await fetch(url, { method: 'POST', headers, body: '{"query":"{ who }"}' });
    const { data, errors } = (await response.json()) as { data?: { who: string }; errors?: { extensions: { code: string } }[] };
    return data?.who ?? errors?.[0]?.extensions.code;
  };
  return { command, ask };
}

describe('the tokens of a Supabase project', () => {
  test('users are known by --supabase alone, their tokens being keys as well', async () => {
    const { command, ask } = await serve('--supabase', origin);
    const token = await signIn();
    assert.equal(await ask(token), 'authenticated ada');
    assert.equal(await ask(token, await signIn(pair, { sub: 'bob' })), 'authenticated bob');
    assert.equal(await ask(await signIn(stranger)), 'UNAUTHENTICATED');
    assert.equal(await ask(await signIn(pair, { role: 'postgres' })), 'UNAUTHENTICATED');
    assert.equal(await ask(await legacyKey('anon')), 'UNAUTHENTICATED');
    assert.equal(await ask(publishable), 'UNAUTHENTICATED');
    assert.deepEqual(asked, ['/auth/v1/.well-known/jwks.json']);
    assert.equal((await command.stop()).code, 0);
  });

  test('all kinds of keys together, in the headers as supabase-js sends them', async () => {
    const { command, ask } = await serve('--supabase', `${origin}/`, '--api-keys', 'keys.json', '--jwt-secret', legacySecret);
    const [token, anon, service] = [await signIn(), await legacyKey('anon'), await legacyKey('service_role')];
    // Nobody has signed in: the key stands in both headers, or in one.
    for (const key of [publishable, anon]) assert.deepEqual([await ask(key), await ask(key, key)], ['anon', 'anon']);
    for (const key of [secretKey, service]) assert.deepEqual([await ask(key), await ask(key, key)], ['service_role', 'service_role']);
    for (const key of [publishable, anon, secretKey]) {
      assert.equal(await ask(key, token), 'authenticated ada');
      assert.equal(await ask(key, await signIn(stranger)), 'UNAUTHENTICATED');
    }
    assert.equal(await ask(`${publishable}x`, token), 'UNAUTHENTICATED');
    assert.equal((await command.stop()).code, 0);
  });

  test('its URL is one that nobody else on the network can answer at', async () => {
    for (const url of [
      'http://plants.example',
      'http://127.0.0.1.plants.example',
      'https://plants.example/auth/v1',
      'ftp://localhost',
      'short',
    ]) {
      const { code, stderr } = await startCommand(['serve', '--supabase', url, '--database-url', database.url], { home }).ended;
      assert.equal(code, 2, url);
      assert.match(stderr, /^rowgraph: --supabase must be a reference of 20 letters and digits, or a URL such as [^\n]+\n$/);
    }
  });
});

/**
 * Which tokens are accepted: every way of signing, against every set of rules, with every kind of claim. Each case is a row of a matrix, and what must come of it
 * follows from the row, not from what the verifier did.
 */
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { exportJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { RemotePublicKeys, readPublicKeys } from '../../src/auth/public-keys.ts';
import type { TokenRules } from '../../src/auth/read-jwt.ts';
import { TokenVerifier } from '../../src/auth/verify-token.ts';
import { ApiError } from '../../src/errors/api-error.ts';
import type { Event } from '../../src/events.ts';
import { parseClaimPath } from '../../src/settings/check-settings.ts';
import { until } from '../support/until.ts';

interface Signer {
  readonly alg: string;
  readonly secret?: string;
  readonly pair?: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  readonly kid?: string;
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const otherRsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed25519 = generateKeyPairSync('ed25519');
const secret = 'the secret of the project, which is long enough';
const earlier = 'the secret that it had before, as long as the other';

const signers: Readonly<Record<string, Signer>> = {
  secret: { alg: 'HS256', secret },
  'the earlier secret': { alg: 'HS256', secret: earlier },
  'an unknown secret': { alg: 'HS256', secret: `${secret}?` },
  'the secret by HS384': { alg: 'HS384', secret: secret.repeat(2) },
  'RS256 with a key id': { alg: 'RS256', pair: rsa, kid: 'rsa' },
  'RS256 without a key id': { alg: 'RS256', pair: rsa },
  'RS256 with an unknown key id': { alg: 'RS256', pair: rsa, kid: 'unknown' },
  'RS256 by an unknown key': { alg: 'RS256', pair: otherRsa, kid: 'rsa' },
  'RS512 with a key id': { alg: 'RS512', pair: rsa, kid: 'rsa' },
  PS256: { alg: 'PS256', pair: rsa, kid: 'rsa' },
  ES256: { alg: 'ES256', pair: p256, kid: 'p256' },
  EdDSA: { alg: 'EdDSA', pair: ed25519, kid: 'ed25519' },
};

async function jwkOf(key: KeyObject, kid?: string): Promise<JWK> {
  return { ...(await exportJWK(key)), ...(kid !== undefined && { kid }) };
}
const jwks = JSON.stringify({
  keys: [await jwkOf(rsa.publicKey, 'rsa'), await jwkOf(p256.publicKey, 'p256'), await jwkOf(ed25519.publicKey, 'ed25519')],
});
const pem = [rsa, p256, ed25519].map(({ publicKey }) => publicKey.export({ type: 'spki', format: 'pem' })).join('\n');
const publicSigners = ['RS256 with a key id', 'RS256 without a key id', 'PS256', 'ES256', 'EdDSA'];

/** Rules, and the signers whose tokens they accept. */
const rules: Readonly<Record<string, { readonly rules: TokenRules; readonly accepts: readonly string[] }>> = {
  'one secret': { rules: { secrets: [secret] }, accepts: ['secret'] },
  'two secrets': { rules: { secrets: [secret, earlier] }, accepts: ['secret', 'the earlier secret'] },
  JWKS: { rules: { secrets: [], publicKeys: readPublicKeys(jwks) }, accepts: publicSigners },
  // The keys of PEM have no ids, so any id will do.
  PEM: { rules: { secrets: [], publicKeys: readPublicKeys(pem) }, accepts: [...publicSigners, 'RS256 with an unknown key id'] },
  'a secret and JWKS': { rules: { secrets: [secret], publicKeys: readPublicKeys(jwks) }, accepts: ['secret', ...publicSigners] },
};

const now = Math.floor(Date.now() / 1000);
/** In seconds, of which a test takes far fewer. */
const hour = 3600;
const leeway = hour;

/** Claims, and whether rules with an audience, an issuer and a leeway accept them, and rules without. */
const claims: Readonly<Record<string, { readonly claims: Record<string, unknown>; readonly plain: boolean; readonly strict: boolean }>> = {
  plain: { claims: { role: 'anon' }, plain: true, strict: false },
  complete: { claims: { role: 'anon', aud: 'api', iss: 'us', exp: now + hour }, plain: true, strict: true },
  'one audience of several': { claims: { role: 'anon', aud: ['other', 'api'], iss: 'us' }, plain: true, strict: true },
  'another audience': { claims: { role: 'anon', aud: 'other', iss: 'us' }, plain: true, strict: false },
  'another issuer': { claims: { role: 'anon', aud: 'api', iss: 'them' }, plain: true, strict: false },
  'just expired': { claims: { role: 'anon', aud: 'api', iss: 'us', exp: now - 20 }, plain: false, strict: true },
  expired: { claims: { role: 'anon', aud: 'api', iss: 'us', exp: now - 2 * hour }, plain: false, strict: false },
  'not yet valid': { claims: { role: 'anon', aud: 'api', iss: 'us', nbf: now + 2 * hour }, plain: false, strict: false },
  'issued in the future': { claims: { role: 'anon', aud: 'api', iss: 'us', iat: now + 2 * hour }, plain: false, strict: false },
  'no role': { claims: { aud: 'api', iss: 'us' }, plain: false, strict: false },
  'a role that is a list': { claims: { role: ['anon'], aud: 'api', iss: 'us' }, plain: false, strict: false },
  'the role none': { claims: { role: 'none', aud: 'api', iss: 'us' }, plain: false, strict: false },
};

function sign({ alg, secret: text, pair, kid }: Signer, payload: JWTPayload): Promise<string> {
  const key = pair === undefined ? Buffer.from(text!) : pair.privateKey;
  return new SignJWT(payload).setProtectedHeader({ alg, ...(kid !== undefined && { kid }) }).sign(key);
}

/** The role that a token stands for; null if it is refused, which has to be by UNAUTHENTICATED. */
async function roleOf(token: string, tokenRules: TokenRules): Promise<string | null> {
  try {
    return (await new TokenVerifier(tokenRules).verify(token, 'The token')).role;
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'UNAUTHENTICATED', String(error));
    return null;
  }
}

for (const [name, { rules: plainRules, accepts }] of Object.entries(rules)) {
  describe(`tokens where there are ${name}`, () => {
    for (const [signer, how] of Object.entries(signers)) {
      const isKnown = accepts.includes(signer);
      test(`signed with ${signer}: ${isKnown ? 'by their claims' : 'refused'}`, async () => {
        for (const [what, { claims: payload, plain, strict }] of Object.entries(claims)) {
          const token = await sign(how, payload);
          assert.equal(await roleOf(token, plainRules), isKnown && plain ? 'anon' : null, `${what}, plain`);
          const strictRules = { ...plainRules, audience: ['api', 'web'], issuer: ['us'], leeway };
          assert.equal(await roleOf(token, strictRules), isKnown && strict ? 'anon' : null, `${what}, strict`);
        }
      });
    }
  });
}

test('there are as many cases as were promised', () => {
  const cases = 2 * Object.keys(rules).length * Object.keys(signers).length * Object.keys(claims).length;
  assert.ok(cases >= 1000, String(cases));
});

test('a public key is no secret: tokens that were signed with its text are refused', async () => {
  for (const text of [pem, jwks, pem.trim(), String(rsa.publicKey.export({ type: 'spki', format: 'pem' }))]) {
    const token = await sign({ alg: 'HS256', secret: text, kid: 'rsa' }, { role: 'service_role' });
    for (const { rules: each } of Object.values(rules)) assert.equal(await roleOf(token, each), null);
  }
});

test('unsigned tokens and broken ones are refused', async () => {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = encode({ role: 'service_role' });
  const signed = await sign(signers.ES256!, { role: 'anon' });
  const [head = '', , signature = ''] = signed.split('.');
  const broken = [
    ...[{ alg: 'none' }, { alg: 'None' }, {}, { alg: 'ES256', kid: {} }, { alg: ['ES256'] }, { alg: 'toString' }].map(
      (header) => `${encode(header)}.${body}.`,
    ),
    ...[
      `${head}.${body}.${signature}`,
      `${head}.${body}.`,
      `${head}..${signature}`,
      `${head}.${signature}`,
      '..',
      '.',
      'x',
      '\u0000',
      `${signed}.`,
      ` ${signed}x`,
    ],
    `${encode({ alg: 'ES256', crit: ['exp'] })}.${body}.${signature}`,
    `${encode({ alg: 'ES256', jwk: await jwkOf(otherRsa.publicKey) })}.${body}.${signature}`,
  ];
  for (const token of broken) for (const { rules: each } of Object.values(rules)) assert.equal(await roleOf(token, each), null, token);
});

test('the role is read where the rules say', async () => {
  const roleAt = async (path: string, payload: JWTPayload): Promise<string | null> =>
    roleOf(await sign(signers.secret!, payload), { secrets: [secret], roleClaim: parseClaimPath(path) });
  assert.equal(await roleAt('.app_metadata.role', { role: 'anon', app_metadata: { role: 'editor' } }), 'editor');
  assert.equal(await roleAt('."https://example.com/claims".role', { 'https://example.com/claims': { role: 'editor' } }), 'editor');
  assert.equal(await roleAt('.app_metadata.role', { role: 'anon' }), null);
  assert.equal(await roleAt('.constructor.name', { role: 'anon' }), null);
  for (const path of ['role', '', '.', '.a..b', '.a b', '."', '[0]', '.a[]', '.a[-1]', '.a[x]', '.a[0', '.a]'])
    assert.throws(() => parseClaimPath(path), /must be a path/);
});

test('the role may be an element of a list, or nested in JSON as text', async () => {
  const roleAt = async (path: string, payload: JWTPayload): Promise<string | null> =>
    roleOf(await sign(signers.secret!, payload), { secrets: [secret], roleClaim: parseClaimPath(path) });
  const realm = { realm_access: { roles: ['editor', 'offline_access'] } };
  assert.equal(await roleAt('.realm_access.roles[0]', realm), 'editor');
  assert.equal(await roleAt('.realm_access.roles[1]', realm), 'offline_access');
  assert.equal(await roleAt('.realm_access.roles[2]', realm), null);
  assert.equal(await roleAt('.groups[0][1].name', { groups: [[{}, { name: 'editor' }]] }), 'editor');
  const namespace = 'https://hasura.io/jwt/claims';
  const path = `."${namespace}"."x-hasura-default-role"`;
  assert.equal(await roleAt(path, { [namespace]: JSON.stringify({ 'x-hasura-default-role': 'editor' }) }), 'editor');
  assert.equal(await roleAt(path, { [namespace]: '{"x-hasura-default-role":' }), null);
  assert.equal(await roleAt(path, { [namespace]: 'null' }), null);
});

test('of a list of roles, the first is taken that tokens may name', async () => {
  const roleAmong = async (tokenRoles: readonly string[] | undefined, value: unknown): Promise<string | null> =>
    roleOf(await sign(signers.secret!, { roles: value }), { secrets: [secret], roleClaim: ['roles'], tokenRoles });
  const allowed = ['editor', 'anon'];
  assert.equal(await roleAmong(allowed, ['offline_access', 'anon', 'editor']), 'anon');
  assert.equal(await roleAmong(allowed, ['service_role', 'offline_access']), null);
  assert.equal(await roleAmong(allowed, []), null);
  assert.equal(await roleAmong(allowed, [['editor'], null, 7, 'editor']), 'editor');
  assert.equal(await roleAmong(undefined, ['editor']), null);
  assert.equal(await roleAmong(allowed, 'editor'), 'editor');
  assert.equal(await roleAmong(allowed, 'service_role'), null);
  assert.equal(await roleAmong(['none'], ['none']), null);
  for (const [tokenRoles, reason] of [
    [undefined, /The apiKey has a list as its role claim\. Set tokenRoles/],
    [allowed, /The apiKey names no role that this server accepts\./],
  ] as const) {
    const verifier = new TokenVerifier({ secrets: [secret], roleClaim: ['roles'], tokenRoles });
    await assert.rejects(async () => verifier.verify(await sign(signers.secret!, { roles: ['owner'] }), 'The apiKey'), reason);
  }
});

test('what is no public key is refused with the reason', async () => {
  const privatePem = String(p256.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /neither PEM nor JSON/],
    ['{"keys":[]}', /holds no key/],
    ['[]', /holds no key/],
    ['{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}', /holds no key/],
    [privatePem, /private key/],
    [JSON.stringify(await exportJWK(p256.privateKey)), /private key/],
    ['-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----', /PEM block/],
    [JSON.stringify({ keys: Array(101).fill(JSON.parse(jwks).keys[0]) }), /more than 100 keys/],
  ];
  for (const [text, reason] of cases) assert.throws(() => readPublicKeys(text), reason);
});

/** A set with keys of which anybody may name one in a token, and which libraries fail to import. */
function unusable(...good: JWK[]): string {
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
  const keys = [
    { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'broken' },
    { kty: 'RSA', kid: 'certificate', x5c: ['MII'] },
    { ...weak, kid: 'weak' },
    { kty: 'OKP', crv: 'Ed25519', x: 'AA', kid: 'short' },
    // These are for other purposes.
    { kty: 'RSA', kid: 'other', alg: 'RS512' },
    { kty: 'OKP', crv: 'X25519', x: 'AA', kid: 'agreement' },
  ];
  return JSON.stringify({ keys: [...keys, ...good] });
}

function forged(alg: string, kid: string): string {
  const [head, body] = [{ alg, kid }, { role: 'service_role' }].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`;
}

test('a key that cannot be used is no key: a token that names it is refused, whoever signed it', async () => {
  const ignored: string[] = [];
  const observe = (event: Event): void => {
    if (event.kind === 'keys-ignored') ignored.push(...event.problems);
  };
  // One with members that a library would refuse is usable all the same.
  const odd = { ...(await jwkOf(ed25519.publicKey, 'odd')), key_ops: ['verify', 'x'], ext: 'yes' } as unknown as JWK;
  const publicKeys = readPublicKeys(unusable(await jwkOf(p256.publicKey, 'p256'), odd), observe);
  assert.deepEqual(
    ignored.map((problem) => problem.replace(/ \(.*/, '')),
    [
      'the key "broken" is not a valid EC key',
      'the key "certificate" is not a valid RSA key',
      'the key "weak" has 1024 bits: RS256 and PS256 need at least 2048',
      'the key "short" is not a valid OKP key',
    ],
  );
  for (const signer of [signers.ES256!, { ...signers.EdDSA!, kid: 'odd' }])
    assert.equal(await roleOf(await sign(signer, { role: 'anon' }), { secrets: [], publicKeys }), 'anon');
  const verifier = new TokenVerifier({ secrets: [], publicKeys });
  for (const [alg, kid] of [
    ['ES256', 'broken'],
    ['RS256', 'certificate'],
    ['RS256', 'weak'],
    ['PS256', 'weak'],
    ['EdDSA', 'short'],
    ['RS256', 'other'],
    ['EdDSA', 'agreement'],
  ] as const)
    await assert.rejects(async () => verifier.verify(forged(alg, kid), 'The token'), {
      code: 'UNAUTHENTICATED',
      message: /^The token is signed with a key that this server does not know or cannot use\./,
    });
  assert.throws(() => readPublicKeys(unusable()), /^Error: holds no key for .*; the key "broken" is not .*; the key "weak" has 1024 bits/);
});

describe('keys at a URL', () => {
  interface Issuer {
    readonly url: string;
    asked: number;
    answer: { readonly status: number; readonly text: string; readonly location?: string };
    close(): Promise<void>;
  }

  async function startIssuer(): Promise<Issuer> {
    const server = createServer((_, response) => {
      issuer.asked += 1;
      const { status, text, location } = issuer.answer;
      response.writeHead(status, { ...(location !== undefined && { location }) }).end(text);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const issuer: Issuer = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
      asked: 0,
      answer: { status: 200, text: jwks },
      close: () => new Promise((resolve) => server.close(() => resolve())),
    };
    return issuer;
  }

  const isUnavailable = (error: unknown): boolean => error instanceof ApiError && error.code === 'KEYS_UNAVAILABLE';

  /** The keys of an issuer, by a clock that only `wait` moves. */
  function trust({ url }: Issuer) {
    let clock = 0;
    const failures: unknown[] = [];
    const ignored: string[] = [];
    const observe = (event: Event): void => {
      if (event.kind === 'keys-load-failed') failures.push(event.error);
      if (event.kind === 'keys-ignored') ignored.push(...event.problems);
    };
    const publicKeys = new RemotePublicKeys(url, observe, () => clock);
    const wait = (milliseconds: number): void => {
      clock += milliseconds;
    };
    return { publicKeys, failures, ignored, wait };
  }

  test('verify no token any longer once their issuer has withdrawn them, not even one that is cached', async () => {
    const issuer = await startIssuer();
    const { publicKeys, wait } = trust(issuer);
    const verifier = new TokenVerifier({ secrets: [secret], publicKeys });
    const verify = async (token: string): Promise<string> => (await verifier.verify(token, 'The token')).role;
    const [cached, late] = [await sign(signers.ES256!, { role: 'anon', sub: 'a' }), await sign(signers.ES256!, { role: 'anon', sub: 'b' })];
    const [kept, own] = [await sign(signers.EdDSA!, { role: 'anon' }), await sign(signers.secret!, { role: 'anon' })];
    for (const token of [cached, kept, own]) await verify(token);
    const keysBefore = publicKeys.currentSet();
    wait(11 * 60_000);
    assert.ok(!(verifier.verify(cached, 'The token') instanceof Promise), 'it is cached');
    await until(() => issuer.asked === 2);
    assert.equal(await verify(late), 'anon');
    // The search for an unknown key waits for the keys that are loading. The same keys again leave what is cached.
    assert.deepEqual((await publicKeys.find({ alg: 'ES256', kid: 'unknown' })).keys, []);
    assert.equal(publicKeys.currentSet(), keysBefore);
    assert.ok(!(verifier.verify(cached, 'The token') instanceof Promise));
    issuer.answer = { status: 200, text: JSON.stringify({ keys: [await jwkOf(ed25519.publicKey, 'ed25519')] }) };
    const during = await sign(signers.ES256!, { role: 'anon', sub: 'c' });
    await until(() => {
      wait(11 * 60_000);
      publicKeys.currentSet();
      return issuer.asked === 3;
    });
    // The keys that are loading are not there yet.
    await verify(during).catch(() => undefined);
    await until(() => publicKeys.currentSet() !== keysBefore);
    for (const token of [cached, late, during]) await assert.rejects(verify(token), { code: 'UNAUTHENTICATED' });
    assert.equal(await verify(kept), 'anon');
    assert.ok(!(verifier.verify(own, 'The token') instanceof Promise), 'a secret is not concerned');
    await issuer.close();
  });

  test('that cannot be used are reported once, and count as missing', async () => {
    const issuer = await startIssuer();
    issuer.answer = { status: 200, text: unusable(await jwkOf(p256.publicKey, 'p256')) };
    const { publicKeys, ignored, wait } = trust(issuer);
    const ask = (token: string): Promise<string | null> => roleOf(token, { secrets: [], publicKeys });
    assert.equal(await ask(await sign(signers.ES256!, { role: 'anon' })), 'anon');
    assert.equal(ignored.length, 4);
    for (const problem of ignored) assert.ok(problem.startsWith(`${issuer.url}: the key "`), problem);
    wait(11_000);
    assert.equal(await ask(forged('RS256', 'weak')), null);
    assert.equal(issuer.asked, 2);
    assert.equal(ignored.length, 4, 'the same keys again');
    await issuer.close();
  });

  test('are loaded once, again for an unknown key, and not for every one', async () => {
    const issuer = await startIssuer();
    const { publicKeys, failures, wait } = trust(issuer);
    const known = await sign(signers.ES256!, { role: 'anon' });
    const unknown = await sign({ alg: 'RS256', pair: otherRsa, kid: 'new' }, { role: 'anon' });
    const ask = (token: string): Promise<string | null> => roleOf(token, { secrets: [], publicKeys });
    assert.deepEqual(await Promise.all([ask(known), ask(known), ask(known)]), ['anon', 'anon', 'anon']);
    assert.equal(issuer.asked, 1);
    for (let count = 0; count < 5; count += 1) assert.equal(await ask(unknown), null);
    assert.equal(issuer.asked, 1, 'it was loaded a moment ago');
    issuer.answer = { status: 200, text: JSON.stringify({ keys: [await jwkOf(otherRsa.publicKey, 'new')] }) };
    wait(11_000);
    assert.equal(await ask(unknown), 'anon');
    assert.equal(issuer.asked, 2);
    assert.deepEqual(failures, []);
    await issuer.close();
  });

  test('are not taken from where a redirect leads, and what is not a key among them does no harm', async () => {
    const [issuer, other] = [await startIssuer(), await startIssuer()];
    issuer.answer = { status: 302, text: '', location: other.url };
    const { publicKeys, failures, wait } = trust(issuer);
    const token = await sign(signers.ES256!, { role: 'anon' });
    const verify = async (): Promise<unknown> => new TokenVerifier({ secrets: [], publicKeys }).verify(token, 'The token');
    await assert.rejects(verify, isUnavailable);
    assert.deepEqual([other.asked, failures.length], [0, 1]);
    issuer.answer = { status: 200, text: jwks.replace('{"keys":[', '{"keys":[null,7,{"kty":"x"},{"kty":"oct","k":"c2VjcmV0","d":"x"},') };
    wait(11_000);
    await verify();
    await Promise.all([issuer.close(), other.close()]);
  });

  test('stay valid while the issuer cannot be reached, and are missing only before they were ever loaded', async () => {
    const issuer = await startIssuer();
    const { publicKeys, failures, wait } = trust(issuer);
    const token = await sign(signers.EdDSA!, { role: 'anon' });
    issuer.answer = { status: 500, text: 'no' };
    const verify = async (): Promise<unknown> => new TokenVerifier({ secrets: [], publicKeys }).verify(token, 'The token');
    await assert.rejects(verify, isUnavailable);
    issuer.answer = { status: 200, text: 'not JSON' };
    wait(11_000);
    await assert.rejects(verify, isUnavailable);
    issuer.answer = { status: 200, text: jwks };
    wait(11_000);
    await verify();
    await issuer.close();
    wait(24 * 3_600_000);
    await verify();
    wait(11_000);
    const unknown = await sign({ alg: 'RS256', pair: otherRsa, kid: 'new' }, { role: 'anon' });
    const refused = async (): Promise<unknown> => new TokenVerifier({ secrets: [], publicKeys }).verify(unknown, 'The token');
    await assert.rejects(refused, isUnavailable, 'its issuer may know the key');
    // It was tried again, behind the response.
    await until(() => failures.length >= 3);
    for (const failure of failures) assert.ok(String(failure).includes(issuer.url), String(failure));
  });
});

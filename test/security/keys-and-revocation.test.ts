/** Opaque keys and revoked tokens: who may do what, with which headers, and what files may say. */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { type JWTPayload, SignJWT } from 'jose';
import { ApiKeys, createApiKey, parseApiKeys } from '../../src/auth/api-keys.ts';
import { authenticateRequest } from '../../src/auth/authenticate.ts';
import { readPublicKeys } from '../../src/auth/public-keys.ts';
import type { TokenRules } from '../../src/auth/read-jwt.ts';
import { hashOfToken, parseRevokedTokens, RevokedTokens } from '../../src/auth/revoked-tokens.ts';
import { TokenVerifier } from '../../src/auth/verify-token.ts';
import { ApiError } from '../../src/errors/api-error.ts';

const secret = 'the secret of the project, which is long enough';
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const publicKeys = readPublicKeys(String(p256.publicKey.export({ type: 'spki', format: 'pem' })));
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const publishable = createApiKey('publishable');
const service = createApiKey('secret');
const old = createApiKey('secret');
const ofUser = createApiKey('secret');
/** A key that was made elsewhere: its file says nothing of its form. */
const supabase = 'sb_publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH';
const file = {
  web: { hash: publishable.hash, role: 'anon' },
  worker: { hash: service.hash.toUpperCase().replace('SHA256', 'sha256'), role: 'service_role', expires: '2999-01-01' },
  ['__proto__']: { hash: hashOf('x'), role: 'nobody' },
  ['constructor']: { hash: old.hash, role: 'service_role', expires: '2020-01-31T12:00:00+02:00' },
  ofUser: { hash: ofUser.hash, role: 'editor', claims: { sub: 'ada', team: 7 } },
  moved: { hash: hashOf(supabase), role: 'anon' },
};
const apiKeys = { current: parseApiKeys(JSON.stringify(file)) };

function sign(payload: JWTPayload, by: 'secret' | 'key' = 'secret'): Promise<string> {
  const token = new SignJWT(payload).setProtectedHeader({ alg: by === 'secret' ? 'HS256' : 'ES256' });
  return token.sign(by === 'secret' ? Buffer.from(secret) : p256.privateKey);
}

const anonToken = await sign({ role: 'anon' });
const userToken = await sign({ role: 'authenticated', sub: 'ada' });
const expired = await sign({ role: 'authenticated', exp: 1 });

/** The role of the caller; null if the request is refused, which has to be with UNAUTHENTICATED. */
async function roleOf(headers: Record<string, string>, rules: TokenRules): Promise<string | null> {
  try {
    return (await authenticateRequest(headers, new TokenVerifier(rules))).role;
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'UNAUTHENTICATED', String(error));
    return null;
  }
}

/** Keys and tokens, and the role that each stands for. */
const credentials: Readonly<Record<string, { readonly text: string; readonly role: string | null; readonly isOpaque: boolean }>> = {
  'the publishable key': { text: publishable.key, role: 'anon', isOpaque: true },
  'the secret key': { text: service.key, role: 'service_role', isOpaque: true },
  'a key with claims': { text: ofUser.key, role: 'editor', isOpaque: true },
  'a key that was made elsewhere': { text: supabase, role: 'anon', isOpaque: true },
  'an expired key': { text: old.key, role: null, isOpaque: true },
  'an unknown key': { text: createApiKey('secret').key, role: null, isOpaque: true },
  'a key in capitals': { text: publishable.key.toUpperCase(), role: null, isOpaque: true },
  'the beginning of a key': { text: publishable.key.slice(0, -1), role: null, isOpaque: true },
  'a key and more': { text: `${publishable.key}A`, role: null, isOpaque: true },
  'the hash of a key': { text: publishable.hash, role: null, isOpaque: true },
  'the digits of the hash': { text: publishable.hash.slice(7), role: null, isOpaque: true },
  'the name of a key': { text: 'web', role: null, isOpaque: true },
  'a name of the prototype': { text: '__proto__', role: null, isOpaque: true },
  'a long text': { text: 'k'.repeat(15_000), role: null, isOpaque: true },
  'a text of other characters': { text: 'ключ\u00ff🔑\u0000', role: null, isOpaque: true },
  'a lone surrogate': { text: '\ud800', role: null, isOpaque: true },
  'a signed key': { text: anonToken, role: 'anon', isOpaque: false },
  "a user's token": { text: userToken, role: 'authenticated', isOpaque: false },
  'an expired token': { text: expired, role: null, isOpaque: false },
  'a key as a token': { text: `${publishable.key}.${publishable.key}.`, role: null, isOpaque: false },
};

describe('keys in headers', () => {
  const kinds: Readonly<Record<string, { readonly rules: TokenRules; readonly takes: (isOpaque: boolean) => boolean }>> = {
    'keys and a secret': { rules: { secrets: [secret], apiKeys }, takes: () => true },
    'keys alone': { rules: { secrets: [], apiKeys }, takes: (isOpaque) => isOpaque },
    'a secret alone': { rules: { secrets: [secret] }, takes: (isOpaque) => !isOpaque },
  };
  let cases = 0;
  for (const [kind, { rules, takes }] of Object.entries(kinds)) {
    for (const [name, key] of Object.entries(credentials)) {
      const roleOfKey = takes(key.isOpaque) ? key.role : null;
      cases += 1 + Object.keys(credentials).length;
      test(`where there are ${kind}, ${name} as the apiKey is ${roleOfKey ?? 'refused'}, and a bearer token decides`, async () => {
        assert.equal(await roleOf({ apikey: key.text }, rules), roleOfKey);
        for (const [other, bearer] of Object.entries(credentials)) {
          const expected = roleOfKey !== null && takes(bearer.isOpaque) ? bearer.role : null;
          assert.equal(await roleOf({ apikey: key.text, authorization: `Bearer ${bearer.text}` }, rules), expected, other);
        }
      });
    }
  }

  test('no apiKey, an empty one, and two of them are refused, and so are other schemes', async () => {
    const rules: TokenRules = { secrets: [secret], apiKeys };
    const { key } = publishable;
    for (const headers of [{}, { apikey: '' }, { authorization: `Bearer ${key}` }, { apikey: `${key}, ${key}` }])
      assert.equal(await roleOf(headers as Record<string, string>, rules), null);
    for (const authorization of [key, `Basic ${key}`, 'Bearer', 'Bearer ', 'Bearer  ', `Token ${key}`, `${key} Bearer`])
      assert.equal(await roleOf({ apikey: key, authorization }, rules), null, authorization);
    for (const authorization of ['', `bearer  ${key} `]) assert.equal(await roleOf({ apikey: key, authorization }, rules), 'anon');
  });

  test('there are as many cases as were promised', () => assert.ok(cases >= 150, String(cases)));
});

test('a key has its claims, the same caller each time, and nobody can change it', async () => {
  const verifier = new TokenVerifier({ secrets: [], apiKeys });
  const caller = await verifier.verify(ofUser.key, 'The key');
  assert.deepEqual(caller, { role: 'editor', claims: { sub: 'ada', team: 7 }, user: 'editor ada' });
  assert.equal(verifier.verify(ofUser.key, 'The key'), caller);
  assert.throws(() => Object.assign(caller.claims as object, { sub: 'eve' }), TypeError);
  assert.equal((await verifier.verify(publishable.key, 'The key')).user, null);
});

test('keys whose hashes begin alike are told apart', () => {
  const key = (last: number, role: string) => ({
    hash: Buffer.from([...Buffer.from(hashOf('text'), 'hex').subarray(0, 31), last]),
    caller: { role, claims: {}, user: null },
    expiresAt: Number.POSITIVE_INFINITY,
  });
  const last = Buffer.from(hashOf('text'), 'hex')[31]!;
  const keys = new ApiKeys([key(last ^ 1, 'one'), key(last, 'two'), key(last ^ 2, 'three')]);
  assert.equal(keys.find('text')?.caller.role, 'two');
  assert.equal(new ApiKeys([key(last ^ 1, 'one')]).find('text'), undefined);
  assert.equal(new ApiKeys([]).find(''), undefined);
});

test('a file of keys that is wrong is an error that names the entry, and repeats nothing that could be a key', () => {
  const hash = publishable.hash;
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [[], /must hold a JSON object/],
    [null, /must hold a JSON object/],
    [{ a: null }, /the key "a" must be an object/],
    [{ a: publishable.key }, /the key "a" must be an object/],
    [{ a: [] }, /the key "a" must be an object/],
    [{ '': { hash, role: 'anon' } }, /the key "" must have a name/],
    [{ a: { hash } }, /the key "a" must have a "role"/],
    [{ a: { hash, role: '' } }, /must have a "role"/],
    [{ a: { hash, role: 'none' } }, /must have a "role"/],
    [{ a: { hash, role: 'a\0' } }, /must have a "role"/],
    [{ a: { hash, role: ['anon'] } }, /must have a "role"/],
    [{ a: { role: 'anon' } }, /must have a "hash"/],
    [{ a: { hash: publishable.key, role: 'anon' } }, /must have a "hash"/],
    [{ a: { hash: `${hash}0`, role: 'anon' } }, /must have a "hash"/],
    [{ a: { hash: hash.slice(0, -1), role: 'anon' } }, /must have a "hash"/],
    [{ a: { hash: hash.replace('256', '512'), role: 'anon' } }, /must have a "hash"/],
    [{ a: { hash, role: 'anon', expire: '2027-01-01' } }, /may have only the members hash, role, expires, claims/],
    [{ a: { hash, role: 'anon', claims: [] } }, /"claims", which must be an object/],
    [{ a: { hash, role: 'anon', claims: 'x' } }, /"claims", which must be an object/],
    ...['soon', '', '2027', 1_800_000_000, '2027-13-01', '2027-01-01T00:00', null].map((expires) => {
      return [{ a: { hash, role: 'anon', expires } }, /must have a time as "expires"/] as const;
    }),
    [{ a: { hash, role: 'anon' }, b: { hash: hash.toUpperCase().replace('SHA', 'sha'), role: 'x' } }, /the keys "a" and "b" are the same/],
  ];
  for (const [content, message] of wrong) {
    assert.throws(
      () => parseApiKeys(JSON.stringify(content)),
      (error: Error) => message.test(error.message) && !error.message.includes(publishable.key),
      JSON.stringify(content),
    );
  }
  for (const text of ['', '{', `{"a": ${publishable.key}}`, `"${publishable.key}`, '{"a":1,}'])
    assert.throws(
      () => parseApiKeys(text),
      (error: Error) => error.message.startsWith('is not JSON') && !error.message.includes('rg_'),
    );
  assert.equal(parseApiKeys('{}').count, 0);
});

describe('revoked tokens', () => {
  const revoke = (...entries: unknown[]): RevokedTokens => parseRevokedTokens(JSON.stringify(entries));
  const signature = (token: string): string => token.slice(token.lastIndexOf('.') + 1);

  const payloads: Readonly<Record<string, JWTPayload>> = {
    plain: { role: 'anon' },
    'with ids': { role: 'anon', jti: 'token-1', session_id: 'session-1', sub: 'ada', iat: 1000 },
    later: { role: 'anon', jti: 'token-2', session_id: 'session-1', sub: 'ada', iat: 2000 },
    'of another user': { role: 'anon', jti: 'token-3', session_id: 'session-2', sub: 'eve', iat: 1000 },
    'without a time': { role: 'anon', sub: 'ada' },
    'with numbers as ids': { role: 'anon', jti: 7, session_id: 70, sub: 77, iat: 1000 } as unknown as JWTPayload,
    'with digits as ids': { role: 'anon', jti: '7', session_id: '70', sub: '77', iat: 1000 },
    'with similar ids': { role: 'anon', jti: '07', session_id: '70.0', sub: '770', iat: 1000 },
    'with booleans as ids': { role: 'anon', jti: true, session_id: false, sub: true } as unknown as JWTPayload,
    'with ids of other types': { role: 'anon', jti: ['token-1'], session_id: 7, sub: { ada: 1 } } as unknown as JWTPayload,
    'with names of the prototype': { role: 'anon', jti: '__proto__', session_id: 'constructor', sub: 'toString', iat: 1000 },
  };
  const lists: Readonly<Record<string, { readonly entries: readonly unknown[]; readonly revokes: readonly string[] }>> = {
    nothing: { entries: [], revokes: [] },
    'a token': { entries: [{ jti: 'token-1', reason: 'stolen' }], revokes: ['with ids'] },
    'a session': { entries: [{ session_id: 'session-1' }], revokes: ['with ids', 'later'] },
    'a user': { entries: [{ sub: 'ada' }], revokes: ['with ids', 'later', 'without a time'] },
    'a user until a time': { entries: [{ sub: 'ada', issued_before: '1970-01-01T00:33:20Z' }], revokes: ['with ids', 'without a time'] },
    'a user until two times': {
      entries: [
        { sub: 'ada', issued_before: '1970-01-01T00:33:20.001Z' },
        { sub: 'ada', issued_before: '1970-01-01T00:00:01Z' },
      ],
      revokes: ['with ids', 'later', 'without a time'],
    },
    'a token by its hash': {
      entries: [{ hash: `sha256:${hashOfToken(anonToken)}` }],
      revokes: ['plain'],
    },
    'a token with a number, as text': { entries: [{ jti: '7' }], revokes: ['with numbers as ids', 'with digits as ids'] },
    'a token with a number': { entries: [{ jti: 7 }], revokes: ['with numbers as ids', 'with digits as ids'] },
    'a session with a number, as text': { entries: [{ session_id: '70' }], revokes: ['with numbers as ids', 'with digits as ids'] },
    'a user with a number, as text': { entries: [{ sub: '77' }], revokes: ['with numbers as ids', 'with digits as ids'] },
    'a user with a number': { entries: [{ sub: 77 }], revokes: ['with numbers as ids', 'with digits as ids'] },
    'a user with a number until a time': {
      entries: [{ sub: '77', issued_before: '1970-01-01T00:16:40.001Z' }],
      revokes: ['with numbers as ids', 'with digits as ids'],
    },
    'a user with a number until an earlier time': { entries: [{ sub: '77', issued_before: '1970-01-01T00:16:40Z' }], revokes: [] },
    'a user called true': { entries: [{ sub: 'true' }], revokes: ['with booleans as ids'] },
    'the text of a list': { entries: [{ jti: '["token-1"]' }, { jti: 'token-1' }, { sub: '[object Object]' }], revokes: ['with ids'] },
    'names of the prototype': { entries: [{ jti: '__proto__' }], revokes: ['with names of the prototype'] },
    'the id of a session as that of a token': { entries: [{ jti: 'session-1' }, { sub: 'session-1' }, { session_id: 'ada' }], revokes: [] },
  };
  for (const [name, { entries, revokes }] of Object.entries(lists)) {
    for (const [which, payload] of Object.entries(payloads)) {
      const isRevoked = revokes.includes(which);
      test(`the list has ${name}: a token ${which} is ${isRevoked ? 'refused' : 'accepted'}, known or not, as key or bearer`, async () => {
        const token = await sign(payload);
        const revoked = { current: revoke(...entries) };
        const rules: TokenRules = { secrets: [secret], revoked };
        assert.equal(await roleOf({ apikey: token }, rules), isRevoked ? null : 'anon');
        const other = await sign({ role: 'anon', jti: 'other' });
        assert.equal(await roleOf({ apikey: other, authorization: `Bearer ${token}` }, rules), isRevoked ? null : 'anon');
        // A list that comes later holds for tokens that were accepted before.
        const changing = { current: revoke() };
        const verifier = new TokenVerifier({ secrets: [secret], revoked: changing });
        await verifier.verify(token, 'The token');
        await verifier.verify(token, 'The token');
        changing.current = revoked.current;
        const again = async (): Promise<unknown> => verifier.verify(token, 'The token');
        if (isRevoked) await assert.rejects(again, /The token has been revoked\. Get a new one\./);
        else await again();
        changing.current = revoke();
        await again();
      });
    }
  }

  test('another signature of the same token does not help', async () => {
    const token = await sign({ role: 'anon' }, 'key');
    const input = token.slice(0, token.lastIndexOf('.'));
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
    const bytes = Buffer.from(signature(token), 'base64url');
    const s = order - BigInt(`0x${bytes.subarray(32).toString('hex')}`);
    const other = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]).toString('base64url');
    const revoked = { current: revoke({ hash: hashOfToken(token) }) };
    for (const each of [token, `${input}.${other}`, `${input}.${signature(await sign({ role: 'anon' }, 'key'))}`]) {
      assert.equal(await roleOf({ apikey: each }, { secrets: [], publicKeys }), 'anon');
      assert.equal(await roleOf({ apikey: each }, { secrets: [], publicKeys, revoked }), null);
    }
  });

  test('opaque keys are revoked by their hash, and by the user in their claims', async () => {
    const cases: readonly (readonly [unknown, readonly (string | null)[]])[] = [
      [{ hash: publishable.hash }, [null, 'editor']],
      [{ sub: 'ada', issued_before: '2020-01-01' }, ['anon', null]],
      [{ sub: 'web' }, ['anon', 'editor']],
    ];
    for (const [entry, roles] of cases) {
      const rules = { secrets: [], apiKeys, revoked: { current: revoke(entry) } };
      assert.deepEqual([await roleOf({ apikey: publishable.key }, rules), await roleOf({ apikey: ofUser.key }, rules)], roles);
    }
  });

  test('a token that is revoked while it is being verified is refused', async () => {
    const revoked = { current: revoke() };
    const verifying = new TokenVerifier({ secrets: [secret], revoked }).verify(userToken, 'The token');
    revoked.current = revoke({ sub: 'ada' });
    await assert.rejects(async () => verifying, /has been revoked/);
  });

  test('a list that is wrong is an error that names the entry', () => {
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      [{}, /must hold a JSON array/],
      ['x', /must hold a JSON array/],
      [['token-1'], /entry 1 must be an object/],
      [[{ jti: 'a' }, {}], /entry 2 must have one of jti, session_id, sub, hash/],
      [[{ jti: 'a', sub: 'b' }], /entry 1 must have one of/],
      [[{ jti: '' }], /must have a string as "jti"/],
      [[{ session_id: 7.5 }], /must have a string as "session_id" that is not empty, or a whole number below 2\^53/],
      [[{ session_id: [7] }], /must have a string as "session_id"/],
      [[{ jti: 2 ** 53 }], /must have a string as "jti"/],
      [[{ sub: true }], /must have a string as "sub"/],
      [[{ sub: null }], /must have a string as "sub"/],
      [[{ hash: 'abc' }], /must have a "hash"/],
      [[{ sub: 'a', issued_before: 'now' }], /must have a time as "issued_before"/],
      [[{ jti: 'a', issued_before: '2027-01-01' }], /only beside "sub"/],
      [[{ issued_before: '2027-01-01' }], /entry 1 must have one of/],
      [[{ sub: 'a', issuedBefore: '2027-01-01' }], /may have only the members/],
    ];
    for (const [content, message] of wrong) assert.throws(() => parseRevokedTokens(JSON.stringify(content)), message);
    assert.throws(() => parseRevokedTokens('[{"jti":'), /is not JSON/);
    assert.equal(new RevokedTokens([]).count, 0);
  });
});

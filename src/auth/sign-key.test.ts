import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { signKey } from './sign-key.ts';
import { TokenVerifier } from './verify-token.ts';

const secret = 'a-secret-of-tests-with-more-than-32-bytes';

test('a key carries the role, is signed with HS256, and does not expire by default', async () => {
  const key = await signKey(secret, 'service_role');
  assert.equal(decodeProtectedHeader(key).alg, 'HS256');
  const { role, iss, iat, exp } = decodeJwt(key);
  assert.deepEqual([role, iss, typeof iat, exp], ['service_role', 'rowgraph', 'number', undefined]);
  assert.equal((await new TokenVerifier({ secrets: [secret] }).verify(key, 'The key')).role, 'service_role');
});

test('claims may override the issuer and the time of issue', async () => {
  const { iss, iat, role } = decodeJwt(await signKey(secret, 'anon', undefined, { iss: 'https://auth.example.com', iat: 1, role: 'x' }));
  assert.deepEqual([iss, iat, role], ['https://auth.example.com', 1, 'anon']);
});

test('the expiry may be a number of seconds or a phrase', async () => {
  for (const [expiresIn, seconds] of [
    [90, 90],
    ['1h', 3600],
    ['30 days', 2_592_000],
  ] as const) {
    const { exp = 0, iat = 0 } = decodeJwt(await signKey(secret, 'anon', expiresIn));
    assert.ok(Math.abs(exp - iat - seconds) <= 1);
  }
  await assert.rejects(signKey(secret, 'anon', 'soon'));
});

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { SignJWT } from 'jose';
import { hashOfToken, RevokedTokens } from './revoked-tokens.ts';
import { signKey } from './sign-key.ts';
import { TokenVerifier } from './verify-token.ts';

const secret = 'a-secret-of-tests-with-more-than-32-bytes';

/** A token with these claims, which need not be what `JSON.stringify` writes. */
async function signText(claims: string): Promise<string> {
  const [head] = (await signKey(secret, 'anon')).split('.');
  const signed = `${head}.${Buffer.from(claims).toString('base64url')}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

test('a token is verified once; afterwards the same caller object is returned synchronously', async () => {
  const verifier = new TokenVerifier({ secrets: [secret] });
  const token = await signKey(secret, 'anon');
  const first = verifier.verify(token, 'The token');
  assert.ok(first instanceof Promise);
  const caller = await first;
  assert.equal(caller.role, 'anon');
  assert.equal(verifier.verify(token, 'The token'), caller);
  assert.deepEqual(verifier.readStatistics(), { name: 'token', entries: 1, hits: 1, misses: 1 });
});

test('the caller of a cached token is immutable', async () => {
  const verifier = new TokenVerifier({ secrets: [secret] });
  const caller = await verifier.verify(await signKey(secret, 'anon'), 'The token');
  assert.throws(() => Object.assign(caller, { role: 'service_role' }), TypeError);
  assert.throws(() => Object.assign(caller.claims as object, { role: 'service_role' }), TypeError);
});

test('invalid tokens are not cached', async () => {
  const verifier = new TokenVerifier({ secrets: [secret] });
  const bad = await signKey(`${secret}x`, 'anon');
  for (let count = 0; count < 3; count++) await assert.rejects(async () => verifier.verify(bad, 'The token'), /invalid signature/);
  assert.deepEqual(verifier.readStatistics(), { name: 'token', entries: 0, hits: 0, misses: 3 });
});

test('claims that are nested too deeply are refused', async () => {
  const verifier = new TokenVerifier({ secrets: [secret] });
  const nested = JSON.stringify({ role: 'anon', deep: 0 }).replace('0', '['.repeat(20_000) + ']'.repeat(20_000));
  const token = await signText(nested);
  await assert.rejects(async () => verifier.verify(token, 'The token'), /The token has claims that are nested too deeply/);
});

test('ids that would be rounded are refused, because two users would become one; others may be numbers', async () => {
  const verifier = new TokenVerifier({ secrets: [secret] });
  for (const name of ['sub', 'jti', 'session_id']) {
    for (const id of ['9007199254740993', '-9007199254740993', '1e30', '1e999', '7.5']) {
      const token = await signText(`{"role":"anon","${name}":${id}}`);
      await assert.rejects(async () => verifier.verify(token, 'The token'), new RegExp(`invalid ${name} claim: .* below 2\\^53`), id);
    }
    for (const id of ['9007199254740991', '0', '"9007199254740993"', '"7.5"', 'true', 'null', '[1e30]'])
      assert.equal((await verifier.verify(await signText(`{"role":"anon","${name}":${id}}`), 'The token')).role, 'anon');
  }
});

test('the user of a caller is the same however the subject is written', async () => {
  const verifier = new TokenVerifier({ secrets: [secret] });
  const userOf = async (sub: string) => (await verifier.verify(await signText(`{"role":"anon","sub":${sub}}`), 'The token')).user;
  assert.deepEqual([await userOf('77'), await userOf('"77"')], ['anon 77', 'anon 77']);
  for (const none of ['""', 'null', '{}', '[77]']) assert.equal(await userOf(none), null);
});

test('the clock of an issuer may be ahead by a minute, or by a longer leeway', async () => {
  const iat = Math.floor(Date.now() / 1000) + 150;
  const token = await signKey(secret, 'anon', '1h', { iat });
  for (const leeway of [0, 30]) {
    const verifier = new TokenVerifier({ secrets: [secret], leeway });
    await assert.rejects(async () => verifier.verify(token, 'The token'), /iat claim in the future/);
  }
  assert.equal((await new TokenVerifier({ secrets: [secret], leeway: 300 }).verify(token, 'The token')).role, 'anon');
});

test('the token cache is bounded by the size of the tokens', async () => {
  const verifier = new TokenVerifier({ secrets: [secret] });
  const key = Buffer.from(secret);
  const pad = 'x'.repeat(150_000);
  for (let count = 0; count < 60; count++) {
    const token = await new SignJWT({ role: 'anon', count, pad }).setProtectedHeader({ alg: 'HS256' }).sign(key);
    await verifier.verify(token, 'The token');
  }
  const { entries } = verifier.readStatistics();
  assert.ok(entries > 10 && entries < 50, String(entries));
});

test('a token signed with one secret is not accepted by a verifier with another', async () => {
  const token = await signKey(secret, 'anon');
  await new TokenVerifier({ secrets: [secret] }).verify(token, 'The token');
  await assert.rejects(
    async () => new TokenVerifier({ secrets: ['another secret of more than 32 bytes'] }).verify(token, 'The token'),
    /UNAUTHENTICATED|secret/,
  );
});

test('a token is found again, and no longer when it is revoked', async () => {
  const token = await signKey(secret, 'anon');
  const revoked = { current: new RevokedTokens([]) };
  const verifier = new TokenVerifier({ secrets: [secret], revoked });
  const caller = await verifier.verify(token, 'The token');
  for (let count = 0; count < 3; count++) assert.equal(verifier.verify(token, 'The token'), caller);
  assert.deepEqual(verifier.readStatistics(), { name: 'token', entries: 1, hits: 3, misses: 1 });
  // One that ends alike is another token.
  await assert.rejects(async () => verifier.verify(`x${token}`, 'The token'), /is not a JSON Web Token|invalid/);
  revoked.current = new RevokedTokens([{ hash: hashOfToken(token) }]);
  for (let count = 0; count < 2; count++) await assert.rejects(async () => verifier.verify(token, 'The token'), /has been revoked/);
});

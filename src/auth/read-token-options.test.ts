import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTokenOptions } from './read-token-options.ts';

test('if public keys cannot be fetched, that is reported and the token is not rejected as invalid', async () => {
  const failures: unknown[] = [];
  const { publicKeys } = readTokenOptions({ jwtKeys: 'https://127.0.0.1:1/jwks.json' }, (event) => {
    if (event.kind === 'keys-load-failed') failures.push(event.error);
  });
  await assert.rejects(async () => publicKeys?.find({ alg: 'RS256', kid: 'one' }), { code: 'KEYS_UNAVAILABLE' });
  assert.equal(failures.length, 1);
  assert.match(String(failures[0]), /^Error: https:\/\/127\.0\.0\.1:1\/jwks\.json: /);
});

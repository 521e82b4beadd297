import assert from 'node:assert/strict';
import { test } from 'node:test';
import { executeRequest, type Target } from './handle.ts';
import type { RoleSchema } from './snapshot/role-schema.ts';

test('a refused request gives up its turn before anybody asks the database whether the role has changed', async () => {
  const roleSchema = { role: { refusal: 'The role "chief" is refused.' }, granted: { keyStore: null } } as unknown as RoleSchema;
  let ready = 0;
  const target = { caller: { role: 'chief' }, deadline: null, client: '', onPrepared: () => void ready++ } as unknown as Target;
  await assert.rejects(executeRequest(roleSchema, {} as never, { query: '{ __typename }' }, target), { code: 'UNAUTHENTICATED' });
  assert.equal(ready, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../budget/deadline.ts';
import { handleRequest, type Target } from './handle.ts';
import type { RoleSchema } from './snapshot/role-schema.ts';

test('a refused request gives up its turn before anybody asks the database whether the role has changed', async (context) => {
  const roleSchema = { role: { refusal: 'The role "chief" is refused.' }, granted: { keyStore: null } } as unknown as RoleSchema;
  let ready = 0;
  const target = { caller: { role: 'chief' }, deadline: null, client: '', onPrepared: () => void ready++ } as unknown as Target;
  let asked = 0;
  const snapshot = { find: () => roleSchema };
  const isOutdated = async (): Promise<boolean> => {
    asked = ready;
    return false;
  };
  const watch = { state: { loaded: { snapshot } }, isOutdated } as unknown as Parameters<typeof handleRequest>[0];
  const deadline = new Deadline(60_000);
  context.after(() => deadline.end());
  const handling = handleRequest(watch, { role: 'chief' }, deadline, { query: '{ __typename }' }, target);
  await assert.rejects(handling, { code: 'UNAUTHENTICATED' });
  assert.equal(asked, 1);
  assert.equal(ready, 1);
});

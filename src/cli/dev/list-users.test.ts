import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPglite } from '../../../test/support/pglite.ts';
import { listUsers } from './development-backend.ts';

test('users are the rows of the first non-empty table that looks like a table of users', async () => {
  const pglite = await startPglite();
  assert.deepEqual(await listUsers(pglite), []);
  await pglite.exec('create table users (id int primary key, email text); create table member (id int primary key, name text, email text)');
  assert.deepEqual(await listUsers(pglite), []);
  await pglite.exec("insert into member values (2, 'Bo', 'bo@example.org'), (1, null, 'ada@example.org')");
  assert.deepEqual(await listUsers(pglite), [
    { id: '1', label: '1' },
    { id: '2', label: 'Bo' },
  ]);
  await pglite.close();
});

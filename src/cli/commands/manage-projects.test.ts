import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { listProjects } from './manage-projects.ts';

test('an invalid project is listed with its error, next to the others', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-projects-'));
  const [one, other] = ['aaaaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbbbb'];
  const databaseUrl = 'postgres://authenticator:hidden@db.example/app';
  const projects = { [other]: { databaseUrl }, [one]: { databaseUrl, jwtSecret: 'a secret that has more than 32 characters' } };
  await writeFile(path.join(folder, 'projects.json'), JSON.stringify(projects));
  const [first, second, ...more] = await listProjects(folder);
  assert.equal(first, `${one}  postgres://authenticator@db.example/app  schemas: public  keys: jwtSecret`);
  const what = 'Secret for signing and verifying keys and tokens (HS256), at least 32 characters';
  const others = 'or give "jwtKeys" or "supabase" or "apiKeys"';
  assert.equal(second, `${other}  ${other} of projects.json has no "jwtSecret": ${what}; ${others}`);
  assert.deepEqual(more, []);
  await rm(folder, { recursive: true });
});

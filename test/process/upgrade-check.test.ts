/** `rowgraph upgrade-check`: files, folders and databases as the old and the new version, and what each change means to clients. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { RoleChanges } from '../../src/cli/commands/compare-schemas.ts';
import { createRowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { makeFolder, type Outcome, removeFolder, runCommand } from './run-command.ts';

let home: string;
let databases: TestDatabases;
let database: TestDatabase;

before(async () => {
  [home, databases] = await Promise.all([makeFolder(), startTestDatabases()]);
  database = await databases.create(`
    create table account (id int primary key, name text, mail text);
    revoke all on account from authenticated; grant select on account to authenticated;
    create table gone (id int primary key);`);
  const graph = await createRowgraph({ database: database.url });
  await mkdir(path.join(home, 'old'));
  for (const role of ['anon', 'authenticated']) await writeFile(path.join(home, 'old', `${role}.graphql`), await graph.sdl({ role }));
  await graph.close();
});
after(async () => {
  await databases.close();
  await removeFolder(home);
});

const check = (from: string, to: string, ...more: string[]): Promise<Outcome> =>
  runCommand(['upgrade-check', '--from', from, '--to', to, ...more], { home });
const rolesOf = ({ stdout }: Outcome): RoleChanges[] => (JSON.parse(stdout) as { roles: RoleChanges[] }).roles;

test('a folder against the database: nothing, then safe changes, then breaking ones, for each role by itself', async () => {
  const same = await check('old', database.url);
  assert.deepEqual([same.code, same.stdout, same.stderr], [0, 'Role anon: no changes\nRole authenticated: no changes\n', '']);

  await database.run('create table added (id int primary key); revoke all on added from authenticated');
  const safe = await check('old', database.url, '--json');
  assert.equal(safe.code, 0);
  const [anon, authenticated] = rolesOf(safe);
  assert.deepEqual([anon!.breaking, anon!.safe.some(({ description }) => description === 'added was added.')], [[], true]);
  assert.deepEqual([authenticated!.role, authenticated!.safe], ['authenticated', []]);

  await database.run('alter table account drop mail; drop table gone');
  const breaking = await check('old', database.url);
  assert.equal(breaking.code, 1);
  assert.match(breaking.stdout, /^Role anon: \d+ breaking, \d+ dangerous, \d+ safe$|^Role anon: \d+ breaking, \d+ safe$/m);
  assert.match(breaking.stdout, /^ {2}breaking {3}FIELD_REMOVED +Field account\.mail was removed\.$/m);
  assert.match(breaking.stdout, /^ {2}breaking {3}TYPE_REMOVED +gone was removed\.$/m);
  const one = await check('old', database.url, '--roles', 'authenticated', '--json');
  assert.deepEqual([one.code, rolesOf(one).map(({ role }) => role)], [1, ['authenticated']]);
});

test('files; a role that comes or goes; a description does not speak to the terminal', async () => {
  const write = (name: string, text: string): Promise<void> => writeFile(path.join(home, name), text);
  await write('one.graphql', 'type Query { a(x: Int): E } enum E { A }');
  await write('two.graphql', '"""\u001b[31m\nlong """ type Query { a(x: Int = 1): E } enum E { A B }');
  const changed = await check('one.graphql', 'two.graphql');
  assert.equal(changed.code, 0);
  assert.equal(changed.stdout.split('\n')[0], 'Role anon: 1 dangerous, 2 safe');
  assert.match(changed.stdout, /VALUE_ADDED_TO_ENUM/);
  assert.ok(!changed.stdout.includes('\u001b[31m'));

  await mkdir(path.join(home, 'new'));
  await write('new/anon.graphql', 'type Query { a: Int }');
  await write('new/editor.graphql', 'type Query { a: Int }');
  const roles = rolesOf(await check('old', 'new', '--json'));
  assert.deepEqual(roles.map(({ role, breaking, safe }) => [role, breaking.at(-1)?.type, safe.at(-1)?.type]).slice(1), [
    ['authenticated', 'ROLE_REMOVED', undefined],
    ['editor', undefined, 'ROLE_ADDED'],
  ]);
});

test('the settings that shape the schema hold for databases', async () => {
  const graph = await createRowgraph({ database: database.url, nodeIdField: 'id', requiredInputs: true, dialect: 'pg_graphql' });
  await mkdir(path.join(home, 'shaped'));
  await writeFile(path.join(home, 'shaped', 'anon.graphql'), await graph.sdl({ role: 'anon' }));
  await graph.close();
  const shaped = await check(database.url, 'shaped', '--node-id-field', 'id', '--required-inputs', 'on', '--dialect', 'pg_graphql');
  assert.deepEqual([shaped.code, shaped.stdout, shaped.stderr], [0, 'Role anon: no changes\n', '']);
});

test('what cannot be compared is one line and exit code 2', async () => {
  await writeFile(path.join(home, 'broken.graphql'), 'type Query {');
  await mkdir(path.join(home, 'empty'));
  const wrong: [string, string, RegExp][] = [
    ['nowhere', 'old', /--from: nowhere is neither a file, a folder nor a database URL/],
    ['empty', 'old', /--from: empty holds no schema\. Name the files ROLE\.graphql\./],
    ['old', 'broken.graphql', /the schema of anon cannot be read: Syntax Error/],
    ['old', 'postgres://nobody@127.0.0.1:1/x', /cannot use the database/],
  ];
  for (const [from, to, message] of wrong) {
    const { code, stdout, stderr } = await check(from, to);
    assert.notEqual(code, 0);
    assert.deepEqual([stdout, stderr.split('\n').length], ['', 2], stderr);
    assert.match(stderr, message);
  }
  const { code, stderr } = await check('old', database.url, '--roles', '../../etc/passwd');
  assert.equal(code, 2);
  assert.match(stderr, /the role "\.\.\/\.\.\/etc\/passwd" does not exist/);
});

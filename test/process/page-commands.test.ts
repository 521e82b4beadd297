/**
 * The pages of the documentation that show commands and what they print: the commands run as the pages have them, and print what they show. Only the
 * addresses of databases are the test's own.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { type DoctorReport, pgliteExtension } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { startTestDatabases, type TestDatabases } from '../support/test-databases.ts';
import { makeFolder, type Outcome, removeFolder, runShell } from './run-command.ts';

let home: string;
let databases: TestDatabases;
before(async () => {
  [home, databases] = await Promise.all([makeFolder(), startTestDatabases({ extensionFiles: new Map() })]);
});
after(async () => {
  await databases.close();
  await removeFolder(home);
});

const read = (page: string): Promise<string> => readFile(new URL(`../../docs/${page}`, import.meta.url), 'utf8');

/** The blocks of a page in a language; those without one are what commands print. */
function blocksOf(page: string, language: string): string[] {
  const blocks = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, name, text = '']) => (name === language ? [text] : []));
}

const run = (script: string): Promise<Outcome> => runShell(script, { home });

test('the commands of docs/doctor.md print what it shows', async () => {
  const database = await databases.create(`
    revoke create on schema public from public;
    create table note (id int primary key, text text); revoke delete on note from anon;
    create table secret (id int primary key, text text); revoke all on secret from anon;`);
  const page = await read('doctor.md');
  const [[commands = ''], [shown]] = [blocksOf(page, 'sh'), blocksOf(page, '')];
  const own = commands.replaceAll('postgres://authenticator@localhost/club', database.url).trim().split('\n');
  const [text, ofAnother, json, ...more] = await Promise.all(own.map((command) => run(command)));
  assert.deepEqual([text?.code, text?.stdout, more], [1, shown, []]);
  assert.match(ofAnother?.stdout ?? '', /^Role authenticated, /);
  const report = JSON.parse(json?.stdout ?? '') as DoctorReport;
  const membersIn = (start: RegExp): string[] | undefined => start.exec(page)?.[1]?.split(', ');
  assert.deepEqual(membersIn(/\*\*JSON\*\*: `\{ (.*) \}`/), Object.keys(report));
  assert.deepEqual(membersIn(/Each finding is\s+`\{ (.*) \}`/), Object.keys(report.findings[0] ?? {}));
});

test('the commands of docs/upgrading.md print what it shows', async () => {
  const setup = `comment on schema public is '@graphql({"inflect_names": true})';
    create table account (id int primary key, mail text);
    revoke all on account from anon, authenticated, service_role; grant select on account to anon;
    create table note (id int primary key, text text);`;
  const [before, after] = await Promise.all([databases.create(setup), databases.create(setup)]);
  const page = await read('upgrading.md');
  const [keepsName] = /comment on column note\.body is '.*?'(?=`)/.exec(page) ?? [];
  await after.run(`alter table account drop mail, add address text; alter table note rename text to body; ${keepsName}`);
  const [[commands = ''], [shown]] = [blocksOf(page, 'sh'), blocksOf(page, '')];
  const own = commands.replace('postgres://authenticator@db.example/app', before.url);
  const { code, stdout } = await run(own.replace('postgres://authenticator@staging.example/app', after.url));
  assert.deepEqual([code, stdout], [1, shown]);
});

/** A folder with a `pg_config` of a server. */
async function makePgConfig(shareFolder: string): Promise<string> {
  const folder = path.join(home, 'bin');
  await mkdir(folder);
  await writeFile(path.join(folder, 'pg_config'), `#!/bin/sh\n[ "$1" = --sharedir ] && echo '${shareFolder}'\n`, { mode: 0o755 });
  return folder;
}

/** What the extension consists of. */
const objectsSql = `
  select 'rowgraph.' || relname as name from pg_class where relnamespace = 'rowgraph'::regnamespace and relkind = 'r'
  union select evtname from pg_event_trigger
  union select 'rowgraph.' || proname from pg_proc where pronamespace = 'rowgraph'::regnamespace`;

test('the commands and statements of docs/extension.md install, update and describe it as it shows', async () => {
  const page = await read('extension.md');
  const [install = '', applyAndStatus = ''] = blocksOf(page, 'sh');
  const [session = '', printed, update = '', createAgain = ''] = blocksOf(page, '');
  const [plain, database] = await Promise.all([databases.create(''), databases.create('')]);
  const asSuperuser = plain.url.replace('authenticator', 'postgres');
  const applied = await run(applyAndStatus.replaceAll('postgres://postgres@db.example/app', asSuperuser));
  assert.deepEqual([applied.code, applied.stdout, applied.stderr], [0, printed, '']);

  const folder = await makePgConfig(path.dirname(databases.extensionFolder ?? ''));
  assert.equal((await run(`PATH='${folder}':$PATH\n${install}`)).code, 0);
  const [create = '', select = '', ...more] = [...session.matchAll(/^app=# (.*)$/gm)].map(([, statement]) => statement);
  assert.deepEqual(more, []);
  await database.run(create);
  const [row = {}] = await database.run(select);
  const shown = session.split('\n').filter((line) => line.includes(' | '));
  assert.deepEqual(
    shown.map((line) => line.split('|').map((cell) => cell.trim())),
    [Object.keys(row), Object.values(row)],
  );

  await database.run("drop extension rowgraph; create extension rowgraph version '1.0'");
  for (const statements of [update, createAgain]) {
    await database.run(statements);
    assert.deepEqual(await database.run('select rowgraph.version()'), [{ version: row['installed_version'] }]);
  }
  const objects = await database.run(objectsSql);
  const listed = [...page.matchAll(/^\| ([^|]*`rowgraph[^|]*) \|/gm)].flatMap(([, cell = '']) => cell.match(/rowgraph[._]\w+/g) ?? []);
  assert.deepEqual(listed.sort(), objects.map(({ name }) => name).sort());
});

test('the program of docs/extension.md opens a PGlite that has the extension', async () => {
  const [program = ''] = blocksOf(await read('extension.md'), 'ts');
  const names = [...program.matchAll(/^import \{ (\w+) \} from '([^']+)';$/gm)].map(([, name, from]) => [name, from]);
  assert.deepEqual(names, [
    ['PGlite', '@electric-sql/pglite'],
    ['pgliteExtension', 'rowgraph'],
  ]);
  // As it is opened otherwise, but from the initialised state.
  const create = ({ extensions }: { extensions: Parameters<typeof startPglite>[0] }): Promise<PGlite> => startPglite(extensions);
  const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => (...values: unknown[]) => Promise<PGlite>;
  const open = new AsyncFunction('PGlite', 'pgliteExtension', `${program.replace(/^import .*$/gm, '')}\nreturn pglite;`);
  const pglite = await open({ create }, pgliteExtension);
  try {
    assert.deepEqual((await pglite.query('select rowgraph.version()')).rows, [{ version: '1.1' }]);
  } finally {
    await pglite.close();
  }
});

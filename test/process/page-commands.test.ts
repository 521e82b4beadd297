/**
 * The pages of the documentation that show commands and what they print: the commands run as the pages have them, and print what they show. Only the
 * addresses of databases are the test's own.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { DoctorReport } from '../../src/index.ts';
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

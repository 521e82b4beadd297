/**
 * The pages of the documentation that show commands and what they print: the commands run as the pages have them, and print what they show. Only the
 * addresses of databases are the test's own.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { signKey } from '../../src/auth/sign-key.ts';
import { limitNames, limitSettingOf } from '../../src/budget/limits.ts';
import { readProject } from '../../src/cli/serve/serve-projects.ts';
import { currentVersion } from '../../src/extension/extension-versions.ts';
import { type DoctorReport, pgliteExtension } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { startTestDatabases, type TestDatabases } from '../support/test-databases.ts';
import { makeFolder, type Outcome, removeFolder, runShell, startCommand } from './run-command.ts';

let home: string;
let databases: TestDatabases;
before(async () => {
  [home, databases] = await Promise.all([makeFolder(), startTestDatabases({ extensionFiles: new Map() })]);
});
after(async () => {
  await databases.close();
  await removeFolder(home);
});

/** A page, or the section of it with this heading. */
async function read(page: string, heading = ''): Promise<string> {
  const whole = await readFile(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const from = whole.indexOf(`\n## ${heading}\n`);
  assert.ok(heading === '' || from >= 0, `${page} has no section ${heading}`);
  const to = whole.indexOf('\n## ', from + 1);
  return heading === '' ? whole : whole.slice(from, to < 0 ? undefined : to);
}

/** The blocks of a page in a language; those without one are what commands print. */
function blocksOf(page: string, language: string): string[] {
  const blocks = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, name, text = '']) => (name === language ? [text] : []));
}

const run = (script: string): Promise<Outcome> => runShell(script, { home });

test('the commands of docs/diagnose.md print what it shows', async () => {
  const database = await databases.create(`
    revoke create on schema public from public;
    create table note (id int primary key, text text); revoke delete on note from anon;
    create table secret (id int primary key, text text); revoke all on secret from anon;`);
  const page = await read('diagnose.md', 'The doctor');
  const [[commands = ''], [shown]] = [blocksOf(page, 'sh'), blocksOf(page, '')];
  const own = commands.replaceAll('postgres://authenticator@localhost/club', database.url).trim().split('\n');
  const [text, ofAnother, json, ...more] = await Promise.all(own.map((command) => run(command)));
  assert.deepEqual([text?.code, text?.stdout, more], [1, shown, []]);
  assert.match(ofAnother?.stdout ?? '', /^Role authenticated, /);
  const report = JSON.parse(json?.stdout ?? '') as DoctorReport;
  const membersIn = (start: RegExp): string[] | undefined => start.exec(page)?.[1]?.split(', ');
  assert.deepEqual(membersIn(/\*\*JSON\*\*: `\{ ([^}]*) \}`/), Object.keys(report));
  assert.deepEqual(membersIn(/Each finding is\s+`\{ ([^}]*) \}`/), Object.keys(report.findings[0] ?? {}));
});

test('the commands of docs/schema-changes.md that compare schemas print what it shows', async () => {
  const setup = `comment on schema public is '@graphql({"inflect_names": true})';
    create table account (id int primary key, mail text);
    revoke all on account from anon, authenticated, service_role; grant select on account to anon;
    create table note (id int primary key, text text);`;
  const [before, after] = await Promise.all([databases.create(setup), databases.create(setup)]);
  const page = await read('schema-changes.md', 'What changes for clients');
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
  select 'rowgraph.' || relname as name from pg_class where relnamespace = 'rowgraph'::regnamespace and relkind in ('r', 'S')
  union select evtname from pg_event_trigger
  union select 'rowgraph.' || proname from pg_proc where pronamespace = 'rowgraph'::regnamespace`;

test('the commands and statements of docs/schema-changes.md install, update and describe it as it shows', async () => {
  const page = await read('schema-changes.md', 'The SQL extension');
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

test('the program of docs/schema-changes.md opens a PGlite that has the extension', async () => {
  const [program = ''] = blocksOf(await read('schema-changes.md', 'The SQL extension'), 'ts');
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
    assert.deepEqual((await pglite.query('select rowgraph.version()')).rows, [{ version: currentVersion }]);
  } finally {
    await pglite.close();
  }
});

/** Asks a server on a port under the name of a host. Resolves to the status and the body. */
async function askHost(port: string, host: string, target: string, apikey = ''): Promise<[number | undefined, string]> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: target, headers: { host, apikey }, agent: false })
      .on('error', reject)
      .on('response', (response) => text(response).then((body) => resolve([response.statusCode, body]), reject));
  });
}

/** Two of the databases of docs/projects.md, and their addresses in place of those on the page. */
async function makeShopAndWiki(): Promise<(text: string) => string> {
  const [shop, wiki] = await Promise.all([
    databases.create('create table ware (id int primary key)'),
    databases.create('create table article (id int primary key)'),
  ]);
  return (text) =>
    text
      .replaceAll(/postgres:\/\/authenticator(:…)?@db\.example:5432\/shop/g, shop.url)
      .replaceAll('postgres://authenticator@db.example/wiki', wiki.url);
}

test('the files, commands and hosts of docs/projects.md are those of its projects', async () => {
  const page = await read('projects.md');
  const withUrls = await makeShopAndWiki();
  const [[file = ''], [commands = ''], [printed = '']] = [blocksOf(page, 'json'), blocksOf(page, 'sh'), blocksOf(page, '')];
  await writeFile(path.join(home, 'projects.json'), withUrls(file), { mode: 0o600 });
  const { code, stdout } = await run(withUrls(commands));
  assert.deepEqual([code, stdout.replaceAll(/eyJ\S+/g, 'eyJ…')], [0, withUrls(printed)]);

  const [, words = '', domain = ''] = /^ {4}rowgraph (serve .* (\S+))$/m.exec(page) ?? [];
  const server = startCommand(words.split(' '), { home, environment: { ROWGRAPH_PORT: '0' } });
  const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(await server.waitFor(/127\.0\.0\.1:\d+\D/)) ?? [];
  const [, host = '', target = ''] = /^ {4}https:\/\/([^/]+)(\S+)$/m.exec(page) ?? [];
  const { jwtSecret = '' } = (JSON.parse(file) as Record<string, { jwtSecret?: string }>)[host.slice(0, 20)] ?? {};
  const key = await signKey(jwtSecret, 'anon');
  const ask = (host: string, key: string, query: string) => askHost(port, host, `${target}?query=${query}`, key);
  assert.deepEqual(await ask(host, key, '{wareCollection{edges{node{id}}}}'), [200, '{"data":{"wareCollection":{"edges":[]}}}']);
  const [added = ''] = stdout.split('\n');
  const [, addedKey = ''] = /^anon +(.+)$/m.exec(stdout) ?? [];
  const answer = await ask(`${added}.${domain}`, addedKey, '{articleCollection{edges{node{id}}}}');
  assert.deepEqual(answer, [200, '{"data":{"articleCollection":{"edges":[]}}}']);
  for (const unknown of [domain, `${'z'.repeat(20)}.${domain}`]) {
    const [status, body] = await ask(unknown, key, '{__typename}');
    assert.deepEqual([status, body.includes('PROJECT_NOT_FOUND')], [404, true], body);
  }
  const [, metrics] = await askHost(port, domain, '/metrics');
  const listed = [...page.matchAll(/^\| `(rowgraph_\w+)/gm)].map(([, metric]) => metric);
  assert.deepEqual(listed.sort(), metrics.match(/(?<=^# TYPE )rowgraph_project\w+/gm)?.sort());
  await server.stop();
});

test('docs/projects.md lists the settings that projects may have', async () => {
  const page = await read('projects.md');
  const paragraph = /^The members are the (.*?)\. Anything /ms.exec(page)?.[1] ?? '';
  const refuse = (): unknown => readProject('a', { text: '{"none":1}', file: 'projects.json' }, null);
  assert.throws(refuse, ({ message }: Error) => {
    const single: readonly string[] = limitNames.map(limitSettingOf);
    const names = message
      .slice(message.indexOf(' only ') + 6)
      .split(', ')
      .filter((name) => !single.includes(name));
    assert.deepEqual([...paragraph.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort(), names.sort());
    return true;
  });
});

/** `rowgraph extension`: files for a server, the same SQL where they cannot be placed, and what a database has. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { connectOnce } from '../../src/cli/check-database.ts';
import { currentVersion, extensionFiles } from '../../src/extension/extension-versions.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { makeFolder, type Outcome, removeFolder, runCommand } from './run-command.ts';

let home: string;
let server: PostgresServer;

before(async () => {
  home = await makeFolder();
  server = await startPostgres({ extensionFiles: new Map() });
});
after(async () => {
  await server.stop();
  await removeFolder(home);
});

const run = (...words: string[]): Promise<Outcome> => runCommand(['extension', ...words], { home });
const on = (url = server.url): string[] => ['--database-url', url];
const sql = (text: string): Promise<unknown> => connectOnce(server.url, (client) => client.query(text));

test('apply and status without files; install places them, and the extension is known to the server', async () => {
  const absent = await run('status', ...on());
  assert.deepEqual(
    [absent.code, absent.stdout],
    [1, `rowgraph is not installed; ${currentVersion} is current. The server does not have its files.\n`],
  );
  const applied = await run('apply', ...on());
  assert.deepEqual(
    [applied.code, applied.stdout],
    [0, `rowgraph ${currentVersion} is installed as plain SQL. The server does not have its files.\n`],
  );

  const removed = await run('remove', ...on());
  assert.deepEqual([removed.code, removed.stdout], [0, absent.stdout]);
  const installed = await run('install', '--directory', server.extensionFolder!);
  const [wrote] = installed.stdout.split(' to ');
  assert.equal(wrote, `Wrote ${[...extensionFiles().keys()].join(', ')}`);
  assert.match(wrote, /^Wrote rowgraph\.control, rowgraph--1\.0\.sql, rowgraph--1\.0--1\.1\.sql\b/);
  assert.match(installed.stdout, /: create extension rowgraph\n$/);
  await sql("create extension rowgraph version '1.0'");
  const old = await run('status', ...on());
  const says = `rowgraph 1.0 is installed as an extension, but ${currentVersion} is current. Run: alter extension rowgraph update. The server has the files of ${currentVersion}.\n`;
  assert.deepEqual([old.code, old.stdout], [1, says]);
  await sql('alter extension rowgraph update');
  const current = await run('status', ...on());
  assert.deepEqual(
    [current.code, current.stdout],
    [0, `rowgraph ${currentVersion} is installed as an extension. The server has the files of ${currentVersion}.\n`],
  );
  await sql('drop extension rowgraph');
});

test('what cannot be done is one line', async () => {
  await sql('create role ordinary login');
  const denied = await run('apply', ...on(server.url.replace(/\/\/[^@]*@/, '//ordinary@')));
  assert.equal(denied.code, 2);
  assert.match(denied.stderr, /^rowgraph: ordinary cannot install the extension \(permission denied.*\); log in as a superuser\n$/);
  const nowhere = await run('install', '--directory', path.join(home, 'nowhere'));
  assert.equal(nowhere.code, 2);
  assert.match(nowhere.stderr, /^rowgraph: cannot write to .*nowhere \(ENOENT.*\); name the folder of a server with --directory\n$/);
  const noConfig = await run('install', '--pg-config', path.join(home, 'pg_config'));
  assert.equal(noConfig.code, 2);
  assert.match(noConfig.stderr, /^rowgraph: cannot run .*pg_config \(.*ENOENT.*\); give its path with --pg-config, .*\n$/);
  const unknown = await run('uninstall');
  assert.deepEqual([unknown.code, unknown.stderr.split('\n').length], [2, 2]);
});

/** `rowgraph live`: what it sets up, what it says of a login that may replicate and of one that may not, and its exit codes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectOnce } from '../../src/cli/check-database.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { makeFolder, type Outcome, removeFolder, runCommand } from './run-command.ts';

let home: string;
let server: PostgresServer;
before(async () => {
  home = await makeFolder();
  server = await startPostgres({ settings: { wal_level: 'logical' } });
  await run(`create role authenticator login noinherit; create role live login replication; create role tenant login;
    grant create on schema public to tenant; grant create on database postgres to tenant;
    create table item (id int primary key); create table plain (text text)`);
});
after(async () => {
  await server.stop();
  await removeFolder(home);
});

const run = (sql: string): Promise<unknown> => connectOnce(server.url, (client) => client.query(sql));
const urlOf = (user: string): string => server.url.replace(/\/\/[^@]*@/, `//${user}@`);
const live = (user: string, ...flags: string[]): Promise<Outcome> =>
  runCommand(['live', ...flags, '--database-url', urlOf(user)], { home });

test('install, status and remove, with the exit codes that a script needs', async () => {
  const before = await live('authenticator', 'status');
  assert.deepEqual([before.code, before.stderr], [1, '']);
  assert.match(
    before.stdout,
    /by polling: nothing is set up in the database \("rowgraph live install" does that\)\.\n.*0 tables covered, 2 polled\.\nPolled: item, plain\./,
  );

  const installed = await live('postgres', 'install');
  assert.deepEqual([installed.code, installed.stderr.replaceAll(/^NOTICE.*\n/gm, '')], [0, '']);
  assert.match(
    installed.stdout,
    /^Changes of 2 tables are announced by the method wal\. .*REPLICATION\.\nTables that are created later are covered, too\.\n$/,
  );
  assert.equal((await live('postgres', 'install')).code, 0, 'again');

  const refused = await live('authenticator', 'status');
  assert.equal(refused.code, 1);
  assert.match(
    refused.stdout,
    /by polling: .*the login may not replicate \(alter role … replication, or give another login with --live-database-url\)/,
  );
  const replicating = await live('authenticator', 'status', '--live-database-url', urlOf('live'), '--json');
  assert.equal(replicating.code, 0);
  const { mode, part, methods, covered, uncovered, followsDdl } = JSON.parse(replicating.stdout);
  assert.deepEqual(
    { mode, part, methods, covered, uncovered, followsDdl },
    { mode: 'wal', part: 'leading', methods: ['wal'], covered: 2, uncovered: [], followsDdl: true },
  );

  assert.match((await live('postgres', 'install', '--method', 'table')).stdout, /by the method table\. .*any login will do/);
  const reading = await live('authenticator', 'status');
  assert.deepEqual([reading.code, /by the mode table/.test(reading.stdout)], [0, true]);

  const removed = await live('postgres', 'remove');
  assert.deepEqual([removed.code, removed.stdout], [0, 'Nothing announces changes any more: servers poll.\n']);
  assert.equal((await live('authenticator', 'status')).code, 1);
  assert.equal((await live('authenticator', 'status', '--live', 'poll')).code, 0, 'as wanted');
});

test('what is wrong is one line', async () => {
  const method = await live('postgres', 'install', '--method', 'replication');
  assert.deepEqual(
    [method.code, method.stderr],
    [2, 'rowgraph: --method must be auto, wal, messages, table or notify (it is "replication")\n'],
  );
  const denied = await live('authenticator', 'install');
  assert.deepEqual([denied.code, denied.stdout], [2, '']);
  assert.match(
    denied.stderr,
    /\nrowgraph: authenticator cannot set up live queries \(permission denied.*\); log in as the owner of the tables or a superuser\n$|^rowgraph: authenticator cannot set up live queries/,
  );
  const off = await live('postgres', 'status', '--live', 'off');
  assert.deepEqual([off.code, off.stderr], [2, 'rowgraph: live queries are off (--live)\n']);
});

test('an owner of tables sets up what its rights allow, and the rest is polled', async () => {
  await run(
    'drop event trigger if exists rowgraph_ddl; drop event trigger if exists rowgraph_drop; drop schema if exists rowgraph cascade',
  );
  await run('set role tenant; create table own (id int primary key)');
  const { code, stdout } = await live('tenant', 'install');
  assert.equal(code, 1);
  assert.match(stdout, /^Changes of 1 table are announced by the method messages\./);
  assert.match(stdout, /\nTables that are created later are polled until this is run again/);
  assert.match(stdout, /\nThese are polled:\n {2}item: .*\n {2}plain: /);
});

/** What goes wrong: commits that nobody sees yet, lost connections, a crash, an end of the process that reads, a setup that is changed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { Change } from '../../../src/live/changes/change-feed.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../../support/test-databases.ts';
import { until } from '../../support/until.ts';
import { fenceSql, openFeed, setUp } from './recorded-feed.ts';

const schemaSql = `${fenceSql} create table owner (id int primary key); create table note (text text);
  grant select on owner to authenticator;`;

let databases: TestDatabases;
before(async () => {
  databases = await startTestDatabases({ settings: { wal_level: 'logical', synchronous_commit: 'on', max_replication_slots: '3' } });
  const { run } = await databases.create('');
  await run('alter role authenticator replication');
});
after(() => databases.close());

async function createDatabase(method: 'wal' | 'messages' | 'table', on = databases): Promise<TestDatabase> {
  const database = await on.create(schemaSql);
  await setUp(database, method);
  return database;
}

const idOf = async ({ run }: TestDatabase, name: string): Promise<number> =>
  Number((await run(`select '${name}'::regclass::oid::int8 as id`))[0]?.id);

const concerns = (change: Change, table: number): boolean =>
  change.kind === 'everything' || (change.kind === 'tables' && change.tables.has(table));

for (const method of ['wal', 'messages'] as const)
  test(`a commit that waits for a standby is announced when others see it (${method})`, async (context) => {
    const database = await createDatabase(method);
    const owner = await idOf(database, 'owner');
    const reader = await database.connect('authenticator');
    const seen: Promise<number>[] = [];
    const count = async (): Promise<number> => Number((await reader.query('select count(*)::int from owner')).rows[0].count);
    const { feed } = await openFeed(context, database, { onChange: (change) => concerns(change, owner) && seen.push(count()) });
    await until(() => feed.status.mode === method);
    const before = seen.length;
    await database.run("alter system set synchronous_standby_names = 'nobody'");
    await database.run('select pg_reload_conf()');
    await until(async () => (await database.run('show synchronous_standby_names'))[0]?.synchronous_standby_names === 'nobody');
    const writer = await database.connect();
    const written = writer.query('insert into owner values (1)');
    await until(async () => (await database.run("select from pg_stat_activity where wait_event = 'SyncRep'")).length === 1);
    // The stream has delivered the commit.
    const [row] = await database.run('select pg_current_wal_flush_lsn() as lsn');
    await database.run("begin; set local synchronous_commit = off; select pg_logical_emit_message(false, 'other', ''); commit");
    await until(async () => (await database.run(`select from pg_stat_replication where replay_lsn >= '${row?.lsn}'`)).length === 1);
    assert.equal(seen.length, before, 'nothing is announced that nobody sees');
    assert.equal(await count(), 0);
    await database.run('alter system reset synchronous_standby_names');
    await database.run('select pg_reload_conf()');
    await written;
    await until(() => seen.length > before);
    assert.deepEqual(await Promise.all(seen.slice(before)), [1]);
  });

for (const [name, backends] of [
  ['the stream', 'select pid from pg_stat_replication'],
  ['the connection of the feed', `select pid from pg_stat_activity where usename = 'authenticator' and backend_type = 'client backend'`],
] as const)
  test(`${name} is ended: everything counts as changed, and it comes back`, async (context) => {
    const database = await createDatabase('wal');
    const { after, modes, changes, untilMode } = await openFeed(context, database);
    await untilMode('wal');
    assert.deepEqual(await after('insert into owner values (1)'), ['owner']);
    const before = changes.length;
    await database.run(`select pg_terminate_backend(pid) from (${backends}) b`);
    await database.run('insert into owner values (2)');
    await until(() => changes.slice(before).some(({ kind }) => kind === 'everything'));
    await until(() => modes.length >= 3);
    await untilMode('wal');
    assert.deepEqual(await after('insert into owner values (3)'), ['owner']);
    const slots = await database.run('select from pg_replication_slots where active');
    assert.equal(slots.length, 1);
  });

test('a crash of the server loses nothing', async (context) => {
  // The others keep their connections. A crash loses commits that need not be synchronous.
  const crashed = await startTestDatabases({ settings: { synchronous_commit: 'on' } });
  context.after(() => crashed.close());
  const database = await createDatabase('table', crashed);
  const { after, changes, modes, untilMode } = await openFeed(context, database);
  await untilMode('table');
  assert.deepEqual(await after('insert into owner values (1)'), ['owner']);
  const before = changes.length;
  const victim = await database.connect();
  const [row] = (await victim.query('select pg_backend_pid() as pid')).rows;
  process.kill(row.pid, 'SIGKILL');
  await until(() => changes.slice(before).some(({ kind }) => kind === 'everything'));
  await until(() => modes.length >= 3);
  await untilMode('table');
  const again = await database.connect();
  const owner = await (async () => Number((await again.query("select 'owner'::regclass::oid::int8 as id")).rows[0].id))();
  const since = changes.length;
  await again.query('insert into owner values (2)');
  await until(() => changes.slice(since).some((change) => concerns(change, owner)));
});

test('a restart of the server loses nothing', async (context) => {
  const restarted = await startTestDatabases({ settings: { wal_level: 'logical', synchronous_commit: 'on' } });
  context.after(() => restarted.close());
  await (await restarted.create('')).run('alter role authenticator replication');
  const database = await createDatabase('wal', restarted);
  const owner = await idOf(database, 'owner');
  const { after, changes, modes, untilMode } = await openFeed(context, database);
  await untilMode('wal');
  assert.deepEqual(await after('insert into owner values (1)'), ['owner']);
  const before = changes.length;
  await restarted.restart();
  await until(() => changes.slice(before).some(({ kind }) => kind === 'everything'));
  await until(() => modes.length >= 3);
  await untilMode('wal');
  const writer = await database.connect();
  const since = changes.length;
  await writer.query('insert into owner values (2)');
  await until(() => changes.slice(since).some((change) => concerns(change, owner)));
});

test('if the process that reads ends, another one takes its place', async (context) => {
  const database = await createDatabase('wal');
  const owner = await idOf(database, 'owner');
  const leader = startProcess(context, database.url);
  await until(() => leader.lines.includes('leading wal'));
  const { feed, after, changes, untilMode } = await openFeed(context, database);
  await until(() => feed.status.part === 'following');
  assert.deepEqual(await after('insert into owner values (1)'), ['owner']);
  await until(() => leader.lines.some((line) => line.startsWith('tables') && line.includes(String(owner))));
  const third = startProcess(context, database.url);
  await until(() => third.lines.includes('following wal'));
  const before = changes.length;
  leader.kill();
  await database.run('insert into owner values (2)');
  await until(() => changes.slice(before).some(({ kind }) => kind === 'everything'));
  await untilMode('wal');
  // Whichever leads now, the other one follows.
  const partOfThird = (): string | undefined => third.lines.findLast((line) => line.endsWith(' wal') || line.endsWith(' poll'));
  await until(() => partOfThird() === (feed.status.part === 'leading' ? 'following wal' : 'leading wal'));
  await until(async () => (await database.run('select from pg_replication_slots where active')).length === 1);
  const since = third.lines.length;
  const names = await after('insert into owner values (3)');
  assert.ok(names === 'everything' || names.includes('owner'));
  await until(() => third.lines.slice(since).some((line) => line.includes(String(owner)) || line.startsWith('everything')));
});

test('if the process that reads hangs, another one takes its place', async (context) => {
  const database = await createDatabase('wal');
  const leader = startProcess(context, database.url);
  await until(() => leader.lines.includes('leading wal'));
  const { feed, after } = await openFeed(context, database);
  await until(() => feed.status.part === 'following');
  leader.pause();
  await until(() => feed.status.part === 'leading' && feed.status.mode === 'wal');
  assert.deepEqual(await after('insert into owner values (1)'), ['owner']);
  leader.resume();
  await until(() => leader.lines.includes('following wal'));
  await database.run('insert into owner values (2)');
  const owner = await idOf(database, 'owner');
  await until(() => leader.lines.some((line) => line.startsWith('tables') && line.includes(String(owner))));
});

test('without a free slot the feed polls, and goes on when there is one', async (context) => {
  const database = await createDatabase('wal');
  for (const name of ['a', 'b', 'c']) await database.run(`select pg_create_physical_replication_slot('${name}')`);
  const { feed, after, untilMode } = await openFeed(context, database);
  await until(() => /all replication slots are in use/.test(feed.status.reason));
  assert.equal(feed.status.mode, 'poll');
  for (const name of ['a', 'b', 'c']) await database.run(`select pg_drop_replication_slot('${name}')`);
  await untilMode('wal');
  assert.deepEqual(await after('insert into owner values (1)'), ['owner']);
});

test('what is no longer announced is polled', async (context) => {
  const database = await createDatabase('wal');
  const { feed, after, changes, untilMode } = await openFeed(context, database);
  await untilMode('wal');
  const owner = await idOf(database, 'owner');
  assert.deepEqual(await after('insert into owner values (1)'), ['owner']);
  await database.run('alter publication rowgraph_live drop table owner');
  await until(() => !feed.covers(owner));
  feed.pollUncovered(true);
  const before = changes.length;
  await database.run('insert into owner values (2)');
  await until(() => changes.slice(before).some(({ kind }) => kind === 'uncovered'));
  await database.run('drop publication rowgraph_live');
  await database.run('insert into owner values (3)');
  await untilMode('poll');
  await setUp(database, 'messages');
  feed.noteSchemaChange();
  await untilMode('messages');
  assert.deepEqual(await after('insert into owner values (4)'), ['owner']);
});

test('tables into which logical replication begins to write are polled', async (context) => {
  const database = await createDatabase('table');
  const { feed, untilMode } = await openFeed(context, database);
  await untilMode('table');
  const owner = await idOf(database, 'owner');
  assert.ok(feed.covers(owner));
  await database.run(`create subscription s connection 'dbname=nowhere' publication p with (connect = false);
    set allow_system_table_mods = on;
    insert into pg_subscription_rel (srsubid, srrelid, srsubstate) select s.oid, 'owner'::regclass, 'r' from pg_subscription s`);
  await until(() => !feed.covers(owner));
  await database.run('alter subscription s set (slot_name = none); drop subscription s');
  await until(() => feed.covers(owner));
});

function startProcess(context: TestContext, url: string): { readonly lines: string[]; pause(): void; resume(): void; kill(): void } {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'feed-process.ts'), url], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    lines.push(
      ...text
        .split('\n')
        .slice(0, -1)
        .map((line) => line.trim()),
    );
    text = text.slice(text.lastIndexOf('\n') + 1);
  });
  const kill = (): void => void child.kill('SIGKILL');
  context.after(kill);
  return { lines, pause: () => void child.kill('SIGSTOP'), resume: () => void child.kill('SIGCONT'), kill };
}

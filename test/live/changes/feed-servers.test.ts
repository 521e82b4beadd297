/** Servers that a feed reads from in other ways: a standby that is promoted, one that gives up the slot, one over TLS. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { isInstalled } from '../../deploy/start-proxy.ts';
import { promote, startStandby } from '../../support/standby.ts';
import { startTestDatabases, type TestDatabase } from '../../support/test-databases.ts';
import { until } from '../../support/until.ts';
import { fenceSql, openFeed, setUp, superuserUrl } from './recorded-feed.ts';

const schemaSql = `${fenceSql} create table owner (id int primary key); grant select on owner to authenticator;`;

/** A database on a server of its own, whose changes the stream announces. */
async function startDatabase(context: TestContext, settings: Readonly<Record<string, string>> = {}): Promise<TestDatabase> {
  const databases = await startTestDatabases({ settings: { wal_level: 'logical', ...settings } });
  context.after(() => databases.close());
  const database = await databases.create(schemaSql);
  await database.run('alter role authenticator replication');
  await setUp(database, 'wal');
  return database;
}

test('a standby is polled, and read as any other server once it is promoted', async (context) => {
  const database = await startDatabase(context);
  const standby = await startStandby({ url: superuserUrl(database), port: database.port }, { wal_level: 'logical' });
  const url = database.url.replace(`:${database.port}/`, `:${standby.port}/`);
  const admin = new Client(superuserUrl({ ...database, url }));
  await admin.connect();
  context.after(async () => {
    await admin.end();
    await standby.stop();
  });
  const copy: TestDatabase = { ...database, url, port: standby.port, run: async (sql) => (await admin.query(sql)).rows };
  const { feed, after, changes, untilMode } = await openFeed(context, copy);
  await until(() => /the server is a standby/.test(feed.status.reason));
  assert.equal(feed.status.mode, 'poll');
  feed.pollUncovered(true);
  const before = changes.length;
  await database.run('insert into owner values (1)');
  await until(() => changes.slice(before).some(({ kind }) => kind === 'uncovered'));
  await promote(standby);
  feed.noteSchemaChange();
  await untilMode('wal');
  assert.deepEqual(await after('insert into owner values (2)'), ['owner']);
});

test('a slot that has become invalid is replaced, and everything counts as changed', async (context) => {
  const database = await startDatabase(context, { max_slot_wal_keep_size: '1MB', min_wal_size: '32MB', max_wal_size: '32MB' });
  const { changes, after, modes, reasons, untilMode } = await openFeed(context, database);
  await untilMode('wal');
  assert.deepEqual(await after('insert into owner values (1)'), ['owner']);
  const [slot] = await database.run('select slot_name, active_pid from pg_replication_slots');
  const before = changes.length;
  // What the slot still needs is in a segment that the server may now remove.
  for (let segment = 0; segment < 4; segment += 1)
    await database.run('insert into owner values (-1); delete from owner where id = -1; select pg_switch_wal(); checkpoint');
  await until(async () => (await database.run(`select from pg_replication_slots where slot_name = '${slot?.slot_name}'`)).length === 0);
  await until(() => changes.slice(before).some(({ kind }) => kind === 'everything'));
  await untilMode('wal');
  assert.notDeepEqual(modes, ['wal'], reasons.join());
  const names = await after('insert into owner values (2)');
  assert.ok(names === 'everything' || names.includes('owner'));
});

test('the stream comes over TLS as the URL asks for it', async (context) => {
  if (!(await isInstalled('openssl', 'version'))) return context.skip('there is no openssl on the path, or this is not Linux');
  const folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-tls-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const [certificate, key] = [path.join(folder, 'certificate.pem'), path.join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await promisify(execFile)('openssl', [...kind, '-keyout', key, '-out', certificate, ...subject]);
  // Root's servers run as nobody.
  if (process.getuid?.() === 0) for (const each of [folder, key, certificate]) await chown(each, 65534, 65534);
  const database = await startDatabase(context, { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key });
  const url = `${database.url}?${new URLSearchParams({ sslmode: 'verify-full', sslrootcert: certificate })}`;
  for (const options of [{ url }, { liveUrl: url }]) {
    const { feed, after, untilMode } = await openFeed(context, database, options);
    await untilMode('wal');
    assert.deepEqual(await after(`insert into owner select count(*) from owner`), ['owner']);
    const encrypted = await database.run(
      `select from pg_stat_ssl join pg_stat_activity using (pid) where ssl and backend_type = 'walsender'`,
    );
    assert.equal(encrypted.length, 1);
    await feed.close();
  }
});

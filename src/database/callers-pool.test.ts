/** Pools of the caller's, with options and habits that rowgraph's own pools do not have. */
import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { Pool, type PoolConfig } from 'pg';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { rolesSql } from '../../test/support/roles.ts';
import { textsOf } from '../../test/support/texts-of.ts';
import { until } from '../../test/support/until.ts';
import { Deadline } from '../budget/deadline.ts';
import type { Batch, Database, Session } from './database.ts';
import { openPgDatabase } from './pg-database.ts';
import type { PgPool } from './wire/pg-client.ts';

let server: PostgresServer;
let admin: Database;

before(async () => {
  server = await startPostgres();
  admin = openPgDatabase(server.url, { poolSize: 1 });
  await admin.query(`${rolesSql} create table entry (id int primary key); grant all on entry to anon;`);
});

after(async () => {
  await admin.close();
  await server.stop();
});

const session: Session = { role: 'anon', claims: '{}', searchPath: 'public', version: null };

/** Runs a test on a pool of the login role, with more options. */
async function withPool(options: PoolConfig, run: (database: Database, pool: Pool) => Promise<void>): Promise<void> {
  const pool = new Pool({ host: '127.0.0.1', port: server.port, user: 'authenticator', database: 'postgres', ...options });
  pool.on('error', () => {});
  const database = openPgDatabase(pool as unknown as PgPool);
  try {
    await run(database, pool);
  } finally {
    await database.close();
    await pool.end();
  }
}

test('connections beside a pool log in with its password, a string or a function', async () => {
  const [[file] = []] = await admin.query('show hba_file');
  const rules = ['host all postgres 127.0.0.1/32 trust', 'host all all 127.0.0.1/32 scram-sha-256'];
  await admin.query("alter role authenticator password 'secret'");
  await admin.query(`copy (select unnest('{${rules.map((rule) => `"${rule}"`)}}'::text[])) to '${file}'; select pg_reload_conf()`);
  const isRefused = async (): Promise<boolean> => {
    const stranger = openPgDatabase(`postgres://authenticator@127.0.0.1:${server.port}/postgres`);
    const isServed = await stranger.query('select 1').then(
      () => true,
      () => false,
    );
    await stranger.close();
    return !isServed;
  };
  await until(isRefused);
  for (const password of ['secret', async () => 'secret']) {
    await withPool({ password }, async (database) => {
      assert.deepEqual(await database.query('select 7'), [['7']]);
      const heard = Promise.withResolvers<string | null>();
      await database.listen('some_channel', heard.resolve);
      await admin.query("notify some_channel, 'hello'");
      assert.equal(await heard.promise, 'hello');
      assert.deepEqual(await database.tryOut(session, 60_000, (run) => run('select current_user::text')), [['anon']]);
    });
  }
  await admin.query(`copy (select 'host all all 127.0.0.1/32 trust') to '${file}'; select pg_reload_conf()`);
  await until(async () => !(await isRefused()));
});

const whoAmI = "select current_user::text, current_setting('request.jwt.claims', true)";
const insert = (id: number): Batch => ({ session, statements: [{ text: `insert into entry values (${id})`, parameters: [] }] });
const read: Batch = { session, statements: [{ text: whoAmI, parameters: [] }], template: {} };

for (const begin of ['begin', 'begin; select 1/0']) {
  test(`a connection that somebody returned after "${begin}" is not used`, () =>
    withPool({ max: 1 }, async (database, pool) => {
      const leave = async (): Promise<void> => {
        const client = await pool.connect();
        await client.query(begin).catch(() => {});
        client.release();
      };
      const id = begin.length;
      await leave();
      await database.run(insert(id));
      assert.deepEqual(await admin.query(`select from entry where id = ${id}`), [[]]);
      await leave();
      assert.deepEqual(textsOf(await database.run(read)), [['anon', '{}']]);
      assert.deepEqual((await pool.query(whoAmI)).rows, [{ current_user: 'authenticator', current_setting: '' }]);
    }));
}

test('where `pg` does not know of the transaction, a mutation in it has an unknown outcome, and is undone', () =>
  withPool({ max: 1 }, async (database, pool) => {
    pool.on('connect', (client) => Object.assign(client, { getTransactionStatus: undefined }));
    const leave = async (): Promise<void> => {
      const client = await pool.connect();
      await client.query('begin');
      client.release();
    };
    await leave();
    await assert.rejects(database.run(insert(1)), { reason: 'outcome-unknown' });
    assert.deepEqual((await pool.query(whoAmI)).rows, [{ current_user: 'authenticator', current_setting: null }]);
    assert.deepEqual(await admin.query('select from entry where id = 1'), []);
    await leave();
    assert.deepEqual(textsOf(await database.run(read)), [['anon', '{}']]);
  }));

test('its `query_timeout` ends no work of ours, and leaves no timers behind', async () => {
  const countTimers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const held = { text: 'select 7 from pg_advisory_xact_lock_shared(1)', parameters: [] };
  await withPool({ query_timeout: 1, idleTimeoutMillis: 0 }, async (database) => {
    const before = countTimers();
    for (const template of [{}, undefined]) {
      await admin.query('select pg_advisory_lock(1)');
      const run = database.run({ session, statements: [held], template });
      const waiting = "select from pg_stat_activity where wait_event_type = 'Lock'";
      await until(async () => (await admin.query(waiting)).length === 1);
      // Timers of equal length fire in the order in which they were started.
      await new Promise((resolve) => setTimeout(resolve, 1));
      await admin.query('select pg_advisory_unlock(1)');
      assert.deepEqual(textsOf(await run), [['7']]);
    }
    assert.equal(countTimers(), before);
  });
});

/** Opens sockets as the connectors of Cloud SQL and AlloyDB do, which alone know where the server is. */
const openStream = (port: number) => (): Socket => {
  const socket = connect(port, '127.0.0.1');
  socket.connect = () => socket;
  return socket;
};

test('what runs on its connections is cancelled over a socket that its `stream` opens', async () => {
  const sleeping = { text: 'select pg_sleep(600)', parameters: [] };
  await withPool({ host: 'nowhere.invalid', port: 1, stream: openStream(server.port) }, async (database) => {
    for (const template of [{}, undefined]) {
      const deadline = new Deadline(3_600_000);
      const run = database.run({ session, statements: [sleeping], template, deadline });
      const running = "select from pg_stat_activity where wait_event = 'PgSleep'";
      await until(async () => (await admin.query(running)).length === 1);
      deadline.stop('abandoned');
      await assert.rejects(run, { reason: 'cancelled' });
      await until(async () => (await admin.query(running)).length === 0);
    }
  });
});

/** A server that takes connections and reads them, and ends them when asked to. */
async function startListener(): Promise<{ port: number; sockets: Socket[]; stop(): void }> {
  const sockets: Socket[] = [];
  const listener = createServer((socket) => sockets.push(socket.resume()));
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return { port: (listener.address() as AddressInfo).port, sockets, stop: () => listener.close() };
}

test('a mutation is not sent again because of a stale plan once it must stop', async () => {
  await admin.query('create table typed (value int); insert into typed values (7); grant select on typed to anon');
  const texts = ['select from pg_advisory_xact_lock_shared(1)', 'select value from typed', 'insert into entry values (100)'];
  const batch = { session, statements: texts.map((text) => ({ text, parameters: [] })) };
  const cancelRequests = await startListener();
  const opened = { count: 0 };
  const stream = (): Socket => openStream(opened.count++ === 0 ? server.port : cancelRequests.port)();
  await withPool({ max: 1, stream }, async (database) => {
    await database.run(batch);
    await admin.query('delete from entry; alter table typed alter value type text; select pg_advisory_lock(1)');
    const deadline = new Deadline(3_600_000);
    const rejected = assert.rejects(database.run({ ...batch, deadline }), { reason: 'cancelled' });
    await until(async () => (await admin.query("select from pg_stat_activity where wait_event_type = 'Lock'")).length === 1);
    deadline.stop('abandoned');
    await until(() => cancelRequests.sockets.length === 1);
    await admin.query('select pg_advisory_unlock(1)');
    await rejected;
    cancelRequests.sockets[0]!.end();
    await database.query('select 7');
    assert.deepEqual(await admin.query('select from entry where id = 100'), []);
  });
  cancelRequests.stop();
});

test('its connections keep no listener of a database that is closed', () =>
  withPool({ max: 1 }, async (_, pool) => {
    const client = await pool.connect();
    const count = client.listenerCount('error');
    client.release();
    for (let round = 0; round < 3; round++) {
      const database = openPgDatabase(pool as unknown as PgPool);
      await database.query('select 7');
      await database.close();
      const late = openPgDatabase(pool as unknown as PgPool);
      const refused = assert.rejects(late.query('select 7'), /closed/);
      await Promise.all([late.close(), refused]);
    }
    const again = await pool.connect();
    assert.ok(again === client);
    assert.equal(client.listenerCount('error'), count);
    client.release();
  }));

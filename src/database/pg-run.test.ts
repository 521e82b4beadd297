/** What becomes of a run in each of its states when it must stop, or its connection, its server or its pool is no more. */
import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Pool } from 'pg';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { textsOf } from '../../test/support/texts-of.ts';
import { until } from '../../test/support/until.ts';
import { Deadline } from '../budget/deadline.ts';
import type { Batch, Database } from './database.ts';
import { openPgDatabase, type PgDatabaseOptions } from './pg-database.ts';
import { retries } from './pg-run.ts';
import type { PgPool } from './wire/pg-client.ts';

let server: PostgresServer;
let admin: Database;

before(async () => {
  server = await startPostgres();
  // One connection, which has the locks that it takes.
  admin = openPgDatabase(server.url, { poolSize: 1 });
  await admin.query('create table entry (id int primary key)');
});
after(async () => {
  await admin.close();
  await server.stop();
});

async function withDatabase(options: PgDatabaseOptions, use: (database: Database) => Promise<void>, url = server.url): Promise<void> {
  const database = openPgDatabase(url, { queueTimeoutMillis: 3_600_000, ...options });
  try {
    await use(database);
  } finally {
    await database.close();
  }
}

const statement = (text: string, ...parameters: string[]) => ({ text, parameters });
const reading = (text: string, deadline?: Deadline): Batch => ({ session: null, statements: [statement(text)], template: {}, deadline });
const writing = (id: number, more: string[], deadline?: Deadline): Batch => ({
  session: null,
  statements: [statement(`insert into entry values (${id})`), ...more.map((text) => statement(text))],
  deadline,
});
const countOf = async (id: number): Promise<number> => (await admin.query(`select from entry where id = ${id}`, [])).length;
const sleeping = async (): Promise<number> => (await admin.query("select from pg_stat_activity where wait_event = 'PgSleep'", [])).length;
const cancelSleeping = () => admin.query("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'", []);
const never = 'select pg_sleep(600)';
/** A deadline that only a test ends. */
const open = (): Deadline => new Deadline(3_600_000);

/** Keeps the only connection busy meanwhile. */
async function whileBusy(database: Database, use: () => Promise<void>): Promise<void> {
  const busy = assert.rejects(database.run(reading(never)), { sqlstate: '57014' });
  await until(async () => (await sleeping()) === 1);
  await use();
  await cancelSleeping();
  await busy;
}

/** A server that accepts connections and says nothing. */
async function startMute(): Promise<{ url: string; sockets: Socket[]; stop(): void }> {
  const sockets: Socket[] = [];
  const mute = createServer((socket) => sockets.push(socket.on('error', () => {}).resume()));
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const stop = (): void => {
    for (const socket of sockets) socket.destroy();
    mute.close();
  };
  return { url: `postgres://nobody@127.0.0.1:${(mute.address() as AddressInfo).port}/none`, sockets, stop };
}

test('only what changes nothing is tried again once it may have run', () => {
  const ofWrites = Object.entries(retries).filter(([, { mayWrite }]) => mayWrite);
  assert.deepEqual(
    ofWrites.map(([fault]) => fault),
    ['unsent', 'stale-plan', 'in-company', 'held-reserve'],
  );
});

for (const reason of ['abandoned', 'expired'] as const) {
  const expected = { reason: reason === 'abandoned' ? 'cancelled' : 'timeout' };

  describe(`a run that is ${reason}`, () => {
    test('before the end of the turn in which it came is never queued', () =>
      withDatabase({ poolSize: 1 }, async (database) => {
        const deadline = open();
        const run = database.run(reading(never, deadline));
        deadline.stop(reason);
        await assert.rejects(run, expected);
        assert.deepEqual(await database.query('select 7'), [['7']]);
        assert.equal(await sleeping(), 0);
      }));

    test('while it is queued leaves the queue, and nothing of it is sent', () =>
      withDatabase({ poolSize: 1 }, async (database) => {
        await whileBusy(database, async () => {
          const deadlines = [open(), open()];
          const runs = [database.run(reading(never, deadlines[0])), database.run(writing(1, [], deadlines[1]))];
          await until(() => database.readStatistics().pool?.waiting === 2);
          for (const deadline of deadlines) deadline.stop(reason);
          for (const run of runs) await assert.rejects(run, expected);
          assert.equal(database.readStatistics().pool?.waiting, 0);
        });
        assert.deepEqual([await countOf(1), await database.query('select 7')], [0, [['7']]]);
      }));

    test('while a connection is opened for it is not sent on that', async () => {
      const mute = await startMute();
      await withDatabase(
        { poolSize: 1 },
        async (database) => {
          const deadline = open();
          const run = database.run(writing(2, [], deadline));
          await until(() => mute.sockets.length === 1);
          deadline.stop(reason);
          await assert.rejects(run, expected);
          assert.deepEqual(database.readStatistics().pool, { size: 1, busy: 0, idle: 0, waiting: 0 });
          mute.stop();
        },
        mute.url,
      );
    });

    test('while it runs is cancelled: a query is answered at once, a mutation when it is undone', () =>
      withDatabase({ poolSize: 2 }, async (database) => {
        const deadlines = [open(), open()];
        const runs = [database.run(reading(never, deadlines[0])), database.run(writing(3, [never], deadlines[1]))];
        await until(async () => (await sleeping()) === 2);
        for (const deadline of deadlines) deadline.stop(reason);
        for (const run of runs) await assert.rejects(run, expected);
        assert.equal(await countOf(3), 0);
        await until(async () => (await sleeping()) === 0);
        await until(() => database.readStatistics().pool?.idle === 2);
      }));

    test('while it waits to be sent again is not sent again', () =>
      withDatabase({ poolSize: 1 }, async (database) => {
        const deadline = open();
        const run = database.run(reading(never, deadline));
        await until(async () => (await sleeping()) === 1);
        await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'", []);
        await until(() => database.readStatistics().pool?.busy === 0);
        deadline.stop(reason);
        await assert.rejects(run, expected);
        assert.deepEqual(await database.query('select 7'), [['7']]);
        assert.equal(await sleeping(), 0);
      }));
  });
}

test('a connection whose cancel request is slow is free only once that cannot reach it any more', async () => {
  const requests = await startMute();
  const ports = [server.port];
  /** Opens the first socket to the server, and those of cancel requests to nowhere. */
  const stream = (): Socket => {
    const socket = connect(ports.pop() ?? Number(new URL(requests.url).port), '127.0.0.1');
    socket.connect = () => socket;
    return socket;
  };
  const pool = new Pool({ connectionString: server.url, max: 1, stream });
  const database = openPgDatabase(pool as unknown as PgPool);
  await admin.query('select pg_advisory_lock(4)');
  const deadline = open();
  const run = database.run(writing(4, ['select from pg_advisory_xact_lock(4)'], deadline));
  await until(async () => (await admin.query("select from pg_stat_activity where wait_event = 'advisory'", [])).length === 1);
  deadline.stop('abandoned');
  await until(() => requests.sockets.length === 1);
  const next = database.query('select 7');
  await admin.query('select pg_advisory_unlock_all()');
  await run;
  assert.equal(await countOf(4), 1, 'PostgreSQL had committed it');
  assert.deepEqual(database.readStatistics().pool, { size: 1, busy: 1, idle: 0, waiting: 1 });
  for (const socket of requests.sockets) socket.end();
  assert.deepEqual(await next, [['7']]);
  await database.close();
  await pool.end();
  requests.stop();
});

test('a pool that closes refuses what waits, and cancels what runs', async () => {
  const database = openPgDatabase(server.url, { poolSize: 1 });
  const running = assert.rejects(database.run(reading(never)), { sqlstate: '57014' });
  await until(async () => (await sleeping()) === 1);
  const waiting = [reading('select 1'), writing(5, [])].map((batch) => assert.rejects(database.run(batch), { reason: 'closed' }));
  await until(() => database.readStatistics().pool?.waiting === 2);
  await Promise.all([database.close(), running, ...waiting]);
  await assert.rejects(database.run(reading('select 1')), { reason: 'closed' });
  assert.equal(await countOf(5), 0);
});

test('connections that are killed while idle are replaced, and fail no run, whether it reads or writes', () =>
  withDatabase({ poolSize: 3 }, async (database) => {
    const three = Promise.all([1, 2, 3].map(() => database.run(reading('select pg_sleep(0.1), pg_backend_pid()'))));
    const pids = textsOf((await three).flat()).map(([, pid]) => pid);
    await admin.query(`select pg_terminate_backend(pid) from unnest('{${pids}}'::int[]) pid`);
    // A mutation that is written to a connection that has just ended may have run, as far as anybody knows.
    await until(() => database.readStatistics().pool?.idle === 0);
    await Promise.all([6, 7, 8].flatMap((id) => [database.run(writing(id, [])), database.run(reading('select 1'))]));
    assert.deepEqual(await Promise.all([6, 7, 8].map(countOf)), [1, 1, 1]);
  }));

test('a batch larger than the buffers of the socket is written while its reply is awaited, and can be stopped meanwhile', () =>
  withDatabase({ poolSize: 1 }, async (database) => {
    const large = (deadline?: Deadline): Batch => ({
      session: null,
      statements: [
        statement('select length($1::text)', 'x'.repeat(50_000_000)),
        statement('select length($1::text)', 'y'.repeat(50_000_000)),
      ],
      template: {},
      deadline,
    });
    assert.deepEqual(textsOf(await database.run(large())), [['50000000'], ['50000000']]);
    const deadline = open();
    const stopped = database.run(large(deadline));
    await until(() => database.readStatistics().pool?.busy === 1);
    deadline.stop('abandoned');
    await assert.rejects(stopped, { reason: 'cancelled' });
    assert.deepEqual(await database.query('select 7'), [['7']]);
  }));

/** The network cuts messages anywhere: a message that comes in two pieces, in the middle of other work, confuses nobody. */
import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Pool } from 'pg';
import type { Batch, Database, Session } from '../../src/database/database.ts';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import type { PgPool } from '../../src/database/wire/pg-client.ts';
import { type HoldingProxy, startHoldingProxy } from '../support/holding-proxy.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';

let databases: TestDatabases;
let own: TestDatabase;
let proxy: HoldingProxy;

before(async () => {
  databases = await startTestDatabases();
  own = await databases.create('create table entry (id int primary key); insert into entry values (1)');
  proxy = await startHoldingProxy(databases.port);
});
beforeEach(() => own.run('delete from entry where id <> 1'));
after(async () => {
  await proxy.stop();
  await databases.close();
});

const session: Session = { role: 'anon', claims: '{}', searchPath: 'public', version: null };
const insert = (id: number): Batch => ({ session, statements: [{ text: `insert into entry values (${id})`, parameters: [] }] });
const read: Batch = { session, statements: [{ text: 'select 7', parameters: [] }], template: {} };
/** So much of the notification is in the first piece. */
const piece = 20;

/** Has PostgreSQL send a notification behind whatever is held. Resolves to where its first piece ends. */
async function holdNotification(): Promise<number> {
  const before = proxy.held.length;
  await own.run("select pg_notify('some_channel', repeat('x', 7000))");
  await until(() => proxy.held.length >= before + 7000 && proxy.held.at(-1) === 0);
  return before + piece;
}

/** Whoever was sent something has received it by then: this takes a turn of the event loop, at least. */
const turn = (): Promise<unknown> => own.run('select 1');

async function stillRefuses(database: Database): Promise<void> {
  for (let time = 0; time < 3; time++) await assert.rejects(database.run(insert(1)), { sqlstate: '23505' });
  await database.run(insert(2));
  assert.deepEqual(await own.run('select id from entry order by id'), [{ id: 1 }, { id: 2 }]);
}

const pools: Record<string, (url: string) => { database: Database; end(): Promise<void> }> = {
  'our own pool': (url) => ({ database: openPgDatabase(url, { poolSize: 1 }), end: async () => {} }),
  "a caller's pool": (url) => {
    const pool = new Pool({ connectionString: url, max: 1 });
    pool.on('error', () => {});
    return { database: openPgDatabase(pool as unknown as PgPool), end: () => pool.end() };
  },
};

for (const [name, open] of Object.entries(pools)) {
  describe(`on ${name}, a notification`, () => {
    let opened: ReturnType<typeof open>;
    before(async () => {
      opened = open(own.url.replace(`:${own.port}/`, `:${proxy.port}/`));
      await opened.database.query('listen some_channel');
    });
    after(async () => {
      await opened.database.close();
      await opened.end();
    });

    test('of which one piece comes with a reply, and one later', async () => {
      const { database } = opened;
      proxy.hold();
      const rows = database.query('select 7', []);
      await until(() => proxy.held.at(-6) === 0x5a);
      proxy.release(await holdNotification());
      assert.deepEqual(await rows, [['7']]);
      await turn();
      proxy.release();
      await stillRefuses(database);
    });

    test('of which one piece comes before a request is sent, and one with its reply', async () => {
      const { database } = opened;
      proxy.hold();
      proxy.release(await holdNotification());
      await turn();
      const rest = proxy.held.length;
      const rejected = assert.rejects(database.run(insert(1)), { sqlstate: '23505' });
      await until(() => proxy.held.length > rest);
      proxy.release();
      await rejected;
      await stillRefuses(database);
    });
  });
}

test('a connection in the middle of a message when rowgraph gets it is given up', async () => {
  for (const [batch, outcome] of [
    [read, [['7']]],
    [insert(3), 'outcome-unknown'],
  ] as const) {
    const pool = new Pool({ connectionString: own.url.replace(`:${own.port}/`, `:${proxy.port}/`), max: 1 });
    pool.on('error', () => {});
    const client = await pool.connect();
    await client.query('listen some_channel');
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    client.release();
    proxy.hold();
    const bytes = stream.bytesRead;
    proxy.release(await holdNotification());
    await until(() => stream.bytesRead > bytes);
    const database = openPgDatabase(pool as unknown as PgPool);
    const rest = proxy.held.length;
    const run = database.run(batch).then(
      (results) => results.map((row) => row.map((value) => (value as { latin1: string }).latin1)),
      ({ reason }) => reason,
    );
    await until(() => proxy.held.length > rest);
    proxy.release();
    assert.deepEqual(await run, outcome);
    await database.close();
    await pool.end();
  }
});

test('a reply that is too short is no success', async () => {
  const message = (type: string, body: string): Buffer => {
    const bytes = Buffer.from(`${type}\0\0\0\0${body}`, 'latin1');
    bytes.writeUInt32BE(bytes.length - 1, 1);
    return bytes;
  };
  const ready = message('Z', 'I');
  const complete = message('C', 'SELECT 1\0');
  const sockets: Socket[] = [];
  let replies = 0;
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', '\0\0\0\0'), ready]));
      socket.on('data', (bytes) => {
        // A reply to the Sync at the end of a batch, and none to the goodbye.
        if (bytes.at(-5) !== 0x53) return;
        replies += 1;
        socket.write(Buffer.concat([complete, ready]));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const database = openPgDatabase(`postgres://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/none`, { poolSize: 1 });
  await assert.rejects(database.run(insert(3)), { reason: 'outcome-unknown' });
  assert.equal(replies, 1);
  await assert.rejects(database.run(read), { sqlstate: null, message: /part of the reply was lost/ });
  assert.equal(replies, 3);
  await database.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

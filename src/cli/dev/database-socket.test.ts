import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { startPglite } from '../../../test/support/pglite.ts';
import { type DatabaseSocket, openDatabaseSocket } from './database-socket.ts';

let pglite: PGlite;
let socket: DatabaseSocket;
before(async () => {
  pglite = await startPglite();
  await pglite.exec('create table item (id int primary key)');
  socket = await openDatabaseSocket(() => pglite, 0);
});
after(async () => {
  await socket.close();
  await pglite.close();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(socket.url);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

test('clients and the process itself never receive each other’s answers', async () => {
  const [one, two] = [await connect(), await connect()];
  const through = async (client: pg.Client, name: string): Promise<unknown[]> => {
    const answers: unknown[] = [];
    for (let turn = 0; turn < 50; turn++) answers.push((await client.query('select $1::text as name', [name])).rows[0].name);
    return answers;
  };
  const directly = async (): Promise<unknown[]> => {
    const answers: unknown[] = [];
    for (let turn = 0; turn < 50; turn++) answers.push((await pglite.query<{ name: string }>('select $1 as name', ['self'])).rows[0]?.name);
    return answers;
  };
  const all = await Promise.all([through(one, 'one'), through(two, 'two'), directly()]);
  assert.deepEqual(
    all.map((answers) => [...new Set(answers)]),
    [['one'], ['two'], ['self']],
  );
  await Promise.all([one.end(), two.end()]);
});

test('a client in a transaction has the session to itself; if it vanishes, the transaction is rolled back', async () => {
  const [one, two] = [await connect(), await connect()];
  await one.query('begin');
  await one.query('insert into item values (1)');
  const waiting = two.query('select count(*)::int from item');
  await one.query('insert into item values (2)');
  await one.query('commit');
  assert.deepEqual((await waiting).rows, [{ count: 2 }]);
  await one.query('begin');
  await one.query('delete from item');
  // As when the client crashes.
  (one as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  assert.deepEqual((await two.query('select count(*)::int from item')).rows, [{ count: 2 }]);
  await two.end();
});

test('errors, and messages that would crash the process, end neither the connection nor the process', async () => {
  const client = await connect();
  await assert.rejects(client.query('select nothing'), /column "nothing" does not exist/);
  await assert.rejects(client.query('select $1::int', ['x']), /invalid input syntax/);
  await assert.rejects(client.query('copy item from stdin'), /does not work in the embedded database/);
  await assert.rejects(client.query({ name: 'copy', text: 'copy item from stdin' }), /does not work in the embedded database/);
  assert.deepEqual((await client.query('select 1 as one')).rows, [{ one: 1 }]);
  await client.end();
});

test("a client's settings are reset when it disconnects", async () => {
  const client = await connect();
  await client.query('create role singer');
  await client.query('set role singer');
  await client.query("set search_path to ''");
  await client.end();
  await (await connect()).end();
  const { rows } = await pglite.query("select current_user::text as name, current_setting('search_path') <> '\"\"' as is_reset");
  assert.deepEqual(rows, [{ name: 'postgres', is_reset: true }]);
});

test('our own notifications reach the process but not the clients', async () => {
  const heard: string[] = [];
  await pglite.listen('rowgraph_test', (payload) => heard.push(payload));
  const client = await connect();
  const seen: string[] = [];
  client.on('notification', ({ channel }) => seen.push(channel));
  await client.query('listen gossip');
  await client.query("notify rowgraph_test, 'news'; notify gossip");
  assert.deepEqual([heard, seen], [['news'], ['gossip']]);
  await client.end();
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { Client } from 'pg';
import { startPglite } from '../../test/support/pglite.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { openClientDatabase } from './client-database.ts';
import type { Batch, RequestDatabase } from './database.ts';

let server: PostgresServer;
let client: Client;
let pglite: PGlite;

before(async () => {
  [server, pglite] = await Promise.all([startPostgres(), startPglite()]);
  client = new Client(server.url);
  await client.connect();
  const setup = 'create table entry (id int primary key, other int references entry deferrable initially deferred)';
  await Promise.all([client.query(setup), pglite.exec(setup)]);
});

after(async () => {
  await Promise.all([client.end(), pglite.close()]);
  await server.stop();
});

const batch = (...statements: readonly (readonly [text: string, ...parameters: (string | null)[]])[]): Batch => ({
  session: null,
  statements: statements.map(([text, ...parameters]) => ({ text, parameters })),
});
const failure =
  (sqlstate: string | null) =>
  (error: unknown): boolean =>
    error instanceof DatabaseError && error.sqlstate === sqlstate;
const entries = async (database: RequestDatabase): Promise<unknown> => (await database.query('select id from entry order by id')).flat();

/** What must hold on each kind of connection. `simple` sends SQL directly, without our layer. */
async function checkInTransaction(database: RequestDatabase, simple: (sql: string) => Promise<unknown>): Promise<void> {
  await simple('insert into entry values (1)');
  const [row, empty] = await database.run(
    batch(['insert into entry values ($1::int) returning id, true, $2::json', '2', '[1]'], ['select 1 where false']),
  );
  assert.deepEqual([row, empty], [['2', 't', '[1]'], []]);
  await assert.rejects(database.run(batch(['insert into entry values (3)'], ['select 1/0'])), failure('22012'));
  await assert.rejects(database.query('select * from nowhere'), failure('42P01'));
  await simple('insert into entry values (4)');
  assert.deepEqual(await entries(database), ['1', '2', '4']);
  const both = await Promise.allSettled([database.run(batch(['select 1/0'])), database.run(batch(['select 5']))]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  );
  await database.run(batch(['insert into entry values (6, 99)']));
}

async function checkWithoutTransaction(database: RequestDatabase): Promise<void> {
  assert.deepEqual(await database.run(batch(['insert into entry values (1)'], ['insert into entry values (2) returning id'])), [[], ['2']]);
  await assert.rejects(database.run(batch(['insert into entry values (3)'], ['select 1/0'])), failure('22012'));
  await assert.rejects(database.run(batch(['insert into entry values (3, 99)'])), failure('23503'));
  assert.deepEqual(await entries(database), ['1', '2']);
  await database.run(batch(['delete from entry']));
}

describe('a client of pg', () => {
  test('keeps its open transaction usable', async () => {
    await client.query('begin');
    await checkInTransaction(openClientDatabase(client), (sql) => client.query(sql));
    await assert.rejects(client.query('commit'), /foreign key/, 'a deferred constraint is still checked where the caller commits');
    assert.deepEqual((await client.query('select id from entry')).rows, []);
  });

  test('without a transaction, runs each batch in its own', () => checkWithoutTransaction(openClientDatabase(client)));

  test('is rejected with the reason if its transaction has failed', async () => {
    const database = openClientDatabase(client);
    await client.query('begin');
    await assert.rejects(client.query('select 1/0'));
    await assert.rejects(database.run(batch(['select 1'])), /has already failed/);
    await assert.rejects(database.query('select 1'), failure('25P02'));
    await client.query('rollback');
    assert.deepEqual(await database.run(batch(['select 1'])), [['1']]);
  });

  test('keeps its role, its search path, and what only its transaction sees', async () => {
    const database = openClientDatabase(client);
    await client.query("create role reader; begin; set local role reader; set local search_path = 'x, y'");
    assert.deepEqual(await database.run(batch(["select current_user::text, current_setting('search_path')"])), [['reader', '"x, y"']]);
    await client.query('rollback; begin; create table fresh (id int)');
    assert.deepEqual(await database.run(batch(['select count(*) from fresh'])), [['0']]);
    await client.query('rollback');
  });

  test('reads without JIT, and keeps its settings', async () => {
    const settings = "select current_setting('jit'), current_setting('work_mem'), current_setting('app.name', true)";
    const own = async () => (await client.query({ text: settings, rowMode: 'array' })).rows;
    const database = openClientDatabase(client);
    const usual = await own();
    assert.deepEqual(await database.query(settings, []), [['off', '16MB', null]]);
    assert.deepEqual(await own(), usual);
    await client.query("begin; set local jit = on; set local work_mem = '1MB'");
    const inside = await own();
    assert.deepEqual(await database.query(settings, []), [['off', '16MB', null]]);
    await database.query("select set_config('app.name', $1, true)", ['x']);
    await assert.rejects(database.query('select 1/0', []), failure('22012'));
    assert.deepEqual(await own(), [[...inside[0]!.slice(0, 2), '']]);
    await client.query('rollback');
    assert.deepEqual((await own())[0]!.slice(0, 2), usual[0]!.slice(0, 2));
  });

  test('reports that it has ended', async () => {
    const ended = new Client(server.url);
    await ended.connect();
    await ended.end();
    await assert.rejects(openClientDatabase(ended).run(batch(['select 1'])), failure(null));
  });
});

describe('a PGlite', () => {
  test('lends its transaction, which stays usable', async () => {
    const work = pglite.transaction((transaction) => checkInTransaction(openClientDatabase(transaction), (sql) => transaction.exec(sql)));
    await assert.rejects(work, /foreign key/);
    assert.deepEqual((await pglite.query('select id from entry')).rows, []);
  });

  test('without a transaction, runs each batch in its own', () => checkWithoutTransaction(openClientDatabase(pglite)));

  test('keeps a transaction opened with `begin` usable', async () => {
    await pglite.exec('begin');
    await checkInTransaction(openClientDatabase(pglite), (sql) => pglite.exec(sql));
    await pglite.exec('rollback');
  });
});

test('anything but a connection is rejected', () => {
  for (const value of [null, undefined, 'postgres://x', {}, { query: 1 }]) assert.throws(() => openClientDatabase(value), TypeError);
});

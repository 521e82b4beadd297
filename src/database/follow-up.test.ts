import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { textsOf } from '../../test/support/texts-of.ts';
import type { Batch, ColumnValue, Database } from './database.ts';
import { openPgDatabase } from './pg-database.ts';

let server: PostgresServer;
let database: Database;

before(async () => {
  server = await startPostgres();
  database = openPgDatabase(server.url, { poolSize: 1 });
  await database.query('create table entry (id int primary key, other int references entry deferrable initially deferred)');
});

after(async () => {
  await database.close();
  await server.stop();
});

const session = { role: 'postgres', claims: '{}', searchPath: 'public', version: null };

/** Runs a statement and what follows it. Returns what was noted of that, and what became of the batch. */
async function run(text: string, following: string, more: Partial<Batch> = {}) {
  const noted: (readonly ColumnValue[] | null)[] = [];
  const followUp = { statement: { text: following, parameters: [] }, note: (row: readonly ColumnValue[] | null) => void noted.push(row) };
  const outcome = await database.run({ session, statements: [{ text, parameters: [] }], followUp, ...more }).then(
    (result) => textsOf(result),
    (error: Error) => error.message,
  );
  const rows = noted.map((row) => (row === null ? null : textsOf([row])[0]));
  return { outcome, noted: rows };
}

test('it sees what the batch has committed, as the login role, and is prepared once', async () => {
  const count = 'select count(*)::text, current_setting($$request.jwt.claims$$, true) from entry';
  assert.deepEqual(await run('insert into entry values (1) returning id::text', count), { outcome: [['1']], noted: [['1', '']] });
  assert.deepEqual(await run('insert into entry values (2) returning id::text', count), { outcome: [['2']], noted: [['2', '']] });
  const misses = database.readCaches()[0]?.misses ?? 0;
  await run('insert into entry values (3) returning id::text', count);
  assert.equal(database.readCaches()[0]?.misses, misses + 1, 'only the insert is another statement');
});

test('it is not noted if the batch fails, at any time, and the connection is as before', async () => {
  const failures = [
    ['select 1/0', 'division by zero'],
    ['insert into entry values (1)', 'duplicate key value violates unique constraint "entry_pkey"'],
    ['insert into entry values (9, 99)', 'insert or update on table "entry" violates foreign key constraint "entry_other_fkey"'],
    ['selec 1', 'syntax error at or near "selec"'],
  ] as const;
  for (const [text, message] of failures) assert.deepEqual(await run(text, 'select 7::text'), { outcome: message, noted: [] }, text);
  assert.deepEqual(await run('select 1::text', 'select 7::text'), { outcome: [['1']], noted: [['7']] });
});

test('if it fails, or ends its connection, the batch has succeeded nevertheless', async () => {
  for (const following of ['select 1/0', 'selec 1', 'select pg_terminate_backend(pg_backend_pid()), pg_sleep(60)'])
    assert.deepEqual(await run('select 1::text', following), { outcome: [['1']], noted: [null] }, following);
  assert.deepEqual(await run('select 1::text', 'select 7::text'), { outcome: [['1']], noted: [['7']] });
});

test('its bytes do not count as those of the response', async () => {
  assert.deepEqual(await run('select 1::text', "select repeat('a', 100)", { maxBytes: 50 }), {
    outcome: [['1']],
    noted: [['a'.repeat(100)]],
  });
});

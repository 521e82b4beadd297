import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { Client } from 'pg';
import { startPglite } from '../../../test/support/pglite.ts';
import { type PostgresServer, startPostgres } from '../../../test/support/postgres.ts';
import { until } from '../../../test/support/until.ts';
import { openClientDatabase } from '../../database/client-database.ts';
import type { Batch, Database } from '../../database/database.ts';
import { openPgDatabase } from '../../database/pg-database.ts';
import { openPgliteDatabase } from '../../database/pglite-database.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Event } from '../../events.ts';
import { StaleSchemaError } from '../../freshness/stale-schema.ts';
import { runBatch } from './run-batch.ts';

let pglite: PGlite;
let server: PostgresServer;
let embedded: Database;
let database: Database;

before(async () => {
  [pglite, server] = await Promise.all([startPglite(), startPostgres({ settings: { deadlock_timeout: '20ms' } })]);
  embedded = openPgliteDatabase(pglite);
  database = openPgDatabase(server.url, { poolSize: 2 });
  for (const each of [embedded, database]) {
    await each.query(`
      create role anon;
      create table account (id int primary key, balance int check (balance >= 0));
      insert into account values (1, 100), (2, 100);
      grant select, update on account to anon;
      create table secret (id int);
      create sequence tries;
      grant usage on sequence tries to anon;
      create function fails(times int, state text) returns int language plpgsql as $$
      begin
        if nextval('tries') <= times then raise exception 'not yet' using errcode = state, hint = 'try again'; end if;
        return times;
      end $$`);
  }
});

after(async () => {
  await Promise.all([pglite.close(), database.close()]);
  await server.stop();
});

const batch = (...texts: string[]): Batch => ({
  session: { role: 'anon', claims: '{}', searchPath: 'public', version: null },
  statements: texts.map((text) => ({ text, parameters: [] })),
});
const ignore = (): void => {};

/** From now on batches wait for advisory lock 1. The result releases the lock once this many batches wait for it. */
async function closeGate(): Promise<(waiting: number) => Promise<void>> {
  const keeper = new Client(server.url);
  await keeper.connect();
  await keeper.query('select pg_advisory_lock(1)');
  return async (waiting) => {
    await until(async () => (await keeper.query("select from pg_stat_activity where wait_event = 'advisory'")).rowCount === waiting);
    await keeper.end();
  };
}

async function failureOf(running: Promise<unknown>): Promise<ApiError> {
  const error = await running.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ApiError, String(error));
  return error;
}

test('an error from PostgreSQL is reported with its message, its SQLSTATE and its hint', async () => {
  const failure = await failureOf(runBatch(embedded, batch('update account set balance = balance - 200'), ignore));
  assert.equal(failure.code, 'CONSTRAINT_VIOLATION');
  assert.match(failure.message, /violates check constraint "account_balance_check"/);
  const { detail, ...details } = failure.details;
  assert.deepEqual(details, { sqlstate: '23514', constraint: 'account_balance_check', table: 'account' });
  assert.match(String(detail), /Failing row/);
  const denied = await failureOf(runBatch(embedded, batch('select * from secret'), ignore));
  assert.deepEqual(
    [denied.code, denied.message, denied.details],
    ['PERMISSION_DENIED', 'permission denied for table secret', { sqlstate: '42501' }],
  );
});

test('an error that our own statements raise has our message, unlike a text of the client', async () => {
  const raise = (text: string): Batch => batch(`select case when balance >= 0 then '${text}' else '1' end::int from account`);
  const failure = await failureOf(runBatch(embedded, raise('rowgraph: delete-too-many'), ignore));
  assert.deepEqual([failure.code, failure.message, failure.details], ['TOO_MANY_ROWS', 'delete impacts too many records', {}]);
  const other = await failureOf(runBatch(embedded, raise('rowgraph: constructor'), ignore));
  assert.deepEqual([other.code, other.details], ['INVALID_VALUE', { sqlstate: '22P02' }]);
});

test('a conflict is retried a limited number of times', async () => {
  const events: Event[] = [];
  const observe = (event: Event): void => void events.push(event);
  await embedded.query("select setval('tries', 1, false)");
  assert.deepEqual(await runBatch(embedded, batch("select fails(2, '40001')"), observe), [['2']]);
  assert.deepEqual(events, [
    { kind: 'batch-retried', attempt: 1, sqlstate: '40001' },
    { kind: 'batch-retried', attempt: 2, sqlstate: '40001' },
  ]);
  await embedded.query("select setval('tries', 1, false)");
  const failure = await failureOf(runBatch(embedded, batch("select fails(100, '40P01')"), ignore));
  assert.equal(failure.code, 'CONFLICT');
  assert.deepEqual(await embedded.query('select last_value from tries'), [['4']]);
});

test("in a caller's transaction, nothing is retried", async () => {
  await embedded.query("select setval('tries', 1, false)");
  const failing: Batch = { session: null, statements: [{ text: "select fails(1, '40001')", parameters: [] }] };
  const failure = await failureOf(runBatch(openClientDatabase(pglite), failing, ignore));
  assert.equal(failure.code, 'CONFLICT');
});

test('a deadlock is resolved: both batches succeed', async () => {
  const move = (from: number, to: number): Batch =>
    batch(
      `update account set balance = balance - 10 where id = ${from}`,
      'select pg_advisory_xact_lock_shared(1)',
      `update account set balance = balance + 10 where id = ${to}`,
    );
  const events: Event[] = [];
  const observe = (event: Event): void => void events.push(event);
  // Both have changed their first row before either continues.
  const open = await closeGate();
  const moves = [runBatch(database, move(1, 2), observe), runBatch(database, move(2, 1), observe)];
  await open(2);
  await Promise.all(moves);
  assert.ok(events.length > 0);
  assert.deepEqual(await database.query('select balance from account'), [['100'], ['100']]);
});

test('a stale schema has an error of its own, which no other function can raise', async () => {
  const raise = "begin raise exception using errcode = 'RG001'; end";
  await embedded.query(`create function raise_stale_schema() returns int language plpgsql as $$ ${raise} $$`);
  await assert.rejects(runBatch(embedded, batch('select raise_stale_schema()'), ignore), StaleSchemaError);
  const { code, details } = await failureOf(runBatch(embedded, batch(`do $$ ${raise} $$`), ignore));
  assert.deepEqual([code, details.sqlstate], ['RAISED', 'RG001']);
});

test('an unavailable database is reported without its address or user', async () => {
  const nowhere = openPgDatabase('postgres://who:secret@127.0.0.1:1/postgres');
  const unreachable = await failureOf(runBatch(nowhere, batch('select 1'), ignore));
  const small = openPgDatabase(server.url, { queueTimeoutMillis: 100, poolSize: 1 });
  // On a busy machine, connecting may take longer than work may wait.
  await until(() => small.query('select 1').catch(() => false));
  const open = await closeGate();
  const busy = runBatch(small, batch('select pg_advisory_xact_lock_shared(1)'), ignore);
  const exhausted = await failureOf(runBatch(small, batch('select 1'), ignore));
  await open(1);
  await busy;
  const unknown = openPgDatabase(`postgres://who:secret@127.0.0.1:${server.port}/postgres`);
  const refused = await failureOf(runBatch(unknown, batch('select 1'), ignore));
  assert.deepEqual(
    [unreachable, exhausted, refused].map(({ code }) => code),
    ['DATABASE_UNAVAILABLE', 'OVERLOADED', 'DATABASE_UNAVAILABLE'],
  );
  for (const failure of [unreachable, exhausted, refused]) {
    assert.doesNotMatch(JSON.stringify(failure), /127|who|secret/);
  }
  assert.match(exhausted.message, /no database connection became free/);
  assert.match(refused.message, /rejected/);
  await Promise.all([nowhere.close(), unknown.close(), small.close()]);
});

/** Requests in each other's way: retried a bounded number of times, each done exactly once or told that it was not. Read-only databases. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Caller, ExecutionResult } from '../../src/engine/request.ts';
import type { Event } from '../../src/events.ts';
import { createRowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

const setup = `
  create table account (id int primary key, balance int not null);
  insert into account values (1, 0), (2, 0);
  create sequence runs;
  grant all on all sequences in schema public to anon;
  create function add_to(account_id int) returns int volatile language plpgsql as $$
    declare known int; begin
      select balance into known from account where id = account_id; perform pg_advisory_xact_lock_shared(1);
      update account set balance = known + 1 where id = account_id; return known; end $$;
  create function lock_up(account_id int) returns int volatile language plpgsql as $$ begin
      update account set balance = balance + 1 where id = account_id; perform pg_advisory_xact_lock_shared(1); return 1; end $$;
  create function always(state text) returns text volatile language plpgsql as $$ begin
    perform nextval('runs'); raise exception using errcode = state, message = 'again'; end $$;
  create function always_stable(state text) returns text stable language plpgsql as $$ begin raise exception using errcode = state, message = 'again'; end $$;
`;

let databases: TestDatabases;
const caller: Caller = { role: 'anon' };
before(async () => {
  databases = await startTestDatabases({ settings: { deadlock_timeout: '30ms' } });
});
after(() => databases.close());

/** Holds up the functions until so many requests have come to the gate, and lets all pass from then on. */
async function meetAtGate(database: TestDatabase, count: number, send: () => Promise<ExecutionResult>[]): Promise<ExecutionResult[]> {
  const keeper = await database.connect();
  await keeper.query('select pg_advisory_lock(1)');
  const answers = send();
  await database.untilLocked('', count);
  await keeper.query('select pg_advisory_unlock(1)');
  return Promise.all(answers);
}

const balances = async (database: TestDatabase): Promise<unknown[]> =>
  (await database.run('select balance from account order by id')).map(({ balance }) => balance);

test('serialization failures are retried, and every success counts once', async () => {
  const database = await databases.create(setup);
  await database.run(`alter database ${database.name} set default_transaction_isolation = 'serializable'`);
  const events: Event[] = [];
  const graph = await createRowgraph({ database: database.url, poolSize: 4, observe: (event) => events.push(event) });
  const query = 'mutation { first: add_to(account_id: 1) second: add_to(account_id: 2) }';
  const answers = await meetAtGate(database, 4, () => Array.from({ length: 24 }, () => graph.execute({ query }, caller)));
  const done = answers.filter(({ errors }) => errors === undefined).length;
  for (const { errors, data } of answers) {
    if (errors) assert.deepEqual([data, errors[0]?.extensions.code, errors[0]?.extensions.sqlstate], [null, 'CONFLICT', '40001']);
  }
  assert.ok(done > 0);
  assert.deepEqual(await balances(database), [done, done], 'both fields of each request that succeeded, and of no other');
  assert.ok(events.some(({ kind }) => kind === 'batch-retried'));
  await graph.close();
});

test('a deadlock ends one of two requests, which is run again', async () => {
  const database = await databases.create(setup);
  const events: Event[] = [];
  const graph = await createRowgraph({ database: database.url, observe: (event) => events.push(event) });
  const send = (first: number, second: number) =>
    graph.execute({ query: `mutation { a: lock_up(account_id: ${first}) b: lock_up(account_id: ${second}) }` }, caller);
  const answers = await meetAtGate(database, 2, () => [send(1, 2), send(2, 1)]);
  assert.deepEqual(
    answers.map(({ errors }) => errors),
    [undefined, undefined],
  );
  assert.deepEqual(await balances(database), [2, 2]);
  assert.ok(events.some((event) => event.kind === 'batch-retried' && event.sqlstate === '40P01'));
  await graph.close();
});

test('retries are bounded, and only for what a retry can mend', async () => {
  const database = await databases.create(setup);
  const graph = await createRowgraph({ database: database.url });
  const runs = async (): Promise<number> =>
    Number((await database.run('select case when is_called then last_value else 0 end as n from runs'))[0]?.n);
  let before = 0;
  for (const [state, code, attempts] of [
    ['40001', 'CONFLICT', 4],
    ['40P01', 'CONFLICT', 4],
    ['40003', 'DATABASE_ERROR', 1],
    ['55P03', 'CONFLICT', 1],
    ['23505', 'CONSTRAINT_VIOLATION', 1],
    ['08006', 'RAISED', 1],
    ['57P01', 'RAISED', 1],
    ['P0001', 'RAISED', 1],
    ['42P01', 'DATABASE_ERROR', 1],
    ['RG001', 'RAISED', 1],
    ['26000', 'DATABASE_ERROR', 2],
  ] as const) {
    const { errors } = await graph.execute({ query: 'mutation ($state: String!) { always(state: $state) }', variables: { state } }, caller);
    const now = await runs();
    assert.deepEqual([state, errors?.[0]?.extensions.code, now - before], [state, code, attempts]);
    before = now;
    const read = await graph.execute({ query: 'query ($state: String!) { always_stable(state: $state) }', variables: { state } }, caller);
    assert.equal(read.errors?.[0]?.extensions.code, code);
  }
  await graph.close();
});

test("the server's own trouble has codes of the server, unless a function raises its SQLSTATE", async () => {
  const database = await databases.create(`${setup}
    create function unread() returns text stable security definer language sql as $$ select pg_read_file('there is no such file') $$;
    create function sorted() returns bigint stable security definer set work_mem = '64kB' set temp_file_limit = '64kB' language sql as
      $$ select count(*) from (select n from generate_series(1, 100000) n order by md5(n::text) offset 0) sorted $$;`);
  const graph = await createRowgraph({ database: database.url });
  const outcome = async (query: string): Promise<unknown[]> => {
    const { errorCode, chunks } = await graph.executeRaw({ query }, caller);
    const { errors } = JSON.parse(Buffer.concat(chunks).toString());
    return [errorCode, errors[0].extensions.sqlstate, errors[0].message];
  };
  const internal = "The database reported an internal error. PostgreSQL's log has the details.";
  assert.deepEqual(await outcome('{ unread }'), ['DATABASE_FAILED', '58P01', internal]);
  assert.deepEqual((await outcome('{ sorted }')).slice(0, 2), ['QUERY_TOO_COMPLEX', '53400']);
  for (const state of ['53100', '53200', '58030', 'XX000'])
    assert.deepEqual((await outcome(`{ always_stable(state: "${state}") }`)).slice(0, 2), ['RAISED', state]);
  await graph.close();
});

test('a read-only database answers queries and refuses mutations', async () => {
  const database = await databases.create(setup);
  await database.run(`alter database ${database.name} set default_transaction_read_only = on`);
  const graph = await createRowgraph({ database: database.url });
  const read = await graph.execute({ query: '{ accountCollection { edges { node { id } } } }' }, caller);
  assert.equal(read.errors, undefined);
  for (const field of ['insertIntoaccountCollection(objects: [{id: 3, balance: 0}]) { affectedCount }', 'lock_up(account_id: 1)']) {
    const { data, errors } = await graph.execute({ query: `mutation { ${field} }` }, caller);
    assert.deepEqual([data, errors?.[0]?.extensions.code, errors?.[0]?.extensions.sqlstate], [null, 'READ_ONLY', '25006']);
    assert.match(errors?.[0]?.message ?? '', /read-only transaction/);
  }
  await graph.close();
});

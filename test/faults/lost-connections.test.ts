/** Connections that are lost in the middle of a request: all of it happened or nothing, it is never run twice, and what comes after is served. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Deadline } from '../../src/budget/deadline.ts';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import type { Caller } from '../../src/engine/request.ts';
import type { Observer } from '../../src/events.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { RandomSource } from '../property/random-source.ts';
import { type CutPoint, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startSilentProxy } from '../support/silent-proxy.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';

const setup = `
  create table entry (id serial primary key, note text);
  create sequence runs;
  grant all on all sequences in schema public to anon;
  create function slow(note text, seconds float8 default 10) returns text volatile language plpgsql as $$ begin
    perform nextval('runs'); insert into entry (note) values (note); perform pg_sleep(seconds); return note; end $$;
`;

let databases: TestDatabases;
let database: TestDatabase;
let proxy: FaultProxy;
let graph: Rowgraph;
const retries: unknown[] = [];
const caller: Caller = { role: 'anon' };

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(setup);
  proxy = await startFaultProxy(databases.port);
  const observe: Observer = (event) => {
    if (event.kind === 'batch-retried') retries.push([event.attempt, event.sqlstate]);
  };
  graph = await createRowgraph({ database: database.url.replace(`:${database.port}/`, `:${proxy.port}/`), poolSize: 2, observe });
});
beforeEach(async () => {
  retries.length = 0;
  await database.run(`truncate entry; select setval('runs', 1)`);
});
after(async () => {
  await graph.close();
  await proxy.stop();
  await databases.close();
});

const query = `mutation ($a: String, $b: String) {
  a: insertIntoentryCollection(objects: [{note: $a}]) { affectedCount }
  slow(note: "middle", seconds: 0)
  b: insertIntoentryCollection(objects: [{note: $b}]) { affectedCount }
}`;
const notes = async (): Promise<unknown[]> => (await database.run('select note from entry order by id')).map(({ note }) => note);
/** No backend of the pool has anything left to do. */
async function quiet(): Promise<void> {
  const busy = "select from pg_stat_activity where usename = 'authenticator' and (state <> 'idle' or xact_start is not null)";
  await until(async () => (await database.run(busy)).length === 0);
}

const outcomes: Record<CutPoint, 'nothing' | 'all'> = {
  'before it': 'nothing',
  'in the middle': 'nothing',
  'before its Sync': 'nothing',
  'before the response': 'all',
  'in the response': 'all',
};

for (const [point, outcome] of Object.entries(outcomes) as [CutPoint, 'nothing' | 'all'][]) {
  test(`a connection that is cut ${point}: ${outcome} happened, once, and the client is told that it does not know`, async () => {
    // The second time, the statements are prepared already and the batch is made of other messages.
    for (const round of ['first', 'second']) {
      await database.run('truncate entry');
      const mark = `${point} ${round}`;
      proxy.cutNext(mark, point);
      const { data, errors } = await graph.execute({ query, variables: { a: mark, b: 'b' } }, caller);
      assert.deepEqual([data, errors?.length, errors?.[0]?.extensions.code], [null, 1, 'OUTCOME_UNKNOWN']);
      await quiet();
      assert.deepEqual(await notes(), outcome === 'all' ? [mark, 'middle', 'b'] : []);
      assert.equal(proxy.count(mark), 1, 'it was sent once');
      assert.deepEqual(retries, []);
      const next = await graph.execute({ query, variables: { a: `after ${mark}`, b: 'b' } }, caller);
      assert.equal(next.errors, undefined, 'the next one has a connection that works');
    }
  });
}

test('while a pooler takes connections and does not reach the server, queries wait; a mutation that it refused is not sent again', async () => {
  proxy.refuseNext('patient', 3);
  const read = 'query ($note: String) { entryCollection(filter: {note: {eq: $note}}) { edges { node { id } } } }';
  assert.deepEqual(await graph.execute({ query: read, variables: { note: 'patient' } }, caller), {
    data: { entryCollection: { edges: [] } },
  });
  proxy.refuseNext('hasty', 1);
  const refused = await graph.execute({ query, variables: { a: 'hasty', b: 'b' } }, caller);
  assert.equal(refused.errors?.[0]?.extensions.code, 'DATABASE_UNAVAILABLE');
  assert.deepEqual([proxy.count('hasty'), await notes()], [0, []]);
});

test('whoever stops waiting for a mutation that was committed, and of which nothing is heard, is told that the outcome is unknown', async () => {
  const never = new Promise<void>(() => {});
  const insert = 'mutation ($a: String) { insertIntoentryCollection(objects: [{note: $a}]) { affectedCount } }';
  const codeOf = async (a: string, options: Parameters<Rowgraph['execute']>[2]): Promise<unknown> =>
    (await graph.execute({ query: insert, variables: { a } }, caller, options)).errors?.[0]?.extensions.code;
  proxy.cutNext('its time limit', 'before the response', never);
  const deadline = new Deadline(3_600_000);
  const expired = codeOf('its time limit', { deadline });
  await until(async () => (await notes()).length === 1);
  deadline.stop('expired');
  assert.equal(await expired, 'OUTCOME_UNKNOWN');
  const controller = new AbortController();
  proxy.cutNext('its caller', 'before the response', never);
  const abandoned = codeOf('its caller', { signal: controller.signal });
  await until(async () => (await notes()).length === 2);
  controller.abort();
  assert.equal(await abandoned, 'OUTCOME_UNKNOWN');
  assert.deepEqual(await notes(), ['its time limit', 'its caller']);
});

test('once a server cannot be reached, the idle connections to it are dropped, so that the next request waits on none of them', async () => {
  const silent = await startSilentProxy(databases.port);
  const keeper = await database.connect();
  const own = openPgDatabase(database.url.replace(`:${database.port}/`, `:${silent.port}/`), { poolSize: 2 });
  const statements = [{ text: 'select 7 from pg_advisory_xact_lock_shared(1)', parameters: [] }];
  const wait = (deadline: Deadline) => own.run({ session: null, statements, template: {}, deadline });
  const deadline = new Deadline(3_600_000);
  await keeper.query('select pg_advisory_lock(1)');
  const both = [wait(deadline), wait(deadline)];
  await database.untilLocked('advisory', 2);
  await keeper.query('select pg_advisory_unlock(1)');
  await Promise.all(both);
  await keeper.query('select pg_advisory_lock(1)');
  const unheard = wait(deadline);
  await database.untilLocked('advisory', 1);
  silent.fallSilent();
  silent.refuse();
  deadline.stop('expired');
  await assert.rejects(unheard, { reason: 'timeout' });
  await until(async () => silent.connections === 0);
  await silent.accept();
  silent.speak();
  assert.deepEqual(await own.query('select 7'), [['7']]);
  await own.close();
  await silent.stop();
});

test('once a connection has died without a word, the idle ones that have died with it are dropped, though new ones can be opened', async () => {
  const silent = await startSilentProxy(databases.port);
  // In a database of its own, because a backend of the test above may still wait for a lock.
  const fresh = await databases.create('');
  const keeper = await fresh.connect();
  const own = openPgDatabase(fresh.url.replace(`:${fresh.port}/`, `:${silent.port}/`), { poolSize: 3 });
  const statements = [{ text: 'select 7 from pg_advisory_xact_lock_shared(2)', parameters: [] }];
  const deadline = new Deadline(3_600_000);
  const ask = () => own.run({ session: null, statements, template: {}, deadline });
  await keeper.query('select pg_advisory_lock(2)');
  const all = [ask(), ask(), ask()];
  await fresh.untilLocked('advisory', 3);
  await keeper.query('select pg_advisory_unlock(2)');
  await Promise.all(all);
  silent.fallSilent();
  silent.speak();
  const unheard = ask();
  await until(() => own.readStatistics().pool?.busy === 1);
  deadline.stop('expired');
  await assert.rejects(unheard, { reason: 'timeout' });
  await until(() => own.readStatistics().pool?.idle === 0);
  assert.deepEqual(await own.query('select 7'), [['7']]);
  await own.close();
  await silent.stop();
});

test('a query that exceeds the transaction_timeout of its session runs once', async () => {
  // PostgreSQL has the setting since version 17.
  if (databases.version < 17) return;
  const own = await databases.create('create sequence tries; grant all on all sequences in schema public to authenticator');
  await own.run(`alter role authenticator in database ${own.name} set transaction_timeout = '200ms'`);
  const pool = openPgDatabase(own.url);
  const statements = [{ text: "select nextval('public.tries'), pg_sleep(60)", parameters: [] }];
  await assert.rejects(pool.run({ session: null, statements, template: {} }), { sqlstate: '25P04' });
  assert.deepEqual(await own.run('select last_value::int, is_called from tries'), [{ last_value: 1, is_called: true }]);
  await pool.close();
});

test('a query whose connection is cut is sent once more, over another one, and counted', async () => {
  for (const [index, point] of (Object.keys(outcomes) as CutPoint[]).entries()) {
    proxy.cutNext(`mark ${index}`, point);
    const query = 'query ($note: String) { entryCollection(filter: {note: {eq: $note}}) { edges { node { id } } } }';
    const { data } = await graph.execute({ query, variables: { note: `mark ${index}` } }, caller);
    assert.deepEqual(data, { entryCollection: { edges: [] } });
    assert.equal(proxy.count(`mark ${index}`), 2);
    assert.deepEqual(retries.splice(0), [[1, null]]);
  }
});

test('a query whose backend is terminated is sent once more, and counted', async () => {
  const holder = await database.connect();
  await holder.query('begin; lock table entry in access exclusive mode');
  const answer = graph.execute({ query: '{ entryCollection { edges { node { id } } } }' }, caller);
  await database.untilLocked('entry', 1);
  await database.run("select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and usename = 'authenticator'");
  await holder.query('commit');
  assert.deepEqual((await answer).data, { entryCollection: { edges: [] } });
  assert.deepEqual(retries, [[1, '57P01']]);
  await holder.end();
});

test('what a role sees is read once more where the connection is cut, and no request fails for it', async () => {
  for (const point of Object.keys(outcomes) as CutPoint[]) {
    const fresh = await createRowgraph({ database: database.url.replace(`:${database.port}/`, `:${proxy.port}/`), poolSize: 2 });
    proxy.cutNext('service_role', point);
    const { data } = await fresh.execute({ query: '{ entryCollection { edges { node { id } } } }' }, { role: 'service_role' });
    assert.deepEqual(data, { entryCollection: { edges: [] } }, point);
    await fresh.close();
  }
});

test('a query whose function ends its own backend runs once', async () => {
  const own = await databases.create(`
    create sequence runs start 1;
    grant usage on sequence runs to anon;
    create function end_backend(really boolean) returns int stable language plpgsql security definer as $$ begin
      if really then perform nextval('public.runs'); perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(10); end if;
      return 1; end $$;`);
  const ending = await createRowgraph({ database: own.url, poolSize: 1 });
  const query = 'query ($really: Boolean!) { end_backend(really: $really) }';
  const ask = (really: boolean) => ending.execute({ query, variables: { really } }, caller);
  const codeOf = (really: boolean) => ask(really).then(({ errors }) => errors?.[0]?.extensions.code);
  assert.equal(await codeOf(true), 'DATABASE_UNAVAILABLE');
  assert.deepEqual(await own.run('select last_value::int as runs from runs'), [{ runs: 1 }]);
  // Quick ones of a kind come to share a connection; those beside it run again.
  for (let round = 0; round < 20; round++) {
    for (let warm = 0; warm < 3; warm++) await Promise.all(Array.from({ length: 8 }, () => ask(false)));
    const codes = await Promise.all(Array.from({ length: 8 }, (_, index) => codeOf(index === 3)));
    assert.deepEqual(codes, [undefined, undefined, undefined, 'DATABASE_UNAVAILABLE', ...Array(4).fill(undefined)]);
    assert.deepEqual(await own.run('select last_value::int as runs from runs'), [{ runs: round + 2 }]);
  }
  await ending.close();
});

test('a backend that is killed while a field sleeps takes all fields with it, once', async () => {
  const text =
    'mutation { a: insertIntoentryCollection(objects: [{note: "a"}]) { affectedCount } slow(note: "s") b: slow(note: "b", seconds: 0) }';
  for (let round = 0; round < 2; round++) {
    const answer = graph.execute({ query: text }, caller);
    const sleeping = "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'";
    await until(async () => (await database.run(sleeping)).length > 0);
    const { errors } = await answer;
    assert.deepEqual([errors?.[0]?.extensions.code, errors?.[0]?.extensions.sqlstate], ['DATABASE_UNAVAILABLE', '57P01']);
    assert.deepEqual(await notes(), []);
  }
  // The sequence is not undone, and so it counts: two requests, one run each.
  assert.deepEqual(await database.run(`select last_value::int as runs from runs`), [{ runs: 3 }]);
});

test('a statement that is cancelled undoes all fields, and the connection stays good', async () => {
  const text = 'mutation { slow(note: "first", seconds: 0) b: slow(note: "second") }';
  const answer = graph.execute({ query: text }, caller);
  const sleeping = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'";
  await until(async () => (await database.run(sleeping)).length > 0);
  const { data, errors } = await answer;
  assert.deepEqual([data, errors?.[0]?.extensions.code, errors?.[0]?.extensions.sqlstate], [null, 'TIMEOUT', '57014']);
  assert.deepEqual(await notes(), []);
});

test('a statement_timeout undoes all fields', async () => {
  const limited = await databases.create(setup);
  // Of the role, so that it does not hold for what rowgraph asks for itself.
  await limited.run(`alter role anon in database ${limited.name} set statement_timeout = '200ms'`);
  const own = await createRowgraph({ database: limited.url });
  const { errors } = await own.execute({ query: 'mutation { slow(note: "first", seconds: 0) b: slow(note: "second") }' }, caller);
  assert.equal(errors?.[0]?.extensions.code, 'TIMEOUT');
  assert.match(errors[0].message, /statement timeout/);
  assert.deepEqual(await limited.run('select * from entry'), []);
  await own.close();
});

test('many connections that are cut at any moment lose or double nothing', async () => {
  const random = new RandomSource(11);
  const killAll = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator' and datname = current_database()";
  const kill = async (): Promise<void> => {
    for (let turn = random.integer(0, 40); turn > 0; turn--) await new Promise(setImmediate);
    await database.run(killAll);
  };
  const told = new Map<string, 'done' | 'nothing' | 'unknown'>();
  const text =
    'mutation ($n: String!) { a: insertIntoentryCollection(objects: [{note: $n}]) { affectedCount } slow(note: $n, seconds: 0) }';
  const runBatch = async (round: number): Promise<void> => {
    const batch = Array.from({ length: 4 }, async (_, index) => {
      const note = `${round} ${index}`;
      const { errors } = await graph.execute({ query: text, variables: { n: note } }, caller);
      told.set(note, errors ? 'unknown' : 'done');
      const code = String(errors?.[0]?.extensions.code);
      if (errors) assert.ok(['DATABASE_UNAVAILABLE', 'OUTCOME_UNKNOWN'].includes(code), JSON.stringify(errors));
      if (code === 'DATABASE_UNAVAILABLE') told.set(note, 'nothing');
    });
    await Promise.all([...batch, kill()]);
  };
  const isTold = (outcome: string): boolean => [...told.values()].includes(outcome as 'done');
  for (let round = 0; round < 30 || !isTold('done') || !isTold('nothing'); round++) await runBatch(round);
  await quiet();
  const rows = await database.run('select note, count(*)::int from entry group by note');
  const counts = new Map(rows.map(({ note, count }) => [note, count]));
  for (const [note, outcome] of told) {
    const count = counts.get(note) ?? 0;
    const allowed = { done: [2], nothing: [0], unknown: [0, 2] }[outcome];
    assert.ok(allowed.includes(Number(count)), `${note}: ${outcome}, ${count} rows`);
  }
});

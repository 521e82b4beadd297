/** A database that is not there at the start, goes away and comes back: clear errors meanwhile, and service again without a restart. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import type { Caller } from '../../src/engine/request.ts';
import { ApiError } from '../../src/errors/api-error.ts';
import type { Event } from '../../src/events.ts';
import { installExtension } from '../../src/extension/install-extension.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';

const setup = 'create table entry (id serial primary key, note text); grant all on all sequences in schema public to anon;';
const caller: Caller = { role: 'anon' };
let databases: TestDatabases;
let database: TestDatabase;
let proxy: FaultProxy;
let url: string;

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(setup);
  proxy = await startFaultProxy(databases.port);
  url = database.url.replace(`:${database.port}/`, `:${proxy.port}/`);
});
after(async () => {
  await proxy.stop();
  await databases.close();
});

const isUnavailable = (error: unknown): boolean => {
  assert.ok(error instanceof ApiError, String(error));
  assert.equal(error.code, 'DATABASE_UNAVAILABLE');
  assert.ok(error.message.length > 10);
  return true;
};

test('at the start: a clear error, whatever the reason', async () => {
  await proxy.goDown();
  await assert.rejects(createRowgraph({ database: url }), isUnavailable);
  await assert.rejects(createRowgraph({ database: url.replace('127.0.0.1', 'localhost') }), isUnavailable);
  await proxy.comeBack();
  await assert.rejects(createRowgraph({ database: `${url}_missing` }), isUnavailable);
  await assert.rejects(createRowgraph({ database: url.replace('authenticator', 'nobody') }), isUnavailable);
  await (await createRowgraph({ database: url })).close();
});

const requests = {
  query: '{ entryCollection { edges { node { id } } } }',
  mutation: 'mutation { insertIntoentryCollection(objects: [{note: "x"}]) { affectedCount } }',
  'mutation of two fields':
    'mutation { a: insertIntoentryCollection(objects: [{note: "x"}]) { affectedCount } b: deleteFromentryCollection(atMost: 100) { affectedCount } }',
};

async function codesOf(graph: Rowgraph): Promise<unknown[]> {
  const codes: unknown[] = [];
  for (const query of Object.values(requests)) codes.push((await graph.execute({ query }, caller)).errors?.[0]?.extensions.code);
  return codes;
}

test('in between: every request says so, and all are served when it is back', async () => {
  const events: Event[] = [];
  const graph = await createRowgraph({ database: url, poolSize: 3, observe: (event) => events.push(event) });
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(await codesOf(graph), [undefined, undefined, undefined]);
    await proxy.goDown();
    assert.deepEqual(await codesOf(graph), Array(3).fill('DATABASE_UNAVAILABLE'));
    const many = await Promise.all(Array.from({ length: 50 }, () => graph.execute({ query: requests.query }, caller)));
    for (const { errors } of many) assert.equal(errors?.[0]?.extensions.code, 'DATABASE_UNAVAILABLE');
    // What needs no database is answered, and a request that is wrong is told so.
    assert.deepEqual(await graph.execute({ query: '{ __typename }' }, caller), { data: { __typename: 'Query' } });
    assert.equal((await graph.execute({ query: '{ nonsense }' }, caller)).errors?.[0]?.extensions.code, 'GRAPHQL_VALIDATION_FAILED');
    // A role whose schema is not known yet.
    assert.equal(
      (await graph.execute({ query: requests.query }, { role: 'authenticated' })).errors?.[0]?.extensions.code,
      'DATABASE_UNAVAILABLE',
    );
    await assert.rejects(graph.ping());
    await assert.rejects(graph.reload());
    await proxy.comeBack();
    await graph.ping();
  }
  assert.deepEqual(await codesOf(graph), [undefined, undefined, undefined]);
  assert.equal((await graph.execute({ query: requests.query }, { role: 'authenticated' })).errors, undefined);
  assert.ok(!events.some(({ kind }) => kind === 'defect-found'), JSON.stringify(events.filter(({ kind }) => kind === 'defect-found')));
  await graph.close();
});

test('a long outage is told to the observer once, and what changed meanwhile is seen', async () => {
  const own = await databases.create(setup);
  const admin = openPgDatabase(own.url.replace('authenticator', 'postgres'));
  await installExtension(admin);
  await admin.close();
  const events: Event[] = [];
  const graph = await createRowgraph({
    database: own.url.replace(`:${own.port}/`, `:${proxy.port}/`),
    observe: (event) => events.push(event),
  });
  assert.deepEqual(await codesOf(graph), [undefined, undefined, undefined]);
  await proxy.goDown();
  await own.run('alter table entry rename note to remark; create table added (id int primary key)');
  // It is looked for again and again.
  await proxy.comeBack('refusing');
  const failures = (): number => events.filter(({ kind }) => kind === 'schema-load-failed').length;
  await until(() => failures() > 0);
  const refusals = proxy.refusals;
  await until(() => proxy.refusals >= refusals + 3);
  assert.equal(failures(), 1);
  await proxy.goDown();
  await proxy.comeBack();
  const query = '{ addedCollection { edges { node { id } } } entryCollection { edges { node { remark } } } }';
  assert.equal((await graph.execute({ query }, caller)).errors, undefined);
  // The connection that listens comes back too, beside that of the request.
  const backends = "select from pg_stat_activity where datname = current_database() and usename = 'authenticator'";
  await until(async () => (await own.run(backends)).length > 1);
  const loads = (): number => events.filter(({ kind }) => kind === 'schema-loaded').length;
  const before = loads();
  await own.run('create table later (id int primary key)');
  await until(() => loads() > before);
  assert.equal(loads(), before + 1);
  await graph.close();
});

test('while the server starts or recovers, requests wait for it', async () => {
  const graph = await createRowgraph({ database: url, poolSize: 2 });
  assert.deepEqual(await codesOf(graph), [undefined, undefined, undefined]);
  const before = proxy.refusals;
  await proxy.comeBack({ sqlstate: '57P03', message: 'the database system is in recovery mode' });
  const many = Array.from({ length: 8 }, () => graph.execute({ query: requests.query }, caller));
  const hasty = graph.execute({ query: requests.query }, caller, { timeout: 1 });
  assert.equal((await hasty).errors?.[0]?.extensions.code, 'TIMEOUT');
  await until(() => proxy.refusals > before + 1);
  await proxy.comeBack();
  for (const { errors } of await Promise.all(many)) assert.equal(errors, undefined);
  await graph.close();
});

const restarts = {
  'nothing listens': null,
  'connections end as they open': 'refusing',
  'a pooler does not reach the server': {
    sqlstate: '08P01',
    message: 'server login has been failing, try again later (server_login_retry)',
  },
} as const;
for (const [what, how] of Object.entries(restarts)) {
  test(`while the server restarts (${what}), requests wait for it`, async () => {
    let failures = 0;
    const observe = ({ kind }: Event): void => void (kind === 'pool-failed' && failures++);
    const graph = await createRowgraph({ database: url, poolSize: 2, observe });
    assert.deepEqual(await codesOf(graph), [undefined, undefined, undefined]);
    await proxy.goDown();
    if (how !== null) await proxy.comeBack(how);
    // A mutation that is written to a connection that has just been cut may have run.
    await until(() => graph.readStatistics()?.pool?.idle === 0);
    const before = failures;
    const many = Object.values(requests).flatMap((query) => Array.from({ length: 4 }, () => graph.execute({ query }, caller)));
    await until(() => failures > before + 2);
    await proxy.comeBack();
    for (const { errors } of await Promise.all(many)) assert.equal(errors, undefined);
    await graph.close();
  });
}

test('with fewer connections at the server than in the pool, requests wait', async () => {
  const graph = await createRowgraph({ database: database.url, poolSize: 4 });
  await database.run('alter role authenticator connection limit 1');
  try {
    // Those that find none wait for one that is there.
    const answers = await Promise.all(Array.from({ length: 8 }, () => graph.execute({ query: requests.query }, caller)));
    assert.deepEqual(
      answers.map(({ errors }) => errors),
      Array(8).fill(undefined),
    );
  } finally {
    await database.run('alter role authenticator connection limit -1');
  }
  assert.equal((await graph.execute({ query: requests.query }, caller)).errors, undefined);
  await graph.close();
});

test('requests get the only connection that the server allows, even if rowgraph listens on it', async () => {
  const own = await databases.create(setup);
  await installExtension(openPgDatabase(own.url.replace('authenticator', 'postgres')));
  const graph = await createRowgraph({ database: own.url, poolSize: 4 });
  const backends = "from pg_stat_activity where datname = current_database() and usename = 'authenticator'";
  await until(async () => (await own.run(`select ${backends}`)).length > 1);
  await own.run('alter role authenticator connection limit 1');
  try {
    await own.run(`select pg_terminate_backend(pid) ${backends}`);
    // The connection that listens is opened again without a request.
    await until(async () => (await own.run(`select ${backends}`)).length === 1);
    assert.equal((await graph.execute({ query: requests.query }, caller)).errors, undefined);
  } finally {
    await own.run('alter role authenticator connection limit -1');
  }
  await graph.close();
});

/** What is evaluated, and how often: equal subscriptions together, only what a change affects, and nothing while nothing changes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { type Caller, createRowgraph } from '../../src/index.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';
import { until } from '../support/until.ts';
import { announceChanges, nextData, untilAnswer } from './answers.ts';

const schemaSql = `
create table pond (id int primary key, name text); insert into pond select i, 'pond ' || i from generate_series(1, 20) i;
create table frog (id int primary key, owner text); alter table frog enable row level security;
create policy own on frog to authenticated using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
insert into frog values (1, 'ada'), (2, 'bob');
create view slow_pond as select id, name from pond, pg_sleep(0.3) where id = 1;
comment on view slow_pond is '@graphql({"primary_key_columns": ["id"]})';
create table marsh (id int primary key) with (autovacuum_enabled = off); insert into marsh values (1), (2); analyze marsh;
comment on table marsh is '@graphql({"totalCount": {"enabled": true}})';
create table bog (id int primary key); insert into bog values (1);
create view slow_bog as select id from bog, pg_sleep(0.6);
comment on view slow_bog is '@graphql({"primary_key_columns": ["id"]})';
create table gate (id int primary key); create function pass_gate() returns int language plpgsql security definer as
  'begin while not exists (select from gate) loop perform pg_sleep(0.01); end loop; return 1; end';
create view held_pond as select id from pond, pass_gate() where id < 9;
comment on view held_pond is '@graphql({"primary_key_columns": ["id"]})';
create function clock() returns text language sql stable as 'select clock_timestamp()::text';
comment on function clock is '@graphql({"live": {"refresh": 0.1}})';`;

let tested: TestGraph;
before(async () => {
  tested = await startTestGraph(schemaSql, { live: 'notify', liveInterval: 5, poolSize: 4 });
  await announceChanges(tested.database);
  await tested.graph.reload();
});
after(() => tested.stop());

const service: Caller = { role: 'service_role' };
const user = (sub: string): Caller => ({ role: 'authenticated', claims: { sub } });
const follow = (query: string, caller: Caller) => tested.graph.subscribe({ query: `subscription ${query}` }, caller);
const edges = (id: number) => ({ edges: [{ node: { id } }] });
const statistics = () => tested.graph.readStatistics().live!;

/** Waits until nothing has been evaluated for a while. What happened earlier may be noticed late. */
async function untilQuiet(): Promise<void> {
  await until(async () => {
    const { evaluations } = statistics();
    await sleep(1500);
    return statistics().evaluations === evaluations;
  });
}

/** Makes changes, each with another name, until one takes so many evaluations, whose answers all differ: something else may be noticed meanwhile. */
async function untilChangeTakes(evaluations: number, change: (name: string) => Promise<void>): Promise<void> {
  let count = 0;
  await until(async () => {
    await untilQuiet();
    const before = statistics();
    await change(`change ${++count}`);
    const after = statistics();
    return after.evaluations - before.evaluations === evaluations && after.changes - before.changes === evaluations;
  });
}

test('equal subscriptions share evaluations: of one role, and of one user if the claims matter', async () => {
  const ponds = '{ pondCollection { edges { node { name } } } }';
  const frogs = '{ frogCollection { edges { node { id } } } }';
  const all = [
    ...[user('ada'), user('bob'), user('ada')].map((caller) => follow(ponds, caller)),
    follow(ponds, service),
    ...[user('ada'), user('bob'), user('ada')].map((caller) => follow(frogs, caller)),
  ];
  for (const each of all) await nextData(each);
  assert.deepEqual([statistics().subscriptions, statistics().cohorts], [7, 4]);
  await untilChangeTakes(2, async (name) => {
    await tested.database.run(`update pond set name = '${name}' where id = 1`);
    for (const each of all.slice(0, 4)) await nextData(each);
  });
  for (const each of all) await each.return?.();
  assert.deepEqual([statistics().subscriptions, statistics().cohorts], [0, 0]);
});

test('while nothing changes, nothing is evaluated', async () => {
  const many = Array.from({ length: 200 }, (_, index) => follow(`{ pondByPk(id: ${index % 20}) { name } }`, service));
  for (const each of many) await nextData(each);
  await untilQuiet();
  const frogs = follow('{ frogCollection { edges { node { owner } } } }', service);
  await nextData(frogs);
  await untilChangeTakes(1, async (owner) => {
    await tested.database.run(`update frog set owner = '${owner}' where id = 2`);
    await nextData(frogs);
  });
  for (const each of [...many, frogs]) await each.return?.();
});

test('what reads the clock is refreshed as its comment says', async () => {
  const answers = follow('{ clock }', service);
  const seen = new Set<unknown>();
  while (seen.size < 4) seen.add((await nextData(answers))['clock']);
  await answers.return?.();
});

test('requests do not wait behind live work', async () => {
  const before = statistics().changes;
  const slow = Array.from({ length: 12 }, (_, index) => follow(`{ a${index}: slow_pondCollection { edges { node { name } } } }`, service));
  for (const each of slow) void each.next();
  await tested.database.untilRunning('slow_pond', 1);
  for (let count = 0; count < 20; count += 1) await tested.graph.execute({ query: '{ pondByPk(id: 2) { name } }' }, user('ada'));
  const { changes } = statistics();
  const busy = (
    await tested.database.run(
      "select from pg_stat_activity where state = 'active' and query like '%slow_pond%' and usename = 'authenticator'",
    )
  ).length;
  assert.ok(busy <= 1, `${busy} of 4 connections`);
  assert.ok(changes - before < slow.length, 'some evaluations still wait');
  for (const each of slow) await each.return?.();
});

test('slow evaluations delay no others', async () => {
  const quick = follow('{ pondByPk(id: 4) { name } }', service);
  await nextData(quick);
  const slow = Array.from({ length: 4 }, (_, index) => follow(`{ a${index}: slow_bogCollection { edges { node { id } } } }`, service));
  for (const each of slow) await nextData(each);
  const before = statistics().changes;
  await tested.database.run('insert into bog values (2)');
  await tested.database.untilRunning('slow_bog', 1);
  for (const name of ['one', 'two', 'three']) {
    await tested.database.run(`update pond set name = '${name}' where id = 4`);
    assert.deepEqual(await nextData(quick), { pondByPk: { name } });
  }
  assert.ok(statistics().changes - before < 3 + slow.length, 'slow evaluations still wait');
  for (const each of [quick, ...slow]) await each.return?.();
});

test('an evaluation that waits for a lock delays no others for long', async () => {
  const quick = follow('{ pondByPk(id: 5) { name } }', service);
  await nextData(quick);
  const locker = await tested.database.connect();
  await locker.query('begin; lock table bog');
  const blocked = Array.from({ length: 2 }, (_, index) =>
    follow(`{ a${index}: bogCollection(first: 1) { edges { node { id } } } }`, service),
  );
  const answered = Promise.all(blocked.map((each) => nextData(each)));
  await tested.database.untilLocked('bog', 1);
  for (const name of ['one', 'two', 'three']) {
    await tested.database.run(`update pond set name = '${name}' where id = 5`);
    assert.deepEqual(await nextData(quick), { pondByPk: { name } });
  }
  await locker.query('commit');
  assert.deepEqual(Object.assign({}, ...(await answered)), { a0: edges(1), a1: edges(1) });
  for (const each of [quick, ...blocked]) await each.return?.();
});

test('statements that have never ended delay no newcomer for long', async () => {
  const held = [1, 2, 3].map((first) => follow(`{ held_pondCollection(first: ${first}) { edges { node { id } } } }`, service));
  const answered = Promise.all(held.map((each) => nextData(each)));
  await tested.database.untilRunning('held_pond', 1);
  const newcomer = follow('{ pondCollection(first: 1, orderBy: {id: DescNullsLast}) { edges { node { id } } } }', service);
  assert.deepEqual(await nextData(newcomer), { pondCollection: edges(20) });
  await tested.database.run('insert into gate values (1)');
  assert.deepEqual((await answered)[0], { held_pondCollection: edges(1) });
  for (const each of [newcomer, ...held]) await each.return?.();
});

test('connections that are lost end no subscription, and no change is missed', async () => {
  const answers = follow('{ pondByPk(id: 3) { name } }', service);
  await nextData(answers);
  for (const name of ['one', 'two', 'three']) {
    await tested.database.run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator'");
    await tested.database.run(`update pond set name = '${name}' where id = 3`);
    await untilAnswer(answers, { pondByPk: { name } });
  }
  await answers.return?.();
});

test('PGlite answers live queries', async () => {
  const database = await PGlite.create();
  await database.exec(
    'create role reader; create table t (id int primary key, a int); grant select on t to reader; insert into t values (1, 1)',
  );
  const graph = await createRowgraph({ database });
  const answers = graph.subscribe({ query: 'subscription { tByPk(id: 1) { a } }' }, { role: 'reader' });
  assert.deepEqual(await nextData(answers), { tByPk: { a: 1 } });
  await database.exec('update t set a = 2');
  assert.deepEqual(await nextData(answers), { tByPk: { a: 2 } });
  await answers.return?.();
  await graph.close();
  await database.close();
});

test('estimated counts are refreshed: PostgreSQL announces no new estimate', async () => {
  const refreshed = await createRowgraph({ database: tested.database.url, live: 'notify', liveRefresh: 50 });
  const count = 'subscription { marshCollection { totalCount(exact: false) } }';
  const answers = refreshed.subscribe({ query: count }, service);
  assert.deepEqual(await nextData(answers), { marshCollection: { totalCount: 2 } });
  await tested.database.run('insert into marsh values (3)');
  await tested.database.run('analyze marsh');
  await untilAnswer(answers, { marshCollection: { totalCount: 3 } });
  await answers.return?.();
  const { live } = await refreshed.explain({ query: count }, service);
  assert.deepEqual(live?.unannounced, ["PostgreSQL's estimate of a count"]);
  await refreshed.close();
});

/** Subscriptions that begin while the schema changes: a proxy holds back what rowgraph asks, so that the change comes at a chosen moment. */
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { type Caller, createRowgraph, type Rowgraph, type RowgraphOptions } from '../../src/index.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { announceChanges, nextData, untilAnswer } from './answers.ts';

const schemaSql = `
create table note (id int primary key, owner text); insert into note values (1, 'ada'), (2, 'bob');
create table other (id int primary key);`;
const query = '{ noteCollection(orderBy: {id: AscNullsLast}) { edges { node { id } } } }';
const rows = (...ids: number[]) => ({ noteCollection: { edges: ids.map((id) => ({ node: { id } })) } });
const user = (sub: string): Caller => ({ role: 'authenticated', claims: { sub } });

/** Texts of what rowgraph asks. */
const [ofCatalogs, ofRole, ofDependencies] = ['with exposed as materialized', 'has_schema_privilege', 'with recursive reference'];

let databases: TestDatabases;
let proxy: FaultProxy;
before(async () => {
  databases = await startTestDatabases();
  proxy = await startFaultProxy(databases.port);
});
after(async () => {
  await proxy.stop();
  await databases.close();
});

async function openGraph(context: TestContext, { url }: TestDatabase, options: Partial<RowgraphOptions> = {}): Promise<Rowgraph> {
  const graph = await createRowgraph({ ...options, database: url.replace(`:${databases.port}/`, `:${proxy.port}/`), live: 'poll' });
  context.after(() => graph.close());
  return graph;
}

test('a subscription that begins while a change of its table is read waits for it', async (context) => {
  const database = await databases.create(schemaSql);
  await announceChanges(database);
  const graph = await openGraph(context, database);
  assert.deepEqual((await graph.execute({ query }, user('ada'))).data, rows(1, 2));
  const load = proxy.holdNext(ofCatalogs);
  await database.run('alter table note add body text');
  await load.came;
  const answers = graph.subscribe({ query: `subscription ${query}` }, user('ada'));
  const first = nextData(answers);
  // Another table is served meanwhile, so the subscription has been compared with the change, too.
  assert.deepEqual((await graph.execute({ query: '{ otherCollection { edges { node { id } } } }' }, user('ada'))).errors, undefined);
  load.release();
  assert.deepEqual(await first, rows(1, 2));
  await answers.return?.();
});

test('who joins a cohort while it is prepared again gets the own answer', async (context) => {
  const database = await databases.create(schemaSql);
  const graph = await openGraph(context, database);
  const subscribe = (name: string, onPrepared?: () => void) =>
    graph.subscribe({ query: `subscription ${query}` }, user(name), { onPrepared });
  const role = proxy.holdNext(ofRole);
  const joined = Promise.withResolvers<void>();
  const bobs = subscribe('bob', joined.resolve);
  const bobsFirst = nextData(bobs);
  await role.came;
  // Bob begins with a schema in which the answers of both are the same one, and is prepared when Ada's cohort is prepared for a newer one.
  await database.run('alter table note add body text');
  await graph.reload();
  const adas = subscribe('ada');
  assert.deepEqual(await nextData(adas), rows(1, 2));
  const dependencies = proxy.holdNext(ofDependencies);
  await database.run(`alter table note enable row level security;
    create policy own on note using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub')`);
  await graph.reload();
  await dependencies.came;
  role.release();
  await joined.promise;
  dependencies.release();
  assert.deepEqual(await bobsFirst, rows(2));
  // Before the policy was noticed, Ada may have been shown nobody's rows.
  await untilAnswer(adas, rows(1));
  await bobs.return?.();
  await adas.return?.();
});

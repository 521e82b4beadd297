/** The type Subscription: its fields, its name where a table has it, and what switches it off. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSchema, parse, subscribe } from 'graphql';
import { createRowgraph, type RowgraphOptions } from '../../src/index.ts';
import { startTestGraph } from '../support/test-graph.ts';
import { nextData } from './answers.ts';

const schemaSql = `
comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
create table subscription (id int primary key, plan text); insert into subscription values (1, 'free');
create table silent (id int primary key); comment on table silent is '@graphql({"additions": {"subscriptions": false}})';
create function plans() returns bigint language sql stable as 'select count(*) from subscription';`;

const caller = { role: 'service_role' };

test('a table that is called subscription keeps the name of its type', async () => {
  const tested = await startTestGraph(schemaSql);
  const schema = buildSchema(await tested.graph.sdl(caller));
  const type = schema.getSubscriptionType();
  assert.equal(type?.name, 'SubscriptionRoot');
  assert.deepEqual(Object.keys(type?.getFields() ?? {}).sort(), [
    'node',
    'plans',
    'silentStream',
    'subscriptionByPk',
    'subscriptionCollection',
    'subscriptionStream',
  ]);
  assert.ok(schema.getQueryType()?.getFields()['silentCollection']);
  const introspected = await tested.graph.execute({ query: '{ __schema { subscriptionType { name fields { name } } } }' }, caller);
  assert.match(JSON.stringify(introspected), /"subscriptionType":\{"name":"SubscriptionRoot","fields":\[\{"name":"node"\}/);
  const answers = tested.graph.subscribe({ query: 'subscription { __typename subscriptionByPk(id: 1) { __typename plan } }' }, caller);
  const expected = { __typename: 'SubscriptionRoot', subscriptionByPk: { __typename: 'Subscription', plan: 'free' } };
  assert.deepEqual(await nextData(answers), expected);
  await answers.return?.();
  const document = parse('subscription { subscriptionByPk(id: 1) { __typename plan } }');
  const events = await subscribe({ schema: await tested.graph.schema(caller), document });
  assert.ok(Symbol.asyncIterator in events, JSON.stringify(events));
  assert.deepEqual(JSON.parse(JSON.stringify((await events.next()).value)), { data: { subscriptionByPk: expected.subscriptionByPk } });
  await events.return?.(undefined);
  for (const query of ['subscription { silentCollection { edges { cursor } } }', 'subscription { __typename }'])
    assert.equal((await tested.graph.validate(query, caller)).length, query.includes('silent') ? 1 : 0);
  await tested.stop();
});

const off: Readonly<Record<string, Partial<RowgraphOptions>>> = {
  'the dialect': { dialect: 'pg_graphql' },
  'the list of additions': { additions: ['groups'] },
  'live off': { live: 'off' },
};

test('there is none if the dialect, the additions or the mode say so', async () => {
  const tested = await startTestGraph(schemaSql);
  for (const [name, options] of Object.entries(off)) {
    const graph = await createRowgraph({ ...options, database: tested.database.url });
    assert.equal(buildSchema(await graph.sdl(caller)).getSubscriptionType() ?? null, null, name);
    const { errors } = (await graph.subscribe({ query: 'subscription { plans }' }, caller).next()).value!;
    assert.equal(errors?.[0]?.extensions.code, 'GRAPHQL_VALIDATION_FAILED', name);
    await graph.close();
  }
  await tested.stop();
});

/** What can be subscribed to, how answers follow writes, and what is refused. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { GraphQLRequest } from '../../src/index.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';
import { nextAnswer, nextData, untilAnswer } from './answers.ts';

const schemaSql = `
create table pond (id int primary key, name text not null, depth int not null default 1);
create table frog (id int primary key, pond_id int references pond, age int not null default 0);
comment on table frog is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
create function deepest() returns int language sql stable as 'select max(depth) from pond';
create function lucky() returns int language sql volatile as 'select 7';
create function shout(p pond) returns text language sql stable as 'select upper(p.name)';
create function hop(f frog) returns int language sql volatile as 'select f.age + 1';
create view shallow as select id, name from pond where depth < 3;
comment on view shallow is '@graphql({"primary_key_columns": ["id"]})';
create function broken(p pond) returns int language plpgsql stable as 'begin return 1 / (p.depth - 9); end';
`;
const caller = { role: 'service_role' };

let tested: TestGraph;
before(async () => {
  tested = await startTestGraph(schemaSql, { live: 'poll', liveInterval: 5 });
});
after(() => tested.stop());

const subscribe = (request: string | GraphQLRequest) =>
  tested.graph.subscribe(typeof request === 'string' ? { query: request } : request, caller);

async function reset(): Promise<void> {
  await tested.database.run(
    `truncate pond cascade; insert into pond values (1, 'mud', 2), (2, 'lake', 8); insert into frog values (1, 1, 3), (2, 2, 5)`,
  );
}

/** What changes each answer. */
const followed: Readonly<
  Record<string, { readonly request: string | GraphQLRequest; readonly write: string; readonly expected: unknown }>
> = {
  'a collection': {
    request: 'subscription { pondCollection(orderBy: {id: AscNullsLast}) { edges { node { name } } } }',
    write: "insert into pond values (3, 'sea', 99)",
    expected: { pondCollection: { edges: [{ node: { name: 'mud' } }, { node: { name: 'lake' } }, { node: { name: 'sea' } }] } },
  },
  'a row by its key': {
    request: 'subscription { pondByPk(id: 1) { name } }',
    write: 'delete from frog where pond_id = 1; delete from pond where id = 1',
    expected: { pondByPk: null },
  },
  'a node': {
    request: { query: `subscription($id: ID!) { node(nodeId: $id) { ... on pond { depth } } }`, variables: { id: nodeId('pond', 2) } },
    write: 'update pond set depth = 4 where id = 2',
    expected: { node: { depth: 4 } },
  },
  'a function': { request: 'subscription { deepest }', write: 'update pond set depth = 77 where id = 1', expected: { deepest: 77 } },
  'a computed field': {
    request: 'subscription { pondByPk(id: 1) { shout } }',
    write: "update pond set name = 'bog' where id = 1",
    expected: { pondByPk: { shout: 'BOG' } },
  },
  'related rows': {
    request: 'subscription { pondByPk(id: 1) { frogCollection { edges { node { age pond { name } } } } } }',
    write: 'update frog set age = 4 where id = 1',
    expected: { pondByPk: { frogCollection: { edges: [{ node: { age: 4, pond: { name: 'mud' } } }] } } },
  },
  'aggregates and counts': {
    request: 'subscription { frogCollection { totalCount aggregate { sum { age } } } }',
    write: 'insert into frog values (3, null, 10)',
    expected: { frogCollection: { totalCount: 3, aggregate: { sum: { age: '18' } } } },
  },
  'a view': {
    request: 'subscription { shallowCollection { edges { node { name } } } }',
    write: 'update pond set depth = 3 where id = 1',
    expected: { shallowCollection: { edges: [] } },
  },
  'a filter with a variable': {
    request: {
      query: 'subscription($age: Int!) { frogCollection(filter: {age: {gt: $age}, pond: {depth: {gt: 2}}}) { edges { node { id } } } }',
      variables: { age: 4 },
    },
    write: 'update pond set depth = 1 where id = 2',
    expected: { frogCollection: { edges: [] } },
  },
  'fragments, aliases and directives': {
    request: {
      query: `subscription Follow($deep: Boolean!) { a: pondByPk(id: 1) { ...P } ...R @include(if: $deep) }
        fragment P on pond { name depth @include(if: $deep) } fragment R on Subscription { b: deepest }`,
      variables: { deep: true },
      operationName: 'Follow',
    },
    write: 'update pond set depth = 9',
    expected: { a: { name: 'mud', depth: 9 }, b: 9 },
  },
};

function nodeId(table: string, id: number): string {
  return Buffer.from(JSON.stringify(['public', table, id])).toString('base64');
}

for (const [name, { request, write, expected }] of Object.entries(followed)) {
  test(`${name}: answered at once, and again when it changes`, async () => {
    await reset();
    const answers = subscribe(request);
    const first = await nextData(answers);
    const { query, ...rest } = typeof request === 'string' ? { query: request } : request;
    const fresh = await tested.graph.execute(
      { ...rest, query: query.replace('subscription', 'query').replace('on Subscription', 'on Query') },
      caller,
    );
    assert.deepEqual(first, fresh.data);
    await tested.database.run(write);
    await untilAnswer(answers, expected);
    await answers.return?.();
  });
}

test('a write that changes nothing of an answer sends nothing', async () => {
  await reset();
  const answers = subscribe('subscription { pondByPk(id: 1) { name } }');
  await nextData(answers);
  await tested.database.run('update pond set depth = depth + 1');
  await tested.database.run("update pond set name = 'new' where id = 1");
  assert.deepEqual(await nextData(answers), { pondByPk: { name: 'new' } });
  await answers.return?.();
});

test('several root fields are answered from one snapshot', async () => {
  await reset();
  const answers = subscribe('subscription { a: pondByPk(id: 1) { depth } b: pondByPk(id: 1) { depth } deepest }');
  await nextData(answers);
  const writes = (async () => {
    for (let depth = 100; depth < 150; depth += 1) await tested.database.run(`update pond set depth = ${depth}`);
  })();
  for (let seen = 0; seen < 149; ) {
    const { a, b, deepest } = (await nextData(answers)) as { a: { depth: number }; b: { depth: number }; deepest: number };
    assert.deepEqual([a.depth, b.depth], [deepest, deepest]);
    assert.ok(deepest > seen, 'snapshots never go back');
    seen = deepest;
  }
  await writes;
  await answers.return?.();
});

test('only the latest answer waits to be read', async () => {
  await reset();
  const answers = subscribe('subscription { pondByPk(id: 1) { depth } }');
  await nextData(answers);
  const other = subscribe('subscription { pondByPk(id: 1) { depth } deepest }');
  await nextData(other);
  for (const depth of [11, 12, 13]) {
    await tested.database.run(`update pond set depth = ${depth}`);
    await untilAnswer(other, { pondByPk: { depth }, deepest: depth });
  }
  await untilAnswer(answers, { pondByPk: { depth: 13 } });
  await Promise.all([answers.return?.(), other.return?.()]);
});

test('an error of one evaluation does not end the subscription', async () => {
  await reset();
  const answers = subscribe('subscription { pondByPk(id: 1) { broken } }');
  assert.deepEqual(await nextData(answers), { pondByPk: { broken: 0 } });
  await tested.database.run('update pond set depth = 9 where id = 1');
  assert.equal((await nextAnswer(answers)).errors?.[0]?.extensions.code, 'INVALID_VALUE');
  await tested.database.run('update pond set depth = 10 where id = 1');
  assert.deepEqual(await nextData(answers), { pondByPk: { broken: 1 } });
  await answers.return?.();
});

const refused: Readonly<Record<string, string>> = {
  'subscription {': 'GRAPHQL_PARSE_FAILED',
  'subscription { nothing }': 'GRAPHQL_VALIDATION_FAILED',
  'subscription { lucky }': 'GRAPHQL_VALIDATION_FAILED',
  'subscription { frogCollection { edges { node { hop } } } }': 'SUBSCRIPTION_NOT_SUPPORTED',
  'subscription { __schema { queryType { name } } }': 'GRAPHQL_VALIDATION_FAILED',
  'mutation { lucky }': 'METHOD_NOT_ALLOWED',
  'subscription { pondByPk(id: "x") { name } }': 'GRAPHQL_VALIDATION_FAILED',
  'subscription { pondCollection(first: -1) { edges { cursor } } }': 'BAD_USER_INPUT',
};

for (const [query, code] of Object.entries(refused)) {
  test(`refused: ${query}`, async () => {
    const answers = subscribe(query);
    const { data, errors } = await nextAnswer(answers);
    assert.deepEqual([data, errors?.[0]?.extensions.code], [undefined, code], JSON.stringify(errors));
    assert.deepEqual(await answers.next(), { done: true, value: undefined });
  });
}

test('a query is answered once', async () => {
  await reset();
  const results = [];
  for await (const result of subscribe('{ pondByPk(id: 1) { name } }')) results.push(result);
  assert.deepEqual(results, [{ data: { pondByPk: { name: 'mud' } } }]);
});

test('execute refuses a subscription, and says how to send it', async () => {
  const { errors } = await tested.graph.execute({ query: 'subscription { deepest }' }, caller);
  assert.equal(errors?.[0]?.extensions.code, 'SUBSCRIPTION_NOT_SUPPORTED');
  assert.match(errors?.[0]?.message ?? '', /WebSocket/);
});

test('an invalid caller or option is the mistake of the program', async () => {
  const query = 'subscription { deepest }';
  await assert.rejects(async () => tested.graph.subscribe({ query }, {} as never).next(), TypeError);
  await assert.rejects(async () => tested.graph.subscribe({ query }, caller, { timeout: 5 } as never).next(), TypeError);
});

test('return and the signal unsubscribe, also while an answer is awaited', async () => {
  await reset();
  const answers = subscribe('subscription { deepest }');
  await nextData(answers);
  const pending = answers.next();
  await answers.return?.();
  assert.deepEqual(await pending, { done: true, value: undefined });
  const controller = new AbortController();
  const signalled = tested.graph.subscribe({ query: 'subscription { deepest }' }, caller, { signal: controller.signal });
  await nextData(signalled);
  const next = signalled.next();
  controller.abort();
  assert.deepEqual(await next, { done: true, value: undefined });
});

test('what the program changes in its objects meanwhile changes nothing', async () => {
  const own = await startTestGraph('create table t (id int primary key); insert into t values (1), (2)');
  const [variables, claims] = [{ first: 1 }, { sub: 'a' }];
  const query = 'subscription ($first: Int) { tCollection(first: $first) { edges { node { id } } } }';
  const answers = own.graph.subscribe({ query, variables }, { ...caller, claims });
  await nextData(answers);
  variables.first = 2;
  claims.sub = 'b';
  await own.database.run('alter table t add column name text');
  await own.graph.reload();
  await own.database.run('update t set id = 0 where id = 1');
  assert.deepEqual(await nextData(answers), { tCollection: { edges: [{ node: { id: 0 } }] } });
  await answers.return?.();
  const wrong = own.graph.subscribe({ query }, { ...caller, claims: { sub: 5n } });
  await assert.rejects(wrong.next(), /The claims of the caller cannot be written as JSON/);
  await own.stop();
});

test('the limits of a client and of the process hold', async () => {
  const limited = await startTestGraph('create table t (id int primary key)', {
    maxSubscriptions: 3,
    limits: { subscriptions: 2 },
    roleLimits: {},
  });
  const open = (client: string) =>
    limited.graph.subscribe({ query: 'subscription { tCollection { edges { cursor } } }' }, caller, { client });
  const codeOf = async (answers: ReturnType<typeof open>) => (await nextAnswer(answers)).errors?.[0]?.extensions.code;
  const ada = [open('ada'), open('ada')];
  for (const each of ada) await nextData(each);
  assert.equal(await codeOf(open('ada')), 'TOO_MANY_SUBSCRIPTIONS');
  await nextData(open('bob'));
  assert.equal(await codeOf(open('eve')), 'TOO_MANY_SUBSCRIPTIONS');
  // A query is none.
  await nextData(limited.graph.subscribe({ query: '{ tCollection { edges { cursor } } }' }, caller, { client: 'eve' }));
  await ada[0]!.return?.();
  await nextData(open('ada'));
  await limited.stop();
});

test('closing the graph ends all subscriptions', async () => {
  const closing = await startTestGraph('create table t (id int primary key)');
  const answers = closing.graph.subscribe({ query: 'subscription { tCollection { edges { cursor } } }' }, caller);
  await nextData(answers);
  const next = nextAnswer(answers);
  await closing.graph.close();
  assert.equal((await next).errors?.[0]?.extensions.code, 'SHUTTING_DOWN');
  await closing.stop();
});

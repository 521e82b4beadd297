/** `graph.schema`: operations that graphql-js executes, alone and beside resolvers of others, give what the engine gives, in one request to it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  buildSchema,
  type ExecutionResult,
  execute,
  extendSchema,
  type GraphQLSchema,
  graphql,
  isObjectType,
  parse,
  printSchema,
  subscribe,
  validate,
  validateSchema,
} from 'graphql';
import type { Caller } from '../../src/index.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

const setup = `
  create type mood as enum ('happy', 'not-so happy');
  create table author (id int primary key, name text not null, born date, worth numeric, big bigint, data jsonb, mood mood, tags text[]);
  create table book (id int primary key, author_id int references author, title text not null);
  insert into author values (1, 'Ann', '2000-01-02', 1.50, 9007199254740993, '{"a": 1}', 'not-so happy', '{x,y}'), (2, 'Bob', null, null, null, null, null, null);
  insert into book values (1, 1, 'One'), (2, 1, 'Two'), (3, 2, 'Three');
  create function whoami() returns text language sql stable as 'select current_user::text || coalesce(current_setting(''request.jwt.claims'', true)::json ->> ''sub'', '''')';
  create function fail(message text) returns text language plpgsql stable as $$ begin raise exception '%', message; end $$;
  comment on schema public is '@graphql({"inflect_names": true, "introspection": false})';
`;
let opened: TestGraph;
let schema: GraphQLSchema;
/** The statements of the engine's requests, as documents. */
const asked: string[] = [];
before(async () => {
  opened = await startTestGraph(setup);
  const { graph } = opened;
  const { execute: original } = graph;
  graph.execute = (request, ...rest) => {
    asked.push(request.query);
    return original.call(graph, request, ...rest);
  };
  schema = await graph.schema({ role: 'service_role' });
});
after(() => opened.stop());

async function ask(source: string, variableValues?: Record<string, unknown>, over: GraphQLSchema = schema): Promise<ExecutionResult> {
  asked.length = 0;
  const result = await graphql({ schema: over, source, ...(variableValues && { variableValues }) });
  return JSON.parse(JSON.stringify(result)) as ExecutionResult;
}

const variables = {
  id: 1,
  big: '9007199254740993',
  title: 'T',
  isHidden: true,
  filter: { id: { in: [1, 2] } },
  order: [{ name: 'DescNullsLast' }],
};
const nodeId = Buffer.from('["public", "author", 1]').toString('base64');
const alike: readonly [name: string, source: string][] = [
  [
    'fields of all types',
    '{ authorCollection { edges { cursor node { nodeId id name born worth big data tags } } pageInfo { hasNextPage } } }',
  ],
  [
    'aliases, at each level',
    '{ a: authorCollection(first: 1) { e: edges { n: node { x: name y: name } } } b: authorCollection(last: 1) { edges { node { name } } } }',
  ],
  [
    'fragments',
    'query Q { ...F ... on Query { whoami } } fragment F on Query { authorCollection { edges { node { ...G } } } } fragment G on Author { name books: bookCollection { edges { node { title } } } }',
  ],
  ['__typename', '{ __typename authorCollection(first: 1) { __typename edges { __typename node { __typename } } } }'],
  [
    'an interface',
    `{ one: node(nodeId: "${nodeId}") { nodeId ... on Author { name } ... on Book { title } } two: node(nodeId: "${nodeId}") { __typename } }`,
  ],
  [
    'variables',
    'query Q($filter: AuthorFilter, $order: [AuthorOrderBy!], $first: Int = 1) { authorCollection(filter: $filter, orderBy: $order, first: $first) { edges { node { name } } } }',
  ],
  [
    '@skip and @include',
    'query Q($isHidden: Boolean!) { whoami @skip(if: $isHidden) authorCollection { edges @include(if: $isHidden) { node { name @skip(if: $isHidden) id } } } }',
  ],
  ['one field twice', '{ authorCollection { edges { node { id } } } authorCollection { edges { node { name } } } }'],
  ['literals', '{ authorCollection(filter: {mood: {eq: happy}, big: {gt: "1"}, born: {lt: "2001-01-01"}}) { edges { node { id } } } }'],
  [
    'mutations',
    'mutation { insertIntoBookCollection(objects: [{id: 90, authorId: 1, title: "T"}]) { affectedCount records { title author { name } } } deleteFromBookCollection(filter: {id: {eq: 90}}) { affectedCount records { id } } }',
  ],
];

for (const [name, source] of alike)
  test(`${name}: graphql-js gives what the engine gives`, async () => {
    assert.deepEqual(validate(schema, parse(source)), []);
    const names = [...source.matchAll(/\$(\w+):/g)].map(([, found]) => found!);
    const given = Object.fromEntries(Object.entries(variables).filter(([each]) => names.includes(each)));
    const expected = await opened.graph.execute({ query: source, variables: given }, { role: 'service_role' });
    assert.equal(expected.errors, undefined, JSON.stringify(expected));
    assert.deepEqual(await ask(source, given), expected);
    assert.equal(asked.length, 1, 'one request');
  });

test('it is the schema of the role, and a valid one', async () => {
  assert.equal(printSchema(schema), (await opened.graph.sdl({ role: 'service_role' })).trim());
  assert.deepEqual(validateSchema(schema), []);
  await opened.database.run('revoke all on book from anon');
  await opened.graph.reload();
  assert.doesNotMatch(printSchema(await opened.graph.schema()), /Book/);
});

test('the caller comes from the context, once for an operation', async () => {
  const contexts: unknown[] = [];
  const own = await opened.graph.schema<{ user: string }>({
    role: 'authenticated',
    caller: async (context): Promise<Caller> => {
      contexts.push(context);
      return { role: 'authenticated', claims: { sub: context.user } };
    },
  });
  const results = await Promise.all(
    ['a', 'b', 'c'].map((user) => graphql({ schema: own, source: '{ whoami again: whoami }', contextValue: { user } })),
  );
  assert.deepEqual(
    results.map(({ data }) => data?.whoami),
    ['authenticateda', 'authenticatedb', 'authenticatedc'],
  );
  assert.equal(contexts.length, 3);
  const throwing = await opened.graph.schema({
    caller: () => {
      throw new Error('who are you?');
    },
  });
  const { data, errors } = await graphql({ schema: throwing, source: '{ whoami }' });
  assert.deepEqual([{ ...data }, errors?.[0]?.message], [{ whoami: null }, 'who are you?']);
  const wrong = await opened.graph.schema({ caller: () => ({}) as Caller });
  assert.match((await graphql({ schema: wrong, source: '{ whoami }' })).errors?.[0]?.message ?? '', /role/);
});

test('errors keep their path and code, and are reported once', async () => {
  // The engine does not know which of the functions has raised it.
  const failed = await ask('{ whoami bad: fail(message: "no") also: authorCollection { edges { node { id } } } }');
  assert.equal(failed.data, null, 'a collection is never null');
  assert.deepEqual(
    failed.errors?.map(({ message, path, extensions }) => [message, path, extensions?.code]),
    [['no', ['also'], 'RAISED']],
  );
  const nullable = await ask('{ whoami bad: fail(message: "no") }');
  assert.deepEqual([nullable.data, nullable.errors?.length], [{ whoami: null, bad: null }, 1]);
  const alone = await ask('{ __typename bad: fail(message: "no") }');
  assert.deepEqual(
    [alone.data, alone.errors?.map(({ path, locations }) => [path, locations])],
    [{ __typename: 'Query', bad: null }, [[['bad'], [{ line: 1, column: 14 }]]]],
  );
  const deep = await ask('{ authorCollection(filter: {big: {eq: "99999999999999999999999"}}) { edges { node { id } } } whoami }');
  assert.deepEqual(
    deep.errors?.map(({ path, extensions }) => [path, extensions?.code]),
    [[['authorCollection'], 'INVALID_VALUE']],
  );
  const { graph } = opened;
  const limited = await graph.execute({ query: '{ whoami }' }, { role: 'nobody' });
  const unknown = await graph.schema({ caller: () => ({ role: 'nobody' }) });
  const { errors } = await graphql({ schema: unknown, source: '{ a: whoami b: whoami }' });
  assert.deepEqual(
    errors?.map(({ path, extensions }) => [path, extensions.code]),
    [[['a'], limited.errors?.[0]?.extensions.code]],
  );
});

test('a value of an enum that is not a GraphQL name is an error of its field, as graphql-js has it', async () => {
  const { data, errors } = await ask('{ authorCollection(first: 1) { edges { node { id mood } } } }');
  assert.deepEqual(data, { authorCollection: { edges: [{ node: { id: 1, mood: null } }] } });
  assert.deepEqual(errors?.[0]?.path, ['authorCollection', 'edges', 0, 'node', 'mood']);
});

test('mutations are all or nothing', async () => {
  const insert = (id: number): string =>
    `m${id}: insertIntoBookCollection(objects: [{id: ${id}, authorId: 1, title: "t"}]) { affectedCount }`;
  const failed = await ask(`mutation { ${insert(80)} ${insert(1)} ${insert(81)} }`);
  assert.deepEqual(
    failed.errors?.map(({ path, extensions }) => [path, extensions?.code]),
    [[['m1'], 'CONSTRAINT_VIOLATION']],
  );
  assert.equal(asked.length, 1);
  const rows = await opened.database.run('select id from book where id >= 80');
  assert.deepEqual(rows, []);
});

test('mutations in fragments are all or nothing, too', async () => {
  const insert = (alias: string, id: number) => `${alias}: insertIntoBookCollection(objects: [{id: ${id}, title: "F"}]) { affectedCount }`;
  const written = await ask(
    `mutation { ...A ...A } fragment A on Mutation { ${insert('a', 80)} ...B } fragment B on Mutation { ${insert('b', 81)} }`,
  );
  assert.deepEqual(written, { data: { a: { affectedCount: 1 }, b: { affectedCount: 1 } } });
  assert.equal(asked.length, 1);
  const failed = await ask(`mutation { ...A } fragment A on Mutation { ${insert('a', 82)} ${insert('b', 80)} }`);
  assert.equal(failed.data?.['a'] ?? null, null);
  const left = await ask('{ bookCollection(filter: {id: {gte: 80}}, orderBy: [{id: AscNullsLast}]) { edges { node { id } } } }');
  assert.deepEqual(left, { data: { bookCollection: { edges: [{ node: { id: 80 } }, { node: { id: 81 } }] } } });
  await ask('mutation { deleteFromBookCollection(filter: {id: {gte: 80}}, atMost: 9) { affectedCount } }');
});

test('a mutation that is skipped reports nothing', async () => {
  const source = `mutation M($no: Boolean!) { insertIntoBookCollection(objects: [{id: 1, title: "t"}]) { affectedCount }
    ... on Mutation @include(if: $no) { deleteFromBookCollection { affectedCount } } ...F @skip(if: true) }
    fragment F on Mutation { updateBookCollection(set: {title: "x"}) { affectedCount } }`;
  const { data, errors } = await ask(source, { no: false });
  assert.deepEqual(
    [data, errors?.map(({ extensions }) => extensions?.code)],
    [{ insertIntoBookCollection: null }, ['CONSTRAINT_VIOLATION']],
  );
});

/** Beside resolvers of others: a root field, a field of a table's type, and an argument. */
function extend(base: GraphQLSchema): GraphQLSchema {
  const extended = extendSchema(
    base,
    parse(
      'extend type Query { hello(name: String): String other: Other } type Other { name: String } extend type Author { shout(loud: Boolean): String } extend type Mutation { log: String }',
    ),
  );
  extended.getQueryType()!.getFields().hello!.resolve = (_source, { name }) => `hello ${name}`;
  extended.getQueryType()!.getFields().other!.resolve = () => ({ name: 'other' });
  extended.getMutationType()!.getFields().log!.resolve = () => 'logged';
  const author = extended.getType('Author');
  assert.ok(isObjectType(author));
  author.getFields().shout!.resolve = (source: { name?: string }) => source.name?.toUpperCase() ?? 'nothing';
  return extended;
}

test('own resolvers stand beside ours', async () => {
  const extended = extend(schema);
  const source = `query Q($name: String, $loud: Boolean, $first: Int) { hello(name: $name) other { ...O } whoami
    authorCollection(first: $first) { edges { node { name shout(loud: $loud) } only: node { shout } } } } fragment O on Other { name }`;
  const result = await ask(source, { name: 'you', loud: true, first: 1 }, extended);
  assert.deepEqual(result, {
    data: {
      hello: 'hello you',
      other: { name: 'other' },
      whoami: 'service_role',
      authorCollection: { edges: [{ node: { name: 'Ann', shout: 'ANN' }, only: { shout: 'nothing' } }] },
    },
  });
  assert.equal(asked.length, 1);
  assert.doesNotMatch(asked[0]!, /hello|shout|\$loud|\$name|Other/);
  assert.equal((await ask('{ hello(name: "a") }', {}, extended)).data?.hello, 'hello a');
  assert.equal(asked.length, 0);
  const mutation = `mutation { a: insertIntoBookCollection(objects: [{id: 70, title: "t"}]) { affectedCount } log
    b: deleteFromBookCollection(filter: {id: {eq: 70}}) { affectedCount } }`;
  const { data } = await ask(mutation, {}, extended);
  assert.deepEqual(data, { a: { affectedCount: 1 }, log: 'logged', b: { affectedCount: 1 } });
  assert.equal(asked.length, 1);
});

test('a mutation whose resolver somebody has wrapped runs only if that calls ours', async () => {
  const guarded = await opened.graph.schema({ role: 'service_role' });
  const field = guarded.getMutationType()!.getFields().deleteFromBookCollection!;
  const { resolve } = field;
  field.resolve = async (source, args, context, info) => {
    if (args.atMost > 1) throw new Error('not that many');
    return resolve!(source, args, context, info);
  };
  const source = `mutation { insertIntoBookCollection(objects: [{id: 60, title: "t"}]) { affectedCount }
    deny: deleteFromBookCollection(atMost: 9, filter: {id: {eq: 60}}) { affectedCount } }`;
  const { errors } = await ask(source, {}, guarded);
  assert.equal(errors?.[0]?.message, 'not that many');
  const rows = await opened.database.run('select id from book where id = 60');
  assert.deepEqual(rows, [{ id: 60 }], 'the first had its own transaction');
  const allowed = await ask('mutation { deleteFromBookCollection(atMost: 1, filter: {id: {eq: 60}}) { affectedCount } }', {}, guarded);
  assert.deepEqual(allowed.data, { deleteFromBookCollection: { affectedCount: 1 } });
});

test('atomic mutations are all or nothing even if their resolvers are wrapped', async () => {
  const wrapped = await opened.graph.schema({ role: 'service_role', atomicMutations: true });
  for (const field of Object.values(wrapped.getMutationType()!.getFields())) {
    const { resolve } = field;
    field.resolve = async (...given) => resolve!(...given);
  }
  const source = `mutation { a: insertIntoBookCollection(objects: [{id: 50, title: "t"}]) { affectedCount }
    b: insertIntoBookCollection(objects: [{id: 50, title: "t"}]) { affectedCount } }`;
  const { errors } = await ask(source, {}, extend(wrapped));
  assert.deepEqual([errors?.length, errors?.[0]?.path, asked.length], [1, ['b'], 1]);
  assert.deepEqual(await opened.database.run('select from book where id = 50'), []);
});

test('hostile names and values go through as what they are', async () => {
  const source =
    'query Q($__proto__: String!, $constructor: Int) { __proto__: fail(message: $__proto__) constructor: authorCollection(first: $constructor) { edges { toString: node { __proto__: name } } } }';
  const given = JSON.parse('{"__proto__": "as text; drop table book", "constructor": 1}') as Record<string, unknown>;
  assert.equal((await ask(source, given)).errors?.[0]?.message, 'as text; drop table book');
  const fine = await ask('{ constructor: authorCollection(first: 1) { hasOwnProperty: edges { toString: node { valueOf: name } } } }');
  assert.deepEqual(fine.data, { constructor: { hasOwnProperty: [{ toString: { valueOf: 'Ann' } }] } });
  const clash = await ask('{ node(nodeId: "x") { __rowgraph_typename: nodeId } }');
  assert.ok((clash.errors?.length ?? 0) > 0);
});

test('the signal of an execution cancels its request', async () => {
  const controller = new AbortController();
  controller.abort(new Error('gone'));
  const run = async () => execute({ schema, document: parse('{ whoami }'), abortSignal: controller.signal });
  await assert.rejects(run, /gone/);
});

test('documents of an operation are written once, for each set of root fields', async () => {
  const document = parse('query Q($skip: Boolean!) { whoami @skip(if: $skip) authorCollection(first: 1) { edges { node { id } } } }');
  for (const skip of [true, false, true]) {
    asked.length = 0;
    const { data } = await execute({ schema, document, variableValues: { skip } });
    assert.deepEqual(Object.keys(data ?? {}), skip ? ['authorCollection'] : ['whoami', 'authorCollection']);
    assert.equal(asked.length, 1);
  }
});

test('a schema of nothing is one too', async () => {
  const { graph, stop } = await startTestGraph('');
  try {
    const empty = await graph.schema();
    assert.equal((await graphql({ schema: empty, source: '{ __typename }' })).data?.__typename, 'Query');
    assert.ok(buildSchema(printSchema(empty), { assumeValid: true }));
  } finally {
    await stop();
  }
});

test('graphql-js subscribes, and gets an answer for each change, or the errors that end it', async () => {
  const follow = async (source: string, variableValues = {}) => {
    const events = await subscribe({ schema, document: parse(source), variableValues });
    assert.ok(Symbol.asyncIterator in events, JSON.stringify(events));
    return events;
  };
  const document = `subscription($id: Int!) { changed: authorByPk(id: $id) { name ...Books } }
    fragment Books on Author { bookCollection(first: 1) { edges { node { author { name } } } } }`;
  const events = await follow(document, { id: 2 });
  const dataOf = async () => JSON.parse(JSON.stringify((await events.next()).value)) as unknown;
  const answer = (name: string) => ({ changed: { name, bookCollection: { edges: [{ node: { author: { name } } }] } } });
  assert.deepEqual(await dataOf(), { data: answer('Bob') });
  await opened.database.run("update author set name = 'Rob' where id = 2");
  assert.deepEqual(await dataOf(), { data: answer('Rob') });
  await events.return?.(undefined);
  await opened.database.run("update author set name = 'Bob' where id = 2");
  const failing = await follow('subscription { fail(message: "no") }');
  const { errors } = (await failing.next()).value as ExecutionResult;
  assert.equal(errors?.[0]?.extensions['code'], 'RAISED');
  await failing.return?.(undefined);
});

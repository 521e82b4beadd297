/** Streams: rows in the order of a key, each once, from a cursor on, whoever reads slowly, comes back, or is another caller by then. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Caller, createRowgraph, type GraphQLRequest } from '../../src/index.ts';
import { RandomSource } from '../property/random-source.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';
import { announceChanges, nextAnswer, nextData } from './answers.ts';

const schemaSql = `
comment on schema public is '@graphql({"inflect_names": true})';
create table kite (id int primary key);
create table bird (id int primary key, name text not null default 'wren', seen int);
create table lark (id int primary key); comment on table lark is '@graphql({"additions": {"streams": false}})';
create table owl (id int primary key); create function owl_stream() returns int language sql stable as 'select 7';
create table diary (id int primary key, owner text); alter table diary enable row level security;
create policy own on diary using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
create function broken(b bird) returns int language plpgsql stable as 'begin return 1 / (b.id - 3); end';`;
const caller: Caller = { role: 'service_role' };

let tested: TestGraph;
before(async () => {
  tested = await startTestGraph(schemaSql, { live: 'notify', liveInterval: 5 });
  await announceChanges(tested.database);
});
after(() => tested.stop());

interface Edge {
  readonly cursor: string;
  readonly node: { readonly id: number | string };
}

const follow = (request: string | GraphQLRequest, who = caller) =>
  tested.graph.subscribe(typeof request === 'string' ? { query: request } : request, who);

/** The rows of the next answer. */
async function nextEdges(answers: ReturnType<typeof follow>): Promise<readonly Edge[]> {
  return Object.values(await nextData(answers))[0] as Edge[];
}

/** The ids of so many rows, which may come in several answers. */
async function nextIds(answers: ReturnType<typeof follow>, count: number): Promise<(number | string)[]> {
  const ids: (number | string)[] = [];
  while (ids.length < count) ids.push(...(await nextEdges(answers)).map(({ node }) => node.id));
  return ids;
}

const insert = (...ids: readonly number[]) => tested.database.run(`insert into bird (id) select unnest('{${ids.join()}}'::int[])`);
const pages = 'subscription { birdStream(first: 2) { cursor node { id } } }';

test('the rows there are, in pages, and then those that are added, each once', async () => {
  await tested.database.run('truncate bird');
  await insert(1, 2, 3, 4, 5);
  const answers = follow(pages);
  assert.deepEqual(
    (await nextEdges(answers)).map(({ node }) => node.id),
    [1, 2],
  );
  assert.deepEqual(await nextIds(answers, 3), [3, 4, 5]);
  await insert(6);
  assert.deepEqual(await nextIds(answers, 1), [6]);
  await tested.database.run("update bird set name = 'owl' where id < 3; delete from bird where id = 4");
  await insert(8, 7);
  assert.deepEqual(await nextIds(answers, 2), [7, 8]);
  await answers.return?.();
});

test('without rows it is answered at once, and after that only with rows', async () => {
  await tested.database.run('truncate bird');
  const answers = follow(pages);
  assert.deepEqual(await nextEdges(answers), []);
  await tested.database.run('begin; insert into bird values (1); rollback; truncate bird');
  await insert(2);
  assert.deepEqual(await nextIds(answers, 1), [2]);
  await answers.return?.();
});

const resumed: Readonly<Record<string, (cursor: string) => GraphQLRequest>> = {
  'a literal': (cursor) => ({ query: `subscription { birdStream(after: "${cursor}") { cursor node { id } } }` }),
  'a variable': (after) => ({
    query: 'subscription($after: Cursor) { birdStream(after: $after) { cursor node { id } } }',
    variables: { after },
  }),
  'a variable in a fragment, beside another operation': (c) => ({
    query: `subscription A($c: Cursor!, $n: String) { ...F } query B { __typename }
      fragment F on Subscription { b: birdStream(first: 1, after: $c, filter: {name: {neq: $n}}) { cursor node { id } } __typename }`,
    variables: { c, n: 'x' },
    operationName: 'A',
  }),
  'a field that is written twice': (after) => ({
    query: `subscription ($x: Cursor, $after: Boolean = true) {
      birdStream(first: 1, filter: {id: {gt: 0}}, after: $x) { cursor @include(if: $after) node { id } }
      ...on Subscription { birdStream (after : $x, first: 1, filter: {id: {gt: 0}}) { node { id } } }
    }`,
    variables: { x: after },
  }),
};

for (const [name, request] of Object.entries(resumed)) {
  test(`goes on where the client was: ${name}`, async () => {
    await tested.database.run('truncate bird');
    await insert(1, 2, 3);
    const before = follow('subscription { birdStream(first: 1) { cursor node { id } } }');
    const [edge] = await nextEdges(before);
    await before.return?.();
    const answers = follow(request(edge!.cursor));
    const ids = async (count: number) => {
      const seen: (number | string)[] = [];
      while (seen.length < count) {
        const { birdStream, b = birdStream } = (await nextData(answers)) as Record<string, Edge[]>;
        seen.push(...b!.map(({ node }) => node.id));
      }
      return seen;
    };
    assert.deepEqual(await ids(2), [2, 3]);
    await insert(4);
    assert.deepEqual(await ids(1), [4]);
    await insert(5);
    assert.deepEqual(await ids(1), [5]);
    await answers.return?.();
  });
}

test('errors of what follows are at places of the document that was sent, which is hardly longer', async () => {
  const query = 'subscription($n:Int){kiteStream(first:$n){cursor node{id}}}';
  const strict = await createRowgraph({ database: tested.database.url, live: 'notify', limits: { documentBytes: query.length + 30 } });
  await tested.database.run('insert into kite values (1)');
  const answers = strict.subscribe({ query, variables: { n: 1 } }, caller);
  assert.equal((await nextEdges(answers)).length, 1);
  await tested.database.run('insert into kite values (2)');
  assert.equal((await nextEdges(answers)).length, 1);
  await tested.database.run('comment on table kite is \'@graphql({"additions": {"streams": false}})\'');
  await strict.reload();
  const { errors } = await nextAnswer(answers);
  assert.deepEqual(errors?.[0]?.locations, [{ line: 1, column: query.indexOf('kiteStream') + '$after:Cursor '.length + 1 }]);
  await strict.close();
});

test('another order: what moves past the cursor comes again', async () => {
  await tested.database.run('truncate bird; insert into bird (id, seen) values (1, 10), (2, 20)');
  const answers = follow('subscription { birdStream(orderBy: {seen: AscNullsLast}, filter: {id: {lt: 9}}) { node { id } } }');
  assert.deepEqual(await nextIds(answers, 2), [1, 2]);
  await tested.database.run('update bird set seen = 30 where id = 1; insert into bird (id, seen) values (9, 40)');
  assert.deepEqual(await nextIds(answers, 1), [1]);
  await answers.return?.();
});

test('a slow reader misses nothing', async () => {
  await tested.database.run('truncate bird');
  const [slow, quick] = [follow(pages), follow(pages)];
  for (const each of [slow, quick]) assert.deepEqual(await nextEdges(each), []);
  const expected = Array.from({ length: 20 }, (_, index) => index + 1);
  for (const id of expected) {
    await insert(id);
    assert.deepEqual(await nextIds(quick, 1), [id]);
  }
  assert.deepEqual(await nextIds(slow, 20), expected);
  await Promise.all([slow.return?.(), quick.return?.()]);
});

test('random writes, readers and reconnects: each row once, in order', async () => {
  await tested.database.run('truncate bird');
  const random = new RandomSource(11);
  const last = 300;
  let id = 0;
  const write = async (): Promise<void> => {
    while (id < last) {
      const count = random.integer(1, 7);
      await insert(...Array.from({ length: Math.min(count, last - id) }, () => (id += 1)));
      if (random.integer(0, 3) === 0) await tested.database.run(`update bird set seen = ${id} where id % 3 = 0`);
    }
  };
  const read = async (first: number) => {
    const seen: Edge[] = [];
    while (seen.length < last) {
      const answers = follow({
        query: 'subscription($first: Int, $after: Cursor) { birdStream(first: $first, after: $after) { cursor node { id } } }',
        variables: { first, after: seen.at(-1)?.cursor ?? null },
      });
      for (let answer = random.integer(1, 12); answer > 0 && seen.length < last; answer -= 1) seen.push(...(await nextEdges(answers)));
      await answers.return?.();
    }
    return seen.map(({ node }) => node.id);
  };
  const [, ...all] = await Promise.all([write(), ...[1, 3, 10, 30].map(read)]);
  const expected = Array.from({ length: last }, (_, index) => index + 1);
  for (const ids of all) assert.deepEqual(ids, expected);
});

test('lost connections and changes of the schema lose and repeat nothing', async () => {
  await tested.database.run('truncate bird');
  const answers = follow(pages);
  const expected = Array.from({ length: 60 }, (_, index) => index + 1);
  const read = nextIds(answers, expected.length);
  for (const id of expected) {
    await insert(id);
    if (id % 10 === 0) await tested.database.run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator'");
    if (id % 15 === 0) await tested.database.run(`alter table bird add extra_${id} int`);
  }
  assert.deepEqual(await read, expected);
  await answers.return?.();
});

test('each caller has the rows of their own', async () => {
  await tested.database.run('truncate diary');
  const query = 'subscription { diaryStream { node { id } } }';
  const [ada, bob] = ['ada', 'bob'].map((sub) => follow(query, { role: 'authenticated', claims: { sub } }));
  for (const each of [ada!, bob!]) assert.deepEqual(await nextEdges(each), []);
  await tested.database.run("insert into diary values (1, 'bob'), (2, 'ada'), (3, 'bob')");
  assert.deepEqual(await nextIds(ada!, 1), [2]);
  assert.deepEqual(await nextIds(bob!, 2), [1, 3]);
  await tested.database.run("insert into diary values (4, 'ada'), (5, 'bob')");
  assert.deepEqual(await nextIds(ada!, 1), [4]);
  assert.deepEqual(await nextIds(bob!, 1), [5]);
  await Promise.all([ada!.return?.(), bob!.return?.()]);
});

test('an error of one answer does not end it, and the rows come when it has passed', async () => {
  await tested.database.run('truncate bird');
  await insert(1);
  const answers = follow('subscription { birdStream { node { id broken } } }');
  assert.deepEqual(await nextIds(answers, 1), [1]);
  await insert(3);
  const { errors } = await nextAnswer(answers);
  assert.equal(errors?.[0]?.extensions.code, 'INVALID_VALUE');
  await tested.database.run('update bird set id = 4 where id = 3');
  assert.deepEqual(await nextIds(answers, 1), [4]);
  await answers.return?.();
});

test('a column that is dropped ends it; another one that is added does not', async () => {
  await tested.database.run(
    'create table gull (id int primary key, a int); grant all on gull to service_role; insert into gull values (1)',
  );
  await tested.graph.reload();
  const answers = follow('subscription { gullStream { node { id a } } }');
  await nextEdges(answers);
  await tested.database.run('alter table gull add b int; insert into gull values (2)');
  assert.deepEqual(await nextIds(answers, 1), [2]);
  await tested.database.run('alter table gull drop column a');
  assert.equal((await nextAnswer(answers)).errors?.[0]?.extensions.code, 'GRAPHQL_VALIDATION_FAILED');
  assert.equal((await answers.next()).done, true);
});

test('the view of docs/live.md shows no row before one that is committed later', async () => {
  const page = readFileSync(new URL('../../docs/live.md', import.meta.url), 'utf8');
  const [sql = ''] = /create table event [^`]*/.exec(page) ?? [];
  await tested.database.run(`${sql}; grant all on event, event_feed to service_role`);
  await tested.graph.reload();
  const answers = follow('subscription { eventFeedStream { node { id } } }');
  assert.deepEqual(await nextEdges(answers), []);
  const [late, aborted] = [await tested.database.connect(), await tested.database.connect()];
  await late.query("begin; insert into event (body) values ('late')");
  await tested.database.run("insert into event (body) values ('early')");
  await late.query('commit');
  assert.deepEqual(await nextIds(answers, 2), ['1', '2']);
  await aborted.query("begin; insert into event (body) values ('none')");
  await tested.database.run("insert into event (body) values ('held back')");
  await aborted.query('rollback');
  assert.deepEqual(await nextIds(answers, 1), ['4']);
  await answers.return?.();
});

const refused: Readonly<Record<string, RegExp>> = {
  'subscription { a: birdStream { cursor } birdByPk(id: 1) { id } }': /must be the only field/,
  'subscription { a: birdStream { cursor } b: birdStream { cursor } }': /must be the only field/,
  'subscription { birdStream(after: "x") { cursor } }': /cursor/i,
  'subscription { birdStream(first: -1) { cursor } }': /first/,
  'subscription { birdStream(last: 1) { cursor } }': /Unknown argument "last"/,
  'subscription { larkStream { cursor } }': /Cannot query field "larkStream"/,
  '{ birdStream { cursor } }': /Cannot query field "birdStream"/,
};

for (const [query, message] of Object.entries(refused)) {
  test(`refused: ${query}`, async () => {
    const { data, errors } = await nextAnswer(follow(query));
    assert.equal(data, undefined);
    assert.match(errors?.[0]?.message ?? '', message);
  });
}

test('a document with a stream beside other fields is not valid, whatever their conditions and fragments', async () => {
  const validate = (query: string) => tested.graph.validate(query, { role: 'service_role' });
  const [error, ...others] =
    await validate(`subscription ($is: Boolean!) { ...feed ...feed __typename birdByPk(id: 1) @skip(if: $is) { id } }
    fragment feed on Subscription { ... { feed: birdStream { cursor } } }`);
  assert.deepEqual(
    [error?.message, error?.locations, error?.extensions.code, others],
    [
      'A stream must be the only field of its subscription. Subscribe to the others by themselves.',
      [{ line: 2, column: 43 }],
      'GRAPHQL_VALIDATION_FAILED',
      [],
    ],
  );
  assert.deepEqual(
    await validate('subscription { birdStream { cursor } ...feed __typename } fragment feed on Subscription { birdStream { cursor } }'),
    [],
  );
});

test('a function of the same name keeps it', async () => {
  const answers = follow('subscription { owlStream }');
  assert.deepEqual(await nextData(answers), { owlStream: 7 });
  await answers.return?.();
});

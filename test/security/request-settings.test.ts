/** What SQL can read of a request besides the claims: each caller's own, of headers only those that are listed, and nothing unless it is read. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { createFetchHandler } from '../../src/http/transport/create-fetch-handler.ts';
import { createRowgraph, type Rowgraph, type RowgraphOptions } from '../../src/index.ts';
import { startPgliteGraph } from '../support/pglite-graph.ts';
import { startTestDatabases, type TestDatabases } from '../support/test-databases.ts';

const secret = 'a secret that has more than 32 characters';

/** `seen` reads all settings, `peek` by names that nothing else has. */
const setup = `
  create function seen() returns json stable language sql as $$ select json_build_object(
    'headers', nullif(current_setting('request.headers', true), '')::json, 'method', current_setting('request.method', true),
    'path', current_setting('request.path', true), 'sub', current_setting('request.jwt.claim.sub', true),
    'role', current_setting('request.jwt.claim.role', true), 'tenant', current_setting('jwt.claims.tenantId', true),
    'origin', current_setting('request.header.origin', true)) $$;
  -- A function that does what it should not: it changes the session and not only the transaction.
  create function stick() returns text volatile language sql as $$ select set_config('request.jwt.claim.sub', 'stuck', false)
    || set_config('request.headers', '{"x-share-token": "for-ada"}', false) || set_config('request.path', '/stuck', false) $$;
  create function tell() returns json volatile language sql as 'select seen()';
  create table note (id int primary key, owner text default current_setting('request.jwt.claim.sub', true), token text);
  alter table note enable row level security;
  create policy own on note using (owner = current_setting('request.jwt.claim.sub', true)
    or token = current_setting('request.headers', true)::json ->> 'x-share-token');
  insert into note values (1, 'ada', 'for-bob'), (2, 'bob', null), (3, 'cyd', 'for-ada');
`;
const requestHeaders = ['X-Share-Token', 'origin'];

let databases: TestDatabases;
const stops: (() => Promise<void>)[] = [];

before(async () => {
  databases = await startTestDatabases();
});
after(async () => {
  await Promise.all(stops.map((stop) => stop()));
  await databases.close();
});

async function openGraph(sql: string, options: Omit<RowgraphOptions, 'database'> = {}): Promise<Rowgraph> {
  const graph = await createRowgraph({ database: (await databases.create(sql)).url, ...options });
  stops.push(() => graph.close());
  return graph;
}

/** What the headers, the method and the caller of a request have in common. */
interface Sent {
  readonly sub?: string;
  readonly tenantId?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const kinds = {
  'a pool': async () => openGraph(setup, { poolSize: 2, requestHeaders }),
  'a pool without prepared statements': async () => openGraph(setup, { poolSize: 2, prepare: false, requestHeaders }),
  PGlite: async () => {
    const started = await startPgliteGraph(setup, { requestHeaders });
    stops.push(started.stop);
    return started.graph;
  },
};

for (const [kind, start] of Object.entries(kinds)) {
  describe(`settings of requests on ${kind}`, () => {
    let send: (sent: Sent, body: unknown, method?: string) => Promise<unknown>;

    before(async () => {
      const handler = createFetchHandler(await start(), { jwtSecret: secret, maxBatch: 10 });
      const anonKey = await signKey(secret, 'anon');
      send = async ({ headers, ...claims }, body, method = 'POST') => {
        const token = await signKey(secret, 'authenticated', undefined, claims);
        const shared = { apiKey: anonKey, authorization: `Bearer ${token}`, cookie: 'session=1', ...headers };
        const url = 'http://api.example/graphql/v1';
        const request =
          method === 'GET'
            ? new Request(`${url}?query=${encodeURIComponent((body as { query: string }).query)}`, { headers: shared })
            : new Request(url, { method, headers: { 'content-type': 'application/json', ...shared }, body: JSON.stringify(body) });
        return (await handler(request)).json();
      };
    });

    const answerOf = (result: unknown, field: string): unknown => JSON.parse((result as { data: Record<string, string> }).data[field]!);
    const nobody = { headers: {}, method: 'POST', path: '/graphql/v1', sub: '', role: 'authenticated', tenant: '', origin: '' };

    test('of the headers only those that are listed, under names in lower case', async () => {
      const headers = { 'X-Share-Token': 'tök "en"\\', Origin: 'https://app.example', 'X-Other': 'x' };
      const ada = { sub: 'ada', tenantId: 7, headers };
      const expected = {
        ...nobody,
        headers: { origin: 'https://app.example', 'x-share-token': 'tök "en"\\' },
        sub: 'ada',
        tenant: '7',
        origin: 'https://app.example',
      };
      assert.deepEqual(answerOf(await send(ada, { query: '{ seen }' }), 'seen'), expected);
      assert.deepEqual(answerOf(await send(ada, { query: '{ seen }' }, 'GET'), 'seen'), { ...expected, method: 'GET' });
      assert.deepEqual(answerOf(await send(ada, { query: 'mutation { tell }' }), 'tell'), expected);
      assert.deepEqual(answerOf(await send({}, { query: '{ seen }' }), 'seen'), nobody);
    });

    test('claims are text, or JSON if they are anything else', async () => {
      for (const [tenantId, text] of [
        ['a', 'a'],
        [{ b: [1, 'c'] }, '{"b": [1, "c"]}'],
        [true, 'true'],
        [null, ''],
        ['', ''],
        ['a\0b', ''],
      ]) {
        const { tenant } = answerOf(await send({ tenantId }, { query: '{ seen }' }), 'seen') as { tenant: string };
        assert.equal(tenant, typeof text === 'string' && text.startsWith('{') ? JSON.stringify(JSON.parse(text)) : text);
      }
    });

    test('policies and defaults read them', async () => {
      const query = '{ noteCollection { edges { node { id } } } }';
      const idsOf = async (sent: Sent): Promise<unknown> => {
        const { data } = (await send(sent, { query })) as { data: { noteCollection: { edges: { node: { id: number } }[] } } };
        return data.noteCollection.edges.map(({ node }) => node.id);
      };
      assert.deepEqual(await idsOf({ sub: 'ada' }), [1]);
      assert.deepEqual(await idsOf({ sub: 'ada', headers: { 'x-share-token': 'for-ada' } }), [1, 3]);
      assert.deepEqual(await idsOf({ headers: { 'x-share-token': 'for-bob' } }), [1]);
      assert.deepEqual(await idsOf({}), []);
      const insert = 'mutation { insertIntonoteCollection(objects: [{id: 9}]) { records { owner } } }';
      assert.deepEqual(await send({ sub: 'eve' }, { query: insert }), {
        data: { insertIntonoteCollection: { records: [{ owner: 'eve' }] } },
      });
      const remove = 'mutation { deleteFromnoteCollection(filter: {id: {eq: 9}}) { affectedCount } }';
      assert.deepEqual(await send({ sub: 'eve' }, { query: remove }), { data: { deleteFromnoteCollection: { affectedCount: 1 } } });
    });

    test('callers who share connections see their own, in requests and batches', async () => {
      const users = Array.from({ length: 60 }, (_, index) => {
        const sub = index % 3 === 0 ? undefined : `user ${index}`;
        const headers: Record<string, string> = index % 4 === 0 ? {} : { 'x-share-token': `token ${index}` };
        return { sent: { ...(sub !== undefined && { sub }), headers }, sub: sub ?? '', headers };
      });
      const queries = ['{ seen }', 'mutation { tell }', '{ seen noteCollection { edges { node { id } } } }'];
      await Promise.all(
        users.map(async ({ sent, sub, headers }, index) => {
          const query = queries[index % queries.length]!;
          if (index % 7 === 0) await send(sent, { query: 'mutation { stick }' });
          const isBatch = index % 5 === 0;
          const body = { query };
          const result = await send(sent, isBatch ? [body, body] : body);
          for (const each of isBatch ? (result as unknown[]) : [result])
            assert.deepEqual(answerOf(each, query.includes('tell') ? 'tell' : 'seen'), { ...nobody, sub, headers });
        }),
      );
    });
  });
}

/** Reads a setting whose name nothing in the database spells out. */
const peek = `create function peek(a text, b text) returns text stable language sql as 'select current_setting(a || ''.'' || b, true)';`;
const peeked = '{ sub: peek(a: "request.jwt.claim", b: "sub") path: peek(a: "request", b: "path") }';
const caller = { role: 'anon', claims: { sub: 'ada' } };
const http = { method: 'POST', url: '/graphql/v1?a=b', headers: {} };

test('nothing is set unless it is read, listed, or both', async () => {
  const cases: readonly [string, readonly string[] | undefined, unknown][] = [
    ['', undefined, { sub: null, path: null }],
    ['', [], { sub: null, path: null }],
    ['', ['request.jwt.claim.sub'], { sub: 'ada', path: null }],
    ["create table t (id int primary key default length(current_setting('request.path')));", undefined, { sub: null, path: '/graphql/v1' }],
    ["create table t (id int primary key default length(current_setting('request.path')));", [], { sub: null, path: null }],
    [
      "create table t (id int primary key default length(current_setting('request.path')));",
      ['auto', 'request.jwt.claim.sub'],
      { sub: 'ada', path: '/graphql/v1' },
    ],
  ];
  for (const [sql, requestSettings, expected] of cases) {
    const graph = await openGraph(peek + sql, requestSettings === undefined ? {} : { requestSettings });
    assert.deepEqual(await graph.execute({ query: peeked }, caller, { http }), { data: expected }, `${sql} ${requestSettings}`);
  }
});

/** Each in a schema that is not exposed, as the functions of `auth` are. */
const readers: Readonly<Record<string, string>> = {
  'a function in SQL':
    "create function aside.f() returns text stable language sql as $$ select current_setting('request.jwt.claim.sub', true) $$;",
  'a function in PL/pgSQL':
    "create function aside.f() returns text stable language plpgsql as $$ begin return Current_Setting('request.jwt.claim.sub'); end $$;",
  'a function that was parsed':
    "create function aside.f() returns text stable language sql return current_setting('request.jwt.claim.sub', true);",
  'a helper for any setting': `create function aside.setting(name text) returns text stable language sql as 'select current_setting(name, true)';
    create policy p on aside.t using (aside.setting('request.jwt.claim.sub') = 'x');`,
  'a policy': "create policy p on aside.t for insert with check (current_setting('request.jwt.claim.sub', true) = 'x');",
  'a default': "alter table aside.t alter a set default current_setting('request.jwt.claim.sub', true);",
  'a view': "create view aside.v as select current_setting('request.jwt.claim.sub', true) as a;",
};

test('whatever reads a setting is found, in any schema', async () => {
  for (const [reader, sql] of Object.entries(readers)) {
    const graph = await openGraph(`create schema aside; create table aside.t (a text); ${peek} ${sql}`);
    assert.deepEqual(await graph.execute({ query: peeked }, caller, { http }), { data: { sub: 'ada', path: null } }, reader);
  }
});

test('what takes request.jwt.claims if the setting is empty does not need it', async () => {
  const uid = (claim: string): string => `create or replace function uid() returns text stable language sql as $$
    select coalesce(nullif(current_setting('request.jwt.claim.sub', true), ''),
      (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> '${claim}'))::text $$;`;
  const database =
    await databases.create(`${peek} ${uid('sub')} create table note (id int primary key); alter table note enable row level security;
    create policy own on note using (coalesce(nullif(current_setting('request.jwt.claim.sub', true), ''),
      nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub') = 'ada')`);
  const graph = await createRowgraph({ database: database.url });
  stops.push(() => graph.close());
  const query = `{ uid noteCollection { edges { node { id } } } ${peeked.slice(2)}`;
  const known = { uid: 'ada', noteCollection: { edges: [] }, path: null };
  assert.deepEqual(await graph.execute({ query }, caller, { http }), { data: { ...known, sub: null } });
  await database.run(uid('other'));
  await graph.reload();
  assert.deepEqual(await graph.execute({ query }, caller, { http }), { data: { ...known, sub: 'ada' } });
});

test('a policy that is created later is found, and what a caller of the library leaves out is empty', async () => {
  const database = await databases.create(`${peek} create table note (id int primary key); alter table note enable row level security;`);
  const graph = await createRowgraph({ database: database.url });
  stops.push(() => graph.close());
  assert.deepEqual(await graph.execute({ query: peeked }, caller, { http }), { data: { sub: null, path: null } });
  await database.run(`create policy own on note using (current_setting('request.path') = '/graphql/v1'
    and current_setting('request.headers')::json ->> 'origin' is null); insert into note values (1)`);
  await graph.reload();
  const query = '{ noteCollection { edges { node { id } } } }';
  const idsFor = async (head: typeof http | undefined): Promise<unknown> => graph.execute({ query }, caller, head && { http: head });
  assert.deepEqual(await idsFor(http), { data: { noteCollection: { edges: [{ node: { id: 1 } }] } } });
  assert.deepEqual(await idsFor({ ...http, headers: { Origin: 'https://app.example' } }), { data: { noteCollection: { edges: [] } } });
  assert.deepEqual(await idsFor(undefined), { data: { noteCollection: { edges: [] } } });
  await assert.rejects(graph.execute({ query }, caller, { http: 'POST' as never }), /^TypeError: The option "http" must be an object/);
});

test('a cache learns which headers a response depends on', async () => {
  const plain = await openGraph(peek);
  const dependent = await openGraph(setup, { requestHeaders });
  const varyOf = async (graph: Rowgraph): Promise<string | null> => {
    const handler = createFetchHandler(graph, { jwtSecret: secret, cacheControl: 'private, max-age=60' });
    const url = 'http://api.example/graphql/v1?query=%7B__typename%7D';
    return (await handler(new Request(url, { headers: { apiKey: await signKey(secret, 'anon') } }))).headers.get('vary');
  };
  assert.match((await varyOf(plain))!, /apiKey, Authorization/);
  assert.doesNotMatch((await varyOf(plain))!, /x-share-token/);
  assert.match((await varyOf(dependent))!, /apiKey, Authorization, x-share-token, origin/);
});

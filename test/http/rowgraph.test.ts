/** The server over the real thing: roles and claims of keys and tokens decide what the database shows, whatever fails in between. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { signKey } from '../../src/auth/sign-key.ts';
import { type RunningServer, startServer } from '../../src/http/transport/start-server.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';

const secret = 'a-secret-of-tests-with-more-than-32-bytes';
const setup = `${rolesSql} ${grantsSql}
  create role outsider nologin;
  create table note (id int primary key, owner text not null, body text not null);
  alter table note enable row level security;
  create policy own on note using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
  insert into note select n, 'user' || n % 3, 'note ' || n from generate_series(1, 30) n;
  create function whoami() returns text language sql stable as 'select current_user::text';
  create function fail(message text) returns text language plpgsql stable as $$ begin raise exception '%', message; end $$;
  create table big (id int primary key, text text not null);
  insert into big select n, repeat('text ' || n, 20) from generate_series(1, 200) n;
  comment on table big is '@graphql({"max_rows": 200})';
`;

let database: PGlite;
let graph: Rowgraph;
let server: RunningServer;
let anonKey: string;
const log: string[] = [];
before(async () => {
  database = await startPglite();
  await database.exec(setup);
  const telemetry = createTelemetry({ level: 'debug', destination: { write: (line) => void log.push(line) } });
  graph = await createRowgraph({ database, introspection: 'on', observe: telemetry.observe });
  server = await startServer({ graph, jwtSecret: secret, telemetry });
  anonKey = await signKey(secret, 'anon');
});
after(async () => {
  await server.close();
  await graph.close();
  await database.close();
});

interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

async function ask(
  body: { query: string; variables?: unknown; operationName?: string },
  { token, accept }: { token?: string; accept?: string } = {},
): Promise<{ response: Response; answer: Answer }> {
  const headers = {
    apiKey: anonKey,
    'content-type': 'application/json',
    ...(token && { authorization: `Bearer ${token}` }),
    ...(accept && { accept }),
  };
  const response = await fetch(`${server.url}/graphql/v1`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  assert.ok(!/\n {4}at |node_modules|\.ts:\d/.test(text), `a stack trace: ${text}`);
  return { response, answer: JSON.parse(text) as Answer };
}

const notes = '{ whoami noteCollection { edges { node { owner } } } }';

test('the token decides role and rows', async () => {
  const nobody = await ask({ query: notes });
  assert.deepEqual(nobody.answer, { data: { whoami: 'anon', noteCollection: { edges: [] } } });
  const token = await signKey(secret, 'authenticated', '1h', { sub: 'user1' });
  const { answer } = await ask({ query: notes }, { token });
  const { whoami, noteCollection } = answer.data as { whoami: string; noteCollection: { edges: { node: { owner: string } }[] } };
  assert.equal(whoami, 'authenticated');
  assert.equal(noteCollection.edges.length, 10);
  assert.ok(noteCollection.edges.every(({ node }) => node.owner === 'user1'));
});

test('callers never see the role, the claims or the rows of another, though every third request fails', async () => {
  const roles = ['anon', 'authenticated', 'service_role'];
  await Promise.all(
    Array.from({ length: 240 }, async (_, index) => {
      const role = roles[index % 3] as string;
      const sub = `user${index % 4}`;
      const token = await signKey(secret, role, undefined, { sub });
      if (index % 3 === 1) {
        const { answer } = await ask({ query: 'query ($m: String!) { fail(message: $m) }', variables: { m: `for ${index}` } }, { token });
        assert.equal(answer.errors?.[0]?.message, `for ${index}`);
      }
      const { answer } = await ask({ query: notes }, { token });
      const { whoami, noteCollection } = answer.data as { whoami: string; noteCollection: { edges: { node: { owner: string } }[] } };
      assert.equal(whoami, role);
      const owners = new Set(noteCollection.edges.map(({ node }) => node.owner));
      const expected = role === 'service_role' ? ['user0', 'user1', 'user2'] : index % 4 === 3 ? [] : [sub];
      assert.deepEqual([...owners].sort(), expected);
    }),
  );
});

for (const [name, role] of [
  ['does not exist', 'ghost'],
  ['has hostile text for a name', `anon'; drop table note; --`],
  ['is longer than a name can be', 'x'.repeat(100)],
] as const) {
  test(`a role that ${name} is a clear error`, async () => {
    for (const query of [notes, '{ __typename }', '{ __schema { queryType { name } } }']) {
      const { answer, response } = await ask({ query }, { token: await signKey(secret, role) });
      assert.ok(['UNAUTHENTICATED', 'PERMISSION_DENIED'].includes(answer.errors?.[0]?.extensions.code ?? ''), JSON.stringify(answer));
      assert.equal(answer.data ?? null, null);
      assert.ok([200, 401].includes(response.status));
    }
  });
}

const wrong: readonly [name: string, body: { query: string; variables?: unknown; operationName?: string }, code: string][] = [
  ['no GraphQL', { query: '{' }, 'GRAPHQL_PARSE_FAILED'],
  ['an empty document', { query: '' }, 'GRAPHQL_PARSE_FAILED'],
  ['an unknown field', { query: '{ nothing }' }, 'GRAPHQL_VALIDATION_FAILED'],
  ['an unknown operation', { query: 'query A { __typename }', operationName: 'B' }, 'OPERATION_RESOLUTION_FAILURE'],
  ['a variable of the wrong type', { query: 'query ($m: String!) { fail(message: $m) }', variables: { m: 1 } }, 'BAD_USER_INPUT'],
  ['a variable that is missing', { query: 'query ($m: String!) { fail(message: $m) }' }, 'BAD_USER_INPUT'],
  [
    'a variable named as in the prototype',
    { query: 'query ($constructor: String!) { fail(message: $constructor) }', variables: {} },
    'BAD_USER_INPUT',
  ],
];

for (const [name, body, code] of wrong) {
  test(`${name} is 200 as application/json and 400 as application/graphql-response+json`, async () => {
    for (const [accept, status] of [
      ['application/json', 200],
      ['application/graphql-response+json', 400],
    ] as const) {
      const { response, answer } = await ask(body, { accept });
      assert.equal(answer.errors?.[0]?.extensions.code, code, JSON.stringify(answer));
      assert.equal(response.status, status);
      assert.ok(!('data' in answer), 'a request error has no data');
    }
  });
}

test('an error of execution is 200 for both', async () => {
  for (const accept of ['application/json', 'application/graphql-response+json']) {
    const { response, answer } = await ask({ query: '{ fail(message: "no") }' }, { accept });
    assert.deepEqual([response.status, answer.errors?.[0]?.message, answer.errors?.[0]?.extensions.code], [200, 'no', 'RAISED']);
  }
});

test('variables that are nested deeply are refused or answered, never a defect', async () => {
  const query = 'query ($filter: noteFilter) { noteCollection(filter: $filter) { edges { node { id } } } }';
  const deep = (depth: number): string => `${'{"not":'.repeat(depth)}{"id":{"eq":1}}${'}'.repeat(depth)}`;
  for (const depth of [1, 10, 1000]) {
    const body = `{"query":${JSON.stringify(query)},"variables":{"filter":${deep(depth)}}}`;
    const headers = { apiKey: anonKey, 'content-type': 'application/json' };
    const response = await fetch(`${server.url}/graphql/v1`, { method: 'POST', headers, body });
    const answer = (await response.json()) as Answer;
    assert.notEqual(answer.errors?.[0]?.extensions.code, 'INTERNAL_ERROR', `${depth} deep`);
    assert.ok(response.status < 500);
  }
});

test('a large response is the same with and without compression', async () => {
  const query = '{ bigCollection(first: 200) { edges { node { id text } } } }';
  const answers = [];
  for (const encoding of ['identity', 'gzip', 'br']) {
    const headers = { apiKey: anonKey, 'content-type': 'application/json', 'accept-encoding': encoding };
    const response = await fetch(`${server.url}/graphql/v1`, { method: 'POST', headers, body: JSON.stringify({ query }) });
    assert.equal(response.headers.get('content-encoding'), encoding === 'identity' ? null : encoding);
    answers.push(await response.text());
  }
  assert.ok((answers[0]?.length ?? 0) > 20_000);
  assert.deepEqual(new Set(answers).size, 1);
});

test('the server is ready while the database answers', async () => {
  assert.equal((await fetch(`${server.url}/health/ready`)).status, 200);
});

test('nothing of all this was a defect', () => {
  assert.deepEqual(
    log.filter((line) => line.includes('defect')),
    [],
  );
});

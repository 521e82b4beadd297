/**
 * Nested writes that are made to harm, over HTTP on a PostgreSQL server: limits hold with their own codes, nothing is an internal error, what fails leaves
 * nothing behind, and writers of the same keys at the same time neither lose nor double anything.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { startServer } from '../../src/http/transport/start-server.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

const schema = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table node (id int primary key generated always as identity, name text not null default 'n', parent_id int references node);
  create table label (id int primary key generated always as identity, name text not null unique, uses int not null default 0);
  create table node_label (node_id int not null references node, label_id int not null references label, primary key (node_id, label_id));
  create table badge (node_id int primary key references node, words text);
`;
const empty =
  "truncate node, label, node_label, badge restart identity; insert into node (name) values ('root'), ('other'); insert into label (name) values ('a');";
const jwtSecret = 'a-secret-of-tests-with-more-than-32-bytes';

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string; readonly input?: string } }[];
}

let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;
let server: Awaited<ReturnType<typeof startServer>>;
const keys = { anon: await signKey(jwtSecret, 'anon'), service_role: await signKey(jwtSecret, 'service_role') };

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(schema + empty);
  // Deadlocks are many here.
  await database.run(`alter database ${database.name} set deadlock_timeout = '50ms'`);
  const installer = await createRowgraph({ database: database.url.replace('authenticator', 'postgres'), schemaTriggers: true });
  await installer.close();
  graph = await createRowgraph({ database: database.url, poolSize: 8, idempotencyKeyRoles: ['anon'] });
  const telemetry = createTelemetry({ level: 'silent', destination: { write: () => undefined } });
  server = await startServer({ graph, jwtSecret, telemetry });
});
after(async () => {
  await server.close();
  await graph.close();
  await databases.close();
});
afterEach(() => database.run(empty));

async function post(body: object | string, headers: Record<string, string> = {}, role: keyof typeof keys = 'anon'): Promise<Answer> {
  const response = await fetch(`${server.url}/graphql/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', apiKey: keys[role], ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  assert.ok(response.status < 500, `HTTP status ${response.status}`);
  const answer = (await response.json()) as Answer;
  assert.notEqual(codeOf(answer), 'INTERNAL_ERROR', answer.errors?.[0]?.message);
  return answer;
}

const codeOf = ({ errors }: Answer): string | null => errors?.[0]?.extensions.code ?? null;
const insertNodes = 'mutation ($objects: [NodeInsertInput!]!) { insertIntoNodeCollection(objects: $objects) { affectedCount } }';
const updateNode = (set: string, id = 1): object => ({
  query: `mutation { updateNodeCollection(set: ${set}, filter: {id: {eq: ${id}}}) { affectedCount } }`,
});

const countOf = async (table: string): Promise<number> => Number((await database.run(`select count(*) as n from ${table}`))[0]!.n);

/** Objects inside each other, so many in all, as text: they are too deep for `JSON.stringify`. */
const directions = {
  below: (levels: number) => `${'{"nodeCollection":{"create":['.repeat(levels - 1)}{"name":"leaf"}${']}}'.repeat(levels - 1)}`,
  above: (levels: number) => `${'{"parent":{"create":'.repeat(levels - 1)}{"name":"top"}${'}}'.repeat(levels - 1)}`,
};

for (const [name, nest] of Object.entries(directions)) {
  const inVariable = (levels: number): string => `{"query":"${insertNodes}","variables":{"objects":[${nest(levels)}]}}`;
  const inDocument = (levels: number): object => ({
    query: `mutation { insertIntoNodeCollection(objects: [${nest(levels).replace(/"(\w+)":/g, '$1:')}]) { affectedCount } }`,
  });

  test(`rows ${name} each other, as deep as may be`, async () => {
    assert.equal(codeOf(await post(inVariable(15))), null);
    assert.equal(codeOf(await post(inDocument(15))), null);
    for (const levels of [200, 3_000]) {
      assert.equal(codeOf(await post(inVariable(levels))), 'TOO_DEEP');
      assert.equal(codeOf(await post(inDocument(levels))), 'TOO_DEEP');
    }
    assert.equal(await countOf('node'), 32);
  });

  test(`a role without limits is told how deep rows may be ${name} each other`, async () => {
    for (const levels of [100, 1_000, 20_000]) {
      for (const body of [inVariable(levels), inDocument(levels)]) {
        const answer = await post(body, {}, 'service_role');
        assert.equal((await countOf('node')) - 2, answer.errors ? 0 : levels, codeOf(answer) ?? '');
        await database.run(empty);
      }
    }
  });
}

test('100,000 nested objects', async () => {
  const objects = [{ nodeCollection: { create: Array.from({ length: 100_000 }, () => ({})) } }];
  assert.equal(codeOf(await post({ query: insertNodes, variables: { objects } })), 'TOO_MANY_ELEMENTS');
  const wide = Array.from({ length: 300 }, () => ({ nodeCollection: { create: Array.from({ length: 300 }, () => ({})) } }));
  assert.equal(codeOf(await post({ query: insertNodes, variables: { objects: wide } })), 'TOO_MANY_ELEMENTS');
  const keysOfNone = [{ nodeCollection: { connect: Array.from({ length: 20_000 }, (_, id) => ({ id })) } }];
  assert.equal(codeOf(await post({ query: insertNodes, variables: { objects: keysOfNone } })), 'TOO_MANY_ELEMENTS');
  assert.equal(await countOf('node'), 2);
});

test('objects without limits are written, or refused for the number of their parameters', async () => {
  const objects = [{ nodeCollection: { create: Array.from({ length: 70_000 }, (_, number) => ({ name: `${number}` })) } }];
  const answer = await post({ query: insertNodes, variables: { objects } }, {}, 'service_role');
  assert.ok([null, 'QUERY_TOO_COMPLEX', 'INPUT_TOO_LARGE', 'PAYLOAD_TOO_LARGE'].includes(codeOf(answer)), codeOf(answer) ?? '');
  assert.equal(await countOf('node'), answer.errors ? 2 : 70_003);
});

test('1,000 rows with 9 below each', async () => {
  const objects = Array.from({ length: 900 }, (_, parent) => ({
    name: `p${parent}`,
    nodeCollection: { create: Array.from({ length: 9 }, (_, child) => ({ name: `p${parent}c${child}` })) },
  }));
  assert.deepEqual(await post({ query: insertNodes, variables: { objects } }), {
    data: { insertIntoNodeCollection: { affectedCount: 900 } },
  });
  const [wrong] = await database.run(
    `select count(*) filter (where c.name not like p.name || 'c%')::int as mixed, count(*)::int as children from node c join node p on p.id = c.parent_id`,
  );
  assert.deepEqual(wrong, { mixed: 0, children: 8_100 });
});

test('as many aliases as may be, each with rows of its own', async () => {
  const fields = Array.from(
    { length: 80 },
    (_, number) =>
      `a${number}: insertIntoNodeCollection(objects: [{nodeCollection: {create: [{name: "${number}"}]}, parent: {connect: {id: 1}}}]) { affectedCount }`,
  );
  assert.equal(codeOf(await post({ query: `mutation { ${fields.join(' ')} }` })), null);
  assert.equal(await countOf('node'), 162);
  const more = Array.from({ length: 3 }, (_, turn) => fields.join(' ').replace(/\ba(\d)/g, `b${turn}$1`));
  assert.equal(codeOf(await post({ query: `mutation { ${more.slice(0, 2).join(' ')} }` })), 'TOO_MANY_SUBQUERIES');
  assert.equal(codeOf(await post({ query: `mutation { ${more.join(' ')} }` })), 'TOO_MANY_ROOT_FIELDS');
});

test('a row that would be its own child or parent', async () => {
  for (const set of ['{nodeCollection: {connect: [{id: 1}]}}', '{parent: {connect: {id: 1}}}', '{nodeCollection: {set: [{id: 1}]}}']) {
    const answer = await post(updateNode(set));
    assert.deepEqual(answer, { data: { updateNodeCollection: { affectedCount: 1 } } });
    assert.deepEqual(await database.run('select parent_id from node where id = 1'), [{ parent_id: 1 }]);
    await database.run('update node set parent_id = null');
  }
});

test('a key that the request itself will make is not there yet', async () => {
  const next = { parent: { connect: { id: 3 } } };
  assert.ok(codeOf(await post({ query: insertNodes, variables: { objects: [next] } })) !== null);
  assert.equal(await countOf('node'), 2);
});

test('the same row connected twice by one row is connected once', async () => {
  const answer = await post(updateNode('{nodeCollection: {connect: [{id: 2}, {id: 2}]}}'));
  if (!answer.errors) assert.deepEqual(await database.run('select parent_id from node where id = 2'), [{ parent_id: 1 }]);
});

test('by two rows: one of them has it, or the request is refused', async () => {
  const objects = [{ nodeCollection: { connect: [{ id: 2 }] } }, { nodeCollection: { connect: [{ id: 2 }] } }];
  const answer = await post({ query: insertNodes, variables: { objects } });
  const [other] = await database.run('select parent_id from node where id = 2');
  if (answer.errors) assert.deepEqual([other!.parent_id, await countOf('node')], [null, 2]);
  else assert.ok(other!.parent_id !== null);
});

test('connected and deleted in one', async () => {
  await database.run('update node set parent_id = 1 where id = 2');
  const answer = await post(updateNode('{nodeCollection: {delete: {}, connect: [{id: 2}]}}'));
  assert.ok(answer.errors, 'the row is deleted before it would be connected');
  assert.equal(await countOf('node'), 2);
});

test('disconnected and connected in one: it stays', async () => {
  await database.run('update node set parent_id = 1 where id = 2');
  assert.deepEqual(await post(updateNode('{nodeCollection: {disconnect: {}, connect: [{id: 2}]}}')), {
    data: { updateNodeCollection: { affectedCount: 1 } },
  });
  assert.deepEqual(await database.run('select parent_id from node where id = 2'), [{ parent_id: 1 }]);
});

test('the row that is updated deletes itself', async () => {
  await database.run('update node set parent_id = 1 where id = 1');
  const answer = await post(updateNode('{parent: {delete: true}}'));
  assert.equal(await countOf('node'), answer.errors ? 2 : 1);
});

test('a nested update of the row itself', async () => {
  await database.run('update node set parent_id = 1 where id = 1');
  assert.equal(codeOf(await post(updateNode('{name: "outer", nodeCollection: {update: [{set: {name: "inner"}}]}}'))), null);
  assert.deepEqual(await database.run('select name from node where id = 1'), [{ name: 'inner' }]);
});

test('a mutation with a key runs once', async () => {
  const body = {
    query: insertNodes,
    variables: { objects: [{ name: 'once', nodeCollection: { create: [{}, {}] }, parent: { create: {} } }] },
  };
  const answers = [];
  for (let turn = 0; turn < 3; turn += 1) answers.push(await post(body, { 'idempotency-key': 'nested-1' }));
  for (const answer of answers) assert.deepEqual(answer, { data: { insertIntoNodeCollection: { affectedCount: 1 } } });
  assert.equal(await countOf('node'), 6);
  const together = await Promise.all(Array.from({ length: 10 }, () => post(body, { 'idempotency-key': 'nested-2' })));
  assert.equal(await countOf('node'), 10);
  assert.ok(together.some((answer) => codeOf(answer) === null));
});

const labelled = (name: string, labels: readonly string[]): object => ({
  query: insertNodes,
  variables: {
    objects: [
      {
        name,
        nodeLabelCollection: {
          create: labels.map((label) => ({
            label: {
              connectOrCreate: {
                create: { name: label },
                onConflict: { constraint: 'label_name_key', updateColumns: [], increment: { uses: 1 } },
              },
            },
          })),
        },
      },
    ],
  },
});

test('50 at once upsert the same rows: each is there once, and every write counts', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, number) => post(labelled(`n${number}`, ['x', 'y', 'z']))));
  assert.deepEqual([...new Set(answers.map(codeOf))], [null]);
  assert.deepEqual(
    await database.run(`select name, uses from label where name <> 'a' order by name`),
    ['x', 'y', 'z'].map((name) => ({ name, uses: 49 })),
  );
  assert.equal(await countOf('node_label'), 150);
});

test('in orders that meet: deadlocks end as conflicts that leave nothing, or are tried again', async () => {
  const orders = [
    ['x', 'y', 'z'],
    ['z', 'y', 'x'],
    ['y', 'x', 'z'],
  ];
  const apart = (names: readonly string[], number: number): object => ({
    query: `mutation { ${names.map((name, at) => `a${at}: insertIntoLabelCollection(objects: [{name: "${name}", nodeLabelCollection: {create: [{node: {create: {name: "d${number}"}}}]}}], onConflict: {constraint: label_name_key, updateColumns: [], increment: {uses: 1}}) { affectedCount }`).join(' ')} }`,
  });
  const answers = await Promise.all(Array.from({ length: 24 }, (_, number) => post(apart(orders[number % 3]!, number))));
  for (const answer of answers) assert.ok([null, 'CONFLICT'].includes(codeOf(answer)), JSON.stringify(answer));
  const written = answers.filter(({ errors }) => !errors).length;
  assert.deepEqual([(await countOf('node')) - 2, await countOf('node_label')], [3 * written, 3 * written]);
  assert.deepEqual((await database.run(`select sum(uses + 1)::int as n from label where name <> 'a'`))[0], { n: 3 * written });
});

test('what fails in the last row of the last level leaves nothing', async () => {
  const objects = [
    {
      nodeCollection: { create: [{ nodeLabelCollection: { create: [{ label: { create: { name: 'new' } } }, { labelId: 999 }] } }] },
      badge: { create: {} },
    },
  ];
  assert.equal(codeOf(await post({ query: insertNodes, variables: { objects } })), 'CONSTRAINT_VIOLATION');
  assert.deepEqual([await countOf('node'), await countOf('label'), await countOf('badge')], [2, 1, 0]);
});

test('texts that look like SQL, settings and templates are texts', async () => {
  const names = [
    "'; drop table node; --",
    '$1',
    '%I',
    '\\',
    '"',
    '{"a": [null]}',
    '{{name}}',
    '\u2028',
    "set_config('role', 'postgres', true)",
  ];
  const objects = names.map((name) => ({ name, nodeLabelCollection: { create: [{ label: { create: { name } } }] } }));
  assert.equal(codeOf(await post({ query: insertNodes, variables: { objects } })), null);
  const rows = await database.run(
    'select n.name, l.name as label from node n join node_label on node_id = n.id join label l on l.id = label_id order by n.id',
  );
  assert.deepEqual(
    rows,
    names.map((name) => ({ name, label: name })),
  );
});

test('a character that PostgreSQL does not hold is refused', async () => {
  assert.ok(
    codeOf(await post({ query: insertNodes, variables: { objects: [{ nodeCollection: { create: [{ name: 'a\u0000b' }] } }] } })) !== null,
  );
  assert.equal(await countOf('node'), 2);
});

test('values that are no objects', async () => {
  for (const value of [
    1,
    'x',
    true,
    [],
    [[]],
    [null],
    { create: 1 },
    { create: [1] },
    { create: [[{}]] },
    { connect: { id: {} } },
    { __proto__: {} },
    { constructor: {} },
  ]) {
    const variables = { objects: [{ nodeCollection: value }] };
    const answer = await post({ query: insertNodes, variables });
    if (JSON.stringify(value) !== '{}') assert.ok(answer.errors, JSON.stringify(value));
  }
  assert.ok((await countOf('node')) <= 3);
});

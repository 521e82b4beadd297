/** A database whose own names are hostile: schemas, tables, columns, keys, enum labels, functions, roles. All of it can be used, and nothing runs. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { leaksOf, marker } from './hostile-texts.ts';

/** Names of at most 63 bytes. */
const hostileNames: readonly string[] = [
  `${marker}"; drop table canary; --`,
  `${marker}'; drop table canary; --`,
  `${marker}\\'; drop table canary; --`,
  `${marker}\\`,
  `${marker}\n; drop table canary; --`,
  `${marker}*/ drop table canary; /*`,
  `--${marker}`,
  `${marker}$$; drop table canary; $$`,
  `$1 ${marker} :x %s %I \${1}`,
  `${marker}.canary`,
  `{"${marker}": [',\`]}`,
  `t1 ${marker} (number) (row)`,
  `\t${marker}\u00e9\u{1f600}\u2028`,
  '(number)',
  '(row)',
  '1',
];

const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => ` E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('\n', '\\n')}'`;
const directive = (fields: object): string => literal(`@graphql(${JSON.stringify(fields)})`);

/** Everything of one name, in a schema of that name, under names that GraphQL can carry. */
function setupOf(name: string, index: number): string {
  const own = identifier(name);
  const [table, child] = [`${own}.${own}`, `${own}.${identifier(`c${name}`.slice(0, 40))}`];
  return `
    create schema ${own};
    comment on schema ${own} is ${directive({ introspection: true })};
    grant usage on schema ${own} to service_role;
    create type ${own}.${identifier(`e${name}`.slice(0, 40))} as enum (${literal(name)}, 'plain');
    comment on type ${own}.${identifier(`e${name}`.slice(0, 40))} is ${directive({ name: `Kind${index}`, mappings: { [name]: 'HOSTILE' } })};
    create table ${table} (${own} text primary key, kind ${own}.${identifier(`e${name}`.slice(0, 40))}, number int);
    comment on table ${table} is ${directive({ name: `Parent${index}`, totalCount: { enabled: true }, aggregate: { enabled: true } })};
    comment on column ${table}.${own} is ${directive({ name: 'key' })};
    create table ${child} (id int primary key, ${own} text, constraint ${own} foreign key (${own}) references ${table});
    comment on table ${child} is ${directive({ name: `Child${index}` })};
    comment on column ${child}.${own} is ${directive({ name: 'parentKey' })};
    comment on constraint ${own} on ${child} is ${directive({ foreign_name: 'parent', local_name: 'children' })};
    create function ${own}.${identifier(`f${name}`.slice(0, 40))}(${table}) returns text stable language sql as 'select kind::text from (select $1.*) x';
    comment on function ${own}.${identifier(`f${name}`.slice(0, 40))} is ${directive({ name: 'computed' })};
    create function ${own}.${identifier(`g${name}`.slice(0, 40))}(x text) returns text stable language sql as 'select x';
    comment on function ${own}.${identifier(`g${name}`.slice(0, 40))} is ${directive({ name: `echo${index}` })};
    grant all on all tables in schema ${own} to service_role;
  `;
}

let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(`create table canary (id int primary key); ${hostileNames.map(setupOf).join('\n')}`);
  graph = await createRowgraph({ database: database.url, schemas: ['public', ...hostileNames] });
});
after(async () => {
  await graph.close();
  await databases.close();
});

async function run(query: string, variables: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const { data, errors } = await graph.execute({ query, variables }, { role: 'service_role' });
  assert.deepEqual(errors, undefined, query);
  return JSON.parse(JSON.stringify(data));
}

for (const [index, name] of hostileNames.entries()) {
  test(`a schema with everything named ${JSON.stringify(name)}`, async () => {
    const inserted = await run(
      `mutation ($p: [Parent${index}InsertInput!]!, $c: [Child${index}InsertInput!]!) {
        insertIntoParent${index}Collection(objects: $p) { records { key kind number } }
        insertIntoChild${index}Collection(objects: $c) { records { id parentKey parent { key } } }
      }`,
      {
        p: [
          { key: name, kind: 'HOSTILE', number: 1 },
          { key: 'b', kind: 'plain', number: 2 },
          { key: 'c', number: 3 },
        ],
        c: [
          { id: 1, parentKey: name },
          { id: 2, parentKey: name },
        ],
      },
    );
    assert.deepEqual(inserted, {
      [`insertIntoParent${index}Collection`]: {
        records: [
          { key: name, kind: 'HOSTILE', number: 1 },
          { key: 'b', kind: 'plain', number: 2 },
          { key: 'c', kind: null, number: 3 },
        ],
      },
      [`insertIntoChild${index}Collection`]: { records: [1, 2].map((id) => ({ id, parentKey: name, parent: { key: name } })) },
    });
    const page = `query ($f: Parent${index}Filter, $o: [Parent${index}OrderBy!], $after: Cursor) {
      page: parent${index}Collection(filter: $f, orderBy: $o, first: 1, after: $after) {
        totalCount aggregate { count max { key } } pageInfo { hasNextPage endCursor }
        edges { cursor node { nodeId key kind computed children(orderBy: [{id: DescNullsLast}]) { edges { node { id } } } } }
      }
      echo${index}(x: "${index}")
    }`;
    const variables = {
      f: { key: { in: [name, 'b'] }, not: { key: { eq: 'c' } } },
      o: [{ kind: 'AscNullsFirst' }, { key: 'DescNullsLast' }],
    };
    const first = (await run(page, variables)) as { page: { edges: { cursor: string; node: { nodeId: string } }[] } };
    const [edge] = first.page.edges;
    assert.deepEqual(first, {
      page: {
        totalCount: 2,
        aggregate: { count: 2, max: { key: [name, 'b'].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).at(-1) } },
        pageInfo: { hasNextPage: true, endCursor: edge?.cursor },
        edges: [
          {
            cursor: edge?.cursor,
            node: {
              nodeId: edge?.node.nodeId,
              key: name,
              kind: 'HOSTILE',
              computed: name,
              children: { edges: [{ node: { id: 2 } }, { node: { id: 1 } }] },
            },
          },
        ],
      },
      [`echo${index}`]: String(index),
    });
    const second = (await run(page, { ...variables, after: edge?.cursor })) as { page: { edges: { node: { key: string } }[] } };
    assert.deepEqual(
      second.page.edges.map(({ node }) => node.key),
      ['b'],
    );
    const node = await run(
      `query ($n: ID!) { node(nodeId: $n) { __typename ... on Parent${index} { key kind } } parent${index}Collection(filter: {kind: {eq: HOSTILE}}) { totalCount } }`,
      {
        n: edge?.node.nodeId,
      },
    );
    assert.deepEqual(node, {
      node: { __typename: `Parent${index}`, key: name, kind: 'HOSTILE' },
      [`parent${index}Collection`]: { totalCount: 1 },
    });
    const changed = await run(
      `mutation ($k: String!) {
        updateParent${index}Collection(set: {kind: HOSTILE, number: 5}, filter: {key: {eq: "b"}}) { records { key kind } }
        deleteFromChild${index}Collection(filter: {parentKey: {eq: $k}}, atMost: 2) { affectedCount }
      }`,
      { k: name },
    );
    assert.deepEqual(changed, {
      [`updateParent${index}Collection`]: { records: [{ key: 'b', kind: 'HOSTILE' }] },
      [`deleteFromChild${index}Collection`]: { affectedCount: 2 },
    });
  });
}

test('a constraint of a hostile name is told by it', async () => {
  const query = 'mutation ($k: String!) { insertIntoChild0Collection(objects: [{id: 9, parentKey: $k}]) { affectedCount } }';
  const { errors } = await graph.execute({ query, variables: { k: 'nobody' } }, { role: 'service_role' });
  assert.equal(errors?.[0]?.extensions.constraint, hostileNames[0]);
  assert.deepEqual(leaksOf(errors, hostileNames[0]!), []);
});

test('introspection tells of them in a valid schema', async () => {
  const schema = buildClientSchema((await run(getIntrospectionQuery())) as unknown as IntrospectionQuery);
  assert.equal(Object.keys(schema.getTypeMap()).filter((name) => /^(Parent|Child)\d+$/.test(name)).length, 2 * hostileNames.length);
});

test('what has no name for GraphQL is left out, without a word of SQL', async () => {
  await database.run(
    hostileNames
      .map((name) => `create table ${identifier(`u${name}`.slice(0, 40))} (id int primary key, ${identifier(name)} text)`)
      .join(';'),
  );
  await database.run(
    `create table fine (id int primary key); create type plain as enum ('plain', ${hostileNames.map((name) => literal(name)).join()})`,
  );
  await database.run('alter table fine add column kind plain');
  await graph.reload();
  await run('mutation ($o: [fineInsertInput!]!) { insertIntofineCollection(objects: $o) { affectedCount } }', {
    o: hostileNames.map((kind, id) => ({ id, kind })),
  });
  const found = await run('{ fineCollection { edges { node { kind } } } }');
  assert.deepEqual(found, { fineCollection: { edges: hostileNames.map((kind) => ({ node: { kind } })) } });
});

test('roles of hostile names are roles like others', async () => {
  for (const name of hostileNames) {
    await database.run(
      `create role ${identifier(name)}; grant ${identifier(name)} to authenticator; grant usage on schema public to ${identifier(name)}`,
    );
    await database.run('create or replace function who() returns text stable language sql as $$ select current_user::text $$');
    const { data, errors } = await graph.execute({ query: '{ who }' }, { role: name });
    assert.deepEqual([data, errors], [{ who: name }, undefined]);
  }
});

test('nothing has run', async () => {
  assert.deepEqual(await database.run(`select to_regclass('public.canary') is not null as exists`), [{ exists: true }]);
});

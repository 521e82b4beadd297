/** Names that additions would take stay with the tables, columns and enums that have them: the schema is a superset of pg_graphql's, whatever they are called. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildSchema, findBreakingChanges, findDangerousChanges, type GraphQLSchema, validateSchema } from 'graphql';
import { type AdditionName, createRowgraph, type RowgraphOptions } from '../../src/index.ts';
import { additionSuffixes } from '../../src/model/naming/graphql-names.ts';
import { additionNames } from '../../src/settings/additions.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

const columnsOfItem = [
  ...[
    'some',
    'every',
    'none',
    'count',
    'where',
    'is',
    'and',
    'or',
    'not',
    'groups',
    'aggregate',
    'edges',
    'increment',
    'onConflict',
    'set',
    'filter',
  ],
  ...[
    'atMost',
    'create',
    'connect',
    'connectOrCreate',
    'disconnect',
    'delete',
    'update',
    'bucket',
    'fraction',
    'sum',
    'avg',
    'min',
    'max',
    'key',
  ],
  ...['objects', 'first', 'percentile', 'countDistinct', 'updateColumns', 'constraint', 'records', 'affectedCount', 'query', 'orderBy'],
];
const suffixes = Object.keys(additionSuffixes);
/** Half of the names of types are tables', half are enums'. */
const takers = ['item', 'part', 'log'].flatMap((stem) =>
  suffixes.map((suffix, number) =>
    number % 2 === 0
      ? `create table "${stem}${suffix}" (id int primary key, n int);`
      : `create type "${stem}${suffix}" as enum ('a'); create table "use of ${stem}${suffix}" (id int primary key, e "${stem}${suffix}");
         comment on table "use of ${stem}${suffix}" is '@graphql({"name": "uses_${stem}${suffix}"})';`,
  ),
);

const schemaSql = `
create table author (id int primary key, name text);
create table item (id int primary key, author_id int references author, author text, ${columnsOfItem.map((name) => `"${name}" int`).join(', ')});
create table part (id int primary key, item_id int references item, item int, "itemCollection" int, label text unique, amount numeric);
create table plain (id text primary key, author_id int references author, at date);
create table log (line text);
create table query (id int primary key, query text);
create function log(author) returns setof log stable language sql as 'select * from log';
${['item', 'part', 'plain'].map((table) => `comment on table ${table} is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';`).join('\n')}
${takers.join('\n')}
create table "plainIncrementInput" (id int primary key); create table "plainGroupByBucket" (id int primary key);
create table "X_constraint" (id int primary key, v int unique);
create table "GroupByValue" (id int primary key); create type "GroupByTime" as enum ('x'); create table timed (id int primary key, e "GroupByTime");
insert into author values (1, 'Ada');
insert into item (id, author_id, "some", "count", "is", "sum") values (1, 1, 3, 4, 0, 7), (2, null, 4, 5, 1, 8);
insert into part (id, item_id, item, label) values (1, 1, 7, 'a'), (2, 1, 8, 'b'), (3, 2, 9, 'c');
`;

let database: TestGraph;
let reference: GraphQLSchema;
before(async () => {
  database = await startTestGraph(schemaSql);
  reference = buildSchema(await sdlOf({ dialect: 'pg_graphql' }));
});
after(() => database.stop());

const choices: readonly { readonly name: string; readonly options: Pick<RowgraphOptions, 'additions' | 'dialect'> }[] = [
  { name: 'all additions', options: {} },
  { name: 'none', options: { additions: [] } },
  ...additionNames.map((name: AdditionName) => ({ name: `the addition ${name} alone`, options: { additions: [name] } })),
];

test("pg_graphql's schema is valid", () => assert.deepEqual(validateSchema(reference), []));

for (const { name, options } of choices) {
  test(`with ${name}, the schema is valid, and has all that pg_graphql's has`, async () => {
    const schema = buildSchema(await sdlOf(options));
    assert.deepEqual(validateSchema(schema), []);
    assert.deepEqual(findBreakingChanges(reference, schema), []);
    const changes = findDangerousChanges(reference, schema).filter(({ type }) => !/^OPTIONAL_/.test(type));
    assert.deepEqual(changes, []);
  });
}

async function sdlOf(options: Pick<RowgraphOptions, 'additions' | 'dialect'>): Promise<string> {
  const graph = await createRowgraph({ ...options, database: database.database.url });
  try {
    return await graph.sdl({ role: 'service_role' });
  } finally {
    await graph.close();
  }
}

/** Columns with the names of members mean the columns; where they do not, the members. */
const requests: readonly (readonly [query: string, data: unknown])[] = [
  [
    'mutation { insertIntoqueryCollection(objects: [{id: 1, query: "x"}]) { records { query } query { queryCollection { edges { node { query } } } } } }',
    { insertIntoqueryCollection: { records: [{ query: 'x' }], query: { queryCollection: { edges: [{ node: { query: 'x' } }] } } } },
  ],
  ['{ itemCollection(filter: {some: {eq: 3}, count: {eq: 4}, is: {eq: 0}}) { totalCount } }', { itemCollection: { totalCount: 1 } }],
  [
    '{ itemCollection(filter: {partCollection: {some: {id: {eq: 1}}, count: {gt: 1}}}) { totalCount } }',
    { itemCollection: { totalCount: 1 } },
  ],
  ['{ partCollection(filter: {item: {eq: 7}}) { totalCount } }', { partCollection: { totalCount: 1 } }],
  [
    '{ authorCollection(filter: {itemCollection: {some: {some: {eq: 3}}, count: {eq: 1}, where: {count: {eq: 4}}}}) { edges { node { id } } } }',
    { authorCollection: { edges: [{ node: { id: 1 } }] } },
  ],
  [
    '{ itemCollection(orderBy: [{partCollection: {count: AscNullsLast}}, {sum: AscNullsLast}]) { edges { node { sum } } } }',
    { itemCollection: { edges: [{ node: { sum: 8 } }, { node: { sum: 7 } }] } },
  ],
  [
    '{ itemCollection { aggregate { sum { sum count } } groups(by: [{count: VALUE}], having: {sum: {sum: {gt: "7"}}}) { key { count } count sum { sum } } } }',
    { itemCollection: { aggregate: { sum: { sum: '15', count: '9' } }, groups: [{ key: { count: 5 }, count: 1, sum: { sum: '8' } }] } },
  ],
  [
    'mutation { updateitemCollection(set: {increment: 3, set: 4}, increment: {count: 1}, filter: {id: {eq: 1}}) { records { increment set count } } }',
    { updateitemCollection: { records: [{ increment: 3, set: 4, count: 5 }] } },
  ],
  [
    'mutation { insertIntoitemCollection(objects: [{id: 1, onConflict: 4, create: 5}], onConflict: {constraint: item_pkey, updateColumns: [onConflict, create]}) { records { onConflict create } } }',
    { insertIntoitemCollection: { records: [{ onConflict: 4, create: 5 }] } },
  ],
  [
    'mutation { insertIntoitemCollection(objects: [{id: 5, update: 6, partCollection: {create: [{id: 9, item: 3}]}}]) { records { update partCollection { edges { node { itemColumn } } } } } }',
    { insertIntoitemCollection: { records: [{ update: 6, partCollection: { edges: [{ node: { itemColumn: 3 } }] } }] } },
  ],
];

for (const [query, data] of requests) {
  test(`names of columns mean columns: ${query.slice(0, 70)}`, async () => assert.deepEqual(await database.ask(query), data));
}

test('the doctor tells what gave way', async () => {
  const { findings } = await database.graph.doctor({ role: 'service_role' });
  const told = findings
    .filter(({ code }) => code === 'addition-gave-way')
    .map(({ object, name, message }) => `${object} ${name}: ${message}`);
  for (const expected of [
    /^table public\.item: filters, orders and nested writes have no member for the relation author/,
    /^table public\.part: filters, orders and nested writes have no member for the relation item/,
    /^table public\.item: rows cannot be grouped by ranges of numbers/,
    /^table public\.item: .* percentiles of its field "fraction"/,
    /^table public\.GroupByValue: /,
    /^enum public\.GroupByTime: /,
  ]) {
    assert.ok(
      told.some((line) => expected.test(line)),
      `${expected} is not in ${told.join('\n')}`,
    );
  }
  const renamed = findings.find(({ code, name }) => code === 'name-changed' && name === 'public.item');
  assert.match(renamed!.message, /itemFilterToMany.*itemOnConflictInput/);
});

test('a directive that switches additions of tables off leaves their names to others', async () => {
  const off = JSON.stringify({ additions: Object.fromEntries(additionNames.map((name) => [name, false])) });
  await database.database.run(`comment on table author is '@graphql(${off})'; comment on table part is '@graphql(${off})'`);
  assert.deepEqual(validateSchema(buildSchema(await sdlOf({}))), []);
});

/** Each addition can be switched by a setting, and by the comments of schemas and tables: then its members are there, or not, and those of the others are. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildSchema, type GraphQLField, type GraphQLInputField, type GraphQLNamedType, type GraphQLSchema } from 'graphql';
import { readConfiguration } from '../../src/cli/config.ts';
import { type AdditionName, createRowgraph, type Rowgraph, type RowgraphOptions } from '../../src/index.ts';
import { additionNames as allNames } from '../../src/settings/additions.ts';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

const schemaSql = `
create domain warmth as int;
create type mood as enum ('calm', 'wild');
create type spot as (x int, y int);
create function lengths() returns setof int stable language sql as 'select 1';
create table pond (id int primary key, code uuid unique, depth int);
create table frog (id int primary key, pond_id int references pond, age int, "leg-length" int, number serial, warm warmth, moods mood[], took interval, spot point, awake int4range, details jsonb, words tsvector, badge int unique, at spot, parent_id int references frog);
create table spawn (id int primary key); revoke all on spawn from service_role; grant insert on spawn to service_role;
create view wet_frog as select id, pond_id from frog;`;

type SchemaOptions = Pick<RowgraphOptions, 'additions' | 'dialect'>;

let database: TestGraph;
before(async () => {
  database = await startTestGraph(schemaSql);
});
after(() => database.stop());

/** This server has no PostGIS: `geometry.yaml` has that addition. */
type ShownName = Exclude<AdditionName, 'geometry'>;
const additionNames = allNames.filter((name): name is ShownName => name !== 'geometry');

/** What shows that the table frog, or the view of it, has an addition. */
const signs: Readonly<Record<ShownName, (schema: GraphQLSchema, graph: Rowgraph) => unknown>> = {
  relationFilters: (schema) => memberOf(schema, 'frogFilter', 'pond'),
  relationOrder: (schema) => memberOf(schema, 'frogOrderBy', 'pond'),
  increment: (schema) => argumentOf(schema, 'updatefrogCollection', 'increment'),
  moreAggregates: (schema) => memberOf(schema, 'frogAggregate', 'countDistinct'),
  groups: (schema) => memberOf(schema, 'frogConnection', 'groups'),
  serialInputs: (schema) => memberOf(schema, 'frogInsertInput', 'number'),
  insertOnly: (schema) => schema.getMutationType()!.getFields().insertIntospawnCollection,
  onConflict: (schema) => argumentOf(schema, 'insertIntofrogCollection', 'onConflict'),
  nestedWrites: (schema) => memberOf(schema, 'frogInsertInput', 'pond') && memberOf(schema, 'frogUpdateInput', 'pond'),
  writtenEdges: (schema) => memberOf(schema, 'frogInsertResponse', 'edges'),
  queryInResponses: (schema) => memberOf(schema, 'frogDeleteResponse', 'query'),
  filterGuard: (_schema, graph) =>
    hasErrors(graph, 'mutation($age: Int) { deleteFromfrogCollection(filter: {age: {eq: $age}}) { affectedCount } }'),
  distinctOn: (schema) => schema.getType('frogDistinctColumn'),
  estimatedCounts: (schema) => countArgument(schema),
  inferredKeys: (schema) => schema.getType('wet_frog'),
  recursiveRelations: (schema) => memberOf(schema, 'frog', 'descendants'),
  uniqueLookups: (schema) => schema.getQueryType()?.getFields().frogByBadge,
  adaptedNames: (schema) => memberOf(schema, 'frog', 'leg_length'),
  json: (schema) => memberOf(schema, 'frogFilter', 'details'),
  ranges: (schema) => memberOf(schema, 'frog', 'awakeBounds'),
  moreTypes: (schema) => schema.getType('IntervalFilter'),
  moreOperators: (schema) => memberOf(schema, 'IntFilter', 'notIn'),
  search: (schema) => memberOf(schema, 'frogFilter', 'search'),
  composites: (schema) => ['frog', 'frogInsertInput', 'frogUpdateInput', 'frogFilter'].every((type) => memberOf(schema, type, 'at')),
  vectors: (schema) => schema.getType('frogNearest'),
  moreFunctions: (schema) => schema.getQueryType()!.getFields()['lengths'],
  domains: (schema) => schema.getType('warmth'),
  enums: (schema) => memberOf(schema, 'frogFilter', 'moods'),
  streams: (schema) => schema.getSubscriptionType()?.getFields()['frogStream'],
  subscriptions: (schema) => schema.getSubscriptionType()?.getFields()['frogCollection'],
  specifiedBy: (schema) => (schema.getType('UUID') as { specifiedByURL?: string | null } | undefined)?.specifiedByURL,
};

function countArgument(schema: GraphQLSchema): unknown {
  const field = memberOf(schema, 'frogConnection', 'totalCount');
  return field && 'args' in field ? field.args.find(({ name }) => name === 'exact') : undefined;
}

function memberOf(schema: GraphQLSchema, type: string, name: string): GraphQLField<unknown, unknown> | GraphQLInputField | undefined {
  const found = schema.getType(type) as (GraphQLNamedType & { getFields?(): Record<string, GraphQLInputField> }) | undefined;
  assert.ok(found?.getFields, `There is no ${type}`);
  return found.getFields()[name];
}

async function hasErrors(graph: Rowgraph, query: string): Promise<boolean> {
  return (await graph.execute({ query }, { role: 'service_role' })).errors !== undefined;
}

function argumentOf(schema: GraphQLSchema, field: string, name: string): unknown {
  return schema
    .getMutationType()!
    .getFields()
    [field]!.args.find((argument) => argument.name === name);
}

/** The additions of the schema that the options and these comments make. */
async function additionsBy(options: SchemaOptions, comments: Comments = {}): Promise<AdditionName[]> {
  const { schema = {}, frog = {}, view = {}, spawn = {} } = comments;
  await database.database.run(`comment on schema public is '@graphql(${JSON.stringify(schema)})';
    comment on table frog is '@graphql(${JSON.stringify({ aggregate: { enabled: true }, totalCount: { enabled: true }, ...frog })})';
    comment on table spawn is '@graphql(${JSON.stringify(spawn)})';
    comment on view wet_frog is '@graphql(${JSON.stringify(view)})'`);
  const graph = await createRowgraph({ ...options, database: database.database.url });
  try {
    const made = buildSchema(await graph.sdl({ role: 'service_role' }));
    const has = await Promise.all(additionNames.map((name) => signs[name](made, graph)));
    return additionNames.filter((_name, index) => has[index]);
  } finally {
    await graph.close();
  }
}

interface Comments {
  readonly schema?: object;
  readonly frog?: object;
  readonly view?: object;
  readonly spawn?: object;
}

/** Whose comment switches an addition, if it is not the table frog. */
const objectOf: Partial<Record<AdditionName, keyof Comments>> = { inferredKeys: 'view', insertOnly: 'spawn' };

const without = (...names: readonly AdditionName[]) => additionNames.filter((name) => !names.includes(name));

test('all are on unless a setting says otherwise', async () => {
  assert.deepEqual(await additionsBy({}), additionNames);
  assert.deepEqual(await additionsBy({ dialect: 'rowgraph' }), additionNames);
  assert.deepEqual(await additionsBy({ dialect: 'pg_graphql' }), []);
  assert.deepEqual(await additionsBy({ additions: [] }), []);
});

for (const name of additionNames) {
  test(`${name} is on alone, and off alone`, async () => {
    assert.deepEqual(await additionsBy({ additions: [name] }), [name]);
    assert.deepEqual(await additionsBy({ additions: without(name) }), without(name));
  });
  // What is of the whole schema.
  if (name === 'specifiedBy' || name === 'moreOperators') continue;
  test(`${name} is switched off by the comment of a schema or a table`, async () => {
    const off = { additions: { [name]: false } };
    assert.deepEqual(await additionsBy({}, { schema: off }), without(name));
    // What is of types, not of tables.
    if (name === 'domains' || name === 'enums' || name === 'moreFunctions') return;
    assert.deepEqual(await additionsBy({}, { [objectOf[name] ?? 'frog']: off }), without(name));
  });
}

test('the comment of a table takes precedence over that of its schema, and the setting over both', async () => {
  const off = { additions: { groups: false, increment: false } };
  assert.deepEqual(await additionsBy({}, { schema: off, frog: { additions: { groups: true } } }), without('increment'));
  assert.deepEqual(await additionsBy({ additions: ['onConflict'] }, { frog: { additions: { groups: true } } }), ['onConflict']);
});

test('the flags of the commands do the same', async () => {
  const byFlags = (flags: Readonly<Record<string, string>>) => {
    const command = { names: ['dialect', 'additions', 'nodeIdField', 'requiredInputs'], required: [], defaults: {} } as const;
    const { dialect, additions } = readConfiguration(command, { flags, environment: {}, file: undefined });
    return additionsBy({ dialect, additions });
  };
  assert.deepEqual(await byFlags({}), additionNames);
  assert.deepEqual(await byFlags({ dialect: 'pg_graphql' }), []);
  assert.deepEqual(await byFlags({ additions: 'groups, nestedWrites' }), ['groups', 'nestedWrites']);
  assert.deepEqual(await byFlags({ additions: '-' }), []);
});

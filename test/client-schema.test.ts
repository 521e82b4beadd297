/**
 * What the schema offers to clients beyond pg_graphql's: edges of written rows, another name for the global identifier, inputs that declare
 * what is required.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { buildSchema, GraphQLObjectType, GraphQLScalarType, isSpecifiedScalarType } from 'graphql';
import { scalarConfig, scalars, withScalars } from '../src/codegen/codegen.ts';
import { createRowgraph, type Rowgraph } from '../src/index.ts';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let started: TestGraph;

before(async () => {
  started = await startTestGraph(`
    create table harbour (id int primary key generated always as identity, name text not null);
    comment on table harbour is '@graphql({"aggregate": {"enabled": true}})';
    create view log as select 7 as id, 'calm' as line;
    create function latest_log(harbour) returns log stable language sql as $$ select 7, 'calm at ' || $1.name $$;
    grant select on log to service_role;
    create table ship (fleet text, number bigint, name text, harbour_id int references harbour, primary key (fleet, number));
    create function screen() returns trigger language plpgsql as $$ begin if new.name = 'ghost' then return null; end if; return new; end $$;
    create trigger screen before insert on ship for each row execute function screen();
    create domain port_code as text default 'DE';
    create table call (
      id int primary key generated always as identity, code text not null, filled text not null default 'x', port port_code not null,
      "serial" serial, note text, marks text[] not null
    );
    create domain filled as text not null;
    create domain overfilled as filled check (value <> '');
    create domain prefilled as filled default 'x';
    create domain filled_over_prefilled as prefilled not null;
    create table form (number int primary key generated always as identity, a filled, b overfilled, c prefilled, d filled_over_prefilled, e filled default 'x', f port_code);
    create table entry (id int primary key, stamp text not null);
    insert into harbour (name) values ('Emden'), ('Kiel');`);
});
after(() => started.stop());

describe('edges of written rows', () => {
  const selection = 'all: edges { cursor node { name harbour { name } } __typename } affectedCount';
  const cursor = (...key: unknown[]) => Buffer.from(`[${key.map((each) => JSON.stringify(each)).join(', ')}]`).toString('base64');
  const made = async (mutation: string) => ((await started.ask(`mutation { made: ${mutation} }`)) as { made: unknown }).made;

  test('of one row and of no row', async () => {
    const insert = (name: string) =>
      made(`insertIntoshipCollection(objects: [{fleet: "a", number: 9007199254740993, name: "${name}", harbour_id: 1}]) { ${selection} }`);
    const edge = { cursor: Buffer.from('["a", 9007199254740993]').toString('base64'), node: { name: 'Aal', harbour: { name: 'Emden' } } };
    assert.deepEqual(await insert('Aal'), { all: [{ ...edge, __typename: 'shipEdge' }], affectedCount: 1 });
    assert.deepEqual(await insert('ghost'), { all: [], affectedCount: 0 });
  });

  test('in the order of a collection, so that a page can continue after each of them', async () => {
    const objects = '[{fleet: "b", number: 1, name: "Dorsch"}, {fleet: "b", number: 2}, {fleet: "b", number: 3, name: "Barsch"}]';
    const order = 'orderBy: [{name: DescNullsFirst}]';
    const answer = await made(
      `insertIntoshipCollection(objects: ${objects}) { edges(${order}) { cursor node { number } } records { name } }`,
    );
    const { edges } = answer as { edges: { cursor: string; node: { number: string } }[] };
    assert.deepEqual(
      edges.map(({ node }) => node.number),
      ['2', '1', '3'],
    );
    const page = `shipCollection(${order}, after: "${edges[0]!.cursor}", filter: {fleet: {eq: "b"}}) { edges { cursor node { number } } }`;
    assert.deepEqual(await started.ask(`{ ${page} }`), { shipCollection: { edges: edges.slice(1) } });
  });

  test('of updates and deletes', async () => {
    const filter = 'filter: {fleet: {eq: "b"}}, atMost: 3';
    const changed = await made(`updateshipCollection(set: {harbour_id: 2}, ${filter}) { edges { cursor node { harbour { name } } } }`);
    const node = { harbour: { name: 'Kiel' } };
    assert.deepEqual(changed, { edges: ['1', '2', '3'].map((number) => ({ cursor: cursor('b', Number(number)), node })) });
    assert.deepEqual(await made(`deleteFromshipCollection(${filter}) { edges { __typename } }`), {
      edges: [{ __typename: 'shipEdge' }, { __typename: 'shipEdge' }, { __typename: 'shipEdge' }],
    });
    assert.deepEqual(await made(`deleteFromshipCollection(${filter}) { edges { cursor } }`), { edges: [] });
  });
});

describe('a global identifier called id', () => {
  let graph: Rowgraph;
  const ask = async (query: string, variables?: Record<string, unknown>) => {
    const { data, errors } = await graph.execute({ query, variables }, { role: 'service_role' });
    assert.equal(errors, undefined, JSON.stringify(errors));
    return data;
  };
  before(async () => {
    graph = await createRowgraph({ database: started.database.url, nodeIdField: 'id' });
  });
  after(() => graph.close());

  test('is in rows, filters and node; the column id is idColumn in rows and filters, and id elsewhere', async () => {
    const id = Buffer.from('["public", "harbour", 2]').toString('base64');
    const kiel = { edges: [{ node: { id, idColumn: 2, name: 'Kiel' } }] };
    const query = `query($id: ID!, $filter: harbourFilter) {
      node(id: $id) { id __typename ... on harbour { name } }
      byId: harbourCollection(filter: {id: {eq: $id}}) { edges { node { id idColumn name } } }
      byColumn: harbourCollection(filter: $filter, orderBy: [{id: AscNullsLast}]) { edges { node { id idColumn name } } }
      harbourByPk(id: 2) { id }
    }`;
    assert.deepEqual(await ask(query, { id, filter: { idColumn: { eq: 2 } } }), {
      node: { id, __typename: 'harbour', name: 'Kiel' },
      byId: kiel,
      byColumn: kiel,
      harbourByPk: { id },
    });
  });

  test('is the only id of an object: rows without a key and aggregates have idColumn', async () => {
    const query = `{
      harbourCollection(orderBy: [{id: AscNullsLast}], first: 1) { aggregate { min { idColumn } } edges { node { latest_log { idColumn line } } } }
    }`;
    const log = { idColumn: 7, line: 'calm at Emden' };
    assert.deepEqual(await ask(query), {
      harbourCollection: { aggregate: { min: { idColumn: 1 } }, edges: [{ node: { latest_log: log } }] },
    });
    const types = Object.values(buildSchema(await graph.sdl({ role: 'service_role' })).getTypeMap());
    const withId = types.filter((type) => type instanceof GraphQLObjectType && type.getFields()['id']).map(({ name }) => name);
    assert.deepEqual(withId.sort(), ['call', 'entry', 'form', 'harbour', 'ship']);
  });

  test('is called by its own name in errors', async () => {
    const { errors } = await graph.execute({ query: '{ node(id: "WyJwdWJsaWMiLCAibm9uZSIsIDFd") { id } }' }, { role: 'service_role' });
    assert.match(errors![0]!.message, /in the argument "id" does not identify/);
    const { errors: unknown } = await graph.execute({ query: '{ node(nodeId: "a") { nodeId } }' }, { role: 'service_role' });
    assert.match(unknown![0]!.message, /Unknown argument "nodeId"|Cannot query field "nodeId"/);
  });

  test('is in the schema, and the doctor reports the columns that it renames', async () => {
    assert.match(await graph.sdl({ role: 'service_role' }), /interface Node \{\n +""".*"""\n +id: ID!/);
    const { findings } = await graph.doctor({ role: 'service_role' });
    const renamed = findings.filter(({ code }) => code === 'name-changed');
    assert.deepEqual(
      renamed.map(({ object, name }) => [object, name]),
      ['call', 'entry', 'harbour', 'log'].map((table) => ['column', `public.${table}.id`]),
    );
  });
});

describe('required inputs', () => {
  let graph: Rowgraph;
  const run = (query: string, variables?: Record<string, unknown>) => graph.execute({ query, variables }, { role: 'service_role' });
  const fieldsOf = async (type: string) => {
    const query = `{ __type(name: "${type}") { inputFields { name type { kind } } } }`;
    const { data } = await run(query);
    const { inputFields } = data!.__type as { inputFields: { name: string; type: { kind: string } }[] };
    return Object.fromEntries(inputFields.map(({ name, type }) => [name, type.kind === 'NON_NULL']));
  };
  before(async () => {
    graph = await createRowgraph({ database: started.database.url, introspection: 'on', requiredInputs: true });
  });
  after(() => graph.close());

  test('are the columns that are NOT NULL without a default, only in inserts', async () => {
    assert.deepEqual(await fieldsOf('callInsertInput'), {
      code: true,
      filled: false,
      port: false,
      serial: false,
      note: false,
      marks: true,
    });
    assert.deepEqual(Object.values(await fieldsOf('callUpdateInput')), [false, false, false, false, false]);
    const { errors } = await run('mutation { insertIntocallCollection(objects: [{note: "a"}]) { affectedCount } }');
    assert.match(errors![0]!.message, /"callInsertInput" to include required field "code"/);
    const variable = 'mutation($objects: [callInsertInput!]!) { insertIntocallCollection(objects: $objects) { affectedCount } }';
    for (const objects of [[{ note: 'a' }], [{ code: null, marks: [] }], { code: 'a', marks: null }]) {
      const response = await run(variable, { objects });
      assert.equal(response.errors?.[0]?.extensions?.code, 'BAD_USER_INPUT', JSON.stringify(response));
    }
    assert.deepEqual((await run(variable, { objects: [{ code: 'a', marks: ['b'] }] })).data, {
      insertIntocallCollection: { affectedCount: 1 },
    });
  });

  test('are the columns whose domain rejects null, if neither it nor the column has a default; rows may still lack them', async () => {
    const { number: _, ...fields } = await fieldsOf('formInsertInput');
    assert.deepEqual(fields, { a: true, b: true, c: false, d: false, e: false, f: false });
    for (const [fields, accepted] of [
      ['a: "a"', false],
      ['a: "a", b: "b"', true],
    ] as const) {
      const { errors } = await run(`mutation { insertIntoformCollection(objects: [{${fields}}]) { affectedCount } }`);
      assert.equal(errors === undefined, accepted, JSON.stringify(errors));
    }
    const { type } = (buildSchema(await graph.sdl({ role: 'service_role' })).getType('form') as GraphQLObjectType).getFields()['a']!;
    assert.equal(String(type), 'filled');
  });

  test('are not the keys that nested writes fill in', async () => {
    await started.database.run(`
      create table dock (number int primary key generated always as identity, name text not null);
      create table crane (number int primary key generated always as identity, dock_number int not null references dock, load int not null);
      create table hoist (number int primary key generated always as identity, dock int not null references dock);`);
    await graph.reload();
    const { number: _, ...crane } = await fieldsOf('craneInsertInput');
    assert.deepEqual(crane, { dock_number: false, load: true, dock: false });
    // The column takes precedence over its relation of the same name, and only docks can fill it in.
    assert.equal((await fieldsOf('hoistInsertInput'))['dock'], false);
    const objects = '{name: "north", craneCollection: {create: [{load: 7}]}, hoistCollection: {create: [{}]}}';
    const made = await run(`mutation { insertIntodockCollection(objects: [${objects}]) { records { name } } }`);
    assert.deepEqual(made.data, { insertIntodockCollection: { records: [{ name: 'north' }] } });
    const plain = await createRowgraph({ database: started.database.url, requiredInputs: true, dialect: 'pg_graphql' });
    const sdl = await plain.sdl({ role: 'service_role' });
    await plain.close();
    for (const field of ['dock_number: Int!', 'dock: Int!']) assert.match(sdl, new RegExp(`^  ${field}$`, 'm'));
    await started.database.run('drop table dock, crane, hoist');
    await graph.reload();
  });

  test('are not columns that a trigger or a rule may fill in', async () => {
    assert.deepEqual(await fieldsOf('entryInsertInput'), { id: true, stamp: true });
    await started.database.run('create trigger screen before insert on entry for each row execute function screen()');
    await graph.reload();
    assert.deepEqual(await fieldsOf('entryInsertInput'), { id: false, stamp: false });
  });
});

describe('custom scalars', () => {
  test('are specified by a section of docs/scalars.md and known to rowgraph/codegen', async () => {
    const schema = buildSchema(await started.graph.sdl({ role: 'service_role' }));
    const all = Object.values(schema.getTypeMap()).filter((type) => type instanceof GraphQLScalarType && !isSpecifiedScalarType(type));
    const custom = all.filter(({ description }) => !description?.startsWith('The domain '));
    assert.deepEqual(custom.map(({ name }) => name).sort(), Object.keys(scalars).sort());
    const page = readFileSync(path.join(import.meta.dirname, '../docs/scalars.md'), 'utf8');
    const anchors = [...page.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase());
    for (const type of custom as GraphQLScalarType[]) {
      const [address, anchor = ''] = type.specifiedByURL?.split('#') ?? [];
      assert.equal(address, 'https://unpkg.com/rowgraph/docs/scalars.md');
      assert.ok(anchors.includes(anchor), type.name);
    }
  });

  test("say no more than pg_graphql's in its dialect", async () => {
    const graph = await createRowgraph({ database: started.database.url, introspection: 'on', dialect: 'pg_graphql' });
    assert.doesNotMatch(await graph.sdl({ role: 'service_role' }), /@specifiedBy/);
    const query =
      '{ __type(name: "BigInt") { specifiedByURL } of: __type(name: "BigIntFilter") { inputFields { type { specifiedByURL } } } }';
    const { data } = await graph.execute({ query }, { role: 'service_role' });
    assert.doesNotMatch(JSON.stringify(data), /https?:/);
    assert.match(JSON.stringify(data), /^\{"__type":\{"specifiedByURL":null\}/);
    await graph.close();
  });

  test("can have richer types, and a preset's own configuration takes precedence", () => {
    const { scalars: types, defaultScalarType } = scalarConfig({
      Datetime: 'Date',
      BigInt: { input: 'bigint | number', output: 'bigint' },
    });
    assert.deepEqual(
      [types.Datetime, types.BigInt, types.UUID, types.Opaque.output],
      [
        { input: 'Date', output: 'Date' },
        { input: 'bigint | number', output: 'bigint' },
        { input: 'string', output: 'string' },
        // Domains over numbers and JSON are not strings.
        'unknown',
      ],
    );
    assert.equal(defaultScalarType, 'unknown');
    const preset = withScalars(
      { name: 'base', buildGeneratesSection: (options: { config: object }) => [options.config] },
      { JSON: 'Json' },
    );
    assert.deepEqual(
      preset.buildGeneratesSection({ config: { useTypeImports: true, scalars: { UUID: 'Id' }, defaultScalarType: 'any' } }),
      [{ scalars: { ...scalars, JSON: { input: 'Json', output: 'Json' }, UUID: 'Id' }, defaultScalarType: 'any', useTypeImports: true }],
    );
    assert.equal(preset.name, 'base');
  });
});

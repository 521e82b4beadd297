import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { startPglite } from '../../test/support/pglite.ts';
import { grantsSql, rolesSql } from '../../test/support/roles.ts';
import { loadCatalog } from '../catalog/load-catalog.ts';
import { loadPrivileges } from '../catalog/load-privileges.ts';
import type { Database } from '../database/database.ts';
import { openPgliteDatabase } from '../database/pglite-database.ts';
import { buildModel } from './build-model.ts';
import type { Model, Table } from './model.ts';

describe('buildModel', () => {
  let pglite: PGlite;
  let database: Database;

  before(async () => {
    pglite = await startPglite();
    database = openPgliteDatabase(pglite);
    await pglite.exec(rolesSql + grantsSql);
  });
  after(() => pglite.close());

  let lastSchema = 0;

  /** The model of objects in a schema of their own, which is first in the search path; `s` in the SQL stands for its name. */
  async function modelOf(sql: string, options: { role?: string; directive?: object; schemas?: string[] } = {}): Promise<Model> {
    lastSchema += 1;
    const schema = `s${lastSchema}`;
    const { role = 'service_role', directive = {}, schemas = [] } = options;
    await pglite.exec(`
      create schema ${schema}; grant usage on schema ${schema} to anon, service_role; set search_path to ${schema};
      alter default privileges in schema ${schema} grant all on tables to anon, service_role;
      comment on schema ${schema} is '@graphql(${JSON.stringify({ inflect_names: true, ...directive })})';
      ${sql}
    `);
    const catalog = await loadCatalog(database, [schema, ...schemas]);
    return buildModel(catalog, await loadPrivileges(database, catalog, role));
  }

  function table(model: Model, typeName: string): Table {
    const found = model.tables.find((candidate) => candidate.typeName === typeName);
    assert.ok(found, typeName);
    return found;
  }

  const typeNames = (model: Model) => model.tables.map(({ typeName }) => typeName);
  const fieldNames = (fields: readonly { readonly fieldName: string }[]) => fields.map(({ fieldName }) => fieldName);
  const omitted = (model: Model) =>
    Object.fromEntries(model.omissions.map(({ object, name, reason }) => [`${object} ${name.replace(/^s\d+\./, '')}`, reason]));

  it('reads the settings of schemas and tables', async () => {
    const model = await modelOf(
      `create table a (id int primary key); comment on table a is '@graphql({"max_rows": 5, "totalCount": {"enabled": true}, "description": "An A"})';
       create table b (id int primary key); comment on table b is '@graphql({"name": "Bee", "aggregate": {"enabled": true}})';`,
      { directive: { max_rows: 9, introspection: true } },
    );
    const settings = model.tables.map(({ typeName, maxRows, totalCount, aggregate, description }) => ({
      typeName,
      maxRows,
      totalCount,
      aggregate,
      description,
    }));
    assert.deepEqual(settings, [
      { typeName: 'A', maxRows: 5, totalCount: true, aggregate: false, description: 'An A' },
      { typeName: 'Bee', maxRows: 9, totalCount: false, aggregate: true, description: null },
    ]);
    assert.equal(model.introspection, true);
    assert.deepEqual(model.omissions, []);
  });

  it('leaves tables out that have no key, no name or nothing to read, and says what to do', async () => {
    const model = await modelOf(
      `create table fine (id int primary key); create table keyless (id int); create table "has space" (id int primary key);
       create table bare (); create table closed (id int primary key); revoke all on closed from service_role;
       create view blind as select 1 as id; create view wrong as select 1 as id; comment on view wrong is '@graphql({"primary_key_columns": ["nope"]})';
       create table numbered (id int primary key); comment on table numbered is '@graphql({"name": 5})';
       create table __dunder (id int primary key); create table int_filter (id int primary key); create table fine_edge (id int primary key);`,
    );
    assert.deepEqual(typeNames(model), ['Fine', 'Dunder']);
    assert.deepEqual(omitted(model), {
      'table keyless':
        'it has no primary key: add one, or name its key columns with the comment directive {"primary_key_columns": ["..."]}',
      'table has space': '"Has Space" is no GraphQL name: give it another with the comment directive {"name": "..."}',
      'table bare': 'it has no columns: add some',
      'table closed': 'the role service_role may select none of its columns: grant select on the table, or on columns of it, to the role',
      'table blind': 'it has no key: name its key columns with the comment directive {"primary_key_columns": ["..."]}',
      'table wrong': 'its comment directive names "nope" in primary_key_columns, which is no column of it: correct it',
      'table numbered': '"5" is no GraphQL name: give it another with the comment directive {"name": "..."}',
      'table int_filter':
        'the name "IntFilter" is taken by another type or field: give it another name with the comment directive {"name": "..."}',
      'table fine_edge':
        'the name "FineEdge" is taken by another type or field: give it another name with the comment directive {"name": "..."}',
    });
  });

  it('orders keys as the table has its columns, and as a directive names them', async () => {
    const model = await modelOf(
      `create table composite (b int, a int, primary key (a, b));
       create view viewed as select 1 as a, 2 as b; comment on view viewed is '@graphql({"primary_key_columns": ["b", "a"]})';`,
    );
    assert.deepEqual(fieldNames(table(model, 'Composite').primaryKey), ['b', 'a']);
    assert.deepEqual(fieldNames(table(model, 'Viewed').primaryKey), ['b', 'a']);
    const { insertable, updatable, deletable } = table(model, 'Viewed');
    assert.deepEqual([insertable, updatable, deletable], [false, false, false]);
  });

  it('gives columns the types of their values', async () => {
    const model = await modelOf(
      `create type mood as enum ('calm'); create type pair as (x int); create domain code as text; create domain codes as int[];
       create table other (id int primary key); create extension citext;
       create table every (id bigint primary key, s smallint, v varchar(5), c "char", n name, ci citext, f real, j jsonb, iv interval, m mood, ms mood[],
         d code, ds codes, dd code[], vec int2vector, o other, os other[], p pair, ps pair[], vs varchar(3)[]);`,
    );
    const types = table(model, 'Every').columns.map(({ name, type, orderable }) => {
      const text =
        type.kind === 'scalar'
          ? type.scalar
          : type.kind === 'list' && type.element.kind === 'scalar'
            ? `[${type.element.scalar}]`
            : type.kind;
      return `${name} ${text}${orderable ? ' orderable' : ''}`;
    });
    assert.deepEqual(types, [
      'id BigInt orderable',
      's Int orderable',
      'v String orderable',
      'c String orderable',
      'n Opaque orderable',
      'ci String orderable',
      'f Float orderable',
      'j JSON',
      'iv Opaque orderable',
      'm enum orderable',
      'ms list',
      'd Opaque orderable',
      'ds unsupported orderable',
      'dd [Opaque]',
      'vec [Int] orderable',
      'o row orderable',
      'os row list',
      'vs [String]',
    ]);
    const [, , varchar] = table(model, 'Every').columns;
    assert.deepEqual(varchar?.type, {
      kind: 'scalar',
      scalar: 'String',
      sqlType: 'character varying(5)',
      typeName: 'varchar',
      maxLength: 5,
    });
    const remedy = 'its type has no GraphQL type: show its parts by a computed field or a view';
    assert.deepEqual(omitted(model), { 'column every.p': remedy, 'column every.ps': remedy });
  });

  it('follows the grants of a role, column by column', async () => {
    const model = await modelOf(
      `create table guarded (id int primary key, seen int, written int, twice int, hidden int, made int generated always as (1) stored);
       revoke all on guarded from anon; grant select (seen, twice, made), insert (written, made), update (twice), delete on guarded to anon;`,
      { role: 'anon' },
    );
    const { columns, primaryKey, insertable, updatable, deletable } = table(model, 'Guarded');
    assert.deepEqual(
      columns.map(({ name, selectable, insertable, updatable }) => `${name} ${+selectable}${+insertable}${+updatable}`),
      ['seen 100', 'written 010', 'twice 101', 'made 100'],
    );
    assert.deepEqual(fieldNames(primaryKey), ['id']);
    assert.deepEqual([insertable, updatable, deletable], [true, true, true]);
    assert.deepEqual(Object.keys(omitted(model)), ['column guarded.id', 'column guarded.hidden']);
  });

  it('names relations, and keeps those whose name a later one claims', async () => {
    const model = await modelOf(
      `create table person (id int primary key);
       create table visit (id int primary key, host_id int not null references person, guest int references person, aide int not null references person);
       create table passport (person_id int primary key); alter table passport add foreign key (person_id) references person not valid;
       comment on constraint passport_person_id_fkey on passport is '@graphql({"foreign_name": "owner"})';`,
    );
    const relations = (typeName: string) =>
      table(model, typeName).relations.map(({ fieldName, kind, nullable, unique }) => `${fieldName} ${kind} ${nullable} ${unique}`);
    assert.deepEqual(relations('Visit'), ['host to-one false true', 'personByGuest to-one true true', 'person to-one false true']);
    assert.deepEqual(relations('Passport'), ['owner to-one true true']);
    assert.deepEqual(relations('Person'), [
      'visitCollectionByHostId to-many true false',
      'visitCollectionByGuest to-many true false',
      'visitCollection to-many true false',
      'passport to-one true true',
    ]);
    const [host] = table(model, 'Visit').relations;
    assert.equal(host?.target, table(model, 'Person'));
    assert.deepEqual(host?.columns, [{ near: 'host_id', target: 'id' }]);
  });

  it('lets a row be missing where row level security may hide it', async () => {
    const model = await modelOf(
      `create table owner (id int primary key); alter table owner enable row level security;
       create table thing (id int primary key, owner_id int not null references owner);`,
    );
    assert.equal(table(model, 'Thing').relations[0]?.nullable, true);
  });

  it('follows the foreign keys of directives, and says why others lead nowhere', async () => {
    const model = await modelOf(
      `create schema apart; create table apart.far (id int primary key); create table keyless (id int unique);
       create table shop (id int primary key, code text unique);
       create table item (id int primary key, shop_id int, far_id int references apart.far, keyless_id int references keyless (id));
       do $$ begin execute format('comment on table item is %L', '@graphql(' || json_build_object('foreign_keys', json_build_array(
         json_build_object('local_columns', '{shop_id}'::text[], 'foreign_schema', current_schema, 'foreign_table', 'shop', 'foreign_columns', '{id}'::text[], 'local_name', 'stock'),
         json_build_object('local_columns', '{nope}'::text[], 'foreign_schema', current_schema, 'foreign_table', 'shop', 'foreign_columns', '{id}'::text[]),
         json_build_object('local_columns', '{id}'::text[], 'foreign_schema', current_schema, 'foreign_table', 'nowhere', 'foreign_columns', '{id}'::text[]),
         json_build_object('local_columns', '{id}'::text[])
       ))::text || ')'); end $$;`,
    );
    assert.deepEqual(
      table(model, 'Item').relations.map(({ fieldName, nullable, unique }) => ({ fieldName, nullable, unique })),
      [{ fieldName: 'shop', nullable: true, unique: true }],
    );
    assert.deepEqual(fieldNames(table(model, 'Shop').relations), ['stock']);
    assert.deepEqual(Object.keys(omitted(model)), [
      'table keyless',
      'relation item.item_far_id_fkey',
      'relation item.item_keyless_id_fkey',
      'relation item.foreign_keys[1]',
      'relation item.foreign_keys[2]',
      'relation item.foreign_keys[3]',
    ]);
  });

  it('needs the columns of both sides of a relation', async () => {
    const model = await modelOf(
      `create table up (id int primary key, label text); create table down (id int primary key, up_id int references up);
       revoke all on up from anon; grant select (label) on up to anon;`,
      { role: 'anon' },
    );
    assert.deepEqual([table(model, 'Up').relations, table(model, 'Down').relations], [[], []]);
    assert.match(omitted(model)['relation down.down_up_id_fkey'] ?? '', /may not select its column id/);
  });

  it('has computed fields, which take names from relations and columns', async () => {
    const model = await modelOf(
      `create table up (id int primary key); create table entry (id int primary key, label text, note text, up_id int references up);
       create function _label(e entry) returns text stable language sql as 'select 1::text';
       create function up(e entry) returns text language sql as 'select 1::text';
       create function ups(e entry) returns setof up stable language sql as 'select 1';
       create function one_up(e entry) returns setof up rows 1 stable language sql as 'select 1';
       create function pairs(e entry) returns table (a int, b int) stable language sql as 'select 1, 2';
       create function numbers(e entry) returns setof int stable language sql as 'select 1';
       create function refused(e entry) returns int stable language sql as 'select 1'; revoke execute on function refused from public;`,
    );
    const entry = table(model, 'Entry');
    assert.deepEqual(
      entry.computed.map(({ fieldName, result, volatile }) => `${fieldName} ${result.kind} ${volatile}`),
      ['label value false', 'up value true', 'ups rows false', 'oneUp row false'],
    );
    assert.deepEqual(fieldNames(entry.columns), ['id', 'label', 'note', 'upId']);
    assert.deepEqual(entry.relations, []);
    assert.deepEqual(Object.keys(omitted(model)).sort(), [
      'column entry.label',
      'function numbers',
      'function pairs',
      'function refused',
      'relation entry.up',
    ]);
  });

  it('needs the whole table for computed fields', async () => {
    const model = await modelOf(
      `create table entry (id int primary key, label text); create function _loud(e entry) returns text stable language sql as 'select 1::text';
       revoke all on entry from anon; grant select (id) on entry to anon;`,
      { role: 'anon' },
    );
    assert.deepEqual(table(model, 'Entry').computed, []);
    assert.match(omitted(model)['function _loud'] ?? '', /it reads whole rows/);
  });

  it('has functions with their arguments and results, and says why others are no fields', async () => {
    const model = await modelOf(
      `create type mood as enum ('calm'); create type pair as (x int); create table swap (id int primary key); create table keyless (v int);
       create function act(swap_id int, out made int, "Odd Name" text default 'x', how text default 'a, b', loud boolean default null) language sql as 'select 1';
       create function one() returns swap stable language sql as 'select 1'; create function all_of() returns setof swap stable language sql as 'select 1';
       create function first_of(first int) returns setof swap stable language sql as 'select 1';
       create function nothing() returns void language sql as ''; create function same(v anyelement) returns anyelement stable language sql as 'select v';
       create function list() returns int[] stable language sql as 'select null::int[]';
       create function a_mood() returns mood stable language sql as 'select null::mood'; create function moods(m mood[]) returns int stable language sql as 'select 1';
       create function a_pair() returns pair stable language sql as 'select null::pair'; create function a_record() returns record stable language sql as 'select 1, 2';
       create function a_keyless() returns keyless stable language sql as 'select 1'; create function ints() returns setof int stable language sql as 'select 1';
       create function twice(a int) returns int stable language sql as 'select 1'; create function twice(a text) returns int stable language sql as 'select 1';
       create function nameless(int) returns int stable language sql as 'select 1'; create function "swapCollection"() returns int stable language sql as 'select 1';
       create function same_names(a_b int, "aB" int) returns int stable language sql as 'select 1'; create function node() returns int stable language sql as 'select 1';
       create function "odd name"() returns int stable language sql as 'select 1'; create aggregate total (a int) (sfunc = int4pl, stype = int);`,
    );
    assert.deepEqual(
      model.routines.map(({ fieldName, volatile, result }) => `${fieldName} ${volatile} ${result.kind}`),
      ['act true value', 'one false row', 'allOf false rows', 'nothing true void', 'same false value', 'list false value'],
    );
    assert.deepEqual(
      model.routines[0]?.arguments.map(({ name, argumentName, required, defaultValue }) => ({
        name,
        argumentName,
        required,
        defaultValue,
      })),
      [
        { name: 'swap_id', argumentName: 'swapId', required: true, defaultValue: undefined },
        { name: 'how', argumentName: 'how', required: false, defaultValue: 'a, b' },
        { name: 'loud', argumentName: 'loud', required: false, defaultValue: undefined },
      ],
    );
    const reasons = omitted(model);
    const functions = Object.keys(reasons).filter((name) => name.startsWith('function '));
    assert.deepEqual(functions.map((name) => name.slice('function '.length)).sort(), [
      'a_keyless',
      'a_mood',
      'a_pair',
      'a_record',
      'first_of',
      'ints',
      'moods',
      'nameless',
      'node',
      'odd name',
      'same_names',
      'swapCollection',
      'total',
      'twice',
    ]);
    for (const name of functions) assert.match(reasons[name] ?? '', /: /, name);
  });

  it('maps the labels of enums, and leaves out an enum without a name', async () => {
    const model = await modelOf(
      `create type mood as enum ('calm', 'wi-ld', 'x', 'y'); comment on type mood is '@graphql({"mappings": {"wi-ld": "WILD", "y": "x"}})';
       create type "no name" as enum ('a'); create table feeling (id int primary key, a mood, b "no name", c "no name"[]);
       create type feeling_filter as enum ('a');`,
    );
    assert.deepEqual(
      model.enums.map(({ typeName, mapped, values }) => ({ typeName, mapped, values })),
      [
        {
          typeName: 'Mood',
          mapped: true,
          values: [
            { label: 'calm', name: 'calm' },
            { label: 'wi-ld', name: 'WILD' },
            { label: 'x', name: 'x' },
          ],
        },
      ],
    );
    const [, , b, c] = table(model, 'Feeling').columns;
    assert.deepEqual([b?.type.kind, c?.type.kind === 'list' && c.type.element.kind], ['scalar', 'scalar']);
    assert.deepEqual(Object.keys(omitted(model)), ['enum value mood.y', 'enum no name', 'enum feeling_filter']);
  });

  it('of two columns with one name keeps the later', async () => {
    const model = await modelOf(
      `create table kite (id int primary key, tail_len int, "tailLen" text, "nodeId" int, "no good" int, __typename int);
       comment on column kite.__typename is '@graphql({"name": "__typename"})';`,
    );
    assert.deepEqual(
      table(model, 'Kite').columns.map(({ name }) => name),
      ['id', 'tailLen'],
    );
    assert.deepEqual(Object.keys(omitted(model)).sort(), [
      'column kite.__typename',
      'column kite.no good',
      'column kite.nodeId',
      'column kite.tail_len',
    ]);
  });

  it('reports schemas that do not exist or may not be used', async () => {
    await pglite.exec('create schema shut; create table shut.inside (id int primary key)');
    const model = await modelOf('', { schemas: ['shut', 'nowhere'] });
    assert.deepEqual(model.schemas, [`s${lastSchema}`]);
    assert.deepEqual(omitted(model), {
      'schema shut': 'the role service_role may not use it: grant usage on schema shut to the role',
      'schema nowhere': 'it does not exist: create it, or take it out of the exposed schemas',
    });
  });

  it('fails for directives that are no JSON, also of what the role does not see', async () => {
    const broken = modelOf(
      `create table seen (id int primary key); create table unseen (id int); comment on column unseen.id is '@graphql({"name": tru})';`,
    );
    await assert.rejects(broken, { code: 'SCHEMA_ERROR', message: 'invalid input syntax for type json' });
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  fieldNames,
  type ModelBuilder,
  reasonsByObject,
  renamedObjects,
  startModelBuilder,
  tableOf,
} from '../../test/support/model-builder.ts';
import { scalarType } from '../../test/support/sample-model.ts';

/** Leaves out what has an illegal name, as pg_graphql does. */
const unadapted = { additions: { adaptedNames: false } };

describe('buildModel', () => {
  let models: ModelBuilder;

  before(async () => {
    models = await startModelBuilder();
  });
  after(() => models.close());

  it('reads the settings of schemas and tables', async () => {
    const model = await models.build(
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
    assert.deepEqual(model.exclusions, []);
  });

  it('finds lookups by unique keys, of which those whose names are taken give way', async () => {
    const model = await models.build(
      `create table a (id int primary key, "xByY" int unique); create table a_by_x (id int primary key, y int unique, z int, unique (z, y));
       create function a_by_x_by_z_and_y() returns int language sql stable as 'select 1';`,
    );
    assert.deepEqual(
      model.lookups.map(({ fieldName, columns }) => [fieldName, ...columns]),
      [
        ['aByXByY', 'xByY'],
        ['aByXByY2', 'y'],
        ['aByXByZAndY2', 'z', 'y'],
      ],
    );
    assert.deepEqual(renamedObjects(model), ['table a_by_x', 'table a_by_x']);
  });

  it('leaves out tables without a key, a legal name or a readable column, and says what to do', async () => {
    const model = await models.build(
      `create table fine (id int primary key); create table keyless (id int); create table "has space" (id int primary key);
       create table bare (); create table closed (id int primary key); revoke all on closed from service_role;
       create view blind as select 1 as id; create view wrong as select 1 as id; comment on view wrong is '@graphql({"primary_key_columns": ["nope"]})';
       create table numbered (id int primary key); comment on table numbered is '@graphql({"name": 5})';
       create table __dunder (id int primary key); create table int_filter (id int primary key); create table fine_edge (id int primary key);`,
      { directive: unadapted },
    );
    const prefix = model.schemas[0]?.toUpperCase();
    assert.deepEqual(
      model.tables.map(({ typeName }) => typeName),
      ['Fine', 'Dunder', `${prefix}IntFilter`, `${prefix}FineEdge`],
    );
    assert.deepEqual(
      model.tables.map(({ stem }) => stem),
      ['Fine', 'Dunder', 'IntFilter', 'FineEdge'],
    );
    assert.deepEqual(renamedObjects(model), ['table fine_edge', 'table int_filter']);
    assert.deepEqual(reasonsByObject(model), {
      'table keyless':
        'it has no primary key; add one, or declare its key columns with the comment directive {"primary_key_columns": ["..."]}',
      'table has space': '"Has Space" is not a valid GraphQL name; choose another name with the comment directive {"name": "..."}',
      'table bare': 'it has no columns; add some',
      'table closed':
        'the role service_role cannot select any of its columns; grant select on the table, or on some of its columns, to the role',
      'view blind':
        'it has no key, and none can be inferred, because it has a single row, and no column that is certain not to be null, such as count(*); declare its key columns with the comment directive {"primary_key_columns": ["..."]}',
      'view wrong': 'its comment directive names "nope" in primary_key_columns, which is not one of its columns; correct the directive',
      'table numbered': '"5" is not a valid GraphQL name; choose another name with the comment directive {"name": "..."}',
    });
  });

  it('orders primary keys by table column, and declared keys as in the directive', async () => {
    const model = await models.build(
      `create table composite (b int, a int, primary key (a, b));
       create view viewed as select 1 as a, 2 as b; comment on view viewed is '@graphql({"primary_key_columns": ["b", "a"]})';`,
    );
    assert.deepEqual(fieldNames(tableOf(model, 'Composite').primaryKey), ['b', 'a']);
    assert.deepEqual(fieldNames(tableOf(model, 'Viewed').primaryKey), ['b', 'a']);
    const { insertable, updatable, deletable } = tableOf(model, 'Viewed');
    assert.deepEqual([insertable, updatable, deletable], [false, false, false]);
  });

  it('gives columns their value types', async () => {
    const model = await models.build(
      `create type mood as enum ('calm'); create type pair as (x int); create domain code as text; create domain codes as int[];
       create table other (id int primary key); create extension citext;
       create table every (id bigint primary key, s smallint, v varchar(5), c "char", n name, ci citext, f real, j jsonb, iv interval, m mood, ms mood[],
         d code, ds codes, dd code[], vec int2vector, o other, os other[], p pair, ps pair[], vs varchar(3)[]);`,
      { directive: { additions: { composites: false } } },
    );
    const types = tableOf(model, 'Every').columns.map(({ name, type, orderable }) => {
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
      'ds [Int] orderable',
      'dd [Opaque]',
      'vec [Int] orderable',
      'o row orderable',
      'os row list',
      'vs [String]',
    ]);
    const [, , varchar] = tableOf(model, 'Every').columns;
    assert.deepEqual(varchar?.type, scalarType('String', 'varchar', 5, 'character varying(5)'));
    const reasons = Object.entries(reasonsByObject(model)).map(([name, reason]) => `${name}: ${reason.replaceAll(/s\d+\./g, '')}`);
    assert.deepEqual(reasons, [
      'column every.p: its type pair has no GraphQL type; expose its parts with a computed field or a view',
      'column every.ps: its type pair[] has no GraphQL type; expose its parts with a computed field or a view',
    ]);
  });

  it('follows the grants of a role, column by column', async () => {
    const model = await models.build(
      `create table guarded (id int primary key, seen int, written int, twice int, hidden int, made int generated always as (1) stored);
       revoke all on guarded from anon; grant select (seen, twice, made), insert (written, made), update (twice), delete on guarded to anon;`,
      { role: 'anon' },
    );
    const { columns, primaryKey, insertable, updatable, deletable } = tableOf(model, 'Guarded');
    assert.deepEqual(
      columns.map(({ name, selectable, insertable, updatable }) => `${name} ${+selectable}${+insertable}${+updatable}`),
      ['seen 100', 'written 010', 'twice 101', 'made 100'],
    );
    assert.deepEqual(fieldNames(primaryKey), ['id']);
    assert.deepEqual([insertable, updatable, deletable], [true, true, true]);
    assert.deepEqual(Object.keys(reasonsByObject(model)), ['column guarded.id', 'column guarded.hidden']);
  });

  it('maps enum labels, and leaves out an enum without a legal name', async () => {
    const model = await models.build(
      `create type mood as enum ('calm', 'wi-ld', 'x', 'y'); comment on type mood is '@graphql({"mappings": {"wi-ld": "WILD", "y": "x"}})';
       create type "no name" as enum ('a'); create table feeling (id int primary key, a mood, b "no name", c "no name"[]);
       create type feeling_filter as enum ('a');`,
      { directive: unadapted },
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
            { label: 'y', name: 'x' },
          ],
        },
        { typeName: `${model.schemas[0]?.toUpperCase()}FeelingFilter`, mapped: false, values: [{ label: 'a', name: 'a' }] },
      ].toSorted(
        (one, other) =>
          model.enums.findIndex((each) => each.typeName === one.typeName) -
          model.enums.findIndex((each) => each.typeName === other.typeName),
      ),
    );
    const [, , b, c] = tableOf(model, 'Feeling').columns;
    assert.deepEqual([b?.type.kind, c?.type.kind === 'list' && c.type.element.kind], ['scalar', 'scalar']);
    assert.deepEqual(Object.keys(reasonsByObject(model)), ['enum value mood.y', 'enum no name']);
  });

  it('reports enum values without a legal name, and the enums that are therefore Opaque', async () => {
    const model = await models.build(
      `create type level as enum ('low', 'very high', 'true'); create type odd as enum ('a-b');
       create table gauge (id int primary key, level level, odd odd, odds odd[]);`,
    );
    const remedy = 'choose another name in the "mappings" of the comment directive';
    const reasons = Object.entries(reasonsByObject(model)).map(([name, reason]) => `${name}: ${reason.replaceAll(/s\d+\./g, '')}`);
    assert.deepEqual(reasons, [
      `enum value level.very high: "very high" is not a valid GraphQL name; ${remedy}`,
      `enum value level.true: "true" is not a valid GraphQL name; ${remedy}`,
      'enum odd: none of its labels is a valid GraphQL name, so its values are Opaque; name them in the "mappings" of its comment directive',
    ]);
    const types = tableOf(model, 'Gauge').columns.map(({ type }) => (type.kind === 'list' ? type.element : type));
    assert.deepEqual(
      types.map((type) => (type.kind === 'scalar' ? type.scalar : type.kind)),
      ['Int', 'enum', 'Opaque', 'Opaque'],
    );
  });

  it('reports which privilege is missing', async () => {
    const model = await models.build(
      `create table up (id int primary key, label text, hidden int); create table down (id int primary key, up_id int references up);
       create table shut (id int primary key); create function call_me() returns int stable language sql as 'select 1';
       create function _loud(u up) returns text stable language sql as 'select 1::text'; create schema closed;
       revoke all on up, shut from anon; grant select (label) on up to anon; revoke execute on function call_me from public;`,
      { role: 'anon', schemas: ['closed'] },
    );
    const lacking = model.exclusions.map(({ object, cause, lacking }) => [object, cause, lacking?.privilege, lacking?.column ?? null]);
    assert.deepEqual(lacking, [
      ['schema', 'not-granted', 'usage', null],
      ['table', 'not-granted', 'select', null],
      ['column', 'not-granted', 'select', 'id'],
      ['column', 'not-granted', 'select', 'hidden'],
      ['relation', 'not-granted', 'select', 'id'],
      ['function', 'not-granted', 'select', null],
      ['function', 'not-granted', 'execute', null],
    ]);
    for (const { lacking } of model.exclusions) assert.ok((lacking?.id ?? 0) > 0);
  });

  it('gives each column its own name: if two share one, the later keeps it', async () => {
    const model = await models.build(
      `create table kite (id int primary key, tail_len int, "tailLen" text, "nodeId" int, "no good" int, __typename int);
       comment on column kite.__typename is '@graphql({"name": "__typename"})';`,
      { directive: unadapted },
    );
    assert.deepEqual(
      tableOf(model, 'Kite').columns.map((column) => [column.name, column.fieldName, column.rowFieldName, column.filterName].join(' ')),
      [
        'id id id id',
        'tail_len tailLenColumn tailLenColumn tailLenColumn',
        'tailLen tailLen tailLen tailLen',
        'nodeId nodeId nodeIdColumn nodeIdColumn',
      ],
    );
    assert.deepEqual(Object.keys(reasonsByObject(model)).sort(), ['column kite.__typename', 'column kite.no good']);
    assert.deepEqual(renamedObjects(model), ['column kite.tail_len', 'column kite.nodeId']);
  });

  it('adapts names that GraphQL forbids, which give way to all others', async () => {
    const model = await models.build(
      `create type "mood kind" as enum ('calm', 'so-so');
       create table "user-role" (id int primary key, "full name" text, "full-name" text, full_name text, "größe" int, "2nd" int, mood "mood kind", "%" int);
       create table "ключ" (id int primary key, "user role_id" int references "user-role"); create table "a-b" (id int primary key);
       create table a_b (id int primary key); create table "x y" (id int primary key); create type x_y as enum ('a');
       create table "given-name" (id int primary key); comment on table "given-name" is '@graphql({"name": "still no"})';
       create function "user-role"() returns int stable language sql as 'select 1';
       create function "full_Name"("user-role") returns int stable language sql as 'select 1';
       create function "user roles"("user-role") returns int stable language sql as 'select 1';
       create function "do it"("how much" int, how_much int, "Why?" text default 'x') returns int language sql as 'select $1';`,
      { directive: { inflect_names: false } },
    );
    const prefix = model.schemas[0];
    assert.deepEqual(
      model.tables.map(({ typeName, stem }) => `${typeName} ${stem}`),
      ['user_role user_role', 'u043au043bu044eu0447 u043au043bu044eu0447', `${prefix}_a_b ${prefix}_a_b`, 'a_b a_b', `${prefix}_x_y x_y`],
    );
    assert.deepEqual(
      model.enums.map(({ typeName }) => typeName),
      ['x_y', 'mood_kind'],
    );
    const roles = tableOf(model, 'user_role');
    assert.deepEqual(
      roles.columns.map(({ fieldName, rowFieldName }) => (fieldName === rowFieldName ? fieldName : `${fieldName} ${rowFieldName}`)),
      ['id', 'full_nameColumn', 'full_nameColumn2', 'full_name', 'grosse', '_2nd', 'mood', '_'],
    );
    assert.deepEqual(
      [fieldNames(roles.computed), fieldNames(roles.relations)],
      [['full_Name', 'user_roles'], ['u043au043bu044eu0447Collection']],
    );
    assert.deepEqual(fieldNames(tableOf(model, 'u043au043bu044eu0447').relations), ['user_role']);
    assert.deepEqual(
      model.routines.map(({ fieldName, arguments: args }) => [fieldName, ...args.map(({ argumentName }) => argumentName)].join(' ')),
      ['user_role', 'do_it how_muchArgument how_much why_'],
    );
    assert.deepEqual(Object.keys(reasonsByObject(model)), ['table given-name', 'enum value mood kind.so-so']);
    const [first] = model.renamings.filter(({ name }) => name.endsWith('.user-role'));
    assert.equal(
      first?.reason,
      '"user-role" is not a valid GraphQL name, so it is called "user_role"; choose another name with the comment directive {"name": "..."}',
    );
  });

  it('reports schemas that do not exist or that the role may not use', async () => {
    const model = await models.build('create schema shut; create table shut.inside (id int primary key)', { schemas: ['shut', 'nowhere'] });
    assert.equal(model.schemas.length, 1);
    assert.deepEqual(reasonsByObject(model), {
      'schema shut': 'the role service_role cannot use it; grant usage on schema shut to the role',
      'schema nowhere': 'it does not exist; create it, or remove it from the exposed schemas',
    });
  });

  it('ignores malformed directives', async () => {
    const model = await models.build(
      `create table seen (id int primary key); comment on column seen.id is '@graphql({"name": tru})';
       comment on table seen is '@graphql({"name": "Known", "max_rows": "many"}) (all of it)';`,
    );
    assert.deepEqual([...fieldNames(tableOf(model, 'Known').columns), tableOf(model, 'Known').maxRows], ['id', 30]);
  });
});

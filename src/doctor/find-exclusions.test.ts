import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GraphQLEnumType, GraphQLInputObjectType, GraphQLObjectType } from 'graphql';
import { type Doctor, linesOf, onlyOf, startDoctor } from '../../test/support/doctor.ts';
import { runAtOnce } from '../budget/turns.ts';
import type { Catalog, CatalogForeignKey } from '../catalog/catalog.ts';
import { loadCatalog } from '../catalog/load-catalog.ts';
import { loadPrivileges } from '../catalog/privileges.ts';
import type { Database } from '../database/database.ts';
import { buildModel } from '../model/build-model.ts';
import type { Model } from '../model/model.ts';
import { functionName } from '../model/naming/names.ts';
import { buildSchema } from '../schema/build-schema.ts';
import { examineDatabase } from './examine-database.ts';
import { exclusionCodes } from './finding-codes.ts';

describe('findExclusions', () => {
  let doctor: Doctor;

  before(async () => {
    doctor = await startDoctor();
  });
  after(() => doctor.close());

  it('names enum labels that GraphQL cannot name in a comment, and keeps the rest of the directive', async () => {
    const sql = `create type plan as enum ('solo', 'team-plan', '2nd', 'it''s');
      comment on type plan is '@graphql({"name": "Plan", "mappings": {"solo": "SOLO"}})';
      create table account (id int primary key, plan plan); grant select on account to anon;`;
    const findings = await doctor.examine(sql);
    const ofEnum = findings.filter(({ object }) => object === 'enum value');
    assert.deepEqual(
      ofEnum.map(({ name }) => name),
      ['s.plan.2nd', "s.plan.it's", 's.plan.team-plan'],
    );
    const [remedy = ''] = new Set(ofEnum.map((finding) => finding.remedy ?? ''));
    assert.equal(
      remedy,
      `comment on type s.plan is '@graphql({"name":"Plan","mappings":{"solo":"SOLO","team-plan":"team_plan","2nd":"_2nd","it''s":"it_s"}})'; -- replaces the comment of the type`,
    );
    const mended = await doctor.examine(`${sql} ${remedy.replace('s.plan', 'plan')}\n`);
    assert.deepEqual(linesOf(mended, 'illegal-name'), []);
  });

  it('refers to the finding of another table only if there is one', async () => {
    await doctor.run('create schema elsewhere; create table elsewhere.target (id int primary key)');
    const findings = await doctor.examine(
      `create table source (id int primary key, target_id int references elsewhere.target); grant select on source to anon;
       create table hidden (id int primary key); create table near (id int primary key, hidden_id int references hidden); grant select on near to anon;`,
    );
    assert.deepEqual(
      findings.filter(({ code }) => code === 'owner-left-out').map(({ message }) => message),
      [
        'its target s.hidden is not in the API; see the finding for that table',
        'its target elsewhere.target is not in the API; expose its schema',
      ],
    );
  });

  it('suggests the grant that would add an object to the API', async () => {
    await doctor.run(`create schema away; create schema shut; create table shut."In" (id int primary key, up int references shut."In");
      create function shut.call_me() returns int language sql as 'select 1'; create type shut.mood as enum ('calm');`);
    const findings = await doctor.examine(
      `create table hidden (id int primary key, "B" int); create table partly (id int primary key, "Not Me" int); grant select (id) on partly to anon;
       create table up (id int primary key, label text); create table down (id int primary key, up_id int references up); grant select on down to anon; grant select (label) on up to anon;
       create index on down (up_id); create function act(a int) returns int stable language sql as 'select 1'; revoke execute on function act from public;
       create procedure proceed() language sql as ''; revoke execute on procedure proceed from public;
       create function _loud(u up) returns text stable language sql as 'select 1::text';
       create function away._far(d down) returns text stable language sql as 'select 1::text';`,
      { schemas: ['shut', 'nowhere'] },
    );
    assert.deepEqual(
      findings.flatMap(({ code, object, name, remedy }) => (code === 'not-granted' ? [`${object} ${name}: ${remedy}`] : [])),
      [
        'column s.partly.Not Me: grant select ("Not Me") on table s.partly to anon;',
        'column s.up.id: grant select (id) on table s.up to anon;',
        'function away._far(s.down): grant usage on schema away to anon;',
        'function s._loud(s.up): grant select on table s.up to anon;',
        'function s.act(integer): grant execute on function s.act(integer) to anon;',
        'function s.proceed(): grant execute on routine s.proceed() to anon;',
        'relation s.down.down_up_id_fkey: grant select (id) on table s.up to anon;',
        'schema shut: grant usage on schema shut to anon;',
        'table s.hidden: grant select on table s.hidden to anon;',
      ],
    );
    assert.deepEqual(findings.find(({ object, code }) => object === 'table' && code === 'not-granted')?.contains, [
      'column s.hidden.id',
      'column s.hidden.B',
    ]);
    assert.deepEqual(findings.find(({ name }) => name === 'shut')?.contains, [
      'table shut.In',
      'column shut.In.id',
      'column shut.In.up',
      'relation shut.In.In_up_fkey',
      'function shut.call_me()',
      'enum shut.mood',
    ]);
    assert.deepEqual(linesOf(findings, 'missing-schema'), ['missing-schema schema nowhere']);
  });

  it('leaves out a function over rows that PostgreSQL cannot tell from a namesake with defaults', async () => {
    await doctor.run('create schema apart; grant usage on schema apart to anon');
    const findings = await doctor.examine(
      `create table person (id int primary key); grant select on person to anon;
       create function _full(p person) returns text stable language sql as 'select 1::text';
       create function _full(p person, long boolean default false) returns text stable language sql as 'select 1::text';
       create function apart._far(p person) returns text stable language sql as 'select 1::text';
       create function apart._far(p person, n int default 1, variadic more int[] default '{}') returns text stable language sql as 'select 1::text';
       create function _fine(p person) returns text stable language sql as 'select 1::text';
       create function _fine(p person, long boolean) returns text stable language sql as 'select 1::text';
       create function _fine(p text, long boolean default false) returns text stable language sql as 'select 1::text';`,
    );
    assert.deepEqual(
      linesOf(findings, 'not-callable').filter((line) => line.includes('_f')),
      ['not-callable function apart._far(s.person)', 'not-callable function s._full(s.person)'],
    );
  });

  it('says how many functions of an extension are not fields', async () => {
    await doctor.run('create schema extra; create extension citext with schema extra; grant usage on schema extra to anon');
    const inside = await doctor.examine('', { schemas: ['extra'] });
    const found = onlyOf(inside, 'extension-functions');
    assert.deepEqual([found.object, found.name], ['extension', 'citext']);
    assert.ok(found.contains.includes('function extra.citext_eq(extra.citext, extra.citext)'));
    assert.match(found.message, new RegExp(`^${found.contains.length} of its functions`));
    assert.deepEqual(linesOf(inside, 'not-callable', 'unsupported-type', 'name-taken'), []);
  });

  it('reports every object that is not in the API', async () => {
    await doctor.run(zoo);
    const { database } = doctor;
    const rows = await doctor.run(objectsText);
    for (const role of ['anon', 'service_role']) {
      const { findings } = await examineDatabase(database, zooSchemas, role);
      const said = new Set(
        findings.flatMap(({ code, object, name, contains }) => (code in exclusionCodes ? [`${object} ${name}`, ...contains] : [])),
      );
      const present = await objectsInApi(database, role);
      const missing = rows.map(({ name }) => String(name)).filter((name) => !present.has(name) && !said.has(name));
      assert.deepEqual(missing, [], role);
      assert.ok(rows.length > 50 && present.size > 10, `${rows.length} objects, ${present.size} in the API`);
    }
  });
});

const zooSchemas = ['zoo', 'shed', 'cellar'];

/** One example of everything that can be left out of the API, and of everything that cannot. */
const zoo = `
  create schema zoo; create schema shed; create schema cellar; grant usage on schema zoo, shed to anon, service_role; set search_path to zoo;
  alter default privileges in schema zoo, shed grant all on tables to anon, service_role; comment on schema zoo is '@graphql({"inflect_names": true})';
  create type mood as enum ('calm', 'so so', 'null'); create type only_odd as enum ('a-b'); create type "odd name" as enum ('a'); create type pair as (a int, b int);
  create domain codes as int[];
  create table keeper (id int primary key, name text, secret text); revoke all on keeper from anon; grant select (id), insert (id, name), update (name) on keeper to anon;
  create table animal (id int primary key, keeper_id int references keeper, mother_id int references animal, mood mood, only_odd only_odd, odds only_odd[], pair pair, pairs pair[],
    codes codes, "no good" int, "nodeId" int, tail_len int, "tailLen" int, shout text, keeper text, kept "odd name", row keeper, other_keeper_id int references keeper);
  create table keyless (id int unique, animal_id int references animal); create table bare (); create table "has space" (id int primary key);
  create table int_filter (id int primary key); create table hidden (id int primary key, animal_id int references animal); revoke all on hidden from anon, service_role;
  create table cage (id int, animal_id int references animal, primary key (id)) partition by list (id); create table cage_one partition of cage for values in (1);
  create view seen as select * from animal; create materialized view counted as select count(*) as c from animal;
  create view declared as select id, keeper_id from animal; comment on view declared is '@graphql({"primary_key_columns": ["id"]})';
  create table shed.tool (id int primary key, animal_id int references animal); create table cellar.wine (id int primary key, animal_id int references animal);
  create function cellar.pour(wine cellar.wine) returns int language sql as 'select 1';
  create function feed(animal_id int) returns int language sql as 'select 1'; create function _shout(a animal) returns text stable language sql as 'select 1::text';
  create function shout(a animal) returns text stable language sql as 'select 1::text'; create function twice(a int) returns int language sql as 'select 1';
  create function twice(a text) returns int language sql as 'select 1'; create function pairs() returns setof pair language sql as 'select 1, 2';
  create function all_hidden() returns setof hidden stable language sql as 'select 1, 2'; create function nameless(int) returns int language sql as 'select 1';
  create function fired() returns trigger language plpgsql as 'begin return new; end'; create aggregate total (a int) (sfunc = int4pl, stype = int);
  create function refused() returns int language sql as 'select 1'; revoke execute on function refused from public; create procedure proceed() language sql as '';
  create function a_mood() returns mood language sql as 'select null::mood'; create function "odd name"() returns int language sql as 'select 1';
  create function animal_collection() returns int stable language sql as 'select 1'; comment on function animal_collection is '@graphql({"name": "animalCollection"})';
  create function "keeperCollection"(a animal) returns text stable language sql as 'select 1::text';`;

/** Selects all tables, columns, foreign keys, functions and enum values of these schemas. */
const objectsText = `
  with schema as (select oid, nspname from pg_namespace where nspname = any ('{${zooSchemas}}'))
  select case c.relkind when 'r' then 'table ' when 'p' then 'partitioned table ' when 'v' then 'view ' else 'materialized view ' end
    || s.nspname || '.' || c.relname as name
  from pg_class c join schema s on s.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm')
  union all
  select 'column ' || s.nspname || '.' || c.relname || '.' || a.attname
  from pg_class c join schema s on s.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
  where c.relkind in ('r', 'p', 'v', 'm') and a.attnum > 0 and not a.attisdropped
  union all
  select 'relation ' || s.nspname || '.' || c.relname || '.' || k.conname
  from pg_constraint k join pg_class c on c.oid = k.conrelid join schema s on s.oid = c.relnamespace where k.contype = 'f'
  union all
  select 'function ' || s.nspname || '.' || p.proname || '(' || array_to_string(array(
    select case n.nspname when 'pg_catalog' then format_type(t.oid, null) else n.nspname || '.' || t.typname end
    from unnest(p.proargtypes) with ordinality a(id, number) join pg_type t on t.oid = a.id join pg_namespace n on n.oid = t.typnamespace order by a.number
  ), ', ') || ')'
  from pg_proc p join schema s on s.oid = p.pronamespace
  union all
  select 'enum value ' || s.nspname || '.' || t.typname || '.' || e.enumlabel
  from pg_enum e join pg_type t on t.oid = e.enumtypid join schema s on s.oid = t.typnamespace where s.nspname = 'zoo' and t.typname not in ('odd name', 'only_odd')`;

/** The objects reachable in a role's GraphQL schema, by their PostgreSQL names. */
async function objectsInApi(database: Database, role: string): Promise<Set<string>> {
  const catalog = await loadCatalog(database, zooSchemas);
  const model = runAtOnce(buildModel(catalog, await loadPrivileges(database, catalog, role)));
  const schema = runAtOnce(buildSchema(model));
  const names = new Set<string>();
  const fieldsOf = (name: string): string[] => {
    const type = schema.getType(name);
    return type instanceof GraphQLObjectType || type instanceof GraphQLInputObjectType ? Object.keys(type.getFields()) : [];
  };
  for (const { kind, schema: schemaName, name, typeName, columns, computed, relations } of model.tables) {
    const table = `${schemaName}.${name}`;
    const fields = fieldsOf(typeName);
    const reached = new Set([...fields, ...fieldsOf(`${typeName}InsertInput`), ...fieldsOf(`${typeName}UpdateInput`)]);
    const named = [...computed, ...relations, ...columns.filter(({ selectable }) => selectable)];
    assert.equal(new Set(named.map((field) => ('rowFieldName' in field ? field.rowFieldName : field.fieldName))).size, named.length, table);
    for (const field of [...computed, ...relations]) assert.ok(fields.includes(field.fieldName), `${table}: ${field.fieldName}`);
    names.add(`${kind} ${table}`);
    for (const column of columns)
      if (reached.has(column.selectable ? column.rowFieldName : column.fieldName)) names.add(`column ${table}.${column.name}`);
  }
  const routines = new Set([...model.routines, ...model.tables.flatMap(({ computed }) => computed)].map(({ id }) => id));
  for (const source of catalog.functions) if (routines.has(source.id)) names.add(`function ${functionName(catalog, source)}`);
  for (const key of catalog.foreignKeys) if (isFollowed(model, catalog, key)) names.add(`relation ${nameOfKey(catalog, key)}`);
  for (const { typeName, schema: schemaName, name, values } of model.enums) {
    const type = schema.getType(typeName);
    const listed = type instanceof GraphQLEnumType ? type.getValues().map((value) => value.name) : [];
    for (const value of values) if (listed.includes(value.name)) names.add(`enum value ${schemaName}.${name}.${value.label}`);
  }
  return names;
}

function nameOfKey({ tables, schemas }: Catalog, { tableId, name }: CatalogForeignKey): string {
  const table = tables.find(({ id }) => id === tableId);
  return `${schemas.find(({ id }) => id === table?.schemaId)?.name}.${table?.name}.${name}`;
}

/** Whether both sides of the relation have a field. */
function isFollowed(model: Model, { tables }: Catalog, key: CatalogForeignKey): boolean {
  const namesOf = (tableId: number, numbers: readonly number[]) =>
    numbers.map((number) => tables.find(({ id }) => id === tableId)?.columns.find((column) => column.number === number)?.name ?? '');
  const [near, far] = [namesOf(key.tableId, key.columns), namesOf(key.targetId, key.targetColumns)];
  const leads = (fromId: number, toId: number, from: readonly string[], to: readonly string[]) =>
    model.tables
      .find(({ id }) => id === fromId)
      ?.relations.some(
        ({ target, columns }) =>
          target.id === toId && columns.every((pair, index) => pair.near === from[index] && pair.target === to[index]),
      );
  return Boolean(leads(key.tableId, key.targetId, near, far) && leads(key.targetId, key.tableId, far, near));
}

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  fieldNames,
  type ModelBuilder,
  reasonsByObject,
  renamedObjects,
  startModelBuilder,
  tableOf,
} from '../../../test/support/model-builder.ts';

describe('functions as fields', () => {
  let models: ModelBuilder;

  before(async () => {
    models = await startModelBuilder();
  });
  after(() => models.close());

  it('has computed fields, which take precedence over relations and columns', async () => {
    const model = await models.build(
      `create table up (id int primary key); create table entry (id int primary key, label text, note text, up_id int references up);
       create function _label(e entry) returns text stable language sql as 'select 1::text';
       create function up(e entry) returns text language sql as 'select 1::text';
       create function ups(e entry) returns setof up stable language sql as 'select 1';
       create function one_up(e entry) returns setof up rows 1 stable language sql as 'select 1';
       create function pairs(e entry) returns table (a int, b int) stable language sql as 'select 1, 2';
       create function many_ups(e entry) returns up[] stable language sql as 'select null::up[]';
       create function one_out(e entry, out x int) stable language sql as 'select 1';
       create function two_out(e entry, out x int, out y int) stable language sql as 'select 1, 2';
       create function numbers(e entry) returns setof int stable language sql as 'select 1';
       create function refused(e entry) returns int stable language sql as 'select 1'; revoke execute on function refused from public;`,
    );
    const entry = tableOf(model, 'Entry');
    assert.deepEqual(
      entry.computed.map(({ fieldName, result, volatile }) => `${fieldName} ${result.kind} ${volatile}`),
      [
        ...['label value false', 'up value true', 'ups rows false', 'oneUp row false', 'pairs row set false', 'manyUps row list false'],
        ...['oneOut value false', 'twoOut row false', 'numbers value set false'],
      ],
    );
    assert.deepEqual(fieldNames(entry.columns), ['id', 'label', 'note', 'upId']);
    assert.deepEqual(
      entry.columns.map(({ rowFieldName }) => rowFieldName),
      ['id', 'labelColumn', 'note', 'upId'],
    );
    assert.deepEqual(fieldNames(entry.relations), ['upByUpId']);
    assert.deepEqual(Object.keys(reasonsByObject(model)), ['function refused']);
    assert.deepEqual(renamedObjects(model), ['relation entry.entry_up_id_fkey', 'column entry.label']);
  });

  it('requires SELECT on the whole table for computed fields', async () => {
    const model = await models.build(
      `create table entry (id int primary key, label text); create function _loud(e entry) returns text stable language sql as 'select 1::text';
       revoke all on entry from anon; grant select (id) on entry to anon;`,
      { role: 'anon' },
    );
    assert.deepEqual(tableOf(model, 'Entry').computed, []);
    assert.match(reasonsByObject(model)['function _loud'] ?? '', /it reads whole rows/);
  });

  it('has functions with their arguments and results, and reports why others are left out', async () => {
    const model = await models.build(
      `create type mood as enum ('calm'); create type pair as (x int); create table swap (id int primary key); create table keyless (v int);
       create function act(swap_id int, out made int, "Odd Name" text default 'x', how text default 'a, b', loud boolean default null) language sql as 'select 1';
       create function one() returns swap stable language sql as 'select 1'; create function all_of() returns setof swap stable language sql as 'select 1';
       create function first_of(first int) returns setof swap stable language sql as 'select 1';
       create function nothing() returns void language sql as ''; create function same(v anyelement) returns anyelement stable language sql as 'select v';
       create function swaps() returns swap[] stable language sql as 'select null::swap[]';
       create function list() returns int[] stable language sql as 'select null::int[]';
       create function a_mood() returns mood stable language sql as 'select null::mood'; create function moods(m mood[]) returns int stable language sql as 'select 1';
       create function a_pair() returns pair stable language sql as 'select null::pair'; create function a_record() returns record stable language sql as 'select 1, 2';
       create function a_keyless() returns keyless stable language sql as 'select 1'; create function ints() returns setof int stable language sql as 'select 1';
       create function twice(a int) returns int stable language sql as 'select 1'; create function twice(a text) returns int stable language sql as 'select 1';
       create function nameless(int) returns int stable language sql as 'select 1'; create function "swapCollection"() returns int stable language sql as 'select 1';
       create function same_names(a_b int, "aB" int) returns int stable language sql as 'select 1'; create function node() returns int stable language sql as 'select 1';
       create function "odd name"() returns int stable language sql as 'select 1'; create aggregate total (a int) (sfunc = int4pl, stype = int);`,
      { directive: { additions: { adaptedNames: false, composites: false, moreFunctions: false } } },
    );
    assert.deepEqual(
      model.routines.map(({ fieldName, volatile, result }) => `${fieldName} ${volatile} ${result.kind}`),
      [
        ...[
          'act true value',
          'one false row',
          'allOf false rows',
          'firstOf false rows',
          'nothing true void',
          'same false value',
          'list false value',
          'aMood false value',
          'moods false value',
        ],
        ...[`${model.schemas[0]}SwapCollection false value`, 'sameNames false value', `${model.schemas[0]}Node false value`],
      ],
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
    const argumentsOf = (name: string) =>
      model.routines.find(({ fieldName }) => fieldName === name)?.arguments.map(({ argumentName }) => argumentName);
    assert.deepEqual([argumentsOf('firstOf'), argumentsOf('sameNames')], [['firstArgument'], ['aB', 'aBArgument']]);
    const reasons = reasonsByObject(model);
    const functions = Object.keys(reasons).filter((name) => name.startsWith('function '));
    assert.deepEqual(functions.map((name) => name.slice('function '.length)).sort(), [
      'a_keyless',
      'a_pair',
      'a_record',
      'ints',
      'nameless',
      'odd name',
      'swaps',
      'total',
      'twice',
    ]);
    for (const name of functions) assert.match(reasons[name] ?? '', /; /, name);
    assert.equal(reasons['argument act.Odd Name'], '"odd Name" is not a valid GraphQL name; rename the argument');
  });

  it('requires all arguments of a variadic function, whose call applies no defaults', async () => {
    const model = await models.build(
      `create function total(a int default 1, variadic b int[] default '{}') returns int stable language sql as 'select a + cardinality(b)';`,
    );
    assert.deepEqual(
      model.routines[0]?.arguments.map(({ name, required, defaultValue }) => [name, required, defaultValue]),
      [
        ['a', true, undefined],
        ['b', true, undefined],
      ],
    );
  });

  it('reports functions with their argument types, and gives no advice that would not help', async () => {
    const model = await models.build(
      `create table hidden (id int primary key); revoke all on hidden from service_role;
       create function twice(a int) returns int stable language sql as 'select 1'; create function twice(b numeric, c int[]) returns int stable language sql as 'select 1';
       create function fired() returns trigger language plpgsql as 'begin return new; end'; revoke execute on function fired from public;
       create function all_hidden() returns setof hidden stable language sql as 'select 1'; revoke execute on function all_hidden from public;
       create function demands("odd name" int) returns int stable language sql as 'select 1';
       create function demands_many(a int, variadic "2nd" int[]) returns int stable language sql as 'select 1';
       create function takes(a int, "2nd" int default 2) returns int stable language sql as 'select 1';`,
      { directive: { additions: { adaptedNames: false, moreFunctions: false } } },
    );
    const reasons = model.exclusions.map(
      ({ object, name, cause, reason }) => `${object} ${name.replace(/^s\d+\./, '')} ${cause} ${reason.replace(/s\d+\./, '')}`,
    );
    assert.deepEqual(reasons.slice(1), [
      'function twice(integer) name-taken another function has the same name; rename one of them',
      'function twice(numeric, integer[]) name-taken another function has the same name; rename one of them',
      'function fired() not-callable it is a trigger function; only triggers can call it',
      'function all_hidden() owner-left-out it returns rows of hidden, which is not in the API; see the finding for that table',
      'argument demands(integer).odd name illegal-name "odd Name" is not a valid GraphQL name, so the function cannot be called; rename the argument',
      'argument demands_many(integer, integer[]).2nd illegal-name "2nd" is not a valid GraphQL name, so the function cannot be called; rename the argument',
      'argument takes(integer, integer).2nd illegal-name "2nd" is not a valid GraphQL name; rename the argument',
    ]);
    assert.deepEqual(
      model.routines.map(({ fieldName, unreachableArgument }) => [fieldName, unreachableArgument]),
      [
        ['demands', 'odd name'],
        ['demandsMany', '2nd'],
        ['takes', null],
      ],
    );
  });
});

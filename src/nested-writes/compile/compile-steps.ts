/**
 * A nested write as statements: one for each step, which stores keys for later ones (`key-list.ts`), and one that reads the response by the
 * keys of the written rows. For comments inserted after their posts:
 *
 *     with source as (…),
 *     written as (insert into "public"."comment" as t1 ("words", "post_id") select s.o0, s.o1 from source as s returning t1."id" as c0)
 *     select set_config('rowgraph.keys_2_0', …, true), case when pg_catalog.count(*) < 3 then ('rowgraph: …' || …)::int4::text else '' end
 *     from written as w
 */

import { compileFilter } from '../../compile/compile-filter.ts';
import { Aliases, directScope, type Scope, tableName } from '../../compile/scope.ts';
import { type Frame, type Guard, noFrame, type StatementContext, selectList } from '../../compile/statement.ts';
import { collated, comparable, comparedType, differ } from '../../compile/values/comparison.ts';
import { assignmentOf, conflict, incrementOf } from '../../compile/write/compile-mutation.ts';
import { hasRows, responseOfNone, responseOfOne, responseOfRows } from '../../compile/write/compile-response.ts';
import { checkCount, countRow, type LimitedChange, raiseIf, resetCount } from '../../compile/write/raise.ts';
import type { Table } from '../../model/model.ts';
import type {
  DeleteStep,
  InsertStep,
  KeyList,
  KeyPair,
  LockStep,
  NestedStep,
  NestedWritePlan,
  UpdateStep,
  WrittenRows,
} from '../../plan/nested-write-plan.ts';
import { whereAll } from '../../sql/clauses.ts';
import { concatenate } from '../../sql/json-text.ts';
import { bind, identifier, integer, join, newLine, type Sql, sql, trusted } from '../../sql/sql.ts';
import { attachRows, findRows } from './find-rows.ts';
import {
  countOfKeys,
  holdsOnlyRow,
  keepKeys,
  keepReturned,
  keptColumns,
  keyColumn,
  keyLabel,
  keyRows,
  keysAsArray,
  onlyKey,
} from './key-list.ts';
import { compileSource, mustBeNumbered, outputColumns } from './row-source.ts';

/** Compiles each step to a statement. */
export function compileSteps({ steps }: NestedWritePlan, guard: Guard): Sql[] {
  const frame = { ...noFrame, guard };
  return steps.map((step) => compileStep(step, frame));
}

function compileStep(step: NestedStep, frame: Frame): Sql {
  switch (step.kind) {
    case 'insert':
      return insertRows(step, frame);
    case 'find':
      return findRows(step, frame);
    case 'attach':
      return attachRows(step, frame);
    case 'lock':
    case 'update':
    case 'delete':
      return changeRows(step, frame);
  }
}

function insertRows(step: InsertStep, frame: Frame): Sql {
  const { table, source, lenient, into, appends } = step;
  const list = isKept(into) ? into : null;
  const isNumbered = list?.labels === null || mustBeNumbered(source);
  const { expression, count } = compileSource(source, isNumbered);
  const aliases = new Aliases();
  const target = directScope(aliases.next(), table);
  const insert = insertion(step, target, aliases, isNumbered);
  if (returningSuffices(step, list, frame)) {
    const returning = list ? sql`${newLine}returning ${selectList(frame, keepReturned(list, target))}` : sql``;
    return sql`with ${expression}${newLine}${insert}${returning}`;
  }
  // Rows whose keys are stored are counted even if no trigger is known to skip any.
  const isCounted = !lenient && (list !== null || !table.insertsEveryRow);
  const counted = list === null ? sql`(select pg_catalog.count(*) from written)` : sql`pg_catalog.count(*)`;
  const checks = [
    ...(isCounted ? [raiseIf(sql`${counted} < ${count}`, 'insert-left-out')] : []),
    ...(source.same.length > 0 ? [raiseIf(sql`${differing} is not null`, 'values-differ', differing)] : []),
  ];
  const columns = [...(list ? keepKeys(list, trusted('s.n'), 'w', appends) : []), ...checks];
  const returned = list ? keptColumns(list, target.alias) : sql`1`;
  const returning = list !== null || isCounted ? sql`${newLine}returning ${returned}` : sql``;
  const written = sql`written as (${insert}${returning})`;
  return sql`with ${expression},${newLine}${written}${newLine}select ${selectList(frame, columns.length > 0 ? columns : [sql`1`])}${list ? writtenRows(list) : sql``}`;
}

/** Whether RETURNING suffices: it has to store only the key of a single row that no trigger skips, or nothing at all. */
function returningSuffices({ table, source, onConflict, lenient }: InsertStep, list: KeyList | null, { guard }: Frame): boolean {
  if (source.same.length > 0) return false;
  if (list === null) return guard.length === 0 && (lenient || table.insertsEveryRow);
  return holdsOnlyRow(list) && table.insertsEveryRow && onConflict === null;
}

const differing = sql`(select pg_catalog.min(n) from source where differs)`;

/** A list is not stored if no column of it is read. */
function isKept(list: KeyList | null): list is KeyList {
  return list !== null && list.columns.length > 0;
}

function insertion({ table, source, onConflict }: InsertStep, target: Scope, aliases: Aliases, isNumbered: boolean): Sql {
  const rows = insertedRows(source, isNumbered);
  return sql`insert into ${tableName(table)} as ${trusted(target.alias)} ${rows}${onConflict ? sql`${newLine}${conflict(onConflict, table, target, aliases)}` : sql``}`;
}

/** The written rows, with their labels if the list stores them. */
function writtenRows({ labels }: KeyList): Sql {
  if (labels !== null) return sql`${newLine}from written as w`;
  return sql`${newLine}from (select pg_catalog.row_number() over () as m, w.* from written as w) as w join source as s on s.m = w.m`;
}

/**
 * Inserts a row for each row of the source. Columns that it does not give take their defaults, even if it gives none, because a select may
 * have no columns.
 */
function insertedRows(source: InsertStep['source'], isNumbered: boolean): Sql {
  const outputs = outputColumns(source);
  const names = outputs.map(({ column }) => identifier(column.name));
  const values = outputs.map(({ name }) => trusted(`s.${name}`));
  const columns = outputs.length > 0 ? sql`(${join(names, ', ')})${newLine}` : sql``;
  return sql`${columns}select ${join(values, ', ')} from source as s${isNumbered ? sql` order by s.m` : sql``}`;
}

function changeRows(step: LockStep | UpdateStep | DeleteStep, frame: Frame): Sql {
  const aliases = new Aliases();
  const target = directScope(aliases.next(), step.table);
  const list = step.kind !== 'delete' && isKept(step.into) ? step.into : null;
  const limited = limitOf(step);
  const counted = limited && step.kind !== 'lock' ? sql`, ${countRow(limited)} as counted` : sql``;
  const returned = sql`${list ? keptColumns(list, target.alias) : sql`1 as c`}${counted}`;
  const limit = limited && (step.kind === 'lock' ? checkCount(limited, trusted('pg_catalog.count(*)')) : resetCount);
  const changed = sql`with changed as (${change(step, target, aliases, returned)})`;
  const kept = list ? keepKeys(list, integer(0), 'w', false) : [];
  const checks = [...(limit ? [limit] : []), ...(step.kind === 'update' ? disagreements(step) : [])];
  // An aggregate, so that the select returns one row.
  const columns = kept.length > 0 || limit ? [...kept, ...checks] : [sql`pg_catalog.count(*)`, ...checks];
  return sql`${changed}${newLine}select ${selectList(frame, columns)}${newLine}from (select pg_catalog.row_number() over () as m, c.* from changed as c) as w`;
}

function limitOf({ kind, rows: { atMost } }: LockStep | UpdateStep | DeleteStep): LimitedChange | null {
  return atMost && { kind: kind === 'delete' ? 'delete' : 'update', atMost };
}

function change(step: LockStep | UpdateStep | DeleteStep, target: Scope, aliases: Aliases, returned: Sql): Sql {
  const table = sql`${tableName(step.table)} as ${trusted(target.alias)}`;
  const restricted = where(conditionsOf(step.rows, target, aliases, step.table));
  switch (step.kind) {
    case 'lock': {
      const { atMost } = step.rows;
      const limit = atMost ? sql`${newLine}limit ${bind(atMost, 'int8')} + 1` : sql``;
      return sql`select ${returned}${newLine}from ${table}${restricted}${limit}${isView(step.table) ? sql`` : sql`${newLine}for update of ${trusted(target.alias)}`}`;
    }
    case 'update':
      return sql`update ${table}${newLine}set ${join(assignmentsOf(step, target), ', ')}${restricted}${newLine}returning ${returned}`;
    case 'delete':
      return sql`delete from ${table}${restricted}${newLine}returning ${returned}`;
  }
}

/** PostgreSQL cannot lock the rows of every view. */
function isView({ kind }: Table): boolean {
  return kind === 'view' || kind === 'materialized view';
}

function assignmentsOf({ set, increment, nulled, taken }: UpdateStep, target: Scope): Sql[] {
  const first = taken.filter(({ column }, index) => taken.findIndex((each) => each.column === column) === index);
  return [
    ...set.map(assignmentOf),
    ...increment.map(({ column, parameter }) => incrementOf(column, parameter, target)),
    ...nulled.map((column) => sql`${identifier(column.name)} = null`),
    ...first.map((each) => sql`${identifier(each.column.name)} = ${takenValue(each)}`),
  ];
}

function takenValue({ column, from, of }: UpdateStep['taken'][number]): Sql {
  return onlyKey(from, of, column.type.sqlType);
}

/** Checks that relations that share a column give it the same value. */
function disagreements({ taken }: UpdateStep): Sql[] {
  const pairs = taken.flatMap((each, index) => {
    const first = taken.findIndex(({ column }) => column === each.column);
    return first < index ? [differ(takenValue(taken[first]!), takenValue(each), each.column.type)] : [];
  });
  return pairs.length > 0 ? [raiseIf(join(pairs, ' or '), 'values-differ')] : [];
}

function conditionsOf({ of, except, filter }: WrittenRows, target: Scope, aliases: Aliases, table: Table): Sql[] {
  const conditions: Sql[] = [];
  if (of) conditions.push(...belongsTo(of, target));
  if (except) {
    const key = table.primaryKey.map(
      ({ name, type }) => sql`${keyColumn(except, 'x', name, comparedType(type))} = ${comparable(target.column(name), type)}`,
    );
    conditions.push(sql`not exists (select 1 from ${keyRows(except, 'x')} where ${join(key, ' and ')})`);
  }
  if (filter) conditions.push(compileFilter(filter, target, aliases));
  return conditions;
}

/**
 * The conditions that rows are related to those of a list. With several columns, `areAmong` checks each column by itself, only so that an
 * index can be used; `exists` then checks them together.
 */
function belongsTo({ list, pairs }: NonNullable<WrittenRows['of']>, target: Scope): Sql[] {
  const among = areAmong(list, pairs, target);
  if (pairs.length === 1 && among.length === 1) return among;
  const isSame = pairs.map((pair) => sql`${keyColumn(list, 'k', pair.of, comparedType(pair.type))} = ${comparedColumn(pair, target)}`);
  return [...among, sql`exists (select 1 from ${keyRows(list, 'k')} where ${join(isSame, ' and ')})`];
}

/**
 * The conditions that each key column has one of the list's values. They use arrays because PostgreSQL expects few elements of an array but
 * many rows of JSON, so it uses the index of the key.
 */
function areAmong(list: KeyList, pairs: readonly KeyPair[], target: Scope): Sql[] {
  // Arrays cannot have arrays as elements.
  const simple = pairs.filter(({ type }) => !type.sqlType.endsWith('[]'));
  return simple.map((pair) => sql`${comparedColumn(pair, target)} = any (${keysAsArray(list, pair.of, comparedType(pair.type))})`);
}

function comparedColumn({ name, type, collation }: KeyPair, target: Scope): Sql {
  return collated(comparable(target.column(name), type), collation);
}

/** Compiles the statement that reads the response. */
export function compileWritten({ table, written, members }: NestedWritePlan, context: StatementContext, frame: Frame): Sql {
  const scope = directScope(context.aliases.next(), table);
  const isRead = hasRows(members);
  const rows = isRead ? rowsOf(written, table, scope) : sql``;
  // A query would be in both parts.
  const queries = members.some(({ value }) => value.kind === 'query');
  if (isRead && !queries && written.labels?.length === 1 && table.keyIsUnique) {
    const json = concatenate(responseOfOne(members, scope, context));
    return sql`select ${selectList(frame, [sql`coalesce((select ${json}${rows}), ${responseOfNone(members, context, '1')})`])}`;
  }
  const order = orderOf(written);
  const json = responseOfRows(members, scope, { count: countOfKeys(written), order }, context);
  return sql`select ${selectList(frame, [concatenate(json)])}${rows}`;
}

/** The order of the inputs: by label, then by row number. */
function orderOf(list: KeyList): Sql[] {
  if (list.labels === null) return [keyLabel('k'), trusted('k.m')];
  return list.labels.length > 1 ? [trusted('k.m')] : [];
}

/** FROM and WHERE for the current rows of a list. `k` is the list, if it has several. */
function rowsOf(list: KeyList, table: Table, scope: Scope): Sql {
  const { primaryKey } = table;
  const source = sql`${tableName(table)} as ${trusted(scope.alias)}`;
  if (list.labels?.length === 1) {
    const isOnly = primaryKey.map(
      ({ name, type }) => sql`${comparable(scope.column(name), type)} = ${onlyKey(list, name, comparedType(type))}`,
    );
    return sql`${newLine}from ${source}${where(isOnly)}`;
  }
  const key = primaryKey.map(
    ({ name, type }) => sql`${comparable(scope.column(name), type)} = ${keyColumn(list, 'k', name, comparedType(type))}`,
  );
  const pairs = primaryKey.map(({ name, type }) => ({ name, type, of: name, collation: null }));
  return sql`${newLine}from ${keyRows(list, 'k')} join ${source} on ${join(key, ' and ')}${where(areAmong(list, pairs, scope))}`;
}

function where(conditions: readonly Sql[]): Sql {
  return conditions.length > 0 ? sql`${newLine}${whereAll(conditions)!}` : sql``;
}

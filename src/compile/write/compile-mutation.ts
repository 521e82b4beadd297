/**
 * A mutation as one statement: a common table expression writes, and the select around it builds the response. If at most one row is
 * written, RETURNING builds the response. If the response needs more than the written rows, a second statement builds it
 * (`written-rows.ts`).
 *
 *     with changed as (update "public"."account" as t1 set "name" = $1::text where t1."kind" = $2::text returning t1."id", …)
 *     select concat('{"affectedCount":', pg_catalog.count(*), … from changed as t1
 */

import type { Column, Table } from '../../model/model.ts';
import type { Assignment, ConflictPlan, DeletePlan, InsertPlan, MutationPlan, Parameter, UpdatePlan } from '../../plan/plan.ts';
import { pinsColumns } from '../../plan/required-comparisons.ts';
import { concatenate } from '../../sql/json-text.ts';
import { bind, identifier, join, newLine, type Sql, sql, trusted } from '../../sql/sql.ts';
import { compileFilter } from '../compile-filter.ts';
import { where } from '../page/page-query.ts';
import { tableSource } from '../related-rows.ts';
import { type Guard, unguarded } from '../schema-guard.ts';
import { Aliases, DerivedScope, directScope, type Scope } from '../scope.ts';
import { type Frame, type FramesOfTwo, type SqlOfTwo, StatementContext, selectList } from '../statement.ts';
import { comparable } from '../values/comparison.ts';
import { checkCount, countRow, resetCount } from './at-most.ts';
import { hasRows, responseOfNone, responseOfOne, responseOfRows, writtenOrder } from './compile-response.ts';
import {
  hasReadableKey,
  rowsAsWritten,
  rowsByKey,
  rowsByKeyOrAsWritten,
  type WrittenRows,
  WrittenScope,
  writtenCount,
} from './written-rows.ts';

/**
 * Compiles a mutation. After the guard, the statement's only column is the JSON text of the response; if it returns no row, the response is
 * `empty`.
 */
export function compileMutation(
  plan: MutationPlan,
  context: StatementContext,
  frame: Frame,
): { readonly statement: Sql; readonly empty: string } {
  if (plan.kind === 'insert' && plan.rows.length === 1)
    return { statement: insertOne(plan, context, frame), empty: responseOfNothing(plan) };
  const statement = plan.kind !== 'insert' && isOfOneRow(plan) ? changeOne(plan, context, frame) : changeMany(plan, context, frame);
  return { statement, empty: 'null' };
}

/**
 * Whether the guard of a mutation can be in its source of rows: an insert of one row that no trigger precedes. Then nothing happens before the
 * guard, not even a function that is a column's default.
 *
 *     insert into "public"."post" ("title") select $1::text where (select case when … end from rowgraph.schema_change) is not null
 */
export function canGuardSource({ table, rows, onConflict }: InsertPlan): boolean {
  const [row, ...others] = rows;
  return (
    table.insertsFirst &&
    onConflict === null &&
    others.length === 0 &&
    row !== undefined &&
    row.length > 0 &&
    row.every((cell) => cell !== null)
  );
}

/** Inserts a single row, which builds the response itself, because there is nothing to aggregate. */
function insertOne(plan: InsertPlan, context: StatementContext, frame: Frame): Sql {
  const target = directScope(context.aliases.next(), plan.table);
  const json = concatenate(responseOfOne(plan.members, target, context));
  const written = write(plan, target, context.aliases, frame.guardsSource ? frame.guard : unguarded);
  return sql`${written}${newLine}returning ${selectList(frame, [json])}`;
}

/** Whether the filter pins the whole key. */
function isOfOneRow({ table, filter }: UpdatePlan | DeletePlan): boolean {
  return table.keyIsUnique && pinsColumns(filter, table.primaryKey);
}

/**
 * Updates or deletes a row by its key, which builds the response itself. The subselect fails if there is a second row: after a schema
 * change, the key may no longer be unique.
 *
 *     with changed as (delete from "public"."account" as t1 where t1."id" = $1::int4 returning concat('{"records":[{"id":', t1."id", '}]}') as "response")
 *     select coalesce((select "response" from changed), '{"records":[]}')
 *
 * Unless the document says that a row may be changed, the select checks `atMost`.
 */
function changeOne(plan: UpdatePlan | DeletePlan, context: StatementContext, frame: Frame): Sql {
  const target = directScope(context.aliases.next(), plan.table);
  const json = concatenate(responseOfOne(plan.members, target, context));
  const ofNothing = responseOfNone(plan.members, context, '0');
  const name = identifier('response');
  const changed = sql`with changed as (${write(plan, target, context.aliases)}${newLine}returning ${json} as ${name})`;
  const only = sql`(select ${name} from changed)`;
  if (mayChangeOne(plan)) return sql`${changed}${newLine}select ${selectList(frame, [sql`coalesce(${only}, ${ofNothing})`])}`;
  const alias = trusted(context.aliases.next());
  const response = sql`${alias}.${name}`;
  const checked = concatenate([sql`coalesce(${response}, ${ofNothing})`, checkCount(plan, sql`(${response} is not null)::int4`)]);
  return sql`${changed}${newLine}select ${selectList(frame, [checked])}${newLine}from (select ${only} as ${name}) as ${alias}`;
}

/** Whether `atMost` is a literal that allows one row. */
function mayChangeOne({ atMost: { value } }: UpdatePlan | DeletePlan): boolean {
  return value.kind === 'constant' && Number(value.value) >= 1;
}

/** The response if the only row was not written, because a trigger or a conflict prevented it. */
function responseOfNothing({ members }: InsertPlan): string {
  const values = members.map(({ key, value }): [string, unknown] => {
    if (value.kind === 'type name') return [key, value.name];
    return [key, value.kind === 'affected count' ? 0 : []];
  });
  return JSON.stringify(Object.fromEntries(values));
}

function changeMany(plan: MutationPlan, context: StatementContext, frame: Frame): Sql {
  const changed = new DerivedScope(context.aliases.next(), plan.table, plan.table);
  const { number, order } = writtenOrder(plan.members, changed);
  const response = responseOfRows(plan.members, changed, { count: sql`pg_catalog.count(*)`, order }, context);
  const json = concatenate(plan.kind === 'insert' ? response : [...response, resetCount]);
  const target = directScope(changed.alias, plan.table);
  const counted = plan.kind === 'insert' ? [] : [sql`${countRow(plan)} as ${identifier(changed.freeName('(counted)'))}`];
  const returned = [...changed.outputs(target), ...counted];
  const returning = sql`returning ${returned.length > 0 ? join(returned, ', ') : sql`1`}`;
  // Without an aggregate, the select would return a row for each row written. The common table expression runs even if nothing reads it.
  const isAggregate = plan.kind !== 'insert' || plan.members.some(({ value }) => value.kind !== 'type name');
  const rows = number ? sql`(select changed.*, pg_catalog.row_number() over () as ${number} from changed)` : sql`changed`;
  const from = isAggregate ? sql`${newLine}from ${changed.withRepeated(rows)} as ${trusted(changed.alias)}` : sql``;
  return sql`with changed as (${write(plan, target, context.aliases)}${newLine}${returning})${newLine}select ${selectList(frame, [json])}${from}`;
}

/** Writes and stores the rows in one statement, and reads the response in another. */
export function compileInTwo(plan: MutationPlan, frames: FramesOfTwo): SqlOfTwo {
  const { table, members } = plan;
  const context = new StatementContext();
  const isRead = hasRows(members);
  const alias = context.aliases.next();
  const isFound = isRead && plan.kind !== 'delete' && hasReadableKey(table);
  const byKey = isFound && table.kind !== 'view' ? new DerivedScope(alias, table, table) : null;
  const asWritten = new WrittenScope(alias, table);
  const rows = byKey ?? asWritten;
  const { number, order } = writtenOrder(members, rows);
  const json = responseOfRows(members, rows, { count: writtenCount, order }, context);
  const written = byKey ? rowsByKey(table, byKey) : (isFound ? rowsByKeyOrAsWritten : rowsAsWritten)(table, asWritten);
  const from = isRead ? sql`${newLine}from ${rows.withRepeated(written.read(number))} as ${trusted(rows.alias)}` : sql``;
  return {
    write: writeAndStore(plan, written, frames.write),
    answer: sql`select ${selectList(frames.answer, [concatenate(json)])}${from}`,
  };
}

function writeAndStore(plan: MutationPlan, { returned, store, from }: WrittenRows, frame: Frame): Sql {
  const aliases = new Aliases();
  const target = directScope(aliases.next(), plan.table);
  const counted = plan.kind === 'insert' ? [] : [sql`${countRow(plan)} as counted`];
  const returning = sql`returning ${join([...returned(target), ...counted], ', ')}`;
  const written = write(plan, target, aliases, frame.guardsSource ? frame.guard : unguarded);
  const values = plan.kind === 'insert' ? [store] : [store, resetCount];
  return sql`with changed as (${written}${newLine}${returning})${newLine}select ${selectList(frame, values)}${from}`;
}

function write(plan: MutationPlan, target: Scope, aliases: Aliases, guard: Guard = unguarded): Sql {
  const table = sql`${tableSource(plan.table)} as ${trusted(target.alias)}`;
  switch (plan.kind) {
    case 'insert':
      return sql`insert into ${table} ${insertedRows(plan, guard)}${plan.onConflict ? conflict(plan.onConflict, plan.table, target, aliases) : sql``}`;
    case 'update': {
      const assignments = plan.set.map(assignmentOf);
      const additions = plan.increment.map(({ column, parameter }) => incrementOf(column, parameter, target));
      return sql`update ${table}${newLine}set ${join([...assignments, ...additions], ', ')}${restriction(plan, target, aliases)}`;
    }
    case 'delete':
      return sql`delete from ${table}${restriction(plan, target, aliases)}`;
  }
}

/** `"title" = $1::text`. */
export function assignmentOf({ column: { name, type }, parameter }: Assignment): Sql {
  return sql`${identifier(name)} = ${bind(parameter, (type.kind === 'scalar' && type.writtenAs) || type.sqlType)}`;
}

/** `"views" = t1."views" + $1::int4`. The cast has no modifier, because that of a numeric would round the amount. */
export function incrementOf({ name, type }: Column, parameter: Parameter, target: Scope): Sql {
  const base = type.kind === 'scalar' ? type.typeName : '';
  return sql`${identifier(name)} = ${target.column(name)} + ${bind(parameter, base)}`;
}

/**
 * `on conflict on constraint "post_pkey" do update set "title" = excluded."title" where …`. An index without a constraint cannot be named;
 * PostgreSQL finds it by its definition: `on conflict (lower(title)) where published do nothing`.
 */
export function conflict(
  { arbiter: { target: by }, columns, increment, filter }: ConflictPlan,
  table: Table,
  target: Scope,
  aliases: Aliases,
): Sql {
  const condition = by.kind === 'index' && by.condition !== null ? sql` where ${trusted(by.condition)}` : sql``;
  const arbiter =
    by.kind === 'constraint' ? sql`on constraint ${identifier(by.name)}` : sql`(${join(by.elements.map(trusted), ', ')})${condition}`;
  const values = columns.map(({ name }) => sql`${identifier(name)} = excluded.${identifier(name)}`);
  const additions = increment.map(({ column, parameter }) => incrementOf(column, parameter, target));
  const assignments = [...values, ...additions];
  if (assignments.length === 0) return sql`${newLine}on conflict ${arbiter} do nothing`;
  const restricted = where(filter ? [...visibility(table, target, aliases), compileFilter(filter, target, aliases)] : []);
  return sql`${newLine}on conflict ${arbiter} do update${newLine}set ${join(assignments, ', ')}${restricted}`;
}

/**
 * The condition that the role can see the conflicting row. PostgreSQL checks policies only if the filter is true, and then raises an error,
 * so without this condition a filter would reveal whether it is true of a hidden row.
 */
function visibility(table: Table, target: Scope, aliases: Aliases): Sql[] {
  if (!table.rowSecurity) return [];
  const seen = directScope(aliases.next(), table);
  const isSame = table.primaryKey.map(
    ({ name, type }) => sql`${comparable(seen.column(name), type)} = ${comparable(target.column(name), type)}`,
  );
  return [sql`exists (select 1${newLine}from ${tableSource(table)} as ${trusted(seen.alias)}${where(isSame)})`];
}

function restriction({ filter }: UpdatePlan | DeletePlan, target: Scope, aliases: Aliases): Sql {
  return where(filter ? [compileFilter(filter, target, aliases)] : []);
}

function insertedRows({ columns, rows }: InsertPlan, [guard]: Guard): Sql {
  const names = columns.map((column) => identifier(column.name));
  const values = rows.map((row) =>
    join(
      row.map((parameter, index) => (parameter ? bind(parameter, columns[index]!.type.sqlType) : trusted('default'))),
      ', ',
    ),
  );
  const source = guard
    ? sql`select ${values[0]!} where ${guard} is not null`
    : sql`values ${join(
        values.map((each) => sql`(${each})`),
        ', ',
      )}`;
  return sql`(${join(names, ', ')})${newLine}${source}`;
}

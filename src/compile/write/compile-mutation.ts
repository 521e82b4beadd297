/**
 * A mutation as one statement: a common table expression writes, and the select around it builds the response. If at most one row is
 * written, RETURNING builds the response. If the response needs more than the written rows, a second statement builds it
 * (`written-rows.ts`).
 *
 *     with changed as (update "public"."account" as t1 set "name" = $1::text where t1."kind" = $2::text returning t1."id", …)
 *     select concat('{"affectedCount":', pg_catalog.count(*), … from changed as t1
 */
import type { Column, Table } from '../../model/model.ts';
import { operandScalar, traitsOf } from '../../model/types/named-types.ts';
import type { Parameter } from '../../plan/parameter.ts';
import type {
  Assignment,
  ConflictPlan,
  DeletePlan,
  InsertPlan,
  MutationPlan,
  ResultPlan,
  RoutinePlan,
  UpdatePlan,
} from '../../plan/plan.ts';
import { pinsColumns } from '../../plan/walk.ts';
import {
  as,
  coalesce,
  countRows,
  cte,
  deleteFrom,
  exists,
  insert,
  lines,
  list,
  named,
  rowNumber,
  select,
  subselect,
  update,
  values,
  whereAll,
  withQueries,
} from '../../sql/clauses.ts';
import { concatenate } from '../../sql/json-text.ts';
import { bind, identifier, integer, type Sql, sql, trusted } from '../../sql/sql.ts';
import { compileFilter } from '../compile-filter.ts';
import { callOf, resultJson, selectCalled } from '../compile-row.ts';
import { Aliases, DerivedScope, directScope, type Scope, tableName } from '../scope.ts';
import { answering, type CompiledWrite, type Frame, noFrame, type StatementContext, selectList, storing } from '../statement.ts';
import { comparable } from '../values/comparison.ts';
import { jsonAssignment } from '../values/json-values.ts';
import { hasRows, listOrder, readsWritten, responseNeeds, responseOfNone, responseOfOne, responseOfRows } from './compile-response.ts';
import { checkCount, countRow, resetCount } from './raise.ts';
import { compileShardedMutation, type WriteRows } from './sharded-mutation.ts';
import {
  hasReadableKey,
  rowsAsWritten,
  rowsByKey,
  rowsByKeyOrAsWritten,
  type StoredRows,
  storedResult,
  storeResult,
  type Written,
  writtenCount,
} from './written-rows.ts';

/** Compiles a mutation: to one statement, or to one that stores the written rows and one that reads the response. */
export function compileMutation(plan: MutationPlan, context: StatementContext, frame: Frame): CompiledWrite {
  if (plan.table.placement !== null) {
    const rows: WriteRows = (target, aliases, returning) => write(plan, target, aliases, returning, noFrame);
    return compileShardedMutation(plan, rows, context, frame);
  }
  if (plan.readsAfter) return compileInTwo(plan, context, frame);
  const isOne = plan.kind === 'insert' ? plan.rows.length === 1 : isOfOneRow(plan);
  const inOne = { before: [], frame, empty: plan.kind === 'insert' && isOne ? responseOfNothing(plan) : 'null' };
  if (!isOne) return { ...inOne, answer: changeMany(plan, context, frame) };
  return { ...inOne, answer: plan.kind === 'insert' ? insertOne(plan, context, frame) : changeOne(plan, context, frame) };
}

/**
 * Whether the guard can be in the WHERE of an insert's rows: if it inserts one row, and no trigger precedes it. Then nothing happens before
 * the guard, not even a function that is a column's default.
 *
 *     insert into "public"."post" ("title") select $1::text where (select case when … end from rowgraph.schema_change) is not null
 */
export function canGuardRows({ table, rows, onConflict }: InsertPlan): boolean {
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
  return write(plan, target, context.aliases, [selectList(frame, [json])], frame);
}

/** Whether the filter pins the whole key. */
function isOfOneRow({ table, filter }: UpdatePlan | DeletePlan): boolean {
  return table.keyIsUnique && pinsColumns(filter, table.primaryKey);
}

/**
 * Updates or deletes a row by its key, which builds the response itself. The subselect fails if there is a second row: after a schema
 * change, the key may no longer be unique.
 *
 *     with changed as (delete from "public"."account" as t1 where t1."id" = $1::int4
 *       returning concat('{"records":[{"id":', t1."id", '}]}') as "response")
 *     select coalesce((select "response" from changed), '{"records":[]}')
 *
 * Unless the document says that a row may be changed, the select checks `atMost`.
 */
function changeOne(plan: UpdatePlan | DeletePlan, context: StatementContext, frame: Frame): Sql {
  const { aliases } = context;
  const target = directScope(aliases.next(), plan.table);
  const json = concatenate(responseOfOne(plan.members, target, context));
  const ofNothing = responseOfNone(plan.members, context, '0');
  const name = identifier('response');
  const changed = cte('changed', write(plan, target, aliases, [sql`${json} as ${name}`], noFrame));
  const only = subselect({ columns: [name], from: trusted('changed') });
  if (mayChangeOne(plan)) return withQueries([changed], select({ columns: [selectList(frame, [coalesce(only, ofNothing)])] }));
  const alias = aliases.next();
  const response = sql`${trusted(alias)}.${name}`;
  const checked = concatenate([coalesce(response, ofNothing), checkCount(plan, sql`(${response} is not null)::int4`)]);
  const from = as(sql`(select ${only} as ${name})`, alias);
  return withQueries([changed], select({ columns: [selectList(frame, [checked])], from }));
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
  const { table, members } = plan;
  const rows = new DerivedScope(context.aliases.next(), table, responseNeeds(members), table.keepsNotNull);
  const { position, order } = listOrder(rows, members);
  const response = responseOfRows(members, rows, { count: countRows, order }, context);
  const json = concatenate(plan.kind === 'insert' ? response : [...response, resetCount]);
  const target = directScope(rows.alias, table);
  const counted = plan.kind === 'insert' ? [] : [named(countRow(plan), rows.freeName('(counted)'))];
  const returned = [...rows.outputs(target, context.valueJson), ...counted];
  const changed = cte('changed', write(plan, target, context.aliases, returned.length > 0 ? returned : [integer(1)], noFrame));
  const from = readsWritten(plan) ? as(rows.withJson(numbered(position)), rows.alias) : null;
  return withQueries([changed], select({ columns: [selectList(frame, [json])], from }));
}

/** The changed rows, with their position in an output of this name. */
function numbered(position: string | null): Sql {
  if (position === null) return trusted('changed');
  return subselect({ columns: [trusted('changed.*'), named(rowNumber(), position)], from: trusted('changed') });
}

/** Writes and stores the rows in one statement, and reads the response in another. */
function compileInTwo(plan: MutationPlan, context: StatementContext, frame: Frame): CompiledWrite {
  const { table, members } = plan;
  const isRead = hasRows(members);
  const aliases = new Aliases();
  const target = directScope(aliases.next(), table);
  const written: Written = { table, members, target, context, alias: context.aliases.next() };
  const stored = storedRowsOf(plan, written, isRead);
  const { rows, order } = stored;
  const json = responseOfRows(members, rows, { count: writtenCount, order }, context);
  const from = isRead ? as(stored.read, rows.alias) : null;
  const answer = select({ columns: [selectList(answering(frame), [concatenate(json)])], from });
  return { before: [writeAndStore(plan, stored, target, aliases, storing(frame))], answer, frame: answering(frame), empty: 'null' };
}

function storedRowsOf({ kind, table }: MutationPlan, written: Written, isRead: boolean): StoredRows {
  if (!isRead || kind === 'delete' || !hasReadableKey(table)) return rowsAsWritten(written);
  return table.kind === 'view' ? rowsByKeyOrAsWritten(written) : rowsByKey(written);
}

function writeAndStore(plan: MutationPlan, { returned, store, from }: StoredRows, target: Scope, aliases: Aliases, frame: Frame): Sql {
  const counted = plan.kind === 'insert' ? [] : [sql`${countRow(plan)} as counted`];
  const changed = cte('changed', write(plan, target, aliases, [...returned, ...counted], frame));
  const values = plan.kind === 'insert' ? [store] : [store, resetCount];
  return withQueries([changed], select({ columns: [selectList(frame, values)], from }));
}

function write(plan: MutationPlan, target: Scope, aliases: Aliases, returning: readonly Sql[], frame: Frame): Sql {
  const table = as(tableName(plan.table), target.alias);
  switch (plan.kind) {
    case 'insert': {
      const onConflict = plan.onConflict && conflict(plan.onConflict, plan.table, target, aliases);
      const columns = plan.columns.map((column) => identifier(column.name));
      return insert({ into: table, columns, rows: insertedRows(plan, frame), onConflict, returning });
    }
    case 'update': {
      const assignments = plan.set.map(assignmentOf);
      const changes = plan.json.map((change) => jsonAssignment(change, target.column(change.column.name)));
      const additions = plan.increment.map(({ column, parameter }) => incrementOf(column, parameter, target));
      return update({ table, set: [...assignments, ...additions, ...changes], where: restriction(plan, target, aliases), returning });
    }
    case 'delete':
      return deleteFrom(table, restriction(plan, target, aliases), returning);
  }
}

/** `"title" = $1::text`. */
export function assignmentOf({ column: { name, type }, parameter }: Assignment): Sql {
  return sql`${identifier(name)} = ${bind(parameter, ('writtenAs' in type && type.writtenAs) || type.sqlType)}`;
}

/** `"views" = t1."views" + $1::int4`. The cast has no modifier, because that of a numeric would round the amount. */
export function incrementOf({ name, type }: Column, parameter: Parameter, target: Scope): Sql {
  const amount = traitsOf(type).increments === 'interval' ? 'interval' : type.kind === 'scalar' ? operandScalar(type).typeName : '';
  return sql`${identifier(name)} = ${target.column(name)} + ${bind(parameter, amount)}`;
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
    by.kind === 'constraint' ? sql`on constraint ${identifier(by.name)}` : sql`(${list(by.elements.map(trusted))})${condition}`;
  const values = columns.map(({ name }) => sql`${identifier(name)} = excluded.${identifier(name)}`);
  const additions = increment.map(({ column, parameter }) => incrementOf(column, parameter, target));
  const assignments = [...values, ...additions];
  if (assignments.length === 0) return sql`on conflict ${arbiter} do nothing`;
  const restricted = filter ? [...visibility(table, target, aliases), compileFilter(filter, target, aliases)] : [];
  return lines(sql`on conflict ${arbiter} do update`, sql`set ${list(assignments)}`, whereAll(restricted));
}

/**
 * The condition that the role can see the conflicting row. PostgreSQL checks policies only if the filter is true, and then raises an error,
 * so without this condition a filter would reveal whether it is true of a hidden row.
 */
function visibility(table: Table, target: Scope, aliases: Aliases): Sql[] {
  if (!table.rowSecurity) return [];
  const seen = directScope(aliases.next(), table);
  const where = table.primaryKey.map(
    ({ name, type }) => sql`${comparable(seen.column(name), type)} = ${comparable(target.column(name), type)}`,
  );
  return [exists({ from: as(tableName(table), seen.alias), where })];
}

function restriction({ filter }: UpdatePlan | DeletePlan, target: Scope, aliases: Aliases): Sql[] {
  return filter ? [compileFilter(filter, target, aliases)] : [];
}

function insertedRows({ columns, rows }: InsertPlan, { guard: [guard], guardsRows }: Frame): Sql {
  const cells = rows.map((row) =>
    row.map((parameter, index) => (parameter ? bind(parameter, columns[index]!.type.sqlType) : trusted('default'))),
  );
  return guard && guardsRows ? select({ columns: cells[0]!, where: [sql`${guard} is not null`] }) : values(cells);
}

/**
 * Compiles the call of a function and its response: to one statement, or to one that stores the returned rows and one that reads the
 * response.
 */
export function compileCall(plan: RoutinePlan, context: StatementContext, frame: Frame): CompiledWrite {
  const { result } = plan.routine;
  if (!plan.readsAfter || (result.kind !== 'row' && result.kind !== 'rows') || result.table.kind === 'composite type')
    return { before: [], answer: selectResult(plan.result, callOf(plan), context, frame), frame, empty: 'null' };
  const stored = select({
    columns: [selectList(storing(frame), [storeResult(result.table)])],
    from: as(callOf(plan), 'w'),
    // A row of nulls stands for no row, and need not be one that the table's type accepts.
    where: result.kind === 'row' ? [sql`not (w.* is null)`] : [],
  });
  const answer = selectResult(plan.result, storedResult(result.table), context, answering(frame));
  return { before: [stored], answer, frame: answering(frame), empty: 'null' };
}

function selectResult(result: ResultPlan, call: Sql, context: StatementContext, frame: Frame): Sql {
  if (result.kind === 'rows') return selectCalled(result.connection, call, context, frame);
  return select({ columns: [selectList(frame, [resultJson(result, call, context, true)])] });
}

/**
 * A mutation as one statement: a common table expression writes, the select around it makes the response. Of an insert of one row, RETURNING does.
 *
 *     with changed as (update "public"."account" as t1 set "name" = $1::text where t1."id" = $2::int4 returning t1."id")
 *     select concat('{"affectedCount":', count(*), … from changed as t1
 */

import { type Guard, selectList } from '../freshness/schema-guard.ts';
import type { DeletePlan, InsertPlan, Member, MutationPlan, ResponseValue, RowPlan, UpdatePlan } from '../plan/plan.ts';
import { concatenate, type JsonText, jsonObject } from '../sql/json-text.ts';
import { raiseMarker } from '../sql/raise.ts';
import { bind, identifier, join, literal, newLine, type Sql, sql, trusted } from '../sql/sql.ts';
import { compileFilter } from './compile-filter.ts';
import { compileRow, tableSource } from './compile-row.ts';
import { type StatementContext, typeNameJson } from './context.ts';
import { where } from './page-query.ts';
import { DerivedScope, directScope, type Scope } from './scope.ts';

/** The statement; behind the guard, its one column is the response's JSON text. Where it yields no row, the response is `empty`. */
export function compileMutation(
  plan: MutationPlan,
  context: StatementContext,
  guard: Guard,
): { readonly statement: Sql; readonly empty: string } {
  const isOneRow = plan.kind === 'insert' && plan.rows.length === 1;
  const statement = isOneRow ? insertOne(plan, context, guard) : changeMany(plan, context, guard);
  return { statement, empty: isOneRow ? responseOfNothing(plan) : 'null' };
}

/** One row that is inserted makes the response itself: there is nothing to aggregate. */
function insertOne(plan: InsertPlan, context: StatementContext, guard: Guard): Sql {
  const target = directScope(context.aliases.next(), plan.table);
  const json = responseJson(plan.members, context, ['1'], (row) => compileRow(row, target, context));
  return sql`${write(plan, target)}${newLine}returning ${selectList(guard, [concatenate(json)])}`;
}

/** The response if a trigger kept the only row from being inserted. */
function responseOfNothing({ members }: InsertPlan): string {
  const values = members.map(({ key, value }): [string, unknown] => {
    if (value.kind === 'type name') return [key, value.name];
    return [key, value.kind === 'affected count' ? 0 : []];
  });
  return JSON.stringify(Object.fromEntries(values));
}

function changeMany(plan: MutationPlan, context: StatementContext, guard: Guard): Sql {
  const changed = new DerivedScope(context.aliases.next(), plan.table, plan.table);
  const response = responseJson(plan.members, context, [sql`count(*)`], (row) => [
    sql`coalesce(string_agg(${concatenate(compileRow(row, changed, context))}, ','), '')`,
  ]);
  const json = concatenate(plan.kind === 'insert' ? response : [...response, tooManyRows(plan)]);
  const target = directScope(changed.alias, plan.table);
  const returned = changed.outputs(target);
  const returning = sql`returning ${returned.length > 0 ? join(returned, ', ') : sql`1`}`;
  // Without an aggregate the select would yield a row for each that was written. What writes runs even if nobody reads it.
  const isAggregate = plan.kind !== 'insert' || plan.members.some(({ value }) => value.kind !== 'type name');
  const from = isAggregate ? sql`${newLine}from ${changed.withRepeated(sql`changed`)} as ${trusted(changed.alias)}` : sql``;
  return sql`with changed as (${write(plan, target)}${newLine}${returning})${newLine}select ${selectList(guard, [json])}${from}`;
}

function responseJson(
  members: readonly Member<ResponseValue>[],
  context: StatementContext,
  count: JsonText,
  records: (row: RowPlan) => JsonText,
): JsonText {
  return jsonObject(
    members.map((member) => {
      const { value } = member;
      const key = context.key(member);
      if (value.kind === 'type name') return { key, value: typeNameJson(value.name) };
      return { key, value: value.kind === 'affected count' ? count : ['[', ...records(value.row), ']'] };
    }),
  );
}

/**
 * Empty text, or an error that undoes the statement: a cast that cannot succeed raises where no function of ours is installed.
 * The count is part of what is cast, so that PostgreSQL does not try the cast while it plans.
 */
function tooManyRows({ kind, atMost }: UpdatePlan | DeletePlan): Sql {
  const message = literal(`${raiseMarker}${kind} impacts too many records`);
  return sql`case when count(*) > ${bind(atMost, 'int4')} then (${message} || left(count(*)::text, 0))::int4::text else '' end`;
}

function write(plan: MutationPlan, target: Scope): Sql {
  const table = sql`${tableSource(plan.table)} as ${trusted(target.alias)}`;
  switch (plan.kind) {
    case 'insert':
      return sql`insert into ${table} ${insertedRows(plan)}`;
    case 'update': {
      const assignments = plan.set.map(
        ({ column, parameter }) => sql`${identifier(column.name)} = ${bind(parameter, column.type.sqlType)}`,
      );
      return sql`update ${table}${newLine}set ${join(assignments, ', ')}${restriction(plan, target)}`;
    }
    case 'delete':
      return sql`delete from ${table}${restriction(plan, target)}`;
  }
}

function restriction({ filter }: UpdatePlan | DeletePlan, target: Scope): Sql {
  return where(filter ? [compileFilter(filter, target)] : []);
}

function insertedRows({ columns, rows }: InsertPlan): Sql {
  const names = columns.map((column) => identifier(column.name));
  const values = rows.map((row) => {
    const cells = row.map((parameter, index) => (parameter ? bind(parameter, columns[index]!.type.sqlType) : trusted('default')));
    return sql`(${join(cells, ', ')})`;
  });
  return sql`(${join(names, ', ')})${newLine}values ${join(values, ', ')}`;
}

/**
 * Counts and aggregates over all rows that the filter lets through, whatever the page:
 * `(select concat('{"count":', count(*), ',"sum":{"views":', coalesce('"' || sum(t2."views")::text || '"', 'null'), '}}') from … where …)`.
 */

import { type Guard, selectList } from '../freshness/schema-guard.ts';
import type { Column } from '../model/model.ts';
import type { AggregateColumnValue, AggregateValue, ConnectionPlan, ConnectionValue, Member } from '../plan/plan.ts';
import type { AggregateFunction } from '../schema/bindings.ts';
import { concatenate, type JsonText, jsonObject } from '../sql/json-text.ts';
import { builtIn, newLine, type Sql, sql } from '../sql/sql.ts';
import { type StatementContext, typeNameJson } from './context.ts';
import { type Source, sourceRows, where } from './page-query.ts';
import type { Scope } from './scope.ts';
import { quotedOrNull } from './value-json.ts';

type AggregateMember = Extract<ConnectionValue, { kind: 'total count' | 'aggregate' }>;

/** Whether a member of a connection is computed over all of its rows. */
export function isAggregate(value: ConnectionValue): value is AggregateMember {
  return value.kind === 'total count' || value.kind === 'aggregate';
}

/**
 * A statement that yields the members in one pass over the rows: as an object of their own (`whole`), or the value of the only one.
 * Without anything to aggregate the rows are not read.
 */
export function aggregateMembers(
  connection: ConnectionPlan,
  members: readonly Member<ConnectionValue>[],
  source: Source,
  context: StatementContext,
  { whole, guard }: { readonly whole: boolean; readonly guard: Guard },
): Sql {
  const { scope, from, conditions } = sourceRows(connection, source, context.aliases.next());
  const values = members.map((member) => ({ key: context.key(member), value: memberJson(member.value, scope, context) }));
  const json = concatenate(whole ? jsonObject(values) : (values[0]?.value ?? []));
  if (!members.some(({ value }) => readsRows(value))) return sql`select ${selectList(guard, [json])}`;
  return sql`select ${selectList(guard, [json])}${newLine}from ${from}${where(conditions)}`;
}

/** Whether the value is an aggregate of rows; everything may have been skipped of what was selected. */
function readsRows(value: ConnectionValue): boolean {
  if (value.kind !== 'aggregate') return value.kind === 'total count';
  return value.members.some(
    ({ value: each }) =>
      each.kind === 'count' || (each.kind === 'function' && each.members.some((column) => column.value.kind === 'column')),
  );
}

function memberJson(value: ConnectionValue, scope: Scope, context: StatementContext): JsonText {
  switch (value.kind) {
    case 'type name':
      return typeNameJson(value.name);
    case 'total count':
      return [sql`count(*)`];
    case 'aggregate':
      return jsonObject(value.members.map((member) => ({ key: context.key(member), value: aggregateJson(member.value, scope, context) })));
    default:
      throw new Error(`${value.kind} is not an aggregate.`);
  }
}

function aggregateJson(value: AggregateValue, scope: Scope, context: StatementContext): JsonText {
  switch (value.kind) {
    case 'type name':
      return typeNameJson(value.name);
    case 'count':
      return [sql`count(*)`];
    case 'function':
      return jsonObject(
        value.members.map((member) => ({ key: context.key(member), value: aggregateColumnJson(value.name, member.value, scope) })),
      );
  }
}

function aggregateColumnJson(name: AggregateFunction, value: AggregateColumnValue, scope: Scope): JsonText {
  if (value.kind === 'type name') return typeNameJson(value.name);
  return [aggregateResultJson(name, value.column, scope.column(value.column.name))];
}

/** JSON of an aggregate; never null. Sums, averages and what JSON would round are strings, so that no digit is lost. */
function aggregateResultJson(name: AggregateFunction, { type }: Column, column: Sql): Sql {
  const { typeName, sqlType } = type.kind === 'scalar' ? type : { typeName: '', sqlType: '' };
  const call = builtIn(name, column);
  const numericDigits = /^numeric\(\d+,[1-9]\d*\)$/.test(sqlType) ? 'fraction' : 'any';
  if (name === 'sum') return numberJson(call, typeName === 'numeric' ? numericDigits : 'as written');
  if (name === 'avg') {
    // The average of these is a numeric anyway.
    if (typeName === 'int2' || typeName === 'int4') return numberJson(call, 'fraction');
    const isNumeric = typeName === 'int8' || typeName === 'numeric';
    return numberJson(isNumeric ? call : builtIn('avg', sql`${column}::numeric`), numericDigits);
  }
  switch (typeName) {
    case 'bool':
      // PostgreSQL has no least boolean, though false comes before true.
      return sql`coalesce(${builtIn(name === 'min' ? 'bool_and' : 'bool_or', column)}::text, 'null')`;
    case 'int2':
    case 'int4':
      return sql`coalesce(${call}::text, 'null')`;
    case 'int8':
    case 'float4':
    case 'float8':
      return numberJson(call, 'as written');
    case 'numeric':
      return numberJson(call, numericDigits);
    case 'char':
    case 'name':
      // They are compared as text: there is no other least or greatest of them.
      return sql`coalesce(${builtIn('to_json', builtIn(name, sql`${column}::text`))}, 'null')`;
    default:
      return sql`coalesce(${builtIn('to_json', call)}, 'null')`;
  }
}

/** `fraction`: a numeric that PostgreSQL writes with digits behind the point, `any`: one that it may write without. */
type Digits = 'as written' | 'fraction' | 'any';

/** A number as a JSON string. pg_graphql writes numerics without the zeros that only show a scale: `10.500` as `10.5`, `1.000` as `1.0`. */
function numberJson(value: Sql, digits: Digits): Sql {
  return quotedOrNull(sql`${withoutZeros(value, digits)}::text`);
}

/** A sum has the larger scale of both sides. Written with few calls, as PostgreSQL plans aggregates over ranges each time. */
function withoutZeros(value: Sql, digits: Digits): Sql {
  if (digits === 'as written') return value;
  if (digits === 'fraction') return sql`(trim_scale(${value}) + 0.0)`;
  // Not a number and infinity have no scale.
  return sql`(trim_scale(${value}) + case when scale(${value}) > 0 then 0.0 else 0 end)`;
}

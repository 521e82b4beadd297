/**
 * Counts and aggregates over all rows that the filter lets through, whatever the page:
 * `(select '{"count":' || count(*)::text || ',"sum":{"views":' || coalesce('"' || sum(t2."views")::text || '"', 'null') || '}}' from … where …)`.
 */
import type { Column } from '../model/model.ts';
import type { AggregateColumnValue, AggregateValue, ConnectionPlan, ConnectionValue, Member } from '../plan/plan.ts';
import type { AggregateFunction } from '../schema/bindings.ts';
import { concatenate, type JsonText, jsonObject } from '../sql/json-text.ts';
import { builtIn, newLine, type Sql, sql } from '../sql/sql.ts';
import { type StatementContext, typeNameJson } from './context.ts';
import { type Source, sourceRows, where } from './page-query.ts';
import { type Guard, selectList } from './schema-guard.ts';
import type { Scope } from './scope.ts';

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
      return [sql`count(*)::text`];
    case 'aggregate':
      return jsonObject(value.members.map((member) => ({ key: context.key(member), value: aggregateJson(member.value, scope, context) })));
    default:
      throw new Error(`${value.kind} is no aggregate.`);
  }
}

function aggregateJson(value: AggregateValue, scope: Scope, context: StatementContext): JsonText {
  switch (value.kind) {
    case 'type name':
      return typeNameJson(value.name);
    case 'count':
      return [sql`count(*)::text`];
    case 'function':
      return jsonObject(value.members.map((member) => ({ key: context.key(member), value: columnJson(value.name, member.value, scope) })));
  }
}

function columnJson(name: AggregateFunction, value: AggregateColumnValue, scope: Scope): JsonText {
  if (value.kind === 'type name') return typeNameJson(value.name);
  return [sql`coalesce(${resultJson(name, value.column, scope.column(value.column.name))}, 'null')`];
}

const floats: ReadonlySet<string> = new Set(['float4', 'float8']);
const wholeNumbers: ReadonlySet<string> = new Set(['int2', 'int4', 'int8']);

/** JSON text of an aggregate, or null where there is none. Sums and averages are strings, so that no digit is lost. */
function resultJson(name: AggregateFunction, { type }: Column, column: Sql): Sql {
  const typeName = type.kind === 'scalar' ? type.typeName : '';
  const call = builtIn(name, column);
  if (name === 'sum') return text(call, typeName === 'numeric');
  if (name === 'avg') return text(typeName === 'money' ? builtIn('avg', sql`${column}::numeric`) : call, !floats.has(typeName));
  // PostgreSQL has no least boolean, though false comes before true.
  if (typeName === 'bool') return sql`${builtIn(name === 'min' ? 'bool_and' : 'bool_or', column)}::text`;
  if (wholeNumbers.has(typeName)) return typeName === 'int8' ? text(call, false) : sql`${call}::text`;
  if (typeName === 'numeric' || floats.has(typeName)) return text(call, typeName === 'numeric');
  // "char" and name are compared as text: there is no other least or greatest of them.
  const comparable = typeName === 'char' || typeName === 'name' ? builtIn(name, sql`${column}::text`) : call;
  return sql`${builtIn('to_json', comparable)}::text`;
}

/** A number as a JSON string. The reference writes numbers without the zeros that only show a scale: `10.500` as `10.5`, `1.000` as `1.0`. */
function text(value: Sql, isScaled: boolean): Sql {
  // A sum has the larger scale of both, and not a number and infinity have none. Few calls: PostgreSQL plans aggregates over ranges each time.
  const digits = isScaled ? sql`(trim_scale(${value}) + case when scale(${value}) > 0 then 0.0 else 0 end)` : value;
  return sql`'"' || ${digits}::text || '"'`;
}

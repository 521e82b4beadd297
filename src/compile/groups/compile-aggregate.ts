/**
 * Counts and aggregates over all rows that match the filter, regardless of the page:
 *
 *     (select concat('{"count":', pg_catalog.count(*), ',"sum":{"views":', coalesce('"' || sum(t2."views")::text || '"', 'null'), '}}')
 *      from … where …)
 */
import type { AggregateColumnValue, AggregateValue, ConnectionPlan, ConnectionValue, Member } from '../../plan/plan.ts';
import { concatenate, type JsonText, jsonObject } from '../../sql/json-text.ts';
import { newLine, type Sql, sql } from '../../sql/sql.ts';
import { type Source, sourceRows, where } from '../page/page-query.ts';
import type { Scope } from '../scope.ts';
import { type Frame, type StatementContext, selectList, typeNameJson } from '../statement.ts';
import { aggregateCall, aggregateJson } from '../values/aggregate-value.ts';

type AggregateMember = Extract<ConnectionValue, { kind: 'total count' | 'aggregate' }>;

/** Whether a member of a connection aggregates all its rows. */
export function isAggregate(value: ConnectionValue): value is AggregateMember {
  return value.kind === 'total count' || value.kind === 'aggregate';
}

/**
 * A select that computes the members in one pass over the rows: as an object (`whole`), or as the value of the only member. If nothing
 * aggregates rows, it does not read them.
 */
export function aggregateMembers(
  connection: ConnectionPlan,
  members: readonly Member<ConnectionValue>[],
  source: Source,
  context: StatementContext,
  { whole, frame }: { readonly whole: boolean; readonly frame: Frame },
): Sql {
  const { scope, from, conditions } = sourceRows(connection, source, context.aliases);
  const values = members.map((member) => ({ key: context.key(member), value: memberJson(member.value, scope, context) }));
  const json = concatenate(whole ? jsonObject(values) : (values[0]?.value ?? []));
  if (!members.some(({ value }) => readsRows(value))) return sql`select ${selectList(frame, [json])}`;
  return sql`select ${selectList(frame, [json])}${newLine}from ${from}${where(conditions)}`;
}

/** Whether the value aggregates rows. It does not if `@skip` or `@include` left its selection empty. */
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
      return [sql`pg_catalog.count(*)`];
    case 'aggregate':
      return jsonObject(value.members.map((member) => ({ key: context.key(member), value: valueJson(member.value, scope, context) })));
    default:
      throw new Error(`${value.kind} is not an aggregate.`);
  }
}

function valueJson(value: AggregateValue, scope: Scope, context: StatementContext): JsonText {
  switch (value.kind) {
    case 'type name':
      return typeNameJson(value.name);
    case 'count':
      return [sql`pg_catalog.count(*)`];
    case 'function':
      return jsonObject(value.members.map((member) => ({ key: context.key(member), value: aggregateColumnJson(member.value, scope) })));
  }
}

function aggregateColumnJson(value: AggregateColumnValue, scope: Scope): JsonText {
  if (value.kind === 'type name') return typeNameJson(value.name);
  return [aggregateJson(value, aggregateCall(value, scope.column(value.column.name)))];
}

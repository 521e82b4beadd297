/**
 * Counts and aggregates over all rows that match the filter, regardless of the page:
 *
 *     (select concat('{"count":', pg_catalog.count(*), ',"sum":{"views":', coalesce('"' || sum(t2."views")::text || '"', 'null'), '}}')
 *      from … where …)
 */
import type { AggregateValue, ConnectionValue, CountEstimate, GroupAggregate, Member, TypeNamePlan } from '../../plan/plan.ts';
import { coalesce, countRows, select, subselect } from '../../sql/clauses.ts';
import { concatenate, type JsonText } from '../../sql/json-text.ts';
import { bind, integer, literal, type Sql, sql, trusted } from '../../sql/sql.ts';
import { type Collection, matchingRows } from '../page/collection.ts';
import type { Scope } from '../scope.ts';
import { type Frame, noFrame, type StatementContext, selectList } from '../statement.ts';
import { aggregateCall, aggregateJson } from '../values/aggregate.ts';

type RowsAggregate = Extract<ConnectionValue, { kind: 'total count' | 'aggregate' }>;

/** Whether a member of a connection needs only aggregates of all rows, if anything. */
export function isAggregate(member: Member<ConnectionValue>): member is Member<TypeNamePlan | RowsAggregate> {
  return member.value.kind === 'total count' || member.value.kind === 'aggregate' || member.value.kind === 'type name';
}

/** Selects a connection without a page, in one pass over the rows. */
export function selectAggregates(collection: Collection, members: readonly Member<TypeNamePlan | RowsAggregate>[], frame: Frame): Sql {
  const { context } = collection;
  const values = members.flatMap(({ value }) => (value.kind === 'type name' ? [] : [value]));
  return selectOver(collection, values, (scope) => context.object(members, (value) => rowsAggregateJson(value, scope, collection)), frame);
}

export function selectAggregate(collection: Collection, value: RowsAggregate): Sql {
  return selectOver(collection, [value], (scope) => rowsAggregateJson(value, scope, collection), noFrame);
}

/** If nothing aggregates rows, the select does not read them, because it would return a row for each. */
function selectOver(collection: Collection, values: readonly RowsAggregate[], json: (scope: Scope) => JsonText, frame: Frame): Sql {
  const { scope, from, where } = matchingRows(collection);
  const columns = [selectList(frame, [concatenate(json(scope))])];
  return values.some(readsRows) ? select({ columns, from, where }) : select({ columns });
}

/** Whether the value aggregates rows. It does not if `@skip` or `@include` left its selection empty. */
function readsRows(value: RowsAggregate): boolean {
  if (value.kind === 'total count') return value.estimate === null;
  return aggregatesOf(value.members.map((member) => member.value)).length > 0;
}

function rowsAggregateJson(value: RowsAggregate, scope: Scope, collection: Collection): JsonText {
  const { context } = collection;
  if (value.kind === 'total count') return [value.estimate ? estimatedCount(collection, value.estimate) : countRows];
  return context.object(value.members, (each) => aggregateMemberJson(each, (of) => aggregateOf(of, scope), context));
}

/** The largest Int of GraphQL. */
const mostRows = 2_147_483_647;

/**
 * PostgreSQL's number of rows at the last vacuum or analyze (manual: pg_class, `reltuples`). The rows are counted if there was none, if a
 * policy restricts what the role sees, and if the variable `exact` is not false.
 */
function estimatedCount(collection: Collection, { exact }: CountEstimate): Sql {
  const { schema, name } = collection.plan.table;
  const { from, where } = matchingRows(collection);
  const estimate = subselect({
    columns: [sql`least(c.reltuples, ${integer(mostRows)})::pg_catalog.int8`],
    from: trusted('pg_catalog.pg_class as c'),
    joins: [trusted('join pg_catalog.pg_namespace as n on n.oid = c.relnamespace')],
    where: [
      sql`n.nspname = ${literal(schema)}`,
      sql`c.relname = ${literal(name)}`,
      sql`c.reltuples >= 0 and not pg_catalog.row_security_active(c.oid)`,
      ...(exact ? [sql`not coalesce(${bind(exact, 'bool')}, true)`] : []),
    ],
  });
  return coalesce(estimate, subselect({ columns: [countRows], from, where }));
}

export function aggregatesOf(values: readonly AggregateValue[]): GroupAggregate[] {
  return values.flatMap((value): GroupAggregate[] => {
    if (value.kind === 'type name') return [];
    if (value.kind === 'count') return [{ kind: 'count' }];
    return value.members.flatMap((column) => (column.value.kind === 'column' ? [{ ...column.value, kind: 'function' }] : []));
  });
}

/** The JSON of aggregates, whose SQL `sqlOf` has. */
export function aggregateMemberJson(
  value: Exclude<AggregateValue, TypeNamePlan>,
  sqlOf: (of: GroupAggregate) => Sql,
  context: StatementContext,
): JsonText {
  if (value.kind === 'count') return [sqlOf({ kind: 'count' })];
  return context.object(value.members, (column) => [aggregateJson(column, sqlOf({ ...column, kind: 'function' }))]);
}

export function aggregateOf(of: GroupAggregate, scope: Scope): Sql {
  return of.kind === 'count' ? countRows : aggregateCall(of, scope.column(of.column.name));
}

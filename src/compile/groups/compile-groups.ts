/**
 * Groups of all rows that match the filter, in one pass: a subselect groups the rows and orders and limits the groups, and the select
 * around it aggregates their JSON. For `groups(by: [{status: VALUE}, {soldAt: MONTH}], having: {count: {gt: 10}}) { key { status } sum {
 * price } }`:
 *
 *     (select concat('[',
 *        coalesce(string_agg(concat('{"key":{"status":"', t2."key 1", '"},"sum":{"price":"', t2."value 1", '"}}'), ','), ''), ']')
 *      from (select t1."status" as "key 1", pg_catalog.date_trunc('month', t1."sold_at") as "key 2", sum(t1."price") as "value 1"
 *        from "public"."sale" as t1 group by 1, 2 having pg_catalog.count(*) > $1 order by 1, 2 limit 30) as t2)
 */
import type { Relation } from '../../model/model.ts';
import { operandScalar, traitsOf } from '../../model/types/named-types.ts';
import type { RangeTraits, TimeTraits } from '../../model/types/postgres-types.ts';
import type { ScalarType } from '../../model/value-type.ts';
import type { Parameter } from '../../plan/parameter.ts';
import type {
  GroupAggregate,
  GroupBy,
  GroupCondition,
  GroupKeyValue,
  GroupOrderKey,
  GroupsPlan,
  GroupValue,
  Member,
} from '../../plan/plan.ts';
import { and, as, named, select } from '../../sql/clauses.ts';
import { concatenate, type JsonText, jsonRows } from '../../sql/json-text.ts';
import { bind, builtIn, cast, integer, join, literal, nothing, type Sql, sql, trusted } from '../../sql/sql.ts';
import { memberScope } from '../attributes.ts';
import { type Collection, matchingRows } from '../page/collection.ts';
import { countSql } from '../page/page-query.ts';
import { type Aliases, directScope, joinConditions, readableColumns, type Scope, tableName, targetScope } from '../scope.ts';
import { comparisonOf } from '../values/comparison.ts';
import { jsonValue } from '../values/json-values.ts';
import { valueJson } from '../values/value-json.ts';
import { aggregateMemberJson, aggregateOf, aggregatesOf } from './compile-aggregate.ts';

export function selectGroups(collection: Collection, groups: GroupsPlan): Sql {
  const { by, having, order, limit, offset, members } = groups;
  const { aliases } = collection.context;
  const { scope, from, where } = matchingRows(collection);
  const group = directScope(aliases.next(), { keepsNotNull: false });
  const paths = joinPaths(
    by.map(({ path }) => path),
    scope,
    aliases,
  );
  const aggregates = shownAggregates(members);
  const rows = select({
    columns: [
      ...by.map((each, index) => named(groupExpression(each, membersOf(each, paths.scopes[index]!)), keyName(index))),
      ...aggregates.map((of, index) => named(aggregateOf(of, scope), valueName(index))),
    ],
    from,
    joins: paths.joins,
    where,
    groupBy: by.map((_, index) => integer(index + 1)),
    having: having && conditionOf(having, scope),
    orderBy: order.map((key) => orderKey(key, scope)),
    limit: countSql(limit),
    offset: offset === null ? null : countSql(offset),
  });
  const json = concatenate(groupJson(collection, groups, aggregates, group));
  return select({ columns: [concatenate(['[', jsonRows(json), ']'])], from: as(sql`(${rows})`, group.alias) });
}

/** The aggregates that the JSON shows, each once. */
function shownAggregates(members: readonly Member<GroupValue>[]): GroupAggregate[] {
  const aggregates = aggregatesOf(members.flatMap(({ value }) => (value.kind === 'key' ? [] : [value])));
  return aggregates.filter((of, index) => aggregates.findIndex((each) => isSame(each, of)) === index);
}

function isSame(one: GroupAggregate, other: GroupAggregate): boolean {
  if (one.kind === 'count' || other.kind === 'count') return one.kind === other.kind;
  return one.name === other.name && one.column === other.column && one.fraction === other.fraction;
}

function groupJson({ context }: Collection, { by, members }: GroupsPlan, aggregates: readonly GroupAggregate[], group: Scope): JsonText {
  const key = (value: readonly Member<GroupKeyValue>[]): JsonText =>
    context.object(value, (each) => {
      switch (each.kind) {
        case 'not grouped':
          return ['null'];
        case 'inside':
          return key(each.members);
        case 'grouped':
          return groupKeyJson(by[each.number]!, group.column(keyName(each.number)));
      }
    });
  const sqlOf = (of: GroupAggregate): Sql => group.column(valueName(aggregates.findIndex((each) => isSame(each, of))));
  return context.object(members, (value) => (value.kind === 'key' ? key(value.members) : aggregateMemberJson(value, sqlOf, context)));
}

function conditionOf(condition: GroupCondition, scope: Scope): Sql {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const conditions = condition.conditions.map((each) => conditionOf(each, scope));
      return sql`(${join(conditions, ` ${condition.kind} `)})`;
    }
    case 'not':
      return sql`not (${conditionOf(condition.condition, scope)})`;
    case 'null test':
      return sql`${compared(condition.of, scope)} ${trusted(condition.isNull ? 'is null' : 'is not null')}`;
    case 'comparison':
      return comparisonOf(compared(condition.of, scope), condition.operator, condition.parameter, condition.type);
  }
}

/** An aggregate on the left of a comparison. A sum of money is compared as a number, because the request gives a number. */
function compared(of: GroupAggregate, scope: Scope): Sql {
  const call = aggregateOf(of, scope);
  const isCast = of.kind === 'function' && of.name === 'sum' && traitsOf(of.column.type).number?.sum.isCast;
  return isCast ? cast(call, 'numeric') : call;
}

function orderKey({ of, descending, nullsFirst }: GroupOrderKey, scope: Scope): Sql {
  const value = of.kind === 'key' ? integer(of.number + 1) : aggregateOf(of, scope);
  const nulls = nullsFirst === descending ? '' : nullsFirst ? ' nulls first' : ' nulls last';
  return sql`${value}${trusted((descending ? ' desc' : '') + nulls)}`;
}

function keyName(index: number): string {
  return `key ${index + 1}`;
}

function valueName(index: number): string {
  return `value ${index + 1}`;
}

/** The row at the end of each path, the grouped row itself if it is empty, with the joins of all related rows, each once. */
function joinPaths(paths: readonly (readonly Relation[])[], near: Scope, aliases: Aliases): { scopes: Scope[]; joins: Sql[] } {
  const joined = new Map<string, Scope>();
  const joins: Sql[] = [];
  const joinRelation = (from: Scope, relation: Relation): Scope => {
    const name = `${from.alias} ${relation.fieldName}`;
    const present = joined.get(name);
    if (present) return present;
    const scope = targetScope(relation, from, aliases.next(), false);
    joined.set(name, scope);
    joins.push(joinOf(relation, from, scope));
    return scope;
  };
  return { scopes: paths.map((path) => path.reduce(joinRelation, near)), joins };
}

function joinOf(relation: Relation, near: Scope, scope: Scope): Sql {
  const { target, unique } = relation;
  const from = as(tableName(target), scope.alias);
  const conditions = joinConditions(relation, near, scope);
  if (unique) return sql`left join ${from} on ${and(conditions)}`;
  // A key declared by a directive may match several rows.
  const row = select({ columns: readableColumns(target).map((name) => scope.column(name)), from, where: conditions, limit: integer(1) });
  return sql`left join ${as(sql`lateral (${row})`, scope.alias)} on true`;
}

/** What is in the columns that lead to a value, from the row on. */
function membersOf({ within }: GroupBy, row: Scope): Scope {
  return within.reduce((scope, column) => memberScope(scope.alias, scope.column(column.name), column), row);
}

/**
 * The expression to group by, over the row that has the column: the column, `pg_catalog.date_trunc('month', t1."sold_at", $1::text)`, or
 * the lower bound of a range of numbers.
 */
function groupExpression(by: GroupBy, scope: Scope): Sql {
  const value = scope.column(by.column.name);
  const { type } = by.column;
  if (by.kind === 'json value') return jsonValue(value, by);
  const { time, number } = traitsOf(type);
  if (by.kind === 'truncated' && time) return truncate(time, value, literal(by.unit), by.timeZone);
  if (by.kind === 'bucket' && number?.ranges && type.kind === 'scalar') return bucket(number.ranges, operandScalar(type), value, by.width);
  return value;
}

/**
 * Truncates to the start of the unit. PostgreSQL raises an error if a unit starts before its earliest timestamp, or if a date is outside
 * the timestamp range. Such values form one group at either end, so that they do not make the query fail.
 */
function truncate({ isDate, hasZone }: TimeTraits, value: Sql, unit: Sql, timeZone: Parameter | null): Sql {
  const zone = hasZone ? ' 00:00+00' : '';
  const early = sql`when ${value} < ${literal(`4712-01-01${zone} BC`)} and ${value} > '-infinity' then ${literal(`4714-11-24${zone} BC`)}`;
  if (isDate) {
    const late = sql`when ${value} > '294276-12-31' and ${value} < 'infinity' then '294277-01-01'`;
    return sql`case ${early} ${late} else pg_catalog.date_trunc(${unit}, ${value}::timestamp)::date end`;
  }
  // Timestamps without time zone are truncated as they are.
  const zoned = timeZone && hasZone ? sql`, ${bind(timeZone, 'text')}` : nothing;
  return sql`case ${early} else pg_catalog.date_trunc(${unit}, ${value}${zoned}) end`;
}

/**
 * The start of a bucket, computed exactly in bigint or numeric. The result of `mod` has the sign of the value. `mod` fails for infinity,
 * which a numeric with a precision cannot be. The start of a bucket, or the decimal digits of a value, may exceed the bounds of the type.
 */
function bucket(ranges: RangeTraits, { typeName, sqlType }: ScalarType, value: Sql, width: Parameter): Sql {
  const { computedAs, least, most, isFinite } = ranges;
  const number = computedAs === typeName ? value : sql`${value}::${trusted(computedAs)}`;
  const step = bind(width, computedAs);
  const rest = sql`pg_catalog.mod(${number}, ${step})`;
  const above = sql`${number} - ${rest}`;
  const below = sql`${above} - case when ${rest} = 0 then 0 else ${step} end`;
  const fromBelow = least ? sql`greatest(${below}, ${trusted(least)})` : below;
  // `least` ignores nulls, so a null value would become the other argument.
  const fromAbove = most ? sql`when ${number} >= 0 then least(${above}, ${trusted(most)})` : sql`else ${above}`;
  // Infinity and NaN are their own buckets.
  const infinite = isFinite || hasModifier(sqlType) ? nothing : sql` when ${builtIn('abs', number)} >= 'infinity' then ${number}`;
  const start = sql`case${infinite} when ${number} < 0 then ${fromBelow} ${fromAbove} end`;
  return computedAs === typeName ? start : sql`(${start})::${trusted(typeName)}`;
}

function hasModifier(sqlType: string): boolean {
  return sqlType.includes('(');
}

/** The JSON of a key that the subselect returns. Equal numerics may have different scales in the rows, so trailing zeros are removed. */
function groupKeyJson(by: GroupBy, value: Sql): JsonText {
  const { column, kind } = by;
  if (kind === 'json value') {
    const shown = by.as === 'NUMBER' ? builtIn('trim_scale', value) : value;
    return valueJson(builtIn('to_jsonb', shown), column.type, false);
  }
  const isTrimmed = traitsOf(column.type).number?.hasScale && (kind === 'bucket' || !hasModifier(column.type.sqlType));
  return valueJson(isTrimmed ? builtIn('trim_scale', value) : value, column.type, false);
}

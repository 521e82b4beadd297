/**
 * Group keys, as an expression over a row and as JSON: a column, `pg_catalog.date_trunc('month', t1."sold_at", $1::text)`, or the lower
 * bound of a range of numbers.
 */
import type { ScalarType } from '../../model/model.ts';
import { traitsOf } from '../../model/types/named-types.ts';
import type { RangeTraits, TimeTraits } from '../../model/types/postgres-types.ts';
import type { GroupBy, Parameter } from '../../plan/plan.ts';
import type { JsonText } from '../../sql/json-text.ts';
import { bind, builtIn, literal, nothing, type Sql, sql, trusted } from '../../sql/sql.ts';
import type { Scope } from '../scope.ts';
import { valueJson } from '../values/value-json.ts';

/** The expression to group by, over the row that has the column. */
export function groupExpression(by: GroupBy, scope: Scope): Sql {
  const value = scope.column(by.column.name);
  const { type } = by.column;
  const { time, number } = traitsOf(type);
  if (by.kind === 'truncated' && time) return truncate(time, value, literal(by.unit), by.timeZone);
  if (by.kind === 'bucket' && number?.ranges && type.kind === 'scalar') return bucket(number.ranges, type, value, by.width);
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
export function groupKeyJson({ column, kind }: GroupBy, value: Sql): JsonText {
  const isTrimmed = traitsOf(column.type).number?.hasScale && (kind === 'bucket' || !hasModifier(column.type.sqlType));
  return valueJson(isTrimmed ? builtIn('trim_scale', value) : value, column.type, false);
}

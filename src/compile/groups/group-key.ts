/**
 * Group keys, as an expression over a row and as JSON: a column, `pg_catalog.date_trunc('month', t1."sold_at", $1::text)`, or the lower
 * bound of a range of numbers.
 */
import type { Column } from '../../model/model.ts';
import type { GroupBy, Parameter } from '../../plan/plan.ts';
import type { JsonText } from '../../sql/json-text.ts';
import { bind, builtIn, literal, nothing, type Sql, sql, trusted } from '../../sql/sql.ts';
import type { Scope } from '../scope.ts';
import { scalarOf } from '../values/aggregate-value.ts';
import { valueJson } from '../values/value-json.ts';

/** The expression to group by, over the row that has the column. */
export function groupExpression(by: GroupBy, scope: Scope): Sql {
  const value = scope.column(by.column.name);
  const { typeName } = scalarOf(by.column);
  switch (by.kind) {
    case 'value':
      return value;
    case 'truncated':
      return truncate(typeName, value, literal(by.unit), by.timeZone);
    case 'bucket':
      return bucket(by.column, value, by.width);
  }
}

/**
 * Truncates to the start of the unit. PostgreSQL raises an error if a unit starts before its earliest timestamp, or if a date is outside
 * the timestamp range. Such values form one group at either end, so that they do not make the query fail.
 */
function truncate(typeName: string, value: Sql, unit: Sql, timeZone: Parameter | null): Sql {
  const zone = typeName === 'timestamptz' ? ' 00:00+00' : '';
  const early = sql`when ${value} < ${literal(`4712-01-01${zone} BC`)} and ${value} > '-infinity' then ${literal(`4714-11-24${zone} BC`)}`;
  if (typeName === 'date') {
    const late = sql`when ${value} > '294276-12-31' and ${value} < 'infinity' then '294277-01-01'`;
    return sql`case ${early} ${late} else pg_catalog.date_trunc(${unit}, ${value}::timestamp)::date end`;
  }
  // Timestamps without time zone are truncated as they are.
  const zoned = timeZone && typeName === 'timestamptz' ? sql`, ${bind(timeZone, 'text')}` : nothing;
  return sql`case ${early} else pg_catalog.date_trunc(${unit}, ${value}${zoned}) end`;
}

/** The types in which buckets of whole numbers are computed, and the least values of the column types, below which no bucket starts. */
const wholeNumbers: Readonly<Record<string, { readonly as: string; readonly least: string }>> = {
  int2: { as: 'int8', least: '-32768' },
  int4: { as: 'int8', least: '-2147483648' },
  int8: { as: 'numeric', least: '-9223372036854775808' },
};

/** The greatest finite floating-point numbers, which the start of a bucket, or the decimal digits of a value, may exceed. */
const greatest: Readonly<Record<string, string>> = { float4: '3.4028235e38', float8: '1.7976931348623157e308' };

/**
 * The start of a bucket, computed exactly in bigint or numeric. The result of `mod` has the sign of the value. `mod` fails for infinity,
 * which a numeric with a precision cannot be.
 */
function bucket(column: Column, value: Sql, width: Parameter): Sql {
  const { typeName, sqlType } = scalarOf(column);
  const whole = wholeNumbers[typeName];
  const type = whole?.as ?? 'numeric';
  const number = type === typeName ? value : sql`${value}::${trusted(type)}`;
  const step = bind(width, type);
  const rest = sql`pg_catalog.mod(${number}, ${step})`;
  const above = sql`${number} - ${rest}`;
  const below = sql`${above} - case when ${rest} = 0 then 0 else ${step} end`;
  const most = greatest[typeName];
  const least = whole?.least ?? (most && `-${most}`);
  const fromBelow = least ? sql`greatest(${below}, ${trusted(least)})` : below;
  // `least` ignores nulls, so a null value would become the other argument.
  const fromAbove = most ? sql`when ${number} >= 0 then least(${above}, ${trusted(most)})` : sql`else ${above}`;
  // Infinity and NaN are their own buckets.
  const infinite = whole || /^numeric\(/.test(sqlType) ? nothing : sql` when ${builtIn('abs', number)} >= 'infinity' then ${number}`;
  const start = sql`case${infinite} when ${number} < 0 then ${fromBelow} ${fromAbove} end`;
  return typeName === 'numeric' ? start : sql`(${start})::${trusted(typeName)}`;
}

/** The JSON of a key that the subselect returns. Equal numerics may have different scales in the rows, so trailing zeros are removed. */
export function groupKeyJson({ column, kind }: GroupBy, value: Sql): JsonText {
  const { typeName, sqlType } = scalarOf(column);
  const isTrimmed = typeName === 'numeric' && (kind === 'bucket' || sqlType === 'numeric');
  return valueJson(isTrimmed ? builtIn('trim_scale', value) : value, column.type, false);
}

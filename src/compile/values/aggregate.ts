/**
 * Aggregates of a column, and their values as JSON of the GraphQL type: `sum(t1."views")`, quoted so that clients keep all digits. For a
 * percentile of points in time: `to_timestamp(percentile_cont($1) within group (order by pg_catalog.date_part('epoch', t1."at")))`.
 */
import { operandScalar, traitsOf } from '../../model/types/named-types.ts';
import type { PostgresType } from '../../model/types/postgres-types.ts';
import { scalars } from '../../model/types/scalars.ts';
import type { ScalarType } from '../../model/value-type.ts';
import type { AggregateOrder } from '../../plan/conditions.ts';
import type { AggregatedColumn } from '../../plan/plan.ts';
import { countRows } from '../../sql/clauses.ts';
import { bind, builtIn, cast, type Sql, sql, trusted } from '../../sql/sql.ts';
import type { Scope } from '../scope.ts';
import { orNull, quotedOrNull, toJson } from './value-json.ts';

/** The aggregate call. `value` is the column. */
export function aggregateCall({ name, column, fraction }: AggregatedColumn, value: Sql): Sql {
  const traits = traitsOf(column.type);
  switch (name) {
    case 'sum':
      return builtIn('sum', value);
    case 'avg':
    case 'stddev':
    case 'variance':
      return builtIn(name, traits.number === null || traits.number.isExact ? value : cast(value, 'numeric'));
    case 'min':
    case 'max':
      return extreme(name, traits, value);
    case 'countDistinct':
      return builtIn('count', sql`distinct ${value}`);
    case 'boolAnd':
      return builtIn('bool_and', value);
    case 'boolOr':
      return builtIn('bool_or', value);
    case 'percentile':
      return percentile(traits, value, bind(fraction, 'float8'));
  }
}

/** The least or greatest value of a column. PostgreSQL has no min and max for some types; those of an extension are in its own schema. */
export function extreme(name: 'min' | 'max', { extremes, ofExtension }: PostgresType, value: Sql): Sql {
  switch (extremes) {
    case 'own':
      return ofExtension ? sql`${trusted(name)}(${value})` : builtIn(name, value);
    case 'of booleans':
      return builtIn(name === 'min' ? 'bool_and' : 'bool_or', value);
    case 'of text':
      return builtIn(name, cast(value, 'text'));
  }
}

function percentile({ number, time }: PostgresType, value: Sql, fraction: Sql): Sql {
  const of = (position: Sql): Sql => sql`${builtIn('percentile_cont', fraction)} within group (order by ${position})`;
  if (time === null) return of(sql`${value}${trusted(number?.toFloat ?? '::float8')}`);
  // `date_part` would first cast a date to a timestamp, which fails for some dates.
  const seconds = of(
    time.isDate ? sql`${builtIn('extract', sql`'epoch', ${value}`)}::float8` : sql`pg_catalog.date_part('epoch', ${value})`,
  );
  // Interpolating between two infinite values yields NaN, and some numbers exceed the range of timestamps.
  const point = sql`case when ${seconds} <= ${lastSecond} or ${seconds} = 'infinity' then ${builtIn('to_timestamp', seconds)} end`;
  return time.hasZone ? point : sql`${point} at time zone 'UTC'`;
}

/** The last second of the timestamp range: 294276-12-31 23:59:59. */
const lastSecond = sql`9224318015999`;

/** The result of the call as JSON, never SQL null. Sums, averages, and numbers that JSON clients would round are strings. */
export function aggregateJson({ name, column }: AggregatedColumn, value: Sql): Sql {
  if (name === 'countDistinct' || column.type.kind !== 'scalar') return value;
  const type = operandScalar(column.type);
  const { number, time } = type.traits;
  switch (name) {
    case 'sum':
      if (number === null) return orNull(toJson(value));
      if (number.isFloating) return floatJson(value, type.typeName);
      return numberJson(value, number.hasScale ? digitsOf(type) : 'as written');
    case 'avg':
      if (number === null) return orNull(toJson(value));
      return numberJson(value, number.averagesFraction ? 'fraction' : digitsOf(type));
    case 'stddev':
    case 'variance':
      return numberJson(value, 'fraction');
    case 'boolAnd':
    case 'boolOr':
      return orNull(cast(value, 'text'));
    case 'percentile':
      return time ? orNull(toJson(value)) : floatJson(value, 'float8');
    case 'min':
    case 'max':
      return extremeJson(value, type);
  }
}

function extremeJson(value: Sql, type: ScalarType): Sql {
  switch (scalars[type.scalar].json) {
    case 'cast':
      return orNull(cast(value, 'text'));
    case 'bare':
      return orNull(cast(cast(value, type.typeName), 'text'));
    case 'quoted':
      return numberJson(cast(value, type.typeName), type.traits.number?.hasScale ? digitsOf(type) : 'as written');
    case 'float to json':
      return floatJson(value, type.typeName);
    default:
      return orNull(toJson(value));
  }
}

/** The digits of values with a scale: those of `numeric(5,2)` always have a fractional part. */
function digitsOf({ sqlType }: ScalarType): Digits {
  return /\(\d+,[1-9]\d*\)$/.test(sqlType) ? 'fraction' : 'any';
}

/** Adding zero turns -0 into 0. The two are equal, so either could be the minimum or come first. */
function floatJson(value: Sql, typeName: string): Sql {
  return numberJson(sql`(${value} + '0'::${trusted(typeName)})`, 'as written');
}

/** Whether the text of a numeric always has a fractional part (`fraction`) or may lack one (`any`). */
type Digits = 'as written' | 'fraction' | 'any';

/** A number as a JSON string. pg_graphql writes numerics without trailing zeros: `10.500` as `10.5`, `1.000` as `1.0`. */
function numberJson(value: Sql, digits: Digits): Sql {
  return quotedOrNull(cast(withoutZeros(value, digits), 'text'));
}

/**
 * Adding `0.0` restores one fractional digit, because a sum of numerics has the larger scale of the two. This uses few calls, because
 * PostgreSQL plans aggregates over ranges each time.
 */
function withoutZeros(value: Sql, digits: Digits): Sql {
  if (digits === 'as written') return value;
  if (digits === 'fraction') return sql`(pg_catalog.trim_scale(${value}) + 0.0)`;
  // NaN and infinity have no scale.
  return sql`(pg_catalog.trim_scale(${value}) + case when pg_catalog.scale(${value}) > 0 then 0.0 else 0 end)`;
}

/** An aggregate of the related rows in `scope`, which orders rows. */
export function aggregateSql(value: AggregateOrder, scope: Scope): Sql {
  if (value.function === 'count') return countRows;
  const column = scope.column(value.column.name);
  // A sum of floating-point numbers depends on the order in which PostgreSQL reads them, so a cursor could miss its position.
  if (value.function === 'sum' && traitsOf(value.column.type).number?.isExact === false) return builtIn('sum', cast(column, 'numeric'));
  return aggregateCall({ name: value.function, column: value.column, fraction: null }, column);
}

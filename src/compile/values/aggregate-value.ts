/**
 * Aggregates of a column, and their values as JSON of the GraphQL type: `sum(t1."views")`, quoted so that clients keep all digits. For a
 * percentile of points in time: `to_timestamp(percentile_cont($1) within group (order by pg_catalog.date_part('epoch', t1."at")))`.
 */
import type { Column } from '../../model/model.ts';
import type { AggregatedColumn } from '../../plan/plan.ts';
import { bind, builtIn, type Sql, sql, trusted } from '../../sql/sql.ts';
import { quotedOrNull, still } from './value-json.ts';

/** The type names of a column's scalar type; empty for other types. */
export function scalarOf({ type }: Column): { readonly typeName: string; readonly sqlType: string } {
  return type.kind === 'scalar' ? type : { typeName: '', sqlType: '' };
}

/** The aggregate call. `value` is the column. */
export function aggregateCall({ name, column, fraction }: AggregatedColumn, value: Sql): Sql {
  const { typeName } = scalarOf(column);
  switch (name) {
    case 'sum':
      return builtIn('sum', value);
    case 'avg':
    case 'stddev':
    case 'variance': {
      // For these types the result is already numeric.
      const isNumeric = ['int2', 'int4', 'int8', 'numeric'].includes(typeName);
      return builtIn(name, isNumeric ? value : sql`${value}::numeric`);
    }
    case 'min':
    case 'max':
      return extreme(name, typeName, value);
    case 'countDistinct':
      return builtIn('count', sql`distinct ${value}`);
    case 'boolAnd':
      return builtIn('bool_and', value);
    case 'boolOr':
      return builtIn('bool_or', value);
    case 'percentile':
      return percentile(typeName, value, bind(fraction, 'float8'));
  }
}

/** The types without min and max in PostgreSQL, whose values are compared as text. */
export const extremesAreText: ReadonlySet<string> = new Set(['char', 'name']);

/** The least or greatest value of a column. PostgreSQL has no min and max for booleans; those of citext are in its own schema. */
export function extreme(name: 'min' | 'max', typeName: string, value: Sql): Sql {
  if (typeName === 'bool') return builtIn(name === 'min' ? 'bool_and' : 'bool_or', value);
  if (typeName === 'citext') return sql`${trusted(name)}(${value})`;
  return builtIn(name, extremesAreText.has(typeName) ? sql`${value}::text` : value);
}

function percentile(typeName: string, value: Sql, fraction: Sql): Sql {
  const of = (number: Sql): Sql => sql`${builtIn('percentile_cont', fraction)} within group (order by ${number})`;
  if (!isPointInTime(typeName)) return of(typeName === 'money' ? sql`${value}::numeric::float8` : sql`${value}::float8`);
  // `date_part` would first cast a date to a timestamp, which fails for some dates.
  const seconds = of(
    typeName === 'date' ? sql`${builtIn('extract', sql`'epoch', ${value}`)}::float8` : sql`pg_catalog.date_part('epoch', ${value})`,
  );
  // Interpolating between two infinite values yields NaN, and some numbers exceed the range of timestamps.
  const point = sql`case when ${seconds} <= ${lastSecond} or ${seconds} = 'infinity' then ${builtIn('to_timestamp', seconds)} end`;
  return typeName === 'timestamptz' ? point : sql`${point} at time zone 'UTC'`;
}

/** The last second of the timestamp range: 294276-12-31 23:59:59. */
const lastSecond = sql`9224318015999`;

function isPointInTime(typeName: string): boolean {
  return typeName === 'date' || typeName === 'timestamp' || typeName === 'timestamptz';
}

/** The result of the call as JSON, never SQL null. Sums, averages, and numbers that JSON clients would round are strings. */
export function aggregateJson({ name, column }: AggregatedColumn, value: Sql): Sql {
  const { typeName, sqlType } = scalarOf(column);
  const numericDigits = /^numeric\(\d+,[1-9]\d*\)$/.test(sqlType) ? 'fraction' : 'any';
  switch (name) {
    case 'countDistinct':
      return value;
    case 'sum':
      return isFloat(typeName) ? floatJson(value, typeName) : numberJson(value, typeName === 'numeric' ? numericDigits : 'as written');
    case 'avg':
      return numberJson(value, typeName === 'int2' || typeName === 'int4' ? 'fraction' : numericDigits);
    case 'stddev':
    case 'variance':
      return numberJson(value, 'fraction');
    case 'boolAnd':
    case 'boolOr':
      return bareJson(value);
    case 'percentile':
      return isPointInTime(typeName) ? toJson(value) : floatJson(value, 'float8');
    case 'min':
    case 'max':
      return extremeJson(typeName, value, numericDigits);
  }
}

function extremeJson(typeName: string, value: Sql, numericDigits: Digits): Sql {
  switch (typeName) {
    case 'bool':
      return bareJson(value);
    case 'int2':
    case 'int4':
      return bareJson(still(value, typeName));
    case 'int8':
      return numberJson(still(value, typeName), 'as written');
    case 'float4':
    case 'float8':
      return floatJson(value, typeName);
    case 'numeric':
      return numberJson(still(value, typeName), numericDigits);
    default:
      return toJson(value);
  }
}

function isFloat(typeName: string): boolean {
  return typeName === 'float4' || typeName === 'float8';
}

/** Adding zero turns -0 into 0. The two are equal, so either could be the minimum or come first. */
function floatJson(value: Sql, typeName: string): Sql {
  return numberJson(sql`(${value} + '0'::${trusted(typeName)})`, 'as written');
}

function bareJson(value: Sql): Sql {
  return sql`coalesce(${value}::text, 'null')`;
}

function toJson(value: Sql): Sql {
  return sql`coalesce(${builtIn('to_json', value)}, 'null')`;
}

/** Whether the text of a numeric always has a fractional part (`fraction`) or may lack one (`any`). */
type Digits = 'as written' | 'fraction' | 'any';

/** A number as a JSON string. pg_graphql writes numerics without trailing zeros: `10.500` as `10.5`, `1.000` as `1.0`. */
function numberJson(value: Sql, digits: Digits): Sql {
  return quotedOrNull(sql`${withoutZeros(value, digits)}::text`);
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

/** Aggregates of columns over rows. Whole numbers, booleans and distinct values are summed up here, PostgreSQL does the rest. */

import { baseOf, type ColumnType } from './column-types.ts';
import { type LoadedRow, type LoadedTable, valueOf } from './loaded-tables.ts';
import { RefusalError } from './property-failure.ts';
import { columnOf } from './schema-description.ts';
import type { ValueOracle } from './value-oracle.ts';

const wholeNumbers = ['smallint', 'integer', 'bigint'];

/** The value of `sum { field }` and the like; `fraction` is that of a percentile. */
export async function evaluateAggregate(
  table: LoadedTable,
  rows: readonly LoadedRow[],
  name: string,
  field: string,
  oracle: ValueOracle,
  fraction?: unknown,
): Promise<unknown> {
  const column = table.names.columns.find(({ fieldName }) => fieldName === field)!.name;
  const type = baseOf(columnOf(table.description, column).type);
  if (name === 'percentile' && !(Number(fraction) >= 0 && Number(fraction) <= 1)) throw new RefusalError('a fraction is from 0 to 1');
  const texts = rows.map((row) => valueOf(row, column).text).filter((text) => text !== null);
  if (name === 'countDistinct') return new Set(await oracle.ranks(texts, type)).size;
  if (texts.length === 0) return null;
  if (name === 'boolAnd') return !texts.includes('false');
  if (name === 'boolOr') return texts.includes('true');
  if (name === 'stddev' || name === 'variance')
    return withFraction(
      await oracle.aggregate(texts, `pg_catalog.${name === 'stddev' ? 'stddev' : 'var'}_samp(value::${type.sql}::numeric)`),
    );
  if (name === 'percentile') return percentile(texts, Number(fraction), type, oracle);
  if (type.sql === 'interval')
    return JSON.parse((await oracle.aggregate(texts, `pg_catalog.to_json(pg_catalog.${name}(value::interval))`)) ?? 'null');
  if (name === 'sum' && wholeNumbers.includes(type.sql)) return String(texts.reduce((sum, text) => sum + BigInt(text), 0n));
  if (name === 'sum' && type.scalar === 'Float') return oracle.aggregate(texts, `pg_catalog.sum(value::${type.sql}) + '0'::${type.sql}`);
  if (name === 'sum') return withoutZeros(await oracle.aggregate(texts, `pg_catalog.sum(value::${type.sql})`));
  if (name === 'avg') return withoutZeros(await oracle.aggregate(texts, `pg_catalog.avg(value::${type.sql}::numeric)`));
  return extreme(texts, name as 'min' | 'max', type, oracle);
}

async function extreme(texts: readonly string[], name: 'min' | 'max', type: ColumnType, oracle: ValueOracle): Promise<unknown> {
  if (wholeNumbers.includes(type.sql)) {
    const found = texts.map(BigInt).reduce((a, b) => ((name === 'min') === a < b ? a : b));
    return type.sql === 'bigint' ? String(found) : Number(found);
  }
  if (type.sql === 'boolean') return name === 'min' ? !texts.includes('false') : texts.includes('true');
  // Of 0 and -0, which are equal, either may be the least; rows have 0 for both.
  if (type.scalar === 'Float') return oracle.aggregate(texts, `pg_catalog.${name}(value::${type.sql}) + '0'::${type.sql}`);
  if (type.scalar === 'BigFloat') return withoutZeros(await oracle.aggregate(texts, `pg_catalog.${name}(value::${type.sql})`));
  return JSON.parse((await oracle.aggregate(texts, `pg_catalog.to_json(pg_catalog.${name}(value::${type.sql}))`)) ?? 'null');
}

/** Points in time by their seconds since 1970; two infinite ones have nothing between them. */
async function percentile(texts: readonly string[], fraction: number, type: ColumnType, oracle: ValueOracle): Promise<unknown> {
  const isNumber = ['Int', 'BigInt', 'BigFloat', 'Float'].includes(type.scalar);
  const order = isNumber ? `value::${type.sql}::float8` : `extract(epoch from value::${type.sql})::float8`;
  const found = await oracle.aggregate(texts, `percentile_cont(${fraction}) within group (order by ${order}) + 0`);
  if (isNumber) return found;
  if (found === null || found === 'NaN') return null;
  const hasZone = type.sql === 'timestamp with time zone';
  return JSON.parse(
    (await oracle.aggregate([found], `pg_catalog.to_json(max(to_timestamp(value::float8)${hasZone ? '' : " at time zone 'UTC'"}))`)) ??
      'null',
  );
}

/** Without those zeros, but with a fraction. */
function withFraction(text: string | null): string | null {
  return text === null || !/^-?\d+$/.test(text) ? withoutZeros(text) : `${text}.0`;
}

/** Without the zeros at the end of a fraction that only show its scale, but for one. */
function withoutZeros(text: string | null): string | null {
  return text?.replace(/(\.\d+?)0+$/, '$1') ?? null;
}

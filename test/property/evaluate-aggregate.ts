/** Counts, sums, averages and extremes of columns over rows. Whole numbers and booleans are summed up here, PostgreSQL does the rest. */
import type { ColumnType } from './column-types.ts';
import { type LoadedRow, type LoadedTable, valueOf } from './loaded-tables.ts';
import { columnOf } from './schema-description.ts';
import type { ValueOracle } from './value-oracle.ts';

const wholeNumbers = ['smallint', 'integer', 'bigint'];

/** The value of `sum { field }` and the like. */
export async function evaluateAggregate(
  table: LoadedTable,
  rows: readonly LoadedRow[],
  name: string,
  field: string,
  oracle: ValueOracle,
): Promise<unknown> {
  const column = table.names.columns.find(({ fieldName }) => fieldName === field)!.name;
  const { type } = columnOf(table.description, column);
  const texts = rows.map((row) => valueOf(row, column).text).filter((text) => text !== null);
  if (texts.length === 0) return null;
  if (name === 'sum' && wholeNumbers.includes(type.sql)) return String(texts.reduce((sum, text) => sum + BigInt(text), 0n));
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
  if (['BigFloat', 'Float'].includes(type.scalar))
    return withoutZeros(await oracle.aggregate(texts, `pg_catalog.${name}(value::${type.sql})`));
  return JSON.parse((await oracle.aggregate(texts, `pg_catalog.to_json(pg_catalog.${name}(value::${type.sql}))`)) ?? 'null');
}

/** Without the zeros at the end of a fraction that only show its scale, but for one. */
function withoutZeros(text: string | null): string | null {
  return text?.replace(/(\.\d+?)0+$/, '$1') ?? null;
}

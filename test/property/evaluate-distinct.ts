/** `distinctOn`: of the rows with equal values in some columns, the first in the order; and the order of such a collection. */
import { distinctColumns } from '../../src/model/tables/column-uses.ts';
import { keyOf, type LoadedRow, type LoadedTable } from './loaded-tables.ts';
import type { Measures } from './measures.ts';
import { ascendingKey, compareRows, type OrderKey, orderKeys } from './order-keys.ts';
import type { ValueOracle } from './value-oracle.ts';

/** The keys of the columns: those that the order names, in its order and direction, then the others. */
export function distinctKeys(table: LoadedTable, order: readonly OrderKey[], distinctOn: readonly string[]): OrderKey[] {
  // Only names are taken from the model.
  const byName = distinctColumns(table.names);
  const columns = new Set(distinctOn.map((name) => byName.get(name)!.name));
  const requested = order.slice(0, order.length - keyOf(table).length).filter(({ column }) => column !== null && columns.has(column));
  const keys = new Map<string, OrderKey>();
  for (const key of [...requested, ...Array.from(columns, (name) => ascendingKey(table, name))])
    if (!keys.has(key.column!)) keys.set(key.column!, key);
  return [...keys.values()];
}

/** Of rows that pass a filter, the first of each combination of values. */
export async function distinctRows(
  table: LoadedTable,
  passing: readonly LoadedRow[],
  args: { readonly orderBy?: unknown; readonly distinctOn: readonly string[] },
  oracle: ValueOracle,
  measures: Measures = {},
): Promise<LoadedRow[]> {
  const order = await orderKeys(table, args.orderBy, oracle, measures);
  const keys = distinctKeys(table, order, args.distinctOn);
  const compareKeys = await compareRows(table, keys, oracle);
  const compareOrder = await compareRows(table, order, oracle);
  const sorted = passing.toSorted((a, b) => compareKeys(a, b) || compareOrder(a, b));
  return sorted.filter((row, index) => index === 0 || compareKeys(sorted[index - 1]!, row) !== 0);
}

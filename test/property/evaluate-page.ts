/**
 * The order of a collection, its cursors, and which rows a page holds: sorted and cut in JavaScript.
 */

import { distinctKeys } from './evaluate-distinct.ts';
import { type LoadedRow, type LoadedTable, opaqueId, rowsOf } from './loaded-tables.ts';
import type { Measures } from './measures.ts';
import { compareRows, type OrderKey, orderKeys } from './order-keys.ts';
import { RefusalError, UnknownAnswerError } from './property-failure.ts';
import type { ValueOracle } from './value-oracle.ts';

/** Arguments of a collection; null counts as absent. */
export interface PageArguments {
  readonly first?: number | null;
  readonly last?: number | null;
  readonly before?: string | null;
  readonly after?: string | null;
  readonly offset?: number | null;
  readonly orderBy?: unknown;
  readonly distinctOn?: readonly string[] | null;
}

export interface Page {
  readonly rows: readonly LoadedRow[];
  readonly keys: readonly OrderKey[];
  readonly measures: Measures;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

export function cursorOf(row: LoadedRow, keys: readonly OrderKey[]): string {
  return opaqueId(keys.map((key) => key.valueOf(row).jsonb));
}

/** The page of the rows of a table that pass. A cursor is that of any row of the table under the same order. */
export async function evaluatePage(
  table: LoadedTable,
  passing: readonly LoadedRow[],
  args: PageArguments,
  oracle: ValueOracle,
  measures: Measures,
): Promise<Page> {
  if ([args.first, args.last, args.offset].some((count) => (count ?? 0) < 0)) throw new RefusalError('a negative count');
  const order = await orderKeys(table, args.orderBy, oracle, measures);
  const keys = args.distinctOn?.length ? distinctKeys(table, order, args.distinctOn) : order;
  const compare = await compareRows(table, keys, oracle);
  const sorted = rowsOf(table).toSorted(compare);
  const isBackward = (args.last ?? null) !== null || (args.before ?? null) !== null;
  const cursor = (isBackward ? args.before : args.after) ?? null;
  const walked = isBackward ? sorted.toReversed() : sorted;
  const from = cursor === null ? undefined : walked.find((row) => cursorOf(row, keys) === cursor);
  // Distinct rows may share a cursor with others.
  const start = from ? walked.findLastIndex((row) => compare(from, row) === 0) + 1 : 0;
  if (cursor !== null && !from) throw new UnknownAnswerError(`No row of ${table.description.name} has the cursor ${cursor}.`);
  const passes = new Set(passing);
  const behind = walked
    .slice(start)
    .filter((row) => passes.has(row))
    .slice(args.offset ?? 0);
  const rows = behind.slice(0, Math.min((isBackward ? args.last : args.first) ?? table.maxRows, table.maxRows));
  const hasMore = behind.length > rows.length;
  // An empty page tells nothing about where it came from.
  const hasOther = rows.length > 0 && walked.find((row) => passes.has(row)) !== rows[0];
  return {
    rows: isBackward ? rows.toReversed() : rows,
    keys,
    measures,
    hasNextPage: isBackward ? hasOther : hasMore,
    hasPreviousPage: isBackward ? hasMore : hasOther,
  };
}

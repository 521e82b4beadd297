/**
 * The rows of a collection by its arguments: those that pass the filter and that `search` and `nearest` find, or, fused, that either finds (docs/vectors.md,
 * Hybrid search); and their pages.
 */

import type { GraphQLInputObjectType } from 'graphql';
import { doubleType } from './column-types.ts';
import { distinctRows } from './evaluate-distinct.ts';
import { filterRows } from './evaluate-filter.ts';
import type { Depths } from './evaluate-lineage.ts';
import { evaluateNearest, type Nearest } from './evaluate-nearest.ts';
import { evaluatePage, type Page, type PageArguments } from './evaluate-page.ts';
import { judgeSearch, rankRows, type SearchInput } from './evaluate-search.ts';
import { type LoadedRow, type LoadedTable, rowsOf } from './loaded-tables.ts';
import { depthMeasure, type Measure, type Measures, type OrderedValue } from './measures.ts';
import { compareRows, keyOfMeasure, type OrderKey, orderKeys } from './order-keys.ts';
import { RefusalError } from './property-failure.ts';
import type { ValueOracle } from './value-oracle.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** `isWhole`: it is of all rows of the table. */
export interface Collection {
  readonly table: LoadedTable;
  readonly passing: readonly LoadedRow[];
  readonly isWhole: boolean;
  readonly measures: Measures;
  readonly page: () => Promise<Page>;
}

interface Found {
  readonly rows: readonly LoadedRow[];
  readonly measures: Measures;
}

/** `isAmong`: whether a row belongs to what the collection is of. */
export async function evaluateCollection(
  table: LoadedTable,
  args: Arguments,
  filterType: GraphQLInputObjectType,
  oracle: ValueOracle,
  isAmong: (row: LoadedRow) => boolean = () => true,
  depths: Depths | null = null,
): Promise<Collection> {
  const filtered = await filterRows(table, filterType, args.filter, oracle);
  const search = (args.search ?? null) as SearchInput | null;
  const nearest = await evaluateNearest(table, (args.nearest ?? null) as Arguments | null, oracle);
  const matching = (filtered ?? table.rows ?? []).filter(isAmong);
  const found = await findRows(table, matching, { search, nearest, fuse: (args.fuse ?? null) as Arguments | null }, oracle);
  const measures: Measures = { ...found.measures, depth: depths && depthMeasure(depths) };
  const distinctOn = (args.distinctOn ?? []) as readonly string[];
  if (nearest && distinctOn.length > 0) throw new RefusalError('nearest and distinctOn');
  const passing =
    distinctOn.length > 0 ? await distinctRows(table, found.rows, { orderBy: args.orderBy, distinctOn }, oracle, measures) : found.rows;
  return {
    table,
    passing,
    isWhole: filtered === null && distinctOn.length === 0 && !search && !nearest,
    measures,
    page: () => evaluatePage(table, passing, args as PageArguments, oracle, measures),
  };
}

interface Finding {
  readonly search: SearchInput | null;
  readonly nearest: Nearest | null;
  readonly fuse: Arguments | null;
}

async function findRows(
  table: LoadedTable,
  rows: readonly LoadedRow[],
  { search, nearest, fuse }: Finding,
  oracle: ValueOracle,
): Promise<Found> {
  if (fuse && !(search && nearest)) throw new RefusalError('fuse without search and nearest');
  const distance = nearest?.distance ?? null;
  const near = nearest ? rows.filter(nearest.isNear) : rows;
  if (!search) return { rows: near, measures: { distance } };
  const truths = await judgeSearch(table, search, oracle);
  const matched = new Set(rowsOf(table).filter((_, index) => truths[index] === true));
  const searchRank = await rankRows(table, search, oracle);
  if (!fuse || !distance) return { rows: near.filter((row) => matched.has(row)), measures: { search, searchRank, distance } };
  const score = await fuseOrders(
    table,
    [
      { rows: rows.filter((row) => matched.has(row)), key: keyOfMeasure(searchRank, 'DescNullsLast'), weight: fuse.searchWeight },
      { rows: near, key: keyOfMeasure(distance, 'AscNullsLast'), weight: fuse.nearestWeight },
    ],
    fuse,
    oracle,
  );
  return { rows: rows.filter((row) => score.values.has(row)), measures: { search, searchRank, distance, score } };
}

interface Order {
  readonly rows: readonly LoadedRow[];
  readonly key: OrderKey;
  readonly weight: unknown;
}

/** The scores of the rows that are among the first of either order. */
async function fuseOrders(table: LoadedTable, orders: readonly Order[], { k, depth }: Arguments, oracle: ValueOracle): Promise<Measure> {
  const most = Math.min(Number(depth ?? 100), 1000);
  const constant = Number(k ?? 60);
  if (most < 0 || constant < 0 || orders.some(({ weight }) => Number(weight ?? 1) < 0)) throw new RefusalError('a negative number');
  const scores = new Map<LoadedRow, number>();
  for (const { rows, key, weight } of orders) {
    const sorted = rows.toSorted(await compareRows(table, [key, ...(await orderKeys(table, null, oracle))], oracle));
    for (const [index, row] of sorted.slice(0, most).entries())
      scores.set(row, (scores.get(row) ?? 0) + Number(weight ?? 1) / (constant + index + 1));
  }
  const values = [...scores].map(([row, score]): [LoadedRow, OrderedValue] => [row, { text: String(score), jsonb: String(score) }]);
  return { type: doubleType, values: new Map(values) };
}

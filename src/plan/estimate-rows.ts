/**
 * Adds up the rows that a plan may read, with the page sizes of a request: by these alone, or by the sizes of the tables too. docs/limits.md
 * explains the formula.
 */
import type { ScalarValue } from '../request/operation.ts';
import type { RowEstimate, RowSource } from './measure.ts';
import type { Count } from './plan.ts';

/** How many rows tables have, by oid. Those that are absent may have any number. */
export type TableSizes = ReadonlyMap<number, number>;

/** The selection that reads most rows: its response keys from the root, and the argument that limits it. */
export interface LargestSource {
  readonly path: readonly string[];
  readonly argument: RowSource['argument'];
}

const unknownSizes: TableSizes = new Map();

/** How many rows a request may read by its page sizes, if every page is full. */
export function evaluateRows(rows: RowEstimate, bindValues: readonly ScalarValue[]): number {
  return new RowCounter(unknownSizes, bindValues).count(rows, 1, true);
}

/** How many rows a request may read of tables of these sizes, and the selection that reads most of them; null if none reads any. */
export function evaluateRowsOf(
  sizes: TableSizes,
  rows: RowEstimate,
  bindValues: readonly ScalarValue[],
): { readonly rows: number; readonly largest: LargestSource | null } {
  const counter = new RowCounter(sizes, bindValues);
  return { rows: counter.count(rows, 1, true), largest: counter.largest };
}

/** Whether the number of rows depends on the values of a request. */
export function dependsOnValues({ sources }: RowEstimate): boolean {
  return sources.some(({ size, row }) => (typeof size !== 'number' && size.value.kind === 'variable') || dependsOnValues(row));
}

class RowCounter {
  readonly #sizes: TableSizes;
  readonly #bindValues: readonly ScalarValue[];
  readonly #path: string[] = [];
  #most = 0;
  largest: LargestSource | null = null;

  constructor(sizes: TableSizes, bindValues: readonly ScalarValue[]) {
    this.#sizes = sizes;
    this.#bindValues = bindValues;
  }

  /** The rows that are read for a number of rows. `areApart`: no two of these are the same row. */
  count({ constant, sources }: RowEstimate, around: number, areApart: boolean): number {
    if (around === 0) return 0;
    let rows = around * constant;
    for (const source of sources) {
      const size = this.#sizes.get(source.tableId ?? 0) ?? Infinity;
      const isApart = areApart && source.isApart;
      const each = around * Math.min(sizeOf(source.size, this.#bindValues), size);
      // Rows that are all different are at most those of the table.
      const read = isApart ? Math.min(each, size) : each;
      this.#path.push(...source.path);
      if (read > this.#most) {
        this.#most = read;
        this.largest = { path: [...this.#path], argument: source.argument };
      }
      rows += read + this.count(source.row, read, isApart);
      this.#path.length -= source.path.length;
    }
    return rows;
  }
}

/** A bound page size. Binding rejects negative ones. */
function sizeOf(size: Count, bindValues: readonly ScalarValue[]): number {
  if (typeof size === 'number') return size;
  const { value, encoding } = size;
  const given = value.kind === 'variable' ? (bindValues[value.index] ?? null) : value.kind === 'constant' ? value.value : null;
  const maximum = encoding.kind === 'count' ? encoding.maximum : Infinity;
  // Null means `limit null`, which is no limit, so only the maximum applies.
  return given === null ? maximum : Math.max(0, Math.min(Number(given), maximum));
}

/** How many rows a request may read: the estimate of its plan, with its values and the sizes of tables. */
import type { ScalarValue } from '../request/operation.ts';
import type { Count } from './parameter.ts';
import type { Path } from './walk.ts';

/** The rows that are read for a row (or for the operation): `constant`, and those of some reads. */
export interface RowEstimate {
  readonly constant: number;
  readonly reads: readonly RowRead[];
}

/** Rows that are read for each row around them. */
export interface RowRead {
  readonly path: Path;
  /** At most this many for each. */
  readonly size: Count;
  /** The argument that limits the number, if one does. */
  readonly argument: 'first' | 'atMost' | 'maxDepth' | 'depth' | null;
  /** The oid of the table that they are different rows of; null if they may be repeated, or of none. */
  readonly tableId: number | null;
  /** Whether different rows around them have different ones: the children of two parents, but not the parents of two children. */
  readonly isApart: boolean;
  readonly row: RowEstimate;
}

/** How many rows tables have, by oid. Those that are absent may have any number. */
export type TableSizes = ReadonlyMap<number, number>;

/** The selection that reads most rows: its response keys from the root, and the argument that limits it. */
export interface LargestRead {
  readonly path: Path;
  readonly argument: RowRead['argument'];
}

/** How many rows a request may read by its page sizes, if every page is full. */
export function evaluateRows(rows: RowEstimate, bindValues: readonly ScalarValue[]): number {
  return new RowCounter(new Map(), bindValues).count(rows, 1, true);
}

/** How many rows a request may read of tables of these sizes, and the selection that reads most of them; null if none reads any. */
export function evaluateRowsOf(
  sizes: TableSizes,
  rows: RowEstimate,
  bindValues: readonly ScalarValue[],
): { readonly rows: number; readonly largest: LargestRead | null } {
  const counter = new RowCounter(sizes, bindValues);
  return { rows: counter.count(rows, 1, true), largest: counter.largest };
}

/** Whether the number of rows depends on the values of a request. */
export function dependsOnValues({ reads }: RowEstimate): boolean {
  return reads.some(({ size, row }) => (typeof size !== 'number' && size.value.kind === 'variable') || dependsOnValues(row));
}

class RowCounter {
  readonly #sizes: TableSizes;
  readonly #bindValues: readonly ScalarValue[];
  #most = 0;
  largest: LargestRead | null = null;

  constructor(sizes: TableSizes, bindValues: readonly ScalarValue[]) {
    this.#sizes = sizes;
    this.#bindValues = bindValues;
  }

  /** The rows that are read for a number of rows. `areApart`: no two of these are the same row. */
  count({ constant, reads }: RowEstimate, around: number, areApart: boolean): number {
    if (around === 0) return 0;
    let rows = around * constant;
    for (const { path, size, argument, tableId, isApart, row } of reads) {
      const most = this.#sizes.get(tableId ?? 0) ?? Infinity;
      const each = around * Math.min(sizeOf(size, this.#bindValues), most);
      // Rows that are all different are at most those of the table.
      const read = areApart && isApart ? Math.min(each, most) : each;
      if (read > this.#most) {
        this.#most = read;
        this.largest = { path, argument };
      }
      rows += read + this.count(row, read, areApart && isApart);
    }
    return rows;
  }
}

/** A bound page size. Binding rejects negative ones. */
function sizeOf(size: Count, bindValues: readonly ScalarValue[]): number {
  if (typeof size === 'number') return size;
  const { value, encoding } = size;
  const bound = value.kind === 'variable' ? (bindValues[value.index] ?? null) : value.kind === 'constant' ? value.value : null;
  const maximum = encoding.kind === 'count' ? encoding.maximum : Infinity;
  // Null means `limit null`, which is no limit, so only the maximum applies.
  return bound === null ? maximum : Math.max(0, Math.min(Number(bound), maximum));
}

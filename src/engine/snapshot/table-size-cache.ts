/** The sizes of tables for the limits on rows. */
import { loadTableSizes } from '../../catalog/load-table-sizes.ts';
import type { RequestDatabase } from '../../database/database.ts';
import type { TableSizes } from '../../plan/evaluate-rows.ts';

const freshMillis = 60_000;

/**
 * The sizes of tables, read when a request first depends on them, and again when they are a minute old: statistics change without DDL, and
 * a table that has grown must not be taken for a small one.
 */
export class TableSizeCache {
  readonly #schemas: readonly string[];
  readonly #now: () => number;
  readonly #elsewhere: ReadonlySet<number>;
  #sizes: Promise<TableSizes> | null = null;
  #readAt = 0;

  /** `now` is the time in milliseconds. `elsewhere`: tables whose rows are on other nodes, which alone know how many there are. */
  constructor(schemas: readonly string[], now: () => number = () => performance.now(), elsewhere: readonly number[] = []) {
    this.#schemas = schemas;
    this.#now = now;
    this.#elsewhere = new Set(elsewhere);
  }

  /** Requests at the same time share one query. A failure is not remembered: the next request tries again. */
  read(database: RequestDatabase): Promise<TableSizes> {
    if (this.#sizes !== null && this.#now() - this.#readAt < freshMillis) return this.#sizes;
    this.#readAt = this.#now();
    const reading = loadTableSizes(database, this.#schemas).then((sizes) => roundUp([...sizes].filter(([id]) => !this.#elsewhere.has(id))));
    this.#sizes = reading;
    reading.catch(() => {
      if (this.#sizes === reading) this.#sizes = null;
    });
    return reading;
  }
}

/**
 * Rounds each size up to a power of ten, at least ten. Then a refused request tells no more of how many rows there are, including those
 * that a policy hides, and a table may grow until its size is read again.
 */
function roundUp(sizes: readonly (readonly [id: number, rows: number])[]): TableSizes {
  return new Map(sizes.map(([id, rows]) => [id, 10 ** Math.ceil(Math.log10(Math.max(rows, 10)))]));
}

/** The columns that a row gives, in order. Rows with the same columns share a shape, so that anything derived from it is computed once. */
import type { Column } from '../model/model.ts';

export class RowShape {
  readonly #before: RowShape | null;
  readonly #last: Column | null;
  #longer: Map<Column, RowShape> | null = null;
  #places: ReadonlyMap<Column, number> | null = null;

  /** The shape of no columns, from which others are built. */
  static none(): RowShape {
    return new RowShape(null, null);
  }

  private constructor(before: RowShape | null, last: Column | null) {
    this.#before = before;
    this.#last = last;
  }

  /** The shape with one more column. */
  with(column: Column): RowShape {
    this.#longer ??= new Map();
    let longer = this.#longer.get(column);
    if (longer === undefined) {
      longer = new RowShape(this, column);
      this.#longer.set(column, longer);
    }
    return longer;
  }

  /** The columns with their positions. Computed on demand, because most shapes are only steps towards longer ones. */
  get places(): ReadonlyMap<Column, number> {
    if (this.#places !== null) return this.#places;
    const columns: Column[] = [];
    for (let shape: RowShape = this; shape.#before !== null; shape = shape.#before) columns.unshift(shape.#last!);
    this.#places = new Map(columns.map((column, place) => [column, place]));
    return this.#places;
  }
}

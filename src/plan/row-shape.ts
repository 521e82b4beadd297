/** Which columns a row gives, and in what order. Rows that are alike have the same shape, so that what follows from it is found once for all of them. */
import type { Column } from '../model/model.ts';

export class RowShape {
  readonly #before: RowShape | null;
  readonly #last: Column | null;
  #longer: Map<Column, RowShape> | null = null;
  #places: ReadonlyMap<Column, number> | null = null;

  /** Of no columns. Shapes are made of one another. */
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

  /** The columns, each with its place in the row. Most shapes are but on the way to others, and never asked. */
  get places(): ReadonlyMap<Column, number> {
    if (this.#places !== null) return this.#places;
    const columns: Column[] = [];
    for (let shape: RowShape = this; shape.#before !== null; shape = shape.#before) columns.unshift(shape.#last!);
    this.#places = new Map(columns.map((column, place) => [column, place]));
    return this.#places;
  }
}

/**
 * The rows behind a cursor, as disjoint ranges that an index can serve each: a row comparison where all keys point one way
 * (`(t1."views", t1."id") > ($1, $2)`), and a range of its own for nulls and for each change of direction. An OR of the same
 * conditions reads the table from its beginning for each page.
 */
import type { OrderKey, Parameter } from '../plan/plan.ts';
import { bind, join, type Sql, sql, trusted } from '../sql/sql.ts';
import type { Scope } from './scope.ts';

/** A range of rows in walking order. */
export interface SeekRange {
  readonly condition: Sql;
  /** The keys that order the rows within the range: those before them are one value in it. */
  readonly order: readonly WalkKey[];
  /** Whether all of its rows come after those of the ranges ahead of it in the list. */
  readonly isBeyond: boolean;
}

/** A key in walking order. */
export interface WalkKey extends OrderKey {
  /** Whether it is never null where it is used, whatever its column says. */
  readonly isValue?: boolean;
}

/**
 * All rows. Where nulls stand at the other end than an index has them, those and the values are ranges of their own: an index serves both
 * (`… desc nulls last` as a whole it does not).
 */
export function wholeRanges(keys: readonly OrderKey[], scope: Scope): SeekRange[] {
  const [first, ...others] = keys;
  if (!first?.column.leadsIndex || first.column.notNull || first.nullsFirst === first.descending) return [];
  const column = scope.column(first.column.name);
  const values = { condition: sql`${column} is not null`, order: [{ ...first, isValue: true }, ...others], isBeyond: true };
  const nulls = { condition: sql`${column} is null`, order: others, isBeyond: true };
  return first.nullsFirst ? [nulls, values] : [values, nulls];
}

/** The ranges, nearest first. None if nothing can follow. Keys are in walking order. */
export function seekRanges(keys: readonly OrderKey[], cursor: readonly (Parameter | null)[], scope: Scope): SeekRange[] {
  const seeker = new Seeker(keys, cursor, scope);
  const ranges: SeekRange[] = [];
  const tail = seeker.tailStart();
  if (tail < cursor.length) ranges.push(seeker.beyondTail(tail));
  for (let index = cursor.length - 1; index >= 0; index -= 1) {
    if (index < tail) ranges.push(...seeker.beyondKey(index));
    // Nulls of a key within the tail lie between the rows that its comparison yields.
    ranges.push(...seeker.trailingNulls(index).map((range) => ({ ...range, isBeyond: index <= tail })));
  }
  return ranges;
}

class Seeker {
  readonly #keys: readonly OrderKey[];
  readonly #cursor: readonly (Parameter | null)[];
  readonly #scope: Scope;

  constructor(keys: readonly OrderKey[], cursor: readonly (Parameter | null)[], scope: Scope) {
    this.#keys = keys;
    this.#cursor = cursor;
    this.#scope = scope;
  }

  /** The first of the last keys that have values and one direction: those are compared as a row. */
  tailStart(): number {
    let start = this.#cursor.length;
    while (start > 0 && this.#cursor[start - 1] && this.#key(start - 1).descending === this.#key(this.#cursor.length - 1).descending)
      start -= 1;
    return start;
  }

  beyondTail(start: number): SeekRange {
    const indexes = Array.from({ length: this.#cursor.length - start }, (_, offset) => start + offset);
    const columns = indexes.map((index) => this.#column(index));
    const values = indexes.map((index) => this.#value(index));
    const symbol = trusted(this.#key(start).descending ? '<' : '>');
    const comparison =
      indexes.length === 1 ? sql`${columns[0]!} ${symbol} ${values[0]!}` : sql`(${join(columns, ', ')}) ${symbol} (${join(values, ', ')})`;
    return this.#range(start, comparison);
  }

  /** Equal up to this key and strictly beyond it. Beyond a null that comes first is every value; beyond one that comes last, nothing. */
  beyondKey(index: number): SeekRange[] {
    const { descending, nullsFirst } = this.#key(index);
    const column = this.#column(index);
    if (this.#cursor[index]) return [this.#range(index, sql`${column} ${trusted(descending ? '<' : '>')} ${this.#value(index)}`)];
    return nullsFirst ? [this.#range(index, sql`${column} is not null`)] : [];
  }

  /** Equal up to this key and null in it, where nulls follow the values. A cursor that is shorter than the order compares values only. */
  trailingNulls(index: number): SeekRange[] {
    const { column, nullsFirst } = this.#key(index);
    const isPartial = this.#cursor.length < this.#keys.length;
    if (column.notNull || nullsFirst || isPartial || !this.#cursor[index]) return [];
    return [this.#range(index, sql`${this.#column(index)} is null`, this.#keys.slice(index + 1))];
  }

  /** Without keys of its own a range is ordered from its key on, which is never null in what is beyond a value or a null. */
  #range(index: number, condition: Sql, keys: readonly WalkKey[] = this.#valuesFrom(index)): SeekRange {
    const prefix = Array.from({ length: index }, (_, each) =>
      this.#cursor[each] ? sql`${this.#column(each)} = ${this.#value(each)}` : sql`${this.#column(each)} is null`,
    );
    return { condition: join([...prefix, condition], ' and '), order: keys, isBeyond: true };
  }

  #valuesFrom(index: number): readonly WalkKey[] {
    return [{ ...this.#key(index), isValue: true }, ...this.#keys.slice(index + 1)];
  }

  #key(index: number): OrderKey {
    return this.#keys[index]!;
  }

  #column(index: number): Sql {
    return this.#scope.column(this.#key(index).column.name);
  }

  #value(index: number): Sql {
    return bind(this.#cursor[index], this.#key(index).column.type.sqlType);
  }
}

/** ORDER BY of keys in walking order. Words that say what is the default, or that nothing depends on, are left away: an index serves the rest. */
export function orderBy(keys: readonly WalkKey[], scope: Scope): Sql {
  return join(
    keys.map(({ column, descending, nullsFirst, isValue }) => {
      const direction = descending ? ' desc' : '';
      // Ascending puts nulls last and descending first, if nothing is said (manual: Sorting Rows).
      const nulls = column.notNull || isValue || nullsFirst === descending ? '' : nullsFirst ? ' nulls first' : ' nulls last';
      return sql`${scope.column(column.name)}${trusted(direction + nulls)}`;
    }),
    ', ',
  );
}

/** The keys as they are walked: backwards turns every direction around. */
export function walkingKeys(keys: readonly OrderKey[], direction: 'forward' | 'backward'): readonly OrderKey[] {
  if (direction === 'forward') return keys;
  return keys.map(({ column, descending, nullsFirst }) => ({ column, descending: !descending, nullsFirst: !nullsFirst }));
}

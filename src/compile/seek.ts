/**
 * The rows after a cursor, as disjoint ranges, each of which an index can serve: a row comparison if all keys have the same direction (`(t1."views",
 * t1."id") > ($1, $2)`), and separate ranges for nulls and for each change of direction. With an OR of the same conditions, PostgreSQL would read the
 * table from its start for each page.
 */
import type { Table } from '../model/model.ts';
import type { OrderKey, OrderValue, Parameter } from '../plan/plan.ts';
import { bind, join, type Sql, sql, trusted } from '../sql/sql.ts';
import { orderable } from './comparison.ts';
import { leadsIndex, type OrderValues, typeOf } from './order-values.ts';

/** A range of rows in paging order. */
export interface SeekRange {
  readonly condition: Sql;
  /** The keys that order the rows within the range; the keys before them have a single value in it. */
  readonly order: readonly PagingKey[];
  /** Whether all of its rows come after those of the preceding ranges. */
  readonly isBeyond: boolean;
}

/** A key in paging order. */
export interface PagingKey extends OrderKey {
  /** Whether it is never null in its range, even if its value may be. */
  readonly isValue?: boolean;
}

/**
 * All rows of `table`. If nulls are to come at the opposite end from where indexes have them, nulls and values are separate ranges: an index serves each
 * of the two, but not all rows. So they are if the value is that of a related row: but for nulls, PostgreSQL can begin with the
 * other table.
 */
export function wholeRanges(keys: readonly OrderKey[], values: OrderValues, table: Table): SeekRange[] {
  const [first, ...others] = keys;
  if (!first || !leadsIndex(first.value, table) || values.isNeverNull(first.value)) return [];
  if (first.value.kind === 'column' && movesNulls(first) === first.value.column.indexMovesNulls) return [];
  const value = values.sqlOf(first.value);
  const present = { condition: sql`${value} is not null`, order: [{ ...first, isValue: true }, ...others], isBeyond: true };
  const nulls = { condition: sql`${value} is null`, order: others, isBeyond: true };
  return first.nullsFirst ? [nulls, present] : [present, nulls];
}

/** The ranges, nearest first. None if nothing can follow. Keys are in paging order. */
export function seekRanges(keys: readonly OrderKey[], cursor: readonly (Parameter | null)[], values: OrderValues): SeekRange[] {
  const seeker = new Seeker(keys, cursor, values);
  const ranges: SeekRange[] = [];
  const tail = seeker.tailStart();
  if (tail < cursor.length) ranges.push(seeker.beyondTail(tail));
  for (let index = cursor.length - 1; index >= 0; index -= 1) {
    if (index < tail) ranges.push(...seeker.beyondKey(index));
    // Nulls of a key within the tail lie between the rows that its comparison returns.
    ranges.push(...seeker.trailingNulls(index).map((range) => ({ ...range, isBeyond: index <= tail })));
  }
  return ranges;
}

/** The ranges as one, where no index serves them: then each of them would read all rows. */
export function asOneRange(ranges: readonly SeekRange[], keys: readonly OrderKey[]): SeekRange[] {
  return ranges.length > 1 ? [{ condition: sql`(${conditionOf(ranges)})`, order: keys, isBeyond: true }] : [...ranges];
}

/** What holds for the rows in any of the ranges. */
export function conditionOf(ranges: readonly SeekRange[]): Sql {
  if (ranges.length === 0) return sql`false`;
  return join(
    ranges.map(({ condition }) => sql`(${condition})`),
    ' or ',
  );
}

/** What holds for the rows that are not after a cursor: conditions, of which each bounds the first key, so that an index can serve it. */
export function conditionsBehind(keys: readonly OrderKey[], cursor: readonly (Parameter | null)[], values: OrderValues): Sql[] {
  const isBehind = sql`(${conditionOf(seekRanges(keys, cursor, values))}) is not true`;
  const [first] = keys;
  if (!first || cursor.length === 0) return [isBehind];
  const value = values.sqlOf(first.value);
  const isNull = sql`${value} is null`;
  if (!cursor[0]) return [...(first.nullsFirst ? [] : [sql`${value} is not null`]), sql`${isNull} and ${isBehind}`];
  const bound = boundOf(cursor[0], first.value);
  const within = sql`${orderable(value, typeOf(first.value))} ${trusted(first.descending ? '>=' : '<=')} ${bound} and ${isBehind}`;
  return first.nullsFirst && !values.isNeverNull(first.value) ? [isNull, within] : [within];
}

/** The value of a cursor. */
function boundOf(element: Parameter | null | undefined, value: OrderValue): Sql {
  const type = typeOf(value);
  return orderable(bind(element, type.sqlType), type);
}

class Seeker {
  readonly #keys: readonly OrderKey[];
  readonly #cursor: readonly (Parameter | null)[];
  readonly #values: OrderValues;

  constructor(keys: readonly OrderKey[], cursor: readonly (Parameter | null)[], values: OrderValues) {
    this.#keys = keys;
    this.#cursor = cursor;
    this.#values = values;
  }

  /** Where the tail starts: the last keys that have values and the same direction are compared as a row. */
  tailStart(): number {
    let start = this.#cursor.length;
    while (start > 0 && this.#cursor[start - 1] && this.#key(start - 1).descending === this.#key(this.#cursor.length - 1).descending)
      start -= 1;
    return start;
  }

  beyondTail(start: number): SeekRange {
    const indexes = Array.from({ length: this.#cursor.length - start }, (_, offset) => start + offset);
    const values = indexes.map((index) => this.#value(index));
    const bounds = indexes.map((index) => this.#bound(index));
    const symbol = this.#key(start).descending ? '<' : '>';
    if (indexes.length === 1) return this.#range(start, sql`${values[0]!} ${trusted(symbol)} ${bounds[0]!}`);
    const comparison = sql`(${join(values, ', ')}) ${trusted(symbol)} (${join(bounds, ', ')})`;
    if (indexes.every((index) => this.#key(index).value.kind === 'column')) return this.#range(start, comparison);
    // No index has columns of two tables: the first of them is compared by itself, so that its own index serves.
    return this.#range(start, sql`${values[0]!} ${trusted(symbol)}= ${bounds[0]!} and ${comparison}`);
  }

  /**
   * Rows that equal the cursor in the keys before this one and are beyond it in this one. Every value is beyond a null that sorts first, and nothing
   * beyond one that sorts last.
   */
  beyondKey(index: number): SeekRange[] {
    const { descending, nullsFirst } = this.#key(index);
    const value = this.#value(index);
    if (this.#cursor[index]) return [this.#range(index, sql`${value} ${trusted(descending ? '<' : '>')} ${this.#bound(index)}`)];
    return nullsFirst ? [this.#range(index, sql`${value} is not null`)] : [];
  }

  /**
   * Rows that equal the cursor in the keys before this one and are null in this one, if nulls sort last. A cursor that is shorter than the order
   * compares values only.
   */
  trailingNulls(index: number): SeekRange[] {
    const { value, nullsFirst } = this.#key(index);
    const isPartial = this.#cursor.length < this.#keys.length;
    if (this.#values.isNeverNull(value) || nullsFirst || isPartial || !this.#cursor[index]) return [];
    return [this.#range(index, sql`${this.#value(index)} is null`, this.#keys.slice(index + 1))];
  }

  /** Unless `keys` says otherwise, a range is ordered from its key on, which is never null beyond a value or a null. */
  #range(index: number, condition: Sql, keys: readonly PagingKey[] = this.#valuesFrom(index)): SeekRange {
    const prefix = Array.from({ length: index }, (_, each) =>
      this.#cursor[each] ? sql`${this.#value(each)} = ${this.#bound(each)}` : sql`${this.#value(each)} is null`,
    );
    return { condition: join([...prefix, condition], ' and '), order: keys, isBeyond: true };
  }

  #valuesFrom(index: number): readonly PagingKey[] {
    return [{ ...this.#key(index), isValue: true }, ...this.#keys.slice(index + 1)];
  }

  #key(index: number): OrderKey {
    return this.#keys[index]!;
  }

  #value(index: number): Sql {
    const { value } = this.#key(index);
    return orderable(this.#values.sqlOf(value), typeOf(value));
  }

  /** The value of the cursor. */
  #bound(index: number): Sql {
    return boundOf(this.#cursor[index], this.#key(index).value);
  }
}

/**
 * ORDER BY for keys in paging order, so that an index matches: keywords that state the default are left out, and where there are no nulls, they are said to
 * come where indexes have them.
 */
export function orderBy(keys: readonly PagingKey[], values: OrderValues): Sql {
  return join(
    keys.map((key) => {
      const { value, descending } = key;
      const isMoved = values.isNeverNull(value) || key.isValue ? indexMovesNulls(value) : movesNulls(key);
      const nulls = isMoved ? (descending ? ' nulls last' : ' nulls first') : '';
      return sql`${values.sqlOf(value)}${trusted((descending ? ' desc' : '') + nulls)}`;
    }),
    ', ',
  );
}

/** Whether nulls come where they do not by default: they sort last if ascending, and first if descending (manual: Sorting Rows). */
function movesNulls({ descending, nullsFirst }: OrderKey): boolean {
  return nullsFirst !== descending;
}

function indexMovesNulls(value: OrderKey['value']): boolean {
  return value.kind === 'column' && value.column.indexMovesNulls;
}

/** The keys in paging order: paging backward reverses every direction. */
export function pagingKeys(keys: readonly OrderKey[], direction: 'forward' | 'backward'): readonly OrderKey[] {
  if (direction === 'forward') return keys;
  return keys.map(({ value, descending, nullsFirst }) => ({ value, descending: !descending, nullsFirst: !nullsFirst }));
}

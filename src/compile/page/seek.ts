/**
 * The rows after a cursor, as disjoint ranges, each of which an index can serve: a row comparison if all keys have the same direction
 * (`(t1."views", t1."id") > ($1, $2)`), and separate ranges for nulls and for each change of direction. If the same conditions were
 * combined by OR, PostgreSQL would read the table from its start for each page.
 */
import type { Table } from '../../model/model.ts';
import type { OrderKey, OrderValue, Parameter } from '../../plan/plan.ts';
import { and, list } from '../../sql/clauses.ts';
import { concatenate, type JsonText } from '../../sql/json-text.ts';
import { join, type Sql, sql, trusted } from '../../sql/sql.ts';
import { bound, isNotNull, isNull, orderable } from '../values/comparison.ts';
import { cursorElementJson } from '../values/value-json.ts';
import { leadsIndex, typeOf, type WrittenKey } from './order-keys.ts';

/** The values of a cursor for the first order keys; an element is null if the row had null. */
export type Cursor = readonly (Parameter | null)[];

/** A range of rows in paging order. */
export interface SeekRange {
  readonly condition: Sql;
  /** The keys that order the rows within the range. The keys before them have a single value in it. */
  readonly order: readonly WrittenKey[];
  /** Whether all of its rows come after those of the preceding ranges. */
  readonly isBeyond: boolean;
}

/**
 * Ranges of all rows of `table`; empty if one suffices. If the order has nulls at the opposite end from the indexes, nulls and values are
 * separate ranges, because an index can serve each but not both together. Likewise if the first value is that of a related row, because
 * without nulls PostgreSQL can start from the other table.
 */
export function wholeRanges(keys: readonly WrittenKey[], table: Table): SeekRange[] {
  const [first, ...others] = keys;
  if (!first || first.isNeverNull || !leadsIndex(first.value, table)) return [];
  if (first.value.kind === 'column' && movesNulls(first) === first.value.column.indexMovesNulls) return [];
  const type = typeOf(first.value);
  const present = { condition: isNotNull(first.sql, type), order: [{ ...first, isNeverNull: true }, ...others], isBeyond: true };
  const nulls = { condition: isNull(first.sql, type), order: others, isBeyond: true };
  return first.nullsFirst ? [nulls, present] : [present, nulls];
}

/** The ranges after a cursor, nearest first; empty if nothing can follow. Keys are in paging order. */
export function seekRanges(keys: readonly WrittenKey[], cursor: Cursor): SeekRange[] {
  const seeker = new Seeker(keys, cursor);
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

/**
 * Beyond so many values of a cursor, the rows after it are one range: the conditions of separate ranges repeat each other, and their size
 * grows with the square of the number of values.
 */
const mostRangedValues = 16;

/** The ranges after a cursor; a single one if the cursor has very many values. */
export function pageRanges(keys: readonly WrittenKey[], cursor: Cursor): SeekRange[] {
  if (cursor.length <= mostRangedValues) return seekRanges(keys, cursor);
  return [{ condition: new Seeker(keys, cursor).nested(), order: keys, isBeyond: true }];
}

/** A condition that holds for the rows after a cursor; null or false for others. */
export function conditionAfter(keys: readonly WrittenKey[], cursor: Cursor): Sql {
  return conditionOf(pageRanges(keys, cursor));
}

/** Combines the ranges into one. For orders that no index serves, in which each range would read all rows. */
export function asOneRange(ranges: readonly SeekRange[], keys: readonly WrittenKey[]): SeekRange[] {
  return ranges.length > 1 ? [{ condition: sql`(${conditionOf(ranges)})`, order: keys, isBeyond: true }] : [...ranges];
}

/** A condition that holds for the rows in any of the ranges. */
export function conditionOf(ranges: readonly SeekRange[]): Sql {
  if (ranges.length === 0) return sql`false`;
  return join(
    ranges.map(({ condition }) => sql`(${condition})`),
    ' or ',
  );
}

/**
 * Conditions for the rows that are not after a cursor, of which at least one must hold. Each bounds the first key, so that an index can
 * serve it.
 */
export function conditionsNotAfter(keys: readonly WrittenKey[], cursor: Cursor): Sql[] {
  const isNotAfter = sql`(${conditionAfter(keys, cursor)}) is not true`;
  const [first] = keys;
  if (!first || cursor.length === 0) return [isNotAfter];
  const type = typeOf(first.value);
  const absent = isNull(first.sql, type);
  if (!cursor[0]) return [...(first.nullsFirst ? [] : [isNotNull(first.sql, type)]), sql`${absent} and ${isNotAfter}`];
  const bound = boundOf(cursor[0], first.value);
  const within = sql`${orderable(first.sql, type)} ${trusted(first.descending ? '>=' : '<=')} ${bound} and ${isNotAfter}`;
  return first.nullsFirst && !first.isNeverNull ? [absent, within] : [within];
}

/** The value of the cursor for a key. */
function boundOf(element: Parameter | null | undefined, value: OrderValue): Sql {
  const type = typeOf(value);
  return orderable(bound(element, type), type);
}

class Seeker {
  readonly #keys: readonly WrittenKey[];
  readonly #cursor: Cursor;

  constructor(keys: readonly WrittenKey[], cursor: Cursor) {
    this.#keys = keys;
    this.#cursor = cursor;
  }

  /** The index where the tail starts: the last keys that are not null in the cursor and have the same direction are compared as a row. */
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
    const comparison = sql`(${list(values)}) ${trusted(symbol)} (${list(bounds)})`;
    if (indexes.every((index) => this.#key(index).value.kind === 'column')) return this.#range(start, comparison);
    // No index covers columns of two tables, so the first key is also compared by itself, to use its own index.
    return this.#range(start, sql`${values[0]!} ${trusted(symbol)}= ${bounds[0]!} and ${comparison}`);
  }

  /** The rows after the cursor: beyond it in the first key, or equal in that and, in turn, beyond it in the next or equal. */
  nested(): Sql {
    const parts: Sql[] = [];
    let open = 0;
    for (const index of this.#cursor.keys()) {
      const beyond = this.#beyond(index);
      if (index === this.#cursor.length - 1) parts.push(beyond ?? sql`false`);
      else {
        parts.push(beyond === null ? sql`(${this.#equal(index)} and ` : sql`(${beyond} or ${this.#equal(index)} and `);
        open += 1;
      }
    }
    return join([...parts, trusted(')'.repeat(open))], '');
  }

  /** Rows that are beyond the cursor in a key; null if none can be. */
  #beyond(index: number): Sql | null {
    const beyond = this.#beyondValue(index);
    return beyond !== null && this.#nullsFollow(index) ? sql`(${beyond} or ${this.#isNull(index)})` : beyond;
  }

  /** The same without nulls. Every value is beyond a null that sorts first, and nothing is beyond a null that sorts last. */
  #beyondValue(index: number): Sql | null {
    const { descending, nullsFirst } = this.#key(index);
    const value = this.#value(index);
    if (this.#cursor[index]) return sql`${value} ${trusted(descending ? '<' : '>')} ${this.#bound(index)}`;
    return nullsFirst ? isNotNull(value, typeOf(this.#key(index).value)) : null;
  }

  /** Whether nulls of a key sort after its value in the cursor. Not of a cursor with fewer values than keys, which compares values only. */
  #nullsFollow(index: number): boolean {
    const { isNeverNull, nullsFirst } = this.#key(index);
    const isPartial = this.#cursor.length < this.#keys.length;
    return !(isNeverNull || nullsFirst || isPartial) && Boolean(this.#cursor[index]);
  }

  /** Rows that equal the cursor in a key. */
  #equal(index: number): Sql {
    const value = this.#value(index);
    return this.#cursor[index] ? sql`${value} = ${this.#bound(index)}` : this.#isNull(index);
  }

  /** Rows that equal the cursor in the preceding keys and are beyond it in this one, without nulls. */
  beyondKey(index: number): SeekRange[] {
    const beyond = this.#beyondValue(index);
    return beyond === null ? [] : [this.#range(index, beyond)];
  }

  /** Rows that equal the cursor in the preceding keys and are null in this one, if nulls follow. */
  trailingNulls(index: number): SeekRange[] {
    if (!this.#nullsFollow(index)) return [];
    return [this.#range(index, this.#isNull(index), this.#keys.slice(index + 1))];
  }

  /** By default, a range is ordered from its key on, which is never null there. */
  #range(index: number, condition: Sql, keys: readonly WrittenKey[] = this.#valuesFrom(index)): SeekRange {
    const prefix = Array.from({ length: index }, (_, each) => this.#equal(each));
    return { condition: and([...prefix, condition]), order: keys, isBeyond: true };
  }

  #valuesFrom(index: number): readonly WrittenKey[] {
    return [{ ...this.#key(index), isNeverNull: true }, ...this.#keys.slice(index + 1)];
  }

  #key(index: number): WrittenKey {
    return this.#keys[index]!;
  }

  #isNull(index: number): Sql {
    return isNull(this.#value(index), typeOf(this.#key(index).value));
  }

  #value(index: number): Sql {
    const key = this.#key(index);
    return orderable(key.sql, typeOf(key.value));
  }

  #bound(index: number): Sql {
    return boundOf(this.#cursor[index], this.#key(index).value);
  }
}

/**
 * ORDER BY for keys in paging order, written so that an index matches: keywords for defaults are left out, and for keys without nulls,
 * nulls are placed where the indexes have them.
 */
export function orderBy(keys: readonly WrittenKey[]): Sql[] {
  return keys.map((key) => {
    const { value, descending, isNeverNull } = key;
    const isMoved = isNeverNull ? indexMovesNulls(value) : movesNulls(key);
    const nulls = isMoved ? (descending ? ' nulls last' : ' nulls first') : '';
    return sql`${key.sql}${trusted((descending ? ' desc' : '') + nulls)}`;
  });
}

/** Whether nulls are at the non-default end. By default they sort last if ascending and first if descending (manual: Sorting Rows). */
function movesNulls({ descending, nullsFirst }: OrderKey): boolean {
  return nullsFirst !== descending;
}

function indexMovesNulls(value: OrderValue): boolean {
  return value.kind === 'column' && value.column.indexMovesNulls;
}

/** The keys in paging order: paging backward reverses every direction. */
export function pagingKeys(keys: readonly OrderKey[], direction: 'forward' | 'backward'): readonly OrderKey[] {
  if (direction === 'forward') return keys;
  return keys.map(({ value, descending, nullsFirst }) => ({ value, descending: !descending, nullsFirst: !nullsFirst }));
}

/** The content of a cursor: a JSON array with the value of each key. */
export function cursorText(keys: readonly WrittenKey[]): Sql {
  const elements: JsonText = keys.flatMap((key, index) => [
    ...(index > 0 ? [', '] : []),
    ...cursorElementJson(key.sql, typeOf(key.value), key.isNeverNull),
  ]);
  return concatenate(['[', ...elements, ']']);
}

/**
 * The rows after a cursor, as disjoint ranges, each of which an index can serve: a row comparison if all keys have the same direction
 * (`(t1."views", t1."id") > ($1, $2)`), and separate ranges for nulls and for each change of direction. If the same conditions were
 * combined by OR, PostgreSQL would read the table from its start for each page.
 */
import type { Table } from '../../model/model.ts';
import type { ValueType } from '../../model/value-type.ts';
import type { OrderKey, OrderValue } from '../../plan/conditions.ts';
import type { Parameter } from '../../plan/parameter.ts';
import { traitsOfOrder } from '../../plan/traits/order-traits.ts';
import { and, list } from '../../sql/clauses.ts';
import { concatenate, type JsonText } from '../../sql/json-text.ts';
import { join, type Sql, sql, trusted } from '../../sql/sql.ts';
import { bound as boundTo, isNotNull, isNull, orderable } from '../values/comparison.ts';
import { cursorElementJson } from '../values/value-json.ts';
import { leadsIndex, type WrittenKey } from './order-keys.ts';

/** The values of a cursor for the first order keys; an element is null if the row had null. */
export type Cursor = readonly (Parameter | null)[];

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
  if (movesNulls(first) === traitsOfOrder(first.value).column?.indexMovesNulls) return [];
  const type = traitsOfOrder(first.value).type;
  const present = { condition: isNotNull(first.sql, type), order: [{ ...first, isNeverNull: true }, ...others], isBeyond: true };
  const nulls = { condition: isNull(first.sql, type), order: others, isBeyond: true };
  return first.nullsFirst ? [nulls, present] : [present, nulls];
}

/** The ranges after a cursor, nearest first; empty if nothing can follow. Keys are in paging order. */
export function seekRanges(keys: readonly WrittenKey[], cursor: Cursor): SeekRange[] {
  const positions = positionsIn(keys, cursor);
  const range = (index: number, condition: Sql, order: readonly WrittenKey[]): SeekRange => {
    return { condition: and([...positions.slice(0, index).map(isEqual), condition]), order, isBeyond: true };
  };
  const valuesFrom = (index: number): WrittenKey[] =>
    keys.slice(index).map((key, each) => (each === 0 ? { ...key, isNeverNull: true } : key));
  const tail = tailStart(positions);
  const ranges: SeekRange[] = [];
  if (tail < positions.length) ranges.push(range(tail, isBeyondTail(positions.slice(tail)), valuesFrom(tail)));
  for (const [index, position] of [...positions.entries()].reverse()) {
    const beyond = index < tail ? isBeyondValue(position) : null;
    if (beyond) ranges.push(range(index, beyond, valuesFrom(index)));
    // Nulls of a key within the tail lie between the rows that its comparison returns.
    if (position.nullsFollow) ranges.push({ ...range(index, position.isNull, keys.slice(index + 1)), isBeyond: index <= tail });
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
  return [{ condition: isBeyondAny(positionsIn(keys, cursor)), order: keys, isBeyond: true }];
}

/** A condition that holds for the rows after a cursor; null or false for others. */
export function conditionAfter(keys: readonly WrittenKey[], cursor: Cursor): Sql {
  return isInAny(pageRanges(keys, cursor));
}

/** Combines the ranges into one. For orders that no index serves, in which each range would read all rows. */
export function asOneRange(ranges: readonly SeekRange[], keys: readonly WrittenKey[]): SeekRange[] {
  return ranges.length > 1 ? [{ condition: sql`(${isInAny(ranges)})`, order: keys, isBeyond: true }] : [...ranges];
}

function isInAny(ranges: readonly SeekRange[]): Sql {
  const conditions = ranges.map(({ condition }) => sql`(${condition})`);
  return conditions.length > 0 ? join(conditions, ' or ') : sql`false`;
}

/**
 * Conditions for the rows that are not after a cursor, of which at least one must hold. Each bounds the first key, so that an index can
 * serve it.
 */
export function conditionsNotAfter(keys: readonly WrittenKey[], cursor: Cursor): Sql[] {
  const isNotAfter = sql`(${conditionAfter(keys, cursor)}) is not true`;
  const [first] = positionsIn(keys, cursor);
  if (!first) return [isNotAfter];
  const { key, value, bound, isNull } = first;
  if (!bound) return [...(key.nullsFirst ? [] : [isNotNull(key.sql, traitsOfOrder(key.value).type)]), sql`${isNull} and ${isNotAfter}`];
  const within = sql`${value} ${trusted(key.descending ? '>=' : '<=')} ${bound} and ${isNotAfter}`;
  return key.nullsFirst && !key.isNeverNull ? [isNull, within] : [within];
}

/** A key with its value in a cursor, both in a form that can be compared. */
interface Position {
  readonly key: WrittenKey;
  readonly value: Sql;
  readonly bound: Sql | null;
  readonly isNull: Sql;
  /** Whether nulls of the key sort after the bound. */
  readonly nullsFollow: boolean;
}

function positionsIn(keys: readonly WrittenKey[], cursor: Cursor): Position[] {
  return keys.slice(0, cursor.length).map((key, index) => {
    const type = traitsOfOrder(key.value).type;
    const element = cursor[index];
    // A cursor with fewer values than keys compares values only.
    const nullsFollow = Boolean(element) && !key.isNeverNull && !key.nullsFirst && cursor.length === keys.length;
    const bound = element ? boundOf(element, type) : null;
    return { key, value: orderable(key.sql, type), bound, isNull: isNull(orderable(key.sql, type), type), nullsFollow };
  });
}

/** A value of a cursor. That of a domain is of the type that it is over, because its checks would fail for values that no row has. */
function boundOf(element: Parameter, type: ValueType): Sql {
  const isOdd = type.kind === 'scalar' && type.oddlyOrdered;
  const sqlType = (!isOdd && 'writtenAs' in type && type.writtenAs) || type.sqlType;
  return orderable(boundTo(element, type, sqlType), { ...type, sqlType });
}

function isEqual({ value, bound, isNull }: Position): Sql {
  return bound ? sql`${value} = ${bound}` : isNull;
}

/**
 * The rows that are beyond the cursor in a key, without nulls. Every value is beyond a null that sorts first, none beyond one that sorts
 * last.
 */
function isBeyondValue({ key, value, bound }: Position): Sql | null {
  if (bound) return sql`${value} ${trusted(key.descending ? '<' : '>')} ${bound}`;
  return key.nullsFirst ? isNotNull(value, traitsOfOrder(key.value).type) : null;
}

/** The rows after the cursor: beyond it in the first key, or equal in that and, in turn, beyond it in the next or equal. */
function isBeyondAny([first, ...others]: readonly Position[]): Sql {
  if (!first) return sql`false`;
  const value = isBeyondValue(first);
  const beyond = value && first.nullsFollow ? sql`(${value} or ${first.isNull})` : value;
  if (others.length === 0) return beyond ?? sql`false`;
  const later = sql`${isEqual(first)} and ${isBeyondAny(others)}`;
  return beyond ? sql`(${beyond} or ${later})` : sql`(${later})`;
}

/** Where the tail starts: the last keys that are not null in the cursor and have the same direction are compared as a row. */
function tailStart(positions: readonly Position[]): number {
  const direction = positions.at(-1)?.key.descending;
  return positions.findLastIndex(({ key, bound }) => !bound || key.descending !== direction) + 1;
}

function isBeyondTail(tail: readonly Position[]): Sql {
  const values = tail.map(({ value }) => value);
  const bounds = tail.map(({ bound }) => bound!);
  const symbol = tail[0]!.key.descending ? '<' : '>';
  if (tail.length === 1) return sql`${values[0]!} ${trusted(symbol)} ${bounds[0]!}`;
  const comparison = sql`(${list(values)}) ${trusted(symbol)} (${list(bounds)})`;
  if (tail.every(({ key }) => traitsOfOrder(key.value).column)) return comparison;
  // No index covers columns of two tables, so the first key is also compared by itself, to use its own index.
  return sql`${values[0]!} ${trusted(symbol)}= ${bounds[0]!} and ${comparison}`;
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
  return traitsOfOrder(value).column?.indexMovesNulls ?? false;
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
    ...cursorElementJson(key.sql, traitsOfOrder(key.value).type, key.isNeverNull),
  ]);
  return concatenate(['[', ...elements, ']']);
}

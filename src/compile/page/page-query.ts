/** The rows of a page, in paging order: from the start, or after a cursor, as ranges that an index can serve. */

import type { OrderKey, OrderValue } from '../../plan/conditions.ts';
import type { Count } from '../../plan/parameter.ts';
import type { Page } from '../../plan/plan.ts';
import { traitsOfOrder } from '../../plan/traits/order-traits.ts';
import {
  as,
  coalesce,
  countRows,
  cte,
  exists,
  named,
  rowNumber,
  type SelectClauses,
  select,
  subselect,
  withQueries,
} from '../../sql/clauses.ts';
import { bind, integer, join, newLine, type Sql, sql, trusted } from '../../sql/sql.ts';
import { narrowsByIndex } from '../compile-filter.ts';
import { DerivedScope } from '../scope.ts';
import { type Collection, isWholeTable, keepsNotNull, type MatchingRows, matchingRows, type PageNeeds, pageNeeds } from './collection.ts';
import { type DistanceScan, scanOf, unbounded, withoutIndex } from './distance-scan.ts';
import { type JoinedKeys, joinKeys, leadsIndex, type WrittenKey } from './order-keys.ts';
import {
  asOneRange,
  type Cursor,
  conditionAfter,
  conditionsNotAfter,
  orderBy,
  pageRanges,
  pagingKeys,
  type SeekRange,
  wholeRanges,
} from './seek.ts';

const maxJoinsOfRanges = 20;

export class PageQuery {
  readonly needs: PageNeeds;
  /** The rows of the page, as a subselect. */
  readonly scope: DerivedScope;
  readonly #collection: Collection;
  /** In paging order, without repeated values. */
  readonly #keys: readonly OrderKey[];
  readonly #cursor: Cursor | null;
  /** The names of the outputs with values that are not columns, by identity. */
  readonly #outputNames: ReadonlyMap<string, string>;

  constructor(collection: Collection) {
    const { plan, context } = collection;
    const { keys, cursor, direction } = plan.page;
    this.#collection = collection;
    this.needs = pageNeeds(collection);
    this.scope = new DerivedScope(context.aliases.next(), plan.table, this.needs.rows, keepsNotNull(collection));
    // A repeated order value has no effect, but the cursor contains it twice.
    const identities = keys.map(({ value }) => traitsOfOrder(value).identity);
    const isFirst = identities.map((identity, index) => identities.indexOf(identity) === index);
    const distinct = keys.filter((_, index) => isFirst[index]);
    this.#keys = pagingKeys(distinct, direction);
    this.#cursor = cursor?.filter((_, index) => isFirst[index]) ?? null;
    const others = distinct.filter(({ value }) => value.kind !== 'column');
    this.#outputNames = new Map(
      others.map(({ value }, index) => [traitsOfOrder(value).identity, this.scope.freeName(`(order ${index + 1})`)]),
    );
  }

  number(): Sql {
    return this.scope.output(this.#numberName());
  }

  limit(): Sql {
    return countSql(this.#page.limit);
  }

  /** The position of the last row of the page, counting the rows skipped by an offset. */
  lastNumber(): Sql {
    const { limit, offset } = this.#page;
    if (offset === null) return countSql(limit);
    return typeof limit === 'number' && typeof offset === 'number'
      ? integer(limit + offset)
      : sql`${countSql(limit)} + ${countSql(offset)}`;
  }

  /** The order keys, as columns of the subselect. */
  cursorKeys(): WrittenKey[] {
    return this.#asOutputs(this.#page.keys);
  }

  /** Conditions of which one holds if rows precede the page in the direction of paging, provided that it has any rows. */
  precedingConditions(): Sql[] {
    const { offset } = this.#page;
    return [
      ...(offset !== null && offset !== 0 ? [sql`${countSql(offset)} > 0`] : []),
      ...(this.#cursor ? [this.#hasRowNotAfter(this.#cursor)] : []),
    ];
  }

  select(): Sql {
    const scan = scanOf(this.#collection);
    if (scan) return scan.isApproximate ? this.#nearly(scan) : this.#nearest();
    const rows = matchingRows(this.#collection, this.scope.alias);
    const joined = this.#joinKeys(rows);
    const ranges = this.#cursor ? this.#rangesAfter(this.#cursor, joined.keys) : this.#allRanges(joined.keys);
    if (ranges.length > 1) return this.#union(ranges, rows, joined);
    return this.#single(ranges[0] ?? (this.#cursor ? nothingIn(joined) : undefined), rows, joined);
  }

  #hasRowNotAfter(cursor: Cursor): Sql {
    const rows = matchingRows(this.#collection);
    const { keys, joins } = this.#joinKeys(rows);
    if (this.#keys.some(({ value }) => value.kind !== 'column')) {
      const notAfter = conditionsNotAfter(keys, cursor);
      const parts = this.#isIndexed() ? notAfter : [sql`(${join(notAfter, ' or ')})`];
      const found = parts.map((part) => exists({ from: rows.from, joins, where: [...rows.where, part] }));
      return join(found, ' or ');
    }
    const columns = [coalesce(conditionAfter(keys, cursor), trusted('false'))];
    // The first row of the order decides, which an index may find.
    const first = select({ columns, from: rows.from, where: rows.where, orderBy: orderBy(keys), limit: integer(1) });
    return sql`not coalesce((${first}), true)`;
  }

  #joinKeys({ scope }: MatchingRows): JoinedKeys {
    return joinKeys(this.#keys, scope, this.#readsAllRows(), this.#collection.context.aliases);
  }

  /**
   * The ranges after the cursor; a single one if other values than columns order the rows and no index serves them, because each range
   * would read all rows again. Also if there would be many joins, because PostgreSQL plans those of every range.
   */
  #rangesAfter(cursor: Cursor, keys: readonly WrittenKey[]): SeekRange[] {
    const ranges = pageRanges(keys, cursor);
    if (this.#collection.rows.kind === 'lineage') return asOneRange(ranges, keys);
    const joins = ranges.length * keys.filter(({ value }) => value.kind !== 'column').length;
    return joins > maxJoinsOfRanges || (joins > 0 && !this.#isIndexed()) ? asOneRange(ranges, keys) : ranges;
  }

  #allRanges(keys: readonly WrittenKey[]): SeekRange[] {
    if (this.#collection.rows.kind === 'lineage') return [];
    if (keys[0]?.value.kind === 'related' && !this.#isIndexed()) return [];
    return wholeRanges(keys, this.#collection.plan.table);
  }

  /**
   * Whether indexes find the rows in order. Rows that belong to another row, or that an index finds for the filter, are assumed to be few,
   * so they are sorted.
   */
  #isIndexed(): boolean {
    const [first] = this.#keys;
    const { table, filter } = this.#collection.plan;
    return first !== undefined && isWholeTable(this.#collection) && leadsIndex(first.value, table) && !narrowsByIndex(filter);
  }

  /** Whether finding the page needs the order values of every row of the table: no filter or policy reduces the rows. */
  #readsAllRows(): boolean {
    const { filter, table } = this.#collection.plan;
    return filter === null && !table.rowSecurity && isWholeTable(this.#collection);
  }

  #single(range: SeekRange | undefined, rows: MatchingRows, joined: JoinedKeys): Sql {
    const order = orderBy((range?.order ?? joined.keys).map(withoutIndex));
    const outputs = this.#outputs(rows, joined.keys, this.needs.keys);
    return select({
      columns: [...outputs, ...this.#rowNumber(order)],
      ...inRange(rows, joined, range),
      orderBy: order,
      limit: this.#size(),
      offset: this.#offset(),
    });
  }

  /**
   * Reads each range separately, limited to the size of the page, and combines them: one after the other until the page is full, or, if
   * their order is not guaranteed, by sorting these few rows.
   */
  #union(ranges: readonly SeekRange[], rows: MatchingRows, joined: JoinedKeys): Sql {
    const isInOrder = this.#readsInOrder() && ranges.every(({ isBeyond }) => isBeyond);
    const order = isInOrder ? [] : orderBy(this.#asOutputs(this.#keys));
    const outputs = this.#outputs(rows, joined.keys, this.needs.keys || !isInOrder);
    const columns = outputs.length > 0 ? outputs : [integer(1)];
    const limit = this.#lastSize();
    const branches = ranges.map((range) => subselect({ columns, ...inRange(rows, joined, range), orderBy: orderBy(range.order), limit }));
    return this.#pageOf(sql`(${newLine}${join(branches, sql`${newLine}union all${newLine}`)})`, order);
  }

  /**
   * The nearest rows, which a GiST index finds. Before version 17, it serves no order by several values, so the rows at the distance of the
   * last one are read, too, and sorted with the others. For the first 10:
   *
   *     select t1.* from (select …, t1."name"::text operator(public.<->) $1::text as "(order 1)" from … as t1
   *       order by t1."name"::text operator(public.<->) $1::text fetch first (10) rows with ties) as t1 order by t1."(order 1)", t1."id" limit 10
   */
  #nearest(): Sql {
    const rows = this.#nearestRows(matchingRows(this.#collection, this.scope.alias), this.#lastSize(), 'with ties');
    return this.#sorted(sql`(${rows})`);
  }

  /**
   * The nearest rows, of which an HNSW or IVFFlat index finds some, in an order that is almost right. If it finds fewer than the page has
   * room for, all distances are computed. For the first 10 within a distance:
   *
   *     with nearest as materialized (select …, t1."embedding" operator(public.<=>) $1::public.vector as "(order 1)" from … as t1
   *       order by t1."embedding" operator(public.<=>) $1::public.vector fetch first (18) rows with ties)
   *     select t1.* from (
   *       select t1.* from nearest as t1 where (select count(*) from nearest) >= 10 and t1."(order 1)" <= $2::double precision
   *       union all
   *       (select … from … as t1 where t1."embedding" operator(public.<=>) $1::public.vector <= $2::double precision
   *         and (select count(*) from nearest) < 10 order by (t1."embedding" operator(public.<=>) $1::public.vector) + 0, t1."id" limit 10)
   *     ) as t1 order by t1."(order 1)", t1."id" limit 10
   *
   * The bound of the distance is outside, because a scan would go on looking for rows within it.
   */
  #nearly({ within }: DistanceScan): Sql {
    const { alias } = this.scope;
    const limit = this.#lastSize();
    const spare = sql`${limit} + ${integer(spareRows)}`;
    const scanned = this.#nearestRows(matchingRows(unbounded(this.#collection), alias), spare, 'with ties');
    const all = matchingRows(this.#collection, alias);
    const isFull = sql`(select ${countRows} from ${trusted(found)}) >= ${limit}`;
    const exact = this.#nearestRows({ ...all, where: [...all.where, sql`not ${isFull}`] }, limit, 'without index');
    const [key] = this.#asOutputs(this.#keys);
    const bound = within && key ? [sql`${key.sql} <= ${bind(within, 'double precision')}`] : [];
    const indexed = select({ columns: [sql`${trusted(alias)}.*`], from: as(trusted(found), alias), where: [isFull, ...bound] });
    const page = this.#sorted(sql`(${newLine}${indexed}${newLine}union all${newLine}(${exact}))`);
    return withQueries([cte(found, scanned, { materialized: true })], page);
  }

  /** `with ties`: in the order of the distance alone. */
  #nearestRows(rows: MatchingRows, limit: Sql, by: 'with ties' | 'without index'): Sql {
    const joined = this.#joinKeys(rows);
    const range = this.#cursor ? (this.#rangesAfter(this.#cursor, joined.keys)[0] ?? nothingIn(joined)) : undefined;
    const withTies = by === 'with ties';
    const order = orderBy(withTies ? joined.keys.slice(0, 1) : joined.keys.map(withoutIndex));
    return select({ columns: this.#outputs(rows, joined.keys, true), ...inRange(rows, joined, range), orderBy: order, limit, withTies });
  }

  /** The page of rows that have the values of the keys. */
  #sorted(rows: Sql): Sql {
    return this.#pageOf(rows, orderBy(this.#asOutputs(this.#keys)));
  }

  #pageOf(rows: Sql, order: readonly Sql[]): Sql {
    const { alias } = this.scope;
    return select({
      columns: [sql`${trusted(alias)}.*`, ...this.#rowNumber(order)],
      from: as(rows, alias),
      orderBy: order,
      limit: this.#size(),
      offset: this.#offset(),
    });
  }

  /** The number of rows up to the last one of the page. */
  #lastSize(): Sql {
    const offset = this.#offset();
    return offset ? sql`${this.#size()} + ${offset}` : this.#size();
  }

  /**
   * Whether PostgreSQL returns the rows of `union all` in the order of its branches, which it does if it reads them one after the other.
   * Branches with a limit never run in parallel; only foreign scans of whole branches may run concurrently.
   */
  #readsInOrder(): boolean {
    const { kind } = this.#collection.plan.table;
    const isStored = kind === 'table' || kind === 'partitioned table' || kind === 'materialized view';
    return this.#collection.rows.kind === 'table' && isStored;
  }

  /** The select list, with the values of the keys if anything around the subselect uses them. */
  #outputs({ scope }: MatchingRows, keys: readonly WrittenKey[], withKeys: boolean): Sql[] {
    const { valueJson } = this.#collection.context;
    if (!withKeys) return this.scope.outputs(scope, valueJson);
    const columns = keys.flatMap(({ value }) => (value.kind === 'column' ? [value.column.name] : []));
    const others = keys.flatMap((key) => {
      const name = this.#outputNames.get(traitsOfOrder(key.value).identity);
      return name === undefined ? [] : [named(key.sql, name)];
    });
    return [...this.scope.outputs(scope, valueJson, columns), ...others];
  }

  #asOutputs(keys: readonly OrderKey[]): WrittenKey[] {
    const sqlOf = (value: OrderValue): Sql =>
      this.scope.output(value.kind === 'column' ? value.column.name : (this.#outputNames.get(traitsOfOrder(value).identity) ?? ''));
    return keys.map((key) => ({
      ...key,
      sql: sqlOf(key.value),
      isNeverNull: traitsOfOrder(key.value).isNeverNull(this.scope.keepsNotNull),
    }));
  }

  #rowNumber(order: readonly Sql[]): Sql[] {
    return this.needs.numbers ? [named(rowNumber(order), this.#numberName())] : [];
  }

  #numberName(): string {
    return this.scope.freeName('(number)');
  }

  #size(): Sql {
    const { limit } = this.#page;
    if (!this.needs.oneMore) return countSql(limit);
    return typeof limit === 'number' ? integer(limit + 1) : sql`${countSql(limit)} + 1`;
  }

  #offset(): Sql | null {
    const { offset } = this.#page;
    return offset === null ? null : countSql(offset);
  }

  get #page(): Page {
    return this.#collection.plan.page;
  }
}

function nothingIn({ keys }: JoinedKeys): SeekRange {
  return { condition: sql`false`, order: keys, isBeyond: true };
}

const found = 'nearest';
/**
 * How many more rows an index finds than the page has: it knows distances only to about seven digits, so that rows at almost the same
 * distance come in any order.
 */
const spareRows = 8;

/** FROM and WHERE of the rows in a range; of all rows if there is none. */
function inRange({ from, where }: MatchingRows, { joins }: JoinedKeys, range: SeekRange | undefined): Omit<SelectClauses, 'columns'> {
  return { from, joins, where: range ? [...where, range.condition] : where };
}

export function countSql(value: Count): Sql {
  return typeof value === 'number' ? integer(value) : bind(value, 'int8');
}

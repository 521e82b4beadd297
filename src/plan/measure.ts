/**
 * Measures what a plan costs: the members of its filters, its subqueries, and the rows that it may read, as an expression over page sizes
 * and sizes of tables. Also lists the tables and functions that it touches. docs/limits.md explains the formula.
 */
import type { Relation, Table } from '../model/model.ts';
import type { RelatedRows } from '../model/relations/related-rows.ts';
import type { Filter, OrderKey, OrderValue } from './conditions.ts';
import type { RowEstimate, RowRead } from './evaluate-rows.ts';
import type {
  AggregatedColumn,
  ConnectionPlan,
  GroupsPlan,
  Member,
  MutationPlan,
  Page,
  Plan,
  ResponseValue,
  ResultPlan,
  RootValue,
  RowValue,
} from './plan.ts';
import { type Around, addLevels, addRead, addRowList, addShards, countOf, type GrowingEstimate, sizeOfNestedWrite } from './row-reads.ts';
import { type Touched, TouchedCollector } from './touched.ts';
import { traitsOfFilter } from './traits/filter-traits.ts';
import { traitsOfOrder } from './traits/order-traits.ts';
import { type Path, type PlanNode, pinsColumns, readsPage, walkPlan } from './walk.ts';

export interface PlanMeasure extends Touched {
  readonly filterMembers: number;
  /** The number of order keys, without those that may only complete an order: the primary key, and as many as groups have columns. */
  readonly orderKeys: number;
  /** The number of collections, relations, computed fields and functions. */
  readonly subqueries: number;
  readonly rows: RowEstimate;
  /** The number of parameters of the largest insert. */
  readonly parameters: number;
  /** The settings that it needs for its transaction. */
  readonly settings: readonly (readonly [name: string, value: string])[];
  /**
   * Whether it reads pages after a cursor, and each is a single range of rows (`compile/seek.ts`) of a table that is not partitioned: the
   * order is by columns that are never null, all in the same direction.
   */
  readonly seeksOneRange: boolean;
  /** Whether a count may be PostgreSQL's estimate, which changes at another time than the table. */
  readonly readsEstimate: boolean;
}

/** The estimate for a count or an aggregate, which reads more rows than it returns. */
const rowsOfAggregate = 10;
const noSettings: PlanMeasure['settings'] = [];
/**
 * Scans of vector indexes go on until enough rows match the filter (https://github.com/pgvector/pgvector#iterative-index-scans). An HNSW scan
 * that may go on takes a sixth longer.
 */
const scanSettings: PlanMeasure['settings'] = [
  ['hnsw.iterative_scan', 'strict_order'],
  ['ivfflat.iterative_scan', 'relaxed_order'],
];
/** How many rows a page may have that such a scan fills at once: it finds 40 (`hnsw.ef_search`), and some are spare. */
const mostAtOnce = 30;

export function measurePlan(plan: Plan): PlanMeasure {
  const measurer = new PlanMeasurer(plan.kind);
  const rows: GrowingEstimate = { constant: 0, reads: [] };
  walkPlan(plan, { rows, outer: rows, isApart: true, times: 1 }, measurer.enter);
  return measurer.measure(rows);
}

class PlanMeasurer {
  readonly #touched: TouchedCollector;
  #filterMembers = 0;
  #orderKeys = 0;
  #subqueries = 0;
  #parameters = 0;
  #scansOn = false;
  #readsEstimate = false;
  /** For each page after a cursor, whether it is a single range. */
  readonly #seeks: boolean[] = [];

  constructor(kind: Plan['kind']) {
    this.#touched = new TouchedCollector(kind);
  }

  measure(rows: RowEstimate): PlanMeasure {
    return {
      ...this.#touched.found(),
      filterMembers: this.#filterMembers,
      orderKeys: this.#orderKeys,
      subqueries: this.#subqueries,
      rows,
      parameters: this.#parameters,
      settings: this.#scansOn ? scanSettings : noSettings,
      seeksOneRange: this.#seeks.length > 0 && this.#seeks.every(Boolean),
      readsEstimate: this.#readsEstimate,
    };
  }

  readonly enter = (node: PlanNode, path: Path, around: Around): Around => {
    switch (node.kind) {
      case 'root':
        return this.#root(node.value, path, around);
      case 'row':
        this.#touched.addTable(node.value.table);
        return around;
      case 'row value':
        return this.#rowValue(node.value, node.table, path, around);
      case 'result':
        return this.#result(node.value, path, around);
      case 'connection':
        return this.#connection(node.value, path, node.isCalled ? null : node.value.table.id, around);
      case 'connection value':
        if (node.value.kind !== 'edges' && node.value.kind !== 'page info') around.outer.constant += rowsOfAggregate;
        this.#readsEstimate ||= node.value.kind === 'total count' && node.value.estimate !== null;
        return around;
      case 'aggregated column':
        if (isSorted(node.value)) around.outer.constant += rowsOfAggregate;
        return around;
      case 'group condition':
        this.#filterMembers += 1;
        return around;
      case 'filter':
        this.#filter(node.value);
        return around;
      case 'order value':
        this.#orderValue(node.value, around.times);
        return around;
      case 'response value':
        if (node.value.kind === 'edges') this.#order(node.value.keys, node.table);
        return node.value.kind === 'query' ? { ...around, rows: around.outer } : around;
      case 'step':
        // Each step is a statement, and each row of the input counts as a row read.
        this.#subqueries += 1;
        this.#touched.addTable(node.value.table);
        around.outer.constant += node.value.paths.length;
        return around;
      case 'edge value':
      case 'aggregate value':
      case 'group order':
        return around;
    }
  };

  #root(value: RootValue, path: Path, around: Around): Around {
    switch (value.kind) {
      case 'type name':
      case 'introspection':
      case 'connection':
        return around;
      case 'lookup':
        this.#subqueries += 1;
        around.rows.constant += 1;
        return around;
      case 'routine':
        this.#touched.addRoutine(value.routine);
        return around;
      case 'nested write':
        return this.#records(value, path, { ...sizeOfNestedWrite(value), tableId: null }, around);
      case 'insert':
        this.#parameters = Math.max(this.#parameters, value.rows.length * value.columns.length);
        return this.#mutation(value, path, { size: value.rows.length, argument: null, tableId: null }, around);
      case 'update':
      case 'delete':
        // The client's `atMost` limits the rows written. The rows returned count like those of a page.
        return this.#mutation(value, path, { size: countOf(value.atMost), argument: 'atMost', tableId: value.table.id }, around);
    }
  }

  #mutation(plan: MutationPlan, path: Path, size: Pick<RowRead, 'size' | 'argument' | 'tableId'>, around: Around): Around {
    this.#subqueries += 1;
    this.#touched.addTable(plan.table);
    if (plan.kind !== 'insert') addShards(plan.table, plan.filter, around);
    return plan.kind === 'insert' ? addRead({ ...size, path }, around) : this.#records(plan, path, size, around);
  }

  /** The rows that a root field writes, if it returns any. */
  #records(
    { members }: { readonly members: readonly Member<ResponseValue>[] },
    path: Path,
    size: Pick<RowRead, 'size' | 'argument' | 'tableId'>,
    around: Around,
  ): Around {
    const returns = members.some(({ value }) => value.kind === 'records' || value.kind === 'edges');
    return returns ? addRead({ ...size, path }, around) : around;
  }

  #connection(plan: ConnectionPlan, path: Path, tableId: number | null, around: Around): Around {
    const { table, page, filter, distinct, fusion, members } = plan;
    const legs = fusion?.legs ?? [];
    this.#subqueries += (distinct ? 2 : 1) + legs.length;
    for (const { depth } of legs) addRead({ path, size: depth, argument: 'depth', tableId }, around);
    this.#touched.addTable(table);
    const keys = [...page.keys, ...(distinct?.order ?? []), ...legs.flatMap((leg) => leg.keys)];
    if (keys.some(({ value }) => traitsOfOrder(value).scansOn) && !(path.length === 1 && isFoundAtOnce(plan))) this.#scansOn = true;
    if (tableId !== null) addShards(table, filter, around);
    if (distinct) this.#orderKeys += distinct.order.length;
    for (const { key, value } of members) if (value.kind === 'groups') this.#groups(value.groups, [...path, key], tableId, around);
    if (!readsPage(plan)) return { ...around, outer: around.rows };
    if (page.cursor !== null) this.#seeks.push(isOneRange(page, table));
    if (!distinct) this.#order(page.keys, table);
    const size = isOneRow(filter, table) ? 1 : page.limit;
    return { ...addRead({ path, size, argument: 'first', tableId }, around), times: Math.max(1, page.cursor?.length ?? 0) };
  }

  /** Counts the groups as a subquery, and each relation that they are grouped by as another, which is joined to it. */
  #groups({ by, order, limit }: GroupsPlan, path: Path, tableId: number | null, around: Around): void {
    // Planning appends the columns of `by` that were not requested.
    this.#orderKeys += Math.max(0, order.length - by.length);
    const joined = new Set<string>();
    for (const each of by) {
      let name = '';
      for (const { fieldName, target } of each.path) {
        name += `.${fieldName}`;
        joined.add(name);
        this.#touched.addTable(target);
      }
    }
    this.#subqueries += 1 + joined.size;
    addRead({ path, size: limit, argument: 'first', tableId }, around);
  }

  /** Counts the keys that were requested: planning appends the primary key. */
  #order(keys: readonly OrderKey[], table: Table): void {
    this.#orderKeys += keys.length - table.primaryKey.length;
  }

  /** Counts each relation, computed field and other row as a subquery. */
  #orderValue(value: OrderValue, times: number): void {
    const { rows, calls, readsRow } = traitsOfOrder(value);
    if (rows || calls || readsRow) this.#subqueries += times;
    if (rows) this.#touchRelated(rows);
    if (calls) this.#touched.addRoutine(calls);
  }

  /** Counts each comparison, `and`, `or` and `not`, and each condition on related rows, which is also a subquery. */
  #filter(filter: Filter): void {
    const { rows, members } = traitsOfFilter(filter);
    this.#filterMembers += members;
    if (!rows) return;
    this.#subqueries += 1;
    this.#touchRelated(rows);
  }

  #rowValue(value: RowValue, near: Table, path: Path, around: Around): Around {
    switch (value.kind) {
      case 'to-one':
        this.#subqueries += 1;
        around.rows.constant += 1;
        return { ...around, isApart: around.isApart && keepsApart(near, value.relation) };
      case 'to-many':
        return { ...around, isApart: around.isApart && keepsApart(near, value.relation) };
      case 'lineage':
        this.#subqueries += 1;
        addLevels(value, near, path, around);
        return { ...around, isApart: false };
      case 'computed':
        this.#touched.addRoutine(value.routine);
        return around;
      case 'row column':
        return value.list ? addRowList(path, around) : { ...around, isApart: false };
      default:
        return around;
    }
  }

  /** A function may return the same rows again and again. */
  #result(result: ResultPlan, path: Path, around: Around): Around {
    if (result.kind !== 'rows') this.#subqueries += 1;
    if (result.kind === 'row') around.rows.constant += 1;
    if (result.kind === 'value set' || result.kind === 'row set')
      return addRead({ path, size: result.limit, argument: 'first', tableId: null }, { ...around, isApart: false });
    return result.kind === 'row list' ? addRowList(path, around) : { ...around, isApart: false };
  }

  #touchRelated({ by, target }: RelatedRows): void {
    this.#touched.addTable(target);
    if (by.kind === 'lineage') this.#subqueries += 1;
    if (by.kind === 'computed') this.#touched.addRoutine(by.routine);
  }
}

function isOneRange({ cursor, keys }: Page, { kind }: Table): boolean {
  const used = keys.slice(0, cursor?.length ?? 0);
  return (
    kind !== 'partitioned table' &&
    used.every(({ value, descending }) => traitsOfOrder(value).column?.notNull && descending === used[0]!.descending)
  );
}

/** Whether nothing but the distance decides which rows of a table are on a short page. */
function isFoundAtOnce({ table, page: { limit, offset, cursor, direction }, filter, distinct, fusion }: ConnectionPlan): boolean {
  const isStored = table.kind === 'table' || table.kind === 'materialized view';
  if (!isStored || table.rowSecurity || filter?.kind !== 'distance' || distinct || fusion) return false;
  if (typeof limit !== 'number' || (offset !== null && typeof offset !== 'number')) return false;
  return cursor === null && direction === 'forward' && limit + Number(offset) <= mostAtOnce;
}

/** Whether a filter gives the whole of a key that is surely unique. */
function isOneRow(filter: Filter | null, { keyIsUnique, primaryKey, uniqueKeys }: Table): boolean {
  return filter !== null && keyIsUnique && [primaryKey, ...uniqueKeys].some((key) => key.length > 0 && pinsColumns(filter, key));
}

/** Whether a relation leads from different rows of a table to different rows: they refer to it by a key of it that is surely unique. */
function keepsApart({ keyIsUnique, uniqueKeys }: Table, { holdsKey, columns }: Relation): boolean {
  return !holdsKey && keyIsUnique && uniqueKeys.some((key) => key.every(({ name }) => columns.some(({ near }) => near === name)));
}

/** Whether PostgreSQL passes over all rows once more for an aggregate, because it sorts them. */
function isSorted({ name }: AggregatedColumn): boolean {
  return name === 'countDistinct' || name === 'percentile';
}

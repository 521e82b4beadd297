/**
 * Measures what a plan costs: the members of its filters, its subqueries, and the rows that it may read, as an expression over page sizes
 * and sizes of tables. Also lists the tables and functions that it touches. docs/limits.md explains the formula.
 */
import type { SessionEffects } from '../catalog/catalog.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Relation, Table } from '../model/model.ts';
import type { RelatedRows } from '../model/relations/related-rows.ts';
import type { Routine } from '../model/routine.ts';
import type { Filter, OrderKey, OrderValue } from './conditions.ts';
import type { RowEstimate, RowRead } from './evaluate-rows.ts';
import type { NestedWritePlan } from './nested-write-plan.ts';
import type { Count, Parameter } from './parameter.ts';
import type {
  AggregatedColumn,
  ConnectionPlan,
  GroupsPlan,
  LineagePlan,
  Member,
  MutationPlan,
  Page,
  Plan,
  ResponseValue,
  ResultPlan,
  RootValue,
  RowValue,
} from './plan.ts';
import { traitsOfFilter } from './traits/filter-traits.ts';
import { traitsOfOrder } from './traits/order-traits.ts';
import { type Path, type PlanNode, pinsColumns, readsPage, requiredComparisons, walkPlan } from './walk.ts';

export interface PlanMeasure {
  readonly filterMembers: number;
  /** The number of order keys, without those that may only complete an order: the primary key, and as many as groups have columns. */
  readonly orderKeys: number;
  /** The number of collections, relations, computed fields and functions. */
  readonly subqueries: number;
  readonly rows: RowEstimate;
  /** The number of parameters of the largest insert. */
  readonly parameters: number;
  /** The names of the tables and functions that it touches, without duplicates. */
  readonly touches: readonly string[];
  readonly callsFunctions: boolean;
  /** The ids of those tables and functions. */
  readonly tableIds: readonly number[];
  readonly routineIds: readonly number[];
  /** A volatile function that it calls; null if there is none. */
  readonly volatileRoutine: string | null;
  /** How often its answer is to be computed again, in milliseconds, according to these tables and functions; null for never. */
  readonly liveRefresh: number | null;
  /** What it may do beyond its transaction. */
  readonly effects: SessionEffects;
  /** The settings that it needs for its transaction. */
  readonly settings: readonly (readonly [name: string, value: string])[];
  /**
   * Whether PostgreSQL parses and plans it in the same way for every role: only queries on role-independent tables, without functions.
   * Never mutations, because their triggers and defaults are not examined.
   */
  readonly roleIndependent: boolean;
  /**
   * Whether it reads pages after a cursor, and each is a single range of rows (`compile/seek.ts`) of a table that is not partitioned: the
   * order is by columns that are never null, all in the same direction.
   */
  readonly seeksOneRange: boolean;
}

/** The estimate for a count or an aggregate, which reads more rows than it returns. */
const rowsOfAggregate = 10;
const noSettings: PlanMeasure['settings'] = [];
/** Scans of vector indexes go on until enough rows match the filter (https://github.com/pgvector/pgvector#iterative-index-scans). */
const scanSettings: PlanMeasure['settings'] = [
  ['hnsw.iterative_scan', 'strict_order'],
  ['ivfflat.iterative_scan', 'relaxed_order'],
];

/** The estimate for a column that holds an array of rows. */
const rowsOfRowList = 10;
/** The estimate for a level of a lineage. */
const rowsOfLevel = { ancestors: 1, descendants: 10 };

/** The estimate for a task of Citus beside the first, which asks a further shard. */
const rowsOfTask = 10;

/** Counts the further shards of a root field that does not say which one its rows are on. Related rows are on that of their row. */
function addShards({ placement }: Table, filter: Filter | null, { rows, outer }: Around): void {
  if (placement?.kind !== 'distributed' || rows !== outer) return;
  const isPinned = requiredComparisons(filter).some(({ column, operator }) => operator === 'eq' && column.name === placement.column);
  if (!isPinned) rows.constant += rowsOfTask * (placement.shards - 1);
}

export function measurePlan(plan: Plan): PlanMeasure {
  const measurer = new PlanMeasurer(plan.kind);
  const rows: GrowingEstimate = { constant: 0, reads: [] };
  walkPlan(plan, { rows, outer: rows, isApart: true, times: 1 }, measurer.enter);
  return measurer.measure(rows);
}

interface GrowingEstimate {
  constant: number;
  readonly reads: RowRead[];
}

interface Around {
  /** The rows read for the row that the part is of. */
  readonly rows: GrowingEstimate;
  /** Those read for the row around a page, or for the operation. */
  readonly outer: GrowingEstimate;
  /** Whether different rows around the part have different rows of the part. */
  readonly isApart: boolean;
  /** How often each value of the order is read: a cursor has a range for each of its values. */
  readonly times: number;
}

class PlanMeasurer {
  readonly #kind: Plan['kind'];
  #filterMembers = 0;
  #orderKeys = 0;
  #subqueries = 0;
  #parameters = 0;
  readonly #touches = new Set<string>();
  #volatileRoutine: string | null = null;
  #scansOn = false;
  #liveRefresh = Infinity;
  readonly #tableIds = new Set<number>();
  readonly #routineIds = new Set<number>();
  #effects: SessionEffects = { readsSession: false, changesSession: false };
  #tablesAreRoleIndependent = true;
  /** For each page after a cursor, whether it is a single range. */
  readonly #seeks: boolean[] = [];

  constructor(kind: Plan['kind']) {
    this.#kind = kind;
  }

  measure(rows: RowEstimate): PlanMeasure {
    return {
      filterMembers: this.#filterMembers,
      orderKeys: this.#orderKeys,
      subqueries: this.#subqueries,
      rows,
      parameters: this.#parameters,
      touches: [...this.#touches],
      callsFunctions: this.#routineIds.size > 0,
      tableIds: [...this.#tableIds],
      routineIds: [...this.#routineIds],
      volatileRoutine: this.#volatileRoutine,
      liveRefresh: this.#liveRefresh === Infinity ? null : this.#liveRefresh,
      effects: this.#effects,
      settings: this.#scansOn ? scanSettings : noSettings,
      roleIndependent: this.#kind === 'query' && this.#routineIds.size === 0 && this.#tablesAreRoleIndependent,
      seeksOneRange: this.#seeks.length > 0 && this.#seeks.every(Boolean),
    };
  }

  readonly enter = (node: PlanNode, path: Path, around: Around): Around => {
    switch (node.kind) {
      case 'root':
        return this.#root(node.value, path, around);
      case 'row':
        this.#touchTable(node.value.table);
        return around;
      case 'row value':
        return this.#rowValue(node.value, node.table, path, around);
      case 'result':
        return this.#result(node.value, path, around);
      case 'connection':
        return this.#connection(node.value, path, node.isCalled ? null : node.value.table.id, around);
      case 'connection value':
        if (node.value.kind !== 'edges' && node.value.kind !== 'page info') around.outer.constant += rowsOfAggregate;
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
        this.#touchTable(node.value.table);
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
        this.#touchRoutine(value.routine);
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
    this.#touchTable(plan.table);
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
    this.#touchTable(table);
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
        this.#touchTable(target);
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
    const { rows, calls, readsRow, scansOn } = traitsOfOrder(value);
    if (rows || calls || readsRow) this.#subqueries += times;
    if (rows) this.#touchRelated(rows);
    if (calls) this.#touchRoutine(calls);
    if (scansOn) this.#scansOn = true;
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
        this.#touchRoutine(value.routine);
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
    this.#touchTable(target);
    if (by.kind === 'lineage') this.#subqueries += 1;
    if (by.kind === 'computed') this.#touchRoutine(by.routine);
  }

  #touchTable({ id, kind, schema, name, roleIndependent, readEffects, writeEffects, liveRefresh }: Table): void {
    // A composite type has no rows of its own.
    if (kind === 'composite type') return;
    this.#tableIds.add(id);
    this.#refresh(liveRefresh);
    this.#touches.add(`${schema}.${name}`);
    this.#note(this.#kind === 'query' ? readEffects : writeEffects);
    this.#tablesAreRoleIndependent &&= roleIndependent;
  }

  /** Throws NOT_DISTRIBUTABLE if the function would find no rows where there are some. */
  #touchRoutine({ id, schema, name, volatile, effects, liveRefresh, missesShards }: Routine): void {
    if (missesShards) {
      const cause = `The function ${schema}.${name} returns a set and is written in SQL, so that it finds no rows on the shards of Citus`;
      throw new ApiError('NOT_DISTRIBUTABLE', `${cause}. Write it in PL/pgSQL, or declare it volatile (docs/citus.md).`);
    }
    this.#refresh(liveRefresh);
    this.#routineIds.add(id);
    if (volatile) this.#volatileRoutine ??= `${schema}.${name}`;
    this.#touches.add(`${schema}.${name}()`);
    this.#note(effects);
  }

  #refresh(millis: number | null): void {
    if (millis !== null) this.#liveRefresh = Math.min(this.#liveRefresh, millis);
  }

  #note({ readsSession, changesSession }: SessionEffects): void {
    this.#effects = {
      readsSession: this.#effects.readsSession || readsSession,
      changesSession: this.#effects.changesSession || changesSession,
    };
  }
}

function isOneRange({ cursor, keys }: Page, { kind }: Table): boolean {
  const used = keys.slice(0, cursor?.length ?? 0);
  return (
    kind !== 'partitioned table' &&
    used.every(({ value, descending }) => traitsOfOrder(value).column?.notNull && descending === used[0]!.descending)
  );
}

function countOf(parameter: Parameter): Count {
  return parameter.value.kind === 'constant' ? Number(parameter.value.value) : parameter;
}

/** Whether a filter gives the whole of a key that is surely unique. */
function isOneRow(filter: Filter | null, { keyIsUnique, primaryKey, uniqueKeys }: Table): boolean {
  return filter !== null && keyIsUnique && [primaryKey, ...uniqueKeys].some((key) => key.length > 0 && pinsColumns(filter, key));
}

/** Whether a relation leads from different rows of a table to different rows: they refer to it by a key of it that is surely unique. */
function keepsApart({ keyIsUnique, uniqueKeys }: Table, { holdsKey, columns }: Relation): boolean {
  return !holdsKey && keyIsUnique && uniqueKeys.some((key) => key.every(({ name }) => columns.some(({ near }) => near === name)));
}

/** Adds rows that are read for each row around them. Returns what is read for each of these. */
function addRead(read: Omit<RowRead, 'isApart' | 'row'>, { rows, isApart, times }: Around): Around {
  const row: GrowingEstimate = { constant: 0, reads: [] };
  rows.reads.push({ ...read, isApart, row });
  return { rows: row, outer: rows, isApart: true, times };
}

/** All rows of a lineage are read, whatever the page. */
function addLevels({ lineage: { direction }, maxDepth }: LineagePlan, { id }: Table, path: Path, around: Around): void {
  const level = addRead({ path, size: maxDepth, argument: 'maxDepth', tableId: id }, { ...around, isApart: false });
  level.rows.constant += rowsOfLevel[direction] - 1;
}

function addRowList(path: Path, around: Around): Around {
  return addRead({ path, size: rowsOfRowList, argument: null, tableId: null }, { ...around, isApart: false });
}

/** How many rows of the root field a nested write returns. */
function sizeOfNestedWrite({ steps, written }: NestedWritePlan): Pick<RowRead, 'size' | 'argument'> {
  const first = steps.find((step) => 'rows' in step && step.rows.of === null);
  if (first && 'rows' in first && first.rows.atMost) return { size: countOf(first.rows.atMost), argument: 'atMost' };
  const inserts = steps.filter((step) => step.kind === 'insert' && step.into === written);
  return { size: inserts.reduce((total, { paths }) => total + paths.length, 0), argument: null };
}

/** Whether PostgreSQL passes over all rows once more for an aggregate, because it sorts them. */
function isSorted({ name }: AggregatedColumn): boolean {
  return name === 'countDistinct' || name === 'percentile';
}

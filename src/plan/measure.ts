/**
 * Measures the cost of a plan: the members of its filters, and the rows that it may read, as an expression over page sizes and tables.
 * Also lists the tables and functions that it touches. docs/limits.md explains the formula.
 */
import type { SessionEffects } from '../catalog/effects/find-effects.ts';
import type { Relation, Routine, Table } from '../model/model.ts';
import type { RelatedRows } from '../model/related-rows.ts';
import type { NestedWritePlan } from './nested-write-plan.ts';
import type {
  ConnectionPlan,
  ConnectionValue,
  Count,
  EdgeValue,
  Filter,
  GroupCondition,
  GroupOrderKey,
  GroupsPlan,
  GroupValue,
  Member,
  MutationPlan,
  OrderKey,
  OrderValue,
  Page,
  Parameter,
  Plan,
  ResponseValue,
  ResultPlan,
  RootValue,
  RowPlan,
  RowValue,
} from './plan.ts';
import { pinsColumns } from './required-comparisons.ts';

/** The rows that are read for a row (or for the operation): `constant`, and those of some sources. `estimate-rows.ts` adds them up. */
export interface RowEstimate {
  readonly constant: number;
  readonly sources: readonly RowSource[];
}

/** Rows that are read for each row around them. */
export interface RowSource {
  /** The response keys that lead to them from the row around them. */
  readonly path: readonly string[];
  /** At most this many for each. */
  readonly size: Count;
  /** The argument that limits the number, if one does. */
  readonly argument: 'first' | 'atMost' | null;
  /** The oid of the table that they are different rows of; null if they may be repeated, or of none. */
  readonly tableId: number | null;
  /** Whether different rows around them have different ones: the children of two parents, but not the parents of two children. */
  readonly isApart: boolean;
  readonly row: RowEstimate;
}

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
  /** What it may do beyond its transaction. */
  readonly effects: SessionEffects;
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
export const rowsOfAggregate = 10;
/** The estimate for a column that holds an array of rows. */
const rowsOfRowList = 10;

export function measurePlan({ kind, roots }: Plan): PlanMeasure {
  const measurer = new PlanMeasurer(kind);
  const rows = sum(roots.map(({ key, value }) => measurer.root(value, [key])));
  const { filterMembers, orderKeys, subqueries, parameters, touches, callsFunctions, effects, seeks } = measurer;
  const roleIndependent = kind === 'query' && !callsFunctions && measurer.tablesAreRoleIndependent;
  const seeksOneRange = seeks.length > 0 && seeks.every(Boolean);
  const used = { touches: [...touches], callsFunctions, effects };
  return { filterMembers, orderKeys, subqueries, rows, parameters, ...used, roleIndependent, seeksOneRange };
}

class PlanMeasurer {
  filterMembers = 0;
  orderKeys = 0;
  subqueries = 0;
  parameters = 0;
  readonly touches = new Set<string>();
  callsFunctions = false;
  effects: SessionEffects = { readsSession: false, changesSession: false };
  tablesAreRoleIndependent = true;
  /** For each page after a cursor, whether it is a single range. */
  readonly seeks: boolean[] = [];
  readonly #kind: Plan['kind'];

  constructor(kind: Plan['kind']) {
    this.#kind = kind;
  }

  root(value: RootValue, path: Path): RowEstimate {
    switch (value.kind) {
      case 'type name':
      case 'introspection':
        return zero;
      case 'connection':
        return this.#connection(value, { path, tableId: value.table.id, isApart: true });
      case 'lookup':
        this.subqueries += 1;
        this.#touchTable(value.table);
        return plus(1, this.#row(value.row, path));
      case 'routine':
        this.#touchRoutine(value.routine);
        return this.#result(value.result, path);
      case 'nested write':
        return this.#nestedWrite(value, path);
      default:
        return this.#mutation(value, path);
    }
  }

  #connection({ table, page, filter, members }: ConnectionPlan, from: Pick<RowSource, 'path' | 'tableId' | 'isApart'>): RowEstimate {
    this.subqueries += 1;
    this.#touchTable(table);
    if (filter) this.#filter(filter);
    const readsPage = members.some(({ value }) => value.kind === 'edges' || value.kind === 'page info');
    if (readsPage && page.cursor !== null) this.seeks.push(isOneRange(page, table));
    if (readsPage) this.#order(page.keys, table, Math.max(1, page.cursor?.length ?? 0));
    const edges = sum(members.map(({ key, value }) => (value.kind === 'edges' ? this.#edges(value.members, [key]) : zero)));
    const aggregates = rowsOfAggregate * members.reduce((passes, { value }) => passes + countPasses(value), 0);
    const size = isOneRow(filter, table) ? 1 : page.limit;
    const sources: RowSource[] = readsPage ? [{ ...from, size, argument: 'first', row: edges }] : [];
    for (const { key, value } of members) {
      if (value.kind === 'groups')
        sources.push({ ...from, path: [...from.path, key], size: this.#groups(value.groups), argument: 'first', row: zero });
    }
    return { constant: aggregates, sources };
  }

  /** Counts the groups as a subquery, and each relation that they are grouped by as another, which is joined to it. Returns their number. */
  #groups({ by, having, order, limit }: GroupsPlan): Count {
    // Planning appends the columns of `by` that were not requested.
    this.orderKeys += Math.max(0, order.length - by.length);
    const relations = new Set(
      by.flatMap(({ path }) =>
        path.map((_, index) =>
          path
            .slice(0, index + 1)
            .map(({ fieldName }) => fieldName)
            .join('.'),
        ),
      ),
    );
    this.subqueries += 1 + relations.size;
    for (const { path } of by) for (const { target } of path) this.#touchTable(target);
    if (having) this.#having(having);
    return limit;
  }

  #having(condition: GroupCondition): void {
    this.filterMembers += 1;
    if (condition.kind === 'not') this.#having(condition.condition);
    if (condition.kind === 'and' || condition.kind === 'or') for (const each of condition.conditions) this.#having(each);
  }

  /** Counts the keys that were requested: planning appends the primary key. */
  #order(keys: readonly OrderKey[], table: Table, times: number): void {
    this.orderKeys += keys.length - table.primaryKey.length;
    for (const { value } of keys) this.#orderValue(value, times);
  }

  /**
   * Counts each relation and computed field of an order key. Each is read `times` over, because a cursor has a range for each of its
   * values.
   */
  #orderValue(value: OrderValue, times: number): void {
    if (value.kind === 'column') return;
    this.subqueries += times;
    if (value.kind === 'computed') return this.#touchRoutine(value.routine);
    this.#touchRelated(value.rows);
    if (value.kind === 'related') this.#orderValue(value.value, times);
  }

  /** Counts each comparison, `and`, `or` and `not`, and each condition on related rows, which is also a subquery. */
  #filter(filter: Filter): void {
    this.filterMembers += 1;
    switch (filter.kind) {
      case 'and':
      case 'or':
        for (const each of filter.filters) this.#filter(each);
        return;
      case 'not':
        this.#filter(filter.filter);
        return;
      case 'related rows':
      case 'related count':
        this.subqueries += 1;
        this.#touchRelated(filter.rows);
        if (filter.kind === 'related count') this.filterMembers += filter.tests.length;
        if (filter.filter) this.#filter(filter.filter);
        return;
    }
  }

  #edges(members: readonly Member<EdgeValue>[], path: Path): RowEstimate {
    return sum(members.map(({ key, value }) => (value.kind === 'node' ? this.#row(value.row, [...path, key]) : zero)));
  }

  /** `path` leads to the row. */
  #row({ table, members }: RowPlan, path: Path): RowEstimate {
    this.#touchTable(table);
    let constant = 0;
    let sources: RowEstimate['sources'] = [];
    // A fast path: most members are columns, which count as nothing.
    for (const { key, value } of members) {
      if (value.kind === 'column' || value.kind === 'type name' || value.kind === 'node id') continue;
      const estimate = this.#value(value, table, [...path, key]);
      constant += estimate.constant;
      if (estimate.sources.length > 0) sources = [...sources, ...estimate.sources];
    }
    return constant === 0 && sources.length === 0 ? zero : { constant, sources };
  }

  #value(value: RowValue, near: Table, path: Path): RowEstimate {
    switch (value.kind) {
      case 'to-one': {
        this.subqueries += 1;
        this.#touchTable(value.row.table);
        const row = this.#row(value.row, path);
        return plus(1, keepsApart(near, value.relation) ? row : repeated(row));
      }
      case 'to-many':
        return this.#connection(value.connection, {
          path,
          tableId: value.relation.target.id,
          isApart: keepsApart(near, value.relation),
        });
      case 'computed':
        this.#touchRoutine(value.routine);
        return this.#result(value.result, path);
      case 'row column': {
        const row = this.#row(value.row, value.list ? [] : path);
        return value.list ? rowList(path, row) : repeated(row);
      }
      default:
        return zero;
    }
  }

  /** A function may return the same rows again and again. */
  #result(result: ResultPlan, path: Path): RowEstimate {
    if (result.kind !== 'rows') this.subqueries += 1;
    else return this.#connection(result.connection, { path, tableId: null, isApart: false });
    if (result.kind === 'row list') return rowList(path, this.#row(result.row, []));
    return result.kind === 'row' ? plus(1, repeated(this.#row(result.row, path))) : zero;
  }

  #mutation(plan: MutationPlan, path: Path): RowEstimate {
    this.subqueries += 1;
    this.#touchTable(plan.table);
    if (plan.kind === 'insert') this.parameters = Math.max(this.parameters, plan.rows.length * plan.columns.length);
    const filter = plan.kind === 'insert' ? plan.onConflict?.filter : plan.filter;
    if (filter) this.#filter(filter);
    const records = this.#records(plan.members, plan.table);
    const queries = this.#queries(plan.members, path);
    const row = sum(records);
    if (plan.kind === 'insert') return sum([written({ path, size: plan.rows.length, argument: null, tableId: null, row }), queries]);
    if (records.length === 0) return queries;
    // The client's `atMost` limits the rows written. The rows returned count like those of a page.
    return sum([written({ path, size: countOf(plan.atMost), argument: 'atMost', tableId: plan.table.id, row }), queries]);
  }

  /** The fields of `query`, which count like those of a query. */
  #queries(members: readonly Member<ResponseValue>[], path: Path): RowEstimate {
    return sum(
      members.flatMap(({ key, value }) =>
        value.kind === 'query' ? value.members.map((member) => this.root(member.value, [...path, key, member.key])) : [],
      ),
    );
  }

  #records(members: readonly Member<ResponseValue>[], table: Table): RowEstimate[] {
    return members.flatMap(({ key, value }) => {
      if (value.kind === 'records') return [this.#row(value.row, [key])];
      if (value.kind !== 'edges') return [];
      this.#order(value.keys, table, 1);
      return [this.#edges(value.members, [key])];
    });
  }

  /** Counts each step, which is a statement, as a subquery, and each row of the input as a row read. */
  #nestedWrite({ table, steps, written: list, members }: NestedWritePlan, path: Path): RowEstimate {
    let rows = 0;
    for (const step of steps) {
      this.subqueries += 1;
      this.#touchTable(step.table);
      rows += step.paths.length;
      const filter = step.kind === 'insert' ? step.onConflict?.filter : 'rows' in step ? step.rows.filter : null;
      if (filter) this.#filter(filter);
    }
    const [first] = steps.filter((step) => 'rows' in step && step.rows.of === null);
    const atMost = first && 'rows' in first ? first.rows.atMost : null;
    const root = steps.filter((step) => step.kind === 'insert' && step.into === list);
    const size = atMost ? countOf(atMost) : root.reduce((total, { paths }) => total + paths.length, 0);
    const answered = this.#records(members, table);
    const queries = this.#queries(members, path);
    if (answered.length === 0) return plus(rows, queries);
    const response = written({ path, size, argument: atMost && 'atMost', tableId: null, row: sum(answered) });
    return plus(rows, sum([response, queries]));
  }

  #touchRelated({ by, target }: RelatedRows): void {
    this.#touchTable(target);
    if (by.kind === 'computed') this.#touchRoutine(by.routine);
  }

  #touchTable({ schema, name, roleIndependent, readEffects, writeEffects }: Table): void {
    this.touches.add(`${schema}.${name}`);
    this.#note(this.#kind === 'query' ? readEffects : writeEffects);
    this.tablesAreRoleIndependent &&= roleIndependent;
  }

  #touchRoutine({ schema, name, effects }: Routine): void {
    this.touches.add(`${schema}.${name}()`);
    this.callsFunctions = true;
    this.#note(effects);
  }

  #note({ readsSession, changesSession }: SessionEffects): void {
    this.effects = {
      readsSession: this.effects.readsSession || readsSession,
      changesSession: this.effects.changesSession || changesSession,
    };
  }
}

function isOneRange({ cursor, keys }: Page, { kind }: Table): boolean {
  const used = keys.slice(0, cursor?.length ?? 0);
  return (
    kind !== 'partitioned table' &&
    used.every(({ value, descending }) => value.kind === 'column' && value.column.notNull && descending === used[0]!.descending)
  );
}

/** The number in the document, or the parameter. */
function countOf(parameter: Parameter): Count {
  return parameter.value.kind === 'constant' ? Number(parameter.value.value) : parameter;
}

/** Whether a filter gives the whole of a key that is surely unique. */
function isOneRow(filter: Filter | null, { keyIsUnique, primaryKey, uniqueKeys }: Table): boolean {
  return filter !== null && keyIsUnique && [primaryKey, ...uniqueKeys].some((key) => key.length > 0 && pinsColumns(filter, key));
}

/** Response keys. */
type Path = readonly string[];

const zero: RowEstimate = { constant: 0, sources: [] };

function sum(estimates: readonly RowEstimate[]): RowEstimate {
  const present = estimates.filter((estimate) => estimate !== zero);
  if (present.length <= 1) return present[0] ?? zero;
  return { constant: present.reduce((total, { constant }) => total + constant, 0), sources: present.flatMap(({ sources }) => sources) };
}

function plus(constant: number, { constant: other, sources }: RowEstimate): RowEstimate {
  return { constant: constant + other, sources };
}

/** The rows of a root field that writes them: each is there once. */
function written(source: Omit<RowSource, 'isApart'>): RowEstimate {
  return { constant: 0, sources: [{ ...source, isApart: true }] };
}

/** The rows of an array. */
function rowList(path: Path, row: RowEstimate): RowEstimate {
  return { constant: 0, sources: [{ path, size: rowsOfRowList, argument: null, tableId: null, isApart: false, row }] };
}

/** The estimate for a row that others may lead to as well. */
function repeated(row: RowEstimate): RowEstimate {
  return row.sources.length === 0 ? row : { ...row, sources: row.sources.map((source) => ({ ...source, isApart: false })) };
}

/** Whether a relation leads from different rows of a table to different rows: they refer to it by a key of it that is surely unique. */
function keepsApart({ keyIsUnique, uniqueKeys }: Table, { holdsKey, columns }: Relation): boolean {
  return !holdsKey && keyIsUnique && uniqueKeys.some((key) => key.every(({ name }) => columns.some(({ near }) => near === name)));
}

/**
 * How many times PostgreSQL passes over all rows: once for a count, aggregates or groups, and once more for each column that they sort; 0 for values
 * that only read the page.
 */
export function countPasses(value: ConnectionValue): number {
  switch (value.kind) {
    case 'total count':
      return 1;
    case 'aggregate':
      return 1 + countSortedMembers(value.members);
    case 'groups':
      return 1 + countSortedMembers(value.groups.members) + countSortedConditions(value.groups);
    default:
      return 0;
  }
}

function countSortedMembers(members: readonly Member<GroupValue>[]): number {
  return members.reduce((sum, { value }) => sum + countSortedColumns(value), 0);
}

function countSortedColumns(value: GroupValue): number {
  if (value.kind !== 'function' || !isSorted(value.name)) return 0;
  return value.members.filter(({ value: column }) => column.kind === 'column').length;
}

/** Aggregates in conditions and orders are computed separately, because they may have another fraction. */
function countSortedConditions({ having, order }: GroupsPlan): number {
  const compared: readonly GroupOrderKey['of'][] = [...(having ? groupTestsOf(having) : []), ...order].map(({ of }) => of);
  return compared.filter((of) => of.kind === 'function' && isSorted(of.name)).length;
}

function isSorted(name: string): boolean {
  return name === 'countDistinct' || name === 'percentile';
}

/** The tests in a condition on groups, without `and`, `or` and `not`. */

type GroupTest = Extract<GroupCondition, { kind: 'comparison' | 'null test' }>;

export function groupTestsOf(condition: GroupCondition): readonly GroupTest[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(groupTestsOf);
    case 'not':
      return groupTestsOf(condition.condition);
    case 'comparison':
    case 'null test':
      return [condition];
  }
}

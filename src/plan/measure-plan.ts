/**
 * Measures the cost of a plan: the members of its filters, and the rows that it may read, as an expression over page sizes in variables.
 * Also lists the tables and functions that it touches. docs/limits.md explains the formula.
 */
import type { SessionEffects } from '../catalog/effects/find-effects.ts';
import type { Routine, Table } from '../model/model.ts';
import type { RelatedRows } from '../model/related-rows.ts';
import type { ScalarValue } from '../request/input-value.ts';
import { countPasses } from './count-passes.ts';
import type { NestedWritePlan } from './nested-plan.ts';
import type {
  ConnectionPlan,
  Count,
  EdgeValue,
  Filter,
  GroupCondition,
  GroupsPlan,
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

/** A number of rows: `constant` plus, for each page whose size is a variable, that size times the estimate for one of its rows. */
export interface RowEstimate {
  readonly constant: number;
  readonly pages: readonly { readonly size: Parameter; readonly row: RowEstimate }[];
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
  const rows = sum(roots.map(({ value }) => measurer.root(value)));
  const { filterMembers, orderKeys, subqueries, parameters, touches, callsFunctions, effects, seeks } = measurer;
  const roleIndependent = kind === 'query' && !callsFunctions && measurer.tablesAreRoleIndependent;
  const seeksOneRange = seeks.length > 0 && seeks.every(Boolean);
  const used = { touches: [...touches], callsFunctions, effects };
  return { filterMembers, orderKeys, subqueries, rows, parameters, ...used, roleIndependent, seeksOneRange };
}

/** Evaluates the estimate with the page sizes of a request. */
export function evaluateRows({ constant, pages }: RowEstimate, bindValues: readonly ScalarValue[]): number {
  let rows = constant;
  for (const { size, row } of pages) rows += sizeOf(size, bindValues) * evaluateRows(row, bindValues);
  return rows;
}

/** A bound page size. Binding rejects negative ones. */
function sizeOf({ value, encoding }: Parameter, bindValues: readonly ScalarValue[]): number {
  const given = value.kind === 'variable' ? (bindValues[value.index] ?? null) : value.kind === 'constant' ? value.value : null;
  const maximum = encoding.kind === 'count' ? encoding.maximum : Infinity;
  // Null means `limit null`, which is no limit, so only the maximum applies.
  return given === null ? maximum : Math.max(0, Math.min(Number(given), maximum));
}

class PlanMeasurer {
  filterMembers = 0;
  orderKeys = 0;
  subqueries = 0;
  parameters = 0;
  readonly touches = new Set<string>();
  callsFunctions = false;
  effects: SessionEffects = { foldsClaims: false, changesSession: false };
  tablesAreRoleIndependent = true;
  /** For each page after a cursor, whether it is a single range. */
  readonly seeks: boolean[] = [];
  readonly #kind: Plan['kind'];

  constructor(kind: Plan['kind']) {
    this.#kind = kind;
  }

  root(value: RootValue): RowEstimate {
    switch (value.kind) {
      case 'type name':
      case 'introspection':
        return zero;
      case 'connection':
        return this.#connection(value);
      case 'lookup':
        this.subqueries += 1;
        this.#touchTable(value.table);
        return plus(1, this.#row(value.row));
      case 'routine':
        this.#touchRoutine(value.routine);
        return this.#result(value.result);
      case 'nested write':
        return this.#nestedWrite(value);
      default:
        return this.#mutation(value);
    }
  }

  #connection({ table, page, filter, members }: ConnectionPlan): RowEstimate {
    this.subqueries += 1;
    this.#touchTable(table);
    if (filter) this.#filter(filter);
    const readsPage = members.some(({ value }) => value.kind === 'edges' || value.kind === 'page info');
    if (readsPage && page.cursor !== null) this.seeks.push(isOneRange(page, table));
    if (readsPage) this.#order(page.keys, table, Math.max(1, page.cursor?.length ?? 0));
    const edges = sum(members.map(({ value }) => (value.kind === 'edges' ? this.#edges(value.members) : zero)));
    const aggregates = rowsOfAggregate * members.reduce((passes, { value }) => passes + countPasses(value), 0);
    const pages = readsPage ? [times(page.limit, plus(1, edges))] : [];
    for (const { value } of members) if (value.kind === 'groups') pages.push(this.#groups(value.groups));
    return plus(aggregates, sum(pages));
  }

  /** Counts the groups as a subquery, and each relation that they are grouped by as another, which is joined to it. */
  #groups({ by, having, order, limit }: GroupsPlan): RowEstimate {
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
    return times(limit, plus(1, zero));
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

  #edges(members: readonly Member<EdgeValue>[]): RowEstimate {
    return sum(members.map(({ value }) => (value.kind === 'node' ? this.#row(value.row) : zero)));
  }

  #row({ members }: RowPlan): RowEstimate {
    let constant = 0;
    let pages: RowEstimate['pages'] = [];
    // A fast path: most members are columns, which count as nothing.
    for (const { value } of members) {
      if (value.kind === 'column' || value.kind === 'type name' || value.kind === 'node id') continue;
      const estimate = this.#value(value);
      constant += estimate.constant;
      if (estimate.pages.length > 0) pages = [...pages, ...estimate.pages];
    }
    return constant === 0 && pages.length === 0 ? zero : { constant, pages };
  }

  #value(value: RowValue): RowEstimate {
    switch (value.kind) {
      case 'to-one':
        this.subqueries += 1;
        this.#touchTable(value.row.table);
        return plus(1, this.#row(value.row));
      case 'to-many':
        return this.#connection(value.connection);
      case 'computed':
        this.#touchRoutine(value.routine);
        return this.#result(value.result);
      case 'row column':
        return value.list ? times(rowsOfRowList, plus(1, this.#row(value.row))) : this.#row(value.row);
      default:
        return zero;
    }
  }

  #result(result: ResultPlan): RowEstimate {
    if (result.kind !== 'rows') this.subqueries += 1;
    else return this.#connection(result.connection);
    if (result.kind === 'row list') return times(rowsOfRowList, plus(1, this.#row(result.row)));
    return result.kind === 'row' ? plus(1, this.#row(result.row)) : zero;
  }

  #mutation(plan: MutationPlan): RowEstimate {
    this.subqueries += 1;
    this.#touchTable(plan.table);
    if (plan.kind === 'insert') this.parameters = Math.max(this.parameters, plan.rows.length * plan.columns.length);
    const filter = plan.kind === 'insert' ? plan.onConflict?.filter : plan.filter;
    if (filter) this.#filter(filter);
    const records = this.#records(plan.members, plan.table);
    const queries = this.#queries(plan.members);
    if (plan.kind === 'insert') return sum([times(plan.rows.length, plus(1, sum(records))), queries]);
    // The client's `atMost` limits the rows written. The rows returned count like those of a page.
    return sum([records.length === 0 ? zero : times(countOf(plan.atMost), plus(1, sum(records))), queries]);
  }

  /** The fields of `query`, which count like those of a query. */
  #queries(members: readonly Member<ResponseValue>[]): RowEstimate {
    return sum(members.flatMap(({ value }) => (value.kind === 'query' ? value.members.map((member) => this.root(member.value)) : [])));
  }

  #records(members: readonly Member<ResponseValue>[], table: Table): RowEstimate[] {
    return members.flatMap(({ value }) => {
      if (value.kind === 'records') return [this.#row(value.row)];
      if (value.kind !== 'edges') return [];
      this.#order(value.keys, table, 1);
      return [this.#edges(value.members)];
    });
  }

  /** Counts each step, which is a statement, as a subquery, and each row of the input as a row read. */
  #nestedWrite({ table, steps, written, members }: NestedWritePlan): RowEstimate {
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
    const root = steps.filter((step) => step.kind === 'insert' && step.into === written);
    const count = atMost ? countOf(atMost) : root.reduce((total, { paths }) => total + paths.length, 0);
    const answered = this.#records(members, table);
    return plus(rows, sum([answered.length === 0 ? zero : times(count, plus(1, sum(answered))), this.#queries(members)]));
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

  #note({ foldsClaims, changesSession }: SessionEffects): void {
    this.effects = { foldsClaims: this.effects.foldsClaims || foldsClaims, changesSession: this.effects.changesSession || changesSession };
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

const zero: RowEstimate = { constant: 0, pages: [] };

function sum(estimates: readonly RowEstimate[]): RowEstimate {
  const present = estimates.filter((estimate) => estimate !== zero);
  if (present.length <= 1) return present[0] ?? zero;
  return { constant: present.reduce((total, { constant }) => total + constant, 0), pages: present.flatMap(({ pages }) => pages) };
}

function plus(constant: number, estimate: RowEstimate): RowEstimate {
  return constant === 0 ? estimate : { constant: constant + estimate.constant, pages: estimate.pages };
}

function times(size: Count, row: RowEstimate): RowEstimate {
  if (typeof size !== 'number') return { constant: 0, pages: [{ size, row }] };
  if (row.pages.length === 0) return { constant: size * row.constant, pages: [] };
  return { constant: size * row.constant, pages: row.pages.map((page) => ({ size: page.size, row: times(size, page.row) })) };
}

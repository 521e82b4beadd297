/** Finds what PostgreSQL does for each field of a plan, by response path. Only errors need this, so it is computed on demand. */
import type { Routine, Table } from '../model/model.ts';
import type { RelatedRows } from '../model/related-rows.ts';
import type { Operator } from '../model/types/operators.ts';
import { groupTestsOf } from './measure.ts';
import type {
  AggregateValue,
  ConnectionPlan,
  ConnectionValue,
  EdgeValue,
  Filter,
  GroupsPlan,
  Member,
  MutationPlan,
  OrderKey,
  Parameter,
  Plan,
  ResponseValue,
  ResultPlan,
  RootValue,
  RowPlan,
  RowValue,
  Test,
} from './plan.ts';

/**
 * Work for a field: reading or writing a table, calling a function, aggregating a column, evaluating the fraction of a percentile, grouping
 * rows.
 */
export interface PlanPlace {
  /** Response keys, starting with the root field. */
  readonly path: readonly string[];
  readonly kind: 'read' | 'write' | 'call' | 'aggregate' | 'fraction' | 'group';
  /** Whether it belongs to what a root field of a mutation writes or calls, and not to its response. */
  readonly ofWrite: boolean;
  readonly table?: Table | undefined;
  readonly routine?: Routine | undefined;
  /** The parameters of its arguments. */
  readonly parameters: readonly Parameter[];
  /** The operators in its filter. */
  readonly operators: readonly Operator[];
}

/** Finds all fields that need more than a column of a row. */
export function placesOf({ roots }: Plan): PlanPlace[] {
  const finder = new PlaceFinder();
  for (const { key, value } of roots) finder.addRoot(value, [key]);
  return finder.places;
}

class PlaceFinder {
  readonly places: PlanPlace[] = [];
  #ofWrite = false;

  addRoot(value: RootValue, path: readonly string[]): void {
    switch (value.kind) {
      case 'type name':
      case 'introspection':
        return;
      case 'connection':
        return this.#addConnection(value, path, 'read');
      case 'lookup':
        this.#add({ path, kind: 'read', table: value.table, parameters: value.key.map(({ parameter }) => parameter) });
        return this.#addRow(value.row, path);
      case 'routine':
        this.#ofWrite = value.routine.volatile;
        this.#add({ path, kind: 'call', routine: value.routine, parameters: value.arguments.map(({ parameter }) => parameter) });
        this.#ofWrite = false;
        return this.#addResult(value.result, path);
      case 'nested write':
        // All steps belong to the root field.
        this.#ofWrite = true;
        for (const { table } of value.steps) this.#add({ path, kind: 'write', table });
        this.#ofWrite = false;
        return this.#addResponse(value.members, path);
      default:
        this.#ofWrite = true;
        this.#addMutation(value, path);
        this.#ofWrite = false;
        return this.#addResponse(value.members, path);
    }
  }

  #add(place: Omit<PlanPlace, 'parameters' | 'operators' | 'ofWrite'> & Partial<PlanPlace>): void {
    this.places.push({ parameters: [], operators: [], ofWrite: this.#ofWrite, ...place });
  }

  /** A collection of a table is a read; the rows of a function belong to its call. */
  #addConnection({ table, page, filter, members }: ConnectionPlan, path: readonly string[], kind: 'read' | 'call'): void {
    const comparisons = filter ? comparisonsOf(filter) : [];
    const counts = [page.limit, page.offset].filter((count) => typeof count === 'object' && count !== null);
    const cursor = (page.cursor ?? []).filter((element) => element !== null);
    this.#add({
      path,
      kind,
      ...(kind === 'read' && { table }),
      parameters: [...comparisons.map(({ parameter }) => parameter), ...counts, ...cursor],
      operators: comparisons.map(({ operator }) => operator),
    });
    this.#addRelated(filter, path);
    this.#addOrder(page.keys, path);
    for (const { key, value } of members) this.#addConnectionValue(value, [...path, key]);
  }

  /** Adds the related rows that a filter reads. */
  #addRelated(filter: Filter | null, path: readonly string[]): void {
    switch (filter?.kind) {
      case 'and':
      case 'or':
        for (const each of filter.filters) this.#addRelated(each, path);
        return;
      case 'not':
        this.#addRelated(filter.filter, path);
        return;
      case 'related rows':
      case 'related count': {
        this.#addRelatedRows(filter.rows, path);
        this.#addRelated(filter.filter, path);
        return;
      }
    }
  }

  #addRelatedRows({ by, target }: RelatedRows, path: readonly string[]): void {
    this.#add(by.kind === 'computed' ? { path, kind: 'call', routine: by.routine } : { path, kind: 'read', table: target });
  }

  /** Adds the related rows that an order reads, and the functions that it calls. */
  #addOrder(keys: readonly OrderKey[], path: readonly string[]): void {
    for (let { value } of keys) {
      for (; value.kind === 'related'; value = value.value) this.#addRelatedRows(value.rows, path);
      if (value.kind === 'aggregate') this.#addRelatedRows(value.rows, path);
      else if (value.kind === 'computed') this.#add({ path, kind: 'call', routine: value.routine });
    }
  }

  #addConnectionValue(value: ConnectionValue, path: readonly string[]): void {
    if (value.kind === 'aggregate') {
      for (const { key, value: each } of value.members) this.#addAggregate(each, [...path, key]);
    } else if (value.kind === 'edges') {
      this.#addEdge(value.members, path);
    } else if (value.kind === 'groups') {
      this.#addGroups(value.groups, path);
    }
  }

  #addEdge(members: readonly Member<EdgeValue>[], path: readonly string[]): void {
    for (const { key, value } of members) if (value.kind === 'node') this.#addRow(value.row, [...path, key]);
  }

  #addGroups({ by, having, order, limit, offset, members }: GroupsPlan, path: readonly string[]): void {
    const tests = having ? groupTestsOf(having) : [];
    const comparisons = tests.filter((test) => test.kind === 'comparison');
    const counts = [limit, offset].filter((count) => typeof count === 'object' && count !== null);
    const ofKeys = by.flatMap((each) =>
      each.kind === 'bucket' ? [each.width] : each.kind === 'truncated' && each.timeZone ? [each.timeZone] : [],
    );
    const fractions = [...tests, ...order].flatMap(({ of }) => (of.kind === 'function' && of.fraction ? [of.fraction] : []));
    const parameters = [...ofKeys, ...comparisons.map(({ parameter }) => parameter), ...fractions, ...counts];
    this.#add({ path, kind: 'group', parameters, operators: comparisons.map(({ operator }) => operator) });
    for (const { path: relations } of by) for (const { target } of relations) this.#add({ path, kind: 'read', table: target });
    for (const { key, value } of members) if (value.kind === 'function') this.#addAggregate(value, [...path, key]);
  }

  #addAggregate(value: AggregateValue, path: readonly string[]): void {
    if (value.kind !== 'function') return;
    for (const { key, value: column } of value.members) {
      this.#add({ path: [...path, key], kind: 'aggregate' });
      // The fraction is an argument of the function field, not of the column.
      if (column.kind === 'column' && column.fraction) this.#add({ path, kind: 'fraction', parameters: [column.fraction] });
    }
  }

  #addRow({ members }: RowPlan, path: readonly string[]): void {
    for (const { key, value } of members) this.#addRowValue(value, [...path, key]);
  }

  #addRowValue(value: RowValue, path: readonly string[]): void {
    switch (value.kind) {
      case 'to-one':
        this.#add({ path, kind: 'read', table: value.row.table });
        return this.#addRow(value.row, path);
      case 'to-many':
        return this.#addConnection(value.connection, path, 'read');
      case 'computed':
        this.#add({ path, kind: 'call', routine: value.routine });
        return this.#addResult(value.result, path);
      case 'row column':
        return this.#addRow(value.row, path);
    }
  }

  #addResult(result: ResultPlan, path: readonly string[]): void {
    if (result.kind === 'row' || result.kind === 'row list') this.#addRow(result.row, path);
    else if (result.kind === 'rows') this.#addConnection(result.connection, path, 'call');
  }

  #addMutation(plan: MutationPlan, path: readonly string[]): void {
    const filter = (plan.kind === 'insert' ? plan.onConflict?.filter : plan.filter) ?? null;
    const comparisons = filter ? comparisonsOf(filter) : [];
    const parameters = [...writtenBy(plan), ...comparisons.map(({ parameter }) => parameter)];
    this.#add({ path, kind: 'write', table: plan.table, parameters, operators: comparisons.map(({ operator }) => operator) });
    this.#addRelated(filter, path);
  }

  #addResponse(members: readonly Member<ResponseValue>[], path: readonly string[]): void {
    for (const { key, value } of members) {
      if (value.kind === 'records') this.#addRow(value.row, [...path, key]);
      else if (value.kind === 'edges') {
        this.#addOrder(value.keys, [...path, key]);
        this.#addEdge(value.members, [...path, key]);
      } else if (value.kind === 'query') {
        for (const member of value.members) this.addRoot(member.value, [...path, key, member.key]);
      }
    }
  }
}

function writtenBy(plan: MutationPlan): readonly Parameter[] {
  if (plan.kind === 'insert') {
    const added = plan.onConflict?.increment.map(({ parameter }) => parameter) ?? [];
    return [...plan.rows.flatMap((row) => row.filter((value) => value !== null)), ...added];
  }
  return plan.kind === 'update' ? [...plan.set, ...plan.increment].map(({ parameter }) => parameter).concat(plan.atMost) : [plan.atMost];
}

type Comparison = Extract<Test, { kind: 'comparison' }>;

function comparisonsOf(filter: Filter): readonly Comparison[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.filters.flatMap(comparisonsOf);
    case 'not':
      return comparisonsOf(filter.filter);
    case 'comparison':
      return [{ kind: 'comparison', operator: filter.operator, parameter: filter.parameter }];
    case 'related count':
    case 'related rows': {
      const tests = filter.kind === 'related count' ? filter.tests : [];
      return [...tests.filter((test) => test.kind === 'comparison'), ...(filter.filter ? comparisonsOf(filter.filter) : [])];
    }
    case 'null test':
      return [];
  }
}

/** The walk over a plan, part by part. Whoever has to find something in all of a plan walks here, so that no branch is forgotten. */
import type { Column, Table } from '../model/model.ts';
import type { Filter, OrderKey, OrderValue } from './conditions.ts';
import type { NestedStep } from './nested-write-plan.ts';
import type {
  AggregatedColumn,
  ConnectionPlan,
  ConnectionValue,
  EdgeValue,
  GroupCondition,
  GroupOrderKey,
  GroupValue,
  Member,
  Plan,
  ResponseValue,
  ResultPlan,
  RootValue,
  RowPlan,
  RowValue,
  TypeNamePlan,
} from './plan.ts';
import { traitsOfFilter } from './traits/filter-traits.ts';
import { traitsOfOrder } from './traits/order-traits.ts';

type Selected<Value> = Exclude<Value, TypeNamePlan>;

/**
 * A part of a plan. `table` is the one whose rows it is about, `key` the response key that leads to it from the part around it, if one
 * does.
 */
export type PlanNode = { readonly key?: string } & (
  | { readonly kind: 'root'; readonly value: RootValue }
  | { readonly kind: 'row'; readonly value: RowPlan }
  | { readonly kind: 'row value'; readonly value: Selected<RowValue>; readonly table: Table }
  | { readonly kind: 'result'; readonly value: ResultPlan }
  /** `isCalled`: its rows are those that a function returns. */
  | { readonly kind: 'connection'; readonly value: ConnectionPlan; readonly isCalled: boolean }
  | { readonly kind: 'connection value'; readonly value: Selected<ConnectionValue>; readonly table: Table }
  | { readonly kind: 'edge value'; readonly value: Selected<EdgeValue> }
  | { readonly kind: 'aggregate value'; readonly value: Selected<GroupValue> }
  /** A column that a selection, a condition or an order aggregates. */
  | { readonly kind: 'aggregated column'; readonly value: AggregatedColumn }
  | { readonly kind: 'group condition'; readonly value: GroupCondition }
  | { readonly kind: 'group order'; readonly value: GroupOrderKey }
  | { readonly kind: 'filter'; readonly value: Filter; readonly table: Table }
  | { readonly kind: 'order value'; readonly value: OrderValue; readonly table: Table }
  | { readonly kind: 'response value'; readonly value: Selected<ResponseValue>; readonly table: Table }
  | { readonly kind: 'step'; readonly value: NestedStep }
);

/** Response keys, from the root field on. */
export type Path = readonly string[];

/** Handles a part before the parts in it, for which it returns the context. */
export type Enter<Context> = (node: PlanNode, path: Path, context: Context) => Context;

export function walkPlan<Context>({ roots }: Plan, context: Context, enter: Enter<Context>): void {
  for (const { key, value } of roots) walk({ kind: 'root', value, key }, [], context, enter);
}

function walk<Context>(node: PlanNode, around: Path, context: Context, enter: Enter<Context>): void {
  const path = node.key === undefined ? around : [...around, node.key];
  const inner = enter(node, path, context);
  for (const child of childrenOf(node)) walk(child, path, inner, enter);
}

/** Whether a part, or any part in it, has a property. */
function hasNode(node: PlanNode, has: (node: PlanNode) => boolean): boolean {
  return has(node) || childrenOf(node).some((child) => hasNode(child, has));
}

function childrenOf(node: PlanNode): readonly PlanNode[] {
  switch (node.kind) {
    case 'root':
      return inRoot(node.value);
    case 'row': {
      const { table, members } = node.value;
      return selected(members, (value, key) => ({ kind: 'row value', value, table, key }));
    }
    case 'row value':
      return inRowValue(node.value);
    case 'result':
      return inResult(node.value);
    case 'connection':
      return inConnection(node.value);
    case 'connection value':
      return inConnectionValue(node.value);
    case 'edge value':
      return node.value.kind === 'node' ? [{ kind: 'row', value: node.value.row }] : [];
    case 'aggregate value':
      return node.value.kind === 'function'
        ? selected(node.value.members, (value, key) => ({ kind: 'aggregated column', value, key }))
        : [];
    case 'group condition':
      return inGroupCondition(node.value);
    case 'group order':
      return aggregated(node.value.of);
    case 'filter':
      return inFilter(node.value, node.table);
    case 'order value': {
      const { inner, rows } = traitsOfOrder(node.value);
      return inner && rows ? [{ kind: 'order value', value: inner, table: rows.target }] : [];
    }
    case 'response value':
      return inResponseValue(node.value, node.table);
    case 'step':
      return inStep(node.value);
    case 'aggregated column':
      return [];
    default:
      return node satisfies never;
  }
}

// As they return for each kind, the compiler sees that these functions forget none.

function inRoot(value: RootValue): readonly PlanNode[] {
  switch (value.kind) {
    case 'type name':
    case 'introspection':
      return [];
    case 'connection':
      return [{ kind: 'connection', value, isCalled: false }];
    case 'lookup':
      return [{ kind: 'row', value: value.row }];
    case 'routine':
      return [{ kind: 'result', value: value.result }];
    case 'insert':
      return [...filters(value.onConflict?.filter, value.table), ...response(value)];
    case 'update':
    case 'delete':
      return [...filters(value.filter, value.table), ...response(value)];
    case 'nested write':
      return [...value.steps.map((step): PlanNode => ({ kind: 'step', value: step })), ...response(value)];
  }
}

function inStep(step: NestedStep): readonly PlanNode[] {
  switch (step.kind) {
    case 'insert':
      return filters(step.onConflict?.filter, step.table);
    case 'lock':
    case 'update':
    case 'delete':
      return filters(step.rows.filter, step.table);
    case 'find':
    case 'attach':
      return [];
  }
}

function inRowValue(value: Selected<RowValue>): readonly PlanNode[] {
  switch (value.kind) {
    case 'column':
    case 'json part':
    case 'bounds':
    case 'node id':
    case 'search rank':
    case 'search snippet':
      return [];
    case 'to-one':
    case 'row column':
      return [{ kind: 'row', value: value.row }];
    case 'to-many':
    case 'lineage':
      return [{ kind: 'connection', value: value.connection, isCalled: false }];
    case 'computed':
      return [{ kind: 'result', value: value.result }];
  }
}

function inResult(value: ResultPlan): readonly PlanNode[] {
  switch (value.kind) {
    case 'void':
    case 'value':
    case 'bounds':
    case 'value set':
      return [];
    case 'row':
    case 'row list':
    case 'row set':
      return [{ kind: 'row', value: value.row }];
    case 'rows':
      return [{ kind: 'connection', value: value.connection, isCalled: true }];
  }
}

/** Whether a connection reads the rows of its page, and not only what it says of all rows. */
export function readsPage({ members }: ConnectionPlan): boolean {
  return members.some(({ value }) => value.kind === 'edges' || value.kind === 'page info');
}

function inConnection(plan: ConnectionPlan): readonly PlanNode[] {
  const { table, page, filter, distinct, fusion, members } = plan;
  const legs = fusion?.legs ?? [];
  return [
    ...filters(filter, table),
    ...legs.flatMap((leg) => [...filters(leg.filter, table), ...orders(leg.keys, table)]),
    ...(distinct ? orders(distinct.order, table) : readsPage(plan) ? orders(page.keys, table) : []),
    ...selected(members, (value, key) => ({ kind: 'connection value', value, table, key })),
  ];
}

function inConnectionValue(value: Selected<ConnectionValue>): readonly PlanNode[] {
  switch (value.kind) {
    case 'page info':
    case 'total count':
      return [];
    case 'edges':
      return edges(value.members);
    case 'aggregate':
      return selected(value.members, (each, key) => ({ kind: 'aggregate value', value: each, key }));
    case 'groups': {
      const { having, order, members } = value.groups;
      return [
        ...(having ? conditions([having]) : []),
        ...order.map((key): PlanNode => ({ kind: 'group order', value: key })),
        ...selected(members, (each, key) => ({ kind: 'aggregate value', value: each, key })),
      ];
    }
  }
}

function inGroupCondition(value: GroupCondition): readonly PlanNode[] {
  switch (value.kind) {
    case 'and':
    case 'or':
      return conditions(value.conditions);
    case 'not':
      return conditions([value.condition]);
    case 'comparison':
    case 'null test':
      return aggregated(value.of);
  }
}

function inFilter(value: Filter, around: Table): readonly PlanNode[] {
  const { inside, table = around } = traitsOfFilter(value);
  return inside.flatMap((each) => filters(each, table));
}

function inResponseValue(value: Selected<ResponseValue>, table: Table): readonly PlanNode[] {
  switch (value.kind) {
    case 'affected count':
      return [];
    case 'records':
      return [{ kind: 'row', value: value.row }];
    case 'edges':
      return [...orders(value.keys, table), ...edges(value.members)];
    case 'query':
      return value.members.map((member): PlanNode => ({ kind: 'root', value: member.value, key: member.key }));
  }
}

/** Members other than `__typename`. */
function selected<Value extends { readonly kind: string }>(
  members: readonly Member<Value>[],
  nodeOf: (value: Selected<Value>, key: string) => PlanNode,
): readonly PlanNode[] {
  const isSelected = (value: Value): value is Selected<Value> => value.kind !== 'type name';
  return members.flatMap(({ key, value }) => (isSelected(value) ? [nodeOf(value, key)] : []));
}

function edges(members: readonly Member<EdgeValue>[]): readonly PlanNode[] {
  return selected(members, (value, key) => ({ kind: 'edge value', value, key }));
}

function response({ table, members }: { readonly table: Table; readonly members: readonly Member<ResponseValue>[] }): readonly PlanNode[] {
  return selected(members, (value, key) => ({ kind: 'response value', value, table, key }));
}

function filters(value: Filter | null | undefined, table: Table): readonly PlanNode[] {
  return value ? [{ kind: 'filter', value, table }] : [];
}

function orders(keys: readonly OrderKey[], table: Table): readonly PlanNode[] {
  return keys.map(({ value }) => ({ kind: 'order value', value, table }));
}

function conditions(values: readonly GroupCondition[]): readonly PlanNode[] {
  return values.map((value) => ({ kind: 'group condition', value }));
}

function aggregated(of: GroupOrderKey['of']): readonly PlanNode[] {
  return of.kind === 'function' ? [{ kind: 'aggregated column', value: of }] : [];
}

type Comparison = Extract<Filter, { kind: 'comparison' }>;

/** The comparisons that a filter requires of every row that matches it. */
export function requiredComparisons(value: Filter | null): readonly Comparison[] {
  if (value?.kind === 'and') return value.filters.flatMap(requiredComparisons);
  return value?.kind === 'comparison' ? [value] : [];
}

/** Whether a filter requires each of these columns to equal a value. */
export function pinsColumns(value: Filter | null, columns: readonly Column[]): boolean {
  if (value === null) return columns.length === 0;
  const pins = requiredComparisons(value).filter(({ operator }) => operator === 'eq');
  return columns.every((column) => pins.some((pin) => pin.column === column));
}

/**
 * Whether the response of a mutation needs more than the rows that it writes: related rows, computed fields, a query. A statement sees such
 * things as they were before it, so a statement of its own reads them behind the write.
 */
export function responseReadsBeyond(table: Table, members: readonly Member<ResponseValue>[]): boolean {
  return members.some(({ value }) => value.kind !== 'type name' && hasNode({ kind: 'response value', value, table }, readsBeyond));
}

/** Whether a response needs more than the rows that a function returns. */
export function resultReadsBeyond(result: ResultPlan): boolean {
  return hasNode({ kind: 'result', value: result }, readsBeyond);
}

function readsBeyond({ kind, value }: PlanNode): boolean {
  switch (kind) {
    case 'response value':
      return value.kind === 'query';
    case 'row value':
      return value.kind === 'to-one' || value.kind === 'to-many' || value.kind === 'lineage' || value.kind === 'computed';
    case 'order value': {
      const { rows, calls, readsRow } = traitsOfOrder(value);
      return rows !== undefined || calls !== undefined || readsRow === true;
    }
    case 'filter':
      return traitsOfFilter(value).rows !== undefined;
    case 'connection value':
      return value.kind === 'groups' && value.groups.by.some(({ path }) => path.length > 0);
    default:
      return false;
  }
}

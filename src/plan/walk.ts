/** The walk over a plan, part by part. Whoever has to find something in all of a plan walks here, so that no branch is forgotten. */
import type { Column, Table } from '../model/model.ts';
import type { NestedStep } from './nested-write-plan.ts';
import type {
  AggregatedColumn,
  ConnectionPlan,
  ConnectionValue,
  EdgeValue,
  Filter,
  GroupCondition,
  GroupOrderKey,
  GroupValue,
  Member,
  OrderKey,
  OrderValue,
  Plan,
  ResponseValue,
  ResultPlan,
  RootValue,
  RowPlan,
  RowValue,
  TypeNamePlan,
} from './plan.ts';

type Selected<Value> = Exclude<Value, TypeNamePlan>;

/** A part of a plan. `table` is the one whose rows it is about. */
export type PlanNode =
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
  | { readonly kind: 'step'; readonly value: NestedStep };

/** Response keys, from the root field on. */
export type Path = readonly string[];

/** Handles a part before the parts in it, for which it returns the context. */
export type Enter<Context> = (node: PlanNode, path: Path, context: Context) => Context;

export function walkPlan<Context>({ roots }: Plan, context: Context, enter: Enter<Context>): void {
  for (const { key, value } of roots) walk({ kind: 'root', value }, [key], context, enter);
}

function walk<Context>(node: PlanNode, path: Path, context: Context, enter: Enter<Context>): void {
  const inner = enter(node, path, context);
  for (const { key, node: child } of childrenOf(node)) walk(child, key === undefined ? path : [...path, key], inner, enter);
}

/** Whether a part, or any part in it, has a property. */
export function hasNode(node: PlanNode, has: (node: PlanNode) => boolean): boolean {
  return has(node) || childrenOf(node).some((child) => hasNode(child.node, has));
}

/** A part of another. `key` is the response key that leads to it, if one does. */
interface Child {
  readonly key?: string;
  readonly node: PlanNode;
}

function childrenOf(node: PlanNode): readonly Child[] {
  switch (node.kind) {
    case 'root':
      return inRoot(node.value);
    case 'row': {
      const { table, members } = node.value;
      return selected(members, (value) => ({ kind: 'row value', value, table }));
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
      return node.value.kind === 'node' ? [row(node.value.row)] : [];
    case 'aggregate value':
      return node.value.kind === 'function' ? selected(node.value.members, (value) => ({ kind: 'aggregated column', value })) : [];
    case 'aggregated column':
      return [];
    case 'group condition':
      return inGroupCondition(node.value);
    case 'group order':
      return aggregated(node.value.of);
    case 'filter':
      return inFilter(node.value, node.table);
    case 'order value':
      return node.value.kind === 'related' ? [order(node.value.value, node.value.rows.target)] : [];
    case 'response value':
      return inResponseValue(node.value, node.table);
    case 'step':
      return inStep(node.value);
    default:
      return node satisfies never;
  }
}

function inRoot(value: RootValue): readonly Child[] {
  switch (value.kind) {
    case 'type name':
    case 'introspection':
      return [];
    case 'connection':
      return [connection(value, false)];
    case 'lookup':
      return [row(value.row)];
    case 'routine':
      return [result(value.result)];
    case 'insert':
      return [...filter(value.onConflict?.filter ?? null, value.table), ...response(value)];
    case 'update':
    case 'delete':
      return [...filter(value.filter, value.table), ...response(value)];
    case 'nested write':
      return [...value.steps.map((step): Child => ({ node: { kind: 'step', value: step } })), ...response(value)];
    default:
      return value satisfies never;
  }
}

function inStep(step: NestedStep): readonly Child[] {
  switch (step.kind) {
    case 'insert':
      return filter(step.onConflict?.filter ?? null, step.table);
    case 'lock':
    case 'update':
    case 'delete':
      return filter(step.rows.filter, step.table);
    case 'find':
    case 'attach':
      return [];
    default:
      return step satisfies never;
  }
}

function inRowValue(value: Selected<RowValue>): readonly Child[] {
  switch (value.kind) {
    case 'column':
    case 'node id':
      return [];
    case 'to-one':
    case 'row column':
      return [row(value.row)];
    case 'to-many':
      return [connection(value.connection, false)];
    case 'computed':
      return [result(value.result)];
    default:
      return value satisfies never;
  }
}

function inResult(value: ResultPlan): readonly Child[] {
  switch (value.kind) {
    case 'void':
    case 'value':
      return [];
    case 'row':
    case 'row list':
      return [row(value.row)];
    case 'rows':
      return [connection(value.connection, true)];
    default:
      return value satisfies never;
  }
}

/** Whether a connection reads the rows of its page, and not only what it says of all rows. */
export function readsPage({ members }: ConnectionPlan): boolean {
  return members.some(({ value }) => value.kind === 'edges' || value.kind === 'page info');
}

function inConnection(plan: ConnectionPlan): readonly Child[] {
  const { table, page, members } = plan;
  return [
    ...filter(plan.filter, table),
    ...(readsPage(plan) ? orders(page.keys, table) : []),
    ...selected(members, (value) => ({ kind: 'connection value', value, table })),
  ];
}

function inConnectionValue(value: Selected<ConnectionValue>): readonly Child[] {
  switch (value.kind) {
    case 'page info':
    case 'total count':
      return [];
    case 'edges':
      return edges(value.members);
    case 'aggregate':
      return selected(value.members, (each) => ({ kind: 'aggregate value', value: each }));
    case 'groups': {
      const { having, order: keys, members } = value.groups;
      return [
        ...(having ? [condition(having)] : []),
        ...keys.map((key): Child => ({ node: { kind: 'group order', value: key } })),
        ...selected(members, (each) => ({ kind: 'aggregate value', value: each })),
      ];
    }
    default:
      return value satisfies never;
  }
}

function inGroupCondition(value: GroupCondition): readonly Child[] {
  switch (value.kind) {
    case 'and':
    case 'or':
      return value.conditions.map(condition);
    case 'not':
      return [condition(value.condition)];
    case 'comparison':
    case 'null test':
      return aggregated(value.of);
    default:
      return value satisfies never;
  }
}

function inFilter(value: Filter, table: Table): readonly Child[] {
  switch (value.kind) {
    case 'and':
    case 'or':
      return value.filters.flatMap((each) => filter(each, table));
    case 'not':
      return filter(value.filter, table);
    case 'comparison':
    case 'null test':
      return [];
    case 'related rows':
    case 'related count':
      return filter(value.filter, value.rows.target);
    default:
      return value satisfies never;
  }
}

function inResponseValue(value: Selected<ResponseValue>, table: Table): readonly Child[] {
  switch (value.kind) {
    case 'affected count':
      return [];
    case 'records':
      return [row(value.row)];
    case 'edges':
      return [...orders(value.keys, table), ...edges(value.members)];
    case 'query':
      return value.members.map((member): Child => ({ key: member.key, node: { kind: 'root', value: member.value } }));
    default:
      return value satisfies never;
  }
}

/** Members other than `__typename`. */
function selected<Value extends { readonly kind: string }>(
  members: readonly Member<Value>[],
  nodeOf: (value: Selected<Value>) => PlanNode,
): readonly Child[] {
  const isSelected = (value: Value): value is Selected<Value> => value.kind !== 'type name';
  return members.flatMap(({ key, value }) => (isSelected(value) ? [{ key, node: nodeOf(value) }] : []));
}

function row(value: RowPlan): Child {
  return { node: { kind: 'row', value } };
}

function result(value: ResultPlan): Child {
  return { node: { kind: 'result', value } };
}

function connection(value: ConnectionPlan, isCalled: boolean): Child {
  return { node: { kind: 'connection', value, isCalled } };
}

function edges(members: readonly Member<EdgeValue>[]): readonly Child[] {
  return selected(members, (value) => ({ kind: 'edge value', value }));
}

function response({ table, members }: { readonly table: Table; readonly members: readonly Member<ResponseValue>[] }): readonly Child[] {
  return selected(members, (value) => ({ kind: 'response value', value, table }));
}

function filter(value: Filter | null, table: Table): readonly Child[] {
  return value ? [{ node: { kind: 'filter', value, table } }] : [];
}

function order(value: OrderValue, table: Table): Child {
  return { node: { kind: 'order value', value, table } };
}

function orders(keys: readonly OrderKey[], table: Table): readonly Child[] {
  return keys.map(({ value }) => order(value, table));
}

function condition(value: GroupCondition): Child {
  return { node: { kind: 'group condition', value } };
}

function aggregated(of: GroupOrderKey['of']): readonly Child[] {
  return of.kind === 'function' ? [{ node: { kind: 'aggregated column', value: of } }] : [];
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

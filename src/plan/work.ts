/** Lists what PostgreSQL does for each field of a plan, by response path. Only errors need this, so it is computed on demand. */

import type { Table } from '../model/model.ts';
import type { RelatedRows } from '../model/relations/related-rows.ts';
import type { Routine } from '../model/routine.ts';
import type { Operator } from '../model/types/operators.ts';
import type { Count, Parameter } from './parameter.ts';
import type { ConnectionPlan, GroupsPlan, JsonChange, ListPage, Plan, RootValue } from './plan.ts';
import { type BoundComparison, comparisonOf, traitsOfFilter } from './traits/filter-traits.ts';
import { traitsOfOrder } from './traits/order-traits.ts';
import { type Path, type PlanNode, walkPlan } from './walk.ts';

/** Work for a field. `compare` is a comparison in a filter or in a condition on groups. */
export interface FieldWork {
  readonly path: Path;
  readonly kind: 'read' | 'write' | 'call' | 'compare' | 'aggregate' | 'fraction' | 'group';
  /** Whether it belongs to what a root field of a mutation writes or calls, and not to its response. */
  readonly ofWrite: boolean;
  readonly table?: Table;
  readonly routine?: Routine;
  readonly parameters: readonly Parameter[];
  readonly operator?: Operator;
}

type Work = Pick<FieldWork, 'kind'> & Partial<FieldWork>;

/** Lists the work of all fields that need more than a column of a row. */
export function listWork(plan: Plan): FieldWork[] {
  const all: FieldWork[] = [];
  walkPlan(plan, false, (node, path, around) => {
    const ofWrite = node.kind === 'root' ? isWrite(node.value) : node.kind !== 'response value' && node.kind !== 'result' && around;
    for (const work of workOf(node)) all.push({ path, parameters: [], ofWrite, ...work });
    return ofWrite;
  });
  return all;
}

function isWrite(value: RootValue): boolean {
  switch (value.kind) {
    case 'insert':
    case 'update':
    case 'delete':
    case 'nested write':
      return true;
    case 'routine':
      return value.routine.volatile;
    default:
      return false;
  }
}

function workOf(node: PlanNode): readonly Work[] {
  switch (node.kind) {
    case 'root':
      return ofRoot(node.value);
    case 'row value':
      if (node.value.kind === 'to-one') return [{ kind: 'read', table: node.value.row.table }];
      if (node.value.kind === 'lineage') return [{ kind: 'read', table: node.table, parameters: bound(node.value.maxDepth) }];
      if (node.value.kind !== 'computed') return [];
      return [{ kind: 'call', routine: node.value.routine, parameters: node.value.arguments.map(({ parameter }) => parameter) }];
    case 'connection':
      return [ofConnection(node.value, node.isCalled)];
    case 'connection value':
      return node.value.kind === 'groups' ? ofGroups(node.value.groups) : [];
    case 'aggregate value': {
      // The fraction is an argument of the function's field, not of the column's.
      const columns = node.value.kind === 'function' ? node.value.members.map(({ value }) => value) : [];
      return columns.flatMap((column) => (column.kind === 'column' ? fractionOf(column) : []));
    }
    case 'aggregated column':
      return [{ kind: 'aggregate' }];
    case 'group condition':
      if (node.value.kind !== 'comparison' && node.value.kind !== 'null test') return [];
      return [...comparisonOf(node.value).map(compared), ...(node.value.of.kind === 'function' ? fractionOf(node.value.of) : [])];
    case 'group order':
      return node.value.of.kind === 'function' ? fractionOf(node.value.of) : [];
    case 'filter': {
      const { rows, comparisons } = traitsOfFilter(node.value);
      return [...(rows ? [related(rows)] : []), ...comparisons.map(compared)];
    }
    case 'order value': {
      const { rows, calls, parameters } = traitsOfOrder(node.value);
      if (rows) return [related(rows)];
      if (calls) return [{ kind: 'call', routine: calls }];
      return parameters ? [{ kind: 'compare', parameters }] : [];
    }
    case 'step':
      return [{ kind: 'write', table: node.value.table }];
    case 'result':
      return node.value.kind === 'value set' || node.value.kind === 'row set' ? [ofListPage(node.value)] : [];
    case 'row':
    case 'edge value':
    case 'response value':
      return [];
  }
}

function ofRoot(value: RootValue): readonly Work[] {
  switch (value.kind) {
    case 'type name':
    case 'introspection':
    case 'connection':
    case 'nested write':
      return [];
    case 'lookup':
      return [{ kind: 'read', table: value.table, parameters: value.key.map(({ parameter }) => parameter) }];
    case 'routine':
      return [{ kind: 'call', routine: value.routine, parameters: value.arguments.map(({ parameter }) => parameter) }];
    case 'insert': {
      const inputs = value.rows.flatMap((row) => row.filter((parameter) => parameter !== null));
      const added = value.onConflict?.increment.map(({ parameter }) => parameter) ?? [];
      return [{ kind: 'write', table: value.table, parameters: [...inputs, ...added] }];
    }
    case 'update': {
      const assigned = [...value.set, ...value.increment].map(({ parameter }) => parameter);
      const changed = value.json.flatMap(changeParameters);
      return [{ kind: 'write', table: value.table, parameters: [...assigned, ...changed, value.atMost] }];
    }
    case 'delete':
      return [{ kind: 'write', table: value.table, parameters: [value.atMost] }];
  }
}

function changeParameters(change: JsonChange): readonly Parameter[] {
  if (change.kind === 'members') return [change.members];
  const { merge, remove, set } = change;
  return [merge, ...remove, ...set.flatMap(({ path, value }) => [path, value])].filter((parameter) => parameter !== null);
}

/** A collection of a table is a read; the rows of a function belong to its call. */
function ofConnection({ table, page: { limit, offset, cursor }, fusion }: ConnectionPlan, isCalled: boolean): Work {
  const weights = fusion ? [...bound(fusion.k), ...fusion.legs.flatMap(({ depth, weight }) => [...bound(depth), weight])] : [];
  const elements = [...(cursor ?? []), ...weights].filter((element) => element !== null);
  const parameters = [...bound(limit), ...bound(offset), ...elements];
  return isCalled ? { kind: 'call', parameters } : { kind: 'read', table, parameters };
}

function ofListPage({ limit, offset }: ListPage): Work {
  return { kind: 'call', parameters: [...bound(limit), ...bound(offset)] };
}

function ofGroups({ by, limit, offset }: GroupsPlan): readonly Work[] {
  const ofKeys = by.flatMap((each) => {
    if (each.kind === 'bucket') return [each.width];
    if (each.kind === 'json value') return [each.keys];
    return each.kind === 'truncated' && each.timeZone ? [each.timeZone] : [];
  });
  const joined = by.flatMap(({ path }) => path.map(({ target }): Work => ({ kind: 'read', table: target })));
  return [{ kind: 'group', parameters: [...ofKeys, ...bound(limit), ...bound(offset)] }, ...joined];
}

function bound(count: Count | null): readonly Parameter[] {
  return typeof count === 'object' && count !== null ? [count] : [];
}

function fractionOf({ fraction }: { readonly fraction: Parameter | null }): readonly Work[] {
  return fraction ? [{ kind: 'fraction', parameters: [fraction] }] : [];
}

function compared(comparison: BoundComparison): Work {
  return { kind: 'compare', ...comparison };
}

function related({ by, target }: RelatedRows): Work {
  return by.kind === 'computed' ? { kind: 'call', routine: by.routine } : { kind: 'read', table: target };
}

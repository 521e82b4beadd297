/**
 * Whether the response of a mutation needs more than the rows that it writes or its function returns: related rows, computed fields, a
 * query. A statement sees such things as they were before it, so a statement of its own reads them behind the write.
 */
import type { Column, Table } from '../model/model.ts';
import type { Member, ResponseValue, ResultPlan } from './plan.ts';
import { hasNode, type PlanNode } from './walk.ts';

/** Whether a response needs more than the written rows. */
export function responseReadsBeyond(table: Table, members: readonly Member<ResponseValue>[]): boolean {
  return members.some(({ value }) => value.kind !== 'type name' && hasNode({ kind: 'response value', value, table }, readsBeyond));
}

/** Whether a field needs more than what the function returns. */
export function resultReadsBeyond(result: ResultPlan): boolean {
  return hasNode({ kind: 'result', value: result }, readsBeyond);
}

function readsBeyond({ kind, value }: PlanNode): boolean {
  switch (kind) {
    case 'response value':
      return value.kind === 'query';
    case 'row value':
      return value.kind === 'to-one' || value.kind === 'to-many' || value.kind === 'computed';
    case 'order value':
      return value.kind !== 'column';
    case 'filter':
      return value.kind === 'related rows' || value.kind === 'related count';
    case 'connection value':
      return value.kind === 'groups' && value.groups.by.some(({ path }) => path.length > 0);
    default:
      return false;
  }
}

/**
 * Whether a response has rows that may change once more: rows of the table refer to these columns of the same table, so that a change of them
 * may cascade to the written rows (`on update cascade`).
 */
export function mayCascade(table: Table, changed: readonly Column[], members: readonly Member<ResponseValue>[]): boolean {
  if (changed.length === 0 || !members.some(({ value }) => value.kind === 'records' || value.kind === 'edges')) return false;
  return table.relations.some(
    ({ holdsKey, target, columns }) =>
      !holdsKey && target === table && columns.some(({ near }) => changed.some(({ name }) => name === near)),
  );
}

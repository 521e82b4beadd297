/**
 * Whether the response of a mutation needs more than the rows that it writes or its function returns: related rows, computed fields, a
 * query. A statement sees such things as they were before it, so a statement of its own reads them behind the write.
 */
import type { Column, Table } from '../model/model.ts';
import type { ConnectionPlan, Filter, Member, OrderKey, ResponseValue, ResultPlan, RowPlan, RowValue } from './plan.ts';

/** Whether a response needs more than the written rows. */
export function responseReadsBeyond(members: readonly Member<ResponseValue>[]): boolean {
  return members.some(({ value }) => memberReadsBeyond(value));
}

/** Whether a field needs more than what the function returns. */
export function resultReadsBeyond(result: ResultPlan): boolean {
  if (result.kind === 'row') return rowReadsBeyond(result.row);
  return result.kind === 'rows' && connectionReadsBeyond(result.connection);
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

function memberReadsBeyond(value: ResponseValue): boolean {
  switch (value.kind) {
    case 'type name':
    case 'affected count':
      return false;
    case 'query':
      return true;
    case 'records':
      return rowReadsBeyond(value.row);
    case 'edges':
      return ordersByOthers(value.keys) || value.members.some((edge) => edge.value.kind === 'node' && rowReadsBeyond(edge.value.row));
  }
}

function rowReadsBeyond({ members }: RowPlan): boolean {
  return members.some(({ value }) => valueReadsBeyond(value));
}

function valueReadsBeyond(value: RowValue): boolean {
  switch (value.kind) {
    case 'type name':
    case 'column':
    case 'node id':
      return false;
    case 'row column':
      return rowReadsBeyond(value.row);
    case 'to-one':
    case 'to-many':
    case 'computed':
      return true;
  }
}

/** Of rows that a function returns. */
function connectionReadsBeyond({ page, filter, members }: ConnectionPlan): boolean {
  if (ordersByOthers(page.keys) || filtersByOthers(filter)) return true;
  return members.some(({ value }) => {
    if (value.kind === 'groups') return value.groups.by.some(({ path }) => path.length > 0);
    return value.kind === 'edges' && value.members.some((edge) => edge.value.kind === 'node' && rowReadsBeyond(edge.value.row));
  });
}

function ordersByOthers(keys: readonly OrderKey[]): boolean {
  return keys.some(({ value }) => value.kind !== 'column');
}

function filtersByOthers(filter: Filter | null): boolean {
  switch (filter?.kind) {
    case 'and':
    case 'or':
      return filter.filters.some(filtersByOthers);
    case 'not':
      return filtersByOthers(filter.filter);
    case 'related rows':
    case 'related count':
      return true;
    default:
      return false;
  }
}

/** Plans filters. Empty objects and lists are no conditions, as in pg_graphql; comparisons with null match nothing. */
import { ApiError } from '../errors/api-error.ts';
import type { Column, Table } from '../model/model.ts';
import type { InputEntry, InputObject, InputValue } from '../request/input-value.ts';
import { bindingAt } from '../request/operation.ts';
import { keyOfNodeId } from './node-key.ts';
import { valueParameter } from './parameters.ts';
import type { Filter } from './plan.ts';
import { hasLostConditions, planRelationFilter } from './plan-relation-filter.ts';
import { deeper } from './relation-depth.ts';

/** Plans a filter; null if it has no conditions. `depth` counts the relations around it. Throws BAD_USER_INPUT. */
export function planFilter(value: InputValue | undefined, table: Table, depth = 0): Filter | null {
  if (value === undefined || value === null) return null;
  return every(objectOf(value).entries.map((entry) => planEntry(entry, table, depth)));
}

/**
 * Plans the filter of an update or delete. Throws EMPTY_FILTER if nothing is left of its conditions, because its writer did not mean all
 * rows. `isUnsent`: the filter itself is a variable that was not sent.
 */
export function planRestriction(value: InputValue | undefined, table: Table, isUnsent: boolean): Filter | null {
  const filter = planFilter(value, table);
  const isLost = isUnsent || (filter === null && value !== undefined && value !== null && hasLostConditions(value));
  if (!isLost || !table.additions.has('filterGuard')) return filter;
  throw new ApiError(
    'EMPTY_FILTER',
    'No condition of the filter is left, because its variables were not sent or are null. Send them, or write "filter: {}" for all records.',
  );
}

function planEntry(entry: InputEntry, table: Table, depth: number): Filter | null {
  const { value } = entry;
  if (value === null) return null;
  const binding = bindingAt('filter', entry);
  switch (binding.kind) {
    case 'column':
      return every(objectOf(value).entries.map((operand) => planOperand(operand, binding.column)));
    case 'node id':
      return every(objectOf(value).entries.flatMap((operand) => planNodeId(operand, table)));
    case 'and':
      return every(listOf(value).map((item) => planFilter(item, table, depth)));
    case 'or':
      return some(listOf(value).map((item) => planFilter(item, table, depth)));
    case 'not': {
      const filter = planFilter(value, table, depth);
      return filter && { kind: 'not', filter };
    }
    case 'related rows':
      return every(
        planRelationFilter(objectOf(value), binding.rows, (inner, target) => planFilter(inner, target, deeper('filter', depth))),
      );
  }
}

function planOperand(entry: InputEntry, column: Column): Filter {
  const { value } = entry;
  const binding = bindingAt('operators', entry);
  if (binding.kind === 'operator')
    return { kind: 'comparison', column, operator: binding.operator, parameter: valueParameter(value, column.type, 'filter') };
  if (value?.kind !== 'choice') throw new ApiError('BAD_USER_INPUT', 'The operator "is" must be NULL or NOT_NULL.');
  return { kind: 'null test', column, isNull: value.name === 'NULL' };
}

function planNodeId({ value }: InputEntry, table: Table): Filter[] {
  return keyOfNodeId(value, table, 'filter').map(({ column, parameter }) => ({ kind: 'comparison', column, operator: 'eq', parameter }));
}

function objectOf(value: NonNullable<InputValue>): InputObject {
  if (value.kind !== 'object') throw new ApiError('BAD_USER_INPUT', 'Expected an object in this filter.');
  return value;
}

function listOf(value: NonNullable<InputValue>): readonly InputValue[] {
  return value.kind === 'list' ? value.items : [value];
}

function every(filters: readonly (Filter | null)[]): Filter | null {
  return combine('and', filters);
}

function some(filters: readonly (Filter | null)[]): Filter | null {
  return combine('or', filters);
}

function combine(kind: 'and' | 'or', filters: readonly (Filter | null)[]): Filter | null {
  const present = filters.filter((filter) => filter !== null);
  return present.length > 1 ? { kind, filters: present } : (present[0] ?? null);
}

/**
 * The paging arguments of a collection: which are allowed together, how many rows, from where, in which order.
 */
import { ApiError } from '../errors.ts';
import type { Column, Table } from '../model/model.ts';
import type { InputValue } from '../request/input-value.ts';
import { argumentOf, type SelectedField } from '../request/operation.ts';
import { countOf, elementParameter } from './parameters.ts';
import type { OrderKey, OrderValue, Page, Parameter } from './plan.ts';
import { planOrder } from './plan-order.ts';

/** The largest offset that PostgreSQL accepts: a bigint. */
export const noMaximum = Number.MAX_SAFE_INTEGER;

/** The page. Throws BAD_USER_INPUT in pg_graphql's words for arguments that exclude each other. */
export function planPage(field: SelectedField, table: Table): Page {
  const given = (name: string) => argumentOf(field, name) ?? null;
  const first = given('first');
  const last = given('last');
  const before = given('before');
  const after = given('after');
  const offset = given('offset');
  refuse(first && last, 'only one of "first" and "last" may be provided');
  refuse(before && after, 'only one of "before" and "after" may be provided');
  refuse(first && before, '"first" may only be used with "after"');
  refuse(last && after, '"last" may only be used with "before"');
  refuse(offset && (last || before), '"offset" may only be used with "first" and "after"');
  const backward = last !== null || before !== null;
  const keys = planOrder(given('orderBy'), table);
  const size = backward ? last : first;
  return {
    direction: backward ? 'backward' : 'forward',
    limit: size ? countOf(size, backward ? 'last' : 'first', table.maxRows) : table.maxRows,
    offset: offset && countOf(offset, 'offset', noMaximum),
    cursor: backward ? planCursor(before, 'before', keys) : planCursor(after, 'after', keys),
    keys,
  };
}

function refuse(condition: unknown, message: string): void {
  if (condition) throw new ApiError('BAD_USER_INPUT', message);
}

function planCursor(value: InputValue, argument: string, keys: readonly OrderKey[]): readonly (Parameter | null)[] | null {
  if (value === null) return null;
  if (value.kind !== 'cursor') throw new ApiError('BAD_USER_INPUT', `Expected a cursor in the argument "${argument}".`);
  if (value.elements.length > keys.length) {
    const advice = 'Pass a cursor from a response in the same order.';
    throw new ApiError('BAD_USER_INPUT', `The cursor in the argument "${argument}" does not match "orderBy". ${advice}`);
  }
  return value.elements.map((element, index) => element && elementParameter(element, columnOf(keys[index]!.value)?.type));
}

/** The column that the value is of, in the row or in a related one. */
function columnOf(value: OrderValue): Column | undefined {
  if (value.kind === 'related') return columnOf(value.value);
  return value.kind === 'column' ? value.column : undefined;
}

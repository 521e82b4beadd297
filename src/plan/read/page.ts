/** Plans the paging arguments of a collection: which can be combined, how many rows, from where, in which order. */
import { ApiError } from '../../errors/api-error.ts';
import type { Column, Table } from '../../model/model.ts';
import { argumentOf, type InputValue, type SelectedField } from '../../request/operation.ts';
import { countOf, elementParameter } from '../inputs.ts';
import type { OrderKey, OrderValue, Page, Parameter } from '../plan.ts';
import { planOrder } from './order.ts';

/** For an offset, which PostgreSQL takes as a bigint. */
export const noMaximum = Number.MAX_SAFE_INTEGER;

/** Plans the page. Throws BAD_USER_INPUT with pg_graphql's messages for arguments that exclude each other. */
export function planPage(field: SelectedField, table: Table): Page {
  const given = (name: string) => argumentOf(field, name) ?? null;
  const first = given('first');
  const last = given('last');
  const before = given('before');
  const after = given('after');
  const offset = given('offset');
  rejectIf(first && last, 'only one of "first" and "last" may be provided');
  rejectIf(before && after, 'only one of "before" and "after" may be provided');
  rejectIf(first && before, '"first" may only be used with "after"');
  rejectIf(last && after, '"last" may only be used with "before"');
  rejectIf(offset && (last || before), '"offset" may only be used with "first" and "after"');
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

function rejectIf(condition: unknown, message: string): void {
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

/** The column of an order key, in the row or a related one. */
function columnOf(value: OrderValue): Column | undefined {
  if (value.kind === 'related') return columnOf(value.value);
  return value.kind === 'column' ? value.column : undefined;
}

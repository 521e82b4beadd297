/** Plans the paging arguments of a collection: which can be combined, how many rows, from where, in which order. */
import { ApiError } from '../../errors/api-error.ts';
import type { Column, Lineage, Table } from '../../model/model.ts';
import type { RelatedRows } from '../../model/relations/related-rows.ts';
import { distinctColumns } from '../../model/tables/column-uses.ts';
import { argumentOf, bindingAt, type InputValue, type SelectedField } from '../../request/operation.ts';
import type { Distance, OrderKey, OrderValue, Search } from '../conditions.ts';
import { countOf, directionOf, elementParameter, listOf, onlyEntryOf, partsOf, planJsonPath } from '../inputs.ts';
import type { Parameter } from '../parameter.ts';
import type { DistinctPlan, ListPage, Page } from '../plan.ts';
import { traitsOfOrder } from '../traits/order-traits.ts';
import { deeper } from './filter.ts';

/** For an offset, which PostgreSQL takes as a bigint. */
export const noMaximum = Number.MAX_SAFE_INTEGER;

/** What found the rows of a collection, besides its filter. */
export interface Found {
  readonly search: Search | null;
  readonly distance: Distance | null;
  readonly lineage: Lineage | null;
  /** Whether a fusion of the search and the distance found the rows. */
  readonly isFused: boolean;
}

export const foundByNothing: Found = { search: null, distance: null, lineage: null, isFused: false };

/** What a page needs to know of the other arguments of its collection. */
interface PageContext {
  readonly found: Found;
  /** Comes before the requested order: what orders the rows that are found by it, rather than filtered. */
  readonly leading: OrderKey | null;
  readonly distinct: DistinctPlan | null;
}

const plainPage: PageContext = { found: foundByNothing, leading: null, distinct: null };

/** Plans the page. Throws BAD_USER_INPUT with pg_graphql's messages for arguments that exclude each other. */
export function planPage(field: SelectedField, table: Table, { found, leading, distinct } = plainPage): Page {
  const argument = (name: string) => argumentOf(field, name) ?? null;
  const first = argument('first');
  const last = argument('last');
  const before = argument('before');
  const after = argument('after');
  const offset = argument('offset');
  rejectIf(first && last, 'only one of "first" and "last" may be provided');
  rejectIf(before && after, 'only one of "before" and "after" may be provided');
  rejectIf(first && before, '"first" may only be used with "after"');
  rejectIf(last && after, '"last" may only be used with "before"');
  rejectIf(offset && (last || before), '"offset" may only be used with "first" and "after"');
  const backward = last !== null || before !== null;
  rejectIf(leading && distinct, '"nearest" cannot be combined with "distinctOn"; leave one of them out');
  const keys = distinct?.keys ?? [...(leading ? [leading] : []), ...planOrder(argument('orderBy'), table, found)];
  const size = backward ? last : first;
  return {
    direction: backward ? 'backward' : 'forward',
    limit: size ? countOf(size, backward ? 'last' : 'first', table.maxRows) : table.maxRows,
    offset: offset && countOf(offset, 'offset', noMaximum),
    cursor: backward ? planCursor(before, 'before', keys) : planCursor(after, 'after', keys),
    keys,
  };
}

/** Plans the page of a list of values. */
export function planListPage(field: SelectedField, maxRows: number): ListPage {
  const first = argumentOf(field, 'first') ?? null;
  const offset = argumentOf(field, 'offset') ?? null;
  return {
    limit: first ? countOf(first, 'first', maxRows) : maxRows,
    offset: offset && countOf(offset, 'offset', noMaximum),
  };
}

function rejectIf(condition: unknown, message: string): void {
  if (condition) throw new ApiError('BAD_USER_INPUT', message);
}

function planCursor(value: InputValue, name: string, keys: readonly OrderKey[]): readonly (Parameter | null)[] | null {
  if (value === null) return null;
  if (value.kind !== 'cursor') throw new ApiError('BAD_USER_INPUT', `Expected a cursor in the argument "${name}".`);
  if (value.elements.length > keys.length) {
    const advice = 'Pass a cursor from a response in the same order.';
    throw new ApiError('BAD_USER_INPUT', `The cursor in the argument "${name}" does not match "orderBy". ${advice}`);
  }
  return value.elements.map((element, index) => element && elementParameter(element, columnOf(keys[index]!.value)?.type));
}

function columnOf(value: OrderValue): Column | undefined {
  if (value.kind === 'attribute') return columnOf(value.value);
  const { column, inner } = traitsOfOrder(value);
  return inner ? columnOf(inner) : column;
}

/**
 * Plans `distinctOn`; null without columns. They come first in the order, as PostgreSQL requires (manual: SELECT, DISTINCT clause): those that
 * `orderBy` names in its order and direction, then the others, ascending. As no two rows have equal values in them, they alone are the order
 * of the page and of its cursors: the first row of a cursor's values may be another by then, but it is not read again.
 */
export function planDistinct(field: SelectedField, table: Table, found: Found): DistinctPlan | null {
  // A function may have an argument of that name.
  const argument = field.arguments.find(({ name, binding }) => name === 'distinctOn' && binding === undefined);
  const byName = distinctColumns(table);
  const columns = new Set(
    listOf(argument?.value ?? null).flatMap((item) => (item?.kind === 'choice' ? (byName.get(item.name) ?? []) : [])),
  );
  if (columns.size === 0) return null;
  const order = planOrder(argumentOf(field, 'orderBy') ?? null, table, found);
  const isDistinct = ({ value }: OrderKey) => value.kind === 'column' && columns.has(value.column);
  const requested = order.slice(0, order.length - table.primaryKey.length).filter(isDistinct);
  const wanted = [...requested, ...Array.from(columns, ascending)];
  const keys = wanted.filter((key, index) => wanted.findIndex((other) => columnOf(other.value) === columnOf(key.value)) === index);
  return { keys, order: [...keys, ...order.filter((key) => !isDistinct(key))] };
}

export function ascending(column: Column): OrderKey {
  return { value: { kind: 'column', column }, descending: false, nullsFirst: false };
}

/**
 * Plans the requested keys, then the primary key, so that no two rows are equal. Throws BAD_USER_INPUT, and QUERY_TOO_COMPLEX if relations
 * nest too deep. Without a search, its rank is no key, nor is the depth without a lineage, whose nearest rows come first by default.
 */
export function planOrder(value: InputValue, table: Table, found: Found = foundByNothing): readonly OrderKey[] {
  const requested = listOf(value).flatMap((element) => planKey(element, [], found) ?? []);
  const nearestFirst = requested.length === 0 && found.lineage ? [nearestOf(found.lineage)] : requested;
  return [...nearestFirst, ...table.primaryKey.map(ascending)];
}

function nearestOf(lineage: Lineage): OrderKey {
  return { value: { kind: 'depth', lineage }, descending: false, nullsFirst: false };
}

/** Plans the only key of an object; null if it has none. `path` has the keys around it, `found` what found the ordered rows. */
function planKey(object: InputValue, path: readonly string[], found: Found): OrderKey | null {
  const entry = onlyEntryOf(object, 'orderBy', path);
  if (!entry) return null;
  const { name, value } = entry;
  const binding = bindingAt('order', entry);
  switch (binding.kind) {
    case 'column': {
      const { column } = binding;
      const parts = partsOf(column);
      if (value?.kind !== 'object' || parts === null) return { value: { kind: 'column', column }, ...directionOf(value) };
      const key = planKey(value, [...path, name], foundByNothing);
      return key && { ...key, value: { kind: 'attribute', column, table: parts.table, value: key.value } };
    }
    case 'json value': {
      const { direction, ...of } = planJsonPath(value);
      return { value: { kind: 'json value', column: binding.column, ...of }, ...directionOf(direction) };
    }
    case 'computed':
      return { value: { kind: 'computed', routine: binding.routine }, ...directionOf(value) };
    case 'search rank':
      if (path.length > 0) throw new ApiError('BAD_USER_INPUT', `"${name}" orders the rows that "search" finds, not related rows.`);
      return found.search && { value: { kind: 'search rank', search: found.search, mayBeNull: found.isFused }, ...directionOf(value) };
    case 'depth':
      if (path.length > 0) throw new ApiError('BAD_USER_INPUT', `"${name}" orders ancestors and descendants, not related rows.`);
      return found.lineage && { value: { kind: 'depth', lineage: found.lineage }, ...directionOf(value) };
    case 'related rows': {
      const inner = [...path, name];
      deeper('ordering', path.length);
      if (binding.rows.many) return planAggregate(value, binding.rows, inner);
      const key = planKey(value, inner, foundByNothing);
      return key && { ...key, value: { kind: 'related', rows: binding.rows, value: key.value } };
    }
  }
}

/** Plans a key on to-many related rows: their count, or an aggregate of one of their columns. */
function planAggregate(object: InputValue, rows: RelatedRows, path: readonly string[]): OrderKey | null {
  const entry = onlyEntryOf(object, 'orderBy', path);
  if (!entry) return null;
  const binding = bindingAt('order to many', entry);
  if (binding.kind === 'count') return { value: { kind: 'aggregate', rows, function: 'count' }, ...directionOf(entry.value) };
  const inner = onlyEntryOf(entry.value, 'orderBy', [...path, entry.name]);
  if (!inner) return null;
  const { column } = bindingAt('order column', inner);
  return { value: { kind: 'aggregate', rows, function: binding.name, column }, ...directionOf(inner.value) };
}

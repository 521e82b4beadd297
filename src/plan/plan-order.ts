/** Plans the order of a collection: the requested keys (columns, computed fields, related rows), completed to a total order. */
import { ApiError } from '../errors/api-error.ts';
import type { Table } from '../model/model.ts';
import type { RelatedRows } from '../model/related-rows.ts';
import type { InputEntry, InputValue } from '../request/input-value.ts';
import { bindingAt } from '../request/operation.ts';
import type { OrderKey, OrderValue } from './plan.ts';
import { deeper } from './relation-depth.ts';

/** A requested key, with its `OrderByDirection`. */
interface Requested {
  readonly value: OrderValue;
  readonly direction: string;
}

/**
 * Plans the requested keys, then the primary key, so that no two rows are equal. Throws BAD_USER_INPUT, and QUERY_TOO_COMPLEX if relations
 * nest too deep.
 */
export function planOrder(value: InputValue, table: Table): readonly OrderKey[] {
  const requested = value === null ? [] : value.kind === 'list' ? value.items : [value];
  const keys = requested.flatMap(planElement);
  return [
    ...keys,
    ...table.primaryKey.map((column): OrderKey => ({ value: { kind: 'column', column }, descending: false, nullsFirst: false })),
  ];
}

function planElement(element: InputValue): OrderKey[] {
  if (element?.kind !== 'object') throw new ApiError('BAD_USER_INPUT', 'Each element of "orderBy" must be an object with one key.');
  const key = planOnly(element, []);
  return key ? [{ value: key.value, descending: key.direction.startsWith('Desc'), nullsFirst: key.direction.endsWith('First') }] : [];
}

/** Plans the only key of an object; undefined if it has none. */
function planOnly(object: InputValue, path: readonly string[]): Requested | undefined {
  const entry = onlyEntry(object, path);
  return entry && planEntry(entry, path);
}

/** The only key of an object; undefined if it has none, because nulls are not keys. `path` has the keys around it. */
function onlyEntry(object: InputValue, path: readonly string[]): InputEntry | undefined {
  if (object?.kind !== 'object') throw new Error('An order key is not an object.');
  const [entry, another] = object.entries.filter(({ value }) => value !== null);
  if (another) throw new ApiError('BAD_USER_INPUT', tooManyKeys(path));
  return entry;
}

function planEntry(entry: InputEntry, path: readonly string[]): Requested | undefined {
  const { name, value } = entry;
  const binding = bindingAt('order', entry);
  switch (binding.kind) {
    case 'column':
      return { value: { kind: 'column', column: binding.column }, direction: directionOf(value) };
    case 'computed':
      return { value: { kind: 'computed', routine: binding.routine }, direction: directionOf(value) };
    case 'related rows': {
      const inner = [...path, name];
      deeper('ordering', path.length);
      if (binding.rows.many) return planAggregate(value, binding.rows, inner);
      const key = planOnly(value, inner);
      return key && { ...key, value: { kind: 'related', rows: binding.rows, value: key.value } };
    }
  }
}

/** Plans a key on to-many related rows: their count, or an aggregate of one of their columns. */
function planAggregate(object: InputValue, rows: RelatedRows, path: readonly string[]): Requested | undefined {
  const entry = onlyEntry(object, path);
  if (!entry) return undefined;
  const binding = bindingAt('order to many', entry);
  if (binding.kind === 'count') return { value: { kind: 'aggregate', rows, function: 'count' }, direction: directionOf(entry.value) };
  const inner = onlyEntry(entry.value, [...path, entry.name]);
  if (!inner) return undefined;
  const { column } = bindingAt('order column', inner);
  return { value: { kind: 'aggregate', rows, function: binding.name, column }, direction: directionOf(inner.value) };
}

function directionOf(value: InputValue): string {
  if (value?.kind !== 'choice') throw new Error('An order key has no direction.');
  return value.name;
}

function tooManyKeys(path: readonly string[]): string {
  const around = (inner: string) => `${path.map((name) => `{${name}: `).join('')}{${inner}}${'}'.repeat(path.length)}`;
  const what = path.length > 0 ? `"${path.join('.')}" in "orderBy"` : 'Each element of "orderBy"';
  return `${what} must have one key. Write [${around('a: …')}, ${around('b: …')}] instead of [${around('a: …, b: …')}].`;
}

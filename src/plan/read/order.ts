/** Plans the order of a collection: the requested keys (columns, computed fields, related rows), completed to a total order. */
import type { Table } from '../../model/model.ts';
import type { RelatedRows } from '../../model/relations/related-rows.ts';
import { bindingAt, type InputValue } from '../../request/operation.ts';
import { directionOf, listOf, onlyEntryOf } from '../inputs.ts';
import type { OrderKey } from '../plan.ts';
import { deeper } from './filter.ts';

/**
 * Plans the requested keys, then the primary key, so that no two rows are equal. Throws BAD_USER_INPUT, and QUERY_TOO_COMPLEX if relations
 * nest too deep.
 */
export function planOrder(value: InputValue, table: Table): readonly OrderKey[] {
  return [
    ...listOf(value).flatMap((element) => planKey(element, []) ?? []),
    ...table.primaryKey.map((column): OrderKey => ({ value: { kind: 'column', column }, descending: false, nullsFirst: false })),
  ];
}

/** Plans the only key of an object; undefined if it has none. `path` has the keys around it. */
function planKey(object: InputValue, path: readonly string[]): OrderKey | undefined {
  const entry = onlyEntryOf(object, 'orderBy', path);
  if (!entry) return undefined;
  const { name, value } = entry;
  const binding = bindingAt('order', entry);
  switch (binding.kind) {
    case 'column':
      return { value: { kind: 'column', column: binding.column }, ...directionOf(value) };
    case 'computed':
      return { value: { kind: 'computed', routine: binding.routine }, ...directionOf(value) };
    case 'related rows': {
      const inner = [...path, name];
      deeper('ordering', path.length);
      if (binding.rows.many) return planAggregate(value, binding.rows, inner);
      const key = planKey(value, inner);
      return key && { ...key, value: { kind: 'related', rows: binding.rows, value: key.value } };
    }
  }
}

/** Plans a key on to-many related rows: their count, or an aggregate of one of their columns. */
function planAggregate(object: InputValue, rows: RelatedRows, path: readonly string[]): OrderKey | undefined {
  const entry = onlyEntryOf(object, 'orderBy', path);
  if (!entry) return undefined;
  const binding = bindingAt('order to many', entry);
  if (binding.kind === 'count') return { value: { kind: 'aggregate', rows, function: 'count' }, ...directionOf(entry.value) };
  const inner = onlyEntryOf(entry.value, 'orderBy', [...path, entry.name]);
  if (!inner) return undefined;
  const { column } = bindingAt('order column', inner);
  return { value: { kind: 'aggregate', rows, function: binding.name, column }, ...directionOf(inner.value) };
}

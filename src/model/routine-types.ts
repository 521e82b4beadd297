/** Which types functions may take and return. */
import type { CatalogFunction } from '../catalog/catalog.ts';
import type { Draft } from './draft.ts';
import type { RoutineResult } from './model.ts';
import { valueTypeOf } from './value-types.ts';

/** The pseudo-types that a call can have values of, besides void. */
const polymorphic = ['anyelement', 'anyarray', 'anynonarray', 'anycompatible', 'anycompatiblearray', 'anycompatiblenonarray'];

/** What a function returns as a field, or why it cannot be one. */
export function resultTypeOf(draft: Draft, { resultTypeId, returnsSet, rows }: CatalogFunction): RoutineResult | string {
  const type = draft.catalog.types.get(resultTypeId);
  if (type?.kind === 'p') {
    if (type.name === 'void') return { kind: 'void' };
    if (type.name === 'trigger' || type.name === 'event_trigger') return 'it is a trigger function: triggers call it';
    if (!polymorphic.includes(type.name)) return `it returns ${type.name}: return a scalar, or rows of a table of the API`;
  }
  const value = valueTypeOf(draft, resultTypeId);
  if (value.kind === 'row') {
    // A set that is declared to have one row is that row.
    return returnsSet && rows !== 1 ? { kind: 'rows', table: value.table } : { kind: 'row', table: value.table, setOf: returnsSet };
  }
  if (value.kind === 'row list' || value.kind === 'unsupported') {
    return 'it returns a composite type that is no table of the API: return a scalar, or rows of such a table';
  }
  return returnsSet ? 'it returns a set of values: return an array, or rows of a table of the API' : { kind: 'value', type: value };
}

/** Whether arguments and results of root fields can have the type: scalars and arrays of them, neither enums nor rows. */
export function isPlainType({ catalog }: Draft, typeId: number): boolean {
  const type = catalog.types.get(typeId);
  if (!type) return false;
  if (type.kind === 'p') return polymorphic.includes(type.name);
  const element = type.category === 'A' ? catalog.types.get(type.elementId) : type;
  return element !== undefined && element.category !== 'E' && element.category !== 'A' && element.kind !== 'c';
}

/** Decides whether a table's rows can be looked up by key, with a field of Query that takes the key columns as arguments. */
import type { Column } from './model.ts';
import { isFreeName } from './names.ts';
import { scalars } from './types/scalars.ts';

/** Whether every key column is a scalar comparable for equality, with a unique and legal name. */
export function isLookupKey(key: readonly Pick<Column, 'fieldName' | 'type' | 'comparable'>[]): boolean {
  return (
    hasOwnNames(key) &&
    key.every(({ type, fieldName, comparable }) => {
      return comparable && type.kind === 'scalar' && scalars[type.scalar].identifies && isFreeName(fieldName);
    })
  );
}

/** Whether the columns' names are unique. */
export function hasOwnNames(columns: readonly Pick<Column, 'fieldName'>[]): boolean {
  return new Set(columns.map(({ fieldName }) => fieldName)).size === columns.length;
}

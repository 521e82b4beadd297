/** Whether the rows of a table can be looked up by its key, so that it has a field of Query with the key columns as arguments. */
import type { Column } from './model.ts';
import { isFreeName } from './names.ts';

/** Whether every key column is a scalar that can be compared for equality, and has a name of its own. */
export function isLookupKey(key: readonly Pick<Column, 'fieldName' | 'type'>[]): boolean {
  return (
    hasOwnNames(key) &&
    key.every(({ type, fieldName }) => {
      return type.kind === 'scalar' && type.scalar !== 'Opaque' && type.scalar !== 'JSON' && isFreeName(fieldName);
    })
  );
}

/** Whether no two of them have one name. */
export function hasOwnNames(columns: readonly Pick<Column, 'fieldName'>[]): boolean {
  return new Set(columns.map(({ fieldName }) => fieldName)).size === columns.length;
}

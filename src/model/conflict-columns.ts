/** The columns that an insert can update in a conflicting row, by their names in the enum. */
import type { Column, Table } from './model.ts';
import { enumValueNames } from './names.ts';

/** The role must also be able to select them, because PostgreSQL reads their values from `excluded`. */
export function conflictColumns({ columns }: Pick<Table, 'columns'>): ReadonlyMap<string, Column> {
  const usable = columns.filter(({ selectable, insertable, updatable }) => selectable && insertable && updatable);
  const names = enumValueNames(usable.map(({ fieldName }) => fieldName));
  return new Map(usable.map((column, position) => [names[position]!, column]));
}

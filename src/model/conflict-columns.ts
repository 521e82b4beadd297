/** Which columns an insert can update in a row that is already there, and what they are called where it names them. */
import type { Column, Table } from './model.ts';
import { enumValueNames } from './names.ts';

/**
 * The columns by the names of their values in the enum. PostgreSQL reads them from the row that was to be inserted, and so demands the right to read them too.
 */
export function conflictColumns({ columns }: Pick<Table, 'columns'>): ReadonlyMap<string, Column> {
  const usable = columns.filter(({ selectable, insertable, updatable }) => selectable && insertable && updatable);
  const names = enumValueNames(usable.map(({ fieldName }) => fieldName));
  return new Map(usable.map((column, position) => [names[position]!, column]));
}

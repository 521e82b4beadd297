/** Changes to rows that are not sent yet, as plain lists: each function returns a new one. */
import type { Row } from './rows-query.ts';

export type Change = InsertChange | UpdateChange | DeleteChange;

/** A row to insert. Columns without a value get their default. */
export interface InsertChange {
  readonly kind: 'insert';
  readonly id: string;
  readonly values: Row;
}

export interface UpdateChange {
  readonly kind: 'update';
  /** The row's key in the grid. */
  readonly id: string;
  /** As it was read. */
  readonly row: Row;
  /** Only what differs from it. */
  readonly values: Row;
}

export interface DeleteChange {
  readonly kind: 'delete';
  readonly id: string;
  readonly row: Row;
}

export type Changes = readonly Change[];

/** What the server had against a change. */
export interface Problem {
  readonly message: string;
  /** The column that it is about; null if that is not known. */
  readonly column: string | null;
}

/** A row of the grid: one that was read, or one to insert, with the change that waits for it. */
export interface GridRow {
  readonly id: string;
  /** As it was read; null if it is still to be inserted. */
  readonly row: Row | null;
  readonly change: Change | null;
}

/** The rows to insert, and then those that were read. */
export function listGridRows(changes: Changes, rows: readonly Row[], idOf: (row: Row, index: number) => string): readonly GridRow[] {
  const byId = new Map(changes.map((change) => [change.id, change]));
  const inserted = changes.filter(({ kind }) => kind === 'insert').map((change) => ({ id: change.id, row: null, change }));
  const read = rows.map((row, index) => {
    const id = idOf(row, index);
    return { id, row, change: byId.get(id) ?? null };
  });
  return [...inserted, ...read];
}

/** What a cell has now; undefined if it is of a row to insert, and is left to its default. */
export function valueOf({ row, change }: GridRow, column: string): unknown {
  if (change !== null && change.kind !== 'delete' && Object.hasOwn(change.values, column)) return change.values[column];
  return row?.[column];
}

/** Whether a cell waits to be sent. */
export function isChanged({ change }: GridRow, column: string): boolean {
  return change !== null && change.kind !== 'delete' && Object.hasOwn(change.values, column);
}

/** Undefined leaves a new row's column to its default. A row that is again as it was read has no change. */
export function changeCell(changes: Changes, { id, row, change }: GridRow, column: string, value: unknown): Changes {
  const { [column]: _, ...others } = change === null || change.kind === 'delete' ? {} : change.values;
  const isAsBefore = value === undefined || (row !== null && JSON.stringify(row[column]) === JSON.stringify(value));
  const values = isAsBefore ? others : { ...others, [column]: value };
  if (row === null) return replace(changes, { kind: 'insert', id, values });
  return Object.keys(values).length === 0 ? dropChange(changes, id) : replace(changes, { kind: 'update', id, row, values });
}

export function insertRow(changes: Changes, id: string, values: Row = {}): Changes {
  return [{ kind: 'insert', id, values }, ...changes];
}

/** A row that was not inserted yet is forgotten. */
export function deleteRow(changes: Changes, { id, row }: GridRow): Changes {
  return row === null ? dropChange(changes, id) : replace(changes, { kind: 'delete', id, row });
}

export function dropChange(changes: Changes, id: string): Changes {
  return changes.filter((change) => change.id !== id);
}

function replace(changes: Changes, change: Change): Changes {
  return changes.some(({ id }) => id === change.id) ? changes.map((each) => (each.id === change.id ? change : each)) : [...changes, change];
}

/** `2 updates, 1 insert`. */
export function countChanges(changes: Changes, names: Readonly<Record<Change['kind'], readonly [one: string, many: string]>>): string {
  return (['insert', 'update', 'delete'] as const)
    .flatMap((kind) => {
      const count = changes.filter((change) => change.kind === kind).length;
      return count === 0 ? [] : [`${count} ${names[kind][count === 1 ? 0 : 1]}`];
    })
    .join(', ');
}

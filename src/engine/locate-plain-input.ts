/**
 * Finds the input that an error of a plain insert or update belongs to, as its path in the arguments of the root field: `objects[2].body`,
 * `set.body`. Without an index, it stands for one of several objects. Runs only when a request has failed.
 */
import { DatabaseError } from '../database/database.ts';
import type { Column } from '../model/model.ts';
import type { InsertPlan, Parameter, RootValue, UpdatePlan } from '../plan/plan.ts';
import { placesOf } from '../plan/plan-places.ts';
import { unreadParameter } from './find-suspects.ts';
import { canBind, fieldOf, type Hindsight, isOfTable } from './locate-input.ts';

/** A value that is written, with the object that it comes from: an index of `objects`, or null for an update. */
interface Cell {
  readonly row: number | null;
  readonly column: Column;
  readonly parameter: Parameter;
}

/** The path of the input; undefined if the error may not come from what the root field writes. `parameters` are those of its statement. */
export function locatePlainInput(
  cause: unknown,
  value: RootValue,
  parameters: readonly Parameter[],
  { textOf }: Hindsight,
): string | undefined {
  if (value.kind !== 'insert' && value.kind !== 'update') return undefined;
  const cells = cellsOf(value);
  if (!(cause instanceof DatabaseError)) {
    const unbound = cells.find(({ parameter }) => !canBind(parameter, { textOf }));
    return unbound && pathOf(value, [unbound]);
  }
  const unread = parameters[(unreadParameter(cause) ?? 0) - 1];
  if (unread !== undefined) {
    const text = textOf(unread);
    return pathOf(
      value,
      cells.filter(({ parameter }) => textOf(parameter) === text),
    );
  }
  if (!isOfWrite(cause, value)) return undefined;
  // A domain is all that an update knows of a value that violates its constraints.
  const ofDomain = cells.filter(({ column: { type } }) => type.kind === 'scalar' && type.typeName === cause.dataType);
  if (ofDomain.length > 0) return pathOf(value, ofDomain) ?? placeOf(value, null);
  const column = isOfTable(cause, value.table) ? value.table.columns.find(({ name }) => name === cause.column) : undefined;
  return placeOf(value, column && cause.sqlstate === notNullViolation ? emptyRow(value, column, textOf) : null) + fieldOf(column);
}

/** Whether written values have raised the error, and not a function of the response, or for an invalid value (class 22) the filter. */
function isOfWrite(error: DatabaseError, value: InsertPlan | UpdatePlan): boolean {
  if (isOfTable(error, value.table)) return true;
  const { sqlstate, table, constraint } = error;
  const isOfConstraint = table !== undefined || constraint !== undefined || /^(?:23|44)/.test(sqlstate ?? '');
  if (!isOfConstraint && (value.kind === 'update' || !sqlstate?.startsWith('22'))) return false;
  return placesOf({ kind: 'mutation', roots: [{ key: '', value }] }).every(({ kind }) => kind === 'write' || kind === 'read');
}

const notNullViolation = '23502';

function cellsOf(value: InsertPlan | UpdatePlan): readonly Cell[] {
  if (value.kind === 'update') return value.set.map((assignment) => ({ row: null, ...assignment }));
  return value.rows.flatMap((row, index) =>
    row.flatMap((parameter, position) => (parameter ? [{ row: index, column: value.columns[position]!, parameter }] : [])),
  );
}

/** The path of the only one of some cells, or of what they share; undefined if they share nothing. */
function pathOf(value: InsertPlan | UpdatePlan, cells: readonly Cell[]): string | undefined {
  const [first, ...others] = cells;
  if (first === undefined || others.some(({ column }) => column !== first.column)) return undefined;
  return placeOf(value, others.length === 0 ? first.row : null) + fieldOf(first.column);
}

function placeOf(value: InsertPlan | UpdatePlan, row: number | null): string {
  if (value.kind === 'update') return 'set';
  const only = value.rows.length === 1 ? 0 : row;
  return only === null ? 'objects' : `objects[${only}]`;
}

/** The index of the only object without a value for a column. */
function emptyRow(value: InsertPlan | UpdatePlan, column: Column, textOf: Hindsight['textOf']): number | null {
  if (value.kind === 'update') return null;
  const position = value.columns.indexOf(column);
  const empty = value.rows.flatMap((row, index) => {
    const parameter = row[position];
    return !parameter || textOf(parameter) === null ? [index] : [];
  });
  return empty.length === 1 ? empty[0]! : null;
}

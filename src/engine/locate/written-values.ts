/** The values that a mutation writes, each with its place in the arguments, under the names that the client has written. */
import type { Column } from '../../model/model.ts';
import { writtenName } from '../../plan/inputs.ts';
import type { UpdateStep } from '../../plan/nested-write-plan.ts';
import type { Parameter } from '../../plan/parameter.ts';
import type { Assignment, InsertPlan, UpdatePlan } from '../../plan/plan.ts';

export interface WrittenValue {
  /** The index of its object in `objects`; null if it is in none. */
  readonly row: number | null;
  /** From its object, or else from the arguments: `set.duringBounds`, `json.details.setPath[1].value`. */
  readonly path: string;
  readonly column: Column;
  readonly parameter: Parameter;
}

type Changes = Pick<UpdatePlan, 'set' | 'increment' | 'json'> & Partial<Pick<UpdateStep, 'nulled' | 'fromKeys'>>;

export function valuesOfUpdate({ set, increment, json }: Changes): readonly WrittenValue[] {
  return [...assigned(set, 'set'), ...assigned(increment, 'increment'), ...json.flatMap(valuesOfJson)];
}

export function valuesOfInsert({ rows, columns, onConflict }: InsertPlan): readonly WrittenValue[] {
  const written = rows.flatMap((row, index) =>
    row.flatMap((parameter, position) => {
      const column = columns[position]!;
      return parameter ? [{ row: index, path: writtenName(column.fieldName, parameter.value), column, parameter }] : [];
    }),
  );
  return onConflict ? [...written, ...assigned(onConflict.increment, 'onConflict.increment')] : written;
}

function assigned(assignments: readonly Assignment[], within: string): readonly WrittenValue[] {
  return assignments.map(({ column, parameter }) => ({
    ...{ row: null, column, parameter },
    path: `${within}.${writtenName(column.fieldName, parameter.value)}`,
  }));
}

function valuesOfJson(change: Changes['json'][number]): readonly WrittenValue[] {
  const { column } = change;
  if (change.kind === 'members')
    return [{ row: null, path: `json.${writtenName(column.fieldName, change.members.value)}`, column, parameter: change.members }];
  const { merge, remove, set } = change;
  const at = (path: string, parameter: Parameter | null): readonly WrittenValue[] =>
    parameter ? [{ row: null, path: `json.${column.fieldName}.${path}`, column, parameter }] : [];
  return [
    ...at('merge', merge),
    ...remove.flatMap((path, index) => at(`removePath[${index}]`, path)),
    ...set.flatMap(({ path, value }, index) => [...at(`setPath[${index}].path`, path), ...at(`setPath[${index}].value`, value)]),
  ];
}

/** What an update gives a column, or where it gives any; undefined if that may be in any of several arguments. */
export function pathInUpdate(changes: Changes, column: Column | undefined): string | undefined {
  const { set, increment, json, nulled = [], fromKeys = [] } = changes;
  const own = valuesOfUpdate(changes).filter((value) => value.column === column);
  if (own.length > 0) return own.length === 1 ? own[0]!.path : `json.${column!.fieldName}`;
  if (column !== undefined) return `set.${column.fieldName}`;
  const given = Object.entries({ set: [...set, ...nulled, ...fromKeys], increment, json }).filter(([, { length }]) => length > 0);
  return given.length === 1 ? given[0]![0] : undefined;
}

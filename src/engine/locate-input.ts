/**
 * The input that an error of a nested write belongs to, as its path in the arguments of the root field: with indexes where the row is known, and otherwise the
 * place of all rows that a statement writes. Found only when a request has failed.
 */
import { DatabaseError } from '../database/database.ts';
import type { ApiError } from '../errors.ts';
import type { Table } from '../model/model.ts';
import { writePath } from '../plan/input-path.ts';
import type { NestedStep } from '../plan/nested-plan.ts';
import type { Parameter, Plan } from '../plan/plan.ts';
import { raiseMarker } from '../sql/raise.ts';
import type { PreparedRequest } from './prepare-request.ts';

/** The path; undefined if the statement is no step of a nested write. `planAgain` makes the plan, where that is worth the time. */
export function locateInput(
  { cause }: ApiError,
  { compiled }: PreparedRequest,
  statement: number,
  planAgain: () => Plan | null,
  canBind: (parameter: Parameter) => boolean,
): string | undefined {
  const step = compiled.statements[statement]?.step;
  if (!step) return undefined;
  const field = cause instanceof DatabaseError && cause.table === step.table.name ? fieldOf(step.table, cause.column) : '';
  if (!(cause instanceof DatabaseError)) return unboundInput(planAgain(), statement, canBind) ?? step.place;
  const label = labelOf(cause.message);
  if (label === null) return step.place + field;
  const planned = stepOf(planAgain(), statement);
  const path = planned && 'source' in planned ? planned.paths[planned.source.labels.indexOf(label)] : undefined;
  return path ? writePath(path) : step.place;
}

function fieldOf({ columns }: Table, name: string | undefined): string {
  const column = columns.find((each) => each.name === name);
  return column ? `.${column.fieldName}` : '';
}

/** The label of the row that a statement of ours tells of. */
function labelOf(message: string): number | null {
  const start = message.indexOf(raiseMarker);
  const number = start < 0 ? undefined : /^[a-z ]+: (\d+)/.exec(message.slice(start + raiseMarker.length))?.[1];
  return number === undefined ? null : Number(number);
}

/** The step that became a statement. */
function stepOf(plan: Plan | null, statement: number): NestedStep | undefined {
  let first = 0;
  for (const { value } of plan?.roots ?? []) {
    if (value.kind === 'nested write') {
      if (statement < first + value.steps.length) return value.steps[statement - first];
      first += value.steps.length;
    }
    if (value.kind !== 'type name') first += 1;
  }
  return undefined;
}

/** The field whose value cannot be bound. */
function unboundInput(plan: Plan | null, statement: number, canBind: (parameter: Parameter) => boolean): string | undefined {
  const step = stepOf(plan, statement);
  if (!step) return undefined;
  if ('source' in step) {
    for (const { column, from } of step.source.outputs) {
      if (from.kind !== 'given') continue;
      const { type, fieldName } = column;
      const row = from.values.findIndex(
        (value) => !canBind({ value: { kind: 'list', items: [value] }, encoding: { kind: 'rows', type, use: from.use } }),
      );
      if (row >= 0) return `${writePath(step.paths[row]!)}.${fieldName}`;
    }
  }
  const assigned = step.kind === 'update' ? step.set.find(({ parameter }) => !canBind(parameter)) : undefined;
  return assigned && `${step.place}.${assigned.column.fieldName}`;
}

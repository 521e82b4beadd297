/**
 * Finds the input that an error of a nested write belongs to, as its path in the arguments of the root field: with indexes if the row is
 * known, otherwise the path shared by all rows that the statement writes. Runs only when a request has failed.
 */
import { DatabaseError } from '../database/database.ts';
import type { ApiError } from '../errors.ts';
import type { Column, Table } from '../model/model.ts';
import { writePath } from '../plan/input-path.ts';
import type { NestedStep } from '../plan/nested-plan.ts';
import type { Parameter, ParameterValue, Plan, ValueUse } from '../plan/plan.ts';
import { raiseMarker } from '../sql/raise.ts';
import { unreadParameter } from './find-suspects.ts';
import type { PreparedRequest } from './prepare-request.ts';

/** What is needed to examine a failed request. */
export interface Hindsight {
  /** Makes the plan once more; null if that is not worth the time. */
  plan(): Plan | null;
  /** The text that is bound. Throws if it cannot be bound. */
  textOf(parameter: Parameter): string | null | undefined;
}

/** The path of the input; undefined if the statement is not a step of a nested write. */
export function locateInput(error: ApiError, { compiled }: PreparedRequest, statement: number, hindsight: Hindsight): string | undefined {
  const compiledStep = compiled.statements[statement]?.step;
  if (!compiledStep) return undefined;
  const { place, table } = compiledStep;
  const { cause } = error;
  const steps = compiled.statements.slice(0, statement).filter((each) => each.step).length;
  const step = stepOf(hindsight.plan(), steps);
  if (!(cause instanceof DatabaseError)) return (step && unboundInput(step, hindsight)) ?? place;
  // `atMost`, which was exceeded, is a sibling of `set`.
  if (error.code === 'TOO_MANY_ROWS') return place.replace(/\.set$/, '');
  const label = labelOf(cause.message);
  if (label !== null) return (step && 'source' in step && pathOf(step.paths[step.source.labels.indexOf(label)])) || place;
  const number = unreadParameter(cause);
  const unread =
    number !== null && step ? unreadInput(step, compiled.statements[statement]!.parameters, number, cause.message, hindsight) : null;
  return unread ?? place + (isOfTable(cause, table) ? fieldOf(table.columns.find(({ name }) => name === cause.column)) : '');
}

function pathOf(path: NestedStep['paths'][number] | undefined): string | undefined {
  return path && writePath(path);
}

/** Whether an error names a table as the one that it is about. */
export function isOfTable(error: DatabaseError, { schema, name }: Pick<Table, 'schema' | 'name'>): boolean {
  return error.table === name && (error.schema === undefined || error.schema === schema);
}

/** The end of a path that leads to a column. */
export function fieldOf(column: Column | undefined): string {
  return column ? `.${column.fieldName}` : '';
}

/** The label of the row that the message of one of our own errors names. */
function labelOf(message: string): number | null {
  const start = message.indexOf(raiseMarker);
  const number = start < 0 ? undefined : /^[a-z ]+: (\d+)/.exec(message.slice(start + raiseMarker.length))?.[1];
  return number === undefined ? null : Number(number);
}

/** The step of a plan with a number of steps before it. */
function stepOf(plan: Plan | null, before: number): NestedStep | undefined {
  return plan?.roots.flatMap(({ value }) => (value.kind === 'nested write' ? value.steps : []))[before];
}

interface GivenColumn {
  readonly column: Column;
  readonly values: readonly ParameterValue[];
  readonly use: ValueUse;
}

/** The columns for which a step binds values, in the order of their parameters. */
function givenColumns(step: NestedStep): GivenColumn[] {
  if (!('source' in step)) return [];
  return step.source.outputs.flatMap(({ column, from }) => (from.kind === 'given' ? [{ column, ...from }] : []));
}

/** The path of the field whose value cannot be bound. */
function unboundInput(step: NestedStep, hindsight: Hindsight): string | undefined {
  for (const { column, values, use } of givenColumns(step)) {
    const row = values.findIndex((value) => !canBind(parameterOf(column, value, use), hindsight));
    if (row >= 0) return `${pathOf(step.paths[row])}.${column.fieldName}`;
  }
  const assigned = step.kind === 'update' ? step.set.find(({ parameter }) => !canBind(parameter, hindsight)) : undefined;
  return assigned && `${step.place}.${assigned.column.fieldName}`;
}

function parameterOf({ type }: Column, value: ParameterValue, use: GivenColumn['use']): Parameter {
  return { value, encoding: use === 'write' || use === 'filter' ? { kind: 'value', type, use } : { kind: use } };
}

export function canBind(parameter: Parameter, { textOf }: Pick<Hindsight, 'textOf'>): boolean {
  try {
    textOf(parameter);
    return true;
  } catch {
    return false;
  }
}

/** The path of the field whose value PostgreSQL cannot read, with indexes if only one row has this text. */
function unreadInput(
  step: NestedStep,
  parameters: readonly Parameter[],
  number: number,
  message: string,
  { textOf }: Hindsight,
): string | null {
  const unread = parameters[number - 1];
  const text = unread && textOf(unread);
  if (!('source' in step)) {
    const alike = step.kind === 'update' ? step.set.filter(({ parameter }) => textOf(parameter) === text) : [];
    return alike.length === 1 ? `${step.place}.${alike[0]!.column.fieldName}` : null;
  }
  const given = givenColumns(step);
  const isArray = unread?.encoding.kind === 'rows';
  const columns = isArray ? [given[parameters.slice(0, number).filter(({ encoding }) => encoding.kind === 'rows').length - 1]!] : given;
  const cells = columns.flatMap(({ column, values, use }) =>
    values.flatMap((value, row) => {
      const own = textOf(parameterOf(column, value, use));
      return (isArray ? message.includes(`"${own}"`) : own === text) ? [{ column, row }] : [];
    }),
  );
  const [first] = isArray ? [...cells, { column: columns[0]!.column }] : cells;
  if (first === undefined || cells.some(({ column }) => column !== first.column)) return null;
  return `${cells.length === 1 ? pathOf(step.paths[cells[0]!.row]) : step.place}.${first.column.fieldName}`;
}

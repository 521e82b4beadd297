/** Finds the input that an error belongs to, as its path in the arguments of the root field. Runs only when a request has failed. */
import type { CompiledStatement } from '../../compile/compile-plan.ts';
import type { ApiError } from '../../errors/api-error.ts';
import type { DatabaseError } from '../../errors/database-error.ts';
import { unreadParameter } from '../../errors/from-postgres.ts';
import { sharedPath, writePath } from '../../errors/input-path.ts';
import { readRaised } from '../../errors/raise.ts';
import type { Column, Table } from '../../model/model.ts';
import type { NestedStep } from '../../plan/nested-write-plan.ts';
import type { Parameter, ParameterValue, ValueUse } from '../../plan/parameter.ts';
import type { InsertPlan, Plan, RoutinePlan, UpdatePlan } from '../../plan/plan.ts';
import { listWork } from '../../plan/work.ts';
import type { ScalarValue } from '../../request/operation.ts';
import type { CompiledRequest } from '../snapshot/role-schema.ts';
import { memberPath } from './locate-member.ts';

/** A failed request: which of its statements failed, and the plan, made once more. */
export interface Failure {
  readonly error: ApiError;
  /** Null if a value could not be bound. */
  readonly cause: DatabaseError | null;
  readonly statement: number;
  readonly compiled: CompiledRequest;
  /** Null if making it was not worth the time. */
  readonly plan: Plan | null;
  /** The text that is bound. Throws if it cannot be bound. */
  textOf(parameter: Parameter): string | null | undefined;
  valueOf(value: ParameterValue): ScalarValue;
}

/** The path of the input that caused the error; undefined if the error may not come from what the statement writes. */
export function locateInput(failure: Failure): string | undefined {
  const { statement, compiled, plan } = failure;
  const { step, parameters } = compiled.statements[statement] ?? { parameters: [] };
  if (step !== undefined) return locateNested(step, parameters, failure);
  // A response that is read after the write has a statement of its own, the last one.
  const root = compiled.roots.find((each) => each.kind === 'column' && each.statement >= statement);
  const value = plan?.roots.find(({ key }) => key === root?.key)?.value;
  if (value?.kind === 'routine') return locateArgument(value, parameters, failure);
  if (value?.kind !== 'insert' && value?.kind !== 'update') return undefined;
  const isRead = value.readsAfter && root?.kind === 'column' && root.statement === statement;
  return isRead ? undefined : locatePlain(value, parameters, failure);
}

/** Of a nested write: with indexes if the row is known, otherwise the path shared by all rows that the statement writes. */
function locateNested({ path, table }: NonNullable<CompiledStatement['step']>, parameters: readonly Parameter[], failure: Failure): string {
  const { error, cause, statement, compiled, plan } = failure;
  const steps = compiled.statements.slice(0, statement).filter((each) => each.step).length;
  const step = stepOf(plan, steps);
  if (cause === null) return (step && unboundInput(step, failure)) ?? path;
  // `atMost`, which was exceeded, is a sibling of `set`.
  if (error.code === 'TOO_MANY_ROWS') return path.replace(/\.set$/, '');
  const label = readRaised(cause.message)?.label ?? null;
  if (label !== null) return (step && 'inputRows' in step && pathOf(step.paths[step.inputRows.labels.indexOf(label)])) || path;
  const number = unreadParameter(cause);
  const unread = number !== null && step ? unreadInput(step, parameters, number, cause.message, failure) : null;
  return unread ?? path + (isOfTable(cause, table) ? fieldOf(table.columns.find(({ name }) => name === cause.column)) : '');
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

/** The step of a plan with a number of steps before it. */
function stepOf(plan: Plan | null, before: number): NestedStep | undefined {
  return plan?.roots.flatMap(({ value }) => (value.kind === 'nested write' ? value.steps : []))[before];
}

interface InputColumn {
  readonly column: Column;
  readonly values: readonly ParameterValue[];
  readonly use: ValueUse;
}

/** The columns for which a step binds values, in the order of their parameters. */
function inputColumns(step: NestedStep): InputColumn[] {
  if (!('inputRows' in step)) return [];
  return step.inputRows.outputs.flatMap(({ column, from }) => (from.kind === 'input' ? [{ column, ...from }] : []));
}

function unboundInput(step: NestedStep, failure: Failure): string | undefined {
  for (const { column, values, use } of inputColumns(step)) {
    const row = values.findIndex((value) => !canBind(parameterOf(column, value, use), failure));
    if (row < 0) continue;
    return `${pathOf(step.paths[row])}.${column.fieldName}${memberPath(parameterOf(column, values[row]!, use), failure)}`;
  }
  const assigned = step.kind === 'update' ? step.set.find(({ parameter }) => !canBind(parameter, failure)) : undefined;
  return assigned && `${sharedPath(step.paths)}.${assigned.column.fieldName}${memberPath(assigned.parameter, failure)}`;
}

function parameterOf({ type }: Column, value: ParameterValue, use: InputColumn['use']): Parameter {
  return { value, encoding: use === 'write' || use === 'filter' ? { kind: 'value', type, use } : { kind: use } };
}

export function canBind(parameter: Parameter, { textOf }: Pick<Failure, 'textOf'>): boolean {
  try {
    textOf(parameter);
    return true;
  } catch {
    return false;
  }
}

/** The path of the field whose value PostgreSQL cannot read, with indexes if only one row has this text. */
function unreadInput(step: NestedStep, parameters: readonly Parameter[], number: number, message: string, failure: Failure): string | null {
  const { textOf } = failure;
  const unread = parameters[number - 1];
  const text = unread && textOf(unread);
  if (!('inputRows' in step)) {
    const alike = step.kind === 'update' ? step.set.filter(({ parameter }) => textOf(parameter) === text) : [];
    const [only] = alike.length === 1 ? alike : [];
    return only ? `${sharedPath(step.paths)}.${only.column.fieldName}${memberPath(only.parameter, failure)}` : null;
  }
  const bound = inputColumns(step);
  const isArray = unread?.encoding.kind === 'rows';
  const columns = isArray ? [bound[parameters.slice(0, number).filter(({ encoding }) => encoding.kind === 'rows').length - 1]!] : bound;
  const cells = columns.flatMap(({ column, values, use }) =>
    values.flatMap((value, row) => {
      const own = textOf(parameterOf(column, value, use));
      const member = memberPath(parameterOf(column, value, use), failure);
      return (isArray ? member !== '' || message.includes(`"${own}"`) : own === text) ? [{ column, row, member }] : [];
    }),
  );
  const [first] = isArray ? [...cells, { column: columns[0]!.column }] : cells;
  if (first === undefined || cells.some(({ column }) => column !== first.column)) return null;
  const [only] = cells.length === 1 ? cells : [];
  return `${only ? pathOf(step.paths[only.row]) : sharedPath(step.paths)}.${first.column.fieldName}${only?.member ?? ''}`;
}

/** The member of an argument of a composite type. For others, the path of the field and the message say enough. */
function locateArgument(plan: RoutinePlan, parameters: readonly Parameter[], failure: Failure): string | undefined {
  const { cause, textOf } = failure;
  const unread = cause === null ? undefined : parameters[(unreadParameter(cause) ?? 0) - 1];
  if (cause !== null && unread === undefined) return undefined;
  const [only, ...others] = plan.arguments.filter(({ parameter }) =>
    unread === undefined ? !canBind(parameter, failure) : canBind(parameter, failure) && textOf(parameter) === textOf(unread),
  );
  const member = only && others.length === 0 ? memberPath(only.parameter, failure) : '';
  return only && member !== '' ? `${only.argument.argumentName}${member}` : undefined;
}

/** A value that is written, with the object that it comes from: an index of `objects`, or null for an update. */
interface Cell {
  readonly row: number | null;
  readonly column: Column;
  readonly parameter: Parameter;
}

/** Of a plain insert or update: `objects[2].body`, `set.body`. Without an index, it stands for one of several objects. */
function locatePlain(value: InsertPlan | UpdatePlan, parameters: readonly Parameter[], failure: Failure): string | undefined {
  const { cause, textOf } = failure;
  const cells = cellsOf(value);
  if (cause === null) {
    const unbound = cells.find(({ parameter }) => !canBind(parameter, failure));
    return unbound && cellPath(value, [unbound], failure);
  }
  const unread = parameters[(unreadParameter(cause) ?? 0) - 1];
  if (unread !== undefined) {
    const text = textOf(unread);
    return cellPath(
      value,
      cells.filter(({ parameter }) => textOf(parameter) === text),
      failure,
    );
  }
  if (!isOfWrite(cause, value)) return undefined;
  // A domain is all that an update knows of a value that violates its constraints.
  const ofDomain = cells.filter(({ column: { type } }) => type.kind === 'scalar' && type.typeName === cause.dataType);
  if (ofDomain.length > 0) return cellPath(value, ofDomain, failure) ?? rowPath(value, null);
  const column = isOfTable(cause, value.table) ? value.table.columns.find(({ name }) => name === cause.column) : undefined;
  return rowPath(value, column && cause.sqlstate === notNullViolation ? emptyRow(value, column, textOf) : null) + fieldOf(column);
}

/** Whether written values have raised the error, and not a function of the response, or for an invalid value (class 22) the filter. */
function isOfWrite(error: DatabaseError, value: InsertPlan | UpdatePlan): boolean {
  if (isOfTable(error, value.table)) return true;
  const { sqlstate, table, constraint } = error;
  const isOfConstraint = table !== undefined || constraint !== undefined || /^(?:23|44)/.test(sqlstate ?? '');
  if (!isOfConstraint && (value.kind === 'update' || !sqlstate?.startsWith('22'))) return false;
  return listWork({ kind: 'mutation', roots: [{ key: '', value }] }).every(
    ({ kind }) => kind === 'write' || kind === 'read' || kind === 'compare',
  );
}

const notNullViolation = '23502';

function cellsOf(value: InsertPlan | UpdatePlan): readonly Cell[] {
  if (value.kind === 'update') return value.set.map((assignment) => ({ row: null, ...assignment }));
  return value.rows.flatMap((row, index) =>
    row.flatMap((parameter, position) => (parameter ? [{ row: index, column: value.columns[position]!, parameter }] : [])),
  );
}

/** The path of the only one of some cells, or of what they share; undefined if they share nothing. */
function cellPath(value: InsertPlan | UpdatePlan, cells: readonly Cell[], failure: Failure): string | undefined {
  const [first, ...others] = cells;
  if (first === undefined || others.some(({ column }) => column !== first.column)) return undefined;
  const isOnly = others.length === 0;
  return rowPath(value, isOnly ? first.row : null) + fieldOf(first.column) + (isOnly ? memberPath(first.parameter, failure) : '');
}

function rowPath(value: InsertPlan | UpdatePlan, row: number | null): string {
  if (value.kind === 'update') return 'set';
  const only = value.rows.length === 1 ? 0 : row;
  return only === null ? 'objects' : `objects[${only}]`;
}

/** The index of the only object without a value for a column. */
function emptyRow(value: InsertPlan | UpdatePlan, column: Column, textOf: Failure['textOf']): number | null {
  if (value.kind === 'update') return null;
  const position = value.columns.indexOf(column);
  const empty = value.rows.flatMap((row, index) => {
    const parameter = row[position];
    return !parameter || textOf(parameter) === null ? [index] : [];
  });
  return empty.length === 1 ? empty[0]! : null;
}

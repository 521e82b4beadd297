/** Finds the input that an error belongs to, as its path in the arguments of the root field. Runs only when a request has failed. */
import type { CompiledStatement } from '../../compile/compile-plan.ts';
import type { ApiError } from '../../errors/api-error.ts';
import type { DatabaseError } from '../../errors/database-error.ts';
import { unreadParameter } from '../../errors/from-postgres.ts';
import { sharedPath, writePath } from '../../errors/input-path.ts';
import { readRaised } from '../../errors/raise.ts';
import type { Column, Table } from '../../model/model.ts';
import { isDomainNamed } from '../../model/types/named-types.ts';
import { writtenName } from '../../plan/inputs.ts';
import type { NestedStep, UpdateStep } from '../../plan/nested-write-plan.ts';
import type { Parameter, ParameterValue, ValueUse } from '../../plan/parameter.ts';
import type { InsertPlan, Plan, RoutinePlan, UpdatePlan } from '../../plan/plan.ts';
import { listWork } from '../../plan/work.ts';
import type { ScalarValue } from '../../request/operation.ts';
import type { CompiledRequest } from '../snapshot/role-schema.ts';
import { memberPath } from './locate-member.ts';
import { pathInUpdate, valuesOfInsert, valuesOfUpdate, type WrittenValue } from './written-values.ts';

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
function locateNested(
  { path, table }: NonNullable<CompiledStatement['step']>,
  parameters: readonly Parameter[],
  failure: Failure,
): string | undefined {
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
  if (unread !== null) return unread;
  const column = isOfTable(cause, table) ? table.columns.find(({ name }) => name === cause.column) : undefined;
  if (step?.kind === 'update') return withinUpdate(step, pathInUpdate(step, column));
  return step && column ? columnPath(step, path, column, failure) : path + fieldOf(column);
}

/** The path of the inputs that give a column, or that give it null, if that is the error. */
function columnPath(step: NestedStep, path: string, column: Column, { cause, textOf }: Failure): string {
  const input = inputColumns(step).find((each) => each.column === column);
  if (input === undefined) return path + fieldOf(column);
  const isSuspect = (value: ParameterValue): boolean =>
    cause?.sqlstate !== notNullViolation || textOf(parameterOf(column, value, input.use)) === null;
  const names = new Set(input.values.flatMap((value, row) => (isSuspect(value) ? [nameIn(input, row)] : [])));
  const [name = column.fieldName, ...others] = names;
  return others.length > 0 ? path : `${path}.${name}`;
}

/** A place in the object of an update, or in the arguments of the root field. */
function withinUpdate({ paths }: UpdateStep, place: string | undefined): string | undefined {
  const object = paths.map((path) => path.slice(0, -1));
  return [sharedPath(object), place ?? ''].filter((part) => part !== '').join('.') || undefined;
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
  readonly field: string | null;
}

/** The columns for which a step binds values, in the order of their parameters. */
function inputColumns(step: NestedStep): InputColumn[] {
  if (!('inputRows' in step)) return [];
  return step.inputRows.outputs.flatMap(({ column, from }) => (from.kind === 'input' ? [{ column, ...from }] : []));
}

function unboundInput(step: NestedStep, failure: Failure): string | undefined {
  for (const input of inputColumns(step)) {
    const { column, values, use } = input;
    const row = values.findIndex((value) => !canBind(parameterOf(column, value, use), failure));
    if (row < 0) continue;
    return `${pathOf(step.paths[row])}.${nameIn(input, row)}${memberPath(parameterOf(column, values[row]!, use), failure)}`;
  }
  if (step.kind !== 'update') return undefined;
  const unbound = valuesOfUpdate(step).find(({ parameter }) => !canBind(parameter, failure));
  return unbound && withinUpdate(step, unbound.path + memberPath(unbound.parameter, failure));
}

function nameIn({ column, values, field }: InputColumn, row: number): string {
  return field ?? writtenName(column.fieldName, values[row]);
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
  if (step.kind === 'update') {
    const [only, ...others] = valuesOfUpdate(step).filter(({ parameter }) => textOf(parameter) === text);
    return (only && others.length === 0 && withinUpdate(step, only.path + memberPath(only.parameter, failure))) || null;
  }
  if (!('inputRows' in step)) return null;
  const bound = inputColumns(step);
  const isArray = unread?.encoding.kind === 'rows';
  const columns = isArray ? [bound[parameters.slice(0, number).filter(({ encoding }) => encoding.kind === 'rows').length - 1]!] : bound;
  const cells = columns.flatMap((input) =>
    input.values.flatMap((value, row) => {
      const own = textOf(parameterOf(input.column, value, input.use));
      const member = memberPath(parameterOf(input.column, value, input.use), failure);
      return (isArray ? member !== '' || message.includes(`"${own}"`) : own === text) ? [{ name: nameIn(input, row), row, member }] : [];
    }),
  );
  const [first] = isArray ? [...cells, { name: nameIn(columns[0]!, 0) }] : cells;
  if (first === undefined || cells.some(({ name }) => name !== first.name)) return null;
  const [only] = cells.length === 1 ? cells : [];
  return `${only ? pathOf(step.paths[only.row]) : sharedPath(step.paths)}.${first.name}${only?.member ?? ''}`;
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
  return only && member !== '' ? `${writtenName(only.argument.argumentName, only.parameter.value)}${member}` : undefined;
}

/** Of a plain insert or update: `objects[2].body`, `set.body`. Without an index, it stands for one of several objects. */
function locatePlain(value: InsertPlan | UpdatePlan, parameters: readonly Parameter[], failure: Failure): string | undefined {
  const { cause, textOf } = failure;
  const values = value.kind === 'update' ? valuesOfUpdate(value) : valuesOfInsert(value);
  if (cause === null) {
    const unbound = values.find(({ parameter }) => !canBind(parameter, failure));
    return unbound && sharedPlace(value, [unbound], failure);
  }
  const unread = parameters[(unreadParameter(cause) ?? 0) - 1];
  if (unread !== undefined) {
    const text = textOf(unread);
    return sharedPlace(
      value,
      values.filter(({ parameter }) => textOf(parameter) === text),
      failure,
    );
  }
  if (!isOfWrite(cause, value)) return undefined;
  // A domain is all that an update knows of a value that violates its constraints.
  const ofDomain = values.filter(({ column: { type } }) => isDomainNamed(type, cause.dataType));
  const place = ofDomain.length > 0 ? sharedPlace(value, ofDomain, failure) : undefined;
  if (place !== undefined) return place;
  const column = isOfTable(cause, value.table) ? value.table.columns.find(({ name }) => name === cause.column) : undefined;
  if (value.kind === 'update') return pathInUpdate(value, column);
  const row = column && cause.sqlstate === notNullViolation ? emptyRow(value, column, textOf) : null;
  const given = values.find((each) => each.column === column && (row === null || each.row === row));
  return rowPath(value, row) + (given ? `.${given.path}` : fieldOf(column));
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

/** The path of the only one of some values, or of what they share; undefined if they share nothing. */
function sharedPlace(plan: InsertPlan | UpdatePlan, values: readonly WrittenValue[], failure: Failure): string | undefined {
  const [first, ...others] = values;
  if (first === undefined || others.some(({ path }) => path !== first.path)) return undefined;
  const isOnly = others.length === 0;
  const place = first.path + (isOnly ? memberPath(first.parameter, failure) : '');
  return plan.kind === 'update' || first.row === null ? place : `${rowPath(plan, isOnly ? first.row : null)}.${place}`;
}

function rowPath({ rows }: InsertPlan, row: number | null): string {
  const only = rows.length === 1 ? 0 : row;
  return only === null ? 'objects' : `objects[${only}]`;
}

/** The index of the only object without a value for a column. */
function emptyRow({ columns, rows }: InsertPlan, column: Column, textOf: Failure['textOf']): number | null {
  const position = columns.indexOf(column);
  const empty = rows.flatMap((row, index) => {
    const parameter = row[position];
    return !parameter || textOf(parameter) === null ? [index] : [];
  });
  return empty.length === 1 ? empty[0]! : null;
}

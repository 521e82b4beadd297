/** Turns selections into members, and coerced arguments into parameters. */
import { ApiError, inField } from '../errors/api-error.ts';
import { givenTwice } from '../errors/input-path.ts';
import type { Column, ColumnShape, Table } from '../model/model.ts';
import { isArrayDomain, type JsonValueType, jsonValueTypes } from '../model/types/named-types.ts';
import { boundsName, operators, shapeName } from '../model/types/operators.ts';
import type { ValueType } from '../model/value-type.ts';
import {
  type BindValue,
  bindingAt,
  type InputEntry,
  type InputObject,
  type InputValue,
  type SelectedField,
  valueAt,
} from '../request/operation.ts';
import type { InputBinding } from '../schema/bindings.ts';
import type { JsonPathValue, Test } from './conditions.ts';
import type { Count, ElementUse, Parameter, ParameterEncoding, ParameterValue } from './parameter.ts';
import type { Member, TypeNamePlan } from './plan.ts';

interface ValueParameter extends Parameter {
  readonly encoding: Extract<ParameterEncoding, { kind: 'value' }>;
}

const nullValue: BindValue = { kind: 'constant', value: null };

export function valueParameter(value: InputValue, type: ValueType, use: 'filter' | 'write'): ValueParameter {
  return { value: parameterValue(value), encoding: { kind: 'value', type, use } };
}

/** The value that an input gives a column or an attribute: its own, that of the bounds, or JSON with a shape. */
export function writtenValue({ value, binding }: InputEntry): ParameterValue {
  if (!isOfColumn(binding) || binding.kind === 'column') return parameterValue(value);
  if (binding.kind === 'bounds') return value === null ? { kind: 'null bounds' } : rangeValue(value);
  const { shape } = binding.column;
  return shape === null ? nullValue : { kind: 'shaped', shape, value: parameterValue(value) };
}

/** The name of the input that gives a value to the column or the argument which has this name in inputs. */
export function writtenName(name: string, value: ParameterValue | undefined): string {
  if (value?.kind === 'shaped') return shapeName(name);
  return value && isOfBounds(value) ? boundsName(name) : name;
}

/** Whether a value is given by the bounds of a range, or by those of several. */
export function isOfBounds(value: ParameterValue): boolean {
  if (value.kind === 'list') return value.items.some(isOfBounds);
  return value.kind === 'range' || value.kind === 'null bounds';
}

/** Throws BAD_USER_INPUT for a column or an attribute that is given as text and by its bounds or with its shape. */
export function checkGivenOnce(entries: readonly InputEntry[]): void {
  for (const { name, binding } of entries) {
    if (!isOfColumn(binding) || binding.kind === 'column') continue;
    const { column } = binding;
    const other = entries.find((entry) => isOfColumn(entry.binding) && entry.binding.kind === 'column' && entry.binding.column === column);
    if (!other) continue;
    throw new ApiError('BAD_USER_INPUT', givenTwice(other.name, name));
  }
}

type OfColumn = Exclude<Extract<InputBinding, { at: 'write' | 'composite' | 'json columns' }>, { kind: 'nested write' }>;

/** Whether an input is that of a column or an attribute. */
function isOfColumn(binding: InputBinding | undefined): binding is OfColumn {
  if (binding?.at === 'write') return binding.kind !== 'nested write';
  return binding?.at === 'composite' || binding?.at === 'json columns';
}

/** Whether an input has no value, because all variables in it were not sent. */
export function isUnsent(value: InputValue): boolean {
  return value?.kind === 'object' && value.entries.length === 0 && value.unsent !== undefined;
}

/** A range, or a list of ranges. */
export function rangeValue(value: InputValue): ParameterValue {
  if (value?.kind === 'list') return { kind: 'list', items: value.items.map(rangeValue) };
  if (value?.kind !== 'object') return parameterValue(value);
  return { kind: 'range', parts: new Map(value.entries.map((entry) => [bindingAt('range', entry).kind, parameterValue(entry.value)])) };
}

interface ElementParameter extends Parameter {
  readonly encoding: { readonly kind: ElementUse; readonly argument?: string };
}

/** `type` is that of the element's column; undefined for a computed field or an aggregate. */
export function elementParameter(element: BindValue | null, type: ValueType | undefined): ElementParameter {
  return { value: element ?? nullValue, encoding: { kind: type !== undefined && isArrayDomain(type) ? 'array' : 'text' } };
}

export function integerParameter(value: InputValue): Parameter {
  return { value: parameterValue(value), encoding: { kind: 'integer' } };
}

/** A number from 0 to `maximum`. */
export function numberParameter(value: InputValue, argument: string, maximum: number): Parameter {
  return { value: parameterValue(value), encoding: { kind: 'number', argument, maximum } };
}

export function widthParameter(value: InputValue): Parameter {
  return { value: parameterValue(value), encoding: { kind: 'width' } };
}

/** A number of rows. A literal becomes part of the statement, so that PostgreSQL can plan for it; a variable is bound. */
export function countOf(value: InputValue, argument: string, maximum: number): Count {
  if (value?.kind === 'constant') return checkCount(Number(value.value), argument, maximum);
  return { value: parameterValue(value), encoding: { kind: 'count', argument, maximum } };
}

/** Limits the number to its maximum. Throws BAD_USER_INPUT for a negative one, with pg_graphql's message. */
export function checkCount(count: number, argument: string, maximum: number): number {
  if (count < 0) throw new ApiError('BAD_USER_INPUT', `\`${argument}\` must be an unsigned integer`);
  return Math.min(count, maximum);
}

/** The members of the values of a column: of a composite type, or JSON with a shape; null if it has none. */
export function partsOf({ type, shape }: Column): ColumnShape | null {
  return shape ?? (type.kind === 'row' || type.kind === 'row list' ? { table: type.table, isList: type.kind === 'row list' } : null);
}

/** Keys that lead to a part of JSON. Throws BAD_USER_INPUT for null. */
export function pathParameter(value: InputValue): Parameter {
  if (value === null) throw new ApiError('BAD_USER_INPUT', 'A JSON path is null. Pass a list of keys.');
  return { value: parameterValue(value), encoding: { kind: 'json path' } };
}

/** What is at a path of JSON, and its direction if it orders rows. */
export function planJsonPath(value: InputValue): JsonPathValue & { readonly direction: InputValue } {
  const { entries } = objectOf(value);
  const as = valueAt(entries, 'json value', 'as');
  const chosen = as?.kind === 'choice' && Object.hasOwn(jsonValueTypes, as.name) ? (as.name as JsonValueType) : 'TEXT';
  const keys = pathParameter(valueAt(entries, 'json value', 'path'));
  return { keys, as: chosen, direction: valueAt(entries, 'json value', 'direction') };
}

export function parameterValue(value: InputValue): ParameterValue {
  if (value === null) return nullValue;
  if (value.kind === 'constant' || value.kind === 'variable') return value;
  if (value.kind === 'list') return { kind: 'list', items: value.items.map(parameterValue) };
  if (value.kind === 'object') {
    checkGivenOnce(value.entries);
    const given = value.entries.filter((entry) => bindingAt('composite', entry).kind === 'column' || !isUnsent(entry.value));
    const attributes = given.map((entry) => [bindingAt('composite', entry).column.name, writtenValue(entry)] as const);
    return { kind: 'composite', attributes: new Map(attributes) };
  }
  throw new Error(`Expected a value, not ${value.kind}.`);
}

/**
 * Returns the key columns of the table with their values in the nodeId. Throws BAD_USER_INPUT if the nodeId, which is in `argument`, is not
 * one of this table.
 */
export function keyOfNodeId(id: InputValue, table: Table, argument: string): { column: Column; parameter: ElementParameter }[] {
  if (id?.kind !== 'identifier') throw new ApiError('BAD_USER_INPUT', `Expected a nodeId in the argument "${argument}".`);
  if (id.schema !== table.schema || id.table !== table.name) {
    throw new ApiError('BAD_USER_INPUT', `The nodeId in the argument "${argument}" does not identify a record of type ${table.typeName}.`);
  }
  if (id.elements.length !== table.primaryKey.length) {
    throw new ApiError('BAD_USER_INPUT', `The nodeId in the argument "${argument}" does not contain the key of type ${table.typeName}.`);
  }
  return table.primaryKey.map((column, index) => {
    const { value, encoding } = elementParameter(id.elements[index] ?? null, column.type);
    // Composite values in a nodeId are JSON.
    const isJson = column.type.kind === 'composite' || column.type.kind === 'row';
    return { column, parameter: { value, encoding: isJson ? { kind: 'json' } : { ...encoding, argument } } };
  });
}

/** The columns of a key in a nodeId, those that are null apart if rows may have nulls in it. */
export function withoutNulls<Element extends { readonly column: Column }>(
  key: readonly Element[],
  id: InputValue,
  { keyTakesNulls }: Table,
): { readonly key: readonly Element[]; readonly nulls: readonly Column[] } {
  const isNull = (index: number): boolean => keyTakesNulls && id?.kind === 'identifier' && id.elements[index] === null;
  return {
    key: key.filter((_, index) => !isNull(index)),
    nulls: key.flatMap(({ column }, index) => (isNull(index) ? [column] : [])),
  };
}

/** Plans each field, except `__typename`, with `plan`. Adds the response key to the path of errors. */
export function planMembers<Value>(
  selection: readonly SelectedField[],
  plan: (field: SelectedField) => Value,
): Member<Value | TypeNamePlan>[] {
  return selection.map((field) => ({
    key: field.key,
    name: field.name,
    value: field.binding ? inField(field.key, () => plan(field)) : { kind: 'type name', name: field.parentType },
  }));
}

/** The object. Throws BAD_USER_INPUT for null, which lenient coercion lets pass in lists. */
export function objectOf(value: InputValue | undefined, problem = 'Expected an object.'): InputObject {
  if (value?.kind !== 'object') throw new ApiError('BAD_USER_INPUT', problem);
  return value;
}

/** The items of a list; a single value is a list of one. */
export function listOf(value: InputValue): readonly InputValue[] {
  if (value === null) return [];
  return value.kind === 'list' ? value.items : [value];
}

/** Whether the operator `is` tests for null. Throws BAD_USER_INPUT. */
export function isNullOf(value: InputValue): boolean {
  if (value?.kind !== 'choice') throw new ApiError('BAD_USER_INPUT', 'The operator "is" must be NULL or NOT_NULL.');
  return value.name === 'NULL';
}

/** The tests of an object of operators. */
export function planTests(value: InputValue, type: ValueType): readonly Test[] {
  return objectOf(value).entries.map((entry) => planTest(entry, type));
}

export function planTest(entry: InputEntry, type: ValueType): Test {
  const { value } = entry;
  const binding = bindingAt('operators', entry);
  if (binding.kind === 'is') return { kind: 'null test', isNull: isNullOf(value) };
  const { operator } = binding;
  const { value: operand, encoding } = valueParameter(value, type, 'filter');
  const { checked } = operators[operator];
  return { kind: 'comparison', operator, parameter: { value: operand, encoding: checked ? { ...encoding, as: checked } : encoding } };
}

/**
 * The only entry of an object that is not null, if any. Throws BAD_USER_INPUT for several. `path` has the keys around it in the argument.
 */
export function onlyEntryOf(value: InputValue, argument: string, path: readonly string[] = []): InputEntry | undefined {
  const { entries } = objectOf(value, `Each element of "${argument}" must be an object with one key.`);
  const [entry, another] = entries.filter((each) => each.value !== null);
  if (another) throw severalKeys(argument, path);
  return entry;
}

export function severalKeys(argument: string, path: readonly string[] = []): ApiError {
  const around = (inner: string) => `${path.map((name) => `{${name}: `).join('')}{${inner}}${'}'.repeat(path.length)}`;
  const what = path.length > 0 ? `"${path.join('.')}" in "${argument}"` : `Each element of "${argument}"`;
  const advice = `Write [${around('a: …')}, ${around('b: …')}] instead of [${around('a: …, b: …')}].`;
  return new ApiError('BAD_USER_INPUT', `${what} must have one key. ${advice}`);
}

export function directionOf(value: InputValue): { readonly descending: boolean; readonly nullsFirst: boolean } {
  if (value?.kind !== 'choice') throw new Error('An order key has no direction.');
  return { descending: value.name.startsWith('Desc'), nullsFirst: value.name.endsWith('First') };
}

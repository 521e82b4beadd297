/** Reads the inputs of nested writes: the columns that they give, the operations on each relation, and keys of rows. */
import { mapInSteps } from '../../budget/turns.ts';
import { atInput, type InputPath, inputError, inputPath } from '../../errors/input-path.ts';
import type { Column, Table } from '../../model/model.ts';
import type { NestedVerb, WritableRelation } from '../../model/relations/writable-relations.ts';
import { checkGivenOnce, isUnsent, keyOfNodeId, listOf, objectOf, parameterValue, writtenName, writtenValue } from '../../plan/inputs.ts';
import type { ParameterValue, ValueUse } from '../../plan/parameter.ts';
import { bindingAt, type InputObject, type InputValue } from '../../request/operation.ts';

/** An object with its label among those that are written together, and the label of the row that it belongs to. */
export interface LabelledObject {
  readonly label: number;
  readonly parent: number;
  readonly value: InputObject;
  readonly path: InputPath;
}

export interface InputRow {
  readonly label: number;
  readonly parent: number;
  readonly path: InputPath;
  readonly values: ReadonlyMap<Column, ParameterValue>;
  readonly related: readonly RelationInput[];
}
export interface RelationInput {
  readonly writable: WritableRelation;
  readonly path: InputPath;
  /** The operations by verb, without those that are null or false. */
  readonly members: ReadonlyMap<NestedVerb, InputValue>;
}

/** Columns that identify a row, with their values. */
export interface InputKey {
  readonly columns: readonly { readonly column: Column; readonly value: ParameterValue; readonly use: ValueUse; readonly field: string }[];
  readonly object: LabelledObject;
}

/** Whether objects of an insert or update write related rows. */
export function hasRelatedRows(value: InputValue | undefined): boolean {
  if (value?.kind === 'list') return value.items.some(hasRelatedRows);
  return value?.kind === 'object' && value.entries.some(({ binding, value: item }) => binding?.kind === 'nested write' && item !== null);
}

/** Labels the objects of a list, or a single object, after those that are in `objects`, and appends them. */
export function objectsOf(
  value: InputValue | undefined,
  path: InputPath,
  many: boolean,
  parent: number,
  objects: LabelledObject[] = [],
): LabelledObject[] {
  for (const [index, item] of listOf(value ?? null).entries())
    objects.push({ label: objects.length, parent, value: objectOf(item), path: many ? inputPath(index, path) : path });
  return objects;
}

export function memberOf({ entries }: InputObject, name: string): InputValue {
  return entries.find((entry) => entry.name === name)?.value ?? null;
}

export function readRows(objects: readonly LabelledObject[]): Generator<void, InputRow[]> {
  return mapInSteps(objects, readRow);
}

export function readRow({ label, parent, value, path }: LabelledObject): InputRow {
  const values = new Map<Column, ParameterValue>();
  const related: RelationInput[] = [];
  atInput(path, () => checkGivenOnce(value.entries));
  for (const entry of value.entries) {
    const binding = bindingAt('write', entry);
    if (binding.kind !== 'nested write') {
      if (binding.kind === 'column' || !isUnsent(entry.value)) values.set(binding.column, writtenValue(entry));
    } else if (entry.value !== null) {
      const relation = readRelation(binding.relation, entry.value, inputPath(entry.name, path));
      if (relation.members.size > 0) related.push(relation);
    }
  }
  for (const relation of related) if (fillsKey(relation)) checkFilled(values, relation.writable, path);
  return { label, parent, path, values, related };
}

function readRelation(writable: WritableRelation, value: InputValue, path: InputPath): RelationInput {
  const present = objectOf(value).entries.filter((entry) => entry.value !== null);
  const members = present.filter(({ value: item }) => !(item?.kind === 'constant' && item.value === false));
  if (writable.relation.kind === 'to-one' && (members.length > 1 || present.length === 0)) {
    throw inputError(path, `The relation "${writable.relation.fieldName}" takes exactly one member, such as "connect" or "create".`);
  }
  return { writable, path, members: new Map(members.map((entry) => [entry.name as NestedVerb, entry.value])) };
}

/**
 * Throws if a relation does not allow a verb. Input types are shared by all relations to a table, so validation accepts verbs that only
 * other relations allow.
 */
export function checkVerbs({ related }: InputRow, writing: 'insert' | 'update'): void {
  for (const { writable, members, path } of related) {
    for (const verb of members.keys()) {
      if (writable[writing].has(verb)) continue;
      const reason = writable.nulled.length === 0 && verb !== 'create' ? ': its key cannot be null, or the role may not write it' : '';
      throw inputError(inputPath(verb, path), `The relation "${writable.relation.fieldName}" has no "${verb}"${reason}.`);
    }
  }
}

/** Whether a relation sets key columns in the row itself. */
export function fillsKey({ writable, members }: RelationInput): boolean {
  return writable.relation.holdsKey && [...members.keys()].some((verb) => verb !== 'update');
}

/** Throws if the row gives a column that the relation fills in. */
export function checkFilled(values: InputRow['values'], { key, relation }: WritableRelation, path: InputPath): void {
  const twice = key.find((column) => values.has(column));
  if (twice) throw inputError(inputPath(writtenName(twice.fieldName, values.get(twice)), path), filledBy(twice, relation.fieldName));
}

export function filledBy({ fieldName }: Column, relation: string): string {
  return `The field "${fieldName}" is filled by the relation "${relation}". Leave out one of them.`;
}

/** Reads keys. Throws unless each object gives all columns of one. */
export function readKeys(objects: readonly LabelledObject[], table: Table): Generator<void, InputKey[]> {
  return mapInSteps(objects, (object) => readKey(object, table));
}

function readKey(object: LabelledObject, table: Table): InputKey {
  const columns: InputKey['columns'][number][] = [];
  for (const entry of object.value.entries) {
    const { name, value } = entry;
    if (value === null) continue;
    const binding = bindingAt('key', entry);
    if (binding.kind === 'column') columns.push({ column: binding.column, value: parameterValue(value), use: 'filter', field: name });
    else {
      const key = atInput(inputPath(name, object.path), () => keyOfNodeId(value, table, name));
      for (const { column, parameter } of key) columns.push({ column, value: parameter.value, use: parameter.encoding.kind, field: name });
    }
  }
  const named = new Set(columns.map(({ column }) => column));
  if ([table.primaryKey, ...table.uniqueKeys].some((key) => key.every((column) => named.has(column)))) return { columns, object };
  const keys = table.uniqueKeys.map((key) => key.map(({ filterName }) => `"${filterName}"`).join(' and '));
  const advice = `Give its nodeId${keys.map((key) => `, or ${key}`).join('')}.`;
  throw inputError(object.path, `This does not identify a record of type ${table.typeName}. ${advice}`);
}

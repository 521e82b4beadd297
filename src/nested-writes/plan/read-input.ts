/** Reads the inputs of nested writes: the columns that they give, the operations on each relation, and keys of rows. */
import { mapInSteps } from '../../budget/turns.ts';
import { atInput, type InputPath, inputError, inputPath } from '../../errors/input-path.ts';
import type { Column, Table } from '../../model/model.ts';
import type { NestedVerb, WritableRelation } from '../../model/relations/writable-relations.ts';
import { keyOfNodeId, objectOf, parameterValue } from '../../plan/inputs.ts';
import type { ParameterValue, ValueUse } from '../../plan/plan.ts';
import { bindingAt, type InputObject, type InputValue } from '../../request/operation.ts';

/** An input object with its place. */
export interface GivenObject {
  /** Its label among the objects of the same place, and the label of the row that it belongs to. */
  readonly label: number;
  readonly parent: number;
  readonly value: InputObject;
  readonly path: InputPath;
}

/** The content of an object for a row. */
export interface GivenRow {
  readonly label: number;
  readonly parent: number;
  readonly path: InputPath;
  readonly shape: RowShape;
  /** The values of the shape's columns. */
  readonly values: readonly ParameterValue[];
  readonly related: readonly GivenRelation[];
}
export interface GivenRelation {
  readonly writable: WritableRelation;
  readonly path: InputPath;
  /** The operations by verb, without those that are null or false. */
  readonly members: ReadonlyMap<NestedVerb, InputValue>;
}

/** Columns that identify a row, with their values. */
export interface GivenKey {
  readonly columns: readonly { readonly column: Column; readonly value: ParameterValue; readonly use: ValueUse }[];
  readonly object: GivenObject;
}

/** Whether objects of an insert or update write related rows. */
export function hasRelatedRows(value: InputValue | undefined): boolean {
  if (value?.kind === 'list') return value.items.some(hasRelatedRows);
  return value?.kind === 'object' && value.entries.some(({ binding, value: item }) => binding?.kind === 'nested write' && item !== null);
}

/** Appends the objects of a list, or a single object, to those of the same place. */
export function objectsOf(
  value: InputValue | undefined,
  path: InputPath,
  many: boolean,
  parent: number,
  objects: GivenObject[] = [],
): GivenObject[] {
  if (value === undefined || value === null) return objects;
  const items = value.kind === 'list' ? value.items : [value];
  for (let index = 0; index < items.length; index += 1) {
    objects.push({ label: objects.length, parent, value: objectOf(items[index]), path: many ? inputPath(index, path) : path });
  }
  return objects;
}

/** A field of an object; null if absent. */
export function memberOf({ entries }: InputObject, name: string): InputValue {
  return entries.find((entry) => entry.name === name)?.value ?? null;
}

/** Reads the rows of one place, yielding in between. */
export function readRows(objects: readonly GivenObject[]): Generator<void, GivenRow[]> {
  const noColumns = RowShape.none();
  return mapInSteps(objects, (object) => readRow(object, noColumns));
}

/** Reads a row. `noColumns` is the empty shape that its shape is built from; rows read with the same one share shapes. */
export function readRow({ label, parent, value, path }: GivenObject, noColumns: RowShape): GivenRow {
  let shape = noColumns;
  const values: ParameterValue[] = [];
  const given: GivenRelation[] = [];
  for (const entry of value.entries) {
    const { name, value: item } = entry;
    const binding = bindingAt('write', entry);
    if (binding.kind === 'column') {
      shape = shape.with(binding.column);
      values.push(parameterValue(item));
    } else if (item !== null) given.push(readRelation(binding.relation, item, inputPath(name, path)));
  }
  const related = given.length === 0 ? none : given.filter(({ members }) => members.size > 0);
  for (const relation of related) if (fillsKey(relation)) checkFilled(shape, relation.writable, path);
  return { label, parent, path, shape, values, related };
}

const none: readonly GivenRelation[] = [];

function readRelation(writable: WritableRelation, value: InputValue, path: InputPath): GivenRelation {
  const given = objectOf(value).entries.filter((entry) => entry.value !== null);
  const members = given.filter(({ value: item }) => !(item?.kind === 'constant' && item.value === false));
  if (writable.relation.kind === 'to-one' && (members.length > 1 || given.length === 0)) {
    throw inputError(path, `The relation "${writable.relation.fieldName}" takes exactly one member, such as "connect" or "create".`);
  }
  return { writable, path, members: new Map(members.map((entry) => [entry.name as NestedVerb, entry.value])) };
}

/**
 * Throws if a relation does not allow a verb. Input types are shared by all relations to a table, so validation accepts verbs that only
 * other relations allow.
 */
export function checkVerbs({ related }: GivenRow, writing: 'insert' | 'update'): void {
  for (const { writable, members, path } of related) {
    for (const verb of members.keys()) {
      if (writable[writing].has(verb)) continue;
      const reason = writable.nulled.length === 0 && verb !== 'create' ? ': its key cannot be null, or the role may not write it' : '';
      throw inputError(inputPath(verb, path), `The relation "${writable.relation.fieldName}" has no "${verb}"${reason}.`);
    }
  }
}

/** Whether a relation sets key columns in the row itself. */
export function fillsKey({ writable, members }: GivenRelation): boolean {
  return writable.relation.holdsKey && [...members.keys()].some((verb) => verb !== 'update');
}

/** Throws if the row gives a column that the relation fills in. */
export function checkFilled({ places }: RowShape, { key, relation }: WritableRelation, path: InputPath): void {
  const twice = key.find((column) => places.has(column));
  if (!twice) return;
  const message = `The field "${twice.fieldName}" is filled by the relation "${relation.fieldName}". Leave out one of them.`;
  throw inputError(inputPath(twice.fieldName, path), message);
}

/** Reads a key. Throws unless the object gives all columns of one. */
export function readKey(object: GivenObject, table: Table): GivenKey {
  const columns: GivenKey['columns'][number][] = [];
  for (const entry of object.value.entries) {
    const { name, value } = entry;
    if (value === null) continue;
    const binding = bindingAt('key', entry);
    if (binding.kind === 'column') columns.push({ column: binding.column, value: parameterValue(value), use: 'filter' });
    else {
      const key = atInput(inputPath(name, object.path), () => keyOfNodeId(value, table, name));
      columns.push(...key.map(({ column, parameter }) => ({ column, value: parameter.value, use: parameter.encoding.kind })));
    }
  }
  const given = new Set(columns.map(({ column }) => column));
  if (!table.uniqueKeys.some((key) => key.every((column) => given.has(column))) && !table.primaryKey.every((column) => given.has(column)))
    throw inputError(object.path, `This does not identify a record of type ${table.typeName}. ${keysInWords(table)}`);
  return { columns, object };
}

function keysInWords({ uniqueKeys }: Table): string {
  const keys = uniqueKeys.map((key) => key.map(({ filterName }) => `"${filterName}"`).join(' and '));
  return `Give its nodeId${keys.map((key) => `, or ${key}`).join('')}.`;
}

/** The columns that a row gives, in order. Rows with the same columns share a shape, so that anything derived from it is computed once. */

export class RowShape {
  readonly #before: RowShape | null;
  readonly #last: Column | null;
  #longer: Map<Column, RowShape> | null = null;
  #places: ReadonlyMap<Column, number> | null = null;

  /** The shape of no columns, from which others are built. */
  static none(): RowShape {
    return new RowShape(null, null);
  }

  private constructor(before: RowShape | null, last: Column | null) {
    this.#before = before;
    this.#last = last;
  }

  /** The shape with one more column. */
  with(column: Column): RowShape {
    this.#longer ??= new Map();
    let longer = this.#longer.get(column);
    if (longer === undefined) {
      longer = new RowShape(this, column);
      this.#longer.set(column, longer);
    }
    return longer;
  }

  /** The columns with their positions. Computed on demand, because most shapes are only steps towards longer ones. */
  get places(): ReadonlyMap<Column, number> {
    if (this.#places !== null) return this.#places;
    const columns: Column[] = [];
    for (let shape: RowShape = this; shape.#before !== null; shape = shape.#before) columns.unshift(shape.#last!);
    this.#places = new Map(columns.map((column, place) => [column, place]));
    return this.#places;
  }
}

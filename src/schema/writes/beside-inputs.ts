/**
 * What inputs of tables and composite types have beside the fields of some columns, of which either is given: the bounds of ranges, and the
 * objects of JSON with a shape:
 *
 *     input StayInsertInput { during: Opaque  duringBounds: DatetimeRangeInput  details: JSON  detailsShape: StayDetailsInput … }
 */
import { type GraphQLInputFieldConfigMap, type GraphQLInputType, GraphQLList, type GraphQLNullableInputType } from 'graphql';
import type { Column, ColumnShape, Table } from '../../model/model.ts';
import { boundsName, shapeName } from '../../model/types/operators.ts';
import { bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-object-type.ts';
import type { TypeRegistry } from '../lazy/type-registry.ts';
import { rangesInput } from '../tables/range-types.ts';

interface Beside {
  readonly kind: 'bounds' | 'shape';
  readonly name: string;
  readonly type: GraphQLInputType;
}

/** The fields. A name that is taken stays what it is. */
export function besideInputs(
  registry: TypeRegistry,
  table: Table,
  columns: readonly Column[],
  others: GraphQLInputFieldConfigMap,
  at: 'write' | 'composite' = 'write',
): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  for (const column of columns) {
    const beside = besideOf(registry, table, column);
    if (beside === undefined || Object.hasOwn(others, beside.name)) continue;
    const { kind, name, type } = beside;
    fields[name] = { type, description: `Instead of \`${column.fieldName}\``, ...bindInput(at, { kind, column }) };
  }
  return fields;
}

/** The members of JSON with a shape that updates set, beside the changes of columns. */
export function memberChanges(
  registry: TypeRegistry,
  columns: readonly Column[],
  others: GraphQLInputFieldConfigMap,
): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  for (const column of columns) {
    const { shape, fieldName } = column;
    const name = shapeName(fieldName);
    const type = shape && shapeInput(shape, registry);
    if (!shape || !type || Object.hasOwn(others, name)) continue;
    const ofList = `What to append to \`${fieldName}\``;
    const description = shape.isList ? ofList : `Members of \`${fieldName}\` to set, those of objects inside one by one`;
    fields[name] = { type, description, ...bindInput('json columns', { kind: 'shape', column }) };
  }
  return fields;
}

/** Whether a column can be given in another field than its own. */
export function hasBeside(registry: TypeRegistry, table: Table, column: Column): boolean {
  return besideOf(registry, table, column) !== undefined;
}

function besideOf(registry: TypeRegistry, { additions }: Table, { type, shape, fieldName }: Column): Beside | undefined {
  const input = shape ? shapeInput(shape, registry) : undefined;
  if (input) return { kind: 'shape', name: shapeName(fieldName), type: input };
  const bounds = additions.has('ranges') ? rangesInput(registry, type) : undefined;
  return bounds && { kind: 'bounds', name: boundsName(fieldName), type: bounds };
}

/** The input of JSON with a shape; undefined if nobody writes it. */
export function shapeInput({ table, isList }: ColumnShape, registry: TypeRegistry): GraphQLNullableInputType | undefined {
  const name = table.composite?.inputName ?? '';
  if (!registry.has(name)) return undefined;
  return isList ? new GraphQLList(registry.input(name)) : registry.input(name);
}

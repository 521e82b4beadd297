/** The type of a table's rows: its columns, relations and computed fields. Also the fields of functions, computed or root fields. */
import {
  assertInterfaceType,
  type GraphQLFieldConfigArgumentMap,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLNullableOutputType,
  type GraphQLOutputType,
} from 'graphql';
import type { Column, Relation, Table } from '../../model/model.ts';
import type { SharedTypeName } from '../../model/naming/graphql-names.ts';
import type { Routine, RoutineResult } from '../../model/routine.ts';
import { isJson } from '../../model/types/named-types.ts';
import { boundsName } from '../../model/types/operators.ts';
import { bindField, bindInput } from '../bindings.ts';
import { emptyRecord, type FieldBuilders, type FieldConfig, LazyObjectType } from '../lazy/lazy-object-type.ts';
import type { TableType, TypeRegistry } from '../lazy/type-registry.ts';
import { inputTypeOf, outputTypeOf, scalarTypes } from '../value-types.ts';
import { collectionArguments } from './connection-types.ts';
import { jsonPath } from './json-types.ts';
import { lineageField } from './lineage-types.ts';
import { boundsArguments, boundsFields, boundsResult, returnsBounds, takesBounds } from './range-types.ts';
import { searchFields } from './search-types.ts';

/** The type of every readable table's rows. A table without other types has no key, and therefore no identifier. */
export const rowType: TableType = {
  has: ({ selectable }) => selectable,
  build: (table, registry, name) => {
    const hasIdentifier = registry.hasOf(table, 'Filter');
    return new LazyObjectType({
      name,
      description: table.description,
      interfaces: hasIdentifier ? [assertInterfaceType(registry.get('Node' satisfies SharedTypeName))] : [],
      builders: () => fieldBuilders(registry, table, hasIdentifier ? 'row with an identifier' : 'row'),
    });
  },
};

/**
 * Defines the types of rows as values of columns and attributes. PostgreSQL does not enforce the table's constraints there, so every
 * field may be null; and a value is none of the table's rows, though perhaps a copy of one, so it has no identifier.
 */
export function defineRowValues(registry: TypeRegistry, tables: readonly Table[]): void {
  for (const table of tables) {
    const { valueName = null } = table.composite ?? {};
    if (valueName === null || !registry.hasOf(table, 'row')) continue;
    const description = `A value with the columns of \`${table.typeName}\`, any of which may be null`;
    const builders = () => fieldBuilders(registry, table, 'value');
    registry.define(valueName, () => new LazyObjectType({ name: valueName, description, builders }));
  }
}

/** JSON that responses have as it is, such as that of domains, may be JSON's null where PostgreSQL has no null; and what is not as its shape says is null. */
function mayBeNull({ type, shape }: Column): boolean {
  if (shape !== null) return true;
  return type.kind === 'scalar' && isJson(type) && (type.isBareJson === true || type.domain !== undefined);
}

/** The model has made the names unique. Fields whose types are not in this schema are left out. */
function fieldBuilders(registry: TypeRegistry, table: Table, kind: 'row' | 'row with an identifier' | 'value'): FieldBuilders {
  const builders = new Map<string, () => FieldConfig>();
  const isValue = kind === 'value';
  if (kind === 'row with an identifier') builders.set(registry.nodeIdField, identifierField);
  for (const column of table.columns) {
    const type = column.selectable ? columnTypeOf(column, registry, table) : undefined;
    if (!type) continue;
    builders.set(column.rowFieldName, () => ({
      type: column.notNull && !isValue && !mayBeNull(column) ? new GraphQLNonNull(type) : type,
      description: column.description,
      ...(isJson(column.type) && column.shape === null && table.additions.has('json') && { args: { path: jsonPath } }),
      ...bindField('row', { kind: 'column', column }),
    }));
  }
  for (const relation of table.relations) {
    if (registry.hasOf(relation.target, 'row')) builders.set(relation.fieldName, () => relationField(registry, relation, isValue));
  }
  for (const lineage of table.lineages) {
    builders.set(lineage.fieldName, () => lineageField(registry, table, lineage, collectionArguments(registry, table)));
  }
  const computed: Routine[] = [];
  for (const routine of table.computed) {
    if (!hasField(registry, routine)) continue;
    builders.set(routine.fieldName, () => ({ ...routineField(registry, routine), ...bindField('row', { kind: 'computed', routine }) }));
    computed.push(routine);
  }
  for (const routine of computed) {
    const name = boundsName(routine.fieldName);
    if (builders.has(name) || !returnsBounds(registry, routine)) continue;
    builders.set(name, () => ({
      ...boundsRoutineField(registry, routine),
      ...bindField('row', { kind: 'computed', routine, asBounds: true }),
    }));
  }
  for (const [name, build] of boundsFields(registry, table, (other) => builders.has(other), isValue)) builders.set(name, build);
  for (const [name, build] of searchFields(registry, table)) if (!builders.has(name)) builders.set(name, build);
  return builders;
}

function columnTypeOf(
  { type, shape }: Column,
  registry: TypeRegistry,
  { additions, composite }: Table,
): GraphQLNullableOutputType | undefined {
  if (shape === null) return outputTypeOf(type, registry, additions.has('composites') && !composite?.isResult);
  const row = registry.findRow(shape.table);
  return row && shape.isList ? new GraphQLList(row) : row;
}

function identifierField(): FieldConfig {
  return {
    type: new GraphQLNonNull(GraphQLID),
    description: 'Globally Unique Record Identifier',
    ...bindField('row', { kind: 'node id' }),
  };
}

function relationField(registry: TypeRegistry, relation: Relation, isOfValue: boolean): FieldConfig {
  const { target } = relation;
  const binding = bindField('row', { kind: 'relation', relation });
  if (relation.kind === 'to-many') {
    return { type: registry.objectOf(target, 'Connection'), args: collectionArguments(registry, target), ...binding };
  }
  const type = registry.rowOf(target);
  return { type: relation.nullable || isOfValue ? type : new GraphQLNonNull(type), ...binding };
}

/** Whether all types of a function's field are in this schema. Does not build any of a table's types. */
export function hasField(registry: TypeRegistry, { result, arguments: args }: Routine): boolean {
  const hasResult =
    result.kind === 'void' ||
    (result.kind === 'value' || result.kind === 'value set'
      ? outputTypeOf(result.type, registry) !== undefined
      : registry.hasOf(result.table, 'row'));
  return hasResult && args.every(({ type }) => inputTypeOf(type, registry));
}

export function routineField(registry: TypeRegistry, routine: Routine): FieldConfig {
  const { result, description } = routine;
  const args = routineArguments(registry, routine);
  return {
    type: resultType(registry, routine),
    description,
    args: { ...args, ...pageArguments(registry, result, args) },
  };
}

/** As `routineField`, with the ranges that the function returns as objects. */
export function boundsRoutineField(registry: TypeRegistry, routine: Routine): FieldConfig {
  const plain = routineField(registry, routine);
  return boundsResult(registry, routine, plain) ?? plain;
}

function pageArguments(registry: TypeRegistry, result: RoutineResult, own: GraphQLFieldConfigArgumentMap): GraphQLFieldConfigArgumentMap {
  if (result.kind === 'rows') return collectionArguments(registry, result.table, own);
  if (result.kind !== 'value set' && result.kind !== 'row set') return {};
  return {
    first: { type: GraphQLInt, description: `Return the first \`n\` values, at most ${result.maxRows}` },
    offset: { type: GraphQLInt, description: 'Skip n values' },
  };
}

function resultType(registry: TypeRegistry, { result }: Routine): GraphQLOutputType {
  switch (result.kind) {
    case 'void':
      return scalarTypes.Opaque;
    case 'value':
      return outputTypeOf(result.type, registry)!;
    case 'value set':
      return new GraphQLList(outputTypeOf(result.type, registry)!);
    case 'row list':
    case 'row set':
      return new GraphQLList(registry.rowOf(result.table));
    case 'row':
      return registry.rowOf(result.table);
    case 'rows':
      return registry.objectOf(result.table, 'Connection');
  }
}

function routineArguments(registry: TypeRegistry, routine: Routine): GraphQLFieldConfigArgumentMap {
  const args: GraphQLFieldConfigArgumentMap = emptyRecord();
  for (const argument of routine.arguments) {
    const type = inputTypeOf(argument.type, registry)!;
    args[argument.argumentName] = {
      type: argument.required && !takesBounds(registry, routine, argument) ? new GraphQLNonNull(type) : type,
      ...(argument.defaultValue !== undefined && { default: { value: argument.defaultValue } }),
      ...bindInput('routine', { kind: 'argument', argument }),
    };
  }
  return { ...args, ...boundsArguments(registry, routine, args) };
}

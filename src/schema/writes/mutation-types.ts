/** The input types, response types and root fields of inserts, updates and deletes. */
import { type GraphQLFieldConfigMap, type GraphQLInputFieldConfigMap, GraphQLInt, GraphQLList, GraphQLNonNull } from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import { rootTypeNames, type TableField } from '../../model/naming/graphql-names.ts';
import { isFilledByRelation } from '../../model/relations/writable-relations.ts';
import { bindField } from '../bindings.ts';
import type { FieldConfig } from '../lazy/lazy-object-type.ts';
import { inputType, objectType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { edgesOf } from '../tables/connection-types.ts';
import { orderArgument } from '../tables/order-types.ts';
import { columnInputs, inputTypeOf } from '../value-types.ts';
import { besideInputs, hasBeside } from './beside-inputs.ts';
import { nestedWriteFields } from './nested-write-types.ts';
import { incrementArgument, jsonArgument, onConflictArgument, restriction } from './write-arguments.ts';

export const mutationTypes = {
  InsertInput: inputType(canInsert, insertFields),
  InsertResponse: objectType(canInsert, responseFields),
  UpdateInput: inputType(canUpdate, updateFields),
  UpdateResponse: objectType(canUpdate, responseFields),
  DeleteResponse: objectType(({ deletable }) => deletable, responseFields),
} as const satisfies Partial<TableTypes>;

/** A table's fields of `Mutation`, each built on demand. */
export const mutationFields: readonly {
  readonly field: TableField;
  readonly has: (table: Table, registry: TypeRegistry) => boolean;
  readonly build: (registry: TypeRegistry, table: Table) => FieldConfig;
}[] = [
  { field: 'insert', has: canInsert, build: insertField },
  { field: 'update', has: canUpdate, build: updateField },
  { field: 'delete', has: ({ deletable }) => deletable, build: deleteField },
];

function canInsert(table: Table, registry: TypeRegistry): boolean {
  return table.insertable && table.columns.some((column) => column.insertable && inputTypeOf(column.type, registry));
}

function canUpdate(table: Table, registry: TypeRegistry): boolean {
  return table.updatable && table.columns.some((column) => column.updatable && inputTypeOf(column.type, registry));
}

function insertFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const insertable = table.columns.filter((column) => column.insertable);
  const typeOf = (column: Column) => {
    const type = inputTypeOf(column.type, registry);
    return type && column.required && !isFilledByRelation(table, column) && !hasBeside(registry, table, column)
      ? new GraphQLNonNull(type)
      : type;
  };
  const fields = { ...columnInputs('write', insertable, 'fieldName', typeOf), ...nestedWriteFields(registry, table, 'Insert') };
  return { ...fields, ...besideInputs(registry, table, insertable, fields) };
}

function updateFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const updatable = table.columns.filter((column) => column.updatable);
  const columns = columnInputs('write', updatable, 'fieldName', ({ type }) => inputTypeOf(type, registry));
  const fields = { ...columns, ...nestedWriteFields(registry, table, 'Update') };
  return { ...fields, ...besideInputs(registry, table, updatable, fields) };
}

function responseFields(registry: TypeRegistry, table: Table): GraphQLFieldConfigMap<unknown, unknown> {
  return {
    affectedCount: {
      type: new GraphQLNonNull(GraphQLInt),
      description: 'Count of the records impacted by the mutation',
      ...bindField('response', { kind: 'affected count' }),
    },
    ...(table.selectable && {
      records: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(registry.rowOf(table)))),
        description: 'Array of records impacted by the mutation',
        ...bindField('response', { kind: 'records' }),
      },
    }),
    // For clients that add edges to a connection in their cache (Relay's `@appendEdge`).
    ...(table.selectable &&
      table.additions.has('writtenEdges') && {
        edges: {
          type: edgesOf(registry, table),
          description: 'The records impacted by the mutation, as edges of their collection',
          args: { ...orderArgument(registry, table, 'Sort order of the collection that the edges are for') },
          ...bindField('response', { kind: 'edges' }),
        },
      }),
    ...(table.additions.has('queryInResponses') && {
      query: {
        type: new GraphQLNonNull(registry.object(rootTypeNames.query)),
        description: 'Reads data after the mutation, in the same transaction',
        ...bindField('response', { kind: 'query' }),
      },
    }),
  };
}

function insertField(registry: TypeRegistry, table: Table): FieldConfig {
  const { typeName } = table;
  return {
    type: registry.objectOf(table, 'InsertResponse'),
    description: `Adds one or more \`${typeName}\` records to the collection`,
    args: {
      objects: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(registry.inputOf(table, 'InsertInput')))) },
      ...onConflictArgument(registry, table),
    },
    ...bindField('mutation', { kind: 'insert', table }),
  };
}

function updateField(registry: TypeRegistry, table: Table): FieldConfig {
  const { typeName } = table;
  return {
    type: new GraphQLNonNull(registry.objectOf(table, 'UpdateResponse')),
    description: `Updates zero or more records in the \`${typeName}\` collection`,
    args: {
      set: {
        type: new GraphQLNonNull(registry.inputOf(table, 'UpdateInput')),
        description: 'Fields that are set will be updated for all records matching the `filter`',
      },
      ...incrementArgument(registry, table),
      ...jsonArgument(registry, table),
      ...restriction(registry, table),
    },
    ...bindField('mutation', { kind: 'update', table }),
  };
}

function deleteField(registry: TypeRegistry, table: Table): FieldConfig {
  const { typeName } = table;
  return {
    type: new GraphQLNonNull(registry.objectOf(table, 'DeleteResponse')),
    description: `Deletes zero or more records from the \`${typeName}\` collection`,
    args: restriction(registry, table),
    ...bindField('mutation', { kind: 'delete', table }),
  };
}

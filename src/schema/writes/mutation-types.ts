/** The input types, response types and root fields of inserts, updates and deletes. */
import {
  type GraphQLFieldConfig,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import { rootTypeNames, type TableField } from '../../model/naming/graphql-names.ts';
import { isFilledByRelation } from '../../model/relations/writable-relations.ts';
import { bindField, bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-fields.ts';
import type { TableTypes, TypeRegistry } from '../lazy/type-registry.ts';
import { writtenEdgesField } from '../tables/connection-types.ts';
import { inputTypeOf, isInputValue } from '../value-types.ts';
import { nestedWriteFields } from './nested-write-types.ts';
import { incrementArgument, onConflictArgument, restriction } from './write-arguments.ts';

type Field = GraphQLFieldConfig<unknown, unknown>;

type Writing = 'Insert' | 'Update';

/** The input and response types of a table's mutations. */
export const mutationTypes = {
  InsertInput: { has: canInsert, build: (table, registry, name) => inputType(table, registry, name, 'Insert') },
  InsertResponse: { has: canInsert, build: responseType },
  UpdateInput: { has: canUpdate, build: (table, registry, name) => inputType(table, registry, name, 'Update') },
  UpdateResponse: { has: canUpdate, build: responseType },
  DeleteResponse: { has: ({ deletable }) => deletable, build: responseType },
} as const satisfies Partial<TableTypes>;

/** A table's fields of `Mutation`, each built on demand. */
export const mutationFields: readonly {
  readonly field: TableField;
  readonly has: (table: Table, registry: TypeRegistry) => boolean;
  readonly build: (registry: TypeRegistry, table: Table) => Field;
}[] = [
  { field: 'insert', has: canInsert, build: insertField },
  { field: 'update', has: canUpdate, build: updateField },
  { field: 'delete', has: ({ deletable }) => deletable, build: deleteField },
];

function canInsert(table: Table, registry: TypeRegistry): boolean {
  return table.insertable && hasInput(table, registry, isInsertable);
}

function canUpdate(table: Table, registry: TypeRegistry): boolean {
  return table.updatable && hasInput(table, registry, isUpdatable);
}

function hasInput({ columns }: Table, registry: TypeRegistry, isWritable: (column: Column) => boolean): boolean {
  return columns.some((column) => isWritable(column) && isInputValue(column.type) && inputTypeOf(column.type, registry) !== undefined);
}

function isInsertable({ insertable }: Column): boolean {
  return insertable;
}

function isUpdatable({ updatable }: Column): boolean {
  return updatable;
}

function inputType(table: Table, registry: TypeRegistry, name: string, verb: Writing): GraphQLInputObjectType {
  const isWritable = verb === 'Insert' ? isInsertable : isUpdatable;
  const fields = () => {
    const columns: GraphQLInputFieldConfigMap = emptyRecord();
    for (const column of table.columns) {
      const type = isWritable(column) && isInputValue(column.type) ? inputTypeOf(column.type, registry) : undefined;
      const isRequired = verb === 'Insert' && column.required && !isFilledByRelation(table, column);
      if (type)
        columns[column.fieldName] = {
          type: isRequired ? new GraphQLNonNull(type) : type,
          ...bindInput('write', { kind: 'column', column }),
        };
    }
    return { ...columns, ...nestedWriteFields(registry, table, verb) };
  };
  return new GraphQLInputObjectType({ name, fields });
}

function responseType(table: Table, registry: TypeRegistry, name: string): GraphQLObjectType {
  return new GraphQLObjectType({
    name,
    fields: () => ({
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
      ...(table.selectable && table.additions.has('writtenEdges') && { edges: writtenEdgesField(registry, table) }),
      ...(table.additions.has('queryInResponses') && {
        query: {
          type: new GraphQLNonNull(registry.object(rootTypeNames.query)),
          description: 'Reads data after the mutation, in the same transaction',
          ...bindField('response', { kind: 'query' }),
        },
      }),
    }),
  });
}

function insertField(registry: TypeRegistry, table: Table): Field {
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

function updateField(registry: TypeRegistry, table: Table): Field {
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
      ...restriction(registry, table),
    },
    ...bindField('mutation', { kind: 'update', table }),
  };
}

function deleteField(registry: TypeRegistry, table: Table): Field {
  const { typeName } = table;
  return {
    type: new GraphQLNonNull(registry.objectOf(table, 'DeleteResponse')),
    description: `Deletes zero or more records from the \`${typeName}\` collection`,
    args: restriction(registry, table),
    ...bindField('mutation', { kind: 'delete', table }),
  };
}

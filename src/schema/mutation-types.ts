/** The input types, response types and root fields for inserting into, updating and deleting from a table. */
import {
  type GraphQLFieldConfig,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql';
import { tableFieldName, tableTypeName } from '../model/graphql-names.ts';
import type { Column, Table } from '../model/model.ts';
import { isFilledByRelation } from '../model/writable-relations.ts';
import { bindField, bindInput } from './bindings.ts';
import { emptyRecord } from './empty-record.ts';
import { defineIncrementInput, incrementArgument } from './increment-types.ts';
import { nestedWriteFields } from './nested-write-types.ts';
import { defineOnConflictTypes, onConflictArgument } from './on-conflict-types.ts';
import { restriction } from './restriction.ts';
import type { TypeRegistry } from './type-registry.ts';
import { inputTypeOf, isInputValue } from './types-of-values.ts';
import { writtenEdgesField } from './written-edges.ts';

type Field = GraphQLFieldConfig<unknown, unknown>;

/** Defines the mutation types of a table and returns its fields of `Mutation`, each built on demand. */
export function defineMutationTypes(registry: TypeRegistry, table: Table): ReadonlyMap<string, () => Field> {
  const fields = new Map<string, () => Field>();
  const can = (privilege: 'insertable' | 'updatable') =>
    table[privilege] &&
    table.columns.some((column) => column[privilege] && isInputValue(column.type) && inputTypeOf(column.type, registry));
  if (can('insertable')) {
    defineInput(registry, table, 'Insert', (column) => column.insertable);
    defineOnConflictTypes(registry, table);
    defineResponse(registry, table, 'Insert');
    fields.set(tableFieldName(table, 'insert'), () => insertField(registry, table));
  }
  if (can('updatable')) {
    defineInput(registry, table, 'Update', (column) => column.updatable);
    defineIncrementInput(registry, table);
    defineResponse(registry, table, 'Update');
    fields.set(tableFieldName(table, 'update'), () => updateField(registry, table));
  }
  if (table.deletable) {
    defineResponse(registry, table, 'Delete');
    fields.set(tableFieldName(table, 'delete'), () => deleteField(registry, table));
  }
  return fields;
}

function defineInput(registry: TypeRegistry, table: Table, verb: 'Insert' | 'Update', isWritable: (column: Column) => boolean): void {
  const name = tableTypeName(table, `${verb}Input`);
  const fields = () => {
    const columns: GraphQLInputFieldConfigMap = emptyRecord();
    for (const column of table.columns) {
      const type = isWritable(column) && isInputValue(column.type) ? inputTypeOf(column.type, registry) : undefined;
      const isRequired = verb === 'Insert' && column.required && !isFilledByRelation(table, column);
      if (type)
        columns[column.fieldName] = { type: isRequired ? new GraphQLNonNull(type) : type, ...bindInput({ kind: 'column', column }) };
    }
    return { ...columns, ...nestedWriteFields(registry, table, verb) };
  };
  registry.define(name, () => new GraphQLInputObjectType({ name, fields }));
}

function defineResponse(registry: TypeRegistry, table: Table, verb: 'Insert' | 'Update' | 'Delete'): void {
  const name = tableTypeName(table, `${verb}Response`);
  registry.define(
    name,
    () =>
      new GraphQLObjectType({
        name,
        fields: () => ({
          affectedCount: {
            type: new GraphQLNonNull(GraphQLInt),
            description: 'Count of the records impacted by the mutation',
            ...bindField({ kind: 'affected count' }),
          },
          records: {
            type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(registry.object(table.typeName)))),
            description: 'Array of records impacted by the mutation',
            ...bindField({ kind: 'records' }),
          },
          ...(table.additions.has('writtenEdges') && { edges: writtenEdgesField(registry, table) }),
        }),
      }),
  );
}

function insertField(registry: TypeRegistry, table: Table): Field {
  const { typeName } = table;
  return {
    type: registry.object(tableTypeName(table, 'InsertResponse')),
    description: `Adds one or more \`${typeName}\` records to the collection`,
    args: {
      objects: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(registry.input(tableTypeName(table, 'InsertInput'))))) },
      ...onConflictArgument(registry, table),
    },
    ...bindField({ kind: 'insert', table }),
  };
}

function updateField(registry: TypeRegistry, table: Table): Field {
  const { typeName } = table;
  return {
    type: new GraphQLNonNull(registry.object(tableTypeName(table, 'UpdateResponse'))),
    description: `Updates zero or more records in the \`${typeName}\` collection`,
    args: {
      set: {
        type: new GraphQLNonNull(registry.input(tableTypeName(table, 'UpdateInput'))),
        description: 'Fields that are set will be updated for all records matching the `filter`',
      },
      ...incrementArgument(registry, table),
      ...restriction(registry, table),
    },
    ...bindField({ kind: 'update', table }),
  };
}

function deleteField(registry: TypeRegistry, table: Table): Field {
  const { typeName } = table;
  return {
    type: new GraphQLNonNull(registry.object(tableTypeName(table, 'DeleteResponse'))),
    description: `Deletes zero or more records from the \`${typeName}\` collection`,
    args: restriction(registry, table),
    ...bindField({ kind: 'delete', table }),
  };
}

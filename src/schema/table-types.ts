/**
 * The types of one table's rows: the row type, its connection and edge, the filter and the ordering, and the arguments of a collection.
 */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLID,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { filterTypeName, type SharedTypeName, tableTypeName } from '../model/graphql-names.ts';
import type { Column, Relation, Routine, Table } from '../model/model.ts';
import { bindField, bindInput } from './bindings.ts';
import { collectionArguments } from './collection-arguments.ts';
import { emptyRecord } from './empty-record.ts';
import { filterTypeOf, idFilter } from './filter-types.ts';
import { groupsField } from './group-types.ts';
import { relationFilterFields } from './relation-filter-types.ts';
import { relationOrderFields } from './relation-order-types.ts';
import { routineFieldConfig } from './routine-fields.ts';
import type { TypeRegistry } from './type-registry.ts';
import { outputTypeOf } from './types-of-values.ts';

type Fields = GraphQLFieldConfigMap<unknown, unknown>;

export const orderByDirection = new GraphQLEnumType({
  name: 'OrderByDirection' satisfies SharedTypeName,
  description: 'Defines a per-field sorting order',
  values: {
    AscNullsFirst: { description: 'Ascending order, nulls first' },
    AscNullsLast: { description: 'Ascending order, nulls last' },
    DescNullsFirst: { description: 'Descending order, nulls first' },
    DescNullsLast: { description: 'Descending order, nulls last' },
  },
});

export const pageInfo = new GraphQLObjectType({
  name: 'PageInfo' satisfies SharedTypeName,
  fields: {
    endCursor: { type: GraphQLString, ...bindField({ kind: 'end cursor' }) },
    hasNextPage: { type: new GraphQLNonNull(GraphQLBoolean), ...bindField({ kind: 'has next page' }) },
    hasPreviousPage: { type: new GraphQLNonNull(GraphQLBoolean), ...bindField({ kind: 'has previous page' }) },
    startCursor: { type: GraphQLString, ...bindField({ kind: 'start cursor' }) },
  },
});

/** The interface of rows that have a global identifier, whose field has this name. */
export function nodeInterface(nodeIdField: string): GraphQLInterfaceType {
  const name: SharedTypeName = 'Node';
  return new GraphQLInterfaceType({
    name,
    fields: { [nodeIdField]: { type: new GraphQLNonNull(GraphQLID), description: 'Retrieves a record by `ID`' } },
  });
}

/** Defines the types that exist for every table that can be selected from. `node` is their interface. */
export function defineTableTypes(registry: TypeRegistry, table: Table, node: GraphQLInterfaceType, nodeIdField: string): void {
  registry.define(table.typeName, () => rowType(registry, table, node, nodeIdField));
  registry.define(tableTypeName(table, 'Connection'), () => connectionType(registry, table));
  registry.define(tableTypeName(table, 'Edge'), () => edgeType(registry, table));
  registry.define(tableTypeName(table, 'Filter'), () => filterType(registry, table, nodeIdField));
  if (table.columns.some(isOrderKey)) registry.define(tableTypeName(table, 'OrderBy'), () => orderByType(registry, table));
}

/** Defines the type of rows that have no key, and so no other types. */
export function defineRowType(registry: TypeRegistry, table: Table): void {
  registry.define(table.typeName, () => {
    const { typeName: name, description } = table;
    return new GraphQLObjectType({ name, description, fields: () => rowFields(registry, table) });
  });
}

function isOrderKey(column: Column): boolean {
  return column.selectable && column.orderable;
}

function rowType(registry: TypeRegistry, table: Table, node: GraphQLInterfaceType, nodeIdField: string): GraphQLObjectType {
  return new GraphQLObjectType({
    name: table.typeName,
    description: table.description,
    interfaces: [node],
    fields: () => ({
      [nodeIdField]: {
        type: new GraphQLNonNull(GraphQLID),
        description: 'Globally Unique Record Identifier',
        ...bindField({ kind: 'node id', table }),
      },
      ...rowFields(registry, table),
    }),
  });
}

/** The model gives each of them a unique name. */
function rowFields(registry: TypeRegistry, table: Table): Fields {
  const fields: Fields = emptyRecord();
  for (const column of table.columns) if (column.selectable) addField(fields, column.rowFieldName, columnField(registry, column));
  for (const relation of table.relations) addField(fields, relation.fieldName, relationField(registry, relation));
  for (const routine of table.computed) addField(fields, routine.fieldName, computedField(registry, routine));
  return fields;
}

function addField(fields: Fields, name: string, config: GraphQLFieldConfig<unknown, unknown> | undefined): void {
  if (config) fields[name] = config;
}

function columnField(registry: TypeRegistry, column: Column): GraphQLFieldConfig<unknown, unknown> | undefined {
  const type = outputTypeOf(column.type, registry);
  return (
    type && {
      type: column.notNull ? new GraphQLNonNull(type) : type,
      description: column.description,
      ...bindField({ kind: 'column', column }),
    }
  );
}

function relationField(registry: TypeRegistry, relation: Relation): GraphQLFieldConfig<unknown, unknown> | undefined {
  const { target } = relation;
  if (!registry.has(target.typeName)) return undefined;
  const binding = bindField({ kind: 'relation', relation });
  if (relation.kind === 'to-many') {
    return { type: registry.object(tableTypeName(target, 'Connection')), args: collectionArguments(registry, target), ...binding };
  }
  const type = registry.object(target.typeName);
  return { type: relation.nullable ? type : new GraphQLNonNull(type), ...binding };
}

function computedField(registry: TypeRegistry, routine: Routine): GraphQLFieldConfig<unknown, unknown> | undefined {
  return routineFieldConfig(registry, routine, { kind: 'computed', routine });
}

function connectionType(registry: TypeRegistry, table: Table): GraphQLObjectType {
  const { typeName } = table;
  return new GraphQLObjectType({
    name: tableTypeName(table, 'Connection'),
    fields: () => ({
      edges: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(registry.object(tableTypeName(table, 'Edge'))))),
        ...bindField({ kind: 'edges' }),
      },
      pageInfo: { type: new GraphQLNonNull(pageInfo), ...bindField({ kind: 'page info' }) },
      ...(table.totalCount && {
        totalCount: {
          type: new GraphQLNonNull(GraphQLInt),
          description: 'The total number of records matching the `filter` criteria',
          ...bindField({ kind: 'total count' }),
        },
      }),
      ...(table.aggregate && {
        aggregate: {
          type: registry.object(tableTypeName(table, 'Aggregate')),
          description: `Aggregate functions calculated on the collection of \`${typeName}\``,
          ...bindField({ kind: 'aggregate' }),
        },
      }),
      ...groupsField(registry, table),
    }),
  });
}

function edgeType(registry: TypeRegistry, table: Table): GraphQLObjectType {
  return new GraphQLObjectType({
    name: tableTypeName(table, 'Edge'),
    fields: () => ({
      cursor: { type: new GraphQLNonNull(GraphQLString), ...bindField({ kind: 'cursor' }) },
      node: { type: new GraphQLNonNull(registry.object(table.typeName)), ...bindField({ kind: 'edge node' }) },
    }),
  });
}

function filterType(registry: TypeRegistry, table: Table, nodeIdField: string): GraphQLInputObjectType {
  const name = tableTypeName(table, 'Filter');
  return new GraphQLInputObjectType({
    name,
    fields: () => filterFields(registry, table, nodeIdField),
  });
}

/** The fields of a table's filter. */
export function filterFields(registry: TypeRegistry, table: Table, nodeIdField: string): GraphQLInputFieldConfigMap {
  const self = registry.input(tableTypeName(table, 'Filter'));
  const list = new GraphQLList(new GraphQLNonNull(self));
  const columns: GraphQLInputFieldConfigMap = emptyRecord();
  for (const column of table.columns) {
    const type = column.selectable ? filterTypeOf(column.type, (enumName) => filterOfEnum(registry, enumName)) : undefined;
    if (type) columns[column.filterName] = { type, ...bindInput({ kind: 'column', column }) };
  }
  // A column with such a name replaces the combinator, as in pg_graphql.
  return {
    ...columns,
    [nodeIdField]: { type: idFilter, ...bindInput({ kind: 'node id' }) },
    and: {
      type: list,
      description: 'Returns true only if all its inner filters are true, otherwise returns false',
      ...bindInput({ kind: 'and' }),
    },
    or: {
      type: list,
      description: 'Returns true if at least one of its inner filters is true, otherwise returns false',
      ...bindInput({ kind: 'or' }),
    },
    not: { type: self, description: 'Negates a filter', ...bindInput({ kind: 'not' }) },
    ...columns,
    ...relationFilterFields(registry, table, nodeIdField),
  };
}

function filterOfEnum(registry: TypeRegistry, typeName: string): GraphQLInputObjectType | undefined {
  const name = filterTypeName(typeName);
  return registry.has(name) ? registry.input(name) : undefined;
}

function orderByType(registry: TypeRegistry, table: Table): GraphQLInputObjectType {
  const fields = () => {
    const columns: GraphQLInputFieldConfigMap = emptyRecord();
    for (const column of table.columns) {
      if (isOrderKey(column)) columns[column.fieldName] = { type: orderByDirection, ...bindInput({ kind: 'column', column }) };
    }
    return Object.assign(columns, relationOrderFields(registry, table, orderByDirection));
  };
  return new GraphQLInputObjectType({ name: tableTypeName(table, 'OrderBy'), fields });
}

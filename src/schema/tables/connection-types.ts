import {
  GraphQLBoolean,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
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
import type { Column, Table } from '../../model/model.ts';
import { filterTypeName, type SharedTypeName } from '../../model/naming/graphql-names.ts';
import { bindField, bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-fields.ts';
import type { TableTypes, TypeRegistry } from '../lazy/type-registry.ts';
import { cursorScalar, orderByDirection } from '../value-types.ts';
import { filterTypeOf, idFilter, relationFilterFields, relationFilterTypes } from './filter-types.ts';
import { groupsField } from './group-types.ts';
import { relationOrderFields } from './order-types.ts';

/** The types for reading a table: the connection and edge of its rows, the filter and the order. */

export const pageInfo = new GraphQLObjectType({
  name: 'PageInfo' satisfies SharedTypeName,
  fields: {
    endCursor: { type: GraphQLString, ...bindField('page info', { kind: 'end cursor' }) },
    hasNextPage: { type: new GraphQLNonNull(GraphQLBoolean), ...bindField('page info', { kind: 'has next page' }) },
    hasPreviousPage: { type: new GraphQLNonNull(GraphQLBoolean), ...bindField('page info', { kind: 'has previous page' }) },
    startCursor: { type: GraphQLString, ...bindField('page info', { kind: 'start cursor' }) },
  },
});

/** The interface `Node` of rows with a global identifier; `nodeIdField` is the name of its field. */
export function nodeInterface(nodeIdField: string): GraphQLInterfaceType {
  const name: SharedTypeName = 'Node';
  return new GraphQLInterfaceType({
    name,
    fields: { [nodeIdField]: { type: new GraphQLNonNull(GraphQLID), description: 'Retrieves a record by `ID`' } },
  });
}

/**
 * The connection, edge and filter types of every table, the orders of tables with orderable columns, and the filters for tables that others
 * refer to.
 */
export const collectionTypes = {
  Connection: { has: () => true, build: connectionType },
  Edge: { has: () => true, build: edgeType },
  Filter: { has: () => true, build: filterType },
  OrderBy: { has: ({ columns }) => columns.some(isOrderKey), build: orderByType },
  ...relationFilterTypes(filterFields),
} as const satisfies Partial<TableTypes>;

function isOrderKey(column: Column): boolean {
  return column.selectable && column.orderable;
}

function connectionType(table: Table, registry: TypeRegistry, name: string): GraphQLObjectType {
  const { typeName } = table;
  return new GraphQLObjectType({
    name,
    fields: () => ({
      edges: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(registry.objectOf(table, 'Edge')))),
        ...bindField('connection', { kind: 'edges' }),
      },
      pageInfo: { type: new GraphQLNonNull(pageInfo), ...bindField('connection', { kind: 'page info' }) },
      ...(table.totalCount && {
        totalCount: {
          type: new GraphQLNonNull(GraphQLInt),
          description: 'The total number of records matching the `filter` criteria',
          ...bindField('connection', { kind: 'total count' }),
        },
      }),
      ...(table.aggregate && {
        aggregate: {
          type: registry.objectOf(table, 'Aggregate'),
          description: `Aggregate functions calculated on the collection of \`${typeName}\``,
          ...bindField('connection', { kind: 'aggregate' }),
        },
      }),
      ...groupsField(registry, table),
    }),
  });
}

function edgeType(table: Table, registry: TypeRegistry, name: string): GraphQLObjectType {
  return new GraphQLObjectType({
    name,
    fields: () => ({
      cursor: { type: new GraphQLNonNull(GraphQLString), ...bindField('edge', { kind: 'cursor' }) },
      node: { type: new GraphQLNonNull(registry.rowOf(table)), ...bindField('edge', { kind: 'node' }) },
    }),
  });
}

function filterType(table: Table, registry: TypeRegistry, name: string): GraphQLInputObjectType {
  return new GraphQLInputObjectType({ name, fields: () => filterFields(registry, table) });
}

export function filterFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const self = registry.inputOf(table, 'Filter');
  const list = new GraphQLList(new GraphQLNonNull(self));
  const columns: GraphQLInputFieldConfigMap = emptyRecord();
  for (const column of table.columns) {
    const type =
      column.selectable && column.comparable ? filterTypeOf(column.type, (enumName) => filterOfEnum(registry, enumName)) : undefined;
    if (type) columns[column.filterName] = { type, ...bindInput('filter', { kind: 'column', column }) };
  }
  // The order of keys is pg_graphql's. A column with the name of a combinator replaces it.
  return {
    ...columns,
    [registry.nodeIdField]: { type: idFilter, ...bindInput('filter', { kind: 'node id' }) },
    and: {
      type: list,
      description: 'Returns true only if all its inner filters are true, otherwise returns false',
      ...bindInput('filter', { kind: 'and' }),
    },
    or: {
      type: list,
      description: 'Returns true if at least one of its inner filters is true, otherwise returns false',
      ...bindInput('filter', { kind: 'or' }),
    },
    not: { type: self, description: 'Negates a filter', ...bindInput('filter', { kind: 'not' }) },
    ...columns,
    ...relationFilterFields(registry, table),
  };
}

function filterOfEnum(registry: TypeRegistry, typeName: string): GraphQLInputObjectType | undefined {
  const name = filterTypeName(typeName);
  return registry.has(name) ? registry.input(name) : undefined;
}

function orderByType(table: Table, registry: TypeRegistry, name: string): GraphQLInputObjectType {
  const fields = () => {
    const columns: GraphQLInputFieldConfigMap = emptyRecord();
    for (const column of table.columns) {
      if (isOrderKey(column)) columns[column.fieldName] = { type: orderByDirection, ...bindInput('order', { kind: 'column', column }) };
    }
    return Object.assign(columns, relationOrderFields(registry, table));
  };
  return new GraphQLInputObjectType({ name, fields });
}

/** The arguments that page, filter and order a collection. */

export function collectionArguments(registry: TypeRegistry, table: Table): GraphQLFieldConfigArgumentMap {
  return {
    first: { type: GraphQLInt, description: 'Query the first `n` records in the collection' },
    last: { type: GraphQLInt, description: 'Query the last `n` records in the collection' },
    before: { type: cursorScalar, description: 'Query values in the collection before the provided cursor' },
    after: { type: cursorScalar, description: 'Query values in the collection after the provided cursor' },
    offset: {
      type: GraphQLInt,
      description: 'Skip n values from the after cursor. Alternative to cursor pagination. Backward pagination not supported.',
    },
    filter: {
      type: registry.inputOf(table, 'Filter'),
      description: 'Filters to apply to the results set when querying from the collection',
    },
    ...(registry.hasOf(table, 'OrderBy') && {
      orderBy: {
        type: new GraphQLList(new GraphQLNonNull(registry.inputOf(table, 'OrderBy'))),
        description: 'Sort order to apply to the collection',
      },
    }),
  };
}

/**
 * The field `edges` of mutation responses: the written records as edges of their collection, for clients that add them to a connection in
 * their cache (Relay's `@appendEdge` and `@prependEdge`). An addition to pg_graphql's schema.
 */

/** The field. Its argument `orderBy` is that of the collection that the cursors belong to. */
export function writtenEdgesField(registry: TypeRegistry, table: Table): GraphQLFieldConfig<unknown, unknown> {
  return {
    type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(registry.objectOf(table, 'Edge')))),
    description: 'The records impacted by the mutation, as edges of their collection',
    args: {
      ...(registry.hasOf(table, 'OrderBy') && {
        orderBy: {
          type: new GraphQLList(new GraphQLNonNull(registry.inputOf(table, 'OrderBy'))),
          description: 'Sort order of the collection that the edges are for',
        },
      }),
    },
    ...bindField('response', { kind: 'edges' }),
  };
}

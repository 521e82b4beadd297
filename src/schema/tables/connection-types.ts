/** The types for reading a table: the connection and edge of its rows, with the arguments of a collection, and `Node`. */
import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import type { Table } from '../../model/model.ts';
import type { SharedTypeName } from '../../model/naming/graphql-names.ts';
import { bindField } from '../bindings.ts';
import { objectType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { cursorScalar } from '../value-types.ts';
import { fuseArgument, scoreField } from './fusion-types.ts';
import { groupsField } from './group-types.ts';
import { depthField } from './lineage-types.ts';
import { distanceField, nearestArgument } from './nearest-types.ts';
import { distinctArgument, orderArgument } from './order-types.ts';
import { searchArgument } from './search-types.ts';

type Fields = GraphQLFieldConfigMap<unknown, unknown>;

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

export const connectionTypes = {
  Connection: objectType(() => true, connectionFields),
  Edge: objectType(() => true, edgeFields),
} as const satisfies Partial<TableTypes>;

function connectionFields(registry: TypeRegistry, table: Table): Fields {
  return {
    edges: { type: edgesOf(registry, table), ...bindField('connection', { kind: 'edges' }) },
    pageInfo: { type: new GraphQLNonNull(pageInfo), ...bindField('connection', { kind: 'page info' }) },
    ...(table.totalCount && {
      totalCount: {
        type: new GraphQLNonNull(GraphQLInt),
        description: 'The total number of records matching the `filter` criteria',
        args: countArguments(table),
        ...bindField('connection', { kind: 'total count' }),
      },
    }),
    ...(table.aggregate && {
      aggregate: {
        type: registry.objectOf(table, 'Aggregate'),
        description: `Aggregate functions calculated on the collection of \`${table.typeName}\``,
        ...bindField('connection', { kind: 'aggregate' }),
      },
    }),
    ...groupsField(registry, table),
  };
}

function countArguments({ additions }: Table): GraphQLFieldConfigArgumentMap {
  if (!additions.has('estimatedCounts')) return {};
  const description = "Whether the number must be exact. If not, it is PostgreSQL's estimate for a whole table that no policy restricts";
  return { exact: { type: GraphQLBoolean, default: { value: true }, description } };
}

function edgeFields(registry: TypeRegistry, table: Table): Fields {
  return {
    cursor: { type: new GraphQLNonNull(GraphQLString), ...bindField('edge', { kind: 'cursor' }) },
    node: { type: new GraphQLNonNull(registry.rowOf(table)), ...bindField('edge', { kind: 'node' }) },
    ...distanceField(registry, table),
    ...scoreField(registry, table),
    ...depthField(table),
  };
}

export function edgesOf(registry: TypeRegistry, table: Table) {
  return new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(registry.objectOf(table, 'Edge'))));
}

export function streamArguments(registry: TypeRegistry, table: Table): GraphQLFieldConfigArgumentMap {
  return {
    first: { type: GraphQLInt, description: 'At most `n` records in one answer' },
    after: {
      type: cursorScalar,
      description: 'Begin after this cursor, such as that of the last record received; at the start without one',
    },
    filter: { type: registry.inputOf(table, 'Filter'), description: 'Filters to apply to the records' },
    ...orderArgument(registry, table, 'Order of the records; by the primary key without one'),
  };
}

/** `others`: the arguments that a field has besides, whose names additions leave to them. */
export function collectionArguments(
  registry: TypeRegistry,
  table: Table,
  others: GraphQLFieldConfigArgumentMap = {},
): GraphQLFieldConfigArgumentMap {
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
    ...searchArgument(registry, table, others),
    ...orderArgument(registry, table, 'Sort order to apply to the collection'),
    ...nearestArgument(registry, table, others),
    ...fuseArgument(registry, table, others),
    ...distinctArgument(registry, table, others),
  };
}

/**
 * The field `edges` in the response of a mutation: the records as edges of their collection, for clients that add them to a connection that they hold
 * (Relay's `@appendEdge` and `@prependEdge`). An addition to pg_graphql's schema.
 */
import { type GraphQLFieldConfig, GraphQLList, GraphQLNonNull } from 'graphql';
import { tableTypeName } from '../model/graphql-names.ts';
import type { Table } from '../model/model.ts';
import { bindField } from './bindings.ts';
import type { TypeRegistry } from './type-registry.ts';

/** The field. Its `orderBy` is the one of the collection that the cursors are for. */
export function writtenEdgesField(registry: TypeRegistry, table: Table): GraphQLFieldConfig<unknown, unknown> {
  const orderBy = tableTypeName(table, 'OrderBy');
  return {
    type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(registry.object(tableTypeName(table, 'Edge'))))),
    description: 'The records impacted by the mutation, as edges of their collection',
    args: {
      ...(registry.has(orderBy) && {
        orderBy: {
          type: new GraphQLList(new GraphQLNonNull(registry.input(orderBy))),
          description: 'Sort order of the collection that the edges are for',
        },
      }),
    },
    ...bindField({ kind: 'edges' }),
  };
}

/**
 * The field `edges` of mutation responses: the written records as edges of their collection, for clients that add them to a connection in
 * their cache (Relay's `@appendEdge` and `@prependEdge`). An addition to pg_graphql's schema.
 */
import { type GraphQLFieldConfig, GraphQLList, GraphQLNonNull } from 'graphql';
import type { Table } from '../model/model.ts';
import { bindField } from './bindings.ts';
import type { TypeRegistry } from './type-registry.ts';

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

/** The arguments that page, filter and order a collection. */
import { type GraphQLFieldConfigArgumentMap, GraphQLInt, GraphQLList, GraphQLNonNull } from 'graphql';
import type { Table } from '../model/model.ts';
import { cursorScalar } from './scalars.ts';
import type { TypeRegistry } from './type-registry.ts';

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

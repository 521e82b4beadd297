/** Which rows a mutation may change: the arguments `filter` and `atMost`. */
import { type GraphQLArgumentConfig, type GraphQLInputFieldConfig, GraphQLInt, GraphQLNonNull } from 'graphql';
import type { Table } from '../model/model.ts';
import type { TypeRegistry } from './type-registry.ts';

type Restricting = GraphQLArgumentConfig & GraphQLInputFieldConfig;

/** The arguments, which are members of nested writes too. */
export function restriction(registry: TypeRegistry, table: Table): { readonly filter: Restricting; readonly atMost: Restricting } {
  return {
    filter: {
      type: registry.inputOf(table, 'Filter'),
      description: "Restricts the mutation's impact to records matching the criteria",
    },
    atMost: {
      type: new GraphQLNonNull(GraphQLInt),
      default: { value: 1 },
      description: 'The maximum number of records in the collection permitted to be affected',
    },
  };
}

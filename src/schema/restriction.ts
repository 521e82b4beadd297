/** The arguments `filter` and `atMost`, which restrict the rows that a mutation changes. */
import { type GraphQLArgumentConfig, type GraphQLInputFieldConfig, GraphQLInt, GraphQLNonNull } from 'graphql';
import type { Table } from '../model/model.ts';
import type { TypeRegistry } from './type-registry.ts';

type Restricting = GraphQLArgumentConfig & GraphQLInputFieldConfig;

/** The arguments, which are also input fields of nested writes. */
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

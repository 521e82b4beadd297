/** What lineages add to the types of a table: their fields in rows, and how far a row is from the one that they are of. */
import { type GraphQLFieldConfigArgumentMap, type GraphQLFieldConfigMap, type GraphQLInputFieldConfigMap, GraphQLInt } from 'graphql';
import type { Lineage, Table } from '../../model/model.ts';
import { bindField, bindInput } from '../bindings.ts';
import type { FieldConfig } from '../lazy/lazy-object-type.ts';
import type { TypeRegistry } from '../lazy/type-registry.ts';
import { orderByDirection } from '../value-types.ts';

const descriptions: Readonly<Record<Lineage['direction'], string>> = {
  ancestors: 'The records above this one, the nearest first',
  descendants: 'The records below this one, the nearest first',
};

/** The field of a lineage, with the arguments of a collection. */
export function lineageField(registry: TypeRegistry, table: Table, lineage: Lineage, args: GraphQLFieldConfigArgumentMap): FieldConfig {
  const { direction, maxDepth } = lineage;
  return {
    type: registry.objectOf(table, 'Connection'),
    description: `${descriptions[direction]}, by \`${lineage.parent.fieldName}\``,
    args: {
      maxDepth: { type: GraphQLInt, description: `The greatest distance, at most ${maxDepth}; 1 is only the records next to this one` },
      ...args,
    },
    ...bindField('row', { kind: 'lineage', lineage }),
  };
}

/** The field `depth` of an edge; empty if the table has no lineages. */
export function depthField({ lineages }: Table): GraphQLFieldConfigMap<unknown, unknown> {
  if (lineages.length === 0) return {};
  const description = `How far the record is from the one that this collection is of; null if that is none of ancestors or descendants`;
  return { depth: { type: GraphQLInt, description, ...bindField('edge', { kind: 'depth' }) } };
}

/** The order by that distance. A column is often called `depth`, too, so there is another name. */
export function depthOrder({ lineages }: Table, others: GraphQLInputFieldConfigMap): GraphQLInputFieldConfigMap {
  const name = ['depth', 'lineageDepth'].find((each) => !Object.hasOwn(others, each));
  if (lineages.length === 0 || name === undefined) return {};
  const description = 'The distance in a collection of ancestors or descendants; orders nothing in others';
  return { [name]: { type: orderByDirection, description, ...bindInput('order', { kind: 'depth' }) } };
}

/** Types of a schema to which no field leads. */

import type { GraphQLNamedType, GraphQLSchema } from 'graphql';
import { getNamedType, isInputObjectType, isInterfaceType, isIntrospectionType, isObjectType } from 'graphql';

/** Their names, other than those of `known`: the schema that pg_graphql has, which lists some types whatever leads to them. */
export function unusedTypes(schema: GraphQLSchema, known: GraphQLSchema): string[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const used = new Set<GraphQLNamedType>(roots.filter((type) => type != null));
  // A set's iteration reaches what is added meanwhile.
  for (const type of used) for (const other of typesIn(type, schema)) used.add(other);
  const unused = Object.values(schema.getTypeMap()).filter((type) => !used.has(type) && !isIntrospectionType(type));
  return unused.map(({ name }) => name).filter((name) => known.getType(name) === undefined);
}

function typesIn(type: GraphQLNamedType, schema: GraphQLSchema): GraphQLNamedType[] {
  if (isInputObjectType(type)) return Object.values(type.getFields()).map((field) => getNamedType(field.type));
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  const ofFields = Object.values(type.getFields()).flatMap((field) => [field, ...field.args]);
  return [
    ...ofFields.map((field) => getNamedType(field.type)),
    ...(isInterfaceType(type) ? schema.getPossibleTypes(type) : type.getInterfaces()),
  ];
}

/**
 * Validation rule: type names exist (https://spec.graphql.org/October2021/#sec-Fragment-Spread-Type-Existence). graphql-js's own rule reads
 * the map of all types, which would build thousands of them.
 */
import { type ASTVisitor, GraphQLError, type ValidationContext } from 'graphql';

export function KnownTypeNamesRule(context: ValidationContext): ASTVisitor {
  const schema = context.getSchema();
  return {
    NamedType(node) {
      if (schema.getType(node.name.value)) return;
      context.reportError(new GraphQLError(`Unknown type "${node.name.value}".`, { nodes: node }));
    },
  };
}

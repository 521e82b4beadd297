/**
 * Variables have the type of their positions (https://spec.graphql.org/October2021/#sec-All-Variable-Usages-are-Allowed), or Opaque where
 * a domain has a scalar of its own: in pg_graphql that is the type of all domains.
 */
import {
  type ASTVisitor,
  type GraphQLInputType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  getNamedType,
  getNullableType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
  type ValidationContext,
  VariablesInAllowedPositionRule,
} from 'graphql';
import { isDomainScalar, scalarTypes } from '../../schema/value-types.ts';

export function VariablePositionsRule(context: ValidationContext): ASTVisitor {
  const reading: ValidationContext = Object.create(context);
  reading.getRecursiveVariableUsages = (operation) => {
    const opaque = opaqueVariables(operation);
    const usages = context.getRecursiveVariableUsages(operation);
    if (opaque.size === 0) return usages;
    return usages.map((usage) => {
      if (!usage.type || !opaque.has(usage.node.name.value) || !isDomainScalar(getNamedType(usage.type))) return usage;
      return { ...usage, type: withNamedType(usage.type, scalarTypes.Opaque) };
    });
  };
  return VariablesInAllowedPositionRule(reading);
}

function opaqueVariables({ variableDefinitions = [] }: OperationDefinitionNode): ReadonlySet<string> {
  const ofOpaque = variableDefinitions.filter(({ type }) => nameOf(type) === scalarTypes.Opaque.name);
  return new Set(ofOpaque.map(({ variable }) => variable.name.value));
}

function nameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);
}

/** The type with another one at its core. */
function withNamedType(type: GraphQLInputType, named: GraphQLNamedType & GraphQLInputType): GraphQLInputType {
  if (isNonNullType(type)) return new GraphQLNonNull(getNullableType(withNamedType(type.ofType, named)));
  return isListType(type) ? new GraphQLList(withNamedType(type.ofType, named)) : named;
}

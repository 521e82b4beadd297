/**
 * Variables have the type of their positions (https://spec.graphql.org/October2021/#sec-All-Variable-Usages-are-Allowed), or Opaque where
 * a domain has a scalar of its own, and OpaqueFilter where its type has a filter of its own: in pg_graphql these are the types of all of
 * them.
 */
import {
  type ASTVisitor,
  type GraphQLInputType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  getNamedType,
  getNullableType,
  isInputType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
  type ValidationContext,
  VariablesInAllowedPositionRule,
} from 'graphql';
import { isOpaqueFilter, opaqueFilterName } from '../../schema/tables/value-filters.ts';
import { isDomainScalar, scalarTypes } from '../../schema/value-types.ts';

export function VariablePositionsRule(context: ValidationContext): ASTVisitor {
  const reading: ValidationContext = Object.create(context);
  reading.getRecursiveVariableUsages = (operation) => {
    const opaque = opaqueVariables(operation);
    const usages = context.getRecursiveVariableUsages(operation);
    if (opaque.size === 0) return usages;
    return usages.map((usage) => {
      const named = usage.type && getNamedType(usage.type);
      const declared = opaque.get(usage.node.name.value);
      if (!usage.type || !named || declared === undefined || declared !== plainNameOf(named)) return usage;
      const plain = context.getSchema().getType(declared);
      return isInputType(plain) ? { ...usage, type: withNamedType(usage.type, plain as GraphQLNamedType & GraphQLInputType) } : usage;
    });
  };
  return VariablesInAllowedPositionRule(reading);
}

const plainNames = { scalar: scalarTypes.Opaque.name, filter: opaqueFilterName };

/** The name of the type that pg_graphql has instead; undefined if it is the same. */
function plainNameOf(type: GraphQLNamedType): string | undefined {
  if (isDomainScalar(type)) return plainNames.scalar;
  return isOpaqueFilter(type) ? plainNames.filter : undefined;
}

/** The variables of these types, with the name of the type. */
function opaqueVariables({ variableDefinitions = [] }: OperationDefinitionNode): ReadonlyMap<string, string> {
  const names: readonly string[] = Object.values(plainNames);
  const ofOpaque = variableDefinitions.filter(({ type }) => names.includes(nameOf(type)));
  return new Map(ofOpaque.map(({ variable, type }) => [variable.name.value, nameOf(type)]));
}

function nameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);
}

/** The type with another one at its core. */
function withNamedType(type: GraphQLInputType, named: GraphQLNamedType & GraphQLInputType): GraphQLInputType {
  if (isNonNullType(type)) return new GraphQLNonNull(getNullableType(withNamedType(type.ofType, named)));
  return isListType(type) ? new GraphQLList(withNamedType(type.ofType, named)) : named;
}

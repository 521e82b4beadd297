/**
 * Makes a request from a document whose values are unknown, so that it can be explained: with a sample for each variable, and for each
 * literal that was redacted. Samples are valid for their types; how many rows they find depends on PostgreSQL's statistics.
 */
import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  type OperationDefinitionNode,
  print,
  TypeInfo,
  typeFromAST,
  type VariableDefinitionNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { GraphQLRequest } from '../engine/request.ts';
import { scalarNamed } from '../model/types/scalars.ts';

/** Makes the request. `variables` override samples. */
export function sampleRequest(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>> = {},
): GraphQLRequest {
  const sampled = (operation.variableDefinitions ?? []).flatMap((definition) => sampleVariable(schema, definition));
  return {
    query: print(fillLiterals(schema, document)),
    operationName: operation.name?.value,
    variables: { ...Object.fromEntries(sampled), ...variables },
  };
}

/** Samples a variable, even an optional one, as most clients send those too. Not optional objects, cursors, or variables with a default. */
function sampleVariable(schema: GraphQLSchema, { variable, type, defaultValue }: VariableDefinitionNode): [string, unknown][] {
  const declared = typeFromAST(schema, type as never) as GraphQLInputType | undefined;
  if (declared === undefined || defaultValue !== undefined) return [];
  if (!isNonNullType(declared) && isInputObjectType(declared)) return [];
  const value = sampleOf(declared);
  return value === undefined ? [] : [[variable.name.value, value]];
}

function sampleOf(type: GraphQLInputType): unknown {
  const inner = getNullableType(type) as GraphQLInputType;
  if (isListType(inner)) {
    const item = sampleOf(inner.ofType as GraphQLInputType);
    return item === undefined ? undefined : [item];
  }
  if (isEnumType(inner)) return inner.getValues()[0]?.name;
  if (!isInputObjectType(inner)) return 'name' in inner ? scalarNamed(inner.name)?.sample : undefined;
  const required = Object.values(inner.getFields()).filter(isRequiredInputField);
  return Object.fromEntries(required.map((field) => [field.name, sampleOf(field.type)]));
}

/** Replaces empty strings, which `redactLiterals` leaves in place of literals. */
function fillLiterals(schema: GraphQLSchema, document: DocumentNode): DocumentNode {
  const types = new TypeInfo(schema);
  return visit(
    document,
    visitWithTypeInfo(types, {
      StringValue(node) {
        const type = types.getInputType();
        const sample = node.value === '' && type ? sampleOf(type) : undefined;
        return typeof sample === 'string' ? { kind: Kind.STRING, value: sample } : undefined;
      },
    }),
  );
}

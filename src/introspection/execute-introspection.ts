/**
 * Answers `__schema` and `__type` from the part of a model that introspection may tell.
 */
import {
  type FragmentDefinitionNode,
  GraphQLError,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
  type VariableDefinitionNode,
} from 'graphql';
import { ApiError } from '../errors.ts';
import type { Model } from '../model/model.ts';
import { buildSchema } from '../schema/build-schema.ts';
import type { LazySchema } from '../schema/lazy-schema.ts';
import { DescribedSchema } from './described-schema.ts';
import { selectIntrospection } from './select-introspection.ts';
import { writeIntrospection } from './write-introspection.ts';

/** A valid operation, and what was sent with it. */
export interface IntrospectingOperation {
  readonly node: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * JSON of what the operation selects under `key`, a root field of introspection. The types that it tells of are built for it and go with
 * it: those of a large schema take far more memory than the response, which is kept.
 */
export function* executeIntrospection(model: Model, operation: IntrospectingOperation, key: string): Generator<void, readonly Buffer[]> {
  const schema = buildSchema(model);
  yield;
  const described = new DescribedSchema(schema);
  const { selectionSet } = operation.node;
  try {
    const request = { selectionSet, fragments: operation.fragments, variables: readVariables(schema, operation) };
    const selected = selectIntrospection(described, request, key);
    yield;
    return yield* writeIntrospection(selected, longestResponse(model));
  } catch (error) {
    throw error instanceof GraphQLError ? new ApiError('BAD_USER_INPUT', error.message, { cause: error }) : error;
  }
}

/**
 * Some times the length of all there is to tell of a schema, in characters: a document that selects it again and again, under aliases, has no end. A table
 * takes some 20 KB, and a column of it 2 KB.
 */
function longestResponse({ tables, routines, enums }: Model): number {
  const columns = tables.reduce((count, table) => count + table.columns.length, 0);
  return 1024 * (1024 + 64 * (tables.length + routines.length + enums.length) + 8 * columns);
}

function readVariables(schema: LazySchema, { node, variables }: IntrospectingOperation): Record<string, unknown> {
  const { coerced, errors } = getVariableValues(schema, (node.variableDefinitions ?? []).filter(isOfIntrospection), variables);
  if (errors?.[0]) throw errors[0];
  return coerced ?? {};
}

/** The arguments of introspection and of `@skip` and `@include` are strings and booleans; other variables are for data. */
function isOfIntrospection({ type }: VariableDefinitionNode): boolean {
  return ['String', 'Boolean'].includes(namedType(type));
}

function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}

/**
 * Answers `__schema` and `__type` from the part of a model that introspection may tell.
 */
import { GraphQLError, type OperationDefinitionNode } from 'graphql';
import { ApiError } from '../errors.ts';
import type { Model } from '../model/model.ts';
import type { Variables } from '../request/coerce-variable-values.ts';
import type { Selections } from '../request/collect-fields.ts';
import { buildSchema } from '../schema/build-schema.ts';
import { DescribedSchema } from './described-schema.ts';
import { selectIntrospection } from './select-introspection.ts';
import { writeIntrospection } from './write-introspection.ts';

/** A valid operation, and what was read of its variables. */
export interface IntrospectingOperation {
  readonly node: OperationDefinitionNode;
  readonly fragments: Selections['fragments'];
  readonly variables: Variables;
}

/**
 * JSON of what the operation selects under `key`, a root field of introspection. The model and the types that it tells of are built for it and go with
 * it: those of a large schema take far more memory than the response, which is kept.
 */
export function* executeIntrospection(
  buildModel: () => Generator<void, Model>,
  operation: IntrospectingOperation,
  key: string,
): Generator<void, readonly Buffer[]> {
  const model = yield* buildModel();
  const schema = yield* buildSchema(model);
  const { node, fragments, variables } = operation;
  try {
    const selected = selectIntrospection({ schema: new DescribedSchema(schema), fragments, variables }, node.selectionSet, key);
    yield;
    return yield* writeIntrospection(selected, yield* longestResponse(model));
  } catch (error) {
    throw error instanceof GraphQLError ? new ApiError('BAD_USER_INPUT', error.message, { cause: error }) : error;
  }
}

/**
 * Some times the length of all there is to tell of a schema, in characters: a document that selects it again and again, under aliases, has no end. A table
 * takes some 20 KB, and a column of it 2 KB.
 */
function* longestResponse({ tables, routines, enums }: Model): Generator<void, number> {
  let columns = 0;
  for (const table of tables) {
    columns += table.columns.length;
    yield;
  }
  return 1024 * (1024 + 64 * (tables.length + routines.length + enums.length) + 8 * columns);
}

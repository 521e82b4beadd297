/** Answers `__schema` and `__type` from the introspectable part of a model. */
import { GraphQLError, type OperationDefinitionNode } from 'graphql';
import { ApiError } from '../errors/api-error.ts';
import type { Model } from '../model/model.ts';
import type { Variables } from '../request/coerce-variable-values.ts';
import type { Selections } from '../request/collect-fields.ts';
import { buildSchema } from '../schema/build-schema.ts';
import { DescribedSchema } from './described-schema.ts';
import { selectIntrospection } from './select-introspection.ts';
import { IntrospectionWriter } from './write-introspection.ts';

/** A valid operation with its coerced variables. */
export interface IntrospectingOperation {
  readonly node: OperationDefinitionNode;
  readonly fragments: Selections['fragments'];
  readonly variables: Variables;
}

/** The JSON of each introspection root field, by response key, as pieces of UTF-8. */
export type IntrospectionJson = ReadonlyMap<string, readonly Buffer[]>;

/**
 * Executes the operation's introspection root fields, whose response keys are `keys`. The model and types are built once for all of them
 * and then dropped: for a large schema they take far more memory than the response, which is cached. Throws QUERY_TOO_COMPLEX if the
 * response is too long.
 */
export function* executeIntrospection(
  buildModel: () => Generator<void, Model>,
  operation: IntrospectingOperation,
  keys: readonly string[],
): Generator<void, IntrospectionJson> {
  const model = yield* buildModel();
  const schema = new DescribedSchema(yield* buildSchema(model));
  const writer = new IntrospectionWriter(yield* longestResponse(model));
  const { node, fragments, variables } = operation;
  const json = new Map<string, readonly Buffer[]>();
  try {
    for (const key of keys) {
      const selected = selectIntrospection({ schema, fragments, variables }, node.selectionSet, key);
      yield;
      json.set(key, yield* writer.write(selected));
    }
    return json;
  } catch (error) {
    throw error instanceof GraphQLError ? new ApiError('BAD_USER_INPUT', error.message, { cause: error }) : error;
  }
}

/**
 * The maximum length of a response, in characters: several times that of a complete description of the schema, because a document can
 * select it repeatedly under aliases. A table takes about 20 KB, and each column 2 KB.
 */
function* longestResponse({ tables, routines, enums }: Model): Generator<void, number> {
  let columns = 0;
  for (const table of tables) {
    columns += table.columns.length;
    yield;
  }
  return 1024 * (1024 + 64 * (tables.length + routines.length + enums.length) + 8 * columns);
}

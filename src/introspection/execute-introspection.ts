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
import { IntrospectionWriter } from './write-introspection.ts';

/** A valid operation, and what was read of its variables. */
export interface IntrospectingOperation {
  readonly node: OperationDefinitionNode;
  readonly fragments: Selections['fragments'];
  readonly variables: Variables;
}

/** JSON in UTF-8, in pieces, of each root field of introspection by its key. */
export type IntrospectionJson = ReadonlyMap<string, readonly Buffer[]>;

/**
 * JSON of what the operation selects under `keys`, its root fields of introspection. The model and the types that it tells of are built once for all of them
 * and go with them: those of a large schema take far more memory than the response, which is kept. Throws QUERY_TOO_COMPLEX if the response is too long.
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

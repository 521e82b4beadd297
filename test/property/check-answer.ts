/** Compares answers with what is expected of them, the order of keys included. */
import { type DocumentNode, type GraphQLSchema, Kind } from 'graphql';
import type { ExecutionResult } from '../../src/index.ts';
import type { Expectation } from './evaluate-operation.ts';

/** Such bounds are refused although they are compared with no row, and then the evaluator does not come across them. */
const noRange = 'range lower bound must be less than or equal to range upper bound';

/**
 * Whether the response is the expected one. Where a role may not read all that it sees, it may be refused instead; and answered where the
 * evaluator, which reads more than is asked for, was refused.
 */
export function isExpected(answer: ExecutionResult, expected: Expectation, mayBeRefused: boolean): boolean {
  const [error] = answer.errors ?? [];
  if (mayBeRefused && error?.extensions.code === 'PERMISSION_DENIED') return true;
  if (error?.message === noRange && error.extensions.code === 'INVALID_VALUE') return true;
  if (mayBeRefused && expected.kind === 'error' && expected.message === null && !error) return true;
  if (expected.kind === 'error') {
    return error !== undefined && error.extensions.code !== 'INTERNAL_ERROR' && areAlike(expected.message, error.message);
  }
  return error === undefined && JSON.stringify(answer.data) === JSON.stringify(expected.data);
}

/** Of several foreign keys that rows violate, the order in which PostgreSQL finds the rows decides which is told. */
function areAlike(expected: string | null, message: string): boolean {
  const violation = 'violates foreign key constraint';
  return expected === null || expected === message || (expected.includes(violation) && message.includes(violation));
}

/** The response to a mutation with the records of updates and deletes in an order of their own: PostgreSQL has none. */
export function inOrder(schema: GraphQLSchema, document: DocumentNode, data: unknown): Record<string, unknown> {
  const fields = schema.getMutationType()?.getFields() ?? {};
  const sorted = new Set<string>();
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    for (const field of definition.selectionSet.selections) {
      if (field.kind !== Kind.FIELD) continue;
      if (fields[field.name.value]?.args.some(({ name }) => name === 'atMost')) sorted.add((field.alias ?? field.name).value);
    }
  }
  return Object.fromEntries(
    Object.entries((data ?? {}) as Record<string, Record<string, unknown> | null>).map(([key, response]) => {
      if (!sorted.has(key) || !response) return [key, response];
      const sort = (value: unknown) => (Array.isArray(value) ? value.map((item) => JSON.stringify(item)).sort() : value);
      return [key, Object.fromEntries(Object.entries(response).map(([name, value]) => [name, sort(value)]))];
    }),
  );
}

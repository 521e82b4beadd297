/** The stages of `request/` without pauses and without limits, for tests of what they make. */
import type { GraphQLSchema } from 'graphql';
import { noLimits } from '../../src/budget/limits.ts';
import { runAtOnce } from '../../src/budget/slices.ts';
import { type Document, parseDocument as parseWithPauses } from '../../src/request/parse-document.ts';
import { readVariables as readWithPauses, type VariableDeclaration, type Variables } from '../../src/request/read-variables.ts';

export function parseDocument(schema: GraphQLSchema, text: string): Document {
  return runAtOnce(parseWithPauses(schema, text, noLimits));
}

export function readVariables(declarations: readonly VariableDeclaration[], sent: Readonly<Record<string, unknown>>): Variables {
  return runAtOnce(readWithPauses(declarations, sent, noLimits, 0));
}

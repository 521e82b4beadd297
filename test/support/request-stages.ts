/** The stages of `request/` without pauses and limits, to test their results. */

import { noLimits } from '../../src/budget/limits.ts';
import { runAtOnce } from '../../src/budget/turns.ts';
import { coerceVariables, type Variables } from '../../src/request/coerce/coerce-variables.ts';
import type { VariableDeclaration } from '../../src/request/coerce/declare-variables.ts';
import type { Coercion } from '../../src/request/operation.ts';
import { type Document, parseDocument as parseWithPauses } from '../../src/request/validate/parse-document.ts';
import type { LazySchema } from '../../src/schema/lazy/lazy-schema.ts';

export function parseDocument(schema: LazySchema, text: string, coercion: Coercion = 'strict', suggests = true): Document {
  return runAtOnce(parseWithPauses(schema, text, { limits: noLimits, coercion, suggests }));
}

export function coerceVariableValues(
  declarations: readonly VariableDeclaration[],
  sent: Readonly<Record<string, unknown>>,
  coercion: Coercion = 'strict',
): Variables {
  return runAtOnce(coerceVariables(declarations, sent, noLimits, 0, coercion));
}

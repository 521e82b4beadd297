/** Validates a document for a role without running it. In: the text and the role's schema; out: its errors. */
import { runInSlices } from '../budget/slices.ts';
import { ApiError } from '../errors.ts';
import { parseDocument, RequestErrors } from '../request/parse-document.ts';
import type { RoleSchema } from './role-schema.ts';

/** The errors of a document: none if it is valid and within the limits of the role. */
export async function validateQuery({ granted, role }: RoleSchema, query: string): Promise<readonly ApiError[]> {
  if (role.refusal !== null) return [new ApiError('UNAUTHENTICATED', role.refusal)];
  try {
    const { schema } = await granted.types();
    await runInSlices(parseDocument(schema, query, role.limits));
    return [];
  } catch (error) {
    if (error instanceof RequestErrors) return error.errors;
    if (error instanceof ApiError) return [error];
    throw error;
  }
}

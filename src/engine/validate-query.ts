/** Validates a document for a role without running it. In: the text and the role's schema; out: its errors, or what is lenient about it. */
import { runInSlices } from '../budget/slices.ts';
import { ApiError } from '../errors.ts';
import { type Document, parseDocument, RequestErrors } from '../request/parse-document.ts';
import type { RoleSchema } from './role-schema.ts';

/** The errors of a document: none if it is valid and within the limits of the role. */
export async function validateQuery({ granted, role }: RoleSchema, query: string): Promise<readonly ApiError[]> {
  if (role.refusal !== null) return [new ApiError('UNAUTHENTICATED', role.refusal)];
  try {
    await parse({ granted, role }, query);
    return [];
  } catch (error) {
    if (error instanceof RequestErrors) return error.errors;
    if (error instanceof ApiError) return [error];
    throw error;
  }
}

/** What lenient coercion lets pass in a document, each with what to write instead; none if it is valid as it is, or not at all. */
export async function findMismatches(roleSchema: RoleSchema, query: string): Promise<readonly string[]> {
  try {
    return (await parse(roleSchema, query)).mismatches;
  } catch (error) {
    if (error instanceof RequestErrors || error instanceof ApiError) return [];
    throw error;
  }
}

async function parse({ granted, role }: RoleSchema, query: string): Promise<Document> {
  const { schema } = await granted.types();
  return runInSlices(parseDocument(schema, query, { limits: role.limits, coercion: granted.coercion, suggests: true }));
}

/**
 * What is wrong with a document for a role, or lenient about it, without running it; and its operations, compiled before anybody sends
 * them.
 */
import { runInSlices } from '../budget/turns.ts';
import type { RequestDatabase } from '../database/database.ts';
import { ApiError } from '../errors/api-error.ts';
import { sampleVariables, VariableError } from '../request/coerce/declare-variables.ts';
import { type Document, parseDocument, RequestErrors } from '../request/validate/parse-document.ts';
import { prepareRequest } from './prepare/prepare-request.ts';
import { checkRows } from './request-cost.ts';
import type { RoleSchema } from './snapshot/role-schema.ts';

/** The errors of a document: none if it is valid and within the limits of the role. */
export function validateQuery(roleSchema: RoleSchema, query: string): Promise<readonly ApiError[]> {
  return errorsOf(() => parse(roleSchema, query));
}

/** What lenient coercion lets pass in a document, each with what to write instead; none if it is valid as it is, or not at all. */
export async function findMismatches(roleSchema: RoleSchema, query: string): Promise<readonly string[]> {
  let mismatches: readonly string[] = [];
  await errorsOf(async () => {
    ({ mismatches } = await parse(roleSchema, query));
  });
  return mismatches;
}

/**
 * The errors of a document, as `validateQuery` finds them. The operations of a valid one are compiled, unless their SQL depends on
 * variables.
 */
export function prepareDocument(roleSchema: RoleSchema, query: string, database: RequestDatabase): Promise<readonly ApiError[]> {
  return errorsOf(async () => {
    const { operations } = await parse(roleSchema, query);
    for (const { name, variables } of operations) {
      for (const sample of sampleVariables(variables)) {
        const preparing = prepareRequest(roleSchema, { query, operationName: name, variables: sample });
        const prepared = await preparing.catch((error: unknown) => {
          // The variables were made up here, so errors in them say nothing of the document.
          if (error instanceof VariableError) return null;
          throw error;
        });
        if (prepared !== null) await checkRows(prepared, roleSchema, database, null);
      }
    }
  });
}

async function parse({ granted, role }: RoleSchema, query: string): Promise<Document> {
  if (role.refusal !== null) throw new ApiError('UNAUTHENTICATED', role.refusal);
  const { schema } = await granted.types();
  return runInSlices(parseDocument(schema, query, { limits: role.limits, coercion: granted.coercion, suggests: true }));
}

async function errorsOf(work: () => Promise<unknown>): Promise<readonly ApiError[]> {
  try {
    await work();
    return [];
  } catch (error) {
    if (error instanceof RequestErrors) return error.errors;
    if (error instanceof ApiError) return [error];
    throw error;
  }
}

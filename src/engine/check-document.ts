import { runInSlices } from '../budget/turns.ts';
import type { RequestDatabase } from '../database/database.ts';
import { ApiError } from '../errors/api-error.ts';
import { sampleVariables, VariableError } from '../request/coerce/declare-variables.ts';
import { type Document, parseDocument, RequestErrors } from '../request/validate/parse-document.ts';
import type { PreparedRequest } from './prepare/compile-operation.ts';
import { prepareRequest } from './prepare/prepare-request.ts';
import type { GraphQLRequest } from './request.ts';
import { checkRows } from './request-cost.ts';
import type { RoleSchema } from './snapshot/role-schema.ts';

/** Validates a document for a role without running it. In: the text and the role's schema; out: its errors, or what is lenient about it. */

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

/**
 * Prepares a document before anybody sends it, so that its first request finds it compiled. In: the text and the schema of a role; out: the
 * document's errors.
 */

/**
 * The errors of a document: none if it is valid and within the limits of the role. A valid document's operations are compiled, unless their
 * SQL depends on variables.
 */
export async function prepareDocument(roleSchema: RoleSchema, query: string, database: RequestDatabase): Promise<readonly ApiError[]> {
  const { granted, role } = roleSchema;
  if (role.refusal !== null) return [new ApiError('UNAUTHENTICATED', role.refusal)];
  try {
    const { schema } = await granted.types();
    const { operations } = await runInSlices(
      parseDocument(schema, query, { limits: role.limits, coercion: granted.coercion, suggests: true }),
    );
    for (const { name, variables } of operations) {
      for (const sample of sampleVariables(variables)) {
        const prepared = await compile(roleSchema, { query, operationName: name, variables: sample });
        if (prepared) await checkRows(prepared, roleSchema, database, null);
      }
    }
    return [];
  } catch (error) {
    if (error instanceof RequestErrors) return error.errors;
    if (error instanceof ApiError) return [error];
    throw error;
  }
}

async function compile(roleSchema: RoleSchema, request: GraphQLRequest): Promise<PreparedRequest | null> {
  try {
    return await prepareRequest(roleSchema, request);
  } catch (error) {
    // The variables were made up here, so errors in them say nothing of the document.
    if (!(error instanceof VariableError)) throw error;
    return null;
  }
}

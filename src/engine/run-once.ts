/**
 * Runs the batch of a mutation that has an idempotency key: takes the key before the batch and stores the response after it, in the same
 * transaction and round trip. If the key already has a response, nothing runs and that response is read. In: the batch and the texts around
 * its results; out: its rows, or the stored response (docs/decisions/idempotency.md).
 */
import { type Batch, type BatchResult, DatabaseError, type RequestDatabase, type Statement } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import type { Observer } from '../events.ts';
import { type ResponseBody, type ResponseTemplate, valueBody } from './assemble-response.ts';
import { arrayLiteral } from './bind-parameters.ts';
import type { RequestIdentity } from './idempotency-key.ts';
import { runBatch } from './run-batch.ts';

/** How often a response may expire between the attempt to take its key and the attempt to read it. */
const mostAttempts = 5;

/** A shared template: all reads of responses are alike, and change nothing. */
const readTemplate = {};

/** What is needed to run a mutation once. */
export interface OncePlan {
  readonly identity: RequestIdentity;
  /** The response without the results of the batch. */
  readonly template: ResponseTemplate;
  /** For how many milliseconds the key is kept. */
  readonly lifetime: number;
}

/** The rows of the batch, or the stored response to the same request. */
export async function runOnce(
  database: RequestDatabase,
  batch: Batch,
  { identity, template, lifetime }: OncePlan,
  observe: Observer,
): Promise<BatchResult | { readonly response: ResponseBody }> {
  const keyed = { ...batch, claim: claimKey(identity, lifetime), statements: [...batch.statements, keepResponse(identity, template)] };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runBatch(database, keyed, observe);
    } catch (error) {
      if (!isAnswered(error) || attempt === mostAttempts) throw withAdvice(error);
    }
    const response = await readResponse(database, batch, identity, observe);
    if (response !== null) return { response };
  }
}

function claimKey({ role, caller, key, request }: RequestIdentity, lifetime: number): Statement {
  return {
    text: 'select rowgraph.claim_key($1::text, $2::bytea, $3::text, $4::bytea, $5::interval)',
    parameters: [role, caller, key, request, `${lifetime} milliseconds`],
  };
}

function keepResponse({ role, caller, key }: RequestIdentity, { texts, empties }: ResponseTemplate): Statement {
  return {
    text: 'select rowgraph.keep_response($1::text, $2::bytea, $3::text, $4::text[], $5::text[])',
    parameters: [role, caller, key, arrayLiteral(texts), arrayLiteral(empties)],
  };
}

/** Null if it is no longer stored. */
async function readResponse(
  database: RequestDatabase,
  { deadline, client, maxBytes }: Batch,
  { role, caller, key, request }: RequestIdentity,
  observe: Observer,
): Promise<ResponseBody | null> {
  const statement = {
    text: 'select rowgraph.read_response($1::text, $2::bytea, $3::text, $4::bytea)',
    parameters: [role, caller, key, request],
  };
  // Without a session: only the login role may call functions of the extension.
  const [row] = await runBatch(
    database,
    { session: null, statements: [statement], template: readTemplate, deadline, client, maxBytes },
    observe,
  );
  const value = row?.[0] ?? null;
  if (value === null) return null;
  const body = valueBody(value);
  body.isMutation = true;
  body.isReplayed = true;
  return body;
}

function isAnswered(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof DatabaseError && error.cause.reason === 'key-answered';
}

function withAdvice(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'OUTCOME_UNKNOWN') return error;
  const message = 'The connection to the database was lost after the mutation was sent. Send it again with the same idempotency key.';
  return new ApiError('OUTCOME_UNKNOWN', message, { cause: error });
}

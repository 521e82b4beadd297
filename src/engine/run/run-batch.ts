/** Runs batches, and translates their errors for the client. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Limits, overLimit } from '../../budget/limits.ts';
import type { Batch, BatchResult, RequestDatabase, Statement } from '../../database/database.ts';
import { ApiError } from '../../errors/api-error.ts';
import { DatabaseError } from '../../errors/database-error.ts';
import { isConflict, toApiError } from '../../errors/from-postgres.ts';
import type { Observer } from '../../events.ts';
import { StaleSchemaError } from '../../freshness/stale-schema.ts';
import { arrayLiteral } from '../prepare/encode-value.ts';
import type { KeyStore, RequestIdentity } from './idempotency-key.ts';
import { type ResponseTemplate, replayedResponse, type SuccessResponse } from './response.ts';

const maxAttempts = 4;
const firstPauseMillis = 10;

/**
 * Runs a batch, and again if it conflicts with concurrent transactions. Rejects with `ApiError` or `StaleSchemaError`; then nothing was
 * changed.
 */
export async function runBatch(database: RequestDatabase, batch: Batch, observe: Observer): Promise<BatchResult> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.run(batch);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.reason === 'stale-schema') throw new StaleSchemaError(error);
      // In the caller's own transaction, only the caller can retry.
      if (batch.session === null || !isConflict(error) || attempt === maxAttempts) throw toApiError(error);
      observe({ kind: 'batch-retried', attempt, sqlstate: error.sqlstate });
    }
    // A random pause, so that the same transactions do not conflict again.
    await sleep(firstPauseMillis * 2 ** attempt * Math.random());
  }
}

/** How often a response may expire between the attempt to take its key and the attempt to read it. */
const mostAttempts = 5;

/** A shared template: all reads of responses are alike, and change nothing. */
const readTemplate = {};

/** What is needed to run a mutation once. */
export interface OncePlan {
  readonly identity: RequestIdentity;
  readonly template: ResponseTemplate;
  readonly keyStore: KeyStore;
  readonly limits: Limits;
}

/**
 * Runs the batch of a mutation that has an idempotency key (docs/decisions.md): takes the key before the batch and stores the response
 * after it, in the same transaction and round trip. Returns the rows, or the stored response to the same request, if there is one; then
 * nothing runs.
 */
export async function runOnce(
  database: RequestDatabase,
  batch: Batch,
  plan: OncePlan,
  observe: Observer,
): Promise<BatchResult | SuccessResponse> {
  const { identity, template } = plan;
  const keyed = { ...batch, precondition: claimKey(plan), statements: [...batch.statements, keepResponse(identity, template)] };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runBatch(database, keyed, observe);
    } catch (error) {
      if (!isAnswered(error) || attempt === mostAttempts) throw explain(error, plan, batch.statements.length);
    }
    const response = await readResponse(database, batch, identity, observe);
    if (response !== null) return response;
  }
}

/** Version 1.1 of the extension has no bounds, and does not look at the setting. */
function claimKey({ identity: { role, caller, key, request }, keyStore: { lifetime, maxBytes }, limits }: OncePlan): Statement {
  const bounds = [limits.idempotencyBytes, maxBytes].map((bound) => (bound === Infinity ? 'NULL' : bound));
  return {
    text: `select rowgraph.claim_key($1::text, $2::bytea, $3::text, $4::bytea, $5::interval)
  from pg_catalog.set_config('rowgraph.key_bounds', $6::text, true)`,
    parameters: [role, caller, key, request, `${lifetime} milliseconds`, `{${bounds.join()}}`],
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
  { deadline, client, maxBytes, followUp }: Batch,
  { role, caller, key, request }: RequestIdentity,
  observe: Observer,
): Promise<SuccessResponse | null> {
  const statement = {
    text: 'select rowgraph.read_response($1::text, $2::bytea, $3::text, $4::bytea)',
    parameters: [role, caller, key, request],
  };
  // Without a session: only the login role may call functions of the extension.
  const [row] = await runBatch(
    database,
    { session: null, statements: [statement], template: readTemplate, deadline, client, maxBytes, followUp },
    observe,
  );
  const value = row?.[0] ?? null;
  return value === null ? null : replayedResponse(value);
}

function isAnswered(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof DatabaseError && error.cause.reason === 'key-answered';
}

/** The SQLSTATE of `rowgraph.keep_response` for a response that is too long. */
const responseTooLong = 'RG005';

/** The error of a batch that `keptBy`, its last statement, was to store the response of. */
function explain(error: unknown, { limits }: OncePlan, keptBy: number): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, cause } = error;
  if (code === 'TOO_MANY_IDEMPOTENCY_KEYS') return overLimit(limits, 'idempotencyBytes');
  if (code === 'OUTCOME_UNKNOWN') {
    const message = 'The connection to the database was lost after the mutation was sent. Send it again with the same idempotency key.';
    return new ApiError('OUTCOME_UNKNOWN', message, { cause: error });
  }
  if (cause instanceof DatabaseError && cause.sqlstate === responseTooLong && cause.statement === keptBy) {
    const message = 'The response is too long to be stored for the idempotency key, so the mutation was undone';
    return new ApiError('RESPONSE_TOO_LARGE', `${message}. Select less, or send it without a key.`);
  }
  return error;
}

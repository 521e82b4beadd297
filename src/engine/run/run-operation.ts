/** Where an operation runs: on a replica if it only reads, on the primary otherwise. */
import type { Batch, BatchResult, RequestDatabase } from '../../database/database.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Observer } from '../../events.ts';
import { latestOf, type Position, parsePosition, type ResponsePosition } from '../../replicas/position.ts';
import type { Replicas } from '../../replicas/replicas.ts';
import type { GraphQLRequest } from '../request.ts';
import type { CompiledRequest } from '../snapshot/role-schema.ts';
import type { SuccessResponse } from './response.ts';
import { type OncePlan, runBatch, runOnce } from './run-batch.ts';

/** The servers of a database. */
export interface Servers {
  /** The primary, or the only one. */
  readonly database: RequestDatabase;
  /** Absent if there are none. */
  readonly replicas?: Replicas | undefined;
  readonly observe: Observer;
}

export interface Outcome {
  /** The rows; or the whole response, of an earlier request with the same idempotency key. */
  readonly rows: BatchResult | SuccessResponse;
  /** After the commit of what may have written; undefined without replicas. */
  readonly position: ResponsePosition | undefined;
}

/** `once`: for a mutation with an idempotency key. `asked`: what the caller says that a query must see. Rejects as `runBatch` does. */
export async function runOperation(
  batch: Batch,
  { kind, measure }: Pick<CompiledRequest, 'kind' | 'measure'>,
  once: OncePlan | null,
  { database, replicas, observe }: Servers,
  asked: Position | null,
): Promise<Outcome> {
  const runOnPrimary = (own: Batch) => (once === null ? runBatch(database, own, observe) : runOnce(database, own, once, observe));
  if (replicas === undefined) return { rows: await runOnPrimary(batch), position: undefined };
  const client = batch.client ?? '';
  if (kind === 'query' && measure.volatileRoutine === null && !measure.effects.changesSession)
    return { rows: (await replicas.read(batch, client, asked)) ?? (await runOnPrimary(batch)), position: undefined };
  let position: ResponsePosition | undefined;
  const followUp = replicas.followUp(client, (place) => {
    position = place;
  });
  try {
    return { rows: await runOnPrimary({ ...batch, followUp }), position };
  } catch (error) {
    if (error instanceof ApiError && mayHaveWritten.includes(error.code)) replicas.noteDoubt(client);
    throw error;
  }
}

const mayHaveWritten: readonly ApiError['code'][] = ['OUTCOME_UNKNOWN', 'RESPONSE_TOO_LARGE'];

/** What a request says that its response must show. Throws BAD_REQUEST for what is no position. */
export function askedPosition({ extensions }: GraphQLRequest, position: string | undefined): Position | null {
  const own = extensions?.position;
  return latestOf(own == null ? null : readPosition(own), position === undefined ? null : readPosition(position));
}

function readPosition(value: unknown): Position {
  const position = typeof value === 'string' ? parsePosition(value) : null;
  if (position !== null) return position;
  const remedy = 'Send the one of an earlier response, such as 7713161854613678706.1.0/3000148, or none';
  throw new ApiError('BAD_REQUEST', `This is not a position that a response has returned. ${remedy}.`);
}

import { Deadline } from '../../budget/deadline.ts';
import type { Caller, RawResponse, RequestOptions } from '../../engine/request.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Observer } from '../../events.ts';
import type { RequestRate } from '../admission/request-rate.ts';
import type { Documents } from '../documents/documents.ts';
import type { ServedGraph } from './endpoint-options.ts';
import { encodeError, toReportedError } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { NamedRequest, readParameters } from './read-request.ts';
import { type OperationMarks, RequestTimes } from './request-times.ts';

/** Runs the content of a body or URL: one request, or a batch. In: the parsed value, and how it is to run; out: the response. */

export interface ExecuteOptions {
  readonly graph: Pick<ServedGraph, 'executeRaw'>;
  /** Maximum requests in a batch; null if batches are not allowed. */
  readonly maxBatch: number | null;
  readonly rate: RequestRate | null;
  readonly documents: Documents;
  readonly observe: Observer;
}

/** Throws or rejects with BAD_REQUEST, and with any other error of a request before it runs. */
export function executeValue(value: unknown, caller: Caller, run: Run, exchange: Exchange, options: ExecuteOptions): Promise<RawResponse> {
  if (!Array.isArray(value)) return executeOne(value, caller, run, exchange, options);
  checkBatch(value, options.maxBatch);
  if (run.idempotencyKey !== undefined)
    throw new ApiError('BAD_REQUEST', 'A batch has no idempotency key. Put one into "extensions.idempotencyKey" of each mutation instead.');
  if (options.rate?.count(exchange.address, value.length - 1).isAllowed === false)
    throw new ApiError('RATE_LIMITED', 'The batch has more requests than this address may send now. Send fewer, or wait.');
  const execute: BatchWork['execute'] = async (request, itsRun) => executeOne(request, caller, itsRun, exchange, options);
  const explain: BatchWork['explain'] = (error) => {
    const reported = toReportedError(error, exchange.requestId, options.observe);
    const body = encodeError(reported);
    return { chunks: [body], length: body.length, errorCode: reported.code };
  };
  return executeBatch(value, { exchange, run, execute, explain });
}

function executeOne(value: unknown, caller: Caller, run: Run, exchange: Exchange, options: ExecuteOptions): Promise<RawResponse> {
  const { graph, documents } = options;
  const request = readParameters(value);
  const isNamed = request instanceof NamedRequest;
  if (!isNamed && !documents.restricts(caller.role)) return graph.executeRaw(request, caller, run);
  const { text, storedAs, cacheControl } = documents.find(request, caller.role);
  exchange.cacheControl = cacheControl;
  const running = graph.executeRaw(isNamed ? request.withDocument(text) : request, caller, run);
  if (storedAs === null) return running;
  return running.then((response) => {
    // A document that has run is valid, and worth its place.
    if (response.errorCode === null) documents.store(storedAs, text, exchange.address);
    return response;
  });
}

/**
 * A batch: several requests in one body, as an array. They run concurrently, each in its own transaction with the rights and limits of a
 * single request; one that fails does not affect the others. In: the array; out: one response, the array of their responses in the same
 * order.
 */

/** How a request is to run: its deadline, its client, and what to call when it is prepared. */
export interface Run extends Omit<RequestOptions, 'marks'> {
  readonly deadline: Deadline;
  readonly client: string;
  readonly marks?: OperationMarks | undefined;
}

/** How the requests of a batch are run. */
export interface BatchWork {
  readonly exchange: Exchange;
  readonly run: Run;
  readonly execute: (request: unknown, run: Run) => Promise<RawResponse>;
  /** The response to a request that could not be executed. */
  readonly explain: (error: unknown) => RawResponse;
}

/** Throws BAD_REQUEST or BATCH_TOO_LARGE unless the batch has between one and `most` requests; with null, batches are not allowed. */
export function checkBatch(batch: readonly unknown[], most: number | null): void {
  if (most === null)
    throw new ApiError('BAD_REQUEST', 'Batches are off. Send one request at a time, or start the server with --max-batch.');
  if (batch.length === 0) throw new ApiError('BAD_REQUEST', 'The batch is empty. Send at least one request in it.');
  if (batch.length <= most) return;
  throw new ApiError('BATCH_TOO_LARGE', `The batch has ${batch.length} requests; the limit is ${most}. Send fewer at a time.`);
}

/** Runs the requests of a batch. Rejects with OVERLOADED if there is no room for all of them. */
export async function executeBatch(batch: readonly unknown[], work: BatchWork): Promise<RawResponse> {
  const { exchange, run } = work;
  // The exchange itself counts as the first one.
  const more = batch.length - 1;
  const refusal = exchange.admitMore(more);
  if (refusal !== null) throw new ApiError('OVERLOADED', refusal);
  const deadlines = batch.map(() => new Deadline(run.deadline.remaining));
  run.deadline.onStop((reason) => {
    for (const deadline of deadlines) deadline.stop(reason);
  });
  let unprepared = batch.length;
  const notePrepared = (): void => {
    unprepared -= 1;
    if (unprepared === 0) run.onPrepared?.();
  };
  try {
    return joinResponses(await Promise.all(batch.map((request, index) => executeInBatch(request, deadlines[index]!, work, notePrepared))));
  } finally {
    run.deadline.onStop(null);
    for (const deadline of deadlines) deadline.end();
    exchange.leaveMore(more);
  }
}

/** Never rejects. */
async function executeInBatch(
  request: unknown,
  deadline: Deadline,
  { exchange, run, execute, explain }: BatchWork,
  notePrepared: () => void,
): Promise<RawResponse> {
  let isPrepared = false;
  const onPrepared = (): void => {
    if (isPrepared) return;
    isPrepared = true;
    notePrepared();
  };
  try {
    const response = await execute(request, {
      ...run,
      deadline,
      onPrepared,
      marks: run.marks instanceof RequestTimes ? run.marks.addPart() : undefined,
    });
    const refusal = exchange.holdResponse(response);
    if (refusal !== null) throw new ApiError('OVERLOADED', refusal);
    return response;
  } catch (error) {
    return explain(error);
  } finally {
    onPrepared();
  }
}

const opening = Buffer.from('[');
const comma = Buffer.from(',');
const closing = Buffer.from(']');
/** In bytes. Below this size a copy costs less than writing more pieces. */
const joinedLength = 16 * 1024;

function joinResponses(responses: readonly RawResponse[]): RawResponse {
  const pieces = responses.flatMap(({ chunks }, index) => [index === 0 ? opening : comma, ...chunks]);
  pieces.push(closing);
  const length = pieces.reduce((total, { length }) => total + length, 0);
  return {
    chunks: length < joinedLength ? [Buffer.concat(pieces, length)] : pieces,
    length,
    isMutation: responses.some(({ isMutation }) => isMutation),
    isBatch: true,
    errorCode: responses.find(({ errorCode }) => errorCode !== null)?.errorCode ?? null,
  };
}

/** Runs the content of a body or URL: one request, or a batch. In: the parsed value, and how it is to run; out: the response. */
import type { Caller, RawResponse } from '../engine/request.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Observer } from '../events.ts';
import type { Documents } from './documents/documents.ts';
import { encodeError, toReportedError } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { type BatchWork, checkBatch, executeBatch, type Run } from './execute-batch.ts';
import { NamedRequest, readParameters } from './request-parameters.ts';
import type { RequestRate } from './request-rate.ts';
import type { ServedGraph } from './served-graph.ts';

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

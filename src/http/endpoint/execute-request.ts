/**
 * Runs the content of a body or URL: one request, or a batch of several in an array. Those of a batch run concurrently, each in its own
 * transaction with the rights and limits of a single request; one that fails does not affect the others.
 */
import { Deadline } from '../../budget/deadline.ts';
import type { Caller, GraphQLRequest, RawResponse, RequestOptions, SubscribeOptions } from '../../engine/request.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Observer } from '../../events.ts';
import { laterOf, type ResponsePosition } from '../../replicas/position.ts';
import type { RequestRate } from '../admission/request-rate.ts';
import type { Documents, FoundDocument } from '../documents/documents.ts';
import { type Answers, noMore } from '../live/live-operation.ts';
import type { ServedGraph } from './endpoint-options.ts';
import { encodeErrors, toReportedError } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { NamedRequest, readParameters } from './read-request.ts';
import { type OperationMarks, RequestTimes } from './request-times.ts';

/** How a request is to run: its deadline, its client, and what to call when it is prepared. */
export interface Run extends Omit<RequestOptions, 'marks'>, Pick<SubscribeOptions, 'after'> {
  readonly deadline: Deadline;
  readonly client: string;
  readonly marks?: OperationMarks | undefined;
}

export interface ExecuteOptions {
  readonly graph: Pick<ServedGraph, 'executeRaw' | 'subscribeRaw'>;
  /** Maximum requests in a batch; null if batches are not allowed. */
  readonly maxBatch: number | null;
  readonly rate: RequestRate | null;
  readonly documents: Documents;
  readonly observe: Observer;
}

/** Who sends something, how it is to run, and what it came on. */
export interface Call<Options = ExecuteOptions> {
  readonly caller: Caller;
  readonly run: Run;
  readonly exchange: Exchange;
  readonly options: Options;
}

/** Throws or rejects with BAD_REQUEST, and with any other error of a request before it runs. */
export function executeValue(value: unknown, call: Call): Promise<RawResponse> {
  return Array.isArray(value) ? executeBatch(value, call) : executeOne(value, call);
}

function executeOne(value: unknown, call: Call): Promise<RawResponse> {
  const found = readRequest(value, call);
  // Not awaited unless it must be: what is at hand needs no turn of the event loop.
  if (found instanceof Promise) return found.then((request) => executeFound(request, call));
  return executeFound(found, call);
}

function executeFound({ request, storedAs }: FoundRequest, { caller, run, exchange, options }: Call): Promise<RawResponse> {
  const running = options.graph.executeRaw(request, caller, run);
  if (storedAs === null) return running;
  return running.then((response) => {
    // A document that has run is valid, and worth storing.
    if (response.errorCode === null) options.documents.store(storedAs, request.query, exchange.address);
    return response;
  });
}

/**
 * The answers to one request: one after the other to a subscription, one to anything else. Rejects with what prevents the first one:
 * an `ApiError`, or an error with a list of them.
 */
export async function openAnswers(value: unknown, call: Call<Pick<ExecuteOptions, 'graph' | 'documents'>>): Promise<Answers> {
  const { request, storedAs } = await readRequest(value, call);
  const { caller, run, exchange } = call;
  const { graph, documents } = call.options;
  if (graph.subscribeRaw === undefined) return { first: await graph.executeRaw(request, caller, run), following: noMore };
  const { idempotencyKey, ...options } = run;
  // Subscriptions have none, but it may be a mutation.
  const extensions = idempotencyKey === undefined ? request.extensions : { idempotencyKey, ...request.extensions };
  const following = graph.subscribeRaw({ ...request, extensions }, caller, options);
  const { value: first, done } = await following.next();
  if (done) throw new ApiError('CANCELLED', 'The request was cancelled.');
  if (storedAs !== null && first.errorCode === null) documents.store(storedAs, request.query, exchange.address);
  return { first, following };
}

/** A request with its document, and the hash to store the document under; null if it is not to be stored. */
interface FoundRequest {
  readonly request: GraphQLRequest;
  readonly storedAs: string | null;
}

function readRequest(
  value: unknown,
  { caller, exchange, options: { documents } }: Call<Pick<ExecuteOptions, 'documents'>>,
): FoundRequest | Promise<FoundRequest> {
  const request = readParameters(value);
  const isNamed = request instanceof NamedRequest;
  if (!isNamed && !documents.restricts(caller.role)) return { request, storedAs: null };
  const complete = ({ text, storedAs, cacheControl }: FoundDocument): FoundRequest => {
    exchange.cacheControl = cacheControl;
    return { request: isNamed ? request.withDocument(text) : request, storedAs };
  };
  const found = documents.find(request, caller.role, exchange.address);
  return found instanceof Promise ? found.then(complete) : complete(found);
}

/** Executes one of several requests of an exchange: the response to it is also that to a failure. */
export async function executePart(request: unknown, call: Call): Promise<RawResponse> {
  const { run, exchange, options } = call;
  const marks = run.marks instanceof RequestTimes ? run.marks.addPart() : undefined;
  try {
    const response = await executeOne(request, { ...call, run: { ...run, marks } });
    const tooMuch = exchange.holdResponse(response);
    if (tooMuch !== null) throw new ApiError('OVERLOADED', tooMuch);
    return response;
  } catch (error) {
    return encodeErrors([toReportedError(error, exchange.requestId, options.observe)]);
  }
}

async function executeBatch(batch: readonly unknown[], call: Call): Promise<RawResponse> {
  const { run, exchange, options } = call;
  checkBatch(batch, run, options);
  if ((await options.rate?.count(exchange.address, batch.length - 1))?.isAllowed === false)
    throw new ApiError('RATE_LIMITED', 'The batch has more requests than this address may send now. Send fewer, or wait.');
  // The exchange itself counts as the first one.
  const more = batch.length - 1;
  const refusal = exchange.admitted?.admitMore(more) ?? null;
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
  const execute = (request: unknown, deadline: Deadline): Promise<RawResponse> => {
    const onPrepared = once(notePrepared);
    return executePart(request, { ...call, run: { ...run, deadline, onPrepared } }).finally(onPrepared);
  };
  try {
    return joinResponses(await Promise.all(deadlines.map((deadline, index) => execute(batch[index], deadline))));
  } finally {
    run.deadline.onStop(null);
    for (const deadline of deadlines) deadline.end();
    exchange.admitted?.leaveMore(more);
  }
}

function checkBatch(batch: readonly unknown[], run: Run, { maxBatch }: ExecuteOptions): void {
  if (maxBatch === null)
    throw new ApiError('BAD_REQUEST', 'Batches are off. Send one request at a time, or start the server with --max-batch.');
  if (batch.length === 0) throw new ApiError('BAD_REQUEST', 'The batch is empty. Send at least one request in it.');
  if (batch.length > maxBatch)
    throw new ApiError('BATCH_TOO_LARGE', `The batch has ${batch.length} requests; the limit is ${maxBatch}. Send fewer at a time.`);
  if (run.idempotencyKey !== undefined)
    throw new ApiError('BAD_REQUEST', 'A batch has no idempotency key. Put one into "extensions.idempotencyKey" of each mutation instead.');
}

function once(call: () => void): () => void {
  let isCalled = false;
  return () => {
    if (!isCalled) call();
    isCalled = true;
  };
}

/** In bytes. Below this size a copy costs less than writing more pieces. */
const joinedLength = 16 * 1024;

function joinResponses(responses: readonly RawResponse[]): RawResponse {
  const pieces = responses.flatMap(({ chunks }, index) => [Buffer.from(index === 0 ? '[' : ','), ...chunks]);
  pieces.push(Buffer.from(']'));
  const length = pieces.reduce((total, { length }) => total + length, 0);
  return {
    chunks: length < joinedLength ? [Buffer.concat(pieces, length)] : pieces,
    length,
    isMutation: responses.some(({ isMutation }) => isMutation),
    isBatch: true,
    position: responses.reduce<ResponsePosition | undefined>((latest, { position }) => laterOf(latest, position), undefined),
    errorCode: responses.find(({ errorCode }) => errorCode !== null)?.errorCode ?? null,
  };
}

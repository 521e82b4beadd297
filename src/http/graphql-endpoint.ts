/**
 * The GraphQL endpoint: authenticates, reads the JSON body, calls the graph once and writes the bytes. In: a POST request to the endpoint's path; out: its
 * response, and the events that report it. Routing is not here.
 */
import { authenticateRequest } from '../auth/authenticate-request.ts';
import type { TokenVerifier } from '../auth/verify-token.ts';
import { Deadline } from '../budget/deadline.ts';
import type { Caller, RawResponse } from '../engine/request.ts';
import { ApiError, type ErrorCode, errorCodes } from '../errors.ts';
import type { Observer } from '../events.ts';
import type { Admission, Share } from './admission.ts';
import { checkHead } from './check-head.ts';
import { type AcceptedEncodings, negotiateEncoding } from './compress-body.ts';
import type { Client } from './connection.ts';
import type { CrossOrigin } from './cross-origin.ts';
import { encodeError } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { type LargeRequests, largeBody } from './large-requests.ts';
import { type MediaType, negotiateMediaType } from './negotiate-media-type.ts';
import { checkContentType, parseRequest } from './parse-request.ts';
import { readBody } from './read-body.ts';
import { readTimeout } from './read-timeout.ts';
import type { RequestRate } from './request-rate.ts';
import { type GraphqlResponse, type RequestState, sendGraphqlResponse } from './send-graphql-response.ts';
import type { ServedGraph } from './served-graph.ts';

export interface GraphqlEndpointOptions {
  readonly graph: Pick<ServedGraph, 'executeRaw'>;
  readonly verifier: TokenVerifier;
  /** In bytes. */
  readonly bodyLimit: number;
  /** Milliseconds that a request may take. */
  readonly requestTimeout: number;
  readonly observe: Observer;
  readonly admission: Admission;
  /** Another reference to the share of the request's client. */
  readonly shareOf: (exchange: Exchange) => Share;
  /** Whether to reject all requests for now. */
  readonly isOverloaded: () => boolean;
  /** Whether connections must end with the response. */
  readonly isClosing: () => boolean;
  /** Counts the requests of each client over time; null if their number is not limited. */
  readonly rate: RequestRate | null;
  readonly crossOrigin: CrossOrigin;
  /** Lets requests with large bodies take turns. */
  readonly largeRequests: LargeRequests;
}

/** Handles one request. Never rejects. */
export type GraphqlEndpoint = (exchange: Exchange) => Promise<void>;

const requestStarted = { kind: 'request-started' } as const;
const noHeaders: readonly string[] = [];

/** The endpoint over a graph. */
export function createGraphqlEndpoint(options: GraphqlEndpointOptions): GraphqlEndpoint {
  const { observe } = options;
  return async (exchange) => {
    const started = performance.now();
    observe(requestStarted);
    const { requestId } = exchange;
    const state: RequestState = { mediaType: 'application/json', encodings: null, caller: null, isHeadClear: false, headers: noHeaders };
    let response: GraphqlResponse;
    try {
      response = await handleRequest(exchange, state, options);
    } catch (error) {
      response = failedResponse(error, exchange, observe);
    }
    try {
      const sent = sendGraphqlResponse(exchange, state, response, options);
      if (sent !== undefined) await sent;
    } catch (error) {
      observe({ kind: 'defect-found', requestId, error });
      exchange.response.destroy();
    }
    exchange.endHandling();
    const role = state.caller === null ? null : state.caller.role;
    const seconds = (performance.now() - started) / 1000;
    observe({
      kind: 'request-finished',
      requestId,
      role,
      code: response.code,
      status: response.status,
      seconds,
      bytes: response.body.length,
    });
  };
}

/** Nothing runs, and the body is not even read, before the request is admitted and authenticated. */
async function handleRequest(exchange: Exchange, state: RequestState, options: GraphqlEndpointOptions): Promise<GraphqlResponse> {
  const { request } = exchange;
  const { headers } = request;
  const { admission } = options;
  if (headers.origin !== undefined) state.headers = options.crossOrigin.headersFor(headers.origin);
  checkHead(request);
  state.isHeadClear = !exchange.expectsContinue;
  const share = options.shareOf(exchange);
  const refusal = options.isOverloaded() ? overloaded : admission.refuse(share);
  if (refusal !== null) {
    admission.forget(share);
    return refuse(refusal);
  }
  exchange.admit(admission, share);
  if (options.rate !== null) countRequest(options.rate, share, state);
  state.mediaType = negotiateMediaType(headers.accept);
  state.encodings = checkEncodings(headers['accept-encoding']);
  const deadline = new Deadline(readTimeout(headers.prefer, options.requestTimeout));
  exchange.deadline = deadline;
  const authenticated = authenticateRequest(headers, options.verifier);
  // A cached token needs no turn of the event loop.
  const caller = authenticated instanceof Promise ? await authenticated : authenticated;
  state.caller = caller;
  if (exchange.isGone) throw new ApiError('CANCELLED', 'The client disconnected.');
  const client = clientOf(exchange, caller, share, admission);
  if (client.user !== null) admitUser(exchange, client.user, admission);
  checkContentType(headers);
  if (exchange.expectsContinue) askForBody(exchange, state, options.bodyLimit);
  const bytes = await readBody(exchange, options.bodyLimit);
  const body = await execute(bytes, caller, { deadline, client: client.name }, options);
  // Requests are admitted before the size of their responses is known.
  const tooMuch = body.length > smallResponse && body.isMutation !== true ? exchange.refuseBytes() : null;
  if (tooMuch !== null) return refuse(tooMuch);
  exchange.hold(body.length);
  return { status: statusOf(body.errorCode, state.mediaType), code: body.errorCode, body };
}

/** A short body needs no turn of the event loop before the graph is called; a large one waits for its turn. */
function execute(
  bytes: Buffer,
  caller: Caller,
  run: { readonly deadline: Deadline; readonly client: string },
  { graph, largeRequests }: GraphqlEndpointOptions,
): Promise<RawResponse> {
  if (bytes.length >= largeBody)
    return largeRequests.run(run.client, bytes.length, run.deadline, async (onPrepared) =>
      graph.executeRaw(await parseRequest(bytes, run.deadline), caller, { ...run, onPrepared }),
    );
  const parsed = parseRequest(bytes, run.deadline);
  return parsed instanceof Promise
    ? parsed.then((request) => graph.executeRaw(request, caller, run))
    : graph.executeRaw(parsed, caller, run);
}

/** In bytes. Smaller responses are always sent. */
const smallResponse = 64 * 1024;

const overloaded = 'The server is overloaded. Try again later.';

/** Made without an `Error`, whose stack costs more than everything else in a rejection. */
function refuse(message: string): GraphqlResponse {
  const body = Buffer.from(JSON.stringify({ errors: [{ message, extensions: { code: 'OVERLOADED' } }] }));
  return { status: errorCodes.OVERLOADED.status, code: 'OVERLOADED', body: { chunks: [body], length: body.length } };
}

function countRequest(rate: RequestRate, { name }: Share, state: RequestState): void {
  const { isAllowed, headers } = rate.count(name);
  state.headers = [...state.headers, ...headers];
  if (!isAllowed) throw new ApiError('RATE_LIMITED', 'Too many requests from this address. Wait as long as the Retry-After header says.');
}

/** A user is one client from any address; callers who are not users are one client per role and address. */
function clientOf({ connection }: Exchange, caller: Caller, address: Share, admission: Admission): Client {
  const known = connection.client;
  if (known !== null && known.caller === caller && known.address === address) return known;
  const subject = caller.claims?.sub;
  const isUser = typeof subject === 'string' && subject !== '';
  const name = isUser ? `${caller.role} ${subject}` : `${caller.role} at ${address.name}`;
  const client = { caller, address, name, user: isUser ? admission.refer(name) : null };
  if (known !== null && known.user !== null) admission.forget(known.user);
  connection.client = client;
  return client;
}

function admitUser(exchange: Exchange, user: Share, admission: Admission): void {
  const refusal = admission.refuseUser(user);
  if (refusal !== null) throw new ApiError('OVERLOADED', refusal);
  exchange.admitUser(admission.referAgain(user));
}

/** Few responses are large, and a header without a quality rejects nothing, so it need not be parsed. */
function checkEncodings(accepted: string | string[] | undefined): AcceptedEncodings | null {
  if (typeof accepted !== 'string' || !accepted.includes('=')) return null;
  const encodings = negotiateEncoding(accepted);
  if (encodings.best === null && !encodings.allowsIdentity)
    throw new ApiError('NOT_ACCEPTABLE', 'The Accept-Encoding header must allow zstd, br, gzip or identity.');
  return encodings;
}

function askForBody({ request, response }: Exchange, state: RequestState, bodyLimit: number): void {
  if (Number(request.headers['content-length'] ?? 0) > bodyLimit) return;
  state.isHeadClear = true;
  response.writeContinue();
}

/**
 * The status of a response from the graph. A request that is not valid GraphQL has status 200 for clients that accept `application/json`, and 400
 * for those that accept the newer type (https://graphql.github.io/graphql-over-http/draft/#sec-Responses).
 */
function statusOf(code: ErrorCode | null, mediaType: MediaType): number {
  if (code === null) return 200;
  const { status } = errorCodes[code];
  return status === 400 && mediaType === 'application/json' ? 200 : status;
}

function failedResponse(error: unknown, { requestId }: Exchange, observe: Observer): GraphqlResponse {
  let reported: ApiError;
  if (error instanceof ApiError) reported = error;
  else {
    observe({ kind: 'defect-found', requestId, error });
    reported = new ApiError('INTERNAL_ERROR', `Internal error. See the server's log for the request id ${requestId}.`);
  }
  const body = encodeError(reported);
  return { status: errorCodes[reported.code].status, code: reported.code, body: { chunks: [body], length: body.length } };
}

/**
 * The GraphQL endpoint: authenticates, reads the JSON body or the URL, calls the graph and sends the bytes. In: a request, whatever carries
 * it; out: its response, and the events that report it. Does no routing.
 */
import { type Authenticate, authenticateRequest, lookUpCaller } from '../../auth/authenticate.ts';
import type { VerifiedCaller } from '../../auth/caller.ts';
import type { TokenVerifier } from '../../auth/verify-token.ts';
import { Deadline, explainStop, untilStopped } from '../../budget/deadline.ts';
import type { WeighedTurns } from '../../budget/turns.ts';
import type { Caller, RawResponse } from '../../engine/request.ts';
import { ApiError } from '../../errors/api-error.ts';
import { type ErrorCode, errorCodes } from '../../errors/codes.ts';
import type { BeginTrace, Observer } from '../../events.ts';
import type { AdmissionCounts, Share } from '../admission/admission.ts';
import type { RequestRate } from '../admission/request-rate.ts';
import type { Documents } from '../documents/documents.ts';
import { type AcceptedEncodings, negotiateEncoding } from './compress-body.ts';
import type { CrossOrigin } from './cross-origin.ts';
import type { ExecutingGraph } from './endpoint-options.ts';
import { callApplication, encodeError, toReportedError } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { executeValue, type Run } from './execute-request.ts';
import { type GraphqlResponse, makeCacheable, type RequestState, sendGraphqlResponse, sendNotModified } from './graphql-response.ts';
import { type MediaType, negotiateMediaType, readTimeout } from './preferences.ts';
import { checkContentType, parseBody, parseUrl } from './read-request.ts';
import { RequestTimes } from './request-times.ts';

export interface GraphqlEndpointOptions {
  readonly graph: ExecutingGraph;
  readonly verifier: TokenVerifier;
  /** The application's own way to find the caller; null if it has none. */
  readonly authenticate: Authenticate | null;
  /** Whether a key may be in the URL. */
  readonly keyInUrl: boolean;
  /** In bytes. */
  readonly bodyLimit: number;
  /** Milliseconds that a request may take. */
  readonly requestTimeout: number;
  readonly observe: Observer;
  readonly admission: AdmissionCounts;
  /** A new reference to the share of the request's client. */
  readonly shareOf: (exchange: Exchange) => Share;
  /** Whether to reject all requests for now. */
  readonly isOverloaded: () => boolean;
  /** Counts the requests of each client over time; null if their rate is not limited. */
  readonly rate: RequestRate | null;
  readonly crossOrigin: CrossOrigin;
  /** Maximum requests in a batch; null if batches are not allowed. */
  readonly maxBatch: number | null;
  readonly documents: Documents;
  /** The Cache-Control header of responses to GET requests. */
  readonly cacheControl: string;
  /** Whether responses report their times. */
  readonly serverTiming: boolean;
  /** Whether the event of each request reports how it ran. */
  readonly detailedEvents: boolean;
  /** Finds or begins the traces of requests; null if there are none. */
  readonly beginTrace: BeginTrace | null;
  /** Whether PostgreSQL sees the trace. */
  readonly traceDatabase: boolean;
  /** Makes requests with large bodies take turns, weighed in bytes. */
  readonly largeBodies: WeighedTurns;
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
    const state: RequestState = {
      mediaType: 'application/json',
      encodings: null,
      caller: null,
      headers: noHeaders,
      caching: null,
      times: beginTimes(started, exchange, options),
    };
    let response: GraphqlResponse;
    try {
      response = await handleRequest(exchange, state, options);
    } catch (error) {
      response = failedResponse(error, exchange, observe);
    }
    const { times } = state;
    if (times !== null && options.serverTiming) state.headers = [...state.headers, 'server-timing', times.describe()];
    try {
      if (response.status === 304) sendNotModified(exchange, state);
      else {
        const sent = sendGraphqlResponse(exchange, state, response, options.crossOrigin);
        if (sent !== undefined) await sent;
      }
    } catch (error) {
      observe({ kind: 'defect-found', requestId, error });
      exchange.destroy();
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
      details: options.detailedEvents ? times : null,
    });
  };
}

function beginTimes(
  started: number,
  exchange: Exchange,
  { serverTiming, detailedEvents, beginTrace, traceDatabase, observe }: GraphqlEndpointOptions,
): RequestTimes | null {
  if (!serverTiming && !detailedEvents) return null;
  const { headers, requestId } = exchange;
  const onDefect = (error: Error): void => observe({ kind: 'defect-found', requestId, error });
  const trace = beginTrace === null ? null : callApplication('beginTrace', () => beginTrace(headers), onDefect);
  const name = trace === null || !traceDatabase ? null : `00-${trace.traceId}-${trace.spanId}-0${trace.isSampled ? 1 : 0}`;
  return new RequestTimes(started, exchange, trace, name);
}

/** Nothing runs, and the body is not even read, before the request is admitted and authenticated. */
async function handleRequest(exchange: Exchange, state: RequestState, options: GraphqlEndpointOptions): Promise<GraphqlResponse> {
  const { headers } = exchange;
  const { admission } = options;
  if (headers.origin !== undefined) state.headers = options.crossOrigin.headersFor(headers.origin);
  exchange.checkHead();
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
  const authenticated =
    options.authenticate === null
      ? authenticateByKey(exchange, deadline, options)
      : authenticateByApplication(exchange, deadline, options.authenticate, options);
  // Not awaited if it is synchronous: a cached token needs no turn of the event loop.
  const caller = authenticated instanceof Promise ? await authenticated : authenticated;
  state.caller = caller;
  if (state.times !== null) state.times.authenticated = performance.now();
  if (exchange.isGone) throw new ApiError('CANCELLED', 'The client disconnected.');
  if (caller.user !== null) admitUser(exchange, admission.refer(caller.user), admission);
  const client = caller.user ?? nameClient(caller.role, share);
  const plain: Run = state.times === null ? { deadline, client, http: exchange } : { deadline, client, http: exchange, marks: state.times };
  const idempotencyKey = headers['idempotency-key'];
  const run = idempotencyKey === undefined ? plain : { ...plain, idempotencyKey: String(idempotencyKey) };
  let body: RawResponse;
  if (exchange.method === 'POST') {
    checkContentType(headers);
    const bytes = await exchange.readBody(options.bodyLimit);
    if (state.times !== null) state.times.received = performance.now();
    body = await execute(bytes, caller, run, exchange, options);
  } else body = await executeUrl(caller, run, exchange, options);
  // The responses of a batch are held as they come.
  const tooMuch = body.isBatch === true ? null : exchange.holdResponse(body);
  if (tooMuch !== null) return refuse(tooMuch);
  if (body.isReplayed === true) state.headers = [...state.headers, 'idempotency-replayed', 'true'];
  const response = { status: body.isBatch === true ? 200 : statusOf(body.errorCode, state.mediaType), code: body.errorCode, body };
  return exchange.method === 'POST' ? response : makeCacheable(exchange, state, response, options);
}

/** The keys may have to be fetched, which other requests wait for, too. */
function authenticateByKey(
  { headers, url }: Exchange,
  deadline: Deadline,
  { verifier, keyInUrl }: GraphqlEndpointOptions,
): VerifiedCaller | Promise<VerifiedCaller> {
  const authenticated = authenticateRequest(headers, verifier, keyInUrl ? url : null);
  return authenticated instanceof Promise ? untilStopped(authenticated, deadline, explainStop) : authenticated;
}

/** If the application does not know the caller, keys and tokens decide. */
async function authenticateByApplication(
  exchange: Exchange,
  deadline: Deadline,
  authenticate: Authenticate,
  options: GraphqlEndpointOptions,
): Promise<VerifiedCaller> {
  const { method = '', url, headers, requestId } = exchange;
  const onFailure = (error: unknown): void => options.observe({ kind: 'authentication-failed', requestId, error });
  return (
    (await lookUpCaller(authenticate, { method, url, headers }, deadline, onFailure)) ?? authenticateByKey(exchange, deadline, options)
  );
}

/** In bytes: a body of at least this size must wait for its turn. */
const largeBody = 4 * 1024;

/** A short body is executed at once; a large one waits for its turn among large ones. */
function execute(bytes: Buffer, caller: Caller, run: Run, exchange: Exchange, options: GraphqlEndpointOptions): Promise<RawResponse> {
  return bytes.length >= largeBody
    ? executeLarge(bytes, caller, run, exchange, options)
    : executeValue(parseBody(bytes), caller, run, exchange, options);
}

/** All endpoints of a server share the turns, so that nobody may have one while waiting for a database. */
async function executeLarge(
  bytes: Buffer,
  caller: Caller,
  run: Run,
  exchange: Exchange,
  options: GraphqlEndpointOptions,
): Promise<RawResponse> {
  await options.graph.loadRole?.(caller.role, run.deadline);
  return options.largeBodies.run(run.client, bytes.length, run.deadline, async (onPrepared) =>
    executeValue(parseBody(bytes), caller, { ...run, onPrepared }, exchange, options),
  );
}

/** GET requests are safe and cacheable, so they run no mutations. */
function executeUrl(caller: Caller, run: Run, exchange: Exchange, options: GraphqlEndpointOptions): Promise<RawResponse> {
  const { headers, url } = exchange;
  // A cache in front might identify such requests by their URL alone.
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
    throw new ApiError('BAD_REQUEST', 'A GET request must not have a body. Send the request in the URL, or as a POST request.');
  return executeValue(parseUrl(url), caller, { ...run, readOnly: true }, exchange, options);
}

const overloaded = 'The server is overloaded. Try again later.';

/** Builds the response without an `Error`, whose stack would cost more than everything else in a rejection. */
function refuse(message: string): GraphqlResponse {
  const body = Buffer.from(JSON.stringify({ errors: [{ message, extensions: { code: 'OVERLOADED' } }] }));
  return { status: errorCodes.OVERLOADED.status, code: 'OVERLOADED', body: { chunks: [body], length: body.length } };
}

function countRequest(rate: RequestRate, { name }: Share, state: RequestState): void {
  const { isAllowed, headers } = rate.count(name);
  state.headers = [...state.headers, ...headers];
  if (!isAllowed) throw new ApiError('RATE_LIMITED', 'Too many requests from this address. Wait as long as the Retry-After header says.');
}

/** The name of the client: a user is one client at any address; other callers are one client per role and address. */
function nameClient(role: string, address: Share): string {
  const known = address.anonymous;
  if (known !== null && known.role === role) return known.name;
  const name = `${role} at ${address.name}`;
  address.anonymous = { role, name };
  return name;
}

function admitUser(exchange: Exchange, user: Share, admission: AdmissionCounts): void {
  const refusal = admission.refuseUser(user);
  if (refusal === null) exchange.admitUser(user);
  else {
    admission.forget(user);
    throw new ApiError('OVERLOADED', refusal);
  }
}

/**
 * The encodings that the client accepts; null if the header rejects nothing, as is the case without a quality. It is then parsed only if
 * the response is large, which few are.
 */
function checkEncodings(accepted: string | string[] | undefined): AcceptedEncodings | null {
  if (typeof accepted !== 'string' || !accepted.includes('=')) return null;
  const encodings = negotiateEncoding(accepted);
  if (encodings.best === null && !encodings.allowsIdentity)
    throw new ApiError('NOT_ACCEPTABLE', 'The Accept-Encoding header must allow br, gzip, zstd or identity.');
  return encodings;
}

/**
 * The status of a response from the graph. A request that is not valid GraphQL has status 200 for clients that accept `application/json`,
 * and 400 for those that accept the newer type (https://graphql.github.io/graphql-over-http/draft/#sec-Responses).
 */
function statusOf(code: ErrorCode | null, mediaType: MediaType): number {
  if (code === null) return 200;
  const { status } = errorCodes[code];
  return status === 400 && code !== 'BAD_REQUEST' && mediaType === 'application/json' ? 200 : status;
}

function failedResponse(error: unknown, { requestId }: Exchange, observe: Observer): GraphqlResponse {
  const reported = toReportedError(error, requestId, observe);
  const body = encodeError(reported);
  return { status: errorCodes[reported.code].status, code: reported.code, body: { chunks: [body], length: body.length } };
}

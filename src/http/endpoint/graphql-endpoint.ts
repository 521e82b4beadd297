/**
 * The GraphQL endpoint: authenticates, reads the JSON body or the URL, calls the graph and sends the bytes, or goes on sending them. Does no
 * routing. What agents send takes the same way, except that their protocol makes the response.
 */

import { authenticateRequest } from '../../auth/authenticate.ts';
import type { VerifiedCaller } from '../../auth/caller.ts';
import { Deadline, explainStop, untilStopped } from '../../budget/deadline.ts';
import type { RawResponse } from '../../engine/request.ts';
import { ApiError } from '../../errors/api-error.ts';
import { type ErrorCode, errorCodes } from '../../errors/codes.ts';
import type { AgentProtocol } from '../../mcp/session.ts';
import { type LiveParts, type LiveResponse, type LiveWish, readLiveWish } from '../live/live-wish.ts';
import { serveSocket } from '../live/serve-socket.ts';
import { answerAgent } from './agent-session.ts';
import { admitCaller, admitRequest, askApplication, beginTimes, countRequest, describeRun, largeBody } from './begin-request.ts';
import { negotiateEncoding } from './compress-body.ts';
import type { EndpointOptions, ExecutingGraph } from './endpoint-options.ts';
import { encodeError, toReportedError } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { type ExecuteOptions, executeValue, type Run } from './execute-request.ts';
import { type GraphqlResponse, makeCacheable, type ResponseState, sendGraphqlResponse } from './graphql-response.ts';
import { headersOfPosition } from './position.ts';
import { type MediaType, negotiateMediaType, readTimeout } from './preferences.ts';
import { checkContentType, parseBody, parseUrl } from './read-request.ts';
import type { RequestTimes } from './request-times.ts';

export interface EndpointParts extends Required<Pick<EndpointOptions, 'cacheControl'>>, ExecuteOptions, LiveParts {
  readonly graph: ExecutingGraph;
  /** Answers agents; null if none are served. */
  readonly agents: AgentProtocol | null;
}

/** A response; its status, if that is not a matter of its error. */
type EndpointResponse = RawResponse & { readonly status?: number };

/** Handles one request. Never rejects. */
export type GraphqlEndpoint = (exchange: Exchange) => Promise<void>;

const noHeaders: readonly string[] = [];

export function createGraphqlEndpoint(parts: EndpointParts): GraphqlEndpoint {
  return (exchange) =>
    exchange.offer === null ? new GraphqlRequest(exchange, parts).handle() : serveSocket(exchange, exchange.offer, parts);
}

class GraphqlRequest implements ResponseState {
  mediaType: MediaType = 'application/json';
  headers = noHeaders;
  caching: ResponseState['caching'] = null;
  readonly #exchange: Exchange;
  readonly #parts: EndpointParts;
  readonly #started = performance.now();
  /** Null unless the response or its event reports them. */
  readonly #times: RequestTimes | null;
  /** What the client wants instead of a single response; null if nothing. */
  #wish: LiveWish | null = null;
  /** The response that goes on; null if it is a single one. */
  #live: LiveResponse | null = null;
  #role: string | null = null;

  constructor(exchange: Exchange, parts: EndpointParts) {
    this.#exchange = exchange;
    this.#parts = parts;
    this.#times = beginTimes(exchange, this.#started, parts);
  }

  async handle(): Promise<void> {
    const { observe, crossOrigin, serverTiming } = this.#parts;
    const exchange = this.#exchange;
    const { requestId } = exchange;
    observe({ kind: 'request-started' });
    const response = await this.#respond().catch((error: unknown) => {
      const reported = toReportedError(error, requestId, observe);
      return errorOf(reported.code, encodeError(reported));
    });
    if (this.#times !== null && serverTiming) this.headers = [...this.headers, 'server-timing', this.#times.describe()];
    const live = this.#live;
    if (live !== null) this.#finish(response);
    try {
      const sent = live === null ? sendGraphqlResponse(exchange, this, response, crossOrigin.vary) : live.start(this.headers);
      if (sent !== undefined) await sent;
    } catch (error) {
      observe({ kind: 'defect-found', requestId, error });
      exchange.destroy();
    }
    exchange.endHandling();
    if (live === null) this.#finish(response);
  }

  #finish({ code, status, body }: GraphqlResponse): void {
    const { observe, detailedEvents } = this.#parts;
    observe({
      kind: 'request-finished',
      requestId: this.#exchange.requestId,
      role: this.#role,
      code,
      status,
      seconds: (performance.now() - this.#started) / 1000,
      bytes: body.length,
      details: detailedEvents ? this.#times : null,
    });
  }

  /** Nothing runs, and the body is not even read, before the request is admitted and authenticated. */
  async #respond(): Promise<GraphqlResponse> {
    const exchange = this.#exchange;
    const { headers, method } = exchange;
    const { crossOrigin, requestTimeout, cacheControl, authenticate, rate } = this.#parts;
    if (headers.origin !== undefined) this.headers = crossOrigin.headersFor(headers.origin);
    exchange.checkHead();
    if (exchange.protocol === 'mcp') this.#checkAgentOrigin();
    const admitted = admitRequest(exchange, this.#parts);
    if (typeof admitted === 'string') return refuse(admitted);
    const onHeaders = (more: readonly string[]): void => {
      this.headers = [...this.headers, ...more];
    };
    if (rate !== null) await countRequest(exchange, rate, onHeaders);
    this.#negotiate();
    checkEncodings(headers['accept-encoding']);
    const deadline = new Deadline(readTimeout(headers.prefer, requestTimeout));
    exchange.deadline = deadline;
    const ticket = this.#wish?.redeemTicket() ?? null;
    if (ticket !== null) return this.#goLive(ticket);
    const authenticated = this.#authenticate(deadline);
    // Not awaited if it is synchronous: a cached token needs no turn of the event loop.
    const caller = authenticated instanceof Promise ? await authenticated : authenticated;
    this.#role = caller.role;
    if (this.#times !== null) this.#times.authenticated = performance.now();
    if (exchange.isGone) throw new ApiError('CANCELLED', 'The client disconnected.');
    const client = admitCaller(caller, admitted);
    const head = this.#wish?.answerHead(caller) ?? null;
    if (head !== null) return this.#goLive(head);
    const run = describeRun(exchange, deadline, client, this.#times);
    const body: EndpointResponse = method === 'POST' ? await this.#executeBody(caller, run) : await this.#executeUrl(caller, run);
    if (this.#live !== null) return { status: this.#live.status, code: body.errorCode, body };
    // The responses of a batch are held as they come.
    const tooMuch = body.isBatch === true ? null : exchange.holdResponse(body);
    if (tooMuch !== null) return refuse(tooMuch);
    if (body.isReplayed === true) this.headers = [...this.headers, 'idempotency-replayed', 'true'];
    if (body.position !== undefined) this.headers = [...this.headers, ...headersOfPosition(body.position, crossOrigin.isForeign(headers))];
    const status = body.isBatch === true ? 200 : (body.status ?? statusOf(body.errorCode, this.mediaType));
    const response = { status, code: body.errorCode, body };
    if (method === 'POST') return response;
    return makeCacheable(exchange, this, response, { cacheControl, vary: crossOrigin.keptVary, usesCookies: authenticate !== null });
  }

  #authenticate(deadline: Deadline): VerifiedCaller | Promise<VerifiedCaller> {
    if (this.#parts.authenticate === null) return this.#authenticateByKey(deadline);
    // If the application does not know the caller, keys and tokens decide.
    return askApplication(this.#exchange, this.#parts, deadline).then((caller) => caller ?? this.#authenticateByKey(deadline));
  }

  /** The keys may have to be fetched, which other requests wait for, too. */
  #authenticateByKey(deadline: Deadline): VerifiedCaller | Promise<VerifiedCaller> {
    const { verifier, keyInUrl } = this.#parts;
    const { headers, url } = this.#exchange;
    const authenticated = authenticateRequest(headers, verifier, keyInUrl ? url : null);
    return authenticated instanceof Promise ? untilStopped(authenticated, deadline, explainStop) : authenticated;
  }

  /** A short body is executed at once; a large one waits for its turn, which nobody may have while waiting for a database. */
  async #executeBody(caller: VerifiedCaller, run: Run): Promise<EndpointResponse> {
    const { graph, bodyLimit, largeBodies } = this.#parts;
    checkContentType(this.#exchange);
    const bytes = await this.#exchange.readBody(bodyLimit);
    if (this.#times !== null) this.#times.received = performance.now();
    if (bytes.length < largeBody) return this.#execute(parseBody(bytes), caller, run);
    await graph.loadRole?.(caller.role, run.deadline);
    return largeBodies.run(run.client, bytes.length, run.deadline, async (onPrepared) =>
      this.#execute(parseBody(bytes), caller, { ...run, onPrepared }),
    );
  }

  #execute(value: unknown, caller: VerifiedCaller, run: Run): Promise<EndpointResponse> {
    const call = { caller, run, exchange: this.#exchange, options: this.#parts };
    if (call.exchange.protocol === 'mcp') return answerAgent(value, call);
    // A batch has a single response.
    if (this.#wish === null || (Array.isArray(value) && !this.#wish.isRequired)) return executeValue(value, call);
    return this.#wish.execute(value, caller, run).then(({ response, live }) => {
      this.#live = live;
      return response;
    });
  }

  /** What kind of response the client takes. */
  #negotiate(): void {
    const exchange = this.#exchange;
    // Agents take event streams, too, but have a protocol of their own for what is on them.
    if (exchange.protocol === 'mcp') return;
    this.#wish = readLiveWish(exchange, this.#parts);
    if (this.#wish?.isRequired !== true) this.mediaType = negotiateMediaType(exchange.headers.accept);
  }

  #checkAgentOrigin(): void {
    const { origin } = this.#exchange.headers;
    if (origin === undefined || this.#parts.crossOrigin.acceptsAgentsOf(origin)) return;
    throw new ApiError('ORIGIN_NOT_ALLOWED', 'Pages of this origin may not send messages of agents. Name the origin in --cors-origins.');
  }

  /** GET requests are safe and cacheable, so they run no mutations. */
  #executeUrl(caller: VerifiedCaller, run: Run): Promise<RawResponse> {
    const { headers, url } = this.#exchange;
    // A cache in front might identify such requests by their URL alone.
    if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
      throw new ApiError('BAD_REQUEST', 'A GET request must not have a body. Send the request in the URL, or as a POST request.');
    return this.#execute(parseUrl(url), caller, { ...run, readOnly: true });
  }

  #goLive(live: LiveResponse): GraphqlResponse {
    this.#live = live;
    return { status: live.status, code: null, body: { chunks: [], length: 0 } };
  }
}

/** Builds the response without an `Error`, whose stack would cost more than everything else in a rejection. */
function refuse(message: string): GraphqlResponse {
  return errorOf('OVERLOADED', Buffer.from(JSON.stringify({ errors: [{ message, extensions: { code: 'OVERLOADED' } }] })));
}

function errorOf(code: ErrorCode, body: Buffer): GraphqlResponse {
  return { status: errorCodes[code].status, code, body: { chunks: [body], length: body.length } };
}

/** A header without a quality rejects nothing. */
function checkEncodings(accepted: string | string[] | undefined): void {
  if (typeof accepted !== 'string' || !accepted.includes('=')) return;
  const { best, allowsIdentity } = negotiateEncoding(accepted);
  if (best === null && !allowsIdentity)
    throw new ApiError('NOT_ACCEPTABLE', 'The Accept-Encoding header must allow br, gzip, zstd or identity.');
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

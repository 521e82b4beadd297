/**
 * The GraphQL endpoint: authenticates, reads the JSON body or the URL, calls the graph and sends the bytes. Does no routing. What agents send
 * takes the same way, except that their protocol makes the response.
 */

import { authenticateRequest, lookUpCaller } from '../../auth/authenticate.ts';
import type { Authenticate, VerifiedCaller } from '../../auth/caller.ts';
import type { TokenVerifier } from '../../auth/verify-token.ts';
import { Deadline, explainStop, untilStopped } from '../../budget/deadline.ts';
import type { WeighedTurns } from '../../budget/turns.ts';
import type { RawResponse } from '../../engine/request.ts';
import { ApiError } from '../../errors/api-error.ts';
import { type ErrorCode, errorCodes } from '../../errors/codes.ts';
import type { BeginTrace } from '../../events.ts';
import type { AgentProtocol } from '../../mcp/session.ts';
import type { Admission, ProjectPart, Share } from '../admission/admission.ts';
import { answerAgent } from './agent-session.ts';
import { negotiateEncoding } from './compress-body.ts';
import type { CrossOrigin } from './cross-origin.ts';
import type { EndpointOptions, ExecutingGraph } from './endpoint-options.ts';
import { callApplication, encodeError, toReportedError } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { type ExecuteOptions, executeValue, type Run } from './execute-request.ts';
import { type GraphqlResponse, makeCacheable, type ResponseState, sendGraphqlResponse } from './graphql-response.ts';
import { type MediaType, negotiateMediaType, readTimeout } from './preferences.ts';
import { checkContentType, parseBody, parseUrl } from './read-request.ts';
import { RequestTimes } from './request-times.ts';

type Settings = 'keyInUrl' | 'bodyLimit' | 'requestTimeout' | 'cacheControl' | 'serverTiming' | 'detailedEvents' | 'traceDatabase';

export interface EndpointParts extends Required<Pick<EndpointOptions, Settings>>, ExecuteOptions {
  readonly graph: ExecutingGraph;
  readonly verifier: TokenVerifier;
  readonly authenticate: Authenticate | null;
  readonly beginTrace: BeginTrace | null;
  readonly admission: Admission;
  /** Null if the server has no projects. */
  readonly project: ProjectPart | null;
  /** A new reference to the share of the request's client. */
  readonly shareOf: (exchange: Exchange) => Share;
  /** Whether to reject all requests for now. */
  readonly isOverloaded: () => boolean;
  readonly crossOrigin: CrossOrigin;
  /** Answers agents; null if none are served. */
  readonly agents: AgentProtocol | null;
  /** Makes requests with large bodies take turns, weighed in bytes. All endpoints of a server share the turns. */
  readonly largeBodies: WeighedTurns;
}

/** A response; its status, if that is not a matter of its error. */
type EndpointResponse = RawResponse & { readonly status?: number };

/** Handles one request. Never rejects. */
export type GraphqlEndpoint = (exchange: Exchange) => Promise<void>;

const noHeaders: readonly string[] = [];
/** In bytes: a body of at least this size must wait for its turn. */
const largeBody = 4 * 1024;
const overloaded = 'The server is overloaded. Try again later.';

export function createGraphqlEndpoint(parts: EndpointParts): GraphqlEndpoint {
  return (exchange) => new GraphqlRequest(exchange, parts).handle();
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
  #role: string | null = null;

  constructor(exchange: Exchange, parts: EndpointParts) {
    this.#exchange = exchange;
    this.#parts = parts;
    this.#times = parts.serverTiming || parts.detailedEvents ? this.#beginTimes() : null;
  }

  async handle(): Promise<void> {
    const { observe, crossOrigin, serverTiming, detailedEvents } = this.#parts;
    const exchange = this.#exchange;
    const { requestId } = exchange;
    observe({ kind: 'request-started' });
    const response = await this.#respond().catch((error: unknown) => {
      const reported = toReportedError(error, requestId, observe);
      return errorOf(reported.code, encodeError(reported));
    });
    if (this.#times !== null && serverTiming) this.headers = [...this.headers, 'server-timing', this.#times.describe()];
    try {
      const sent = sendGraphqlResponse(exchange, this, response, crossOrigin.vary);
      if (sent !== undefined) await sent;
    } catch (error) {
      observe({ kind: 'defect-found', requestId, error });
      exchange.destroy();
    }
    exchange.endHandling();
    observe({
      kind: 'request-finished',
      requestId,
      role: this.#role,
      code: response.code,
      status: response.status,
      seconds: (performance.now() - this.#started) / 1000,
      bytes: response.body.length,
      details: detailedEvents ? this.#times : null,
    });
  }

  #beginTimes(): RequestTimes {
    const { beginTrace, traceDatabase, observe } = this.#parts;
    const { headers, requestId } = this.#exchange;
    const onDefect = (error: Error): void => observe({ kind: 'defect-found', requestId, error });
    const trace = beginTrace === null ? null : callApplication('beginTrace', () => beginTrace(headers), onDefect);
    const name = trace === null || !traceDatabase ? null : `00-${trace.traceId}-${trace.spanId}-0${trace.isSampled ? 1 : 0}`;
    return new RequestTimes(this.#started, this.#exchange, trace, name);
  }

  /** Nothing runs, and the body is not even read, before the request is admitted and authenticated. */
  async #respond(): Promise<GraphqlResponse> {
    const exchange = this.#exchange;
    const { headers, method } = exchange;
    const { admission, project, shareOf, isOverloaded, crossOrigin, rate, requestTimeout, cacheControl, authenticate } = this.#parts;
    if (headers.origin !== undefined) this.headers = crossOrigin.headersFor(headers.origin);
    exchange.checkHead();
    if (exchange.protocol === 'mcp') this.#checkAgentOrigin();
    const admitted = isOverloaded() ? overloaded : admission.admit(shareOf(exchange), project);
    if (typeof admitted === 'string') return refuse(admitted);
    exchange.admit(admitted);
    if (rate !== null) {
      const counted = rate.count(exchange.address);
      this.headers = [...this.headers, ...counted.headers];
      if (!counted.isAllowed)
        throw new ApiError('RATE_LIMITED', 'Too many requests from this address. Wait as long as the Retry-After header says.');
    }
    this.mediaType = exchange.protocol === 'mcp' ? 'application/json' : negotiateMediaType(headers.accept);
    checkEncodings(headers['accept-encoding']);
    const deadline = new Deadline(readTimeout(headers.prefer, requestTimeout));
    exchange.deadline = deadline;
    const authenticated = this.#authenticate(deadline);
    // Not awaited if it is synchronous: a cached token needs no turn of the event loop.
    const caller = authenticated instanceof Promise ? await authenticated : authenticated;
    this.#role = caller.role;
    if (this.#times !== null) this.#times.authenticated = performance.now();
    if (exchange.isGone) throw new ApiError('CANCELLED', 'The client disconnected.');
    const refusal = caller.user === null ? null : admitted.admitUser(caller.user);
    if (refusal !== null) throw new ApiError('OVERLOADED', refusal);
    const run = this.#describeRun(deadline, caller.user ?? nameClient(caller.role, admitted.client));
    const body: EndpointResponse = method === 'POST' ? await this.#executeBody(caller, run) : await this.#executeUrl(caller, run);
    // The responses of a batch are held as they come.
    const tooMuch = body.isBatch === true ? null : exchange.holdResponse(body);
    if (tooMuch !== null) return refuse(tooMuch);
    if (body.isReplayed === true) this.headers = [...this.headers, 'idempotency-replayed', 'true'];
    const status = body.isBatch === true ? 200 : (body.status ?? statusOf(body.errorCode, this.mediaType));
    const response = { status, code: body.errorCode, body };
    if (method === 'POST') return response;
    return makeCacheable(exchange, this, response, { cacheControl, vary: crossOrigin.keptVary, usesCookies: authenticate !== null });
  }

  #authenticate(deadline: Deadline): VerifiedCaller | Promise<VerifiedCaller> {
    const { authenticate, observe } = this.#parts;
    if (authenticate === null) return this.#authenticateByKey(deadline);
    const { method = '', url, headers, requestId } = this.#exchange;
    const onFailure = (error: unknown): void => observe({ kind: 'authentication-failed', requestId, error });
    // If the application does not know the caller, keys and tokens decide.
    return lookUpCaller(authenticate, { method, url, headers }, deadline, onFailure).then(
      (caller) => caller ?? this.#authenticateByKey(deadline),
    );
  }

  /** The keys may have to be fetched, which other requests wait for, too. */
  #authenticateByKey(deadline: Deadline): VerifiedCaller | Promise<VerifiedCaller> {
    const { verifier, keyInUrl } = this.#parts;
    const { headers, url } = this.#exchange;
    const authenticated = authenticateRequest(headers, verifier, keyInUrl ? url : null);
    return authenticated instanceof Promise ? untilStopped(authenticated, deadline, explainStop) : authenticated;
  }

  #describeRun(deadline: Deadline, client: string): Run {
    const http = this.#exchange;
    const key = http.headers['idempotency-key'];
    return {
      deadline,
      client,
      http,
      ...(this.#times !== null && { marks: this.#times }),
      ...(key !== undefined && { idempotencyKey: String(key) }),
    };
  }

  /** A short body is executed at once; a large one waits for its turn, which nobody may have while waiting for a database. */
  async #executeBody(caller: VerifiedCaller, run: Run): Promise<EndpointResponse> {
    const { graph, bodyLimit, largeBodies } = this.#parts;
    checkContentType(this.#exchange.headers);
    const bytes = await this.#exchange.readBody(bodyLimit);
    if (this.#times !== null) this.#times.received = performance.now();
    if (bytes.length < largeBody) return this.#execute(parseBody(bytes), caller, run);
    await graph.loadRole?.(caller.role, run.deadline);
    return largeBodies.run(run.client, bytes.length, run.deadline, async (onPrepared) =>
      this.#execute(parseBody(bytes), caller, { ...run, onPrepared }),
    );
  }

  #execute(value: unknown, caller: VerifiedCaller, run: Run): Promise<EndpointResponse> {
    const { agents } = this.#parts;
    if (this.#exchange.protocol === 'graphql' || agents === null) return executeValue(value, caller, run, this.#exchange, this.#parts);
    return answerAgent(value, agents, { caller, run, exchange: this.#exchange, options: this.#parts });
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
    return executeValue(parseUrl(url), caller, { ...run, readOnly: true }, this.#exchange, this.#parts);
  }
}

/** Builds the response without an `Error`, whose stack would cost more than everything else in a rejection. */
function refuse(message: string): GraphqlResponse {
  return errorOf('OVERLOADED', Buffer.from(JSON.stringify({ errors: [{ message, extensions: { code: 'OVERLOADED' } }] })));
}

function errorOf(code: ErrorCode, body: Buffer): GraphqlResponse {
  return { status: errorCodes[code].status, code, body: { chunks: [body], length: body.length } };
}

/** The name of a client that is not a user: one client per role and address. */
function nameClient(role: string, address: Share): string {
  if (address.anonymous?.role !== role) address.anonymous = { role, name: `${role} at ${address.name}` };
  return address.anonymous.name;
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

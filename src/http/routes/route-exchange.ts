/** Decides what serves a request: the endpoint, another route, or nothing. A request that is certainly for the endpoint may bypass this. */
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../errors/api-error.ts';
import type { Observer } from '../../events.ts';
import type { Admission } from '../admission/admission.ts';
import type { CrossOrigin } from '../endpoint/cross-origin.ts';
import { errorResponse, type HttpResponse, sendResponse, toReportedError } from '../endpoint/error-response.ts';
import type { Exchange } from '../endpoint/exchange.ts';
import type { GraphqlEndpoint } from '../endpoint/graphql-endpoint.ts';

export interface Routing {
  readonly endpoint: GraphqlEndpoint;
  /** Whether it serves subscriptions. */
  readonly isLive: boolean;
  readonly crossOrigin: CrossOrigin;
  /** Counts the bytes of responses. */
  readonly admission: Admission;
  /** The path of the endpoint; null if every request is for it, because a router in front decides that. */
  readonly path: string | null;
  /** The path of the endpoint for agents; null if they are not served. */
  readonly agentPath: string | null;
  /** Other routes, by path. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Handlers of POST requests at other paths, by path. */
  readonly actions: ReadonlyMap<string, Action>;
  readonly observe: Observer;
}

/** What the Expect header asks for: nothing, `100 Continue`, or something unknown. */
export type Expectation = 'nothing' | 'continue' | 'unknown';

/** Responses of at most so many bytes, such as those of health checks, are never refused. */
const smallResponse = 1024;

/** Serves a request. Never rejects. */
export async function routeExchange(exchange: Exchange, expects: Expectation, routing: Routing): Promise<void> {
  const { requestId } = exchange;
  const { observe } = routing;
  try {
    const target = readTarget(exchange.url);
    if (target !== null && target === routing.agentPath) exchange.protocol = 'mcp';
    if (expects !== 'unknown' && isForEndpoint(exchange, target, routing)) return await routing.endpoint(exchange);
    const response = await respondBeside(exchange, target, expects, routing).catch((error: unknown) =>
      errorResponse(toReportedError(error, requestId, observe)),
    );
    const admitted = response.body.length > smallResponse ? admitResponse(exchange, response, routing.admission) : response;
    sendResponse(exchange, admitted, expects !== 'nothing' || response.status === 400);
  } catch (error) {
    observe({ kind: 'defect-found', requestId, error });
    exchange.destroy();
    exchange.endHandling();
  }
}

/** Holds the bytes of a response until it has been sent. If the server has no room for them, the response says so. */
function admitResponse(exchange: Exchange, response: HttpResponse, admission: Admission): HttpResponse {
  const admitted = admission.admitResponse(exchange.referAddress(admission), response.body.length);
  if (typeof admitted === 'string') return errorResponse(new ApiError('OVERLOADED', admitted));
  exchange.admit(admitted);
  return response;
}

/** PUT and DELETE are for event streams that are reserved. */
function isForEndpoint({ method, protocol }: Exchange, target: string | null, { path, isLive }: Routing): boolean {
  if (protocol === 'mcp') return method === 'POST';
  if (path !== null && target !== path) return false;
  return method === 'POST' || method === 'GET' || method === 'HEAD' || (isLive && (method === 'PUT' || method === 'DELETE'));
}

async function respondBeside(exchange: Exchange, target: string | null, expects: Expectation, routing: Routing): Promise<HttpResponse> {
  const { method, headers } = exchange;
  const { crossOrigin, path, routes, actions } = routing;
  exchange.checkHead();
  const route = target === null ? undefined : routes.get(target);
  const action = target === null ? undefined : actions.get(target);
  if (expects === 'unknown')
    return errorResponse(new ApiError('BAD_REQUEST', 'The Expect header is not supported, except for 100-continue.'), [], 417);
  if (route !== undefined && (method === 'GET' || method === 'HEAD')) return route(exchange);
  // Pages of other origins have no access to these.
  if (route !== undefined) return errorResponse(new ApiError('METHOD_NOT_ALLOWED', 'This path supports only GET.'), ['allow', 'GET, HEAD']);
  if (action !== undefined && method === 'POST') return action(exchange);
  if (action !== undefined) return errorResponse(new ApiError('METHOD_NOT_ALLOWED', 'This path supports only POST.'), ['allow', 'POST']);
  const preflight = method === 'OPTIONS' ? crossOrigin.preflightHeaders(headers) : null;
  if (preflight !== null) return { status: 204, headers: [...preflight, 'vary', 'Origin, Access-Control-Request-Headers'], body: '' };
  if (exchange.protocol === 'mcp')
    return errorResponse(new ApiError('METHOD_NOT_ALLOWED', 'Agents send their messages here as POST requests.'), ['allow', 'POST']);
  return explainMiss(target, path, [...crossOrigin.headersFor(headers.origin), 'vary', crossOrigin.vary]);
}

/** The path of a request without its query; null if it cannot be decoded. A request target may be a whole URL (RFC 9112, section 3.2.2). */
export function readTarget(url: string): string | null {
  // The origin is cut off literally: a `URL` would leave out port 80.
  const target = url.replace(/^https?:\/\/[^/?#]*/i, '');
  const path = target.split('?', 1)[0]! || '/';
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** The response if the method is not supported, or nothing is served at the path. */
function explainMiss(target: string | null, path: string | null, headers: readonly string[]): HttpResponse {
  if (path === null || target === path) {
    const error = new ApiError(
      'METHOD_NOT_ALLOWED',
      `The endpoint${path === null ? '' : ` ${path}`} supports only POST and, for queries, GET. Send the GraphQL request as the JSON body of a POST request.`,
    );
    return errorResponse(error, ['allow', 'GET, HEAD, POST', ...headers]);
  }
  if (target === null)
    return errorResponse(
      new ApiError('BAD_REQUEST', 'The path cannot be decoded. Each % must be followed by two hexadecimal digits.'),
      headers,
    );
  if (target === `${path}/`)
    return errorResponse(
      new ApiError('NOT_FOUND', `Nothing is served at this path. The GraphQL endpoint is ${path}, without a trailing slash.`),
      headers,
    );
  return errorResponse(new ApiError('NOT_FOUND', `Nothing is served at this path. The GraphQL endpoint is ${path}.`), headers);
}

export type Route = (request: { readonly headers: IncomingHttpHeaders }) => HttpResponse | Promise<HttpResponse>;

/** Reads the body itself. */
export type Action = (exchange: Exchange) => Promise<HttpResponse>;

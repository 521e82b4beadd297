/**
 * The GraphQL endpoint as a handler of the Fetch standard, for Deno, Bun, Hono, route handlers and anything else that takes one
 * (docs/mounting.md).
 */

import { readTokenOptions } from '../../auth/read-token-options.ts';
import type { TokenOptions } from '../../auth/token-options.ts';
import { createSafeObserver } from '../../event-details.ts';
import type { Observer } from '../../events.ts';
import { settings } from '../../settings/settings.ts';
import { createEndpoint } from '../endpoint/create-endpoint.ts';
import type { EndpointOptions, ExecutingGraph, UpgradedRequest } from '../endpoint/endpoint-options.ts';
import { callApplication } from '../endpoint/error-response.ts';
import { createRequestIds, type Protocol } from '../endpoint/exchange.ts';
import { routeExchange } from '../routes/route-exchange.ts';
import { checkFetchHandler } from './check-handler-options.ts';
import { FetchExchange } from './fetch-exchange.ts';

/** The options of a handler. `Rest`: the arguments that it is called with after the request. */
export interface FetchHandlerOptions<Rest extends readonly unknown[] = readonly unknown[]> extends TokenOptions, EndpointOptions {
  /**
   * Returns the client's address, which a `Request` does not contain. `rest` are the arguments after the request. Without this function,
   * all requests count as one address, unless `trustProxy` provides another. Default: unknown, as when it throws.
   */
  readonly clientAddress?: (request: Request, ...rest: Rest) => string | null | undefined;
  /**
   * Makes a WebSocket of a request, for subscriptions: in Deno, `(request) => Deno.upgradeWebSocket(request, { protocol:
   * 'graphql-transport-ws' })`. Default: there are none; subscriptions are event streams and multipart messages.
   */
  readonly upgradeWebSocket?: (request: Request, ...rest: Rest) => UpgradedRequest;
  /** Called for each event: requests that begin and end, failures. */
  readonly observe?: Observer;
}

/** Serves one request. Rejects only for what is not a `Request`. */
export interface FetchHandler<Rest extends readonly unknown[] = readonly unknown[]> {
  (request: Request, ...rest: Rest): Promise<Response>;
  /** Serves a message of an agent, if the option `agents` is set; routing is up to the server. */
  readonly agents: (request: Request, ...rest: Rest) => Promise<Response>;
}

/**
 * A handler that serves the GraphQL endpoint at every path that it receives; routing is up to the server. Throws an `Error` if an option is
 * invalid. The graph stays open until its owner closes it.
 */
export function createFetchHandler<Rest extends readonly unknown[] = readonly unknown[]>(
  graph: ExecutingGraph,
  options: FetchHandlerOptions<Rest>,
): FetchHandler<Rest> {
  checkFetchHandler(graph, options);
  const { clientAddress, upgradeWebSocket, writeTimeout = settings.writeTimeout.default } = options;
  const observe = createSafeObserver(options.observe ?? ignore);
  const { endpoint, crossOrigin, admission } = createEndpoint(graph, options, readTokenOptions(options, observe), observe);
  const requestIdOf = createRequestIds();
  const isLive = graph.subscribeRaw !== undefined;
  const routing = { endpoint, isLive, crossOrigin, admission, path: null, agentPath: null, routes: new Map(), actions: new Map(), observe };
  const serve = (protocol: Protocol, request: Request, rest: Rest): Promise<Response> => {
    const requestId = requestIdOf(request.headers.get('x-request-id'));
    const onDefect = (error: Error): void => observe({ kind: 'defect-found', requestId, error });
    const address = callApplication('clientAddress', () => clientAddress?.(request, ...rest), onDefect);
    const exchange = new FetchExchange(request, requestId, String(address ?? ''), writeTimeout);
    exchange.protocol = protocol;
    if (upgradeWebSocket !== undefined && isLive && request.headers.get('upgrade')?.toLowerCase() === 'websocket')
      exchange.offerSocket(() => upgradeWebSocket(request, ...rest));
    void routeExchange(exchange, 'nothing', routing);
    return exchange.response;
  };
  return Object.assign(async (request: Request, ...rest: Rest) => serve('graphql', request, rest), {
    agents: async (request: Request, ...rest: Rest) => serve('mcp', request, rest),
  });
}

const ignore: Observer = () => {};

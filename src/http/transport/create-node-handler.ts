/**
 * The GraphQL endpoint as a handler of `node:http`, for a server of your own or a framework's (docs/mounting.md). `rowgraph serve` uses the
 * same `mountEndpoint`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readTokenOptions } from '../../auth/read-token-options.ts';
import type { TokenOptions } from '../../auth/token-options.ts';
import { createSafeObserver, type Observer } from '../../events.ts';
import type { ExecutingGraph, NodeEndpointOptions } from '../endpoint/endpoint-options.ts';
import { checkNodeHandler } from './check-handler-options.ts';
import { mountEndpoint, type NodeMount } from './mount-endpoint.ts';

/** The options of a handler: those of `rowgraph serve` that do not concern the server as a whole. */
export interface NodeHandlerOptions extends TokenOptions, NodeEndpointOptions {
  /** Called for each event: requests that begin and end, failures. */
  readonly observe?: Observer;
}

const ignore: Observer = () => {};

const everyPath: NodeMount = { path: null, agentPath: null, routes: new Map(), actions: new Map(), joinsHeaders: false };

/** Serves one request. Never throws. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * A handler that serves the GraphQL endpoint at every path that it receives; routing is up to the server. Throws an `Error` if an option is
 * invalid. The graph stays open until its owner closes it.
 */
export function createNodeHandler(graph: ExecutingGraph, options: NodeHandlerOptions): NodeHandler {
  checkNodeHandler(graph, options);
  const observe = createSafeObserver(options.observe ?? ignore);
  const { handle, connections } = mountEndpoint(graph, options, readTokenOptions(options, observe), observe, everyPath);
  return (request, response) => {
    // Middleware may have responded already.
    if (response.writableEnded) return;
    handle(request, response, 'nothing');
    // Node loses what follows in the same packet (`bare-sockets.ts`), so what comes next may begin in the middle of a request.
    if (request.headers.upgrade !== undefined) connections.of(request.socket).endAfterLatest();
  };
}

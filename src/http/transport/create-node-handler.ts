/**
 * The GraphQL endpoint as a handler of `node:http`, for a server of your own or a framework's (docs/mounting.md). `rowgraph serve` uses the
 * same `mountEndpoint`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readTokenOptions } from '../../auth/read-token-options.ts';
import type { TokenOptions } from '../../auth/token-options.ts';
import { createSafeObserver } from '../../event-details.ts';
import type { Observer } from '../../events.ts';
import type { ExecutingGraph, NodeEndpointOptions } from '../endpoint/endpoint-options.ts';
import type { Protocol } from '../endpoint/exchange.ts';
import { checkNodeHandler } from './check-handler-options.ts';
import { mountEndpoint, type NodeMount } from './mount-endpoint.ts';

/** The options of a handler: those of `rowgraph serve` that do not concern the server as a whole. */
export interface NodeHandlerOptions extends TokenOptions, NodeEndpointOptions {
  /** Called for each event: requests that begin and end, failures. */
  readonly observe?: Observer;
}

const ignore: Observer = () => {};
/** In milliseconds. */
const defaultEnding = 5000;

const everyPath: NodeMount = { path: null, agentPath: null, routes: new Map(), actions: new Map(), joinsHeaders: false };

/** Serves one request. Never throws. */
export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /**
   * Serves a WebSocket, as a listener of the server's event `upgrade`: `server.on('upgrade', handler.upgrade)`. As the handler, it serves
   * every path; routing is up to the server.
   */
  readonly upgrade: (request: IncomingMessage, socket: { end(text: string): unknown }, head: Buffer) => void;
  /** Serves a message of an agent, if the option `agents` is set; routing is up to the server. Never throws. */
  readonly agents: (request: IncomingMessage, response: ServerResponse) => void;
  /**
   * Ends the subscriptions within these milliseconds, for a server that is about to close: their clients come back to another one. Resolves
   * when all have been told.
   */
  readonly endSubscriptions: (milliseconds?: number) => Promise<void>;
}

/**
 * A handler that serves the GraphQL endpoint at every path that it receives; routing is up to the server. Throws an `Error` if an option is
 * invalid. The graph stays open until its owner closes it.
 */
export function createNodeHandler(graph: ExecutingGraph, options: NodeHandlerOptions): NodeHandler {
  checkNodeHandler(graph, options);
  const observe = createSafeObserver(options.observe ?? ignore);
  const mounted = mountEndpoint(graph, options, readTokenOptions(options, observe), observe, everyPath);
  const { handle, takeUpgrade, connections, endLive } = mounted;
  const serve = (request: IncomingMessage, response: ServerResponse, protocol: Protocol): void => {
    // Middleware may have responded already.
    if (response.writableEnded) return;
    handle(request, response, 'nothing', protocol);
    // Node loses what follows in the same packet (`bare-sockets.ts`), so what comes next may begin in the middle of a request.
    if (request.headers.upgrade !== undefined) connections.of(request.socket).endAfterLatest();
  };
  const upgrade: NodeHandler['upgrade'] = (request, socket, head) => {
    // No other protocol is served here, and there is no response in which to ignore that.
    if (!takeUpgrade(request, head)) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  };
  return Object.assign((request: IncomingMessage, response: ServerResponse) => serve(request, response, 'graphql'), {
    upgrade,
    agents: (request: IncomingMessage, response: ServerResponse) => serve(request, response, 'mcp'),
    endSubscriptions: (milliseconds = defaultEnding) => endLive(milliseconds),
  });
}

/**
 * Mounts the endpoint on `node:http`: makes an exchange of each request and routes it. In: a graph, the options, and the path of the
 * endpoint; out: a handler, and what a server needs to know of it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenRules } from '../../auth/verify-token.ts';
import type { CacheStatistics, Observer } from '../../events.ts';
import { createEndpoint, type Endpoint } from '../endpoint/create-endpoint.ts';
import type { ExecutingGraph, NodeEndpointOptions } from '../endpoint/endpoint-options.ts';
import { createRequestIds } from '../endpoint/exchange.ts';
import type { GraphqlEndpoint } from '../endpoint/graphql-endpoint.ts';
import { type Action, type Expectation, type Route, routeExchange } from '../routes/route-exchange.ts';
import { Connections } from './connections.ts';
import { NodeExchange } from './node-exchange.ts';

/** Where the endpoint is mounted, and what else is served. */
export interface NodeMount {
  /** The path of the endpoint; null if every request is for it. */
  readonly path: string | null;
  readonly routes: ReadonlyMap<string, Route>;
  /** Handlers of POST requests at other paths. */
  readonly actions: ReadonlyMap<string, Action>;
  /** Whether the server joins repeated headers (`joinDuplicateHeaders`). */
  readonly joinsHeaders: boolean;
  /** Makes an endpoint that distributes requests among several; null if there is only one. */
  readonly divide?: DivideEndpoint | null;
}

/** Turns a server's endpoint into one that determines which project a request is for, and serves it by that project's own endpoint. */
export type DivideEndpoint = (whole: Pick<Endpoint, 'endpoint' | 'endpointFor'>) => GraphqlEndpoint;

/** What a server needs to know of a mounted endpoint. */
export interface MountedEndpoint {
  readonly handle: (request: IncomingMessage, response: ServerResponse, expects: Expectation) => void;
  readonly connections: Connections;
  readonly requestIdOf: (given?: string | string[] | null) => string;
  readonly readCaches: () => readonly CacheStatistics[];
}

/** Mounts the endpoint. Throws an `Error` if an option is invalid. */
export function mountEndpoint(
  graph: ExecutingGraph,
  options: NodeEndpointOptions,
  tokens: TokenRules,
  observe: Observer,
  mount: NodeMount,
): MountedEndpoint {
  const made = createEndpoint(graph, options, tokens, observe);
  const { crossOrigin, admission, readCaches } = made;
  const endpoint = mount.divide ? mount.divide(made) : made.endpoint;
  const { path, routes, actions } = mount;
  const routing = { endpoint, crossOrigin, admission, path, routes, actions, observe };
  const serve = (exchange: NodeExchange): void => {
    const { request, expects } = exchange;
    if (request.method === 'POST' && (path === null || request.url === path) && expects !== 'unknown') void endpoint(exchange);
    else void routeExchange(exchange, expects, routing);
  };
  const connections = new Connections(admission, connectionLimitsOf(options), mount.joinsHeaders, serve);
  const requestIdOf = createRequestIds();
  const handle: MountedEndpoint['handle'] = (request, response, expects) => {
    const connection = connections.of(request.socket);
    connection.begin(new NodeExchange(request, response, connection, requestIdOf(request.headers['x-request-id']), expects));
  };
  return { handle, connections, requestIdOf, readCaches };
}

/** Milliseconds for each MiB of a response while the server is short of room for bytes: that is 8 Mbit/s. */
const pressedWriteTimeout = 1000;

function connectionLimitsOf({ maxPipelinedRequests = 100, writeTimeout = 30_000 }: NodeEndpointOptions) {
  return { pipelinedRequests: maxPipelinedRequests, writeTimeout, pressedWriteTimeout: Math.min(writeTimeout, pressedWriteTimeout) };
}

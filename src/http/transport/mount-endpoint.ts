/** Mounts the endpoint on `node:http`: makes an exchange of each request and routes it. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenRules } from '../../auth/read-jwt.ts';
import type { Observer } from '../../events.ts';
import { settings } from '../../settings/settings.ts';
import type { CacheStatistics } from '../../statistics.ts';
import { createEndpoint, type Endpoint } from '../endpoint/create-endpoint.ts';
import type { ExecutingGraph, NodeEndpointOptions } from '../endpoint/endpoint-options.ts';
import { createRequestIds, type Protocol } from '../endpoint/exchange.ts';
import type { GraphqlEndpoint } from '../endpoint/graphql-endpoint.ts';
import { type Expectation, type Routing, readTarget, routeExchange } from '../routes/route-exchange.ts';
import type { TakeUpgrade } from './bare-sockets.ts';
import { Connections } from './connections.ts';
import { NodeExchange } from './node-exchange.ts';
import { isHandshake, UpgradeExchange } from './upgrade-exchange.ts';

/** Where the endpoint is mounted, and what else is served. */
export interface NodeMount extends Pick<Routing, 'path' | 'agentPath' | 'routes' | 'actions'> {
  /** Whether the server joins repeated headers (`joinDuplicateHeaders`). */
  readonly joinsHeaders: boolean;
  /** Makes an endpoint that distributes requests among several; null if there is only one. */
  readonly divide?: DivideEndpoint | null;
}

/** Turns a server's endpoint into one that determines which project a request is for, and serves it by that project's own endpoint. */
export type DivideEndpoint = (whole: Pick<Endpoint, 'endpoint' | 'endpointFor'>) => GraphqlEndpoint;

export interface MountedEndpoint {
  /** `protocol`: what requests are for if their path does not say so. */
  readonly handle: (request: IncomingMessage, response: ServerResponse, expects: Expectation, protocol?: Protocol) => void;
  /** Opens a WebSocket, unless the request is for something else. */
  readonly takeUpgrade: TakeUpgrade;
  readonly connections: Connections;
  /** Ends what outlives a request, within these milliseconds. */
  readonly endLive: (patience: number) => Promise<void>;
  readonly requestIdOf: (sent?: string | string[] | null) => string;
  readonly readCaches: () => readonly CacheStatistics[];
}

/** Milliseconds for each MiB of a response while the server is short of room for bytes: that is 8 Mbit/s. */
const pressedWriteTimeout = 1000;

/** Throws an `Error` if an option is invalid. */
export function mountEndpoint(
  graph: ExecutingGraph,
  options: NodeEndpointOptions,
  tokens: TokenRules,
  observe: Observer,
  { path, agentPath, routes, actions, joinsHeaders, divide = null }: NodeMount,
): MountedEndpoint {
  const whole = createEndpoint(graph, options, tokens, observe);
  const { crossOrigin, admission, readCaches } = whole;
  const endpoint = divide === null ? whole.endpoint : divide(whole);
  // Projects have graphs of their own.
  const isLive = graph.subscribeRaw !== undefined || divide !== null;
  const routing = { endpoint, isLive, crossOrigin, admission, path, agentPath, routes, actions, observe };
  const { maxPipelinedRequests = settings.maxPipelinedRequests.default, writeTimeout = settings.writeTimeout.default } = options;
  const connections = new Connections(admission, {
    pipelinedRequests: maxPipelinedRequests,
    writeTimeout,
    pressedWriteTimeout: Math.min(writeTimeout, pressedWriteTimeout),
  });
  const requestIdOf = createRequestIds();
  const handle: MountedEndpoint['handle'] = (request, response, expects, protocol = 'graphql') => {
    const connection = connections.of(request.socket);
    const requestId = requestIdOf(request.headers['x-request-id']);
    const exchange = new NodeExchange(request, response, connection, requestId, expects, joinsHeaders);
    exchange.protocol = protocol;
    if (connection.begin(exchange)) void routeExchange(exchange, expects, routing);
  };
  const takeUpgrade: TakeUpgrade = (request, rest) => {
    const isForEndpoint = path === null || readTarget(request.url ?? '') === path;
    if (!isForEndpoint || !isLive || !isHandshake(request)) return false;
    const connection = connections.of(request.socket);
    const exchange = new UpgradeExchange(request, rest, connection, requestIdOf(request.headers['x-request-id']), joinsHeaders);
    if (connection.begin(exchange)) void endpoint(exchange);
    return true;
  };
  const endLive = (patience: number): Promise<void> => whole.connections.end(patience);
  return { handle, takeUpgrade, connections, endLive, requestIdOf, readCaches };
}

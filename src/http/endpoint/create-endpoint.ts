/** Creates the GraphQL endpoint from its options: token verification, limits on requests, and stores of documents. */

import type { TokenRules } from '../../auth/read-jwt.ts';
import { TokenVerifier } from '../../auth/verify-token.ts';
import { WeighedTurns } from '../../budget/turns.ts';
import type { Observer } from '../../events.ts';
import { readProxyTrust } from '../../settings/check-settings.ts';
import { settings } from '../../settings/settings.ts';
import type { CacheStatistics } from '../../statistics.ts';
import { Admission, type Share } from '../admission/admission.ts';
import { addressBlock, findClientAddress } from '../admission/client-address.ts';
import { LoopDelay } from '../admission/loop-delay.ts';
import { RequestRate } from '../admission/request-rate.ts';
import { Documents } from '../documents/documents.ts';
import { PersistedQueries } from '../documents/persisted-queries.ts';
import { readTrustedDocuments } from '../documents/trusted-documents.ts';
import { LiveConnections, LiveGroup } from '../live/live-connections.ts';
import { ReservedStreams } from '../live/reserved-streams.ts';
import { RedisStore } from '../redis-store.ts';
import type { Routing } from '../routes/route-exchange.ts';
import { createCrossOrigin } from './cross-origin.ts';
import type { EndpointOptions, ExecutingGraph } from './endpoint-options.ts';
import type { Exchange } from './exchange.ts';
import { createGraphqlEndpoint, type EndpointParts, type GraphqlEndpoint } from './graphql-endpoint.ts';

export interface Endpoint extends Pick<Routing, 'endpoint' | 'crossOrigin'> {
  readonly admission: Admission;
  /** Statistics of the endpoint's caches. */
  readonly readCaches: () => readonly CacheStatistics[];
  /** The connections that outlive a request. */
  readonly connections: LiveConnections;
  /** Creates another endpoint, which shares with this one everything that is not in `own`. */
  readonly endpointFor: (own: OwnParts) => OtherEndpoint;
}

export interface OtherEndpoint {
  readonly handle: GraphqlEndpoint;
  /** Ends the connections that outlive a request; their clients may come back. */
  readonly endConnections: () => void;
}

/** What one of several endpoints of a server has for itself. `name` distinguishes its users from those of other endpoints. */
type OwnParts = Pick<EndpointParts, 'graph' | 'verifier' | 'authenticate' | 'requestTimeout' | 'observe'> & {
  readonly name: string;
};

/** The endpoint over a graph. Throws an `Error` if an option is invalid. */
export function createEndpoint(graph: ExecutingGraph, options: EndpointOptions, tokens: TokenRules, observe: Observer): Endpoint {
  const { agents = null, authenticate = null, maxEventLoopDelay, rateLimit, untrustedRoles = null } = options;
  if (authenticate === null && !acceptsSome(tokens))
    throw new Error('A JWT secret, public keys, API keys or the function "authenticate" is required.');
  const verifier = new TokenVerifier(tokens, options.tokenCache);
  const shared = options.redisUrl === undefined ? null : new RedisStore(options.redisUrl, observe);
  const openPersisted = (project: string) =>
    options.persistedQueries === undefined ? null : new PersistedQueries(options.persistedQueries, shared?.documentsOf(project) ?? null);
  const persisted = openPersisted('');
  const trusted = options.trustedDocuments === undefined ? null : readTrustedDocuments(options.trustedDocuments);
  const admission = new Admission({
    requests: options.maxRequests ?? settings.maxRequests.default,
    clientRequests: options.maxClientRequests ?? settings.maxClientRequests.default,
    bytes: options.maxBytesInFlight ?? settings.maxBytesInFlight.default,
  });
  const crossOrigin = createCrossOrigin(options.corsOrigins ?? ['*']);
  const liveHeartbeat = options.liveHeartbeat ?? settings.liveHeartbeat.default;
  const initTimeout = options.initTimeout ?? settings.initTimeout.default;
  const connections = new LiveConnections(Math.min(liveHeartbeat, initTimeout), observe);
  const parts: EndpointParts = {
    ...{ graph, verifier, authenticate, observe, admission, project: null, crossOrigin, agents, connections, liveHeartbeat, initTimeout },
    reserved: options.reservedStreams === false ? null : new ReservedStreams(connections, liveHeartbeat),
    bodyLimit: options.bodyLimit ?? settings.bodyLimit.default,
    requestTimeout: options.requestTimeout ?? settings.requestTimeout.default,
    cacheControl: options.cacheControl ?? settings.cacheControl.default,
    maxBatch: options.maxBatch ?? null,
    serverTiming: options.serverTiming ?? false,
    keyInUrl: options.keyInUrl ?? true,
    detailedEvents: options.detailedEvents ?? false,
    beginTrace: options.beginTrace ?? null,
    traceDatabase: options.traceDatabase ?? false,
    shareOf: createShareFinder(admission, options.trustProxy ?? false),
    isOverloaded: maxEventLoopDelay === undefined ? () => false : createLoopWatch(maxEventLoopDelay),
    rate: rateLimit === undefined ? null : new RequestRate(rateLimit, shared),
    documents: new Documents({ persisted, trusted, untrustedRoles }),
    // Preparing a large body for the database takes up to a hundred times its size in memory.
    largeBodies: new WeighedTurns({ total: 512 * 1024, ofClient: 384 * 1024 }),
  };
  const endpointFor: Endpoint['endpointFor'] = ({ name, ...own }) => {
    const documents = new Documents({ persisted: openPersisted(name), trusted, untrustedRoles });
    const ownConnections = new LiveGroup(connections);
    const handle = createGraphqlEndpoint({
      ...{ ...parts, ...own, documents, project: { name, requests: 0, bytes: 0 }, connections: ownConnections },
      reserved: parts.reserved === null ? null : new ReservedStreams(ownConnections, liveHeartbeat),
    });
    return { handle, endConnections: () => ownConnections.dismissAll() };
  };
  const caches = persisted === null ? [verifier] : [verifier, persisted];
  const readCaches: Endpoint['readCaches'] = () => caches.map((cache) => cache.readStatistics());
  return { endpoint: createGraphqlEndpoint(parts), endpointFor, crossOrigin, admission, connections, readCaches };
}

function acceptsSome({ secrets, publicKeys, apiKeys }: TokenRules): boolean {
  return secrets.length > 0 || publicKeys !== undefined || apiKeys !== undefined;
}

function createShareFinder(admission: Admission, trustProxy: boolean | string): (exchange: Exchange) => Share {
  const isTrusted = readProxyTrust(trustProxy);
  if (isTrusted === null) return (exchange) => exchange.referAddress(admission);
  return ({ remoteAddress, headers }) =>
    admission.refer(addressBlock(findClientAddress(remoteAddress, headers['x-forwarded-for'], isTrusted)));
}

function createLoopWatch(maximum: number): () => boolean {
  const delay = new LoopDelay();
  return () => {
    delay.noteRequest();
    return delay.mean > maximum;
  };
}

/** The options of the GraphQL endpoint, wherever it is mounted. They have the names of the settings (docs/settings.md). Loads nothing. */
import type { Authenticate } from '../../auth/caller.ts';
import type { Deadline } from '../../budget/deadline.ts';
import type { Caller, GraphQLRequest, RawResponse, RequestOptions, SubscribeOptions } from '../../engine/request.ts';
import type { BeginTrace } from '../../event-details.ts';
import type { AgentProtocol } from '../../mcp/session.ts';
import type { CacheStatistics, GraphStatistics } from '../../statistics.ts';
import type { DocumentsById, TrustedDocuments } from '../documents/trusted-documents.ts';

/** `Infinity` is no limit, except for `tokenCache`, `persistedQueries` and `rateLimit`. */
export interface EndpointOptions {
  /**
   * Identifies the sender of a request, by a session cookie or a store of your own. Called before keys and tokens are checked; they decide
   * only if it returns nobody. Revoked tokens have no effect on its callers.
   */
  readonly authenticate?: Authenticate;
  /** Answers agents, by the Model Context Protocol: what `createAgents` of `rowgraph/mcp` returns. Default: they are not served. */
  readonly agents?: AgentProtocol;
  /** Whether a key may be in the URL, as the parameter `apikey`. Default: true, as Supabase's gateway does. */
  readonly keyInUrl?: boolean;
  /** How many verified tokens to cache. Default: 10,000. */
  readonly tokenCache?: number;
  /** Maximum size of a request body in bytes. Default: 512 KiB. */
  readonly bodyLimit?: number;
  /**
   * Bytes for the documents that clients may store under their hash (automatic persisted queries). Default: none; clients may not store
   * documents.
   */
  readonly persistedQueries?: number;
  /** Documents that requests may name by id, for example as a plain object. Default: none. */
  readonly trustedDocuments?: TrustedDocuments | DocumentsById;
  /** The roles that may run documents that are not trusted. Default: all. */
  readonly untrustedRoles?: readonly string[];
  /** Whether responses report the duration of each stage, in the Server-Timing header. Default: false. */
  readonly serverTiming?: boolean;
  /** Whether the event of each finished request reports how it ran (`details`): times, operation and trace. Default: false. */
  readonly detailedEvents?: boolean;
  /** Called with the headers of each request if events are detailed: finds or begins its trace. Default: no traces. */
  readonly beginTrace?: BeginTrace;
  /** Whether PostgreSQL sees the trace of a request, as the `application_name` of its transaction. Default: false. */
  readonly traceDatabase?: boolean;
  /** Maximum requests in a batch (an array as the body). Default: batches are rejected. */
  readonly maxBatch?: number;
  /** The Cache-Control header of responses to GET requests that succeed. Default: no-store. */
  readonly cacheControl?: string;
  /**
   * Origins that browsers may call from; `*` allows any, an empty list none. Default: any, because keys are sent in headers and not in
   * cookies.
   */
  readonly corsOrigins?: readonly string[];
  /** Maximum requests from one address in a time window. Default: any number. */
  readonly rateLimit?: { readonly max: number; readonly windowMilliseconds: number };
  /**
   * Redis or Valkey, through which several processes share the requests of each address (`rateLimit`) and the documents that clients store
   * (`persistedQueries`). Needs the package `@redis/client`. Default: each process has its own.
   */
  readonly redisUrl?: string;
  /** Whether to believe a proxy in front about the client's address, or the addresses of such proxies. Default: false. */
  readonly trustProxy?: boolean | string;
  /** Milliseconds that a request may take, from its headers until PostgreSQL has finished. Default: 30,000. */
  readonly requestTimeout?: number;
  /** Milliseconds that a client may take to read each MiB of a response. Default: 30,000. */
  readonly writeTimeout?: number;
  /** Milliseconds between signs of life on WebSockets and event streams. Default: 15,000. */
  readonly liveHeartbeat?: number;
  /** Milliseconds in which the client of a WebSocket must send `connection_init`. Default: 5,000. */
  readonly initTimeout?: number;
  /**
   * Whether clients may reserve event streams (the single connection mode of graphql-sse), which all their requests must reach: false if
   * several processes share a port. Default: true.
   */
  readonly reservedStreams?: boolean;
  /** Maximum requests in flight; more are rejected with OVERLOADED. Default: 4,000. */
  readonly maxRequests?: number;
  /** The same for one address, and for one user (the claim `sub`). Default: 1,000. */
  readonly maxClientRequests?: number;
  /** Maximum bytes of request bodies and unwritten responses. Default: 256 MiB. */
  readonly maxBytesInFlight?: number;
  /** Mean event loop delay, in milliseconds, above which requests are rejected with OVERLOADED. Default: none. */
  readonly maxEventLoopDelay?: number;
}

/** The options of the endpoint when Node carries its requests. */
export interface NodeEndpointOptions extends EndpointOptions {
  /** Maximum requests in flight on one connection; one more closes it. Default: 20. */
  readonly maxPipelinedRequests?: number;
}

export interface ServedGraph {
  executeRaw(request: GraphQLRequest, caller: Caller, options?: RequestOptions): Promise<RawResponse>;
  /**
   * Subscribes to a request. The first `next()` gives the first answer, or rejects with `ApiError` or `RequestErrors` if the request is
   * refused. Each further one gives the latest answer that was not given yet, the same object to all whose subscriptions are equal; it
   * rejects if the subscription cannot go on. A query is answered once, and so is a mutation unless `readOnly`. A graph without live queries does without it.
   */
  subscribeRaw?(request: GraphQLRequest, caller: Caller, options?: SubscribeOptions): AsyncIterableIterator<RawResponse>;
  /**
   * Loads what a role's requests need of the database before they can be prepared, unless it is loaded. Rejects with what they would fail
   * with. A graph that loads nothing does without it.
   */
  loadRole?(role: string, deadline: Deadline): Promise<void>;
  /** For agents: validates a document for a role. A graph that cannot has tools for all trusted documents. */
  validate?(query: string, options: { role: string }): Promise<readonly unknown[]>;
  /** For agents: explains a request, without running it. */
  explain?(request: GraphQLRequest, caller: Caller): Promise<unknown>;
  /** Statistics of its caches. */
  readCaches(): readonly CacheStatistics[];
  /** Its statistics and the current state of its connections; null if it is not open yet. */
  readStatistics(): GraphStatistics | null;
  /** Resolves if the database responds. */
  ping(): Promise<void>;
}

/** What the endpoint alone needs. */
export type ExecutingGraph = Pick<ServedGraph, 'executeRaw' | 'subscribeRaw' | 'loadRole' | 'validate' | 'explain'>;

/** What rowgraph needs of a `WebSocket`. */
export interface StandardWebSocket {
  readonly readyState: number;
  readonly protocol: string;
  /** Bytes that have not been sent. */
  readonly bufferedAmount: number;
  addEventListener(type: string, listener: (event: { readonly data?: unknown }) => void): void;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}

/** A WebSocket that a platform has made of a request, and the response to return. */
export interface UpgradedRequest {
  readonly socket: StandardWebSocket;
  readonly response: Response;
}

/** The options of the HTTP server. Types only. */
import type { Telemetry } from '../telemetry/create-telemetry.ts';
import type { ServedGraph } from './served-graph.ts';

export interface ServerOptions {
  readonly graph: ServedGraph;
  /** The secret that keys and tokens are signed with (HS256). */
  readonly jwtSecret: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  /** Path prefix of `/graphql/v1` and `/graphiql`, such as `/api`. Default: none. */
  readonly basePath?: string;
  /** Whether GraphiQL is served, and the key that is filled in. Default: false. */
  readonly graphiql?: boolean | { readonly anonKey: string };
  /** How many verified tokens to cache. Default: 10,000. */
  readonly tokenCache?: number;
  /** Maximum size of a request body in bytes. Default: 1 MiB. */
  readonly bodyLimit?: number;
  /** Origins that browsers may call from; `*` allows any, an empty list none. Default: any, because keys are sent in headers and not in cookies. */
  readonly corsOrigins?: readonly string[];
  /** Maximum requests from one address in a time window. Default: any number. */
  readonly rateLimit?: { readonly max: number; readonly windowMilliseconds: number };
  /** Whether to trust a proxy in front about the client's address, or the addresses of such proxies. Default: false. */
  readonly trustProxy?: boolean | string;
  /** Milliseconds that a request may take, from its headers until PostgreSQL has finished. Default: 30,000. */
  readonly requestTimeout?: number;
  /** Milliseconds that the headers of a request may take to arrive. Default: 15,000. */
  readonly headersTimeout?: number;
  /** Milliseconds that a request may take to arrive, including its body. Default: 30,000. */
  readonly receiveTimeout?: number;
  /** Milliseconds that a client may take to read each MiB of a response. Default: 30,000. */
  readonly writeTimeout?: number;
  /** Maximum open connections; more are closed immediately. Default: 10,000. */
  readonly maxConnections?: number;
  /** Maximum requests in flight; more are rejected with OVERLOADED. Default: 4,000. */
  readonly maxRequests?: number;
  /** The same for one address, and for one user (the claim `sub`). Default: 1,000. */
  readonly maxClientRequests?: number;
  /** Maximum requests in flight on one connection; more are not read until one ends. Default: 100. */
  readonly maxPipelinedRequests?: number;
  /** Maximum bytes of request bodies and unwritten responses. Default: 256 MiB. */
  readonly maxBytesInFlight?: number;
  /** Mean event loop delay, in milliseconds, above which requests are rejected with OVERLOADED. Default: none. */
  readonly maxEventLoopDelay?: number;
  /** How long `drain()` keeps the server running while `/health/ready` says no. Default: 0 ms. */
  readonly drainMilliseconds?: number;
  /** How long `close()` waits for requests in flight before it ends them. Default: 10,000 ms. */
  readonly closeMilliseconds?: number;
  /** Default: log lines of level info and above on standard output. */
  readonly telemetry?: Telemetry;
}

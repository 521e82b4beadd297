/** What can be set of the HTTP server. Types only. */
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
  /** What comes before `/graphql/v1` and `/graphiql`, such as `/api`. Default: nothing. */
  readonly basePath?: string;
  /** Whether GraphiQL is served, and the key that is filled in. Default: false. */
  readonly graphiql?: boolean | { readonly anonKey: string };
  /** How many tokens are remembered as valid. Default: 10,000. */
  readonly tokenCache?: number;
  /** Largest body of a request in bytes. Default: 1 MiB. */
  readonly bodyLimit?: number;
  /** Origins that browsers may call from; `*` is any, an empty list none. Default: any, as keys travel in headers and not in cookies. */
  readonly corsOrigins?: readonly string[];
  /** Requests that one address may send in a time window. Default: any number. */
  readonly rateLimit?: { readonly max: number; readonly windowMilliseconds: number };
  /** Whether a proxy in front is believed about the client's address, or the addresses of such proxies. Default: false. */
  readonly trustProxy?: boolean | string;
  /** Milliseconds that a request may take, from its head to the end of PostgreSQL's work. Default: 30,000. */
  readonly requestTimeout?: number;
  /** Milliseconds in which the head of a request must arrive. Default: 15,000. */
  readonly headersTimeout?: number;
  /** Milliseconds in which a request must arrive, its body included. Default: 30,000. */
  readonly receiveTimeout?: number;
  /** Milliseconds in which a client must read a response, for each MiB of it. Default: 30,000. */
  readonly writeTimeout?: number;
  /** Connections that are open at one time; more are closed at once. Default: 10,000. */
  readonly maxConnections?: number;
  /** Requests that are in hand at one time, in all; more are refused with OVERLOADED. Default: 4,000. */
  readonly maxRequests?: number;
  /** The same of one address, and of one user (the claim `sub`). Default: 1,000. */
  readonly maxClientRequests?: number;
  /** Requests of one connection that are in hand before no more are read. Default: 100. */
  readonly maxPipelinedRequests?: number;
  /** Bytes of bodies and of responses that are not yet written, in all. Default: 256 MiB. */
  readonly maxBytesInFlight?: number;
  /** Mean delay of the event loop, in milliseconds, over which requests are refused with OVERLOADED. Default: none. */
  readonly maxEventLoopDelay?: number;
  /** How long `drain()` lets the server go on while `/health/ready` says no. Default: 0 ms. */
  readonly drainMilliseconds?: number;
  /** How long `close()` waits for requests in flight before it cuts them off. Default: 10,000 ms. */
  readonly closeMilliseconds?: number;
  /** Default: log lines from level info on to standard output. */
  readonly telemetry?: Telemetry;
}

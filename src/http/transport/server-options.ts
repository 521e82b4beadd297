/** The options of the HTTP server. Types only. */
import type { TokenRules } from '../../auth/verify-token.ts';
import type { Telemetry } from '../../telemetry/create-telemetry.ts';
import type { NodeEndpointOptions, ServedGraph } from '../endpoint/endpoint-options.ts';
import type { PageBackend } from '../routes/graphiql-page.ts';
import type { DivideEndpoint } from './mount-endpoint.ts';

export interface ServerOptions extends NodeEndpointOptions {
  readonly graph: ServedGraph;
  /** Serves several projects, each by an endpoint of its own. Default: all requests are for `graph`. */
  readonly divide?: DivideEndpoint;
  /** The secret that keys and tokens are signed with (HS256). Not needed if `tokens` has public keys. */
  readonly jwtSecret?: string;
  /** What a token must satisfy besides its signature with the secret. */
  readonly tokens?: Omit<TokenRules, 'secrets'> & {
    /** Former secrets: tokens that were signed with them stay valid. */
    readonly previousSecrets?: readonly string[];
  };
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  /** Whether other processes may listen on the same port; the system distributes the connections (Linux and others). Default: false. */
  readonly reusePort?: boolean;
  /** Path prefix of `/graphql/v1` and `/graphiql`, such as `/api`. Default: none. */
  readonly basePath?: string;
  /** Whether to serve GraphiQL, and the options of its page. Default: false. */
  readonly graphiql?: boolean | PageOptions;
  /** The key that `/metrics` requires, or `elsewhere` if another server serves it. Default: no key. */
  readonly metrics?: { readonly key?: string } | 'elsewhere';
  /** Milliseconds in which the headers of a request must arrive. Default: 15,000. */
  readonly headersTimeout?: number;
  /** Milliseconds in which a request must arrive, including its body. Default: 30,000. */
  readonly receiveTimeout?: number;
  /** Maximum open connections; more are closed immediately. Default: 10,000. */
  readonly maxConnections?: number;
  /** How long `drain()` keeps the server running while `/health/ready` reports that it is not ready. Default: 0 ms. */
  readonly drainMilliseconds?: number;
  /** How long `close()` waits for requests in flight before it ends them. Default: 10,000 ms. */
  readonly closeMilliseconds?: number;
  /** Default: log lines of level info and above on standard error. */
  readonly telemetry?: Telemetry;
}

/** The options of the page at `/graphiql`. */
export interface PageOptions {
  /** The key to fill in. Default: the user pastes one. */
  readonly anonKey?: string | null;
  /** Documents to open at first. Default: one that the page derives from the schema. */
  readonly operations?: readonly string[];
  /** What the page may do beyond the endpoint. Never enable it where anybody but the developer can reach the server. Default: nothing. */
  readonly backend?: PageBackend;
}

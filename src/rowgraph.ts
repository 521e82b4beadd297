/**
 * The composition root and public API (being written): holds the current `Api` of each role, reloads it and wires the stages.
 */
import type { ErrorCode, ErrorObject } from './errors.ts';
import type { Observer } from './events.ts';

/** A GraphQL request, as the body of an HTTP request has it. */
export interface GraphQLRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Who asks: the database role that the request runs as, and the claims that policies read. */
export interface Caller {
  readonly role: string;
  /** `request.jwt.claims`; `role` is always among them. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

export interface ExecutionResult {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly ErrorObject[];
}

/** A response as bytes, for servers. */
export interface RawResponse {
  /** The JSON text of the response, UTF-8. */
  readonly body: Uint8Array;
  /** The code of the first error, or null. */
  readonly errorCode: ErrorCode | null;
}

export interface RowgraphOptions {
  /** A connection URL, a `pg.Pool`, or a `PGlite`. What is passed in open stays open on `close()`. */
  readonly database: unknown;
  /** Exposed schemas, in the order of the search path. Default: public. */
  readonly schemas?: readonly string[];
  /** Whether introspection is answered: by the comment directive of each schema (the default), always or never. */
  readonly introspection?: 'directive' | 'on' | 'off';
  /** Connections of the pool that is opened for a URL. Default: 10. */
  readonly poolSize?: number;
  /** Whether statements are prepared by name. `false` for poolers that cannot keep them. Default: true. */
  readonly prepare?: boolean;
  /** Takes note of what happens: schema loads, retried flights, failures. */
  readonly observe?: Observer;
}

export interface Rowgraph {
  execute(request: GraphQLRequest, caller: Caller): Promise<ExecutionResult>;
  executeRaw(request: GraphQLRequest, caller: Caller): Promise<RawResponse>;
  resolve(client: unknown, request: GraphQLRequest): Promise<ExecutionResult>;
  sdl(options?: { role?: string }): Promise<string>;
  reload(): Promise<void>;
  /** Resolves if the database answers. For health checks. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens rowgraph over a database. */
export async function createRowgraph(_options: RowgraphOptions): Promise<Rowgraph> {
  throw new Error('being written');
}

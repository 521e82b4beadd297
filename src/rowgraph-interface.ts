/** The interface of a graph: what a program can do with what `createRowgraph` returns. Types only. */
import type { GraphQLSchema } from 'graphql';
import type { AccessOptions, AccessReport } from './access/access.ts';
import type { PgClientLike, PgliteLike, PgliteTransactionLike } from './database/drivers.ts';
import type { DoctorReport } from './doctor/finding-codes.ts';
import type {
  Caller,
  ExecutionResult,
  GraphQLRequest,
  RawResponse,
  RequestCost,
  RequestOptions,
  SubscribeOptions,
} from './engine/request.ts';
import type { ErrorObject } from './errors/api-error.ts';
import type { ExplainOptions, Explanation } from './explain/explanation.ts';
import type { CacheStatistics, GraphStatistics } from './statistics.ts';

/** Which role's schema an executable schema shows, and as whom its operations run. */
export interface SchemaOptions<Context = unknown> {
  /** The role whose schema it is. Default: anon. */
  readonly role?: string;
  /** The caller of an operation, from the context that the GraphQL server created for it. Default: the role, without claims. */
  readonly caller?: (context: Context) => Caller | Promise<Caller>;
  /**
   * Whether the mutations of an operation are all or nothing even if their resolvers are wrapped, as Apollo Server wraps all resolvers. A
   * wrapper then cannot prevent a mutation from running. Default: false; each wrapped mutation runs alone, when its resolver is called.
   */
  readonly atomicMutations?: boolean;
}

/** A GraphQL API over a database. */
export interface Rowgraph {
  /**
   * Runs a request as a caller. Never rejects because of the request: `errors` reports failures. Rejects with `TypeError` for an invalid
   * caller or option.
   */
  execute(request: GraphQLRequest, caller: Caller, options?: RequestOptions): Promise<ExecutionResult>;
  /** The same as bytes, for servers. */
  executeRaw(request: GraphQLRequest, caller: Caller, options?: RequestOptions): Promise<RawResponse>;
  /**
   * Subscribes to a request as a caller: the iterable gives its answer, and a new one whenever it changes (docs/live.md). Only the latest
   * answer waits to be read. Never rejects because of the request: the last result has the `errors` that refuse or end it. A query is
   * answered once, and a mutation refused. Leaving the loop, `return()` and the signal unsubscribe. Rejects with `TypeError` for an invalid caller or option.
   */
  subscribe(request: GraphQLRequest, caller: Caller, options?: SubscribeOptions): AsyncIterableIterator<ExecutionResult>;
  /**
   * The same as bytes, for servers; a mutation runs once, unless `readOnly`. What refuses or ends the subscription rejects `next()`: `ApiError`, or `RequestErrors` with several.
   */
  subscribeRaw(request: GraphQLRequest, caller: Caller, options?: SubscribeOptions): AsyncIterableIterator<RawResponse>;
  /**
   * Runs a request on your own connection (a `pg` client or a `PGlite`): in its open transaction, under a savepoint, as
   * its current role, with its search_path as the exposed schemas. The API includes tables that only this transaction sees.
   */
  resolve(client: PgClientLike | PgliteLike | PgliteTransactionLike, request: GraphQLRequest): Promise<ExecutionResult>;
  /**
   * Explains a request: its cost, its plan, its SQL, PostgreSQL's plan, and what would make it faster. Runs the request only in the mode
   * `analyze`, in a transaction that is rolled back. Rejects with `ApiError` where `execute` would report errors.
   */
  explain(request: GraphQLRequest, caller: Caller, options?: ExplainOptions): Promise<Explanation>;
  /** What the operations of a document, or the named one, count against each limit. Rejects if the document is not valid GraphQL. */
  cost(request: GraphQLRequest, caller: Caller): Promise<RequestCost>;
  /** Validates a document for a role (default: `anon`) and returns its errors: none if it is valid and within the limits. Runs nothing. */
  validate(query: string, options?: { role?: string }): Promise<readonly ErrorObject[]>;
  /**
   * What `coercion: 'lenient'` lets pass in a document, each with what to write instead: none if the document is valid as it is, or not at
   * all. Runs nothing.
   */
  findMismatches(query: string, options?: { role?: string }): Promise<readonly string[]>;
  /**
   * Validates a document for a role (default: `anon`) as `validate` does, and compiles its operations ahead of their first request, unless
   * their SQL depends on variables. Runs nothing.
   */
  prepare(query: string, options?: { role?: string }): Promise<readonly ErrorObject[]>;
  /** The schema that a role sees (default: `anon`), in the schema definition language. */
  sdl(options?: { role?: string }): Promise<string>;
  /** The schema that a role sees, to be executed by another GraphQL server or combined with resolvers of your own (docs/mounting.md). */
  schema<Context = unknown>(options?: SchemaOptions<Context>): Promise<GraphQLSchema>;
  /**
   * Which objects are missing from the API of a role (default: `anon`) and why, and what is dangerous, slow or without effect, each with a
   * remedy. Examines the database as it is now, and changes nothing.
   */
  doctor(options?: { role?: string }): Promise<DoctorReport>;
  /**
   * Who may do what with which rows, as grants and policies decide it, in plain words with the SQL. It tells of all roles: only for those who
   * run the database. Reads the catalogs as they are now, and changes nothing.
   */
  access(options?: AccessOptions): Promise<AccessReport>;
  /** Reloads the schema, for changes that the database does not report. */
  reload(): Promise<void>;
  /** Statistics of the caches of documents, compiled variants, prepared statements and introspection responses. */
  readCaches(): readonly CacheStatistics[];
  /** Statistics of batches and requests since the graph was opened, and the current state of its connections. */
  readStatistics(): GraphStatistics;
  /** Resolves if the database responds. For health checks. */
  ping(): Promise<void>;
  /** Closes everything that the graph opened. Await running requests first. */
  close(): Promise<void>;
}

/** The input and output of a request, as in the public API. */
import type { Deadline } from '../budget/deadline.ts';
import type { LimitName } from '../budget/limits.ts';
import type { ErrorObject } from '../errors/api-error.ts';
import type { ErrorCode } from '../errors/codes.ts';
import type { RanOperation } from '../event-details.ts';
import type { ResponsePosition } from '../replicas/position.ts';

/** A GraphQL request, like the body of an HTTP request. */
export interface GraphQLRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

/** The caller: the database role that the request runs as, and the claims that policies read. */
export interface Caller {
  readonly role: string;
  /** The value of `request.jwt.claims`; it always includes `role`. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/** What SQL can read of the HTTP request that carried a request, where policies or functions do (docs/security.md). */
export interface HttpHead {
  readonly method?: string | undefined;
  /** The path; what follows a question mark is left out. */
  readonly url?: string | undefined;
  /** Of these, SQL gets only those that `requestHeaders` lists. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
}

/** When a request passed its stages, in milliseconds of `performance.now()`: recorded as it runs. */
export interface RequestMarks {
  /** The `application_name` to set in PostgreSQL while it runs; null leaves the name unchanged. */
  readonly applicationName: string | null;
  /** The document is parsed and valid; about the start of the request if it is cached. */
  parsed: number | null;
  /** Parsed, planned and compiled. */
  prepared: number | null;
  /** Sent to PostgreSQL. */
  sent: number | null;
  /** PostgreSQL has answered. */
  ended: number | null;
  /** What ran; null until it is prepared. */
  operation: RanOperation | null;
}

/** How to run a request. */
export interface RequestOptions {
  /** Time limit in milliseconds. It can only shorten the limit that the graph sets for every request (`timeout`). */
  readonly timeout?: number | undefined;
  /** Cancels the request: removes it from the queue, or stops it in PostgreSQL. */
  readonly signal?: AbortSignal | undefined;
  /** The client whose share of the connections the request uses, such as a user or an address. Default: the role and the claim `sub`. */
  readonly client?: string | undefined;
  /**
   * Makes a mutation run once, however often it is sent with this key (docs/idempotency.md). Queries ignore it. Also taken from
   * `extensions.idempotencyKey` of the request.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * Where the log of the database was after what the caller wrote, as an earlier response says in `extensions.position`: with replicas
   * (docs/replicas.md), the response shows it. Also taken from `extensions.position` of the request.
   */
  readonly position?: string | undefined;
  /** The head of the HTTP request that carried it, for policies and functions that read `request.headers` and the like. */
  readonly http?: HttpHead | undefined;
  /** For servers: replaces `timeout` and `signal`, for a request whose time began before its body was read. */
  readonly deadline?: Deadline | undefined;
  /** For servers: rejects mutations, which GET requests must not run. */
  readonly readOnly?: boolean | undefined;
  /** For servers: records the times of the request. */
  readonly marks?: RequestMarks | undefined;
  /** For servers: called when all that is left to do is to wait for the database and send its result. */
  readonly onPrepared?: (() => void) | undefined;
}

/** How to subscribe. */
export interface SubscribeOptions
  extends Pick<RequestOptions, 'signal' | 'client' | 'position' | 'http' | 'readOnly' | 'marks' | 'onPrepared'> {
  /** For servers: bounds the wait for the first answer. */
  readonly deadline?: Deadline | undefined;
  /** For servers: the cursor from which a stream goes on, instead of that in the request. */
  readonly after?: string | undefined;
}

export interface ExecutionResult {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly ErrorObject[];
  readonly extensions?: Record<string, unknown>;
}

/** A response as bytes, for servers: JSON in UTF-8. */
export interface RawResponse {
  /** In pieces, so that a large response is not copied. */
  readonly chunks: readonly Uint8Array[];
  /** Total length of all chunks, in bytes. */
  readonly length: number;
  /** Whether a mutation ran: withholding the response would not undo it. */
  readonly isMutation?: boolean;
  /** Whether it is the response to an earlier request with the same idempotency key. */
  readonly isReplayed?: boolean;
  /** With replicas: after what the request wrote. */
  readonly position?: ResponsePosition | undefined;
  /** The headers of the HTTP request that it may depend on, in lower case; absent if there are none. */
  readonly dependsOn?: readonly string[] | undefined;
  /** Whether it is the answer to a subscription, and others may follow. */
  readonly isLive?: boolean;
  /** Of a stream: the cursor of its last row; null if it has none. Absent in all other responses. */
  readonly endCursor?: string | null | undefined;
  /** Whether it is a list of responses. */
  readonly isBatch?: boolean;
  /** The code of the first error, or null. */
  readonly errorCode: ErrorCode | null;
}

/**
 * What was counted, by the name of the limit. Null if the count needs a schema, an operation that is valid and within the other limits, or
 * a run of the operation.
 */
export type CostCounts = Readonly<Record<LimitName, number | null>>;

/** The counts of one operation of a document. */
export interface OperationCost {
  /** Null for an unnamed operation. */
  readonly operation: string | null;
  readonly counts: CostCounts;
  /** The limits that the operation exceeds. */
  readonly exceeded: readonly LimitName[];
  /** Why some counts are missing. */
  readonly error?: string;
}

/** The counts of a document, and the limits. */
export interface RequestCost {
  readonly operations: readonly OperationCost[];
  /** Null for a limit that is off. */
  readonly limits: CostCounts;
}

/**
 * The text of a claim that identifies a user, a session or a token: some issuers write ids as numbers, and PostgreSQL's `->>` reads `77`
 * and `"77"` as the same text. Null if it is no id: absent, empty, a list or an object.
 */
export function idTextOf(claim: unknown): string | null {
  if (typeof claim === 'string') return claim === '' ? null : claim;
  return typeof claim === 'number' || typeof claim === 'bigint' || typeof claim === 'boolean' ? String(claim) : null;
}

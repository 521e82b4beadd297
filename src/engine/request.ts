/** What goes into a request and what comes out of it, as the public API has them. Types only. */
import type { Deadline } from '../budget/deadline.ts';
import type { LimitName } from '../budget/limits.ts';
import type { ErrorCode, ErrorObject } from '../errors.ts';
import type { RanOperation } from '../events.ts';

/** A GraphQL request, as the body of an HTTP request has it. */
export interface GraphQLRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

/** The caller: the database role that the request runs as, and the claims that policies read. */
export interface Caller {
  readonly role: string;
  /** `request.jwt.claims`; always includes `role`. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/** When a request came through its stages, in milliseconds of `performance.now()`: noted as it runs. */
export interface RequestMarks {
  /** What PostgreSQL is to show as `application_name` while it runs; null leaves that alone. */
  readonly applicationName: string | null;
  /** The document is parsed and valid; about the same as its begin if it is cached. */
  parsed: number | null;
  /** Parsed, planned and compiled. */
  prepared: number | null;
  /** Sent to PostgreSQL. */
  sent: number | null;
  /** PostgreSQL has answered. */
  ended: number | null;
  /** What ran, once it is prepared. */
  operation: RanOperation | null;
}

/** How to run a request. */
export interface RequestOptions {
  /** Milliseconds that the request may take. It shortens the time that the graph gives every request (`timeout`), and never extends it. */
  readonly timeout?: number | undefined;
  /** Cancels the request: removes it from the queue, or stops it in PostgreSQL. */
  readonly signal?: AbortSignal | undefined;
  /** Whose share of the connections the request uses, such as a user or an address. Default: the role and the claim `sub`. */
  readonly client?: string | undefined;
  /**
   * Makes a mutation run once, however often it is sent with this key (docs/idempotency.md). Queries ignore it. Also taken from
   * `extensions.idempotencyKey` of the request.
   */
  readonly idempotencyKey?: string | undefined;
  /** Replaces `timeout` and `signal`, for servers: the deadline of a request that began before its body was read. */
  readonly deadline?: Deadline | undefined;
  /** For servers: rejects mutations, as GET requests must not run any. */
  readonly readOnly?: boolean | undefined;
  /** For servers: where to note the times of the request. */
  readonly marks?: RequestMarks | undefined;
  /** For servers: called when only the work of the database is left, or what is made of it. */
  readonly onPrepared?: (() => void) | undefined;
}

export interface ExecutionResult {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly ErrorObject[];
}

/** A response as bytes, for servers: JSON in UTF-8. */
export interface RawResponse {
  /** In pieces, so that a large response is not copied. */
  readonly chunks: readonly Uint8Array[];
  /** Total length of all chunks, in bytes. */
  readonly length: number;
  /** Whether a mutation ran: refusing to send the response would not undo it. */
  readonly isMutation?: boolean;
  /** Whether it is the response to an earlier request with the same idempotency key. */
  readonly isReplayed?: boolean;
  /** Whether it is a list of responses. */
  readonly isBatch?: boolean;
  /** The code of the first error, or null. */
  readonly errorCode: ErrorCode | null;
}

/** What was counted, under the names of the limits; null if that takes a schema, or an operation that is valid and within the other limits, or that it runs. */
export type CostCounts = Readonly<Record<LimitName, number | null>>;

/** What one operation of a document counts. */
export interface OperationCost {
  /** Null for an unnamed operation. */
  readonly operation: string | null;
  readonly counts: CostCounts;
  /** The limits that the operation exceeds. */
  readonly exceeded: readonly LimitName[];
  /** Why some counts are missing. */
  readonly error?: string;
}

/** What a document counts, and the limits. */
export interface RequestCost {
  readonly operations: readonly OperationCost[];
  /** Null if there is none. */
  readonly limits: CostCounts;
}

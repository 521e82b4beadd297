/** What goes into a request and what comes out of it, as the public API has them. Types only. */
import type { Deadline } from '../budget/deadline.ts';
import type { ErrorCode, ErrorObject } from '../errors.ts';
import type { ResponseBody } from './assemble-response.ts';

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

/** How to run a request. */
export interface RequestOptions {
  /** Milliseconds that the request may take. It shortens the time that the graph gives every request (`timeout`), and never extends it. */
  readonly timeout?: number | undefined;
  /** Cancels the request: removes it from the queue, or stops it in PostgreSQL. */
  readonly signal?: AbortSignal | undefined;
  /** Whose share of the connections the request uses, such as a user or an address. Default: the role and the claim `sub`. */
  readonly client?: string | undefined;
  /** Replaces `timeout` and `signal`, for servers: the deadline of a request that began before its body was read. */
  readonly deadline?: Deadline | undefined;
  /** For servers: called when only the work of the database is left, or what is made of it. */
  readonly onPrepared?: (() => void) | undefined;
}

export interface ExecutionResult {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly ErrorObject[];
}

/**
 * A response as bytes, for servers: the JSON text in UTF-8, in pieces so that a large response is not copied. A short one may come as a string of
 * bytes too (`latin1`), which Node writes together with the head of an HTTP response; reading `chunks` makes the bytes then.
 */
export interface RawResponse extends ResponseBody {
  /** The code of the first error, or null. */
  readonly errorCode: ErrorCode | null;
}

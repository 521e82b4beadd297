/**
 * What events carry: how requests ran, with their traces; errors as logs show them; sentences about a database. And how an application's
 * observer is called.
 */
import type { ErrorCode } from './errors/codes.ts';

export interface RequestFinished {
  readonly requestId: string;
  /** The caller's role; null if authentication failed. */
  readonly role: string | null;
  /** The code of the first error; null if there is none. */
  readonly code: ErrorCode | null;
  readonly status: number;
  /** From the headers of the request to the last byte handed to the socket. */
  readonly seconds: number;
  /** Size of the body as sent. */
  readonly bytes: number;
  /** How it ran; null unless the endpoint was configured to report details. */
  readonly details?: RequestDetails | null;
}

/** What carries the answers of a subscription. */
export type LiveTransport = 'websocket' | 'event-stream' | 'multipart';

/** How a subscription ran, from its first answer to its end. */
export interface SubscriptionEnded {
  readonly requestId: string;
  readonly role: string;
  /** Why the server has ended it; null if the client did, or it completed. */
  readonly code: ErrorCode | null;
  readonly transport: LiveTransport;
  readonly seconds: number;
  /** Answers that were sent, and their bytes. */
  readonly answers: number;
  readonly bytes: number;
  /** How its first answer came about; null unless the endpoint was configured to report details. */
  readonly details?: RequestDetails | null;
}

/** What ran. Computed when read, which is expensive; valid only during the event. */
export interface RanOperation {
  readonly name: string | null;
  readonly kind: 'query' | 'mutation';
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>> | null;
  readonly statements: readonly string[];
  /** What the operation counts against the limits. */
  readCost(): Readonly<Record<string, number | null>>;
}

/** When an operation passed its stages, in milliseconds of `performance.now()`; null for stages that it did not reach. */
export interface OperationTimes {
  readonly parsed: number | null;
  readonly prepared: number | null;
  readonly sent: number | null;
  readonly ended: number | null;
  /** Null if it could not be prepared. */
  readonly operation: RanOperation | null;
}

/** How a request to the endpoint ran. */
export interface RequestDetails extends OperationTimes {
  readonly method: string;
  /** The path, without the query string. */
  readonly path: string;
  /** The address, or block of addresses, that the request is counted for; '' if it was not admitted. */
  readonly address: string;
  readonly trace: TraceContext | null;
  readonly started: number;
  readonly authenticated: number | null;
  /** Null if there was no body. */
  readonly received: number | null;
  /** The operations of a batch, in order; empty for a single request. */
  readonly parts: readonly OperationTimes[];
}

/** Which trace a request belongs to (https://www.w3.org/TR/trace-context/). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Of the request itself: 16 hexadecimal digits. */
  readonly spanId: string;
  /** The sender's span; null if this request began the trace. */
  readonly parentSpanId: string | null;
  readonly isSampled: boolean;
  /** The `tracestate` header, unchanged. */
  readonly state: string | null;
}

/** Finds or begins the trace of a request, from its headers. */
export type BeginTrace = (headers: Readonly<Record<string, string | string[] | undefined>>) => TraceContext;

/** Anything can be thrown; other values than errors have no stack and may contain more than is fit for a log. */
export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(`thrown: ${String(error)}`);
}

/**
 * `fetch` reports only that it failed; its cause has the reason. If a host has several addresses, the error has one error per address, and
 * no message.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  const { message, cause } = errorOf(error);
  return cause instanceof Error ? `${message}: ${cause.message || ('code' in cause && cause.code)}` : message;
}

/** The SQLSTATE; null if there was none, undefined if it is no error of a database. */
export function stateOf(error: unknown): unknown {
  return error instanceof Error && 'sqlstate' in error ? error.sqlstate : undefined;
}

/**
 * Whether the database could not be asked: there was no SQLSTATE, or one of a lost connection, of missing resources or of an intervention.
 */
export function isOfServer(error: unknown): boolean {
  const sqlstate = stateOf(error);
  return sqlstate === null || (typeof sqlstate === 'string' && /^(?:08|53|57)/.test(sqlstate));
}

export interface PowerfulLogin {
  readonly role: string;
  readonly isSuperuser: boolean;
}

export interface EmptyApi {
  readonly emptiness: 'no-objects' | 'no-privileges';
  readonly schemas: readonly string[];
  readonly role: string;
}

/** The problem of the login role, and what to do about it. */
export function describeLogin({ role, isSuperuser }: PowerfulLogin): string {
  const reason = isSuperuser ? 'is a superuser' : 'bypasses row level security';
  return `the login role "${role}" ${reason}: a single bug could expose the whole database. Log in as an ordinary role ("rowgraph roles" prints its SQL)`;
}

const namedTables = 5;

export function describeOpenTables({ role, tables }: { readonly role: string; readonly tables: readonly string[] }): string {
  const names = tables.slice(0, namedTables).join(', ');
  const more = tables.length > namedTables ? ` and ${tables.length - namedTables} more` : '';
  return `"${role}" can change any row of ${names}${more}: enable row level security and write policies, or revoke the privileges ("rowgraph doctor" says how)`;
}

export function describeEmptiness({ emptiness, schemas, role }: EmptyApi): string {
  const names = schemas.join(', ');
  return emptiness === 'no-objects'
    ? `the API is empty: there are no tables or functions in ${names}; create some, or expose other schemas with --schemas`
    : `the API is empty for ${role} and authenticated: neither has a privilege on a table of ${names}; grant some, such as: grant select on <table> to ${role}`;
}

/** What is read from files that may change while the server runs. */
export type FileContent = 'trusted documents' | 'API keys' | 'revoked tokens' | 'projects';

/** By how Node reported an error that nobody caught. */
export const defectMessages = {
  request: 'bug in rowgraph: please report it',
  unhandledRejection: 'bug in rowgraph: unhandled promise rejection; please report it',
  uncaughtException: 'bug in rowgraph: uncaught exception; the process ends. Please report it',
} as const;

const serverFaults: readonly ErrorCode[] = ['INTERNAL_ERROR', 'OVERLOADED', 'DATABASE_FAILED', 'DATABASE_UNAVAILABLE'];

/** Whether an error concerns the operator. */
export function isServerFault(code: ErrorCode | null): boolean {
  return code !== null && serverFaults.includes(code);
}

/** How many problems, documents or names a log line lists. */
export const mostListed = 20;

export function countAndList({ problems }: { readonly problems: readonly string[] }): object {
  return { count: problems.length, problems: problems.slice(0, mostListed) };
}

/**
 * Keeps an application's observer from doing harm: it never throws, its rejected promises never count as unhandled, and its first failure
 * is emitted as a process warning.
 */
export function createSafeObserver<Event>(observe: (event: Event) => void): (event: Event) => void {
  let isReported = false;
  const report = (error: unknown): void => {
    if (isReported) return;
    isReported = true;
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.emitWarning(`The function "observe" failed; further failures of it are not reported. ${reason}`, 'RowgraphWarning');
  };
  return (event) => {
    try {
      const returned: unknown = observe(event);
      if (returned instanceof Promise) returned.catch(report);
    } catch (error) {
      report(error);
    }
  };
}

/**
 * Everything that rowgraph lets an observer see, as one closed union. Stages report events and know nothing of logs and metrics;
 * `telemetry/create-telemetry.ts` turns events into both.
 */
import type { ErrorCode } from './errors.ts';

/** A request arrived at the GraphQL endpoint. */
export interface RequestStarted {
  readonly kind: 'request-started';
}

/** A request to the GraphQL endpoint has its response, whether it succeeded or failed. */
export interface RequestFinished {
  readonly kind: 'request-finished';
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
}

/** A bug: the client sees only INTERNAL_ERROR, the operator gets the error itself. */
export interface DefectFound {
  readonly kind: 'defect-found';
  /** Null if it happened outside a request. */
  readonly requestId: string | null;
  readonly error: unknown;
  /** How Node reported it, if nobody caught it. An exception ends the process, a rejection does not. */
  readonly origin?: 'unhandledRejection' | 'uncaughtException';
}

export interface ServerStarted {
  readonly kind: 'server-started';
  readonly url: string;
}

/** The server accepts no more connections and finishes the requests in flight. */
export interface ServerStopping {
  readonly kind: 'server-stopping';
}

export interface ServerStopped {
  readonly kind: 'server-stopped';
}

/** One of the processes that share the port exited unexpectedly; another takes its place. */
export interface WorkerEnded {
  readonly kind: 'worker-ended';
  /** The number of the process that exited. */
  readonly worker: number | undefined;
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** When the next one starts. */
  readonly restartMilliseconds: number;
}

/** The role that the server logs in as has privileges that no request needs. */
export interface LoginPowerful {
  readonly kind: 'login-powerful';
  readonly role: string;
  readonly isSuperuser: boolean;
}

/** The database cannot be reached at startup; the server keeps trying. */
export interface DatabaseAwaited {
  readonly kind: 'database-awaited';
  readonly error: unknown;
  /** How long the server waits for it. */
  readonly milliseconds: number;
}

/** Tables without row level security that the anonymous role can write. */
export interface TablesOpen {
  readonly kind: 'tables-open';
  readonly role: string;
  readonly tables: readonly string[];
}

/** The schema was loaded, at startup or after DDL. */
export interface SchemaLoaded {
  readonly kind: 'schema-loaded';
  /** The schema version; null if the database keeps none. */
  readonly version: string | null;
  readonly seconds: number;
}

/** The schema could not be loaded; the previous one stays in use. */
export interface SchemaLoadFailed {
  readonly kind: 'schema-load-failed';
  readonly error: unknown;
}

/** Comment directives, or members of them, are invalid and ignored. Reported once per load of the schema. */
export interface DirectivesIgnored {
  readonly kind: 'directives-ignored';
  /** The commented object, and what is wrong: `table public.note: its comment directive is not valid JSON …`. */
  readonly problems: readonly string[];
}

/** A batch is retried because of concurrent transactions or a newer schema. */
export interface BatchRetried {
  readonly kind: 'batch-retried';
  /** How many times it has already run. */
  readonly attempt: number;
  /** The SQLSTATE that PostgreSQL reported. */
  readonly sqlstate: string | null;
}

/** A pooled connection failed while idle, or could not be opened. */
export interface PoolFailed {
  readonly kind: 'pool-failed';
  readonly error: unknown;
}

export type Event =
  | RequestStarted
  | RequestFinished
  | DefectFound
  | ServerStarted
  | ServerStopping
  | ServerStopped
  | WorkerEnded
  | LoginPowerful
  | DatabaseAwaited
  | TablesOpen
  | SchemaLoaded
  | SchemaLoadFailed
  | DirectivesIgnored
  | BatchRetried
  | PoolFailed;

/** Receives an event. It must neither throw nor block. */
export type Observer = (event: Event) => void;

/** Statistics of one bounded cache. */
export interface CacheStatistics {
  readonly name: string;
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
}

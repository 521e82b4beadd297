/**
 * Everything that can be observed of rowgraph, as one closed union. Stages report events and know nothing of logs and metrics;
 * `telemetry/create-telemetry.ts` turns events into both.
 */
import type { ErrorCode } from './errors.ts';

/** A request came in at the GraphQL endpoint. */
export interface RequestStarted {
  readonly kind: 'request-started';
}

/** A request at the GraphQL endpoint was answered, well or not. */
export interface RequestFinished {
  readonly kind: 'request-finished';
  readonly requestId: string;
  /** The caller's role; null where nobody was authenticated. */
  readonly role: string | null;
  /** The code of the first error; null where there is none. */
  readonly code: ErrorCode | null;
  readonly status: number;
  /** From the head of the request to the last byte handed to the socket. */
  readonly seconds: number;
  /** Size of the body as sent. */
  readonly bytes: number;
}

/** Something failed that should not have: the client is told INTERNAL_ERROR and no more, the operator gets the error itself. */
export interface DefectFound {
  readonly kind: 'defect-found';
  /** Null where it happened outside a request. */
  readonly requestId: string | null;
  readonly error: unknown;
  /** Where nobody caught it, how Node told of it. An exception ends the process, a rejection does not. */
  readonly origin?: 'unhandledRejection' | 'uncaughtException';
}

export interface ServerStarted {
  readonly kind: 'server-started';
  readonly url: string;
}

/** The server accepts no more connections and finishes what it has. */
export interface ServerStopping {
  readonly kind: 'server-stopping';
}

export interface ServerStopped {
  readonly kind: 'server-stopped';
}

/** One of several processes that share the port has ended without being told to; another takes its place. */
export interface WorkerEnded {
  readonly kind: 'worker-ended';
  /** Of the process that ended. */
  readonly worker: number | undefined;
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** When the next one starts. */
  readonly restartMilliseconds: number;
}

/** The role that the server logs in as has powers that no request needs. */
export interface LoginPowerful {
  readonly kind: 'login-powerful';
  readonly role: string;
  readonly isSuperuser: boolean;
}

/** The database cannot be reached at the start; it is tried again and again. */
export interface DatabaseAwaited {
  readonly kind: 'database-awaited';
  readonly error: unknown;
  /** How long it is waited for. */
  readonly milliseconds: number;
}

/** Tables that the anonymous role may write without row level security. */
export interface TablesOpen {
  readonly kind: 'tables-open';
  readonly role: string;
  readonly tables: readonly string[];
}

/** The schema of all roles was loaded, at the start or after DDL. */
export interface SchemaLoaded {
  readonly kind: 'schema-loaded';
  /** The schema version; null where the database keeps none. */
  readonly version: string | null;
  readonly seconds: number;
}

/** The schema could not be loaded; the one before stays in use. */
export interface SchemaLoadFailed {
  readonly kind: 'schema-load-failed';
  readonly error: unknown;
}

/** Comment directives, or members of them, cannot be read and are ignored. Told once for each load of the schema. */
export interface DirectivesIgnored {
  readonly kind: 'directives-ignored';
  /** What is commented, and what is wrong: `table public.note: its comment directive is not JSON …`. */
  readonly problems: readonly string[];
}

/** A batch is run again because concurrent transactions, or a newer schema, were in its way. */
export interface BatchRetried {
  readonly kind: 'batch-retried';
  /** How often it has run before. */
  readonly attempt: number;
  /** What PostgreSQL said. */
  readonly sqlstate: string | null;
}

/** A pooled connection broke while nobody used it, or could not be opened. */
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

/** Takes note of an event. It must neither throw nor wait. */
export type Observer = (event: Event) => void;

/** How well one bounded cache does. */
export interface CacheStatistics {
  readonly name: string;
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
}

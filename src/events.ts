/**
 * Everything that an observer can see, as one closed union. Stages report events and know nothing of logs and metrics;
 * `telemetry/create-telemetry.ts` turns events into both.
 */
import type { Distribution } from './distribution.ts';
import type { ErrorCode } from './errors/codes.ts';

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
  /** How it ran; null unless the endpoint was configured to report details. */
  readonly details?: RequestDetails | null;
}

/** What ran. Computed when read, which is expensive; valid only during the event. */
export interface RanOperation {
  readonly name: string | null;
  readonly kind: 'query' | 'mutation';
  /** The text of the document. */
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>> | null;
  /** The SQL. */
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

/** A bug: the client sees only INTERNAL_ERROR, the operator gets the error itself. */
export interface DefectFound {
  readonly kind: 'defect-found';
  /** Null if it happened outside a request. */
  readonly requestId: string | null;
  readonly error: unknown;
  /** How Node reported an error that nobody caught. An exception ends the process; a rejection does not. */
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

/** One of the processes that share the port exited unexpectedly; another replaces it. */
export interface WorkerEnded {
  readonly kind: 'worker-ended';
  /** The number of the process that exited. */
  readonly worker: number | undefined;
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Time until the replacement starts. */
  readonly restartMilliseconds: number;
}

/** The role that the server logs in as has privileges that no request needs. */
export interface LoginPowerful {
  readonly kind: 'login-powerful';
  readonly role: string;
  readonly isSuperuser: boolean;
}

/** At startup, the database cannot be reached, or its schema cannot be loaded; the server keeps trying. */
export interface DatabaseAwaited {
  readonly kind: 'database-awaited';
  readonly error: unknown;
  /** Whether the database has been reached. */
  readonly isReachable: boolean;
  /** How long the server will wait for it. */
  readonly milliseconds: number;
}

/** Loading the schema takes long at startup; requests wait for it. */
export interface SchemaAwaited {
  readonly kind: 'schema-awaited';
}

/** The public keys of a token issuer could not be loaded; the last ones stay in use. */
export interface KeysLoadFailed {
  readonly kind: 'keys-load-failed';
  readonly error: unknown;
}

/** Public keys of a token issuer cannot be used and are ignored. Reported when the keys are loaded, and again if they change. */
export interface KeysIgnored {
  readonly kind: 'keys-ignored';
  /** Which key, and what is wrong with it. */
  readonly problems: readonly string[];
}

/** The application's `authenticate` function threw. */
export interface AuthenticationFailed {
  readonly kind: 'authentication-failed';
  readonly requestId: string;
  readonly error: unknown;
}

/** Schemas of the setting `extraSearchPath` do not exist. */
export interface SearchPathMissing {
  readonly kind: 'search-path-missing';
  readonly schemas: readonly string[];
}

/** Clients find nothing in the API: the schemas have no tables and functions, or no role of clients has a privilege on one. */
export interface ApiEmpty {
  readonly kind: 'api-empty';
  readonly emptiness: 'no-objects' | 'no-privileges';
  readonly schemas: readonly string[];
  /** The anonymous role. */
  readonly role: string;
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

/** The SQL extension in the database is older than the version that this rowgraph installs. Reported once per version. */
export interface ExtensionOutdated {
  readonly kind: 'extension-outdated';
  readonly installed: string;
  readonly current: string;
}

/** The schema could not be loaded; the previous one stays in use. */
export interface SchemaLoadFailed {
  readonly kind: 'schema-load-failed';
  readonly error: unknown;
}

/** LISTEN failed, so that changes of the schema are found only by comparing it every second. Reported for the first of several failures; it is tried again. */
export interface ListenFailed {
  readonly kind: 'listen-failed';
  readonly error: unknown;
}

/** Comment directives, or members of them, are invalid and ignored. Reported each time the schema is loaded. */
export interface DirectivesIgnored {
  readonly kind: 'directives-ignored';
  /** The commented object, and what is wrong: `table public.note: its comment directive is not valid JSON …`. */
  readonly problems: readonly string[];
}

/** A document is accepted only by lenient coercion. Reported once per document. */
export interface DocumentMismatched {
  readonly kind: 'document-mismatched';
  /** SHA-256 of its text, in hexadecimal digits: the identifier of a persisted document. */
  readonly hash: string;
  /** The names of its operations; null for an unnamed one. */
  readonly operations: readonly (string | null)[];
  /** What does not match, each with what to write instead. */
  readonly mismatches: readonly string[];
}

/** A batch is retried because of concurrent transactions, a newer schema or a lost connection. */
export interface BatchRetried {
  readonly kind: 'batch-retried';
  /** How many times it has already run. */
  readonly attempt: number;
  /** The SQLSTATE that PostgreSQL reported. */
  readonly sqlstate: string | null;
}

/** What is read from files that may change while the server runs. */
export type FileContent = 'trusted documents' | 'API keys' | 'revoked tokens' | 'projects';

/** Files were read, at startup or after a change. */
export interface FilesLoaded {
  readonly kind: 'files-loaded';
  readonly content: FileContent;
  /** How many documents, keys or entries they hold. */
  readonly count: number;
}

/** Files could not be read; the content read last stays in use. Reported once per reason. */
export interface FilesLoadFailed {
  readonly kind: 'files-load-failed';
  readonly content: FileContent;
  readonly error: Error;
}

/** The trusted documents were checked for a role, after they or the schema were loaded. */
export interface DocumentsChecked {
  readonly kind: 'documents-checked';
  readonly role: string;
  readonly count: number;
  /** The id of each invalid document, with what is wrong with it. */
  readonly problems: readonly string[];
}

/** Traces or metrics could not be delivered to their receiver, and are lost. */
export interface TelemetryExportFailed {
  readonly kind: 'telemetry-export-failed';
  /** Without user, password and query. */
  readonly url: string;
  readonly error: unknown;
}

/** The spans of some requests were dropped because too many waited to be exported. */
export interface SpansDropped {
  readonly kind: 'spans-dropped';
  readonly requests: number;
}

/** Log lines were dropped because the log could not be written; it can be again. */
export interface LogLinesDropped {
  readonly kind: 'log-lines-dropped';
  readonly lines: number;
}

/** A project cannot be served: its settings, its keys or its database are broken. Reported once per reason. */
export interface ProjectFailed {
  readonly kind: 'project-failed';
  readonly error: unknown;
}

/** The operating system lets the process open fewer files, including connections, than its settings call for. */
export interface FilesLimited {
  readonly kind: 'files-limited';
  readonly limit: number;
  readonly needed: number;
}

/** A pooled connection failed while idle, or could not be opened. */
export interface PoolFailed {
  readonly kind: 'pool-failed';
  readonly error: unknown;
  /** Whether PostgreSQL refuses connections because there are too many, and the pool has none left. */
  readonly isStarved: boolean;
}

/** `project`: the project that the event concerns, on a server with several. */
export type Event = { readonly project?: string } & (
  | RequestStarted
  | RequestFinished
  | DefectFound
  | ServerStarted
  | ServerStopping
  | ServerStopped
  | WorkerEnded
  | LoginPowerful
  | DatabaseAwaited
  | SchemaAwaited
  | KeysLoadFailed
  | KeysIgnored
  | AuthenticationFailed
  | TablesOpen
  | SearchPathMissing
  | ApiEmpty
  | FilesLimited
  | SchemaLoaded
  | ExtensionOutdated
  | SchemaLoadFailed
  | ListenFailed
  | DirectivesIgnored
  | FilesLoaded
  | FilesLoadFailed
  | DocumentsChecked
  | DocumentMismatched
  | BatchRetried
  | ProjectFailed
  | PoolFailed
  | TelemetryExportFailed
  | SpansDropped
  | LogLinesDropped
);

/** Receives an event. It must not block; what it throws changes nothing. */
export type Observer = (event: Event) => void;

/** The current state of a graph's connections. */
export interface PoolStatistics {
  readonly size: number;
  readonly busy: number;
  readonly idle: number;
  /** Batches and internal queries that wait for a connection. */
  readonly waiting: number;
}

/** What a graph has done since it was opened, and its current state. */
export interface GraphStatistics {
  /** Null if there is no pool. */
  readonly pool: PoolStatistics | null;
  /** Seconds that PostgreSQL took for each batch, from sending it to the end of the reply. */
  readonly batchSeconds: Distribution;
  /** Bytes in the rows of each batch. */
  readonly batchBytes: Distribution;
  /** Rows that each request may read, as estimated for the limit. */
  readonly estimatedRows: Distribution;
}

/** Statistics of one bounded cache. */
export interface CacheStatistics {
  readonly name: string;
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
}

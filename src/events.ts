/**
 * The table of events: what stages report, and what becomes of it in the log and the metrics (`telemetry/create-telemetry.ts`). To add an
 * event, add a row, and report it where it happens.
 */
import {
  countAndList,
  defectMessages,
  describeEmptiness,
  describeLogin,
  describeOpenTables,
  type EmptyApi,
  errorOf,
  type FileContent,
  isOfServer,
  isServerFault,
  type LiveTransport,
  mostListed,
  type PowerfulLogin,
  type RequestFinished,
  reasonOf,
  type SubscriptionEnded,
  stateOf,
} from './event-details.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** What becomes of an event with these members. */
interface EventRow<Members> {
  /** Null if it is not logged. */
  readonly level: Level | null | ((event: Members) => Level);
  readonly message: string | ((event: Members) => string);
  /** The members of its log line. Default: its own. */
  readonly fields?: (event: Members) => object;
  /**
   * Where it may happen thousands of times a second: of lines with this key, only ten a second are written. True: the kind of event is the
   * key.
   */
  readonly limit?: true | ((event: Members) => string | null);
  /** Where it is reported again and again for as long as it lasts: of lines with this key, the first is written, and then ever fewer. */
  readonly lasts?: (event: Members) => string;
  /** The metric that counts it. */
  readonly counter?: { readonly name: string; readonly help: string; readonly labels?: Readonly<Record<string, string>> };
}

function row<Members extends object>(definition: EventRow<Members>): EventRow<Members> {
  return definition;
}

/** In characters. Names of operations come from clients. */
const longestName = 100;
const schemaLoads = { name: 'rowgraph_schema_loads_total', help: 'Schema loads, by outcome.' };

export const eventTable = {
  'request-started': row<object>({ level: null, message: '' }),
  /** A request to the GraphQL endpoint has its response, whether it succeeded or failed. */
  'request-finished': row<RequestFinished>({
    // Client errors do not concern the operator; server errors do.
    level: ({ status }) => (status >= 500 ? 'warn' : 'debug'),
    message: 'request',
    fields: ({ requestId, role, code, status, seconds, bytes }) => ({
      requestId,
      role,
      code,
      status,
      milliseconds: Math.round(seconds * 1e5) / 100,
      bytes,
    }),
    limit: ({ status, code }) => (status >= 500 ? `request ${code}` : null),
  }),
  /** The first answer of a subscription is on its way; more may follow. */
  'subscription-started': row<{ readonly transport: LiveTransport }>({ level: null, message: '' }),
  'subscription-ended': row<SubscriptionEnded>({
    // As of requests: what concerns the operator is a warning.
    level: ({ code }) => (isServerFault(code) ? 'warn' : 'debug'),
    message: 'subscription',
    fields: ({ requestId, role, code, transport, seconds, answers, bytes }) => ({
      requestId,
      role,
      code,
      transport,
      seconds: Math.round(seconds * 1000) / 1000,
      answers,
      bytes,
    }),
    limit: ({ code }) => (isServerFault(code) ? `subscription ${code}` : null),
  }),
  /** A WebSocket has been opened, or has closed. */
  'socket-opened': row<object>({ level: null, message: '' }),
  'socket-closed': row<{
    readonly requestId: string;
    /** With which the server has closed it; null if the client did, or the connection was lost. */
    readonly closeCode: number | null;
    readonly reason: string | null;
    readonly seconds: number;
  }>({ level: 'debug', message: 'WebSocket closed' }),
  /** A bug: the client sees only INTERNAL_ERROR, the operator gets the error itself. `requestId`: null if it happened outside a request. */
  'defect-found': row<{
    readonly requestId: string | null;
    readonly error: unknown;
    /** How Node reported an error that nobody caught. An exception ends the process; a rejection does not. */
    readonly origin?: 'unhandledRejection' | 'uncaughtException';
  }>({
    level: 'error',
    message: ({ origin }) => defectMessages[origin ?? 'request'],
    fields: ({ error, requestId }) => ({ err: errorOf(error), requestId }),
    limit: true,
    counter: {
      name: 'rowgraph_defects_total',
      help: 'Errors answered with INTERNAL_ERROR, unhandled rejections, and uncaught exceptions.',
    },
  }),
  'server-started': row<{ readonly url: string }>({ level: 'info', message: 'serving' }),
  /** The server accepts no more connections and finishes the requests in flight. */
  'server-stopping': row<object>({ level: 'info', message: 'stopping: finishing the requests in flight' }),
  'server-stopped': row<object>({ level: 'info', message: 'stopped' }),
  /** One of the processes that share the port exited unexpectedly. */
  'worker-ended': row<{
    readonly worker: number | undefined;
    /** Null if a signal ended it. */
    readonly code: number | null;
    readonly signal: string | null;
    /** Time until the replacement starts. */
    readonly restartMilliseconds: number;
  }>({ level: 'error', message: 'worker exited; another one takes its place' }),
  /** The role that the server logs in as has privileges that no request needs. */
  'login-powerful': row<PowerfulLogin>({ level: 'warn', message: describeLogin, fields: ({ role }) => ({ role }) }),
  /** At startup, the database cannot be reached, or its schema cannot be loaded; the server keeps trying for so many milliseconds. */
  'database-awaited': row<{ readonly error: unknown; readonly isReachable: boolean; readonly milliseconds: number }>({
    level: 'warn',
    message: ({ isReachable }) =>
      isReachable ? 'the schema cannot be loaded; trying again' : 'the database cannot be reached; waiting for it',
    fields: ({ error, milliseconds }) => ({ reason: errorOf(error).message, milliseconds }),
  }),
  /** Loading the schema takes long at startup. */
  'schema-awaited': row<object>({ level: 'info', message: 'loading the schema takes long; requests wait for it' }),
  /** The public keys of a token issuer could not be loaded. */
  'keys-load-failed': row<{ readonly error: unknown; readonly hasKeys: boolean }>({
    level: 'error',
    message: ({ hasKeys }) =>
      hasKeys
        ? 'failed to load the public keys that verify tokens; those loaded before stay in use'
        : 'failed to load the public keys that verify tokens; until they can be loaded, such tokens are refused. Check the URL and the network',
    fields: ({ error }) => ({ reason: errorOf(error).message }),
  }),
  /** Public keys of a token issuer cannot be used. Reported when the keys are loaded, and again if they change. */
  'keys-ignored': row<{ readonly problems: readonly string[] }>({
    level: 'warn',
    message: 'public keys ignored: tokens that are signed with them are invalid',
    fields: countAndList,
  }),
  /** The application's `authenticate` function threw. */
  'authentication-failed': row<{ readonly requestId: string; readonly error: unknown }>({
    level: 'error',
    message: 'the function "authenticate" failed; the request was refused',
    fields: ({ error, requestId }) => ({ err: errorOf(error), requestId }),
    limit: true,
  }),
  /** Tables without row level security that the anonymous role can write. */
  'tables-open': row<{ readonly role: string; readonly tables: readonly string[] }>({
    level: 'warn',
    message: describeOpenTables,
    fields: ({ role, tables }) => ({ role, tables: tables.length }),
  }),
  /** Schemas of the setting `extraSearchPath` do not exist. */
  'search-path-missing': row<{ readonly schemas: readonly string[] }>({
    level: 'warn',
    message: 'schemas of --extra-search-path do not exist, so nothing is found in them',
  }),
  /** Clients find nothing in the API: the schemas have no tables and functions, or no role of clients has a privilege on one. */
  'api-empty': row<EmptyApi>({ level: 'warn', message: describeEmptiness, fields: ({ schemas }) => ({ schemas }) }),
  /** The operating system lets the process open fewer files, including connections, than its settings call for. */
  'files-limited': row<{ readonly limit: number; readonly needed: number }>({
    level: 'warn',
    message: 'too few open files are allowed for --max-connections; clients beyond them are disconnected. Raise the limit (ulimit -n)',
  }),
  /** The server allows fewer connections than all workers may open. */
  'connections-limited': row<{ readonly limit: number; readonly needed: number }>({
    level: 'warn',
    message:
      'PostgreSQL allows fewer connections than --workers times --pool-size, plus one for each worker; requests may wait for one. Lower these settings, raise max_connections or the connection limit of the role or the database, or put a pooler in between',
  }),
  /** The schema was loaded, at startup or after DDL. `version` is null if the database keeps none. */
  'schema-loaded': row<{ readonly version: string | null; readonly seconds: number }>({
    level: 'info',
    message: 'schema loaded',
    counter: { ...schemaLoads, labels: { outcome: 'loaded' } },
  }),
  /** The SQL extension in the database is older than the version that this rowgraph installs. Reported once per version. */
  'extension-outdated': row<{ readonly installed: string; readonly current: string }>({
    level: 'warn',
    message: 'the SQL extension in the database is outdated; "rowgraph extension status" says how to update it',
  }),
  'schema-load-failed': row<{ readonly error: unknown }>({
    level: ({ error }) => (isOfServer(error) ? 'warn' : 'error'),
    // If the database did not respond, nothing is known to be wrong with the schema.
    message: ({ error }) =>
      `failed to ${isOfServer(error) ? 'check the schema for changes' : 'load the schema'}; the previous one stays in use, and attempts follow every second`,
    fields: ({ error }) => (isOfServer(error) ? { reason: reasonOf(error) } : { err: error }),
    lasts: (event) => `schema-load-failed: ${stateOf(event.error)} ${reasonOf(event.error)}`,
    counter: { ...schemaLoads, labels: { outcome: 'failed' } },
  }),
  /** LISTEN failed. Reported for the first of several failures. */
  'listen-failed': row<{ readonly error: unknown }>({
    level: 'warn',
    message: 'failed to listen for schema changes; they are found within a second, and listening is tried again',
    fields: ({ error }) => ({ reason: reasonOf(error) }),
  }),
  /** How changes are noticed for live queries, whenever that changes. `isWanted`: no worse than what the settings ask for. */
  'live-mode': row<{
    readonly mode: string;
    readonly reason: string;
    readonly part: 'leading' | 'following' | 'alone';
    readonly isWanted: boolean;
  }>({
    level: ({ isWanted }) => (isWanted ? 'info' : 'warn'),
    message: ({ mode }) => `live queries notice changes by ${mode === 'poll' ? 'polling' : `the mode ${mode}`}`,
    fields: ({ mode, reason, part }) => ({ mode, reason, part }),
    limit: true,
  }),
  /** Another server has become the primary. */
  'primary-promoted': row<{ readonly from: number; readonly to: number }>({
    level: 'warn',
    message: 'the primary has been replaced by a promoted standby; replicas get queries again once they are known to follow it',
    fields: ({ from, to }) => ({ fromTimeline: from, toTimeline: to }),
  }),
  /** A replica begins to get queries (`problem` is null) or ceases to. */
  'replica-judged': row<{ readonly replica: string; readonly problem: string | null }>({
    level: ({ problem }) => (problem === null ? 'info' : 'warn'),
    message: ({ problem }) => (problem === null ? 'a replica gets queries' : 'a replica gets no queries; the primary runs them'),
    fields: ({ replica, problem }) => ({ replica, ...(problem !== null && { reason: problem }) }),
    limit: true,
  }),
  /** Comment directives, or members of them, are invalid. Reported each time the schema is loaded. */
  'directives-ignored': row<{ readonly problems: readonly string[] }>({
    level: 'warn',
    message: 'comment directives ignored; "rowgraph doctor" lists them all',
    fields: countAndList,
  }),
  /** Files were read, at startup or after a change. `count`: how many documents, keys or entries they hold. */
  'files-loaded': row<{ readonly content: FileContent; readonly count: number }>({
    level: 'info',
    message: ({ content }) => `${content} loaded`,
    fields: ({ count }) => ({ count }),
  }),
  /** Files could not be read. Reported once per reason. */
  'files-load-failed': row<{ readonly content: FileContent; readonly error: Error }>({
    level: 'error',
    message: ({ content }) => `failed to read the ${content}; what was read last stays in use`,
    fields: ({ error }) => ({ reason: error.message }),
  }),
  /** The trusted documents were checked for a role, after they or the schema were loaded. `problems`: one for each invalid document. */
  'documents-checked': row<{ readonly role: string; readonly count: number; readonly problems: readonly string[] }>({
    level: ({ problems }) => (problems.length === 0 ? 'info' : 'warn'),
    message: ({ problems }) =>
      problems.length === 0
        ? 'trusted documents are valid for a role'
        : 'trusted documents that are not valid for a role; "rowgraph documents" lists them all',
    fields: ({ role, count, problems }) => ({ role, ...(problems.length === 0 ? { count } : countAndList({ problems })) }),
  }),
  /** A document is accepted only by lenient coercion. Reported once per document. */
  'document-mismatched': row<{
    /** SHA-256 of its text, in hexadecimal digits: the identifier of a persisted document. */
    readonly hash: string;
    /** The names of its operations; null for an unnamed one. */
    readonly operations: readonly (string | null)[];
    /** What does not match, each with what to write instead. */
    readonly mismatches: readonly string[];
  }>({
    level: 'info',
    message: 'a document is accepted only by lenient coercion; "mismatches" says how to write it for --coercion strict',
    fields: ({ hash, operations, mismatches }) => ({
      document: hash,
      operations: operations.slice(0, mostListed).map((name) => name?.slice(0, longestName) ?? null),
      count: mismatches.length,
      mismatches: mismatches.slice(0, mostListed),
    }),
    // Clients decide how many there are.
    limit: true,
  }),
  /** A batch is retried because of concurrent transactions, a newer schema or a lost connection. */
  'batch-retried': row<{
    /** How many times it has already run. */
    readonly attempt: number;
    readonly sqlstate: string | null;
  }>({
    level: 'debug',
    message: 'batch retried',
    counter: { name: 'rowgraph_batches_retried_total', help: 'Batches that were retried.' },
  }),
  /** The settings, the keys or the database of a project are broken. Reported once per reason. */
  'project-failed': row<{ readonly error: unknown }>({
    level: 'error',
    message: 'the project cannot be served',
    fields: ({ error }) => ({ reason: errorOf(error).message }),
    limit: true,
  }),
  /** A pooled connection failed while idle, or could not be opened. */
  'pool-failed': row<{ readonly error: unknown }>({
    level: 'warn',
    message: 'database connection failed; another one is opened when it is needed',
    fields: ({ error }) => ({ reason: reasonOf(error) }),
    lasts: ({ error }) => `pool-failed: ${reasonOf(error)}`,
    counter: { name: 'rowgraph_pool_failures_total', help: 'Database connections that failed or could not be opened.' },
  }),
  /** Redis could not be reached, refused a command or was slow. */
  'shared-store-failed': row<{ readonly error: unknown }>({
    level: 'warn',
    message: 'Redis failed; for now each process has a rate limit and stored documents of its own',
    fields: ({ error }) => ({ reason: reasonOf(error) }),
    lasts: ({ error }) => `shared-store-failed: ${reasonOf(error)}`,
    counter: { name: 'rowgraph_shared_store_failures_total', help: 'Commands to Redis that failed or had no answer in time.' },
  }),
  /** Traces or metrics could not be delivered. `url`: their receiver, without user, password and query. */
  'telemetry-export-failed': row<{ readonly url: string; readonly error: unknown }>({
    level: 'warn',
    message: 'failed to export traces or metrics; they are lost',
    fields: ({ url, error }) => ({ url, reason: reasonOf(error) }),
    limit: true,
    counter: {
      name: 'rowgraph_telemetry_exports_failed_total',
      help: 'Messages with traces or metrics that did not reach their receiver.',
    },
  }),
  /** The spans of so many requests were dropped. */
  'spans-dropped': row<{ readonly requests: number }>({
    level: 'warn',
    message: 'traces were dropped: too many waited to be exported',
    limit: true,
  }),
  /** The log could not be written for a while; it can be again. */
  'log-lines-dropped': row<{ readonly lines: number }>({ level: 'warn', message: 'log lines were dropped: they could not be written' }),
} as const;

export type EventKind = keyof typeof eventTable;
type MembersOf<Row> = Row extends EventRow<infer Members> ? Members : never;

/** `project`: the project that the event concerns, on a server with several. */
export type Event = { readonly project?: string } & {
  [Kind in EventKind]: { readonly kind: Kind } & MembersOf<(typeof eventTable)[Kind]>;
}[EventKind];

/** Receives an event. It must not block; what it throws changes nothing. */
export type Observer = (event: Event) => void;

export function rowOf(event: Event): EventRow<Event> {
  // The row takes the members of this kind, which TypeScript cannot see of a union.
  return eventTable[event.kind] as unknown as EventRow<Event>;
}

/** Writes events as log lines. In: an event; out: a pino log line, or none. */
import type { Logger } from 'pino';
import type {
  ApiEmpty,
  AuthenticationFailed,
  DatabaseAwaited,
  DefectFound,
  DocumentMismatched,
  DocumentsChecked,
  Event,
  ExtensionOutdated,
  FilesLimited,
  FilesLoaded,
  FilesLoadFailed,
  KeysLoadFailed,
  ListenFailed,
  LoginPowerful,
  LogLinesDropped,
  PoolFailed,
  ProjectFailed,
  RequestFinished,
  SchemaAwaited,
  SchemaLoaded,
  SchemaLoadFailed,
  SearchPathMissing,
  SpansDropped,
  TablesOpen,
  TelemetryExportFailed,
  WorkerEnded,
} from '../events.ts';

/** Writes an event's line; some events have none. */
export function writeEvent(event: Event, log: Logger): void {
  switch (event.kind) {
    case 'request-started':
      break;
    case 'request-finished':
      writeRequest(event, log);
      break;
    case 'defect-found':
      log.error({ err: errorOf(event.error), requestId: event.requestId }, defectMessages[event.origin ?? 'request']);
      break;
    case 'server-started':
      log.info({ url: event.url }, 'serving');
      break;
    case 'server-stopping':
      log.info('stopping: finishing the requests in flight');
      break;
    case 'server-stopped':
      log.info('stopped');
      break;
    case 'worker-ended':
      writeWorkerEnd(event, log);
      break;
    case 'login-powerful':
    case 'database-awaited':
    case 'tables-open':
    case 'search-path-missing':
    case 'api-empty':
    case 'files-limited':
    case 'authentication-failed':
    case 'pool-failed':
    case 'listen-failed':
    case 'keys-load-failed':
    case 'telemetry-export-failed':
    case 'spans-dropped':
    case 'log-lines-dropped':
    case 'extension-outdated':
    case 'project-failed':
      writeWarning(event, log);
      break;
    case 'schema-awaited':
    case 'schema-loaded':
    case 'schema-load-failed':
      writeLoading(event, log);
      break;
    case 'keys-ignored':
    case 'directives-ignored':
      writeIgnored(event.problems, log, ignoredMessages[event.kind]);
      break;
    case 'files-loaded':
    case 'files-load-failed':
    case 'documents-checked':
      writeFiles(event, log);
      break;
    case 'document-mismatched':
      writeMismatches(event, log);
      break;
    case 'batch-retried':
      log.debug({ attempt: event.attempt, sqlstate: event.sqlstate }, 'batch retried');
      break;
  }
}

const defectMessages: Readonly<Record<NonNullable<DefectFound['origin']> | 'request', string>> = {
  request: 'bug in rowgraph: please report it',
  unhandledRejection: 'bug in rowgraph: unhandled promise rejection; please report it',
  uncaughtException: 'bug in rowgraph: uncaught exception; the process ends. Please report it',
};

/** Anything can be thrown; other values than errors have no stack and may contain more than is fit for a log. */
function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(`thrown: ${String(error)}`);
}

/**
 * `fetch` reports only that it failed; its cause has the reason. If a host has several addresses, the error has one error per address, and
 * no message.
 */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  const { message, cause } = errorOf(error);
  return cause instanceof Error ? `${message}: ${cause.message || (cause as NodeJS.ErrnoException).code}` : message;
}

function writeLoading(event: SchemaAwaited | SchemaLoaded | SchemaLoadFailed, log: Logger): void {
  switch (event.kind) {
    case 'schema-awaited':
      return log.info('loading the schema takes long; requests wait for it');
    case 'schema-loaded':
      return log.info({ version: event.version, seconds: event.seconds }, 'schema loaded');
    case 'schema-load-failed':
      return writeLoadFailure(event.error, log);
  }
}

/** If the database did not respond, nothing is known to be wrong with the schema. */
function writeLoadFailure(error: unknown, log: Logger): void {
  const what = isOfServer(error) ? 'check the schema for changes' : 'load the schema';
  const message = `failed to ${what}; the previous one stays in use, and the next attempt follows within a second`;
  if (isOfServer(error)) log.warn({ reason: reasonOf(error) }, message);
  else log.error({ err: error }, message);
}

/** Whether the database could not be asked: there was no SQLSTATE, or one of a lost connection, of missing resources or of an intervention. */
function isOfServer(error: unknown): boolean {
  if (!(error instanceof Error) || !('sqlstate' in error)) return false;
  const { sqlstate } = error;
  return sqlstate === null || (typeof sqlstate === 'string' && /^(?:08|53|57)/.test(sqlstate));
}

function writeWarning(
  event:
    | LoginPowerful
    | DatabaseAwaited
    | TablesOpen
    | SearchPathMissing
    | ApiEmpty
    | FilesLimited
    | AuthenticationFailed
    | PoolFailed
    | ListenFailed
    | KeysLoadFailed
    | ProjectFailed
    | TelemetryExportFailed
    | SpansDropped
    | LogLinesDropped
    | ExtensionOutdated,
  log: Logger,
): void {
  switch (event.kind) {
    case 'login-powerful':
      return log.warn({ role: event.role }, describeLogin(event));
    case 'database-awaited':
      return log.warn(
        { reason: errorOf(event.error).message, milliseconds: event.milliseconds },
        event.isReachable ? 'the schema cannot be loaded; trying again' : 'the database cannot be reached; waiting for it',
      );
    case 'project-failed':
      return log.error({ reason: errorOf(event.error).message }, 'the project cannot be served');
    case 'tables-open':
      return log.warn({ role: event.role, tables: event.tables.length }, describeOpenTables(event));
    case 'search-path-missing':
      return log.warn({ schemas: event.schemas }, 'schemas of --extra-search-path do not exist, so nothing is found in them');
    case 'api-empty':
      return log.warn({ schemas: event.schemas }, describeEmptiness(event));
    case 'files-limited':
      return log.warn(
        { limit: event.limit, needed: event.needed },
        'too few open files are allowed for --max-connections; clients beyond them are disconnected. Raise the limit (ulimit -n)',
      );
    case 'authentication-failed':
      return log.error(
        { err: errorOf(event.error), requestId: event.requestId },
        'the function "authenticate" failed; the request was refused',
      );
    case 'pool-failed':
      return log.warn({ reason: reasonOf(event.error) }, 'database connection failed; another one is opened when it is needed');
    case 'keys-load-failed':
      return log.error(
        { reason: errorOf(event.error).message },
        'failed to load the public keys that verify tokens; those loaded before stay in use',
      );
    case 'listen-failed':
      return log.warn(
        { reason: reasonOf(event.error) },
        'failed to listen for schema changes; they are found within a second, and listening is tried again',
      );
    case 'telemetry-export-failed':
      return log.warn({ url: event.url, reason: reasonOf(event.error) }, 'failed to export traces or metrics; they are lost');
    case 'spans-dropped':
      return log.warn({ requests: event.requests }, 'traces were dropped: too many waited to be exported');
    case 'extension-outdated':
      return log.warn(
        { installed: event.installed, current: event.current },
        'the SQL extension in the database is outdated; "rowgraph extension status" says how to update it',
      );
    case 'log-lines-dropped':
      return log.warn({ lines: event.lines }, 'log lines were dropped: they could not be written');
  }
}

/** The problem of the login role, and what to do about it. */
export function describeLogin({ role, isSuperuser }: LoginPowerful): string {
  const reason = isSuperuser ? 'is a superuser' : 'bypasses row level security';
  return `the login role "${role}" ${reason}: a single bug could expose the whole database. Log in as an ordinary role ("rowgraph roles" prints its SQL)`;
}

const namedTables = 5;

function describeOpenTables({ role, tables }: TablesOpen): string {
  const names = tables.slice(0, namedTables).join(', ');
  const more = tables.length > namedTables ? ` and ${tables.length - namedTables} more` : '';
  return `"${role}" can change any row of ${names}${more}: enable row level security and write policies, or revoke the privileges ("rowgraph doctor" says how)`;
}

function describeEmptiness({ emptiness, schemas, role }: ApiEmpty): string {
  const names = schemas.join(', ');
  return emptiness === 'no-objects'
    ? `the API is empty: there are no tables or functions in ${names}; create some, or expose other schemas with --schemas`
    : `the API is empty for ${role} and authenticated: neither has a privilege on a table of ${names}; grant some, such as: grant select on <table> to ${role}`;
}

const ignoredMessages = {
  'keys-ignored': 'public keys ignored: tokens that are signed with them are invalid',
  'directives-ignored': 'comment directives ignored; "rowgraph doctor" lists them all',
} as const;

/** How many ignored directives or invalid documents a log line names. */
const maxNamed = 20;

function writeIgnored(problems: readonly string[], log: Logger, message: string): void {
  log.warn({ count: problems.length, problems: problems.slice(0, maxNamed) }, message);
}

function writeMismatches({ hash, operations, mismatches }: DocumentMismatched, log: Logger): void {
  const names = operations.slice(0, maxNamed).map((name) => name?.slice(0, longestName) ?? null);
  log.info(
    { document: hash, operations: names, count: mismatches.length, mismatches: mismatches.slice(0, maxNamed) },
    'a document is accepted only by lenient coercion; "mismatches" says how to write it for --coercion strict',
  );
}

function writeFiles(event: FilesLoaded | FilesLoadFailed | DocumentsChecked, log: Logger): void {
  switch (event.kind) {
    case 'files-loaded':
      return log.info({ count: event.count }, `${event.content} loaded`);
    case 'files-load-failed':
      return log.error({ reason: event.error.message }, `failed to read the ${event.content}; what was read last stays in use`);
    case 'documents-checked':
      return writeChecked(event, log);
  }
}

function writeChecked({ role, count, problems }: DocumentsChecked, log: Logger): void {
  if (problems.length === 0) log.info({ role, count }, 'trusted documents are valid for a role');
  else {
    const named = problems.slice(0, maxNamed);
    log.warn(
      { role, count: problems.length, problems: named },
      'trusted documents that are not valid for a role; "rowgraph documents" lists them all',
    );
  }
}

function writeWorkerEnd({ worker, code, signal, restartMilliseconds }: WorkerEnded, log: Logger): void {
  log.error({ worker, code, signal, restartMilliseconds }, 'worker exited; another one takes its place');
}

/** The access log line of a request. It contains no header, no query and no body. */
export function writeAccess({ requestId, role, code, status, seconds, bytes, details }: RequestFinished, log: Logger): void {
  const { method, path, address, trace, operation } = details ?? {};
  const milliseconds = Math.round(seconds * 1e5) / 100;
  const traced = trace ? { traceId: trace.traceId } : {};
  const line = {
    requestId,
    ...traced,
    address,
    method,
    path,
    status,
    code,
    role,
    operation: operation?.name?.slice(0, longestName) ?? null,
  };
  log.info({ ...line, milliseconds, bytes }, 'access');
}

/** In characters. Names of operations come from clients. */
const longestName = 100;

/** Client errors do not concern the operator; server errors do. */
function writeRequest({ requestId, role, code, status, seconds, bytes }: RequestFinished, log: Logger): void {
  const level = status >= 500 ? 'warn' : 'debug';
  if (!log.isLevelEnabled(level)) return;
  log[level]({ requestId, role, code, status, milliseconds: Math.round(seconds * 1e5) / 100, bytes }, 'request');
}

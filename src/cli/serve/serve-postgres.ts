/** Serves a PostgreSQL server until it is stopped, alone or as one of the workers of `supervise-workers.ts`. */
import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../errors/api-error.ts';
import { describeLogin } from '../../event-details.ts';
import type { Observer } from '../../events.ts';
import type { ServedGraph } from '../../http/endpoint/endpoint-options.ts';
import type { AdminServer } from '../../http/routes/operator-routes.ts';
import type { RunningServer } from '../../http/transport/start-server.ts';
import { createRowgraph, type Rowgraph } from '../../index.ts';
import type { Configuration } from '../../settings/settings.ts';
import type { Telemetry } from '../../telemetry/create-telemetry.ts';
import { checkDatabase, type DatabaseCheck, explainLoadError, SlowSchemaError, type UnreachableError } from '../check-database.ts';
import { CommandError, SilentExitError } from '../command-error.ts';
import { graphOptionsOf, type ServeConfiguration } from '../command-settings.ts';
import type { Environment } from '../config.ts';
import { warn } from '../output/terminal.ts';
import { AwaitedGraph, awaitDatabase, stillLoading, unreachable } from './awaited-graph.ts';
import { boundEnd, watchForEnd } from './process-end.ts';
import { openProjects } from './serve-projects.ts';
import { describeAdmin, lastExportMilliseconds, openAgents, openTelemetry, serveAdmin, startService } from './start-service.ts';
import { tokenRulesOf } from './token-rules.ts';
import { DocumentCheck, documentRolesOf, openTrustedDocuments } from './trusted-documents.ts';
import { announceEnd, askPrimary, isReporter, listenToPrimary } from './worker-messages.ts';

/** How long closing the database connections may take; after that the process ends anyway. */
const databaseMilliseconds = 2000;

/**
 * Resolves once it has been stopped and the requests in flight have their responses. Throws `SilentExitError` after a fault that ended it.
 */
export async function servePostgres(configuration: ServeConfiguration, environment: Environment): Promise<void> {
  const { jwtSecret, databaseUrl } = configuration;
  const telemetry = openTelemetry(configuration, environment);
  const check = new DocumentCheck();
  const agents = await openAgents(configuration, telemetry.observe);
  const observe: Observer = (event) => {
    telemetry.observe(event);
    check.notice(event);
    agents?.notice(event);
  };
  judgeFileLimit(configuration, observe);
  const documents = await openTrustedDocuments(configuration, observe);
  const tokens = await tokenRulesOf(configuration, observe);
  const projects = await openProjects(configuration, observe);
  if (projects !== null) telemetry.watchProjects(projects.counts);
  const end = watchForEnd(observe);
  boundEnd(end, configuration);
  void end.begun.then(announceEnd);
  const served = new AwaitedGraph();
  const shared = talkToPrimary(telemetry, served);
  // With several workers, the primary serves this port.
  const admin = cluster.isWorker ? null : await serveAdmin(configuration, { ...shared, ping: served.ping, isDraining: end.isBegun });
  let listening: Promise<RunningServer> | undefined;
  const listen = (): Promise<RunningServer> => {
    const shown = { telemetry: shared, documents, projects, agents };
    listening ??= startService({ configuration, jwtSecret, tokens, page: {}, graph: amongWorkers(served), ...shown });
    return listening;
  };
  if (databaseUrl === undefined) served.open(noGraph);
  const opening =
    databaseUrl === undefined
      ? Promise.resolve(null)
      : awaitGraph({ ...configuration, databaseUrl }, { served, observe, listen, isOver: end.isBegun });
  try {
    const graph = await Promise.race([opening, end.begun.then(() => null)]);
    if ((graph !== null || databaseUrl === undefined) && !end.isBegun()) {
      if (graph !== null) served.open(graph);
      await announce(await listen(), configuration, graph, admin);
      // Each worker compiles the documents, but only one reports.
      const report = isReporter ? telemetry.observe : () => undefined;
      if (documents !== null && graph !== null) check.begin({ documents, graph, roles: documentRolesOf(configuration), report });
      // Ctrl-C and a fault do not wait for clients that may still send requests here.
      if ((await end.begun) === 'SIGTERM') await Promise.race([(await listen()).drain(), end.faulted]);
    }
  } finally {
    documents?.stop();
    check.end();
    served.noteFailure(new ApiError('SHUTTING_DOWN', 'The server is shutting down. Send the request to another instance.'));
    await (await listening)?.close();
    // If shutdown began before the database was reached, the process does not wait for it.
    const closing = Promise.all([served.isOpen && opening.then((graph) => graph?.close()), projects?.close()]);
    const isLate = sleep(databaseMilliseconds, null, { ref: false });
    await Promise.all([Promise.race([closing, isLate]), telemetry.stop(lastExportMilliseconds), admin?.close()]);
  }
  if (end.hasFaults()) throw new SilentExitError(1);
}

/**
 * In a worker, starts the conversation with the primary. Returns the telemetry with the metrics of all workers, which the primary adds up;
 * in other processes, the telemetry as it is.
 */
function talkToPrimary(telemetry: Telemetry, graph: AwaitedGraph): Telemetry {
  if (!cluster.isWorker) return telemetry;
  listenToPrimary({ metrics: telemetry.readMetrics, ready: () => graph.ping().then(() => true) });
  const writeMetrics = async (): Promise<string> => ((await askPrimary('metrics')) as string | null) ?? telemetry.writeMetrics();
  return { ...telemetry, writeMetrics };
}

/** In a worker, the graph as the server shows it: ready if those of all workers are. In other processes, the graph as it is. */
function amongWorkers(graph: AwaitedGraph): ServedGraph {
  if (!cluster.isWorker) return graph;
  const ping = async (): Promise<void> => {
    await graph.ping();
    if ((await askPrimary('ready')) !== true) throw new Error('Not all workers are ready');
  };
  return { ...graph, ping };
}

/**
 * Used if only projects have databases: the server is ready without one, and `serve-projects.ts` rejects requests that are for no project.
 */
const noGraph: ServedGraph = {
  executeRaw: () => Promise.reject(withoutProject()),
  subscribeRaw: () => {
    throw withoutProject();
  },
  readCaches: () => [],
  readStatistics: () => null,
  ping: async () => {},
};

function withoutProject(): Error {
  return new Error('a request without a project was executed');
}

interface GraphAwaiters {
  readonly served: AwaitedGraph;
  readonly observe: Observer;
  readonly listen: () => Promise<unknown>;
  readonly isOver: () => boolean;
}

/** Opens the database when it can be reached. The server listens meanwhile, and `served` knows what to say to requests. Null if it ends first. */
function awaitGraph(configuration: DatabaseConfiguration, { served, observe, listen, isOver }: GraphAwaiters): Promise<Rowgraph | null> {
  const { waitForDatabase: milliseconds } = configuration;
  const open = async (patience: number): Promise<Rowgraph> => {
    try {
      return await openGraph(configuration, patience, observe, () => served.noteLoading());
    } catch (error) {
      served.noteFailure(error instanceof SlowSchemaError ? stillLoading() : unreachable());
      throw error;
    }
  };
  const onWait = async (error: UnreachableError): Promise<void> => {
    observe({ kind: 'database-awaited', isReachable: error instanceof SlowSchemaError, error, milliseconds });
    await listen();
  };
  const onSlow = async (): Promise<void> => {
    if (served.isLoading) observe({ kind: 'schema-awaited' });
    await listen();
  };
  return awaitDatabase(open, { milliseconds, onSlow, onWait, isOver });
}

/** With a database. */
type DatabaseConfiguration = Configuration<keyof ServeConfiguration, 'databaseUrl'>;

/**
 * Checks the database and opens it. `patience`: milliseconds to connect, and for each query of the check. `onReached` is called before the
 * schema is loaded. Rejects with `UnreachableError` if it may succeed later.
 */
async function openGraph(
  configuration: DatabaseConfiguration,
  patience: number,
  observe: Observer,
  onReached: () => void,
): Promise<Rowgraph> {
  const { databaseUrl, schemas, extraSearchPath, anonRole, strict, schemaTriggers } = configuration;
  const checked = { databaseUrl, schemas, extraSearchPath, role: anonRole, roleFlag: '--anon-role' };
  const { login, openTables, missingSearchPath, mostConnections, emptiness } = await checkDatabase(checked, patience);
  judgeLogin(login, strict, observe);
  judgeConnections(configuration, mostConnections, observe);
  if (openTables.length > 0 && isReporter) observe({ kind: 'tables-open', role: anonRole, tables: openTables });
  if (missingSearchPath.length > 0 && isReporter) observe({ kind: 'search-path-missing', schemas: missingSearchPath });
  if (emptiness !== null && isReporter) observe({ kind: 'api-empty', emptiness, schemas, role: anonRole });
  try {
    onReached();
    return await createRowgraph({ ...graphOptionsOf(configuration), database: databaseUrl, observe });
  } catch (error) {
    throw explainLoadError(error, { databaseUrl, schemaTriggers, login: login.role });
  }
}

/** Warns if all workers may open more connections than the server allows. Each watches the schema on one of its own. */
function judgeConnections({ workers, poolSize }: Pick<ServeConfiguration, 'workers' | 'poolSize'>, limit: number, observe: Observer): void {
  const needed = workers * (poolSize + 1);
  if (isReporter && limit < needed) observe({ kind: 'connections-limited', limit, needed });
}

/** Files that a process needs beside its connections: the log, pipes, the event loop's own. */
const otherFiles = 64;

/** Warns if the operating system allows fewer open files than the clients and database connections of this process may use. */
function judgeFileLimit({ maxConnections, poolSize, projectConnections }: ServeConfiguration, observe: Observer): void {
  const { soft: limit } = (process.report.getReport() as ProcessReport).userLimits?.open_files ?? {};
  const needed = maxConnections + poolSize + projectConnections + otherFiles;
  // "unlimited", or absent on Windows.
  if (isReporter && typeof limit === 'number' && limit < needed) observe({ kind: 'files-limited', limit, needed });
}

/** What this file uses of Node's report (https://nodejs.org/api/report.html). */
interface ProcessReport {
  readonly userLimits?: { readonly open_files?: { readonly soft: number | 'unlimited' } };
}

/** Warns about a privileged login role both in the log and on the terminal, whatever the log level. */
function judgeLogin({ role, isSuperuser, bypassesRowSecurity }: DatabaseCheck['login'], strict: boolean, observe: Observer): void {
  if (!isSuperuser && !bypassesRowSecurity) return;
  const event = { kind: 'login-powerful', role, isSuperuser } as const;
  const message = describeLogin(event);
  if (strict) throw new CommandError(`--strict: ${message}`, 2);
  if (!isReporter) return;
  warn(message);
  observe(event);
}

/** Prints where the service is. Programs parse standard output too, so the first line must not change. */
async function announce(
  { url }: RunningServer,
  { basePath = '', graphiql, mcp, anonRole }: ServeConfiguration,
  graph: Rowgraph | null,
  admin: AdminServer | null,
): Promise<void> {
  const lines = [`rowgraph serves ${url}${basePath}/graphql/v1`];
  if (graphiql) {
    lines.push(`GraphiQL: ${url}${basePath}/graphiql`);
    const { errors } = (await graph?.execute({ query: '{ __schema { queryType { name } } }' }, { role: anonRole })) ?? {};
    if (errors !== undefined)
      lines.push(`Introspection is off for ${anonRole}, so GraphiQL cannot show the schema; turn it on with --introspection on`);
  }
  if (mcp) lines.push(`Agents (MCP): ${url}${basePath}/mcp`);
  lines.push(...describeAdmin(admin));
  if (cluster.worker) cluster.worker.send(lines);
  else process.stdout.write(`${lines.join('\n')}\n`);
}

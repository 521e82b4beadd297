/** Serves a graph over HTTP with the settings that `dev` and `serve` share. */
import cluster from 'node:cluster';
import type { Observer } from '../../events.ts';
import type { WatchedDocuments } from '../../http/documents/trusted-document-files.ts';
import type { ServedGraph } from '../../http/endpoint/endpoint-options.ts';
import { type AdminServer, createHealthRoutes, createMetricsRoute, startAdminServer } from '../../http/routes/operator-routes.ts';
import type { PageOptions } from '../../http/routes/server-routes.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../http/transport/start-server.ts';
import type { Agents } from '../../mcp/create-agents.ts';
import type { AgentProtocol } from '../../mcp/session.ts';
import { optionsIn } from '../../settings/settings.ts';
import { createTelemetry, type Telemetry } from '../../telemetry/create-telemetry.ts';
import { type OtlpSettings, readOtlpSettings } from '../../telemetry/otlp/otlp-settings.ts';
import { CommandError } from '../command-error.ts';
import type { ServeConfiguration, ServiceConfiguration } from '../command-settings.ts';
import { ConfigurationError, type Environment } from '../config.ts';
import { warn } from '../output/terminal.ts';
import { agentPackages, checkPackages } from '../package-file.ts';
import type { ServedProjects } from './serve-projects.ts';
import { isReporter, sharesPort } from './worker-messages.ts';

interface ServiceOptions {
  readonly configuration: ServiceConfiguration & Partial<Pick<ServeConfiguration, 'maxEventLoopDelay' | 'adminPort' | 'traceDatabase'>>;
  readonly jwtSecret: string | undefined;
  readonly tokens: NonNullable<ServerOptions['tokens']>;
  /** The options of the page at /graphiql, if it is served. */
  readonly page: PageOptions;
  readonly graph: ServedGraph;
  readonly telemetry: Telemetry;
  readonly documents: WatchedDocuments | null;
  /** Answers agents; null if they are not served. */
  readonly agents: AgentProtocol | null;
  /** The projects of the server; null if it has none. */
  readonly projects?: ServedProjects | null;
}

/** Listens. Throws `CommandError` if the address is not available. */
export async function startService({
  configuration,
  jwtSecret,
  tokens,
  page,
  graph,
  telemetry,
  documents,
  agents,
  projects = null,
}: ServiceOptions): Promise<RunningServer> {
  const { host, port, graphiql, rateLimit, onlyTrustedDocuments, untrustedRoles, drainDelay, closeTimeout } = configuration;
  try {
    return await startServer({
      ...optionsIn('server', configuration),
      reusePort: cluster.isWorker && sharesPort,
      reservedStreams: !cluster.isWorker,
      graph,
      ...(jwtSecret !== undefined && { jwtSecret }),
      tokens,
      graphiql: graphiql && page,
      telemetry,
      ...(agents !== null && { agents }),
      metrics: metricsOf(configuration),
      drainMilliseconds: drainDelay,
      closeMilliseconds: closeTimeout,
      ...projects?.serverOptions,
      ...(documents !== null && { trustedDocuments: documents }),
      ...(onlyTrustedDocuments && { untrustedRoles }),
      ...(rateLimit !== undefined && { rateLimit: { max: rateLimit, windowMilliseconds: 60_000 } }),
    });
  } catch (error) {
    throw explainListenError(error, host, port);
  }
}

/** If they have a port of their own, the public port does not serve the metrics. */
function metricsOf({ adminPort, metricsKey }: ServiceOptions['configuration']): NonNullable<ServerOptions['metrics']> {
  if (adminPort !== undefined) return 'elsewhere';
  return metricsKey === undefined ? {} : { key: metricsKey };
}

/** Explains why the server cannot listen at an address; returns other errors unchanged. */
export function explainListenError(error: unknown, host: string, port: number, flag = '--port'): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return new CommandError(`${flag} ${port} is already in use: choose another (0 picks a free one)`, 2, error);
  if (code === 'EACCES')
    return new CommandError(`${flag} ${port} needs more privileges than this user has: choose a port of at least 1024`, 2, error);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new CommandError(`--host ${host} is not an address of this machine`, 2, error);
  return error;
}

interface AdminService extends Pick<Telemetry, 'writeMetrics' | 'metricsContentType'> {
  /** Resolves if the service can answer requests. */
  ping(): Promise<void>;
  readonly isDraining: () => boolean;
  readonly observe: Observer;
}

/** Throws `CommandError` if the address is not available. */
export async function serveAdmin(
  { adminPort, adminHost, metricsKey }: ServeConfiguration,
  service: AdminService,
): Promise<AdminServer | null> {
  if (adminPort === undefined) return null;
  const routes = new Map([...createHealthRoutes(service, service.isDraining), createMetricsRoute(service, metricsKey ?? null)]);
  try {
    return await startAdminServer({ host: adminHost, port: adminPort }, routes, service.observe);
  } catch (error) {
    throw explainListenError(error, adminHost, adminPort, '--admin-port');
  }
}

/** The line that shows its URL; none if it is not configured. */
export function describeAdmin(admin: AdminServer | null): string[] {
  return admin === null ? [] : [`Metrics: ${admin.url}/metrics`];
}

/** How long the last export may take when the process ends, in milliseconds. */
export const lastExportMilliseconds = 2_000;

/** Logs go to standard error. Throws `ConfigurationError` for an invalid variable. */
export function openTelemetry(
  configuration: ServiceConfiguration & Partial<Pick<ServeConfiguration, 'traceDatabase'>>,
  environment: Environment,
): Telemetry {
  const { logLevel: level, accessLog, slowOperations: milliseconds, slowOperationValues: hasValues } = configuration;
  const slowOperations = milliseconds === undefined ? null : { milliseconds, hasValues };
  const otlp = otlpOf(environment);
  if (configuration.traceDatabase && !otlp?.traces && isReporter)
    warn('--trace-database has no effect, because no traces are exported. Set OTEL_EXPORTER_OTLP_ENDPOINT to export them');
  return createTelemetry({ level, accessLog, slowOperations, otlp });
}

function otlpOf(environment: Environment): OtlpSettings | null {
  try {
    return readOtlpSettings(environment);
  } catch (error) {
    throw new ConfigurationError([(error as Error).message]);
  }
}

/** Null if agents are not served. Throws `CommandError` if the SDK is not installed. */
export async function openAgents(
  { mcp, mcpWrites, mcpExplain, mcpResultSize }: Pick<ServiceConfiguration, 'mcp' | 'mcpWrites' | 'mcpExplain' | 'mcpResultSize'>,
  observe: Observer,
): Promise<Agents | null> {
  if (!mcp) return null;
  checkPackages(agentPackages);
  const { createAgents } = await import('../../mcp/create-agents.ts');
  return createAgents({ writes: mcpWrites, explain: mcpExplain, resultSize: mcpResultSize, observe });
}

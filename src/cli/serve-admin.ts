/**
 * Health and metrics on a separate port. In: the settings, and who answers for the service; out: the running server, or null if no such
 * port is configured.
 */
import type { Observer } from '../events.ts';
import { type AdminServer, createHealthRoutes, createMetricsRoute, startAdminServer } from '../http/routes/operator-routes.ts';
import type { Telemetry } from '../telemetry/create-telemetry.ts';
import type { ServeConfiguration } from './command-settings.ts';
import { explainListenError } from './start-service.ts';

export interface AdminService extends Pick<Telemetry, 'writeMetrics' | 'metricsContentType'> {
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

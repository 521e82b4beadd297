/** The telemetry of a serving process, from the settings and the environment variables of OpenTelemetry. */
import { createTelemetry, type Telemetry } from '../telemetry/create-telemetry.ts';
import { type OtlpSettings, readOtlpSettings } from '../telemetry/otlp/otlp-settings.ts';
import type { ServeConfiguration, ServiceConfiguration } from './command-settings.ts';
import { ConfigurationError, type Environment } from './config.ts';
import { warn } from './terminal.ts';
import { isReporter } from './worker-messages.ts';

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

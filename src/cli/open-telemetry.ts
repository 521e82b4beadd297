/** The telemetry of a serving process, from the settings and the environment variables of OpenTelemetry. */
import { createTelemetry, type Telemetry } from '../telemetry/create-telemetry.ts';
import { type OtlpSettings, readOtlpSettings } from '../telemetry/otlp/otlp-settings.ts';
import type { ServiceConfiguration } from './command-settings.ts';
import { ConfigurationError, type Environment } from './config.ts';

/** How long the last export may take when the process ends, in milliseconds. */
export const lastExportMilliseconds = 2_000;

/** Logs go to standard error. Throws `ConfigurationError` for an invalid variable. */
export function openTelemetry(configuration: ServiceConfiguration, environment: Environment): Telemetry {
  const { logLevel: level, accessLog, slowOperations: milliseconds, slowOperationValues: hasValues } = configuration;
  const slowOperations = milliseconds === undefined ? null : { milliseconds, hasValues };
  return createTelemetry({ level, accessLog, slowOperations, otlp: otlpOf(environment) });
}

function otlpOf(environment: Environment): OtlpSettings | null {
  try {
    return readOtlpSettings(environment);
  } catch (error) {
    throw new ConfigurationError([(error as Error).message]);
  }
}

/**
 * Reads the standard environment variables of OpenTelemetry
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ and
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
 */
import type { Sampler } from '../trace-context.ts';

export interface OtlpSettings {
  /** Null if traces are not exported. */
  readonly traces: OtlpTarget | null;
  /** Null if metrics are not exported. */
  readonly metrics: OtlpTarget | null;
  readonly sampler: Sampler;
  /** Attributes of the process. */
  readonly resource: Readonly<Record<string, string>>;
  /** How many spans may wait for export, and how many are exported at a time. */
  readonly spanQueue: number;
  readonly spanBatch: number;
  /** Milliseconds between two exports of spans, and of metrics. */
  readonly spanDelay: number;
  readonly metricInterval: number;
}

export interface OtlpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds that an export may take. */
  readonly timeout: number;
  readonly isCompressed: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Signal = 'traces' | 'metrics';

/** Null if nothing is to be exported. Throws an `Error` that names the wrong variable. */
export function readOtlpSettings(environment: Environment): OtlpSettings | null {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null;
  const traces = readTarget(environment, 'traces');
  const metrics = readTarget(environment, 'metrics');
  if (traces === null && metrics === null) return null;
  const number = (name: string, fallback: number): number => readNumber(environment, name, fallback);
  return {
    traces,
    metrics,
    sampler: readSampler(environment),
    resource: {
      'service.name': 'rowgraph',
      ...readPairs(environment, 'OTEL_RESOURCE_ATTRIBUTES'),
      ...(environment.OTEL_SERVICE_NAME && { 'service.name': environment.OTEL_SERVICE_NAME }),
    },
    spanQueue: number('OTEL_BSP_MAX_QUEUE_SIZE', 2048),
    spanBatch: number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512),
    spanDelay: number('OTEL_BSP_SCHEDULE_DELAY', 5000),
    metricInterval: number('OTEL_METRIC_EXPORT_INTERVAL', 60_000),
  };
}

/** A variable for one signal overrides the one for all signals. */
function readTarget(environment: Environment, signal: Signal): OtlpTarget | null {
  const upper = signal.toUpperCase();
  const exporter = environment[`OTEL_${upper}_EXPORTER`];
  if (exporter === 'none') return null;
  if (exporter && exporter !== 'otlp') throw new Error(`OTEL_${upper}_EXPORTER must be otlp or none (it is ${JSON.stringify(exporter)})`);
  const nameOf = (name: string): string => {
    const own = `OTEL_EXPORTER_OTLP_${upper}_${name}`;
    return environment[own] ? own : `OTEL_EXPORTER_OTLP_${name}`;
  };
  const endpoint = nameOf('ENDPOINT');
  const address = environment[endpoint];
  if (!address && exporter !== 'otlp') return null;
  checkProtocol(environment, nameOf('PROTOCOL'));
  return {
    url: readUrl(endpoint, address || 'http://localhost:4318', endpoint.includes(upper) ? '' : `v1/${signal}`),
    headers: readPairs(environment, nameOf('HEADERS')),
    timeout: readNumber(environment, nameOf('TIMEOUT'), 10_000),
    isCompressed: environment[nameOf('COMPRESSION')] === 'gzip',
  };
}

/** Accepts http/protobuf too, although rowgraph sends JSON: every OTLP receiver over HTTP understands JSON. */
function checkProtocol(environment: Environment, name: string): void {
  const protocol = environment[name];
  if (protocol && !['http/json', 'http/protobuf'].includes(protocol))
    throw new Error(`${name} must be http/json or http/protobuf (it is ${JSON.stringify(protocol)}); rowgraph exports JSON over HTTP`);
}

function readUrl(name: string, address: string, path: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Error(`${name} must be a URL with http or https`);
  if (path !== '') url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
  return url.href;
}

/** `a=1,b=2`, encoded as in a URL. */
function readPairs(environment: Environment, name: string): Record<string, string> {
  const pairs = (environment[name] ?? '').split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, key, value] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(pair) ?? [];
      if (key === undefined || value === undefined) throw new Error(`${name} must look like a=1,b=2`);
      try {
        return [decodeURIComponent(key), decodeURIComponent(value.trim())];
      } catch {
        throw new Error(`${name} has a % without two hexadecimal digits`);
      }
    }),
  );
}

function readNumber(environment: Environment, name: string, fallback: number): number {
  const text = environment[name];
  if (!text) return fallback;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${name} must be a whole number of at least 1 (it is ${JSON.stringify(text)})`);
  return Number(text);
}

const samplers: Readonly<Record<string, { readonly isParentBased: boolean; readonly ratio: number | null }>> = {
  always_on: { isParentBased: false, ratio: 1 },
  always_off: { isParentBased: false, ratio: 0 },
  traceidratio: { isParentBased: false, ratio: null },
  parentbased_always_on: { isParentBased: true, ratio: 1 },
  parentbased_always_off: { isParentBased: true, ratio: 0 },
  parentbased_traceidratio: { isParentBased: true, ratio: null },
};

function readSampler(environment: Environment): Sampler {
  const name = environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  const sampler = Object.hasOwn(samplers, name) ? samplers[name]! : null;
  if (sampler === null) throw new Error(`OTEL_TRACES_SAMPLER must be one of ${Object.keys(samplers).join(', ')}`);
  const ratio = Number(environment.OTEL_TRACES_SAMPLER_ARG || 1);
  if (!(ratio >= 0 && ratio <= 1)) throw new Error('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  return { isParentBased: sampler.isParentBased, ratio: sampler.ratio ?? ratio };
}

/** Metrics as plain data: how they are written for Prometheus, and added up over several processes. */
import type { Distribution } from '../statistics.ts';

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly Sample[];
  /** How the values of several processes become one. Default: sum. */
  readonly aggregator?: string;
}

/** `metricName` differs from the name of the metric in the series of a histogram. */
export interface Sample {
  readonly metricName?: string | undefined;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A metric with one value, or with one for each set of labels. */
export function metric(type: 'counter' | 'gauge', name: string, help: string, value: number | readonly Sample[]): Metric {
  return { name, help, type, values: typeof value === 'number' ? [{ labels: {}, value }] : value };
}

/** The sum of distributions with these bounds. A Prometheus bucket counts everything up to its bound. */
export function histogram(name: string, help: string, bounds: readonly number[], distributions: readonly Distribution[]): Metric {
  let count = 0;
  const buckets = [...bounds, Infinity].map((bound, index) => {
    for (const { counts } of distributions) count += counts[index] ?? 0;
    return { metricName: `${name}_bucket`, labels: { le: bound === Infinity ? '+Inf' : bound }, value: count };
  });
  const sum = distributions.reduce((total, distribution) => total + distribution.sum, 0);
  const totals = [
    { metricName: `${name}_sum`, labels: {}, value: sum },
    { metricName: `${name}_count`, labels: {}, value: count },
  ];
  return { name, help, type: 'histogram', values: [...buckets, ...totals] };
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

export function writeMetrics(metrics: readonly Metric[]): string {
  return `${metrics.map(writeMetric).join('\n\n')}\n`;
}

function writeMetric({ name, help, type, values }: Metric): string {
  const lines = values.map(({ metricName = name, labels, value }) => `${metricName}${writeLabels(labels)} ${writeValue(value)}`);
  return [`# HELP ${name} ${escape(help)}`, `# TYPE ${name} ${type}`, ...lines].join('\n');
}

function writeLabels(labels: Sample['labels']): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value)).replaceAll('"', '\\"')}"`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function writeValue(value: number): string {
  return Math.abs(value) === Infinity ? (value > 0 ? '+Inf' : '-Inf') : String(value);
}

const aggregators: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((total, value) => total + value, 0),
  average: (values) => values.reduce((total, value) => total + value, 0) / values.length,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  first: ([value = 0]) => value,
};

/** The metrics of several processes as those of one. Metrics whose aggregator is `omit` make no sense for several. */
function addUp(readings: readonly (readonly Metric[])[]): Metric[] {
  const byName = Map.groupBy(readings.flat(), ({ name }) => name);
  return [...byName.values()].flatMap((alike) => {
    const [first] = alike;
    const aggregate = aggregators[first?.aggregator ?? 'sum'];
    if (first === undefined || aggregate === undefined) return [];
    const samples = alike.flatMap(({ values }) => values);
    const series = Map.groupBy(samples, ({ metricName, labels }) => JSON.stringify([metricName, labels]));
    const values = [...series.values()].map((group) => ({ ...group[0]!, value: aggregate(group.map(({ value }) => value)) }));
    return [{ ...first, values }];
  });
}

/** The sum over processes that come and go. What a process has counted stays in it, so that counters never go down. */
export class MetricsSum {
  readonly #latest = new Map<number, readonly Metric[]>();
  #past: readonly Metric[] = [];

  /** The current metrics of a process; null if it does not answer, which leaves its last ones in the sum. */
  note(process: number, reading: readonly Metric[] | null): void {
    if (reading !== null) this.#latest.set(process, reading);
  }

  /** A process has ended: its counters and histograms are kept. */
  end(process: number): void {
    const last = this.#latest.get(process) ?? [];
    this.#latest.delete(process);
    this.#past = addUp([this.#past, last.filter(({ type }) => type === 'counter' || type === 'histogram')]);
  }

  write(): string {
    return writeMetrics(addUp([...this.#latest.values(), this.#past]));
  }
}

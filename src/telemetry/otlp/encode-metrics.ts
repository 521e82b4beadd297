/**
 * The metrics of a process in the JSON form of OTLP. In: what the registry reads; out: metrics under the same names. Sums count from the
 * start of the process.
 */
import type { MetricsReading } from '../sum-metrics.ts';
import { attributesOf } from './attributes.ts';
import { nanosOf } from './encode-spans.ts';

type Metric = MetricsReading[number];
type Value = Metric['values'][number] & { readonly metricName?: string };
type Labels = Readonly<Record<string, string | number>>;

const cumulative = 2;

/** The current metrics. */
export function encodeMetrics(reading: MetricsReading): object[] {
  const times = { startTimeUnixNano: nanosOf(0), timeUnixNano: nanosOf(performance.now()) };
  return reading.flatMap((metric): object[] => {
    const { name, help: description, values } = metric;
    const type = String(metric.type);
    if (type === 'histogram')
      return [{ name, description, histogram: { aggregationTemporality: cumulative, dataPoints: histogramPoints(metric, times) } }];
    const dataPoints = values.map(({ labels, value }) => ({ ...times, attributes: attributesOf(labels as Labels), asDouble: value }));
    if (type === 'counter') return [{ name, description, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } }];
    return type === 'gauge' ? [{ name, description, gauge: { dataPoints } }] : [];
  });
}

/** Combines all values that differ only in their bucket into one point. Prometheus buckets are cumulative, OTLP buckets are not. */
function histogramPoints({ name, values }: Metric, times: object): object[] {
  const groups = Map.groupBy(values as readonly Value[], ({ labels: { le: _bound, ...labels } }) => JSON.stringify(labels));
  return [...groups].map(([labels, group]) => {
    const buckets = group.filter(({ metricName }) => metricName === `${name}_bucket`);
    const valueOf = (suffix: string): number => group.find(({ metricName }) => metricName === name + suffix)?.value ?? 0;
    const counts = buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0));
    return {
      ...times,
      attributes: attributesOf(JSON.parse(labels) as Labels),
      count: String(valueOf('_count')),
      sum: valueOf('_sum'),
      bucketCounts: counts.map(String),
      explicitBounds: buckets.slice(0, -1).map(({ labels: { le } }) => Number(le)),
    };
  });
}

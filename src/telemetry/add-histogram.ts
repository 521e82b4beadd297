/**
 * A histogram over a `Distribution`, which is read when the metrics are requested: an observation in prom-client's own histogram looks up
 * labels, which was most of the cost of counting a request (docs/decisions/hot-path.md).
 *
 * Relies on prom-client beyond its documentation: a registry asks a metric for its values by `get`, whatever its class.
 * `test/contracts/prom-client.test.ts` compares this with prom-client's own histogram.
 */
import type { Metric, Registry } from 'prom-client';
import type { Distribution } from '../distribution.ts';

export interface HistogramOptions {
  readonly name: string;
  readonly help: string;
}

/** Adds a histogram to the registry. `read` returns the distributions, which are added up; they must have the same bounds. */
export function addHistogram(
  registry: Registry,
  { name, help }: HistogramOptions,
  bounds: readonly number[],
  read: () => readonly Distribution[],
): void {
  const get = () => Promise.resolve({ name, help, type: 'histogram', values: valuesOf(name, bounds, read()), aggregator: 'sum' });
  registry.registerMetric({ name, help, get } as unknown as Metric);
}

/** A Prometheus bucket counts everything up to its bound. */
function valuesOf(name: string, bounds: readonly number[], distributions: readonly Distribution[]) {
  let count = 0;
  const counted = [...bounds, Infinity].map((bound, index) => {
    for (const { counts } of distributions) count += counts[index] ?? 0;
    return { labels: { le: bound === Infinity ? '+Inf' : bound }, value: count, metricName: `${name}_bucket` };
  });
  const sum = distributions.reduce((total, distribution) => total + distribution.sum, 0);
  return [...counted, { labels: {}, value: sum, metricName: `${name}_sum` }, { labels: {}, value: count, metricName: `${name}_count` }];
}

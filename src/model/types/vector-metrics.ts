/** The distances of pgvector, one row each (https://github.com/pgvector/pgvector#vector-functions-and-operators). */
import type { VectorForm } from './postgres-types.ts';

interface MetricTraits {
  readonly symbol: string;
  /** What the names of operator classes have that support it: `vector_l2_ops`. */
  readonly operatorClass: string;
  readonly ofBits: boolean;
  /** Whether some vectors are at no distance from others: a vector of zeros has no direction. */
  readonly isPartial: boolean;
  readonly description: string;
}

function metric(symbol: string, operatorClass: string, description: string, more: Partial<MetricTraits> = {}): MetricTraits {
  return { symbol, operatorClass, description, ofBits: false, isPartial: false, ...more };
}

const all = {
  COSINE: metric('<=>', 'cosine', 'Cosine distance: from 0 for the same direction to 2 for the opposite one', { isPartial: true }),
  L2: metric('<->', 'l2', 'Euclidean distance'),
  INNER_PRODUCT: metric('<#>', 'ip', 'The negative inner product, so that the greatest product is the nearest'),
  L1: metric('<+>', 'l1', 'Taxicab distance: the sum of the differences'),
  HAMMING: metric('<~>', 'hamming', 'The number of bits that differ', { ofBits: true }),
  JACCARD: metric('<%>', 'jaccard', 'The share of the bits set in either that are not set in both', { ofBits: true }),
} as const satisfies Record<string, MetricTraits>;

export type Metric = keyof typeof all;

export const metrics: Readonly<Record<Metric, MetricTraits>> = all;

const names = Object.keys(all) as readonly Metric[];

/** The metrics of a form of vectors; the first is the default. */
export function metricsOf(form: VectorForm): readonly Metric[] {
  return names.filter((name) => metrics[name].ofBits === (form === 'bits'));
}

/** The metric of an operator class; undefined for one that pgvector does not have. */
export function metricOfClass(operatorClass: string): Metric | undefined {
  return names.find((name) => operatorClass.endsWith(`_${metrics[name].operatorClass}_ops`));
}

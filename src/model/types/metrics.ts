/** How distances are measured: the operators of pgvector, of pg_trgm, of PostGIS and of points, one row each, and what each form of values has of them. */
import type { MeasuredForm } from './postgres-types.ts';

interface MetricTraits {
  readonly symbol: string;
  /** The type of the distance. */
  readonly result: 'float4' | 'float8';
  /** What the names of pgvector's operator classes have that support it: `vector_l2_ops`. */
  readonly operatorClass: string | null;
  /** Whether some values are at no distance from others: a vector of zeros has no direction. */
  readonly isPartial: boolean;
  readonly description: string;
}

/** Of pgvector (https://github.com/pgvector/pgvector#vector-functions-and-operators). */
function ofVectors(symbol: string, operatorClass: string, description: string, isPartial = false): MetricTraits {
  return { symbol, result: 'float8', operatorClass, isPartial, description };
}

/** Of pg_trgm (manual: pg_trgm, Functions and Operators). */
function ofTexts(symbol: string, description: string): MetricTraits {
  return { symbol, result: 'float4', operatorClass: null, isPartial: false, description };
}

const all = {
  COSINE: ofVectors('<=>', 'cosine', 'Cosine distance: from 0 for the same direction to 2 for the opposite one', true),
  L2: ofVectors('<->', 'l2', 'Euclidean distance'),
  INNER_PRODUCT: ofVectors('<#>', 'ip', 'The negative inner product, so that the greatest product is the nearest'),
  L1: ofVectors('<+>', 'l1', 'Taxicab distance: the sum of the differences'),
  HAMMING: ofVectors('<~>', 'hamming', 'The number of bits that differ'),
  JACCARD: ofVectors('<%>', 'jaccard', 'The share of the bits set in either that are not set in both'),
  SIMILARITY: ofTexts('<->', '1 minus the similarity of the texts as a whole'),
  WORD_SIMILARITY: ofTexts('<->>', '1 minus the similarity of the part of the text that is most similar'),
  STRICT_WORD_SIMILARITY: ofTexts('<->>>', '1 minus the similarity of the words of the text that are most similar'),
  /** Of geometric types (manual: Geometric Functions and Operators). */
  EUCLIDEAN: { symbol: '<->', result: 'float8', operatorClass: null, isPartial: false, description: 'The distance in the plane' },
  /** Of PostGIS. */
  DISTANCE: {
    symbol: '<->',
    result: 'float8',
    operatorClass: null,
    isPartial: false,
    description: 'The distance: in meters on the earth, or in the unit of the coordinates',
  },
} as const satisfies Record<string, MetricTraits>;

export type Metric = keyof typeof all;

export const metrics: Readonly<Record<Metric, MetricTraits>> = all;

/** Forms that share an input type: what a client gives to measure from. */
export type MeasuredInput = 'numbers' | 'bits' | 'texts' | 'points' | 'places';

interface FormTraits {
  readonly input: MeasuredInput;
  /** The first is the default. */
  readonly metrics: readonly Metric[];
  /** Whether indexes find almost all of the nearest rows, rather than all. */
  readonly isApproximate: boolean;
}

const numbers: FormTraits = { input: 'numbers', metrics: ['COSINE', 'L2', 'INNER_PRODUCT', 'L1'], isApproximate: true };

export const forms: Readonly<Record<MeasuredForm, FormTraits>> = {
  dense: numbers,
  sparse: numbers,
  bits: { input: 'bits', metrics: ['HAMMING', 'JACCARD'], isApproximate: true },
  text: { input: 'texts', metrics: ['SIMILARITY', 'WORD_SIMILARITY', 'STRICT_WORD_SIMILARITY'], isApproximate: false },
  shape: { input: 'points', metrics: ['EUCLIDEAN'], isApproximate: false },
  place: { input: 'places', metrics: ['DISTANCE'], isApproximate: false },
};

/** The metrics that an index with this operator class serves. */
export function metricsOfClass(form: MeasuredForm, operatorClass: string): readonly Metric[] {
  const { isApproximate, metrics: names } = forms[form];
  return isApproximate ? names.filter((name) => operatorClass.endsWith(`_${metrics[name].operatorClass}_ops`)) : names;
}

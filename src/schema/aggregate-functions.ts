/** The aggregate functions: their field names, the columns that each applies to, and the scalar of each result. */
import type { ScalarName, TypeSuffix } from '../model/graphql-names.ts';
import { isGroupable } from '../model/groupable.ts';
import type { Column, Table } from '../model/model.ts';
import type { AggregateFunction } from './bindings.ts';

const wholeNumbers: ReadonlySet<string> = new Set(['int2', 'int4', 'int8']);
const fractions: ReadonlySet<string> = new Set(['numeric', 'float4', 'float8', 'money']);
const pointsInTime: ReadonlySet<string> = new Set(['date', 'timestamp', 'timestamptz']);
/** Types that have a minimum and maximum in pg_graphql, and the scalar of both. */
const ordered: Readonly<Record<string, ScalarName>> = {
  int2: 'Int',
  int4: 'Int',
  int8: 'BigInt',
  numeric: 'BigFloat',
  float4: 'BigFloat',
  float8: 'BigFloat',
  money: 'Opaque',
  text: 'String',
  varchar: 'String',
  bpchar: 'String',
  citext: 'String',
  name: 'String',
  char: 'String',
  bool: 'Boolean',
  date: 'Date',
  time: 'Time',
  timetz: 'Time',
  timestamp: 'Datetime',
  timestamptz: 'Datetime',
};

/** An aggregate function as a field of a table's aggregates. */
export interface AggregateField {
  readonly name: AggregateFunction;
  /** The suffix of its type's name. */
  readonly suffix: TypeSuffix;
  /** Used in descriptions. */
  readonly kind: string;
  readonly of: string;
  readonly column: string;
  /** Whether pg_graphql lacks it. */
  readonly isAddition: boolean;
}

function field(name: AggregateFunction, suffix: TypeSuffix, kind: string, of: string, column: string, isAddition = true): AggregateField {
  return { name, suffix, kind, of, column, isAddition };
}

/** All functions, in field order. */
export const aggregateFields: readonly AggregateField[] = [
  field('sum', 'SumAggregateResult', 'summation', 'Summation aggregates for numeric fields', 'Sum', false),
  field('avg', 'AvgAggregateResult', 'average', 'Average aggregates for numeric fields', 'Average', false),
  field('min', 'MinAggregateResult', 'minimum', 'Minimum aggregates for comparable fields', 'Minimum', false),
  field('max', 'MaxAggregateResult', 'maximum', 'Maximum aggregates for comparable fields', 'Maximum', false),
  field(
    'countDistinct',
    'CountDistinctAggregateResult',
    'distinct count',
    'How many distinct values fields have, nulls aside',
    'Number of distinct values',
  ),
  field(
    'stddev',
    'StddevAggregateResult',
    'sample standard deviation',
    'Sample standard deviations of numeric fields',
    'Sample standard deviation',
  ),
  field('variance', 'VarianceAggregateResult', 'sample variance', 'Sample variances of numeric fields', 'Sample variance'),
  field('boolAnd', 'BoolAndAggregateResult', 'conjunction', 'Whether boolean fields are true in all rows, nulls aside', 'Conjunction'),
  field('boolOr', 'BoolOrAggregateResult', 'disjunction', 'Whether boolean fields are true in any row', 'Disjunction'),
  field(
    'percentile',
    'PercentileAggregateResult',
    'percentile',
    'Continuous percentiles of numeric fields, dates and points in time: half of all values are at most the one of the fraction 0.5',
    'Percentile',
  ),
];

/** The functions of a table: those that apply to at least one column. */
export function aggregateFieldsOf({ additions, columns }: Table): readonly AggregateField[] {
  const hasMore = additions.has('moreAggregates');
  return aggregateFields.filter(
    ({ name, isAddition }) =>
      (hasMore || !isAddition) && columns.some((column) => column.selectable && aggregateScalar(name, column) !== undefined),
  );
}

/** The scalar of an aggregate over a column; undefined if the function does not apply to it. */
export function aggregateScalar(name: AggregateFunction, column: Column): ScalarName | undefined {
  if (name === 'countDistinct') return isGroupable(column) ? 'Int' : undefined;
  if (column.type.kind !== 'scalar') return undefined;
  const { typeName } = column.type;
  const isNumber = wholeNumbers.has(typeName) || fractions.has(typeName);
  switch (name) {
    case 'min':
    case 'max':
      return column.comparable && Object.hasOwn(ordered, typeName) ? ordered[typeName] : undefined;
    case 'sum':
      if (wholeNumbers.has(typeName)) return 'BigInt';
      return isNumber ? 'BigFloat' : undefined;
    case 'avg':
    case 'stddev':
    case 'variance':
      return isNumber ? 'BigFloat' : undefined;
    case 'boolAnd':
    case 'boolOr':
      return typeName === 'bool' ? 'Boolean' : undefined;
    case 'percentile':
      if (pointsInTime.has(typeName)) return 'Datetime';
      return isNumber ? 'BigFloat' : undefined;
  }
}

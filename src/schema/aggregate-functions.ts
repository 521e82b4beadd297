/** The aggregate functions: their field names, the columns that each applies to, and the scalar of each result. */
import type { TypeSuffix } from '../model/graphql-names.ts';
import { isGroupable } from '../model/groupable.ts';
import type { Column, Table } from '../model/model.ts';
import type { AggregateFunction } from '../model/types/postgres-types.ts';
import type { FilteredScalar } from '../model/types/scalars.ts';

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
export function aggregateScalar(name: AggregateFunction, column: Column): FilteredScalar | undefined {
  if (name === 'countDistinct') return isGroupable(column) ? 'Int' : undefined;
  if (column.type.kind !== 'scalar' || ((name === 'min' || name === 'max') && !column.comparable)) return undefined;
  return column.type.traits.aggregates[name];
}

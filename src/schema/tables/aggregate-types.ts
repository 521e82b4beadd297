/** The aggregates of a table: the functions, the columns that each applies to, and the types of the results. */
import { type GraphQLFieldConfigMap, GraphQLFloat, GraphQLInt, GraphQLNonNull } from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import type { TypeSuffix } from '../../model/naming/graphql-names.ts';
import { isGroupable } from '../../model/tables/column-uses.ts';
import type { AggregateFunction } from '../../model/types/postgres-types.ts';
import type { FilteredScalar } from '../../model/types/scalars.ts';
import { bindField } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-object-type.ts';
import { objectType, type TableType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { scalarTypes } from '../value-types.ts';

type Fields = GraphQLFieldConfigMap<unknown, unknown>;

interface AggregateField {
  readonly name: AggregateFunction;
  readonly suffix: TypeSuffix;
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
const aggregateFields: readonly AggregateField[] = [
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

/** The aggregate types of tables whose directive enables them. */
export const aggregateTypes = {
  Aggregate: objectType(
    ({ aggregate }) => aggregate,
    (registry, table) => aggregateFieldConfigs(registry, table, 'aggregate'),
    (typeName) => `Aggregate results for \`${typeName}\``,
  ),
  SumAggregateResult: resultOf('sum'),
  AvgAggregateResult: resultOf('avg'),
  MinAggregateResult: resultOf('min'),
  MaxAggregateResult: resultOf('max'),
  CountDistinctAggregateResult: resultOf('countDistinct'),
  StddevAggregateResult: resultOf('stddev'),
  VarianceAggregateResult: resultOf('variance'),
  BoolAndAggregateResult: resultOf('boolAnd'),
  BoolOrAggregateResult: resultOf('boolOr'),
  PercentileAggregateResult: resultOf('percentile'),
} as const satisfies Partial<TableTypes>;

function resultOf(name: AggregateFunction): TableType {
  const field = aggregateFields.find((each) => each.name === name)!;
  return objectType(
    (table) => table.aggregate && aggregateFieldsOf(table).includes(field),
    (registry, table) => resultFields(registry, table, field),
    (typeName) => `Result of ${field.kind} aggregation for \`${typeName}\``,
  );
}

function resultFields({ nodeIdField }: TypeRegistry, table: Table, { name, column: described }: AggregateField): Fields {
  // Client caches identify objects by `id`, so an aggregate of a column must not have that name.
  const hidesId = nodeIdField === 'id';
  const fields: Fields = emptyRecord();
  for (const column of table.columns) {
    const scalar = column.selectable ? aggregateScalar(name, column) : undefined;
    if (!scalar) continue;
    const type = scalarTypes[scalar];
    fields[hidesId && column.fieldName === nodeIdField ? column.rowFieldName : column.fieldName] = {
      type: name === 'countDistinct' ? new GraphQLNonNull(type) : type,
      description: `${described} of ${column.fieldName} across all matching records`,
      ...bindField('aggregate column', { kind: 'column', column }),
    };
  }
  return fields;
}

/** The fields `count` and one per function. */
export function aggregateFieldConfigs(registry: TypeRegistry, table: Table, at: 'aggregate' | 'group'): Fields {
  const fields: Fields = {
    count: {
      type: new GraphQLNonNull(GraphQLInt),
      description: 'The number of records matching the query',
      ...bindField(at, { kind: 'count' }),
    },
  };
  for (const { name, suffix, of } of aggregateFieldsOf(table)) {
    fields[name] = {
      type: registry.objectOf(table, suffix),
      description: of,
      ...(name === 'percentile' && { args: { fraction: fractionConfig } }),
      ...bindField(at, { kind: 'aggregate function', name }),
    };
  }
  return fields;
}

/** The input `fraction`, which says which percentile is meant. */
export const fractionConfig = {
  type: new GraphQLNonNull(GraphQLFloat),
  description: 'The fraction of the percentile, from 0 to 1; 0.5 is the median',
};

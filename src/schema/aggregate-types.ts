/** The aggregate types of a table: the columns that each function applies to, with the types of the results. */
import {
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql';
import type { Table } from '../model/model.ts';
import type { AggregateFunction } from '../model/types/postgres-types.ts';
import { type AggregateField, aggregateFields, aggregateFieldsOf, aggregateScalar } from './aggregate-functions.ts';
import { bindField } from './bindings.ts';
import { emptyRecord } from './empty-record.ts';
import { scalarTypes } from './scalars.ts';
import type { TableType, TableTypes, TypeRegistry } from './type-registry.ts';

type Fields = GraphQLFieldConfigMap<unknown, unknown>;

/** The aggregate types of tables whose directive enables them. */
export const aggregateTypes = {
  Aggregate: { has: ({ aggregate }) => aggregate, build: aggregateType },
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
  return {
    has: (table) => table.aggregate && aggregateFieldsOf(table).includes(field),
    build: (table, registry, typeName) => resultType(table, registry, typeName, field),
  };
}

function resultType(
  table: Table,
  { nodeIdField }: TypeRegistry,
  typeName: string,
  { name, kind, column: described }: AggregateField,
): GraphQLObjectType {
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
  return new GraphQLObjectType({
    name: typeName,
    description: `Result of ${kind} aggregation for \`${table.typeName}\``,
    fields,
  });
}

function aggregateType(table: Table, registry: TypeRegistry, name: string): GraphQLObjectType {
  return new GraphQLObjectType({
    name,
    description: `Aggregate results for \`${table.typeName}\``,
    fields: aggregateFieldConfigs(registry, table, 'aggregate'),
  });
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
      ...(name === 'percentile' && { args: fractionArgument }),
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
const fractionArgument: GraphQLFieldConfigArgumentMap = { fraction: fractionConfig };

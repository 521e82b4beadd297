/** The aggregate types of a table: which columns have a sum, average, minimum and maximum, and what additions aggregate, and of which type. */
import {
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql';
import { tableTypeName } from '../model/graphql-names.ts';
import type { Table } from '../model/model.ts';
import { type AggregateField, aggregateFieldsOf, aggregateScalar } from './aggregate-functions.ts';
import { bindField } from './bindings.ts';
import { emptyRecord } from './empty-record.ts';
import { scalarTypes } from './scalars.ts';
import type { TypeRegistry } from './type-registry.ts';

type Fields = GraphQLFieldConfigMap<unknown, unknown>;

/** Defines the aggregate types of a table whose directive enables them. */
export function defineAggregateTypes(registry: TypeRegistry, table: Table, nodeIdField: string): void {
  for (const field of aggregateFieldsOf(table)) {
    registry.define(tableTypeName(table, field.suffix), () => resultType(table, field, nodeIdField));
  }
  registry.define(tableTypeName(table, 'Aggregate'), () => aggregateType(registry, table));
}

function resultType(table: Table, { name, suffix, kind, column: described }: AggregateField, nodeIdField: string): GraphQLObjectType {
  // Caches that tell objects apart by `id` would take the smallest one for an identifier.
  const hidesId = nodeIdField === 'id';
  const fields: Fields = emptyRecord();
  for (const column of table.columns) {
    const scalar = column.selectable ? aggregateScalar(name, column) : undefined;
    if (!scalar) continue;
    const type = scalarTypes[scalar];
    fields[hidesId && column.fieldName === nodeIdField ? column.rowFieldName : column.fieldName] = {
      type: name === 'countDistinct' ? new GraphQLNonNull(type) : type,
      description: `${described} of ${column.fieldName} across all matching records`,
      ...bindField({ kind: 'aggregate column', column }),
    };
  }
  return new GraphQLObjectType({
    name: tableTypeName(table, suffix),
    description: `Result of ${kind} aggregation for \`${table.typeName}\``,
    fields,
  });
}

function aggregateType(registry: TypeRegistry, table: Table): GraphQLObjectType {
  return new GraphQLObjectType({
    name: tableTypeName(table, 'Aggregate'),
    description: `Aggregate results for \`${table.typeName}\``,
    fields: aggregateFieldConfigs(registry, table),
  });
}

/** The number of rows, and a field for each function. */
export function aggregateFieldConfigs(registry: TypeRegistry, table: Table): Fields {
  const fields: Fields = {
    count: {
      type: new GraphQLNonNull(GraphQLInt),
      description: 'The number of records matching the query',
      ...bindField({ kind: 'count' }),
    },
  };
  for (const { name, suffix, of } of aggregateFieldsOf(table)) {
    fields[name] = {
      type: registry.object(tableTypeName(table, suffix)),
      description: of,
      ...(name === 'percentile' && { args: fractionArgument }),
      ...bindField({ kind: 'aggregate function', name }),
    };
  }
  return fields;
}

/** Which percentile is meant. */
export const fractionConfig = {
  type: new GraphQLNonNull(GraphQLFloat),
  description: 'How much of the values is to be at most the percentile, from 0 to 1: 0.5 is the median',
};
const fractionArgument: GraphQLFieldConfigArgumentMap = { fraction: fractionConfig };

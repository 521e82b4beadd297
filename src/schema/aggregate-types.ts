/** The aggregate types of a table: which columns have a sum, an average, a least and a greatest value, and of which type. */
import { type GraphQLFieldConfigMap, GraphQLInt, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { type ScalarName, tableTypeName } from '../model/graphql-names.ts';
import type { Column, Table } from '../model/model.ts';
import { type AggregateFunction, bindField } from './bindings.ts';
import { emptyRecord } from './empty-record.ts';
import { scalarTypes } from './scalars.ts';
import type { TypeRegistry } from './type-registry.ts';

const wholeNumbers: ReadonlySet<string> = new Set(['int2', 'int4', 'int8']);
const fractions: ReadonlySet<string> = new Set(['numeric', 'float4', 'float8', 'money']);
/** The types with an order that pg_graphql aggregates, and what it calls the least and greatest of them. */
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

const functions: readonly { name: AggregateFunction; type: 'Sum' | 'Avg' | 'Min' | 'Max'; kind: string; of: string; column: string }[] = [
  { name: 'sum', type: 'Sum', kind: 'summation', of: 'Summation aggregates for numeric fields', column: 'Sum' },
  { name: 'avg', type: 'Avg', kind: 'average', of: 'Average aggregates for numeric fields', column: 'Average' },
  { name: 'min', type: 'Min', kind: 'minimum', of: 'Minimum aggregates for comparable fields', column: 'Minimum' },
  { name: 'max', type: 'Max', kind: 'maximum', of: 'Maximum aggregates for comparable fields', column: 'Maximum' },
];

/** The scalar of an aggregate over a column; undefined if there is none. */
export function aggregateScalar(name: AggregateFunction, column: Column): ScalarName | undefined {
  if (column.type.kind !== 'scalar') return undefined;
  const { typeName } = column.type;
  if (name === 'min' || name === 'max') return Object.hasOwn(ordered, typeName) ? ordered[typeName] : undefined;
  if (wholeNumbers.has(typeName)) return name === 'sum' ? 'BigInt' : 'BigFloat';
  return fractions.has(typeName) ? 'BigFloat' : undefined;
}

/** Defines the aggregate types of a table whose directive enables them. */
export function defineAggregateTypes(registry: TypeRegistry, table: Table): void {
  const present = functions.filter(({ name }) => table.columns.some((column) => column.selectable && aggregateScalar(name, column)));
  for (const { name, type, kind, column: described } of present) {
    registry.define(tableTypeName(table, `${type}AggregateResult`), () => {
      const fields: GraphQLFieldConfigMap<unknown, unknown> = emptyRecord();
      for (const column of table.columns) {
        const scalar = column.selectable ? aggregateScalar(name, column) : undefined;
        if (!scalar) continue;
        fields[column.fieldName] = {
          type: scalarTypes[scalar],
          description: `${described} of ${column.fieldName} across all matching records`,
          ...bindField({ kind: 'aggregate column', column }),
        };
      }
      return new GraphQLObjectType({
        name: tableTypeName(table, `${type}AggregateResult`),
        description: `Result of ${kind} aggregation for \`${table.typeName}\``,
        fields,
      });
    });
  }
  registry.define(tableTypeName(table, 'Aggregate'), () => aggregateType(registry, table, present));
}

function aggregateType(registry: TypeRegistry, table: Table, present: typeof functions): GraphQLObjectType {
  const fields: GraphQLFieldConfigMap<unknown, unknown> = {
    count: {
      type: new GraphQLNonNull(GraphQLInt),
      description: 'The number of records matching the query',
      ...bindField({ kind: 'count' }),
    },
  };
  for (const { name, type, of } of present) {
    fields[name] = {
      type: registry.object(tableTypeName(table, `${type}AggregateResult`)),
      description: of,
      ...bindField({ kind: 'aggregate function', name }),
    };
  }
  return new GraphQLObjectType({
    name: tableTypeName(table, 'Aggregate'),
    description: `Aggregate results for \`${table.typeName}\``,
    fields,
  });
}

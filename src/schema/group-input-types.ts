/**
 * The input types of groups: what rows are grouped by, conditions on groups, and their order. For sales of customers:
 *
 *     input SaleGroupBy { status: GroupByValue  soldAt: GroupByTime  price: GroupByValue  customer: CustomerGroupBy  bucket: SaleGroupByBucket }
 *     input SaleGroupHaving { count: IntFilter  sum: SaleGroupHavingSum  avg: SaleGroupHavingNumbers  …  and: [SaleGroupHaving!]  or: …  not: … }
 *     input SaleGroupOrder { key: SaleGroupKeyOrder  count: OrderByDirection  sum: SaleGroupOrderNumbers  … }
 */
import { GraphQLEnumType, type GraphQLInputFieldConfigMap, GraphQLInputObjectType, GraphQLList, GraphQLNonNull } from 'graphql';
import {
  type AdditionSuffix,
  type FilteredScalar,
  filterTypeName,
  groupUnitNames,
  type ScalarName,
  tableTypeName,
} from '../model/graphql-names.ts';
import { bucketMember, clashesWithBuckets, fractionMember, groupableRelations, hasBuckets, isGroupable } from '../model/groupable.ts';
import type { Column, Table } from '../model/model.ts';
import { numbered } from '../model/names.ts';
import { aggregateFieldsOf, aggregateScalar } from './aggregate-functions.ts';
import { fractionConfig } from './aggregate-types.ts';
import { type AggregateFunction, bindInput } from './bindings.ts';
import { asChoice } from './choices.ts';
import { emptyRecord } from './empty-record.ts';
import { scalarTypes } from './scalars.ts';
import type { TypeRegistry } from './type-registry.ts';
import { outputTypeOf } from './types-of-values.ts';

type Fields = GraphQLInputFieldConfigMap;

/** The enums of what rows of a group have in common of a column, by its type. */
export interface GroupUnits {
  readonly value: GraphQLEnumType;
  readonly date: GraphQLEnumType;
  readonly time: GraphQLEnumType;
}

const units = {
  VALUE: 'They have the same value',
  SECOND: 'The same second',
  MINUTE: 'The same minute',
  HOUR: 'The same hour',
  DAY: 'The same day',
  WEEK: 'The same week, from Monday on',
  MONTH: 'The same month',
  QUARTER: 'The same quarter of a year',
  YEAR: 'The same year',
} as const;
type Unit = keyof typeof units;

/** Defines the enums, which all tables share. */
export function defineGroupUnits(registry: TypeRegistry): GroupUnits {
  return {
    value: defineUnits(registry, groupUnitNames.value, ['VALUE']),
    date: defineUnits(registry, groupUnitNames.date, ['VALUE', 'WEEK', 'MONTH', 'QUARTER', 'YEAR']),
    time: defineUnits(registry, groupUnitNames.time, Object.keys(units) as Unit[]),
  };
}

function defineUnits(registry: TypeRegistry, plainName: string, names: readonly Unit[]): GraphQLEnumType {
  const name = numbered(plainName, (candidate) => !registry.has(candidate));
  const values = Object.fromEntries(names.map((unit) => [unit, { description: units[unit] }]));
  const type = new GraphQLEnumType({ name, description: 'What the values of a column have in common in a group', values, ...asChoice });
  registry.define(name, () => type);
  return type;
}

/** Defines the inputs of a table that groups reach: by what rows are grouped, and the order of such keys. */
export function defineGroupKeyInputs(registry: TypeRegistry, table: Table, unitsOf: GroupUnits, direction: GraphQLEnumType): void {
  const define = (suffix: AdditionSuffix, fields: () => Fields) => defineInput(registry, table, suffix, fields);
  define('GroupBy', () => byFields(registry, table, unitsOf));
  define('GroupKeyOrder', () => keyFields(registry, table, 'GroupKeyOrder', () => direction));
  if (table.columns.some(hasBuckets)) define('GroupByBucket', () => bucketFields(table));
}

function defineInput(registry: TypeRegistry, table: Table, suffix: AdditionSuffix, fields: () => Fields): void {
  const name = tableTypeName(table, suffix);
  registry.define(name, () => new GraphQLInputObjectType({ name, fields }));
}

/** A member for each column, and for each related row, by their names in rows. */
function keyFields(
  registry: TypeRegistry,
  table: Table,
  suffix: 'GroupBy' | 'GroupKeyOrder',
  typeOf: (column: Column) => GraphQLEnumType,
): Fields {
  const fields: Fields = emptyRecord();
  for (const column of table.columns) {
    if (isGroupable(column) && outputTypeOf(column.type, registry))
      fields[column.rowFieldName] = { type: typeOf(column), ...bindInput({ kind: 'column', column }) };
  }
  for (const relation of groupableRelations(table)) {
    const type = registry.input(tableTypeName(relation.target, suffix));
    fields[relation.fieldName] = { type, ...bindInput({ kind: 'relation', relation }) };
  }
  return fields;
}

function byFields(registry: TypeRegistry, table: Table, unitsOf: GroupUnits): Fields {
  const fields = keyFields(registry, table, 'GroupBy', ({ type }) => {
    if (type.kind === 'scalar' && type.scalar === 'Date') return unitsOf.date;
    return type.kind === 'scalar' && type.scalar === 'Datetime' ? unitsOf.time : unitsOf.value;
  });
  const buckets = table.columns.some(hasBuckets) && !clashesWithBuckets(table);
  if (buckets) {
    fields[bucketMember] = {
      type: registry.input(tableTypeName(table, 'GroupByBucket')),
      description: 'Ranges of numbers, by the width of a range: they begin at 0 and at its multiples',
      ...bindInput({ kind: 'bucket' }),
    };
  }
  return fields;
}

function bucketFields(table: Table): Fields {
  const fields: Fields = emptyRecord();
  for (const column of table.columns) {
    if (column.type.kind !== 'scalar' || !hasBuckets(column)) continue;
    fields[column.rowFieldName] = { type: scalarTypes[column.type.scalar], ...bindInput({ kind: 'column', column }) };
  }
  return fields;
}

/** What follows `GroupHaving` and `GroupOrder` in the names of the inputs of each function: those that take the same columns share them. */
const having = {
  sum: 'GroupHavingSum',
  avg: 'GroupHavingNumbers',
  stddev: 'GroupHavingNumbers',
  variance: 'GroupHavingNumbers',
  min: 'GroupHavingExtremes',
  max: 'GroupHavingExtremes',
  countDistinct: 'GroupHavingDistinct',
  boolAnd: 'GroupHavingBooleans',
  boolOr: 'GroupHavingBooleans',
  percentile: 'GroupHavingPercentile',
} as const satisfies Record<AggregateFunction, AdditionSuffix>;
const order = {
  sum: 'GroupOrderNumbers',
  avg: 'GroupOrderNumbers',
  stddev: 'GroupOrderNumbers',
  variance: 'GroupOrderNumbers',
  min: 'GroupOrderExtremes',
  max: 'GroupOrderExtremes',
  countDistinct: 'GroupOrderDistinct',
  boolAnd: 'GroupOrderBooleans',
  boolOr: 'GroupOrderBooleans',
  percentile: 'GroupOrderPercentile',
} as const satisfies Record<AggregateFunction, AdditionSuffix>;

/** Defines the inputs of a table whose rows can be grouped: conditions on groups, and their order. */
export function defineGroupInputs(registry: TypeRegistry, table: Table, direction: GraphQLEnumType): void {
  const define = (suffix: AdditionSuffix, fields: () => Fields) => defineInput(registry, table, suffix, fields);
  const functions = aggregateFieldsOf(table).map(({ name }) => name);
  const filterOf = (scalar: ScalarName) => registry.input(filterTypeName(scalar as FilteredScalar));
  for (const name of onePerInput(functions, having)) define(having[name], () => columnFields(table, name, filterOf));
  for (const name of onePerInput(functions, order)) define(order[name], () => columnFields(table, name, () => direction));
  define('GroupHaving', () => havingFields(registry, table, functions));
  define('GroupOrder', () => ({
    key: { type: registry.input(tableTypeName(table, 'GroupKeyOrder')), ...bindInput({ kind: 'key' }) },
    count: { type: direction, ...bindInput({ kind: 'count' }) },
    ...functionFields(registry, table, functions, order),
  }));
}

/** A function for each input that functions share. */
function onePerInput(
  functions: readonly AggregateFunction[],
  suffixes: Readonly<Record<AggregateFunction, AdditionSuffix>>,
): readonly AggregateFunction[] {
  return [...new Map(functions.map((name) => [suffixes[name], name])).values()];
}

function columnFields(
  table: Table,
  name: AggregateFunction,
  typeOf: (scalar: ScalarName) => GraphQLEnumType | GraphQLInputObjectType,
): Fields {
  const fields: Fields = emptyRecord();
  for (const column of table.columns) {
    const scalar = column.selectable ? aggregateScalar(name, column) : undefined;
    if (scalar) fields[column.fieldName] = { type: typeOf(scalar), ...bindInput({ kind: 'column', column }) };
  }
  // In the place of a column of that name.
  return name === 'percentile' ? { ...fields, [fractionMember]: { ...fractionConfig, ...bindInput({ kind: 'fraction' }) } } : fields;
}

function functionFields(
  registry: TypeRegistry,
  table: Table,
  functions: readonly AggregateFunction[],
  suffixes: Readonly<Record<AggregateFunction, AdditionSuffix>>,
): Fields {
  return Object.fromEntries(
    functions.map((name) => [
      name,
      { type: registry.input(tableTypeName(table, suffixes[name])), ...bindInput({ kind: 'group aggregate', name }) },
    ]),
  );
}

function havingFields(registry: TypeRegistry, table: Table, functions: readonly AggregateFunction[]): Fields {
  const self = registry.input(tableTypeName(table, 'GroupHaving'));
  const list = new GraphQLList(new GraphQLNonNull(self));
  return {
    count: { type: registry.input(filterTypeName('Int')), ...bindInput({ kind: 'count' }) },
    ...functionFields(registry, table, functions, having),
    and: { type: list, description: 'All of the conditions hold', ...bindInput({ kind: 'and' }) },
    or: { type: list, description: 'At least one of the conditions holds', ...bindInput({ kind: 'or' }) },
    not: { type: self, description: 'The condition does not hold', ...bindInput({ kind: 'not' }) },
  };
}

/**
 * The groups of a connection's rows: the field `groups`, the types that it returns, and the inputs that say what to group by, which groups
 * to return and in which order. An addition to pg_graphql's schema. For sales of customers:
 *
 *     type SaleAggregateGroup { key: SaleGroupKey!  count: Int!  sum: SaleSumAggregateResult … }
 *     type SaleGroupKey { status: Status  soldAt: Datetime  price: BigFloat  customer: CustomerGroupKey! }
 *     input SaleGroupBy { status: GroupByValue  soldAt: GroupByTime  customer: CustomerGroupBy  bucket: SaleGroupByBucket … }
 *     input SaleGroupHaving { count: IntFilter  sum: SaleGroupHavingSum  …  and: [SaleGroupHaving!]  or: …  not: … }
 *     input SaleGroupOrder { key: SaleGroupKeyOrder  count: OrderByDirection  sum: SaleGroupOrderNumbers  … }
 */
import {
  GraphQLEnumType,
  type GraphQLFieldConfigMap,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import { filterTypeName, groupUnitNames } from '../../model/naming/graphql-names.ts';
import { numbered } from '../../model/naming/names.ts';
import {
  bucketMember,
  clashesWithBuckets,
  fractionMember,
  groupableRelations,
  hasBuckets,
  hasGroups,
  hasJsonPaths,
  isGroupable,
} from '../../model/tables/column-uses.ts';
import { operandScalar } from '../../model/types/named-types.ts';
import type { AggregateFunction } from '../../model/types/postgres-types.ts';
import { type FilteredScalar, scalars } from '../../model/types/scalars.ts';
import { bindField, bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-object-type.ts';
import { type Groups, inputType, objectType, type TableType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { asChoice, columnInputs, inputTypeOf, orderByDirection, outputTypeOf } from '../value-types.ts';
import { aggregateFieldConfigs, aggregateFieldsOf, aggregateScalar, fractionConfig } from './aggregate-types.ts';
import { jsonPath } from './json-types.ts';
import { filterTypeOf } from './value-filters.ts';

type Fields = GraphQLFieldConfigMap<unknown, unknown>;
type InputFields = GraphQLInputFieldConfigMap;

const numbers = { having: 'GroupHavingNumbers', order: 'GroupOrderNumbers' } as const;
const extremes = { having: 'GroupHavingExtremes', order: 'GroupOrderExtremes' } as const;
const booleans = { having: 'GroupHavingBooleans', order: 'GroupOrderBooleans' } as const;

/** The suffixes of each function's inputs. Functions that apply to the same columns, with results of the same types, share an input. */
const inputsOf = {
  sum: { having: 'GroupHavingSum', order: 'GroupOrderNumbers' },
  avg: numbers,
  stddev: numbers,
  variance: numbers,
  min: extremes,
  max: extremes,
  countDistinct: { having: 'GroupHavingDistinct', order: 'GroupOrderDistinct' },
  boolAnd: booleans,
  boolOr: booleans,
  percentile: { having: 'GroupHavingPercentile', order: 'GroupOrderPercentile' },
} as const satisfies Record<AggregateFunction, unknown>;

/** The types of tables whose rows can be grouped, and of those that groups can reach. */
export const groupTypes = {
  AggregateGroup: objectType(hasGroups, groupFields, (typeName) => `A group of \`${typeName}\` with its aggregates`),
  GroupKey: objectType(isReached, keyFields, (typeName) => `The key of a group of \`${typeName}\` records`),
  GroupBy: inputType(isReached, byFields),
  GroupByBucket: inputType((table, registry) => table.columns.some(hasBuckets) && isReached(table, registry), bucketFields),
  GroupKeyOrder: inputType(isReached, (registry, table) => keyInputs(registry, table, 'GroupKeyOrder', () => orderByDirection)),
  GroupHaving: inputType(hasGroups, havingFields),
  GroupHavingSum: havingOf('sum'),
  GroupHavingNumbers: havingOf('avg'),
  GroupHavingExtremes: havingOf('min'),
  GroupHavingDistinct: havingOf('countDistinct'),
  GroupHavingBooleans: havingOf('boolAnd'),
  GroupHavingPercentile: havingOf('percentile'),
  GroupOrder: inputType(hasGroups, orderFields),
  GroupOrderNumbers: orderOf('sum'),
  GroupOrderExtremes: orderOf('min'),
  GroupOrderDistinct: orderOf('countDistinct'),
  GroupOrderBooleans: orderOf('boolAnd'),
  GroupOrderPercentile: orderOf('percentile'),
} as const satisfies Partial<TableTypes>;

/** Whether the columns of a table are keys of its own groups or of those of a table with a relation to it. */
function isReached(table: Table, { groups }: TypeRegistry): boolean {
  return groups !== null && (hasGroups(table) || groups.reached.has(table));
}

/**
 * Defines what all tables' groups share, if there are any. Runs after all other types are defined, so that its names give way if they are
 * taken.
 */
export function* defineGroups(registry: TypeRegistry, tables: readonly Table[]): Generator<void, void> {
  const withGroups = tables.filter(({ aggregate, additions }) => aggregate && additions.has('groups'));
  if (!withGroups.some(hasGroups)) return;
  const units = defineGroupUnits(registry);
  // If all tables have groups, none is reached that lacks them.
  const allHaveGroups = tables.every(({ aggregate, additions }) => aggregate || !additions.has('groups'));
  registry.groups = { units, reached: allHaveGroups ? new Set() : yield* reachedBy(withGroups) };
}

/** The tables with groups, and those that their to-one relations lead to. */
function* reachedBy(tables: readonly Table[]): Generator<void, ReadonlySet<Table>> {
  const reached = new Set<Table>();
  for (const table of tables) {
    if (hasGroups(table)) reached.add(table);
    yield;
  }
  for (const table of reached) {
    for (const { target } of groupableRelations(table)) reached.add(target);
    yield;
  }
  return reached;
}

const units = {
  VALUE: 'The same value',
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

/** Defines the enums that all tables share. Runs after all other types are defined, so that these give way if a name is taken. */
function defineGroupUnits(registry: TypeRegistry): Groups['units'] {
  return {
    value: defineUnits(registry, groupUnitNames.value, ['VALUE']),
    date: defineUnits(registry, groupUnitNames.date, ['VALUE', 'WEEK', 'MONTH', 'QUARTER', 'YEAR']),
    time: defineUnits(registry, groupUnitNames.time, Object.keys(units) as Unit[]),
  };
}

function defineUnits(registry: TypeRegistry, plainName: string, names: readonly Unit[]): GraphQLEnumType {
  const name = numbered(plainName, (candidate) => !registry.has(candidate));
  const values = Object.fromEntries(names.map((unit) => [unit, { description: units[unit] }]));
  const type = new GraphQLEnumType({ name, description: 'How the values of a column are grouped', values, ...asChoice });
  registry.define(name, () => type);
  return type;
}

/** The field `groups` of a connection; empty if the table has no groups. */
export function groupsField(registry: TypeRegistry, table: Table): Fields {
  if (!hasGroups(table)) return {};
  const group = new GraphQLNonNull(registry.objectOf(table, 'AggregateGroup'));
  const by = new GraphQLNonNull(registry.inputOf(table, 'GroupBy'));
  const orderBy = new GraphQLNonNull(registry.inputOf(table, 'GroupOrder'));
  return {
    groups: {
      type: new GraphQLNonNull(new GraphQLList(group)),
      description: `Groups of all \`${table.typeName}\` records that match the \`filter\`, regardless of the page`,
      args: {
        by: { type: new GraphQLNonNull(new GraphQLList(by)), description: 'The columns to group by' },
        having: { type: registry.inputOf(table, 'GroupHaving'), description: 'Conditions that the groups must meet' },
        orderBy: { type: new GraphQLList(orderBy), description: 'Sort order of the groups; ties are broken by their keys' },
        first: { type: GraphQLInt, description: 'Query the first `n` groups' },
        offset: { type: GraphQLInt, description: 'Skip `n` groups' },
        timeZone: { type: GraphQLString, description: 'The time zone for truncating timestamps, such as `Europe/Berlin`' },
      },
      ...bindField('connection', { kind: 'groups' }),
    },
  };
}

function groupFields(registry: TypeRegistry, table: Table): Fields {
  return {
    key: {
      type: new GraphQLNonNull(registry.objectOf(table, 'GroupKey')),
      description: 'The values that the rows of the group share; null for columns that are not grouped by',
      ...bindField('group', { kind: 'key' }),
    },
    ...aggregateFieldConfigs(registry, table, 'group'),
  };
}

function keyFields(registry: TypeRegistry, table: Table): Fields {
  const fields: Fields = emptyRecord();
  for (const column of table.columns.filter(isGroupable)) {
    const type = outputTypeOf(column.type, registry);
    if (type)
      fields[column.rowFieldName] = { type, description: column.description, ...bindField('group key', { kind: 'column', column }) };
  }
  for (const column of registry.jsonTypes ? table.columns.filter((each) => isJsonKey(each, table)) : []) {
    const description = 'What is at the path that the groups are by; null if they are by none of the column';
    const args = { path: { type: jsonPath.type, description: 'Which path, if they are by several' } };
    fields[column.rowFieldName] = {
      type: outputTypeOf(column.type, registry)!,
      description,
      args,
      ...bindField('group key', { kind: 'json value', column }),
    };
  }
  for (const relation of groupableRelations(table)) {
    const type = registry.objectOf(relation.target, 'GroupKey');
    fields[relation.fieldName] = { type: new GraphQLNonNull(type), ...bindField('group key', { kind: 'relation', relation }) };
  }
  return fields;
}

/** Whether groups can be by what is at a path of the column. */
function isJsonKey(column: Column, table: Table): boolean {
  return !isGroupable(column) && hasJsonPaths(column, table);
}

/** An input field for each column and each to-one relation, with the same names as in rows. */
function keyInputs(
  registry: TypeRegistry,
  table: Table,
  suffix: 'GroupBy' | 'GroupKeyOrder',
  typeOf: (column: Column) => GraphQLEnumType,
): InputFields {
  const at = suffix === 'GroupBy' ? 'group by' : 'group key order';
  const columns = table.columns.filter((column) => isGroupable(column) && outputTypeOf(column.type, registry));
  const fields = columnInputs(at, columns, 'rowFieldName', typeOf);
  const json = registry.jsonTypes && registry.input(registry.jsonTypes[suffix === 'GroupBy' ? 'group' : 'groupOrder']);
  for (const column of json ? table.columns.filter((each) => isJsonKey(each, table)) : [])
    fields[column.rowFieldName] = { type: json!, ...bindInput(at, { kind: 'json value', column }) };
  for (const relation of groupableRelations(table)) {
    const type = registry.inputOf(relation.target, suffix);
    fields[relation.fieldName] = { type, ...bindInput(at, { kind: 'relation', relation }) };
  }
  return fields;
}

function byFields(registry: TypeRegistry, table: Table): InputFields {
  const unitsOf = registry.groups!.units;
  const fields = keyInputs(registry, table, 'GroupBy', ({ type }) => {
    return unitsOf[type.kind === 'scalar' ? scalars[operandScalar(type).scalar].groupUnits : 'value'];
  });
  const buckets = table.columns.some(hasBuckets) && !clashesWithBuckets(table);
  if (buckets) {
    fields[bucketMember] = {
      type: registry.inputOf(table, 'GroupByBucket'),
      description: 'Ranges of numbers, by the width of a range: they begin at 0 and at its multiples',
      ...bindInput('group by', { kind: 'bucket' }),
    };
  }
  return fields;
}

function bucketFields(registry: TypeRegistry, table: Table): InputFields {
  return columnInputs('bucket', table.columns.filter(hasBuckets), 'rowFieldName', ({ type }) => inputTypeOf(type, registry));
}

function havingOf(name: AggregateFunction): TableType {
  return inputType(groupsBy(name), (registry, table) =>
    functionInputs(table, name, (column) => {
      const scalar = aggregateScalar(name, column);
      return scalar && aggregateFilter(registry, table, column, scalar);
    }),
  );
}

function orderOf(name: AggregateFunction): TableType {
  return inputType(groupsBy(name), (_, table) =>
    functionInputs(table, name, (column) => (aggregateScalar(name, column) ? orderByDirection : undefined)),
  );
}

/** The filter of an aggregate: that of its scalar, or of the column's type if it is a value of that. */
function aggregateFilter(registry: TypeRegistry, { additions }: Table, { type }: Column, scalar: FilteredScalar): GraphQLInputObjectType {
  const isValue = scalar === 'Opaque' && type.kind === 'scalar' && type.traits.number === null;
  const own = isValue ? filterTypeOf(operandScalar(type), registry, additions) : undefined;
  return own ?? registry.input(filterTypeName(scalar));
}

/** Whether a table's groups have this function (and therefore those that share its inputs). */
function groupsBy(name: AggregateFunction): (table: Table) => boolean {
  return (table) => hasGroups(table) && aggregateFieldsOf(table).some((field) => field.name === name);
}

/** The columns of a function, and for a percentile its fraction, which replaces a column with this name. */
function functionInputs(table: Table, name: AggregateFunction, typeOf: Parameters<typeof columnInputs>[3]): InputFields {
  const readable = table.columns.filter(({ selectable }) => selectable);
  const fields = columnInputs('group column', readable, 'fieldName', typeOf);
  if (name === 'percentile') fields[fractionMember] = { ...fractionConfig, ...bindInput('group column', { kind: 'fraction' }) };
  return fields;
}

function havingFields(registry: TypeRegistry, table: Table): InputFields {
  const self = registry.inputOf(table, 'GroupHaving');
  const list = new GraphQLList(new GraphQLNonNull(self));
  return {
    count: { type: registry.input(filterTypeName('Int')), ...bindInput('having', { kind: 'count' }) },
    ...functionFields(registry, table, 'having'),
    and: { type: list, description: 'All of the conditions hold', ...bindInput('having', { kind: 'and' }) },
    or: { type: list, description: 'At least one of the conditions holds', ...bindInput('having', { kind: 'or' }) },
    not: { type: self, description: 'The condition does not hold', ...bindInput('having', { kind: 'not' }) },
  };
}

function orderFields(registry: TypeRegistry, table: Table): InputFields {
  return {
    key: { type: registry.inputOf(table, 'GroupKeyOrder'), ...bindInput('group order', { kind: 'key' }) },
    count: { type: orderByDirection, ...bindInput('group order', { kind: 'count' }) },
    ...functionFields(registry, table, 'group order'),
  };
}

function functionFields(registry: TypeRegistry, table: Table, at: 'having' | 'group order'): InputFields {
  const fields: InputFields = {};
  for (const { name } of aggregateFieldsOf(table)) {
    const type = registry.inputOf(table, inputsOf[name][at === 'having' ? 'having' : 'order']);
    fields[name] = { type, ...bindInput(at, { kind: 'aggregate function', name }) };
  }
  return fields;
}

import {
  GraphQLEnumType,
  type GraphQLFieldConfigMap,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import { type AdditionSuffix, filterTypeName, groupUnitNames } from '../../model/naming/graphql-names.ts';
import { numbered } from '../../model/naming/names.ts';
import {
  bucketMember,
  clashesWithBuckets,
  fractionMember,
  groupableRelations,
  hasBuckets,
  hasGroups,
  isGroupable,
} from '../../model/tables/column-uses.ts';
import type { AggregateFunction } from '../../model/types/postgres-types.ts';
import { type FilteredScalar, scalars } from '../../model/types/scalars.ts';
import { bindField, bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-fields.ts';
import type { GroupUnits, TableType, TableTypes, TypeRegistry } from '../lazy/type-registry.ts';
import { asChoice, orderByDirection, outputTypeOf, scalarTypes } from '../value-types.ts';
import { aggregateFieldConfigs, aggregateFieldsOf, aggregateScalar, fractionConfig } from './aggregate-types.ts';

/**
 * The field `groups` of connections and the types that it returns. An addition to pg_graphql's schema. For sales of customers:
 *
 *     type SaleAggregateGroup { key: SaleGroupKey!  count: Int!  sum: SaleSumAggregateResult … }
 *     type SaleGroupKey { status: Status  soldAt: Datetime  price: BigFloat  customer: CustomerGroupKey! }
 */

type Fields = GraphQLFieldConfigMap<unknown, unknown>;

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

function keyType(table: Table, registry: TypeRegistry, name: string): GraphQLObjectType {
  return new GraphQLObjectType({
    name,
    description: `The key of a group of \`${table.typeName}\` records`,
    fields: () => {
      const fields: Fields = emptyRecord();
      for (const column of table.columns.filter(isGroupable)) {
        const type = outputTypeOf(column.type, registry);
        if (type)
          fields[column.rowFieldName] = { type, description: column.description, ...bindField('group key', { kind: 'column', column }) };
      }
      for (const relation of groupableRelations(table)) {
        const type = registry.objectOf(relation.target, 'GroupKey');
        fields[relation.fieldName] = { type: new GraphQLNonNull(type), ...bindField('group key', { kind: 'relation', relation }) };
      }
      return fields;
    },
  });
}

function groupType(table: Table, registry: TypeRegistry, name: string): GraphQLObjectType {
  return new GraphQLObjectType({
    name,
    description: `A group of \`${table.typeName}\` with its aggregates`,
    fields: () => ({
      key: {
        type: new GraphQLNonNull(registry.objectOf(table, 'GroupKey')),
        description: 'The values that the rows of the group share; null for columns that are not grouped by',
        ...bindField('group', { kind: 'key' }),
      },
      ...aggregateFieldConfigs(registry, table, 'group'),
    }),
  });
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

/**
 * The input types of groups: what to group by, conditions on groups, and their order. For sales of customers:
 *
 *     input SaleGroupBy { status: GroupByValue  soldAt: GroupByTime  price: GroupByValue  customer: CustomerGroupBy  bucket: SaleGroupByBucket }
 *     input SaleGroupHaving { count: IntFilter  sum: SaleGroupHavingSum  avg: SaleGroupHavingNumbers  …  and: [SaleGroupHaving!]  or: …  not: … }
 *     input SaleGroupOrder { key: SaleGroupKeyOrder  count: OrderByDirection  sum: SaleGroupOrderNumbers  … }
 */

type InputFields = GraphQLInputFieldConfigMap;

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
  const type = new GraphQLEnumType({ name, description: 'How the values of a column are grouped', values, ...asChoice });
  registry.define(name, () => type);
  return type;
}

/** Inputs for grouping by columns, and for ordering groups by their keys, of tables that groups can reach. */
export const groupKeyInputs = {
  GroupBy: input(isReached, byFields),
  GroupKeyOrder: input(isReached, (registry, table) => keyFields(registry, table, 'GroupKeyOrder', () => orderByDirection)),
  GroupByBucket: input(
    (table, registry) => table.columns.some(hasBuckets) && isReached(table, registry),
    (_, table) => bucketFields(table),
  ),
} as const satisfies Partial<TableTypes>;

/** Whether the columns of a table are keys of its own groups or of those of a table with a relation to it. */
export function isReached(table: Table, { groups }: TypeRegistry): boolean {
  return groups !== null && (hasGroups(table) || groups.reached.has(table));
}

function input(has: TableType['has'], fieldsOf: (registry: TypeRegistry, table: Table) => InputFields): TableType {
  return { has, build: (table, registry, name) => new GraphQLInputObjectType({ name, fields: () => fieldsOf(registry, table) }) };
}

/** A field for each column and each to-one relation, with the same names as in rows. */
function keyFields(
  registry: TypeRegistry,
  table: Table,
  suffix: 'GroupBy' | 'GroupKeyOrder',
  typeOf: (column: Column) => GraphQLEnumType,
): InputFields {
  const at = suffix === 'GroupBy' ? 'group by' : 'group key order';
  const fields: InputFields = emptyRecord();
  for (const column of table.columns) {
    if (isGroupable(column) && outputTypeOf(column.type, registry))
      fields[column.rowFieldName] = { type: typeOf(column), ...bindInput(at, { kind: 'column', column }) };
  }
  for (const relation of groupableRelations(table)) {
    const type = registry.inputOf(relation.target, suffix);
    fields[relation.fieldName] = { type, ...bindInput(at, { kind: 'relation', relation }) };
  }
  return fields;
}

function byFields(registry: TypeRegistry, table: Table): InputFields {
  const unitsOf = registry.groups!.units;
  const fields = keyFields(registry, table, 'GroupBy', ({ type }) => {
    return unitsOf[type.kind === 'scalar' ? scalars[type.scalar].groupUnits : 'value'];
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

function bucketFields(table: Table): InputFields {
  const fields: InputFields = emptyRecord();
  for (const column of table.columns) {
    if (column.type.kind !== 'scalar' || !hasBuckets(column)) continue;
    fields[column.rowFieldName] = { type: scalarTypes[column.type.scalar], ...bindInput('bucket', { kind: 'column', column }) };
  }
  return fields;
}

/** The suffixes of each function's inputs. Functions that apply to the same columns, with results of the same types, share an input. */
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

/** Inputs for conditions on groups and their order, of tables whose rows can be grouped. */
export const groupInputs = {
  GroupHaving: input(hasGroups, havingFields),
  GroupHavingSum: havingOf('sum'),
  GroupHavingNumbers: havingOf('avg'),
  GroupHavingExtremes: havingOf('min'),
  GroupHavingDistinct: havingOf('countDistinct'),
  GroupHavingBooleans: havingOf('boolAnd'),
  GroupHavingPercentile: havingOf('percentile'),
  GroupOrder: input(hasGroups, orderFields),
  GroupOrderNumbers: orderOf('sum'),
  GroupOrderExtremes: orderOf('min'),
  GroupOrderDistinct: orderOf('countDistinct'),
  GroupOrderBooleans: orderOf('boolAnd'),
  GroupOrderPercentile: orderOf('percentile'),
} as const satisfies Partial<TableTypes>;

function havingOf(name: AggregateFunction): TableType {
  return input(groupsBy(name), (registry, table) => columnFields(table, name, (scalar) => registry.input(filterTypeName(scalar))));
}

function orderOf(name: AggregateFunction): TableType {
  return input(groupsBy(name), (_, table) => columnFields(table, name, () => orderByDirection));
}

/** Whether a table's groups have this function (and therefore those that share its inputs). */
function groupsBy(name: AggregateFunction): (table: Table) => boolean {
  return (table) => hasGroups(table) && aggregateFieldsOf(table).some((field) => field.name === name);
}

function orderFields(registry: TypeRegistry, table: Table): InputFields {
  return {
    key: { type: registry.inputOf(table, 'GroupKeyOrder'), ...bindInput('group order', { kind: 'key' }) },
    count: { type: orderByDirection, ...bindInput('group order', { kind: 'count' }) },
    ...functionFields(registry, table, 'group order', order),
  };
}

function columnFields(
  table: Table,
  name: AggregateFunction,
  typeOf: (scalar: FilteredScalar) => GraphQLEnumType | GraphQLInputObjectType,
): InputFields {
  const fields: InputFields = emptyRecord();
  for (const column of table.columns) {
    const scalar = column.selectable ? aggregateScalar(name, column) : undefined;
    if (scalar) fields[column.fieldName] = { type: typeOf(scalar), ...bindInput('group column', { kind: 'column', column }) };
  }
  // Replaces a column with this name.
  return name === 'percentile'
    ? { ...fields, [fractionMember]: { ...fractionConfig, ...bindInput('group column', { kind: 'fraction' }) } }
    : fields;
}

function functionFields(
  registry: TypeRegistry,
  table: Table,
  at: 'having' | 'group order',
  suffixes: Readonly<Record<AggregateFunction, AdditionSuffix>>,
): InputFields {
  return Object.fromEntries(
    aggregateFieldsOf(table).map(({ name }) => [
      name,
      { type: registry.inputOf(table, suffixes[name]), ...bindInput(at, { kind: 'aggregate function', name }) },
    ]),
  );
}

function havingFields(registry: TypeRegistry, table: Table): InputFields {
  const self = registry.inputOf(table, 'GroupHaving');
  const list = new GraphQLList(new GraphQLNonNull(self));
  return {
    count: { type: registry.input(filterTypeName('Int')), ...bindInput('having', { kind: 'count' }) },
    ...functionFields(registry, table, 'having', having),
    and: { type: list, description: 'All of the conditions hold', ...bindInput('having', { kind: 'and' }) },
    or: { type: list, description: 'At least one of the conditions holds', ...bindInput('having', { kind: 'or' }) },
    not: { type: self, description: 'The condition does not hold', ...bindInput('having', { kind: 'not' }) },
  };
}

export const groupTypes = {
  AggregateGroup: { has: hasGroups, build: groupType },
  GroupKey: { has: isReached, build: keyType },
  ...groupKeyInputs,
  ...groupInputs,
} as const satisfies Partial<TableTypes>;

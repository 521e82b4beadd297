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
  type GraphQLFieldConfigMap,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import { filterTypeName } from '../../model/naming/graphql-names.ts';
import { fractionMember, groupableRelations, hasGroups } from '../../model/tables/column-uses.ts';
import { operandScalar } from '../../model/types/named-types.ts';
import type { AggregateFunction } from '../../model/types/postgres-types.ts';
import type { FilteredScalar } from '../../model/types/scalars.ts';
import { bindField, bindInput } from '../bindings.ts';
import { inputType, objectType, type TableType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { columnInputs, orderByDirection } from '../value-types.ts';
import { aggregateFieldConfigs, aggregateFieldsOf, aggregateScalar, fractionConfig } from './aggregate-types.ts';
import { defineGroupUnits, defineMemberKeys, groupKeyTypes } from './group-keys.ts';
import { defineJsonGroups } from './json-types.ts';
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
  ...groupKeyTypes,
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

/**
 * Defines what all tables' groups share, if there are any. Runs after all other types are defined, so that its names give way if they are
 * taken.
 */
export function* defineGroups(registry: TypeRegistry, tables: readonly Table[], composites: readonly Table[]): Generator<void, void> {
  const withGroups = tables.filter(({ aggregate, additions }) => aggregate && additions.has('groups'));
  if (!withGroups.some(hasGroups)) return;
  const units = defineGroupUnits(registry);
  // If all tables have groups, none is reached that lacks them.
  const allHaveGroups = tables.every(({ aggregate, additions }) => aggregate || !additions.has('groups'));
  registry.groups = { units, reached: allHaveGroups ? new Set() : yield* reachedBy(withGroups) };
  defineJsonGroups(registry);
  yield* defineMemberKeys(registry, composites);
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

/**
 * The field `groups` of connections and the types that it returns. An addition to pg_graphql's schema. For sales of customers:
 *
 *     type SaleAggregateGroup { key: SaleGroupKey!  count: Int!  sum: SaleSumAggregateResult … }
 *     type SaleGroupKey { status: Status  soldAt: Datetime  price: BigFloat  customer: CustomerGroupKey! }
 */
import { type GraphQLFieldConfigMap, GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { groupableRelations, hasGroups, isGroupable } from '../model/groupable.ts';
import type { Table } from '../model/model.ts';
import { aggregateFieldConfigs } from './aggregate-types.ts';
import { bindField } from './bindings.ts';
import { emptyRecord } from './empty-record.ts';
import { defineGroupUnits, groupInputs, groupKeyInputs, isReached } from './group-input-types.ts';
import type { TableTypes, TypeRegistry } from './type-registry.ts';
import { outputTypeOf } from './types-of-values.ts';

type Fields = GraphQLFieldConfigMap<unknown, unknown>;

export const groupTypes = {
  AggregateGroup: { has: hasGroups, build: groupType },
  GroupKey: { has: isReached, build: keyType },
  ...groupKeyInputs,
  ...groupInputs,
} as const satisfies Partial<TableTypes>;

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

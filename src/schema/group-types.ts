/**
 * The field `groups` of connections, whose rows it groups, with what it returns. An addition to pg_graphql's schema. For sales of customers:
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

/** The types of the groups of tables. */
export const groupTypes = {
  AggregateGroup: { has: hasGroups, build: groupType },
  GroupKey: { has: isReached, build: keyType },
  ...groupKeyInputs,
  ...groupInputs,
} as const satisfies Partial<TableTypes>;

/** Defines what the groups of all tables share, where there are any. All other types must be there: what is in the way of its names keeps its own. */
export function* defineGroups(registry: TypeRegistry, tables: readonly Table[]): Generator<void, void> {
  const withGroups = tables.filter(({ aggregate, additions }) => aggregate && additions.has('groups'));
  if (!withGroups.some(hasGroups)) return;
  const units = defineGroupUnits(registry);
  // Where all tables have groups, nothing is reached that has none.
  const isOfAll = tables.every(({ aggregate, additions }) => aggregate || !additions.has('groups'));
  registry.groups = { units, reached: isOfAll ? new Set() : yield* reachedBy(withGroups) };
}

/** The tables with groups, and those that their relations lead to. */
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
    description: `What the rows of a group have in common, of each \`${table.typeName}\``,
    fields: () => {
      const fields: Fields = emptyRecord();
      for (const column of table.columns.filter(isGroupable)) {
        const type = outputTypeOf(column.type, registry);
        if (type) fields[column.rowFieldName] = { type, description: column.description, ...bindField({ kind: 'column', column }) };
      }
      for (const relation of groupableRelations(table)) {
        const type = registry.objectOf(relation.target, 'GroupKey');
        fields[relation.fieldName] = { type: new GraphQLNonNull(type), ...bindField({ kind: 'relation', relation }) };
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
        description: 'What its rows have in common; null where they are not grouped by it',
        ...bindField({ kind: 'group key' }),
      },
      ...aggregateFieldConfigs(registry, table),
    }),
  });
}

/** The field of a connection, where the table has it. */
export function groupsField(registry: TypeRegistry, table: Table): Fields {
  if (!hasGroups(table)) return {};
  const group = new GraphQLNonNull(registry.objectOf(table, 'AggregateGroup'));
  const by = new GraphQLNonNull(registry.inputOf(table, 'GroupBy'));
  const orderBy = new GraphQLNonNull(registry.inputOf(table, 'GroupOrder'));
  return {
    groups: {
      type: new GraphQLNonNull(new GraphQLList(group)),
      description: `Groups of the \`${table.typeName}\` that the \`filter\` lets through, whatever the page`,
      args: {
        by: { type: new GraphQLNonNull(new GraphQLList(by)), description: 'What the rows of a group have in common' },
        having: { type: registry.inputOf(table, 'GroupHaving'), description: 'Which groups are wanted' },
        orderBy: { type: new GraphQLList(orderBy), description: 'Sort order of the groups, before that of their keys' },
        first: { type: GraphQLInt, description: 'Query the first `n` groups' },
        offset: { type: GraphQLInt, description: 'Skip `n` groups' },
        timeZone: { type: GraphQLString, description: 'The time zone in which points in time are truncated, such as `Europe/Berlin`' },
      },
      ...bindField({ kind: 'groups' }),
    },
  };
}

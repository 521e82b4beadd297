/**
 * The field `groups` of connections, whose rows it groups, with what it returns. An addition to pg_graphql's schema. For sales of customers:
 *
 *     type SaleAggregateGroup { key: SaleGroupKey!  count: Int!  sum: SaleSumAggregateResult … }
 *     type SaleGroupKey { status: Status  soldAt: Datetime  price: BigFloat  customer: CustomerGroupKey! }
 */
import {
  type GraphQLEnumType,
  type GraphQLFieldConfigMap,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { tableTypeName } from '../model/graphql-names.ts';
import { groupableRelations, isGroupable } from '../model/groupable.ts';
import type { Table } from '../model/model.ts';
import { aggregateFieldConfigs } from './aggregate-types.ts';
import { bindField } from './bindings.ts';
import { emptyRecord } from './empty-record.ts';
import { defineGroupInputs, defineGroupKeyInputs, defineGroupUnits } from './group-input-types.ts';
import type { TypeRegistry } from './type-registry.ts';
import { outputTypeOf } from './types-of-values.ts';

type Fields = GraphQLFieldConfigMap<unknown, unknown>;

/** Defines the types of the groups of tables; `direction` is that of their order. To be called when all other types are defined: what is in the way of the names that all tables share keeps its own. */
export function* defineGroupTypes(registry: TypeRegistry, tables: readonly Table[], direction: GraphQLEnumType): Generator<void, void> {
  const grouped = tables.filter(hasGroups);
  if (grouped.length === 0) return;
  const units = defineGroupUnits(registry);
  for (const table of yield* reachedBy(grouped)) {
    registry.define(tableTypeName(table, 'GroupKey'), () => keyType(registry, table));
    defineGroupKeyInputs(registry, table, units, direction);
    yield;
  }
  for (const table of grouped) {
    registry.define(tableTypeName(table, 'AggregateGroup'), () => groupType(registry, table));
    defineGroupInputs(registry, table, direction);
    yield;
  }
}

function hasGroups({ aggregate, additions, columns }: Table): boolean {
  return aggregate && additions.has('groups') && columns.some(isGroupable);
}

/** The tables, and those that their relations lead to. */
function* reachedBy(tables: readonly Table[]): Generator<void, ReadonlySet<Table>> {
  const reached = new Set(tables);
  for (const table of reached) {
    for (const { target } of groupableRelations(table)) reached.add(target);
    yield;
  }
  return reached;
}

function keyType(registry: TypeRegistry, table: Table): GraphQLObjectType {
  return new GraphQLObjectType({
    name: tableTypeName(table, 'GroupKey'),
    description: `What the rows of a group have in common, of each \`${table.typeName}\``,
    fields: () => {
      const fields: Fields = emptyRecord();
      for (const column of table.columns.filter(isGroupable)) {
        const type = outputTypeOf(column.type, registry);
        if (type) fields[column.rowFieldName] = { type, description: column.description, ...bindField({ kind: 'column', column }) };
      }
      for (const relation of groupableRelations(table)) {
        const type = registry.object(tableTypeName(relation.target, 'GroupKey'));
        fields[relation.fieldName] = { type: new GraphQLNonNull(type), ...bindField({ kind: 'relation', relation }) };
      }
      return fields;
    },
  });
}

function groupType(registry: TypeRegistry, table: Table): GraphQLObjectType {
  return new GraphQLObjectType({
    name: tableTypeName(table, 'AggregateGroup'),
    description: `A group of \`${table.typeName}\` with its aggregates`,
    fields: () => ({
      key: {
        type: new GraphQLNonNull(registry.object(tableTypeName(table, 'GroupKey'))),
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
  const group = new GraphQLNonNull(registry.object(tableTypeName(table, 'AggregateGroup')));
  const by = new GraphQLNonNull(registry.input(tableTypeName(table, 'GroupBy')));
  const orderBy = new GraphQLNonNull(registry.input(tableTypeName(table, 'GroupOrder')));
  return {
    groups: {
      type: new GraphQLNonNull(new GraphQLList(group)),
      description: `Groups of the \`${table.typeName}\` that the \`filter\` lets through, whatever the page`,
      args: {
        by: { type: new GraphQLNonNull(new GraphQLList(by)), description: 'What the rows of a group have in common' },
        having: { type: registry.input(tableTypeName(table, 'GroupHaving')), description: 'Which groups are wanted' },
        orderBy: { type: new GraphQLList(orderBy), description: 'Sort order of the groups, before that of their keys' },
        first: { type: GraphQLInt, description: 'Query the first `n` groups' },
        offset: { type: GraphQLInt, description: 'Skip `n` groups' },
        timeZone: { type: GraphQLString, description: 'The time zone in which points in time are truncated, such as `Europe/Berlin`' },
      },
      ...bindField({ kind: 'groups' }),
    },
  };
}

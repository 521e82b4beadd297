/**
 * The argument `increment` of updates, which adds to numbers: `updatePostCollection(set: {}, increment: {views: 1}, filter: …)`. An
 * addition to pg_graphql's schema.
 */
import { type GraphQLFieldConfigArgumentMap, type GraphQLInputFieldConfigMap, GraphQLInputObjectType } from 'graphql';
import type { Column, Table } from '../model/model.ts';
import { bindInput } from './bindings.ts';
import { emptyRecord } from './empty-record.ts';
import { scalarTypes } from './scalars.ts';
import type { TableTypes, TypeRegistry } from './type-registry.ts';

export const incrementTypes = {
  IncrementInput: {
    has: (table, registry) => hasIncrement(table) && registry.hasOf(table, 'UpdateInput'),
    build: (table, _registry, name) => new GraphQLInputObjectType({ name, fields: () => incrementFields(table) }),
  },
} as const satisfies Partial<TableTypes>;

/** Whether the table has the addition and columns that can be incremented. */
export function hasIncrement({ updatable, additions, columns }: Table): boolean {
  return updatable && additions.has('increment') && columns.some(isIncrementable);
}

/** The argument; empty if the table has no such columns. */
export function incrementArgument(registry: TypeRegistry, table: Table): GraphQLFieldConfigArgumentMap {
  if (!hasIncrement(table)) return {};
  return {
    increment: {
      type: registry.inputOf(table, 'IncrementInput'),
      description: 'Amounts to add to fields; fields that are null stay null. With it, `set` may be empty',
    },
  };
}

function incrementFields(table: Table): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  for (const column of table.columns) {
    if (column.type.kind !== 'scalar' || !isIncrementable(column)) continue;
    fields[column.fieldName] = { type: scalarTypes[column.type.scalar], ...bindInput('increment', { kind: 'column', column }) };
  }
  return fields;
}

/**
 * Whether it is a number that the role may read, because adding reads it, and update. Not a domain over a number, because its constraints
 * may not hold for the amount to add.
 */
function isIncrementable({ type, selectable, updatable }: Column): boolean {
  return type.kind === 'scalar' && type.traits.number?.increments === true && selectable && updatable;
}

/**
 * The argument `onConflict` of inserts, which says what to do with conflicting rows. An addition to pg_graphql's schema.
 *
 *     input PostOnConflictInput { constraint: PostConstraint!  updateColumns: [PostUpdateColumn!]!  increment: PostIncrementInput  filter: PostFilter }
 */
import {
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import { conflictColumns } from '../model/conflict-columns.ts';
import type { Table } from '../model/model.ts';
import { asChoice } from './choices.ts';
import { emptyRecord } from './empty-record.ts';
import { hasIncrement } from './increment-types.ts';
import type { TableTypes, TypeRegistry } from './type-registry.ts';
import { inputTypeOf, isInputValue } from './types-of-values.ts';

/** The types of the argument, for tables with arbiters. */
export const onConflictTypes = {
  OnConflictInput: {
    has: hasArbiters,
    build: (table, registry, name) => new GraphQLInputObjectType({ name, fields: () => inputFields(registry, table) }),
  },
  Constraint: { has: hasArbiters, build: (table, _registry, name) => constraintEnum(table, name) },
  UpdateColumn: {
    has: (table, registry) => hasArbiters(table, registry) && updateColumnsOf(registry, table).length > 0,
    build: (table, registry, name) => enumOfColumns(table, name, updateColumnsOf(registry, table)),
  },
} as const satisfies Partial<TableTypes>;

function hasArbiters(table: Table, registry: TypeRegistry): boolean {
  return table.arbiters.length > 0 && registry.hasOf(table, 'InsertInput');
}

/** The argument; empty if the table has no arbiters. */
export function onConflictArgument(registry: TypeRegistry, table: Table): GraphQLFieldConfigArgumentMap {
  if (table.arbiters.length === 0) return {};
  const type = registry.inputOf(table, 'OnConflictInput');
  return { onConflict: { type, description: 'What to do with records that already exist; without it, they are an error' } };
}

function updateColumnsOf(registry: TypeRegistry, table: Table): string[] {
  return [...conflictColumns(table)].filter(([, { type }]) => isInputValue(type) && inputTypeOf(type, registry)).map(([name]) => name);
}

function constraintEnum({ typeName, arbiters }: Table, name: string): GraphQLEnumType {
  const values = arbiters.map(({ valueName, description }) => [valueName, { description }]);
  const description = `The unique constraints and indexes of \`${typeName}\``;
  return new GraphQLEnumType({ name, description, values: Object.fromEntries(values), ...asChoice });
}

function enumOfColumns({ typeName }: Table, name: string, columns: readonly string[]): GraphQLEnumType {
  const description = `The fields of a \`${typeName}\` record that is already there which an insert can update`;
  return new GraphQLEnumType({ name, description, values: Object.fromEntries(columns.map((column) => [column, {}])), ...asChoice });
}

/** Even a role that may not update can skip conflicting rows. */
function inputFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const updates: GraphQLInputFieldConfigMap = emptyRecord();
  if (registry.hasOf(table, 'UpdateColumn')) {
    updates.updateColumns = {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(registry.enumOf(table, 'UpdateColumn')))),
      description:
        'The fields that take the values of the object, or their defaults; with none, the record stays as it is and is not returned',
    };
  }
  if (hasIncrement(table)) {
    const increment = registry.inputOf(table, 'IncrementInput');
    updates.increment = { type: increment, description: 'Amounts to add to fields of the existing record' };
  }
  const filter = {
    type: registry.inputOf(table, 'Filter'),
    description: 'Which existing records to update; others are left as they are and not returned',
  };
  return {
    constraint: {
      type: new GraphQLNonNull(registry.enumOf(table, 'Constraint')),
      description: 'The unique constraint or index by which existing records are recognized',
    },
    ...updates,
    ...(Object.keys(updates).length > 0 && canFilter(table) && { filter }),
  };
}

/** With row level security, the statement looks up by key whether the role can see the conflicting row, so the key must be readable. */
function canFilter({ rowSecurity, primaryKey }: Table): boolean {
  return !rowSecurity || primaryKey.every(({ selectable }) => selectable);
}

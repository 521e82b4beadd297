/**
 * The argument `onConflict` of inserts, which says what becomes of rows that are already there. An addition to pg_graphql's schema.
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
import { tableTypeName } from '../model/graphql-names.ts';
import type { Table } from '../model/model.ts';
import { asChoice } from './choices.ts';
import { emptyRecord } from './empty-record.ts';
import { hasIncrement } from './increment-types.ts';
import type { TypeRegistry } from './type-registry.ts';
import { inputTypeOf, isInputValue } from './types-of-values.ts';

/** Defines the types of the argument, for a table that has something to settle conflicts by. */
export function defineOnConflictTypes(registry: TypeRegistry, table: Table): void {
  if (table.arbiters.length === 0) return;
  const [input, constraint, updateColumn] = typeNamesOf(table);
  registry.define(input, () => new GraphQLInputObjectType({ name: input, fields: () => inputFields(registry, table) }));
  registry.define(constraint, () => constraintEnum(table, constraint));
  const columns = updateColumnsOf(registry, table);
  if (columns.length > 0) registry.define(updateColumn, () => enumOfColumns(table, updateColumn, columns));
}

/** The argument, where the table has one. */
export function onConflictArgument(registry: TypeRegistry, table: Table): GraphQLFieldConfigArgumentMap {
  if (table.arbiters.length === 0) return {};
  const [input] = typeNamesOf(table);
  return {
    onConflict: { type: registry.input(input), description: 'What becomes of rows that are already there; without it, they are an error' },
  };
}

function typeNamesOf(table: Table): readonly [input: string, constraint: string, updateColumn: string] {
  return [tableTypeName(table, 'OnConflictInput'), tableTypeName(table, 'Constraint'), tableTypeName(table, 'UpdateColumn')];
}

function updateColumnsOf(registry: TypeRegistry, table: Table): string[] {
  return [...conflictColumns(table)].filter(([, { type }]) => isInputValue(type) && inputTypeOf(type, registry)).map(([name]) => name);
}

function constraintEnum({ typeName, arbiters }: Table, name: string): GraphQLEnumType {
  const values = arbiters.map(({ valueName, description }) => [valueName, { description }]);
  const description = `What no two \`${typeName}\` records have in common`;
  return new GraphQLEnumType({ name, description, values: Object.fromEntries(values), ...asChoice });
}

function enumOfColumns({ typeName }: Table, name: string, columns: readonly string[]): GraphQLEnumType {
  const description = `The fields of a \`${typeName}\` record that is already there which an insert can update`;
  return new GraphQLEnumType({ name, description, values: Object.fromEntries(columns.map((column) => [column, {}])), ...asChoice });
}

/** A role that may update nothing can still leave rows as they are. */
function inputFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const [, constraint, updateColumn] = typeNamesOf(table);
  const updates: GraphQLInputFieldConfigMap = emptyRecord();
  if (registry.has(updateColumn)) {
    updates.updateColumns = {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(registry.enum(updateColumn)))),
      description:
        'The fields that take the values of the object, or their defaults; with none, the record stays as it is and is not returned',
    };
  }
  if (hasIncrement(table)) {
    const increment = registry.input(tableTypeName(table, 'IncrementInput'));
    updates.increment = { type: increment, description: 'What is added to fields of the record' };
  }
  const filter = {
    type: registry.input(tableTypeName(table, 'Filter')),
    description: 'Which records are updated; others stay as they are and are not returned',
  };
  return {
    constraint: { type: new GraphQLNonNull(registry.enum(constraint)), description: 'What tells that a record is already there' },
    ...updates,
    ...(Object.keys(updates).length > 0 && canFilter(table) && { filter }),
  };
}

/** Where policies hide rows, whether the role sees a row is found by its key. */
function canFilter({ rowSecurity, primaryKey }: Table): boolean {
  return !rowSecurity || primaryKey.every(({ selectable }) => selectable);
}

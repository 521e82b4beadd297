/**
 * The arguments of mutations that nested writes have as input fields too: which rows to change, what to add to numbers, and what to do with
 * conflicting rows. The last two are additions to pg_graphql's schema:
 *
 *     updatePostCollection(set: {}, increment: {views: 1}, filter: …)
 *     input PostOnConflictInput { constraint: PostConstraint!  updateColumns: [PostUpdateColumn!]!  increment: …  filter: … }
 */
import {
  type GraphQLArgumentConfig,
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import { conflictColumns } from '../../model/tables/column-uses.ts';
import { isJson } from '../../model/types/named-types.ts';
import type { ValueType } from '../../model/value-type.ts';
import { emptyRecord } from '../lazy/lazy-object-type.ts';
import { inputType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { asChoice, columnInputs, inputTypeOf, scalarTypes } from '../value-types.ts';
import { memberChanges } from './beside-inputs.ts';

export const argumentTypes = {
  IncrementInput: inputType(
    (table, registry) => hasIncrement(table) && registry.hasOf(table, 'UpdateInput'),
    (registry, table) =>
      columnInputs('increment', table.columns.filter(isIncrementable), 'fieldName', ({ type }) =>
        isAddedInterval(type) ? scalarTypes.Opaque : inputTypeOf(type, registry),
      ),
  ),
  JSONInput: inputType(
    (table, registry) => hasJsonChanges(table, registry) && registry.hasOf(table, 'UpdateInput'),
    (registry, table) => {
      const columns = table.columns.filter(isJsonChangeable);
      const changes = columnInputs('json columns', columns, 'fieldName', () => registry.input(registry.jsonTypes!.change));
      return { ...changes, ...memberChanges(registry, columns, changes) };
    },
  ),
  OnConflictInput: inputType(hasArbiters, conflictFields),
  Constraint: { has: hasArbiters, build: (table, _registry, name) => constraintEnum(table, name) },
  UpdateColumn: {
    has: (table, registry) => hasArbiters(table, registry) && updateColumnsOf(registry, table).length > 0,
    build: (table, registry, name) => enumOfColumns(table, name, updateColumnsOf(registry, table)),
  },
} as const satisfies Partial<TableTypes>;

type Restricting = GraphQLArgumentConfig & GraphQLInputFieldConfig;

/** The arguments that restrict the rows which a mutation changes. */
export function restriction(registry: TypeRegistry, table: Table): { readonly filter: Restricting; readonly atMost: Restricting } {
  return {
    filter: {
      type: registry.inputOf(table, 'Filter'),
      description: "Restricts the mutation's impact to records matching the criteria",
    },
    atMost: {
      type: new GraphQLNonNull(GraphQLInt),
      default: { value: 1 },
      description: 'The maximum number of records in the collection permitted to be affected',
    },
  };
}

/** Whether the table has the addition and columns that can be incremented. */
function hasIncrement({ updatable, additions, columns }: Table): boolean {
  return updatable && additions.has('increment') && columns.some(isIncrementable);
}

/** Whether it can be added to, and the role may read it, because adding reads it, and update it. */
function isIncrementable({ type, selectable, updatable }: Column): boolean {
  return type.kind === 'scalar' && type.traits.increments !== null && selectable && updatable;
}

/** Whether an interval is added to its values, which are no intervals. */
function isAddedInterval(type: ValueType): boolean {
  return type.kind === 'scalar' && type.traits.increments === 'interval';
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

/** Whether the table has the addition and columns of which a part can be changed. */
function hasJsonChanges({ updatable, additions, columns }: Table, registry: TypeRegistry): boolean {
  return updatable && additions.has('json') && registry.jsonTypes !== null && columns.some(isJsonChangeable);
}

/** Whether it is JSON that the role may read and update. */
function isJsonChangeable({ type, selectable, updatable }: Column): boolean {
  return selectable && updatable && isJson(type);
}

/** The argument; empty if the table has no such columns. */
export function jsonArgument(registry: TypeRegistry, table: Table): GraphQLFieldConfigArgumentMap {
  if (!hasJsonChanges(table, registry)) return {};
  return {
    json: {
      type: registry.inputOf(table, 'JSONInput'),
      description: 'Changes of parts of JSON fields. With it, `set` may be empty',
    },
  };
}

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
  return [...conflictColumns(table)].filter(([, { type }]) => inputTypeOf(type, registry)).map(([name]) => name);
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
function conflictFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
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

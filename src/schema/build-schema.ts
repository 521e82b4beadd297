/**
 * Model in, `GraphQLSchema` out: `Query`, `Mutation` and every type they reach, built when first asked for.
 */
import {
  GraphQLEnumType,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLID,
  type GraphQLNamedType,
  GraphQLNonNull,
} from 'graphql';
import {
  filterTypeName,
  nodeFieldName,
  rootTypeNames,
  type SharedTypeName,
  tableFieldName,
  tableTypeName,
} from '../model/graphql-names.ts';
import type { Column, EnumType, Model, Routine, ScalarType, Table } from '../model/model.ts';
import { isEnumValueName, isFreeName } from '../model/names.ts';
import { defineAggregateTypes } from './aggregate-types.ts';
import { bindField, bindInput } from './bindings.ts';
import { collectionArguments } from './collection-arguments.ts';
import { emptyRecord } from './empty-record.ts';
import { enumFilter, filterIs, idFilter, scalarFilterTypes } from './filter-types.ts';
import { LazySchema } from './lazy-schema.ts';
import { defineMutationTypes } from './mutation-types.ts';
import { defineRootType, type RootField } from './root-types.ts';
import { routineFieldConfig } from './routine-fields.ts';
import { cursorScalar, scalarTypes } from './scalars.ts';
import { defineRowType, defineTableTypes, nodeInterface, orderByDirection, pageInfo } from './table-types.ts';
import { TypeRegistry } from './type-registry.ts';
import { inputTypeOf } from './types-of-values.ts';

type Field = GraphQLFieldConfig<unknown, unknown>;

const sharedTypes: Readonly<Record<SharedTypeName, GraphQLNamedType>> = {
  ID: GraphQLID,
  IDFilter: idFilter,
  Cursor: cursorScalar,
  FilterIs: filterIs,
  OrderByDirection: orderByDirection,
  PageInfo: pageInfo,
  Node: nodeInterface,
};
const commonTypes = [...Object.values(scalarTypes), ...scalarFilterTypes, ...Object.values(sharedTypes)];

/** The schema of what a role sees. Never throws for a model that `buildModel` made. */
export function buildSchema(model: Model): LazySchema {
  const registry = new TypeRegistry();
  for (const type of commonTypes) registry.define(type.name, () => type);
  for (const enumType of model.enums) defineEnumTypes(registry, enumType);
  const tables = model.tables.filter((table) => table.selectable);
  for (const table of tables) {
    defineTableTypes(registry, table);
    if (table.aggregate) defineAggregateTypes(registry, table);
  }
  for (const table of model.rowTypes) defineRowType(registry, table);
  const mutations = [...mutationFields(registry, tables, model.routines)];
  defineRootType(registry, rootTypeNames.query, 'The root type for querying data', () => queryFields(registry, tables, model.routines));
  if (mutations.length > 0)
    defineRootType(registry, rootTypeNames.mutation, 'The root type for creating and mutating data', () => mutations);
  return new LazySchema(registry);
}

function defineEnumTypes(registry: TypeRegistry, { typeName, description, values }: EnumType): void {
  // A label that is no GraphQL name cannot be listed: clients could not load the schema. It is still read as it is.
  const legal = values.filter(({ name }) => isEnumValueName(name));
  if (legal.length === 0) return;
  registry.define(
    typeName,
    () =>
      new GraphQLEnumType({
        name: typeName,
        description,
        values: Object.fromEntries(legal.map(({ name }) => [name, {}])),
      }),
  );
  registry.define(filterTypeName(typeName), () => enumFilter(registry.enum(typeName)));
}

function* queryFields(registry: TypeRegistry, tables: readonly Table[], routines: readonly Routine[]): Generator<RootField, void> {
  yield [nodeFieldName, nodeField];
  for (const table of tables) {
    if (hasLookup(table)) yield [tableFieldName(table, 'byPk'), () => lookupField(registry, table)];
    yield [tableFieldName(table, 'collection'), () => collectionField(registry, table)];
  }
  for (const routine of routines) if (!routine.volatile) yield* routineField(registry, routine);
}

function nodeField(): Field {
  return {
    type: nodeInterface,
    description: 'Retrieve a record by its `ID`',
    args: { nodeId: { type: new GraphQLNonNull(GraphQLID), description: "The record's `ID`" } },
    ...bindField({ kind: 'node' }),
  };
}

/** Every key column is a scalar that has an equality of its own, and a name of its own. */
function hasLookup({ primaryKey }: Table): boolean {
  const names = new Set(primaryKey.map(({ fieldName }) => fieldName));
  return names.size === primaryKey.length && primaryKey.every(isLookupKey);
}

function isLookupKey({ type, fieldName }: Column): boolean {
  return type.kind === 'scalar' && type.scalar !== 'Opaque' && type.scalar !== 'JSON' && isFreeName(fieldName);
}

function lookupField(registry: TypeRegistry, table: Table): Field {
  const args: GraphQLFieldConfigArgumentMap = emptyRecord();
  for (const column of table.primaryKey) {
    args[column.fieldName] = {
      type: new GraphQLNonNull(inputTypeOf(column.type as ScalarType, registry)!),
      description: `The record's \`${column.name}\` value`,
      ...bindInput({ kind: 'column', column }),
    };
  }
  return {
    type: registry.object(table.typeName),
    description: `Retrieve a record of type \`${table.typeName}\` by its primary key`,
    args,
    ...bindField({ kind: 'by key', table }),
  };
}

function collectionField(registry: TypeRegistry, table: Table): Field {
  return {
    type: new GraphQLNonNull(registry.object(tableTypeName(table, 'Connection'))),
    description: `A pagable collection of type \`${table.typeName}\``,
    args: collectionArguments(registry, table),
    ...bindField({ kind: 'collection', table }),
  };
}

/** None if a type of it is not in this schema. */
function* routineField(registry: TypeRegistry, routine: Routine): Generator<RootField, void> {
  const field = routineFieldConfig(registry, routine, { kind: 'routine', routine });
  if (field) yield [routine.fieldName, () => field];
}

/** Defines the types of mutations as well. */
function* mutationFields(registry: TypeRegistry, tables: readonly Table[], routines: readonly Routine[]): Generator<RootField, void> {
  for (const table of tables) yield* defineMutationTypes(registry, table);
  for (const routine of routines) if (routine.volatile) yield* routineField(registry, routine);
}

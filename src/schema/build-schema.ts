/**
 * Model in, `GraphQLSchema` out: `Query`, `Mutation` and every type that they reach, each built on first use. Defining some twenty types for each of
 * thousands of tables takes longer than requests should wait, so all steps are generators that yield after each table (`slices.ts`).
 */
import {
  GraphQLEnumType,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLID,
  type GraphQLInterfaceType,
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
import { defineGroupTypes } from './group-types.ts';
import { LazySchema } from './lazy-schema.ts';
import { defineMutationTypes } from './mutation-types.ts';
import { defineNestedWrites } from './nested-write-types.ts';
import { defineRelationFilters } from './relation-filter-types.ts';
import { defineRelationOrders } from './relation-order-types.ts';
import { defineRootType, RootFields } from './root-types.ts';
import { routineFieldConfig } from './routine-fields.ts';
import { cursorScalar, scalarTypes } from './scalars.ts';
import { defineRowType, defineTableTypes, filterFields, nodeInterface, orderByDirection, pageInfo } from './table-types.ts';
import { TypeRegistry } from './type-registry.ts';
import { inputTypeOf } from './types-of-values.ts';

type Field = GraphQLFieldConfig<unknown, unknown>;

const sharedTypes: Readonly<Record<Exclude<SharedTypeName, 'Node'>, GraphQLNamedType>> = {
  ID: GraphQLID,
  IDFilter: idFilter,
  Cursor: cursorScalar,
  FilterIs: filterIs,
  OrderByDirection: orderByDirection,
  PageInfo: pageInfo,
};
const commonTypes = [...Object.values(scalarTypes), ...scalarFilterTypes, ...Object.values(sharedTypes)];

/** The schema of what a role sees. Never throws for a model that `buildModel` made. */
export function* buildSchema(model: Model): Generator<void, LazySchema> {
  const registry = new TypeRegistry();
  for (const type of commonTypes) registry.define(type.name, () => type);
  const node = nodeInterface(model.nodeIdField);
  registry.define(node.name, () => node);
  for (const enumType of model.enums) defineEnumTypes(registry, enumType);
  const tables = model.tables.filter((table) => table.selectable);
  for (const table of tables) {
    defineTableTypes(registry, table, node, model.nodeIdField);
    if (table.aggregate) defineAggregateTypes(registry, table, model.nodeIdField);
    yield;
  }
  yield* defineRelationFilters(registry, tables, (table) => filterFields(registry, table, model.nodeIdField));
  yield* defineRelationOrders(registry, tables, orderByDirection);
  for (const table of model.rowTypes) defineRowType(registry, table);
  const mutations = yield* mutationFields(registry, tables, model.routines);
  yield* defineNestedWrites(registry, tables, model.nodeIdField);
  const queries = yield* queryFields(registry, tables, model, node);
  defineRootType(registry, rootTypeNames.query, 'The root type for querying data', queries);
  if (mutations.size > 0) defineRootType(registry, rootTypeNames.mutation, 'The root type for creating and mutating data', mutations);
  yield* defineGroupTypes(registry, tables, orderByDirection);
  return new LazySchema(registry, { specifiesScalars: model.specifiesScalars });
}

function defineEnumTypes(registry: TypeRegistry, { typeName, description, values }: EnumType): void {
  // A label that is not a valid GraphQL name cannot be listed, because clients could not load the schema. Rows still contain it as it is.
  const legal = values.filter(({ name }) => isEnumValueName(name));
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

function* queryFields(
  registry: TypeRegistry,
  tables: readonly Table[],
  { routines, nodeIdField }: Model,
  node: GraphQLInterfaceType,
): Generator<void, RootFields> {
  const fields = new RootFields(rootTypeNames.query);
  fields.add(nodeFieldName, () => nodeField(node, nodeIdField));
  for (const table of tables) {
    if (hasLookup(table)) fields.add(tableFieldName(table, 'byPk'), () => lookupField(registry, table));
    fields.add(tableFieldName(table, 'collection'), () => collectionField(registry, table));
    yield;
  }
  yield* addRoutines(
    fields,
    registry,
    routines.filter(({ volatile }) => !volatile),
  );
  return fields;
}

function nodeField(node: GraphQLInterfaceType, nodeIdField: string): Field {
  return {
    type: node,
    description: 'Retrieve a record by its `ID`',
    args: { [nodeIdField]: { type: new GraphQLNonNull(GraphQLID), description: "The record's `ID`" } },
    ...bindField({ kind: 'node' }),
  };
}

/** Whether every key column is a scalar that can be compared for equality, and has a unique name. */
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

/** Adds none for a routine with a type that is not in this schema. */
function* addRoutines(fields: RootFields, registry: TypeRegistry, routines: readonly Routine[]): Generator<void, void> {
  for (const routine of routines) {
    const field = routineFieldConfig(registry, routine, { kind: 'routine', routine });
    if (field) fields.add(routine.fieldName, () => field);
    yield;
  }
}

/** Also defines the types that mutations use. */
function* mutationFields(registry: TypeRegistry, tables: readonly Table[], routines: readonly Routine[]): Generator<void, RootFields> {
  const fields = new RootFields(rootTypeNames.mutation);
  for (const table of tables) {
    for (const [name, build] of defineMutationTypes(registry, table)) fields.add(name, build);
    yield;
  }
  yield* addRoutines(
    fields,
    registry,
    routines.filter(({ volatile }) => volatile),
  );
  return fields;
}

/**
 * Model in, `GraphQLSchema` out: `Query`, `Mutation` and every type they reach, built when first asked for.
 */
import { GraphQLEnumType, type GraphQLFieldConfig, type GraphQLFieldConfigArgumentMap, GraphQLID, GraphQLNonNull } from 'graphql';
import type { Column, EnumType, Model, Routine, ScalarType, Table } from '../model/model.ts';
import { tableTypeName } from '../model/type-names.ts';
import { defineAggregateTypes } from './aggregate-types.ts';
import { bindField, bindInput } from './bindings.ts';
import { collectionArguments } from './collection-arguments.ts';
import { emptyRecord } from './empty-record.ts';
import { commonFilterTypes, enumFilter } from './filter-types.ts';
import { LazySchema } from './lazy-schema.ts';
import { defineMutationTypes } from './mutation-types.ts';
import { defineRootType, type RootField } from './root-types.ts';
import { routineFieldConfig } from './routine-fields.ts';
import { cursorScalar, scalarTypes } from './scalars.ts';
import { defineRowType, defineTableTypes, nodeInterface, orderByDirection, pageInfo } from './table-types.ts';
import { TypeRegistry } from './type-registry.ts';
import { inputTypeOf } from './types-of-values.ts';

type Field = GraphQLFieldConfig<unknown, unknown>;

const commonTypes = [
  ...Object.values(scalarTypes),
  GraphQLID,
  cursorScalar,
  ...commonFilterTypes,
  orderByDirection,
  pageInfo,
  nodeInterface,
];

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
  defineRootType(registry, 'Query', 'The root type for querying data', () => queryFields(registry, tables, model.routines));
  if (mutations.length > 0) defineRootType(registry, 'Mutation', 'The root type for creating and mutating data', () => mutations);
  return new LazySchema(registry);
}

/** Two leading underscores belong to introspection. */
const freeName = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/;

function defineEnumTypes(registry: TypeRegistry, { typeName, description, values }: EnumType): void {
  // A label that is no GraphQL name cannot be listed: clients could not load the schema. It is still read as it is.
  const legal = values.filter(({ name }) => freeName.test(name) && !['true', 'false', 'null'].includes(name));
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
  registry.define(`${typeName}Filter`, () => enumFilter(registry.enum(typeName)));
}

/** The first letter in lower case, as root fields begin. */
function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function* queryFields(registry: TypeRegistry, tables: readonly Table[], routines: readonly Routine[]): Generator<RootField, void> {
  yield ['node', nodeField];
  for (const table of tables) {
    const name = lowerFirst(table.stem);
    if (hasLookup(table)) yield [`${name}ByPk`, () => lookupField(registry, table)];
    yield [`${name}Collection`, () => collectionField(registry, table)];
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
  return type.kind === 'scalar' && type.scalar !== 'Opaque' && type.scalar !== 'JSON' && freeName.test(fieldName);
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

/** None where a type of it is not in this schema. */
function* routineField(registry: TypeRegistry, routine: Routine): Generator<RootField, void> {
  const field = routineFieldConfig(registry, routine, { kind: 'routine', routine });
  if (field) yield [routine.fieldName, () => field];
}

/** Defines the types of mutations as well. */
function* mutationFields(registry: TypeRegistry, tables: readonly Table[], routines: readonly Routine[]): Generator<RootField, void> {
  for (const table of tables) yield* defineMutationTypes(registry, table);
  for (const routine of routines) if (routine.volatile) yield* routineField(registry, routine);
}

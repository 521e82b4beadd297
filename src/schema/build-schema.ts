/**
 * Builds a `GraphQLSchema` from a model: `Query`, `Mutation`, `Subscription` and all types reachable from them, each built on first use. Steps that visit
 * every table are generators that yield after each, because with thousands of tables they take longer than requests should wait
 * (`slices.ts`).
 */
import { type GraphQLFieldConfigArgumentMap, GraphQLID, type GraphQLInterfaceType, type GraphQLNamedType, GraphQLNonNull } from 'graphql';
import type { Column, Model, Table, UniqueLookup } from '../model/model.ts';
import {
  fieldsNamed,
  filterTypeName,
  listFilterTypeName,
  nodeFieldName,
  rootTypeNames,
  type SharedTypeName,
  tableFieldName,
} from '../model/naming/graphql-names.ts';
import { lowerFirst, upperFirst } from '../model/naming/names.ts';
import type { Routine } from '../model/routine.ts';
import { isCompared, isJson } from '../model/types/named-types.ts';
import { boundsName } from '../model/types/operators.ts';
import type { DomainType, EnumType } from '../model/value-type.ts';
import { bindField, bindInput } from './bindings.ts';
import { emptyRecord, type FieldBuilders, type FieldConfig, LazyObjectType } from './lazy/lazy-object-type.ts';
import { LazySchema } from './lazy/lazy-schema.ts';
import { type TableTypes, TypeRegistry } from './lazy/type-registry.ts';
import { aggregateTypes } from './tables/aggregate-types.ts';
import { defineCompositeFilters } from './tables/composite-filters.ts';
import { collectionArguments, connectionTypes, edgesOf, nodeInterface, pageInfo, streamArguments } from './tables/connection-types.ts';
import { filterTypes } from './tables/filter-types.ts';
import { defineFusion } from './tables/fusion-types.ts';
import { defineGeometryTypes } from './tables/geometry-types.ts';
import { defineGroups, groupTypes } from './tables/group-types.ts';
import { defineJsonTypes } from './tables/json-types.ts';
import { defineNearest, nearestTypes } from './tables/nearest-types.ts';
import { orderTypes } from './tables/order-types.ts';
import { defineRangeTypes, returnsBounds } from './tables/range-types.ts';
import { boundsRoutineField, defineRowValues, hasField, routineField, rowType } from './tables/row-type.ts';
import { defineSearch, searchColumnTypes } from './tables/search-types.ts';
import {
  defineListFilter,
  defineRangeFilters,
  domainFilter,
  enumFilter,
  filterIs,
  idFilter,
  type OfferedOperators,
  scalarFilterTypes,
  typeFilter,
} from './tables/value-filters.ts';
import { bareJsonScalar, cursorScalar, DatabaseEnumType, domainScalar, inputTypeOf, orderByDirection, scalarTypes } from './value-types.ts';
import { defineCompositeInputs } from './writes/composite-types.ts';
import { mutationFields, mutationTypes } from './writes/mutation-types.ts';
import { nestedWriteTypes, prepareHubs } from './writes/nested-write-types.ts';
import { argumentTypes } from './writes/write-arguments.ts';

const sharedTypes: Readonly<Record<Exclude<SharedTypeName, 'Node'>, GraphQLNamedType>> = {
  ID: GraphQLID,
  IDFilter: idFilter,
  Cursor: cursorScalar,
  FilterIs: filterIs,
  OrderByDirection: orderByDirection,
  PageInfo: pageInfo,
};
const commonTypes = [...Object.values(scalarTypes), ...Object.values(sharedTypes)];

const tableTypes: TableTypes = {
  row: rowType,
  ...connectionTypes,
  ...filterTypes,
  ...orderTypes,
  ...nearestTypes,
  ...aggregateTypes,
  ...groupTypes,
  ...mutationTypes,
  ...argumentTypes,
  ...searchColumnTypes,
  ...nestedWriteTypes,
};

/** Builds the schema of a role's model. Never throws for a model that `buildModel` made. */
export function* buildSchema(model: Model): Generator<void, LazySchema> {
  const { routines, enums, domains, nodeIdField, specifiesScalars } = model;
  const offered = { more: model.hasMoreOperators, trigrams: model.hasTrigrams };
  const tables = model.tables.filter((table) => table.selectable);
  const registry = new TypeRegistry(model, tableTypes);
  yield;
  const jsonScalar = model.json === 'object' ? bareJsonScalar : scalarTypes.JSON;
  const ofAll = commonTypes.map((type) => (type === scalarTypes.JSON ? jsonScalar : type));
  for (const type of [...ofAll, ...scalarFilterTypes(offered)]) registry.defineAlways(type.name, () => type);
  defineJsonTypes(registry, jsonScalar, filterIs);
  defineGeometryTypes(registry);
  defineRangeTypes(registry);
  defineRangeFilters(registry);
  for (const [filter, name] of model.typeFilters) registry.define(name, () => typeFilter(registry, filter, name, offered));
  for (const [of, name] of model.listFilters) defineListFilter(registry, name, of, offered);
  const node = nodeInterface(nodeIdField);
  registry.defineAlways(node.name, () => node);
  for (const enumType of enums) defineEnumTypes(registry, enumType, offered);
  for (const domain of domains) defineDomainTypes(registry, domain, offered);
  const values = [...model.composites, ...model.rowValues];
  defineRowValues(registry, model.rowValues);
  yield* defineCompositeInputs(registry, values);
  yield* defineCompositeFilters(registry, values);
  const reads = routinesOf(registry, routines, false);
  defineRootType(registry, rootTypeNames.query, 'The root type for querying data', queryFields(registry, model, reads, node));
  const subscriptions = subscriptionFields(registry, model, reads, node);
  const subscriptionType = isEmpty(subscriptions.keys()) ? null : model.subscriptionType;
  if (subscriptionType !== null) {
    const description = 'The root type for live queries: each answers at once, and again whenever its answer changes';
    defineRootType(registry, subscriptionType, description, subscriptions);
  }
  const mutations = mutationFieldsOf(registry, model.tables, routinesOf(registry, routines, true));
  if (!isEmpty(mutations.keys()))
    defineRootType(registry, rootTypeNames.mutation, 'The root type for creating and mutating data', mutations);
  if (model.searchTypes !== null && tables.some(({ isSearchable }) => isSearchable)) defineSearch(registry, model.searchTypes, model);
  yield* defineGroups(registry, tables, values);
  defineNearest(registry, model.measuredInputs);
  defineFusion(registry, tables);
  yield* prepareHubs(registry, tables);
  return new LazySchema(registry, { specifiesScalars, subscriptionType });
}

function isSubscribable({ additions }: Table): boolean {
  return additions.has('subscriptions');
}

function isStreamed({ selectable, additions }: Table): boolean {
  return selectable && additions.has('streams');
}

function defineRootType(registry: TypeRegistry, name: string, description: string, builders: FieldBuilders): void {
  registry.defineAlways(name, () => new LazyObjectType({ name, description, builders: () => builders }));
}

function defineEnumTypes(
  registry: TypeRegistry,
  { typeName, description, values, filtersLists }: EnumType,
  offered: OfferedOperators,
): void {
  const names = values.map(({ name }) => name);
  registry.defineAlways(typeName, () => new DatabaseEnumType(typeName, description, names));
  registry.defineAlways(filterTypeName(typeName), () => enumFilter(registry.enum(typeName), offered));
  if (filtersLists) defineListFilter(registry, listFilterTypeName(typeName), filterTypeName(typeName), offered);
}

function defineDomainTypes(registry: TypeRegistry, domain: DomainType, offered: OfferedOperators): void {
  const { typeName, base } = domain;
  registry.define(typeName, () => domainScalar(domain));
  registry.define(filterTypeName(typeName), () => domainFilter(registry, domain, offered));
  if (base.kind === 'enum' || (isCompared(base) && !isJson(base)))
    defineListFilter(registry, listFilterTypeName(typeName), filterTypeName(typeName), offered);
}

function queryFields(
  registry: TypeRegistry,
  model: Pick<Model, 'tables' | 'lookups'>,
  routines: ReadonlyMap<string, Routine>,
  node: GraphQLInterfaceType,
  has: (table: Table) => boolean = () => true,
): FieldBuilders {
  const tables = model.tables.filter((table) => table.selectable && has(table));
  const lookups = new Map(model.lookups.filter(({ table }) => has(table)).map((lookup) => [lookup.fieldName, lookup]));
  const get: FieldBuilders['get'] = (name) => {
    if (name === nodeFieldName) return () => nodeField(node, registry.nodeIdField);
    for (const { field, stem } of fieldsNamed(name, 'query')) {
      const table = [stem, upperFirst(stem)]
        .map((each) => registry.tableOf(each))
        .find((each) => each?.selectable && lowerFirst(each.stem) === stem);
      if (!table || !has(table)) continue;
      if (field === 'collection') return () => collectionField(registry, table);
      if (table.hasLookup) return () => lookupField(registry, table, table.primaryKey, 'by its primary key');
    }
    const lookup = lookups.get(name);
    if (lookup) return () => uniqueLookupField(registry, lookup);
    return findRoutine(registry, routines, name, 'query');
  };
  const keys = function* () {
    yield nodeFieldName;
    for (const table of tables) {
      if (table.hasLookup) yield tableFieldName(table, 'byPk');
      yield tableFieldName(table, 'collection');
    }
    yield* lookups.keys();
    yield* routines.keys();
    for (const { fieldName } of boundsOf(registry, routines)) yield boundsName(fieldName);
  };
  return { keys, get };
}

/** Those of Query that can be subscribed to, and streams, whose names give way to them. */
function subscriptionFields(
  registry: TypeRegistry,
  model: Model,
  routines: ReadonlyMap<string, Routine>,
  node: GraphQLInterfaceType,
): FieldBuilders {
  const lasting = new Map([...routines].filter(([, { subscribable }]) => subscribable));
  const hasReads = lasting.size > 0 || model.tables.some((table) => table.selectable && isSubscribable(table));
  const reads = hasReads ? queryFields(registry, model, lasting, node, isSubscribable) : noFields;
  const streamOf = (name: string): Table | undefined =>
    fieldsNamed(name, 'subscription')
      .flatMap(({ stem }) => [stem, upperFirst(stem)].map((each) => registry.tableOf(each)))
      .find((table) => table !== undefined && isStreamed(table) && tableFieldName(table, 'stream') === name);
  const get: FieldBuilders['get'] = (name) => {
    const read = reads.get(name);
    if (read) return read;
    const table = streamOf(name);
    return table && (() => streamField(registry, table));
  };
  const keys = function* () {
    yield* reads.keys();
    for (const table of model.tables) {
      const name = tableFieldName(table, 'stream');
      if (isStreamed(table) && !reads.get(name)) yield name;
    }
  };
  return { keys, get };
}

function nodeField(node: GraphQLInterfaceType, nodeIdField: string): FieldConfig {
  return {
    type: node,
    description: 'Retrieve a record by its `ID`',
    args: { [nodeIdField]: { type: new GraphQLNonNull(GraphQLID), description: "The record's `ID`" } },
    ...bindField('query', { kind: 'node' }),
  };
}

function uniqueLookupField(registry: TypeRegistry, { table, columns }: UniqueLookup): FieldConfig {
  const key = columns.flatMap((name) => table.columns.find((column) => column.name === name) ?? []);
  return lookupField(registry, table, key, `by its unique ${columns.map((name) => `\`${name}\``).join(' and ')}`);
}

function lookupField(registry: TypeRegistry, table: Table, key: readonly Column[], how: string): FieldConfig {
  const args: GraphQLFieldConfigArgumentMap = emptyRecord();
  for (const column of key) {
    args[column.fieldName] = {
      type: new GraphQLNonNull(inputTypeOf(column.type, registry)!),
      description: `The record's \`${column.name}\` value`,
      ...bindInput('lookup', { kind: 'column', column }),
    };
  }
  return {
    type: registry.rowOf(table),
    description: `Retrieve a record of type \`${table.typeName}\` ${how}`,
    args,
    ...bindField('query', { kind: 'by key', table }),
  };
}

function collectionField(registry: TypeRegistry, table: Table): FieldConfig {
  return {
    type: new GraphQLNonNull(registry.objectOf(table, 'Connection')),
    description: `A pagable collection of type \`${table.typeName}\``,
    args: collectionArguments(registry, table),
    ...bindField('query', { kind: 'collection', table }),
  };
}

function streamField(registry: TypeRegistry, table: Table): FieldConfig {
  return {
    type: edgesOf(registry, table),
    description: `Records of type \`${table.typeName}\` in an order, each once: those after the cursor, and then those that are added after them`,
    args: streamArguments(registry, table),
    ...bindField('query', { kind: 'stream', table }),
  };
}

function mutationFieldsOf(registry: TypeRegistry, tables: readonly Table[], routines: ReadonlyMap<string, Routine>): FieldBuilders {
  const get: FieldBuilders['get'] = (name) => {
    for (const { field, stem } of fieldsNamed(name, 'mutation')) {
      const table = registry.tableOf(stem);
      const mutation = mutationFields.find((each) => each.field === field)!;
      if (table && mutation.has(table, registry)) return () => mutation.build(registry, table);
    }
    return findRoutine(registry, routines, name, 'mutation');
  };
  const keys = function* () {
    for (const table of tables) for (const { field, has } of mutationFields) if (has(table, registry)) yield tableFieldName(table, field);
    yield* routines.keys();
    for (const { fieldName } of boundsOf(registry, routines)) yield boundsName(fieldName);
  };
  return { keys, get };
}

/** The functions that are fields, by name. Leaves out those with a type that is not in this schema. */
function routinesOf(registry: TypeRegistry, routines: readonly Routine[], volatile: boolean): ReadonlyMap<string, Routine> {
  const fields = routines.filter((routine) => routine.volatile === volatile && hasField(registry, routine));
  return new Map(fields.map((routine) => [routine.fieldName, routine]));
}

function findRoutine(
  registry: TypeRegistry,
  routines: ReadonlyMap<string, Routine>,
  name: string,
  at: 'query' | 'mutation',
): ReturnType<FieldBuilders['get']> {
  const routine = routines.get(name);
  if (routine) return () => ({ ...routineField(registry, routine), ...bindField(at, { kind: 'routine', routine }) });
  const ranges = name.endsWith(boundsName(''))
    ? [...boundsOf(registry, routines)].find((each) => boundsName(each.fieldName) === name)
    : undefined;
  return (
    ranges && (() => ({ ...boundsRoutineField(registry, ranges), ...bindField(at, { kind: 'routine', routine: ranges, asBounds: true }) }))
  );
}

/** The functions whose ranges are objects in a field of their own; not if another field has its name. */
function* boundsOf(registry: TypeRegistry, routines: ReadonlyMap<string, Routine>): Generator<Routine, void> {
  for (const routine of routines.values())
    if (returnsBounds(registry, routine) && !routines.has(boundsName(routine.fieldName))) yield routine;
}

const noFields: FieldBuilders = { keys: () => [], get: () => undefined };

function isEmpty(items: Iterable<unknown>): boolean {
  for (const _ of items) return false;
  return true;
}

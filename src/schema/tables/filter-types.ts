/**
 * The filter types: of scalars, lists of scalars and enums, of a table's rows, and of related rows. For the posts of a blog and the blog of
 * a post:
 *
 *     input BlogFilterToOne { name: StringFilter … is: FilterIs }
 *     input PostFilterToMany { some: PostFilter  every: PostFilter  none: PostFilter  count: IntFilter  where: PostFilter }
 */
import {
  GraphQLEnumType,
  GraphQLID,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLScalarType,
} from 'graphql';
import type { Relation, Table } from '../../model/model.ts';
import { filterTypeName, listFilterTypeName, type SharedTypeName } from '../../model/naming/graphql-names.ts';
import { filterableRows, hasColumnNamedIs, relationsTo } from '../../model/relations/related-rows.ts';
import { isJson } from '../../model/types/named-types.ts';
import { enumOperators, listOperators, type Operator, operators } from '../../model/types/operators.ts';
import { filteredScalars, listedScalars, scalars } from '../../model/types/scalars.ts';
import { type TypeFilterName, typeFilters } from '../../model/types/type-filters.ts';
import type { DomainType, RangeType, ValueType } from '../../model/value-type.ts';
import type { AdditionName } from '../../settings/additions.ts';
import { bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-object-type.ts';
import { inputType, type TableTypes, type TypeRegistry } from '../lazy/type-registry.ts';
import { asChoice, columnInputs, scalarTypes } from '../value-types.ts';
import { nearField } from './geometry-types.ts';
import { jsonFilterOf } from './json-types.ts';
import { rangeOperatorFields } from './range-types.ts';
import { searchFilter } from './search-types.ts';

export const filterIs = new GraphQLEnumType({ name: 'FilterIs' satisfies SharedTypeName, values: { NULL: {}, NOT_NULL: {} }, ...asChoice });

/** A filter with these operators, and `is` if it is given. */
function operatorsType(
  name: string,
  described: string,
  names: readonly Operator[],
  typeOf: (operator: Operator) => GraphQLInputType,
  is?: GraphQLEnumType,
): GraphQLInputObjectType {
  const fields: [string, GraphQLInputFieldConfig][] = names.map((operator) => {
    const { description } = operators[operator];
    return [
      operator,
      { type: typeOf(operator), ...(description && { description }), ...bindInput('operators', { kind: 'operator', operator }) },
    ];
  });
  if (is) fields.push(['is', { type: is, ...bindInput('operators', { kind: 'is' }) }]);
  return new GraphQLInputObjectType({
    name,
    description: `Boolean expression comparing fields on type "${described}"`,
    fields: sorted(Object.fromEntries(fields)),
  });
}

/** The fields in the order of their names. */
function sorted(fields: GraphQLInputFieldConfigMap): GraphQLInputFieldConfigMap {
  return Object.fromEntries(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)));
}

type LeafType = GraphQLScalarType | GraphQLEnumType;

/** Which operators filters have that pg_graphql lacks: those of the addition `moreOperators`, and those of pg_trgm. */
export interface OfferedOperators {
  readonly more: boolean;
  readonly trigrams: boolean;
}

function valueFilter(
  type: LeafType,
  names: readonly Operator[],
  offered: OfferedOperators,
  { name: typeName = filterTypeName(type.name), described = type.name }: { readonly name?: string; readonly described?: string } = {},
): GraphQLInputObjectType {
  const list = new GraphQLList(new GraphQLNonNull(type));
  const chosen = names.filter((name) => (name === 'similarTo' ? offered.trigrams : offered.more || !operators[name].isAddition));
  return operatorsType(typeName, described, chosen, (name) => (operators[name].takesList ? list : type), filterIs);
}

/** The filter of an array. With the addition it also tests its elements, by their own filter, and its length. */
export function listFilter(type: LeafType, elements: (() => GraphQLInputObjectType) | null, length: GraphQLInputObjectType | null) {
  const list = new GraphQLList(new GraphQLNonNull(type));
  const plain = operatorsType(listFilterTypeName(type.name), `${type.name}List`, listOperators, () => list, filterIs);
  if (elements === null || length === null) return plain;
  const { fields, ...config } = plain.toConfig();
  return new GraphQLInputObjectType({
    ...config,
    fields: () => ({
      all: { type: elements(), description: 'All elements match, or there are none', ...bindInput('array operators', { kind: 'all' }) },
      any: { type: elements(), description: 'Any element matches', ...bindInput('array operators', { kind: 'any' }) },
      length: { type: length, description: 'The number of elements', ...bindInput('array operators', { kind: 'length' }) },
      ...fields,
    }),
  });
}

export const idFilter = operatorsType(filterTypeName(GraphQLID.name), GraphQLID.name, ['eq'], () => GraphQLID);

/** The filter types of scalars and lists that every schema has. */
function makeScalarFilters(offered: OfferedOperators): readonly GraphQLInputObjectType[] {
  const filters = new Map(filteredScalars.map((name) => [name, valueFilter(scalarTypes[name], scalars[name].operators, offered)]));
  const length = offered.more ? filters.get('Int')! : null;
  const ofLists = listedScalars.map((name) => listFilter(scalarTypes[name], offered.more ? () => filters.get(name)! : null, length));
  return [...filters.values(), ...ofLists];
}

const scalarFilters = [false, true].flatMap((more) =>
  [false, true].map((trigrams) => ({ more, trigrams, types: makeScalarFilters({ more, trigrams }) })),
);

export function scalarFilterTypes({ more, trigrams }: OfferedOperators): readonly GraphQLInputObjectType[] {
  return scalarFilters.find((each) => each.more === more && each.trigrams === trigrams)!.types;
}

export function enumFilter(type: GraphQLEnumType, offered: OfferedOperators): GraphQLInputObjectType {
  return valueFilter(type, enumOperators, offered);
}

/** The filter of a domain: that of the type it is based on, or of Opaque if that has none. */
export function domainFilter(registry: TypeRegistry, { typeName, base }: DomainType, offered: OfferedOperators): GraphQLInputObjectType {
  const type = registry.scalar(typeName);
  if (base.kind === 'enum') return standingIn(valueFilter(type, enumOperators, offered));
  const names = base.traits.filter === null ? scalars[base.scalar].operators : typeFilters[base.traits.filter].operators;
  const plain = valueFilter(type, names.length > 0 ? names : scalars.Opaque.operators, offered);
  return standingIn(base.range === undefined ? plain : withRangeOperators(plain, registry, base.range));
}

/** Defines the filters of ranges that are no domains. */
export function defineRangeFilters(registry: TypeRegistry): void {
  for (const [scalar, { filter, multirangeFilter }] of registry.rangeTypes) {
    for (const isMulti of [false, true]) {
      const name = isMulti ? multirangeFilter : filter;
      const described = `${isMulti ? 'multirange' : 'range'} of ${scalar}`;
      registry.define(name, () => {
        const plain = operatorsType(name, described, scalars.Opaque.operators, () => scalarTypes.Opaque, filterIs);
        return standingIn(withRangeOperators(plain, registry, { scalar, isMulti }));
      });
    }
  }
}

function withRangeOperators(
  plain: GraphQLInputObjectType,
  registry: TypeRegistry,
  range: Pick<RangeType, 'scalar' | 'isMulti'>,
): GraphQLInputObjectType {
  const { fields, ...config } = plain.toConfig();
  const all = () => Object.entries({ ...fields, ...rangeOperatorFields(registry, range) });
  return new GraphQLInputObjectType({
    ...config,
    fields: () => Object.fromEntries(all().sort(([one], [other]) => (one < other ? -1 : 1))),
  });
}

export const opaqueFilterName = filterTypeName(scalarTypes.Opaque.name);

/** Filters of what is Opaque in pg_graphql. */
const opaqueFilters = new WeakSet<GraphQLNamedType>();

function standingIn(type: GraphQLInputObjectType): GraphQLInputObjectType {
  opaqueFilters.add(type);
  return type;
}

/** Whether pg_graphql has OpaqueFilter instead of the type. */
export function isOpaqueFilter(type: GraphQLNamedType): boolean {
  return opaqueFilters.has(type);
}

/** The filter of a type that is Opaque, under the name that it has in this schema. */
export function typeFilter(
  registry: TypeRegistry,
  filter: TypeFilterName,
  name: string,
  offered: OfferedOperators,
): GraphQLInputObjectType {
  const { described, operators: names, addition } = typeFilters[filter];
  if (addition === 'geometry' && registry.geoTypes !== null) {
    const { fields, ...config } = valueFilter(registry.scalar(registry.geoTypes.scalar), names, offered, { name, described }).toConfig();
    return standingIn(
      new GraphQLInputObjectType({ ...config, fields: sorted({ ...nearField(registry.input(registry.geoTypes.near)), ...fields }) }),
    );
  }
  return standingIn(valueFilter(scalarTypes.Opaque, names, offered, { name, described }));
}

/** The filter type for values of this type; undefined for JSON, its lists, and rows of tables. */
export function filterTypeOf(type: ValueType, registry: TypeRegistry, hasRanges = false): GraphQLInputObjectType | undefined {
  if (type.kind === 'row' || type.kind === 'row list') return compositeFilterOf(type.table, type.kind === 'row list', registry);
  const of = type.kind === 'list' ? type.element : type;
  if (of.kind !== 'scalar' && of.kind !== 'enum') return undefined;
  const own = of.kind === 'enum' ? of.enum.typeName : of.domain?.typeName;
  const filter = type.kind === 'scalar' && own === undefined && type.traits.filter !== null && registry.typeFilters.get(type.traits.filter);
  if (filter) return registry.input(filter);
  const range = type.kind === 'scalar' && own === undefined ? type.range : undefined;
  const ofRanges = range && registry.rangeTypes.get(range.scalar);
  if (ofRanges && hasRanges) return registry.input(range.isMulti ? ofRanges.multirangeFilter : ofRanges.filter);
  const names = [own, of.kind === 'scalar' ? of.scalar : undefined].filter((name) => name !== undefined);
  const found = names.map(type.kind === 'list' ? listFilterTypeName<string> : filterTypeName<string>).find((name) => registry.has(name));
  return found === undefined ? undefined : registry.input(found);
}

function compositeFilterOf({ composite }: Table, isList: boolean, registry: TypeRegistry): GraphQLInputObjectType | undefined {
  const name = (isList ? composite?.listFilterName : composite?.filterName) ?? null;
  return name !== null && registry.has(name) ? registry.input(name) : undefined;
}

/** The filter of every table, and those that tables with the addition which refer to it have. */
export const filterTypes = {
  Filter: inputType(() => true, filterFields),
  FilterToOne: inputType(
    (table, registry) => hasReferrer(table, registry, 'relationFilters', 'to-one'),
    toOneFields,
    (typeName) => `Filters records by their related \`${typeName}\` record`,
  ),
  FilterToMany: inputType(
    (table, registry) => hasReferrer(table, registry, 'relationFilters', 'to-many') || filtersLineages(table),
    toManyFields,
    (typeName) => `Filters records by their related \`${typeName}\` records`,
  ),
} as const satisfies Partial<TableTypes>;

/** Only a table that refers to itself has lineages, which is known without building it. */
function filtersLineages(table: Table): boolean {
  return table.additions.has('relationFilters') && table.referrers.includes(table) && table.lineages.length > 0;
}

function filterFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const columns = columnFilters(registry, table);
  // The order of keys is pg_graphql's. A column with the name of a combinator replaces it.
  const fields = {
    ...columns,
    [registry.nodeIdField]: { type: idFilter, ...bindInput('filter', { kind: 'node id' }) },
    ...combinators(registry.inputOf(table, 'Filter')),
    ...columns,
    ...relatedRowsFields(registry, table),
  };
  return { ...fields, ...searchFilter(registry, table, fields) };
}

/** The filters of columns, or of the attributes of a composite type. */
export function columnFilters(registry: TypeRegistry, { columns, additions }: Table): GraphQLInputFieldConfigMap {
  const comparable = columns.filter((column) => column.selectable && column.comparable);
  return columnInputs('filter', comparable, 'filterName', ({ type, shape }) => {
    if (shape !== null) return compositeFilterOf(shape.table, shape.isList, registry);
    return isJson(type) && additions.has('json') ? jsonFilterOf(registry) : filterTypeOf(type, registry, additions.has('ranges'));
  });
}

export function combinators(self: GraphQLInputObjectType): GraphQLInputFieldConfigMap {
  const list = new GraphQLList(new GraphQLNonNull(self));
  return {
    and: {
      type: list,
      description: 'Returns true only if all its inner filters are true, otherwise returns false',
      ...bindInput('filter', { kind: 'and' }),
    },
    or: {
      type: list,
      description: 'Returns true if at least one of its inner filters is true, otherwise returns false',
      ...bindInput('filter', { kind: 'or' }),
    },
    not: { type: self, description: 'Negates a filter', ...bindInput('filter', { kind: 'not' }) },
  };
}

function relatedRowsFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  if (!table.additions.has('relationFilters')) return fields;
  for (const rows of filterableRows(table, registry.nodeIdField).usable) {
    const type = registry.inputOf(rows.target, rows.many ? 'FilterToMany' : 'FilterToOne');
    fields[rows.fieldName] = { type, ...bindInput('filter', { kind: 'related rows', rows }) };
  }
  return fields;
}

function toOneFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const is = {
    type: filterIs,
    description: `Whether there is a related \`${table.typeName}\` record that the role may read`,
    ...bindInput('filter to one', { kind: 'is' }),
  };
  return { ...filterFields(registry, table), ...(!hasColumnNamedIs(table) && { is }) };
}

function toManyFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const type = registry.inputOf(table, 'Filter');
  const quantified = (kind: 'some' | 'every' | 'none', description: string) => ({
    type,
    description,
    ...bindInput('filter to many', { kind }),
  });
  return {
    some: quantified('some', 'At least one of them matches the filter'),
    every: quantified('every', 'All of them match the filter, or there are none'),
    none: quantified('none', 'None of them matches the filter'),
    count: {
      type: registry.input(filterTypeName('Int')),
      description: 'The number of related records, or of those that match `where`',
      ...bindInput('filter to many', { kind: 'count' }),
    },
    where: { type, description: 'The related records that `count` counts', ...bindInput('filter to many', { kind: 'where' }) },
  };
}

/** Whether a table with this addition has a relation or computed field that leads to one row of `table` (or to many). */
export function hasReferrer(table: Table, registry: TypeRegistry, addition: AdditionName, kind: Relation['kind']): boolean {
  const result = kind === 'to-one' ? 'row' : 'rows';
  return table.referrers.some(
    (referrer) =>
      referrer.additions.has(addition) &&
      registry.hasOf(referrer, 'Filter') &&
      (relationsTo(referrer, table).some((relation) => relation.kind === kind && !relation.onlyInRows) ||
        referrer.computed.some(
          (routine) => routine.arguments.length === 0 && routine.result.kind === result && routine.result.table === table,
        )),
  );
}

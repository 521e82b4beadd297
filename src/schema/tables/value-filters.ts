/** The filter types of values: of scalars, enums, domains, ranges and lists of these. */
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
  getNullableType,
  isInputObjectType,
} from 'graphql';
import type { Additions } from '../../model/additions.ts';
import { elementFilterNamesOf, filterNamesOf, listFilterNameOf } from '../../model/naming/filter-names.ts';
import { filterTypeName, listFilterTypeName, type SharedTypeName } from '../../model/naming/graphql-names.ts';
import { enumOperators, listOperators, type Operator, operators } from '../../model/types/operators.ts';
import { filteredScalars, listedScalars, scalars } from '../../model/types/scalars.ts';
import { type TypeFilterName, typeFilters } from '../../model/types/type-filters.ts';
import type { DomainType, RangeType, ValueType } from '../../model/value-type.ts';
import { bindInput } from '../bindings.ts';
import type { TypeRegistry } from '../lazy/type-registry.ts';
import { asChoice, scalarTypes } from '../value-types.ts';
import { nearField } from './geometry-types.ts';
import { rangeListFields, rangeOperatorFields } from './range-types.ts';

export const filterIs = new GraphQLEnumType({ name: 'FilterIs' satisfies SharedTypeName, values: { NULL: {}, NOT_NULL: {} }, ...asChoice });

/** A filter with these operators, and `is` if it is given. */
function operatorsType(
  name: string,
  described: string,
  names: readonly Operator[],
  typeOf: (operator: Operator) => GraphQLInputType,
  is?: GraphQLEnumType,
): GraphQLInputObjectType {
  return new GraphQLInputObjectType({ name, description: describe(described), fields: operatorFields(names, typeOf, is) });
}

function describe(typeName: string): string {
  return `Boolean expression comparing fields on type "${typeName}"`;
}

function operatorFields(
  names: readonly Operator[],
  typeOf: (operator: Operator) => GraphQLInputType,
  is?: GraphQLEnumType,
): GraphQLInputFieldConfigMap {
  const fields: [string, GraphQLInputFieldConfig][] = names.map((operator) => {
    const { description } = operators[operator];
    return [
      operator,
      { type: typeOf(operator), ...(description && { description }), ...bindInput('operators', { kind: 'operator', operator }) },
    ];
  });
  if (is) fields.push(['is', { type: is, ...bindInput('operators', { kind: 'is' }) }]);
  return sorted(Object.fromEntries(fields));
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

/** Of an array, whether a list of elements has what it has, or equals it, and tests of its elements, which have the filter `of`. */
interface ListFilter {
  readonly name: string;
  readonly of: GraphQLInputObjectType;
  readonly length: GraphQLInputObjectType;
}

function listFilter({ name, of, length }: ListFilter, { more }: OfferedOperators): GraphQLInputObjectType {
  const listOf = (operator: 'eq' | 'equalTo') => new GraphQLList(new GraphQLNonNull(getNullableType(of.getFields()[operator]!.type)));
  const fields = (): GraphQLInputFieldConfigMap => ({
    ...(more && elementTests(of, length)),
    ...sorted({
      ...operatorFields(listOperators, () => listOf('eq'), filterIs),
      // An array of multiranges is compared with their texts.
      ...(isInputObjectType(of.getFields()['equalTo']?.type) && rangeListFields(listOf('equalTo'))),
    }),
  });
  return new GraphQLInputObjectType({ name, description: describe(`${of.name.replace(/Filter(\d*)$/, '$1')}List`), fields });
}

/** Tests of the elements of arrays, by their own filter, and of their number. */
export function elementTests(of: GraphQLInputObjectType, length: GraphQLInputObjectType): GraphQLInputFieldConfigMap {
  return {
    all: { type: of, description: 'All elements match, or there are none', ...bindInput('array operators', { kind: 'all' }) },
    any: { type: of, description: 'Any element matches', ...bindInput('array operators', { kind: 'any' }) },
    length: { type: length, description: 'The number of elements', ...bindInput('array operators', { kind: 'length' }) },
  };
}

/** Defines the filter of arrays whose elements have the filter `of`. */
export function defineListFilter(registry: TypeRegistry, name: string, of: string, offered: OfferedOperators): void {
  registry.define(name, () => listFilter({ name, of: registry.input(of), length: registry.input(filterTypeName('Int')) }, offered));
}

export const idFilter = operatorsType(filterTypeName(GraphQLID.name), GraphQLID.name, ['eq'], () => GraphQLID);

/** The filter types of scalars and lists that every schema has. */
function makeScalarFilters(offered: OfferedOperators): readonly GraphQLInputObjectType[] {
  const filters = new Map(filteredScalars.map((name) => [name, valueFilter(scalarTypes[name], scalars[name].operators, offered)]));
  const length = filters.get('Int')!;
  const ofLists = listedScalars.map((name) => listFilter({ name: listFilterTypeName(name), of: filters.get(name)!, length }, offered));
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
  return new GraphQLInputObjectType({ ...config, fields: () => sorted({ ...fields, ...rangeOperatorFields(registry, range) }) });
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

/**
 * The filter of values of a type, in a table with these additions; undefined for what has none: JSON without its addition, arrays of what
 * PostgreSQL cannot compare, and rows of tables.
 */
export function filterTypeOf(type: ValueType, registry: TypeRegistry, additions: Additions): GraphQLInputObjectType | undefined {
  const found = filterNames(type, registry, additions).find((name) => registry.has(name));
  return found === undefined ? undefined : registry.input(found);
}

function filterNames(type: ValueType, registry: TypeRegistry, additions: Additions): readonly string[] {
  if (type.kind === 'scalar' || type.kind === 'enum') return filterNamesOf(type, additions, registry);
  if (type.kind !== 'list') return [];
  return elementFilterNamesOf(type.element, additions, registry).map((name) => registry.listFilters.get(name) ?? listFilterNameOf(name));
}

/**
 * The filter types of scalars, lists of scalars and enums, and `FilterIs`. The names of their fields are the operators that `plan/` reads.
 */
import {
  GraphQLEnumType,
  GraphQLID,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
} from 'graphql';
import {
  type FilteredScalar,
  filteredScalars,
  filterTypeName,
  listedScalars,
  listFilterTypeName,
  type ScalarName,
  type SharedTypeName,
} from '../model/graphql-names.ts';
import type { ValueType } from '../model/model.ts';
import { scalarTypes } from './scalars.ts';

export const filterIs = new GraphQLEnumType({ name: 'FilterIs' satisfies SharedTypeName, values: { NULL: {}, NOT_NULL: {} } });

const equality = ['eq'] as const;
const membership = ['eq', 'in', 'neq'] as const;
const comparison = ['eq', 'gt', 'gte', 'in', 'lt', 'lte', 'neq'] as const;
const text = [...comparison, 'ilike', 'iregex', 'like', 'regex', 'startsWith'] as const;

/** Operators of each scalar, besides `is`. JSON has no filter. */
const operators: Readonly<Record<FilteredScalar, readonly string[]>> = {
  Int: comparison,
  Float: comparison,
  String: text,
  Boolean: equality,
  BigInt: comparison,
  BigFloat: comparison,
  UUID: membership,
  Date: comparison,
  Time: comparison,
  Datetime: comparison,
  Opaque: equality,
};
const listOperators = ['containedBy', 'contains', 'eq', 'overlaps'] as const;

function operatorsType(name: string, described: string, fields: Record<string, GraphQLInputType>): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name,
    description: `Boolean expression comparing fields on type "${described}"`,
    fields: Object.fromEntries(
      Object.entries(fields)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([field, type]) => [field, { type }]),
    ),
  });
}

function valueFilter(type: GraphQLScalarType | GraphQLEnumType, names: readonly string[]): GraphQLInputObjectType {
  const list = new GraphQLList(new GraphQLNonNull(type));
  return operatorsType(filterTypeName(type.name), type.name, {
    ...Object.fromEntries(names.map((name) => [name, name === 'in' ? list : type])),
    is: filterIs,
  });
}

function listFilter(type: GraphQLScalarType): GraphQLInputObjectType {
  const list = new GraphQLList(new GraphQLNonNull(type));
  return operatorsType(listFilterTypeName(type.name), `${type.name}List`, {
    ...Object.fromEntries(listOperators.map((name) => [name, list])),
    is: filterIs,
  });
}

const scalarFilters: ReadonlyMap<ScalarName, GraphQLInputObjectType> = new Map(
  filteredScalars.map((name) => [name, valueFilter(scalarTypes[name], operators[name])]),
);
const listFilters: ReadonlyMap<ScalarName, GraphQLInputObjectType> = new Map(
  listedScalars.map((name) => [name, listFilter(scalarTypes[name])]),
);

export const idFilter = operatorsType(filterTypeName(GraphQLID.name), GraphQLID.name, { eq: GraphQLID });

/** The filter types of scalars and lists, which every schema has. */
export const scalarFilterTypes: readonly GraphQLInputObjectType[] = [...scalarFilters.values(), ...listFilters.values()];

export function enumFilter(type: GraphQLEnumType): GraphQLInputObjectType {
  return valueFilter(type, membership);
}

/** The filter type for a column of this type; undefined for JSON, lists of enums, and rows. */
export function filterTypeOf(
  type: ValueType,
  enumFilterOf: (typeName: string) => GraphQLInputObjectType | undefined,
): GraphQLInputObjectType | undefined {
  switch (type.kind) {
    case 'scalar':
      return scalarFilters.get(type.scalar);
    case 'enum':
      return enumFilterOf(type.enum.typeName);
    case 'list':
      return type.element.kind === 'scalar' ? listFilters.get(type.element.scalar) : undefined;
    default:
      return undefined;
  }
}

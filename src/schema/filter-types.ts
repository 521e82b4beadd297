/**
 * The input types that filters are made of: operators for each scalar, for lists of it, for enums, and `FilterIs`.
 * An operator's name is its meaning; `plan/` reads it.
 */
import {
  GraphQLEnumType,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLScalarType,
} from 'graphql';
import type { ScalarName, ValueType } from '../model/model.ts';
import { idScalar, scalarTypes } from './scalars.ts';

export const filterIs = new GraphQLEnumType({ name: 'FilterIs', values: { NULL: {}, NOT_NULL: {} } });

const equality = ['eq'] as const;
const membership = ['eq', 'in', 'neq'] as const;
const comparison = ['eq', 'gt', 'gte', 'in', 'lt', 'lte', 'neq'] as const;
const text = [...comparison, 'ilike', 'iregex', 'like', 'regex', 'startsWith'] as const;

/** Which operators a scalar has, besides `is`. JSON has no filter. */
const operators: Readonly<Partial<Record<ScalarName, readonly string[]>>> = {
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
  return operatorsType(`${type.name}Filter`, type.name, {
    ...Object.fromEntries(names.map((name) => [name, name === 'in' ? list : type])),
    is: filterIs,
  });
}

function listFilter(type: GraphQLScalarType): GraphQLInputObjectType {
  const list = new GraphQLList(new GraphQLNonNull(type));
  return operatorsType(`${type.name}ListFilter`, `${type.name}List`, {
    ...Object.fromEntries(listOperators.map((name) => [name, list])),
    is: filterIs,
  });
}

const scalarFilters = new Map<ScalarName, GraphQLInputObjectType>();
const listFilters = new Map<ScalarName, GraphQLInputObjectType>();
for (const [scalarName, names] of Object.entries(operators)) {
  const type = scalarTypes[scalarName as ScalarName];
  scalarFilters.set(scalarName as ScalarName, valueFilter(type, names));
  if (scalarName !== 'Opaque') listFilters.set(scalarName as ScalarName, listFilter(type));
}

export const idFilter = operatorsType('IDFilter', 'ID', { eq: idScalar });

/** The filter types that every schema has. */
export const commonFilterTypes: readonly GraphQLNamedType[] = [...scalarFilters.values(), ...listFilters.values(), idFilter, filterIs];

/** The filter type of an enum. */
export function enumFilter(type: GraphQLEnumType): GraphQLInputObjectType {
  return valueFilter(type, membership);
}

/** The filter type of a column of this type; undefined where it cannot be filtered by (JSON, lists of enums, rows). */
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

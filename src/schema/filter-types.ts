/**
 * The filter types of scalars, lists of scalars and enums, and `FilterIs`.
 */
import {
  GraphQLEnumType,
  GraphQLID,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
} from 'graphql';
import { filterTypeName, listFilterTypeName, type SharedTypeName } from '../model/graphql-names.ts';
import type { ValueType } from '../model/model.ts';
import { enumOperators, listOperators, type Operator, operators } from '../model/types/operators.ts';
import { filteredScalars, listedScalars, type ScalarName, scalars } from '../model/types/scalars.ts';
import { bindInput } from './bindings.ts';
import { scalarTypes } from './scalars.ts';

export const filterIs = new GraphQLEnumType({ name: 'FilterIs' satisfies SharedTypeName, values: { NULL: {}, NOT_NULL: {} } });

/** A filter with these operators, and `is` if it is given. */
function operatorsType(
  name: string,
  described: string,
  names: readonly Operator[],
  typeOf: (operator: Operator) => GraphQLInputType,
  is?: GraphQLEnumType,
): GraphQLInputObjectType {
  const fields: [string, GraphQLInputFieldConfig][] = names.map((operator) => {
    return [operator, { type: typeOf(operator), ...bindInput('operators', { kind: 'operator', operator }) }];
  });
  if (is) fields.push(['is', { type: is, ...bindInput('operators', { kind: 'is' }) }]);
  return new GraphQLInputObjectType({
    name,
    description: `Boolean expression comparing fields on type "${described}"`,
    fields: Object.fromEntries(fields.sort(([one], [other]) => (one < other ? -1 : 1))),
  });
}

function valueFilter(type: GraphQLScalarType | GraphQLEnumType, names: readonly Operator[]): GraphQLInputObjectType {
  const list = new GraphQLList(new GraphQLNonNull(type));
  return operatorsType(filterTypeName(type.name), type.name, names, (name) => (operators[name].takesList ? list : type), filterIs);
}

function listFilter(type: GraphQLScalarType): GraphQLInputObjectType {
  const list = new GraphQLList(new GraphQLNonNull(type));
  return operatorsType(listFilterTypeName(type.name), `${type.name}List`, listOperators, () => list, filterIs);
}

const scalarFilters: ReadonlyMap<ScalarName, GraphQLInputObjectType> = new Map(
  filteredScalars.map((name) => [name, valueFilter(scalarTypes[name], scalars[name].operators)]),
);
const listFilters: ReadonlyMap<ScalarName, GraphQLInputObjectType> = new Map(
  listedScalars.map((name) => [name, listFilter(scalarTypes[name])]),
);

export const idFilter = operatorsType(filterTypeName(GraphQLID.name), GraphQLID.name, ['eq'], () => GraphQLID);

/** The filter types of scalars and lists, which every schema has. */
export const scalarFilterTypes: readonly GraphQLInputObjectType[] = [...scalarFilters.values(), ...listFilters.values()];

export function enumFilter(type: GraphQLEnumType): GraphQLInputObjectType {
  return valueFilter(type, enumOperators);
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

/**
 * The input types of JSON, which all tables share:
 *
 *     input JSONFilter { contains: JSON  hasKey: String  matches: JSONPath … is: FilterIs }
 *     input JSONPath { path: String!  vars: JSON }
 *     input JSONChange { merge: JSON  removePath: [[String!]!]  setPath: [JSONPathValue!] }
 */
import {
  type GraphQLArgumentConfig,
  GraphQLEnumType,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import type { JsonTypeNames } from '../../model/model.ts';
import { jsonValueTypes } from '../../model/types/named-types.ts';
import { type JsonOperator, jsonOperators } from '../../model/types/operators.ts';
import { bindInput } from '../bindings.ts';
import type { TypeRegistry } from '../lazy/type-registry.ts';
import { asChoice, orderByDirection } from '../value-types.ts';

/** `json`: the scalar of JSON; `filterIs`: the type of the operator that tests for null. */
export function defineJsonTypes(registry: TypeRegistry, json: GraphQLScalarType, filterIs: GraphQLEnumType): void {
  const names = registry.jsonTypes;
  if (names === null) return;
  defineJsonOrder(registry, names);
  registry.define(names.path, () => pathType(names.path, json));
  registry.define(names.pathValue, () => pathValueType(names.pathValue, json));
  registry.define(names.change, () => changeType(names.change, json, registry.input(names.pathValue)));
  registry.define(names.filter, () => filterType(names.filter, json, registry.input(names.path), filterIs));
}

function filterType(
  name: string,
  json: GraphQLScalarType,
  path: GraphQLInputObjectType,
  filterIs: GraphQLEnumType,
): GraphQLInputObjectType {
  const types: Record<(typeof jsonOperators)[JsonOperator]['takes'], GraphQLInputType> = {
    json,
    key: GraphQLString,
    keys: new GraphQLList(new GraphQLNonNull(GraphQLString)),
    path,
  };
  const fieldOf = (operator: JsonOperator): GraphQLInputFieldConfig => {
    const { takes, description } = jsonOperators[operator];
    return { type: types[takes], description, ...bindInput('json operators', { kind: 'json operator', operator }) };
  };
  const is: GraphQLInputFieldConfig = { type: filterIs, ...bindInput('operators', { kind: 'is' }) };
  const operators = Object.keys(jsonOperators) as JsonOperator[];
  const fields = [...operators.map((operator) => [operator, fieldOf(operator)] as const), ['is', is] as const];
  return new GraphQLInputObjectType({
    name,
    description: `Boolean expression comparing fields on type "${json.name}"`,
    fields: Object.fromEntries(fields.sort(([one], [other]) => (one < other ? -1 : 1))),
  });
}

/** Keys of objects and positions in arrays. */
const keysType = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString)));

const pathField = {
  description: 'Keys of objects and positions in arrays: `["size", "width"]`',
  ...bindInput('json value', { kind: 'path' }),
};
const direction = { type: new GraphQLNonNull(orderByDirection), ...bindInput('json value', { kind: 'direction' }) };

/** What is at a path, and as what. */
function jsonValueFields(registry: TypeRegistry, { valueType }: JsonTypeNames): GraphQLInputFieldConfigMap {
  const as = { type: new GraphQLNonNull(registry.enum(valueType)), default: { value: 'TEXT' }, ...bindInput('json value', { kind: 'as' }) };
  return { path: { type: keysType, ...pathField }, as };
}

/** The input that orders rows by what is at a path, and the enum of the types of values. */
function defineJsonOrder(registry: TypeRegistry, names: JsonTypeNames): void {
  const { order, valueType } = names;
  const values = Object.fromEntries(Object.entries(jsonValueTypes).map(([name, { description }]) => [name, { description }]));
  const ofValues = 'As what a value in JSON orders or groups records';
  registry.define(valueType, () => new GraphQLEnumType({ name: valueType, description: ofValues, values, ...asChoice }));
  const description = 'Orders records by what is at a path of JSON';
  const fields = () => ({ ...jsonValueFields(registry, names), direction });
  registry.define(order, () => new GraphQLInputObjectType({ name: order, description, fields }));
}

/** The inputs that group rows by what is at a path, and order the groups. */
export function defineJsonGroups(registry: TypeRegistry): void {
  const names = registry.jsonTypes;
  if (names === null) return;
  const { group, groupOrder } = names;
  const fields = () => jsonValueFields(registry, names);
  registry.define(group, () => new GraphQLInputObjectType({ name: group, description: 'What is at a path of JSON', fields }));
  const optional = { ...pathField, type: keysType.ofType, description: 'Which path of the column in `by`, if it has several there' };
  const description = 'Orders groups by what is at a path of JSON';
  registry.define(groupOrder, () => new GraphQLInputObjectType({ name: groupOrder, description, fields: { path: optional, direction } }));
}

function pathType(name: string, json: GraphQLScalarType): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name,
    description: 'A path of the SQL/JSON path language, and the values of its variables',
    fields: {
      path: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'Such as `$.size ? (@.width > $least)`',
        ...bindInput('json path', { kind: 'path' }),
      },
      vars: {
        type: json,
        description: 'An object with a member for each variable: `{"least": 3}`',
        ...bindInput('json path', { kind: 'vars' }),
      },
    },
  });
}

/** The argument that leads to a part of JSON. */
export const jsonPath: GraphQLArgumentConfig = {
  type: new GraphQLList(new GraphQLNonNull(GraphQLString)),
  description: 'Keys of objects and positions in arrays that lead to the part to return: `["size", "width"]`, `["tags", "0"]`',
};

function changeType(name: string, json: GraphQLScalarType, pathValue: GraphQLInputObjectType): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name,
    description: 'Changes of a part of JSON: first what is merged, then what is removed, then what is set',
    fields: {
      merge: {
        type: json,
        description: 'An object whose members replace those with the same keys, or what to append to an array',
        ...bindInput('json change', { kind: 'merge' }),
      },
      removePath: {
        type: new GraphQLList(keysType),
        description: 'Paths of what to remove: `[["size", "width"], ["tags", "0"]]`',
        ...bindInput('json change', { kind: 'remove paths' }),
      },
      setPath: {
        type: new GraphQLList(new GraphQLNonNull(pathValue)),
        description: 'Values to set at paths; objects that are missing on the way are made',
        ...bindInput('json change', { kind: 'set paths' }),
      },
    },
  });
}

function pathValueType(name: string, json: GraphQLScalarType): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name,
    description: 'A value at a path',
    fields: {
      path: {
        type: keysType,
        description: 'Keys of objects and positions in arrays: `["size", "width"]`',
        ...bindInput('json assignment', { kind: 'path' }),
      },
      value: { type: json, description: "Null is JSON's null", ...bindInput('json assignment', { kind: 'value' }) },
    },
  });
}

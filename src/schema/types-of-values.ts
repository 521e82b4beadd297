/** Maps the model's value types to GraphQL types, for output and input. */
import { type GraphQLEnumType, GraphQLList, type GraphQLNullableOutputType, type GraphQLScalarType } from 'graphql';
import type { EnumValueType, ListType, ScalarType, ValueType } from '../model/model.ts';
import { scalarTypes } from './scalars.ts';
import type { TypeRegistry } from './type-registry.ts';

/** The output type, nullable; undefined if no field can have it. */
export function outputTypeOf(type: ValueType, registry: TypeRegistry): GraphQLNullableOutputType | undefined {
  switch (type.kind) {
    case 'scalar':
    case 'enum':
    case 'list':
      return inputTypeOf(type, registry);
    case 'row':
      return registry.hasOf(type.table, 'row') ? registry.rowOf(type.table) : undefined;
    case 'row list':
      return registry.hasOf(type.table, 'row') ? new GraphQLList(registry.rowOf(type.table)) : undefined;
    case 'composite':
    case 'unsupported':
      return undefined;
  }
}

/** The input type, nullable; undefined if its enum is not in this schema. */
export function inputTypeOf(
  type: ScalarType | EnumValueType | ListType,
  registry: TypeRegistry,
): GraphQLScalarType | GraphQLEnumType | GraphQLList<GraphQLScalarType | GraphQLEnumType> | undefined {
  switch (type.kind) {
    case 'scalar':
      return scalarTypes[type.scalar];
    case 'enum':
      return registry.has(type.enum.typeName) ? registry.enum(type.enum.typeName) : undefined;
    case 'list': {
      const element = inputTypeOf(type.element, registry) as GraphQLScalarType | GraphQLEnumType | undefined;
      return element && new GraphQLList(element);
    }
  }
}

/** Whether a value of this type can be written or passed as an argument. */
export function isInputValue(type: ValueType): type is ScalarType | EnumValueType | ListType {
  return type.kind === 'scalar' || type.kind === 'enum' || type.kind === 'list';
}

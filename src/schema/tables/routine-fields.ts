/** Builds the field of a function, with its arguments and result, as a root field or computed field. */
import { type GraphQLFieldConfig, type GraphQLFieldConfigArgumentMap, GraphQLList, GraphQLNonNull, type GraphQLOutputType } from 'graphql';
import type { Routine } from '../../model/model.ts';
import { bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-fields.ts';
import type { TypeRegistry } from '../lazy/type-registry.ts';
import { inputTypeOf, outputTypeOf, scalarTypes } from '../value-types.ts';
import { collectionArguments } from './connection-types.ts';

/** The field; undefined if one of its types is not in this schema. */
export function routineFieldConfig(registry: TypeRegistry, routine: Routine): GraphQLFieldConfig<unknown, unknown> | undefined {
  const type = resultType(registry, routine);
  const args = argumentsOf(registry, routine);
  if (!type || !args) return undefined;
  const { result } = routine;
  return {
    type,
    description: routine.description,
    args: result.kind === 'rows' ? { ...args, ...collectionArguments(registry, result.table) } : args,
  };
}

/** Whether all types of the field are in this schema. Does not build any of a table's types. */
export function hasField(registry: TypeRegistry, { result, arguments: args }: Routine): boolean {
  const hasResult =
    result.kind === 'void' ||
    (result.kind === 'value' ? outputTypeOf(result.type, registry) !== undefined : registry.hasOf(result.table, 'row'));
  return hasResult && args.every(({ type }) => inputTypeOf(type, registry));
}

function resultType(registry: TypeRegistry, { result }: Routine): GraphQLOutputType | undefined {
  switch (result.kind) {
    case 'void':
      return scalarTypes.Opaque;
    case 'value':
      return outputTypeOf(result.type, registry);
    case 'row list':
      return registry.hasOf(result.table, 'row') ? new GraphQLList(registry.rowOf(result.table)) : undefined;
    case 'row':
      return registry.hasOf(result.table, 'row') ? registry.rowOf(result.table) : undefined;
    case 'rows':
      return registry.hasOf(result.table, 'row') ? registry.objectOf(result.table, 'Connection') : undefined;
  }
}

function argumentsOf(registry: TypeRegistry, routine: Routine): GraphQLFieldConfigArgumentMap | undefined {
  const args: GraphQLFieldConfigArgumentMap = emptyRecord();
  for (const argument of routine.arguments) {
    const type = inputTypeOf(argument.type, registry);
    if (!type) return undefined;
    args[argument.argumentName] = {
      type: argument.required ? new GraphQLNonNull(type) : type,
      ...(argument.defaultValue !== undefined && { default: { value: argument.defaultValue } }),
      ...bindInput('routine', { kind: 'argument', argument }),
    };
  }
  return args;
}

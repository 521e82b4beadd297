/**
 * Coerces an argument in a valid document to an `InputValue`: literals become constants, and variables their coerced values
 * (https://spec.graphql.org/October2021/#sec-Input-Values).
 */
import {
  type GraphQLArgument,
  GraphQLBoolean,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type ValueNode,
} from 'graphql';
import { ApiError, shorten } from '../../errors/api-error.ts';
import { errorWithin } from '../../errors/input-path.ts';
import { inputBinding } from '../../schema/bindings.ts';
import { literalText } from '../../schema/value-types.ts';
import { sentName } from '../lenient/adapt-document.ts';
import type { InputEntry, InputValue } from '../operation.ts';
import { leafValue } from './coerce-leaf.ts';

/** Coerces the value; undefined for a variable that was not sent. */
export function coerceInputLiteral(
  type: GraphQLInputType,
  node: ValueNode,
  variables: ReadonlyMap<string, InputValue>,
): InputValue | undefined {
  if (node.kind === Kind.VARIABLE) return readVariable(type, node.name.value, variables);
  if (isNonNullType(type)) return coerceInputLiteral(type.ofType, node, variables);
  if (node.kind === Kind.NULL) return null;
  if (isListType(type)) {
    const nodes = node.kind === Kind.LIST ? node.values : [node];
    return { kind: 'list', items: nodes.map((item, index) => coerceWithin(index, type.ofType, item, variables) ?? null) };
  }
  if (isInputObjectType(type)) {
    const fields = type.getFields();
    const entries: InputEntry[] = [];
    const unsent: string[] = [];
    for (const { name, value: itemNode } of node.kind === Kind.OBJECT ? node.fields : []) {
      const field = fields[name.value]!;
      if (isDefaulted(field, itemNode, variables)) continue;
      const value = coerceWithin(name.value, field.type, itemNode, variables);
      if (value === undefined) unsent.push(name.value);
      else entries.push({ name: name.value, binding: inputBinding(field), value });
    }
    return unsent.length > 0 ? { kind: 'object', entries, unsent } : { kind: 'object', entries };
  }
  const text = literalText(node);
  return leafValue(type, type === GraphQLBoolean ? text === 'true' : text, (value) => ({ kind: 'constant', value }));
}

/** Coerces a part of a value and adds its key to errors. */
function coerceWithin(
  key: string | number,
  type: GraphQLInputType,
  node: ValueNode,
  variables: ReadonlyMap<string, InputValue>,
): InputValue | undefined {
  try {
    return coerceInputLiteral(type, node, variables);
  } catch (error) {
    throw errorWithin(error, key);
  }
}

/** Whether a null variable stands for a non-null argument or field with a default, which then counts as absent, as in pg_graphql. */
export function isDefaulted(
  { default: fallback, type }: Pick<GraphQLArgument, 'default' | 'type'>,
  node: ValueNode,
  variables: ReadonlyMap<string, InputValue>,
): boolean {
  return fallback !== undefined && isNonNullType(type) && node.kind === Kind.VARIABLE && variables.get(node.name.value) === null;
}

function readVariable(type: GraphQLInputType, name: string, variables: ReadonlyMap<string, InputValue>): InputValue | undefined {
  const value = variables.get(name);
  if (value === null && isNonNullType(type))
    throw new ApiError('BAD_USER_INPUT', `Variable "$${shorten(sentName(name))}" is null, but ${type} is expected.`);
  return value;
}

import {
  type GraphQLArgument,
  GraphQLBoolean,
  type GraphQLEnumType,
  GraphQLError,
  GraphQLID,
  type GraphQLInputType,
  type GraphQLScalarType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  type ValueNode,
} from 'graphql';
import { ApiError, describeValue, shorten } from '../../errors/api-error.ts';
import { errorWithin } from '../../errors/input-path.ts';
import { scalarNamed } from '../../model/types/scalars.ts';
import { inputBinding } from '../../schema/bindings.ts';
import { filterIs } from '../../schema/tables/filter-types.ts';
import { cursorScalar, DatabaseEnumType, isChoiceType, literalText, orderByDirection } from '../../schema/value-types.ts';
import { sentName } from '../lenient/adapt-document.ts';
import type { Coercion, ConstantValue, InputEntry, InputValue, ScalarValue } from '../operation.ts';
import { decodeCursor, decodeNodeId, type IdElement } from './opaque-id.ts';

/**
 * Coerces an argument in a valid document to an `InputValue`: literals become constants, and variables their coerced values
 * (https://spec.graphql.org/October2021/#sec-Input-Values).
 */

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
  return readBindValue(type, node);
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

function readBindValue(type: GraphQLInputType, node: ValueNode): InputValue {
  const text = literalText(node);
  if (isChoice(type)) return { kind: 'choice', name: text };
  if (isCursor(type)) return { kind: 'cursor', elements: decodeCursor(text).map(constant) };
  if (isNodeId(type)) {
    const { schema, table, elements } = decodeNodeId(text);
    return { kind: 'identifier', schema, table, elements: elements.map(constant) };
  }
  if (!isLeafType(type)) throw new GraphQLError(`Expected a value of type ${type}.`);
  const value: ScalarValue = type === GraphQLBoolean ? text === 'true' : text;
  return { kind: 'constant', value };
}

function constant(element: IdElement): ConstantValue | null {
  return element === null ? null : { kind: 'constant', value: element };
}

/**
 * Recognizes input types whose values affect more than bind values: directions, null tests, constraints and columns of `onConflict`,
 * cursors, nodeIds.
 */

/** Whether the values of the type change the SQL. */
export function isChoice(type: GraphQLInputType): boolean {
  return type === orderByDirection || type === filterIs || (isEnumType(type) && isChoiceType(type));
}

export function isCursor(type: GraphQLInputType): boolean {
  return type === cursorScalar;
}

export function isNodeId(type: GraphQLInputType): boolean {
  return type === GraphQLID;
}

/** Converts a scalar or enum value of a variable to text for PostgreSQL, and checks it against its GraphQL type. */

export type LeafType = GraphQLScalarType | GraphQLEnumType;

/** Converts a non-null value. Throws `GraphQLError` for a value that the type rejects. Lenient coercion takes numbers for some scalars. */
export function readScalar(type: LeafType, value: unknown, coercion: Coercion = 'strict'): ScalarValue {
  if (!isScalarType(type)) return readEnumName(type, value);
  if (coercion === 'lenient' && scalarNamed(type.name)?.takesNumbers && (typeof value === 'number' || typeof value === 'bigint'))
    return String(value);
  // An integer beyond 2^53 arrives as a bigint if the transport preserves its digits. GraphQL's built-in scalars do not support bigints.
  const parsed: unknown = type.coerceInputValue(typeof value === 'bigint' && isSpecifiedScalarType(type) ? Number(value) : value);
  return type === GraphQLBoolean ? (parsed as boolean) : String(parsed);
}

/** Returns the name unchanged. A label that is not a valid GraphQL name is not listed by the type but taken in a variable, as in pg_graphql. */
function readEnumName(type: GraphQLEnumType, value: unknown): string {
  if (typeof value === 'string' && (type instanceof DatabaseEnumType ? type.accepted.has(value) : type.getValue(value))) return value;
  throw new GraphQLError(`Value ${describeValue(value)} does not exist in "${type.name}" enum.`);
}

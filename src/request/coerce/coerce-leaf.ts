/** Coerces scalars and enum values: those of variables to text for PostgreSQL, and the text of either kind to an input value. */
import {
  GraphQLBoolean,
  type GraphQLEnumType,
  GraphQLError,
  GraphQLID,
  type GraphQLScalarType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import { describeValue } from '../../errors/api-error.ts';
import { scalarNamed } from '../../model/types/scalars.ts';
import { cursorScalar, DatabaseEnumType, isChoice } from '../../schema/value-types.ts';
import type { BindValue, Coercion, InputValue, ScalarValue } from '../operation.ts';
import { decodeCursor, decodeNodeId, type IdElement } from './opaque-id.ts';

export type LeafType = GraphQLScalarType | GraphQLEnumType;

/** Converts a non-null value. Throws `GraphQLError` for a value that the type rejects. Lenient coercion takes numbers for some scalars. */
export function readScalar(type: LeafType, value: unknown, coercion: Coercion = 'strict'): string | boolean {
  if (!isScalarType(type)) return readEnumName(type, value);
  if (coercion === 'lenient' && scalarNamed(type.name)?.takesNumbers && (typeof value === 'number' || typeof value === 'bigint'))
    return String(value);
  // An integer beyond 2^53 arrives as a bigint if the transport preserves its digits. GraphQL's built-in scalars do not support bigints.
  const parsed: unknown = type.coerceInputValue(typeof value === 'bigint' && isSpecifiedScalarType(type) ? Number(value) : value);
  return type === GraphQLBoolean ? parsed === true : String(parsed);
}

/** A label that is not a valid GraphQL name is not listed by the type but accepted in a variable, as in pg_graphql. */
function readEnumName(type: GraphQLEnumType, value: unknown): string {
  if (typeof value === 'string' && (type instanceof DatabaseEnumType ? type.accepted.has(value) : type.getValue(value))) return value;
  throw new GraphQLError(`Value ${describeValue(value)} does not exist in "${type.name}" enum.`);
}

/** The input value of a scalar or enum. `bind` makes the values that are bound: itself, or the elements of a cursor or nodeId. */
export function leafValue(type: LeafType, value: string | boolean, bind: (part: ScalarValue) => BindValue): InputValue {
  const elementsOf = (elements: readonly IdElement[]) => elements.map((element) => (element === null ? null : bind(element)));
  if (isChoice(type)) return { kind: 'choice', name: String(value) };
  if (type === cursorScalar) return { kind: 'cursor', elements: elementsOf(decodeCursor(String(value))) };
  if (type !== GraphQLID) return bind(value);
  const { schema, table, elements } = decodeNodeId(String(value));
  return { kind: 'identifier', schema, table, elements: elementsOf(elements) };
}

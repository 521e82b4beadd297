/** Converts a scalar or enum value of a variable to text for PostgreSQL, and checks it against its GraphQL type. */
import { GraphQLBoolean, type GraphQLEnumType, GraphQLError, type GraphQLScalarType, isScalarType, isSpecifiedScalarType } from 'graphql';
import { describeValue } from '../errors/api-error.ts';
import { scalarNamed } from '../model/types/scalars.ts';
import { DatabaseEnumType } from '../schema/database-enum-type.ts';
import type { Coercion } from './coercion.ts';
import type { ScalarValue } from './input-value.ts';

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

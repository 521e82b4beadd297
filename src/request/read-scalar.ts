/**
 * A scalar or enum value of a variable as the text that PostgreSQL is given, checked by its GraphQL type.
 */
import { GraphQLBoolean, type GraphQLEnumType, GraphQLError, type GraphQLScalarType, isScalarType } from 'graphql';
import { describeValue } from '../errors.ts';
import type { ScalarValue } from './input-value.ts';

export type LeafType = GraphQLScalarType | GraphQLEnumType;

/** Text of a non-null value. Throws `GraphQLError` for a value that the type refuses. */
export function readScalar(type: LeafType, value: unknown): ScalarValue {
  if (!isScalarType(type)) return readEnumName(type, value);
  // A whole number beyond 2^53 arrives as a bigint where the transport kept its digits.
  const given = typeof value === 'bigint' && type.name !== 'BigInt' ? Number(value) : value;
  const parsed: unknown = typeof given === 'bigint' ? given : type.coerceInputValue(given);
  return type === GraphQLBoolean ? (parsed as boolean) : String(parsed);
}

/** What the name of an enum's value is like (https://spec.graphql.org/October2021/#EnumValue). */
const valueName = /^(?!__|(?:true|false|null)$)[_A-Za-z][_0-9A-Za-z]*$/;

/**
 * The name as it was given. Labels that are no GraphQL names are not listed by the type and still may come in a variable,
 * as in pg_graphql: the column's enum has the last word, when the value is bound.
 */
function readEnumName(type: GraphQLEnumType, value: unknown): string {
  if (typeof value === 'string' && (type.getValue(value) || !valueName.test(value))) return value;
  throw new GraphQLError(`Value ${describeValue(value)} does not exist in "${type.name}" enum.`);
}

/**
 * Converts the text that people type for an argument to a value, and back. Strings need no quotes, and `$name` is a variable.
 */
import { type GraphQLInputType, getNamedType, isEnumType, Kind, parseValue, print, type ValueNode } from 'graphql';

/** Types whose values are written without quotes. */
const bare = new Set(['Int', 'Float', 'Boolean']);

/** The value; null if the text is not a value of the type. */
export function readValue(text: string, type: GraphQLInputType): ValueNode | null {
  const named = getNamedType(type);
  const isBare = isEnumType(named) || bare.has(named.name);
  if (!isBare && !/^\s*[$[]/.test(text)) return { kind: Kind.STRING, value: text };
  try {
    const value = parseValue(text);
    return !isBare || value.kind !== Kind.STRING ? value : null;
  } catch {
    return isBare ? null : { kind: Kind.STRING, value: text };
  }
}

/** The text of a value. */
export function describeValue(value: ValueNode): string {
  return value.kind === Kind.STRING ? value.value : print(value);
}

/** Where the schema expects a value, and how messages name it and say what to write there. */
import { type GraphQLEnumType, type GraphQLInputType, type GraphQLNamedType, isEnumType, isLeafType } from 'graphql';
import { shorten } from '../../errors/api-error.ts';
import { DatabaseEnumType } from '../../schema/value-types.ts';

export interface InputPosition {
  readonly type: GraphQLInputType;
  /** Whether the argument or field has a default, so that a null variable there counts as absent. */
  readonly hasDefault: boolean;
  /** The argument and the fields within it: `filter.owner.eq`. */
  readonly path: string;
  /** The field or directive that has the argument. */
  readonly owner: string;
  /** Whether messages must not name the values that it takes. */
  readonly hidesValues: boolean;
}

/** `filter.owner.eq of "accountCollection"`. */
export function describePosition({ path, owner }: Pick<InputPosition, 'path' | 'owner'>): string {
  return `${shorten(path)} of "${shorten(owner)}"`;
}

/** How many values of an enum a message names. */
const mostNamed = 5;

/** The messages of other scalars say what they take. */
const contents: Readonly<Record<string, string>> = {
  Int: 'a whole number, without quotes,',
  Float: 'a number, without quotes,',
  Boolean: 'true or false, without quotes,',
  String: 'a string',
  ID: 'a string',
};

type Use = 'write' | 'send';

/**
 * What to write in a document, or to send in a variable, for a value of the type at a position; null for an object, and without a
 * position if the message of the type says it.
 */
export function describeRemedy(
  type: GraphQLNamedType,
  use: Use,
  hidesValues: boolean,
  position?: Pick<InputPosition, 'path' | 'owner'>,
): string | null {
  if (!isLeafType(type)) return null;
  const content = contentOf(type, use, hidesValues);
  const verb = use === 'send' ? 'Send' : 'Write';
  if (!position) return content ? `${verb} ${content.replace(/,$/, '')}.` : null;
  return `${content ? `${verb} ${content}` : 'It is the value'} for ${describePosition(position)}.`;
}

/** A message and what to do about it as two sentences: those of graphql-js that end with a value have no full stop. */
export function joinRemedy(message: string, remedy: string): string {
  return `${message}${/[.!?…]$/.test(message) ? '' : '.'} ${remedy}`;
}

function contentOf(type: GraphQLNamedType, use: Use, hidesValues: boolean): string | undefined {
  if (!isEnumType(type)) return contents[type.name];
  if (hidesValues) return `a value of this enum${use === 'write' ? ', without quotes,' : ''}`;
  return use === 'send' ? oneOf(acceptedBy(type).map((name) => JSON.stringify(name))) : writtenValues(type);
}

/** Labels that are no names are written as strings. */
function writtenValues(type: GraphQLEnumType): string {
  const labels = acceptedBy(type).filter((name) => !type.getValue(name));
  const names = `${oneOf(type.getValues().map(({ name }) => name))}, without quotes,`;
  return labels.length === 0 ? names : `${names} or ${oneOf(labels.map((label) => JSON.stringify(label)))}`;
}

function acceptedBy(type: GraphQLEnumType): readonly string[] {
  return type instanceof DatabaseEnumType ? [...type.accepted] : type.getValues().map(({ name }) => name);
}

function oneOf(texts: readonly string[]): string {
  return (texts.length > mostNamed ? [...texts.slice(0, mostNamed), '…'] : texts).join(' or ');
}

/** Where the schema expects a value, and how messages name it and say what to write there. */
import { type GraphQLEnumType, type GraphQLInputType, type GraphQLNamedType, getNamedType, isEnumType, isLeafType } from 'graphql';
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
  readonly hidesValues?: boolean;
}

/** `filter.owner.eq of "accountCollection"`. */
export function describePosition({ path, owner }: InputPosition): string {
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

/** What to write in a document, or to send in a variable, for a value of the scalar or enum at this position; null for an object. */
export function describeRemedy(position: InputPosition, use: Use): string | null {
  const type = getNamedType(position.type);
  if (!isLeafType(type)) return null;
  const content = contentOf(type, use, position.hidesValues);
  const to = `for ${describePosition(position)}.`;
  return content === undefined ? `It is the value ${to}` : `${use === 'send' ? 'Send' : 'Write'} ${content} ${to}`;
}

/** What to send for a value of the type, without its position; null if the message of the type says it. */
export function describeContent(type: GraphQLNamedType, hidesValues: boolean): string | null {
  const content = contentOf(type, 'send', hidesValues);
  return content === undefined ? null : `Send ${content.replace(/,$/, '')}.`;
}

function contentOf(type: GraphQLNamedType, use: Use, hidesValues = false): string | undefined {
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

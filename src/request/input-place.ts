/** A place for a value in a document, and how messages name it and say what to write there. */
import { type GraphQLInputType, getNamedType, isEnumType, isScalarType } from 'graphql';
import { shorten } from '../errors.ts';

export interface InputPlace {
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
export function describePlace({ path, owner }: InputPlace): string {
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

/** What to write in a document, or to send in a variable, for a value of the scalar or enum at this place; null for an object. */
export function describeRemedy(place: InputPlace, use: 'write' | 'send'): string | null {
  const type = getNamedType(place.type);
  const verb = use === 'send' ? 'Send' : 'Write';
  const to = `for ${describePlace(place)}.`;
  if (isEnumType(type) && place.hidesValues) return `${verb} a value of this enum${use === 'write' ? ', without quotes,' : ''} ${to}`;
  if (isEnumType(type)) {
    const names = type.getValues().map(({ name }) => (use === 'send' ? JSON.stringify(name) : name));
    const named = names.length > mostNamed ? [...names.slice(0, mostNamed), '…'] : names;
    return `${verb} ${named.join(' or ')}${use === 'write' ? ', without quotes,' : ''} ${to}`;
  }
  if (!isScalarType(type)) return null;
  const content = contents[type.name];
  return content === undefined ? `It is the value ${to}` : `${verb} ${content} ${to}`;
}

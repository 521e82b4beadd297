/**
 * The scalar types. `coerceInputValue` and `coerceInputLiteral` reject what pg_graphql rejects; everything else goes to PostgreSQL as text,
 * which decides if the value is valid. The built-in scalars are graphql-js's own objects, because validation compares them by identity.
 */
import { GraphQLBoolean, GraphQLError, GraphQLFloat, GraphQLInt, GraphQLScalarType, GraphQLString, Kind, type ValueNode } from 'graphql';
import { describeValue } from '../errors/api-error.ts';
import type { ScalarName, SharedTypeName } from '../model/graphql-names.ts';

/** The page that specifies each scalar in a section. */
const specification = 'https://unpkg.com/rowgraph/docs/scalars.md';

type Accepted = 'text' | 'text or integer' | 'anything but an object';

function scalar(name: ScalarName | SharedTypeName, description: string, accepted: Accepted): GraphQLScalarType {
  const refuse = (value: string, node?: ValueNode): never => {
    throw new GraphQLError(`${name} cannot represent ${value}. ${advice[accepted]}`, { nodes: node });
  };
  return new GraphQLScalarType({
    name,
    description,
    specifiedByURL: `${specification}#${name.toLowerCase()}`,
    coerceInputValue: (value) => (accepts[accepted](value) ? value : refuse(describeValue(value))),
    coerceInputLiteral: (node) => (literalKinds[accepted].includes(node.kind) ? literalText(node) : refuse('this literal', node)),
  });
}

const advice: Record<Accepted, string> = {
  text: 'Pass a string.',
  'text or integer': 'Pass a string or an integer.',
  'anything but an object':
    'Pass a string in the format of the PostgreSQL type, such as "(1,blue)" for a composite type, "a=>1" for hstore, or JSON text for a domain over jsonb; or a number or a boolean.',
};
const accepts: Record<Accepted, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  'text or integer': (value) => ['string', 'number', 'bigint'].includes(typeof value),
  'anything but an object': (value) => ['string', 'number', 'bigint', 'boolean'].includes(typeof value),
};
const literalKinds: Record<Accepted, readonly Kind[]> = {
  text: [Kind.STRING],
  'text or integer': [Kind.STRING, Kind.INT, Kind.FLOAT],
  'anything but an object': [Kind.STRING, Kind.INT, Kind.FLOAT, Kind.BOOLEAN],
};

/** The text of a scalar literal as written in the document, so that numbers keep all their digits. */
export function literalText(node: ValueNode): string {
  switch (node.kind) {
    case Kind.STRING:
    case Kind.INT:
    case Kind.FLOAT:
    case Kind.ENUM:
      return node.value;
    case Kind.BOOLEAN:
      return String(node.value);
    default:
      throw new GraphQLError('Expected a scalar.');
  }
}

export const cursorScalar = scalar('Cursor', 'An opaque string using for tracking a position in results during pagination', 'text');

/** The GraphQL types of column scalars. */
export const scalarTypes: Readonly<Record<ScalarName, GraphQLScalarType>> = {
  Int: GraphQLInt,
  Float: GraphQLFloat,
  String: GraphQLString,
  Boolean: GraphQLBoolean,
  BigInt: scalar('BigInt', 'An arbitrary size integer represented as a string', 'text or integer'),
  BigFloat: scalar('BigFloat', 'A high precision floating point value represented as a string', 'text'),
  JSON: scalar('JSON', 'A Javascript Object Notation value serialized as a string', 'text'),
  UUID: scalar('UUID', 'A universally unique identifier', 'text'),
  Date: scalar('Date', 'A date without time information', 'text'),
  Time: scalar('Time', 'A time without date information', 'text'),
  Datetime: scalar('Datetime', 'A date and time', 'text'),
  Opaque: scalar('Opaque', 'Any type not handled by the type system', 'anything but an object'),
};

/**
 * The scalar types. `coerceInputValue` and `coerceInputLiteral` reject what pg_graphql rejects; everything else goes to PostgreSQL as text,
 * which decides if the value is valid. The built-in scalars are graphql-js's own objects, because validation compares them by identity.
 */
import { GraphQLError, GraphQLScalarType, Kind, specifiedScalarTypes, type ValueNode } from 'graphql';
import { describeValue } from '../errors/api-error.ts';
import type { SharedTypeName } from '../model/graphql-names.ts';
import { type Accepted, mapScalars, type ScalarName } from '../model/types/scalars.ts';

/** The page that specifies each scalar in a section. */
const specification = 'https://unpkg.com/rowgraph/docs/scalars.md';

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

const builtIn: ReadonlyMap<string, GraphQLScalarType> = new Map(specifiedScalarTypes.map((type) => [type.name, type]));

/** The GraphQL types of column scalars. */
export const scalarTypes: Readonly<Record<ScalarName, GraphQLScalarType>> = mapScalars((name, { description, accepts }) =>
  accepts === null ? builtIn.get(name)! : scalar(name, description, accepts),
);

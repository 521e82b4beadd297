import {
  GraphQLEnumType,
  GraphQLError,
  type GraphQLInputType,
  GraphQLList,
  type GraphQLNullableOutputType,
  GraphQLScalarType,
  isEnumType,
  Kind,
  specifiedScalarTypes,
  type ValueNode,
} from 'graphql';
import { describeValue } from '../errors/api-error.ts';
import type { EnumValueType, ListType, ScalarType, ValueType } from '../model/model.ts';
import type { SharedTypeName } from '../model/naming/graphql-names.ts';
import { isEnumValueName } from '../model/naming/names.ts';
import { type Accepted, mapScalars, type ScalarName } from '../model/types/scalars.ts';
import type { TypeRegistry } from './lazy/type-registry.ts';

/**
 * The scalar types. `coerceInputValue` and `coerceInputLiteral` reject what pg_graphql rejects; everything else goes to PostgreSQL as text,
 * which decides if the value is valid. The built-in scalars are graphql-js's own objects, because validation compares them by identity.
 */

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

/**
 * The GraphQL type of an enum of the database. Labels that are not valid names are not among its values, because clients could not load the
 * schema, but it takes them: in variables (`request/read-scalar.ts`), and in the place of strings, which no parser but lenient coercion puts
 * there.
 */

export class DatabaseEnumType extends GraphQLEnumType {
  /** All values that it takes, in declared order. */
  readonly accepted: ReadonlySet<string>;

  constructor(name: string, description: string | null, accepted: readonly string[]) {
    super({ name, description, values: Object.fromEntries(accepted.filter(isEnumValueName).map((value) => [value, {}])) });
    this.accepted = new Set(accepted);
  }

  override coerceInputLiteral(node: Parameters<GraphQLEnumType['coerceInputLiteral']>[0], hideSuggestions?: boolean): unknown {
    return node.kind === Kind.ENUM && this.accepted.has(node.value) ? node.value : super.coerceInputLiteral(node, hideSuggestions);
  }
}

const mark = 'rowgraphChoice';

/** Marks enums whose values change the SQL, so they are not bind values. */
export const asChoice = { extensions: { [mark]: true } };

export function isChoice(type: GraphQLInputType): boolean {
  return isEnumType(type) && type.extensions[mark] === true;
}

/** The enum of sort directions. */

export const orderByDirection = new GraphQLEnumType({
  name: 'OrderByDirection' satisfies SharedTypeName,
  ...asChoice,
  description: 'Defines a per-field sorting order',
  values: {
    AscNullsFirst: { description: 'Ascending order, nulls first' },
    AscNullsLast: { description: 'Ascending order, nulls last' },
    DescNullsFirst: { description: 'Descending order, nulls first' },
    DescNullsLast: { description: 'Descending order, nulls last' },
  },
});

/** Maps the model's value types to GraphQL types, for output and input. */

/** The output type, nullable; undefined if no field can have it. */
export function outputTypeOf(type: ValueType, registry: TypeRegistry): GraphQLNullableOutputType | undefined {
  switch (type.kind) {
    case 'scalar':
    case 'enum':
    case 'list':
      return inputTypeOf(type, registry);
    case 'row':
      return registry.hasOf(type.table, 'row') ? registry.rowOf(type.table) : undefined;
    case 'row list':
      return registry.hasOf(type.table, 'row') ? new GraphQLList(registry.rowOf(type.table)) : undefined;
    case 'composite':
    case 'unsupported':
      return undefined;
  }
}

/** The input type, nullable; undefined if its enum is not in this schema. */
export function inputTypeOf(
  type: ScalarType | EnumValueType | ListType,
  registry: TypeRegistry,
): GraphQLScalarType | GraphQLEnumType | GraphQLList<GraphQLScalarType | GraphQLEnumType> | undefined {
  switch (type.kind) {
    case 'scalar':
      return scalarTypes[type.scalar];
    case 'enum':
      return registry.has(type.enum.typeName) ? registry.enum(type.enum.typeName) : undefined;
    case 'list': {
      const element = inputTypeOf(type.element, registry) as GraphQLScalarType | GraphQLEnumType | undefined;
      return element && new GraphQLList(element);
    }
  }
}

/** Whether a value of this type can be written or passed as an argument. */
export function isInputValue(type: ValueType): type is ScalarType | EnumValueType | ListType {
  return type.kind === 'scalar' || type.kind === 'enum' || type.kind === 'list';
}

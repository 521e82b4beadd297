/**
 * The GraphQL types of values: scalars, enums, and what a column or argument has of them. Scalars reject what pg_graphql rejects;
 * everything else goes to PostgreSQL as text, which decides if the value is valid. The built-in scalars are graphql-js's own objects,
 * because validation compares them by identity.
 */
import {
  GraphQLEnumType,
  GraphQLError,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  type GraphQLNamedType,
  type GraphQLNullableInputType,
  type GraphQLNullableOutputType,
  GraphQLScalarType,
  isEnumType,
  isInputObjectType,
  Kind,
  specifiedScalarTypes,
  type ValueNode,
} from 'graphql';
import { ApiError, describeValue } from '../errors/api-error.ts';
import type { Column } from '../model/model.ts';
import type { SharedTypeName } from '../model/naming/graphql-names.ts';
import { isEnumValueName } from '../model/naming/names.ts';
import { type Accepted, mapScalars, type ScalarName } from '../model/types/scalars.ts';
import type { DomainType, ValueType } from '../model/value-type.ts';
import { bindInput, type ColumnPosition } from './bindings.ts';
import { emptyRecord } from './lazy/lazy-object-type.ts';
import type { TypeRegistry } from './lazy/type-registry.ts';

/** The page that specifies each scalar in a section. */
const specification = 'https://unpkg.com/rowgraph/docs/scalars.md';

function makeScalar(
  name: string,
  description: string,
  accepted: Accepted,
  specifiedBy: { specifiedByURL?: string } = {},
): GraphQLScalarType {
  const refuse = (value: string, node?: ValueNode): never => {
    throw new GraphQLError(`${name} cannot represent ${value}. ${advice[accepted]}`, { nodes: node });
  };
  return new GraphQLScalarType({
    name,
    description,
    ...specifiedBy,
    coerceInputValue: (value) => (accepts[accepted](value) ? textOfObject(value) : refuse(describeValue(value))),
    coerceInputLiteral: (node) => (literalKinds[accepted].includes(node.kind) ? literalText(node) : refuse('this literal', node)),
  });
}

/** One of every schema, which the documentation specifies. */
function scalar(name: ScalarName | SharedTypeName, description: string, accepted: Accepted): GraphQLScalarType {
  return makeScalar(name, description, accepted, { specifiedByURL: `${specification}#${name.toLowerCase()}` });
}

const advice: Record<Accepted, string> = {
  text: 'Pass a string.',
  'text or object': 'Pass an object of GeoJSON, all of it in one variable or none, or a string with its text or with WKT.',
  'text or integer': 'Pass a string or an integer.',
  'anything but an object':
    'Pass a string in the format of the PostgreSQL type, such as "(1,blue)" for a composite type, "a=>1" for hstore, or JSON text for a ' +
    'domain over jsonb; or a number or a boolean.',
};
const accepts: Record<Accepted, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  'text or object': (value) => typeof value === 'string' || (typeof value === 'object' && value !== null && !Array.isArray(value)),
  'text or integer': (value) => ['string', 'number', 'bigint'].includes(typeof value),
  'anything but an object': (value) => ['string', 'number', 'bigint', 'boolean'].includes(typeof value),
};
const literalKinds: Record<Accepted, readonly Kind[]> = {
  text: [Kind.STRING],
  'text or object': [Kind.STRING, Kind.OBJECT],
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
    case Kind.OBJECT:
      return jsonText(node);
    default:
      throw new GraphQLError('Expected a scalar.');
  }
}

/** The JSON of a literal, whose numbers keep all their digits. */
function jsonText(node: ValueNode): string {
  switch (node.kind) {
    case Kind.OBJECT:
      return `{${node.fields.map(({ name, value }) => `${JSON.stringify(name.value)}:${jsonText(value)}`).join()}}`;
    case Kind.LIST:
      return `[${node.values.map(jsonText).join()}]`;
    case Kind.NULL:
      return 'null';
    case Kind.STRING:
    case Kind.ENUM:
      return JSON.stringify(node.value);
    case Kind.VARIABLE:
      // Validation takes it for null, so that only coercion comes across it.
      throw new ApiError('BAD_USER_INPUT', 'A variable cannot be a part of this object. Pass the whole object as a variable.');
    default:
      return literalText(node);
  }
}

function textOfObject(value: unknown): unknown {
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

/** The scalar of a domain. Its values are those of Opaque. */
export function domainScalar({ typeName, description }: Pick<DomainType, 'typeName' | 'description'>): GraphQLScalarType {
  const type = makeScalar(typeName, description, 'anything but an object');
  domainScalars.add(type);
  return type;
}

/** The scalar of PostGIS's types. Its values are those of Opaque, and objects. */
export function geoScalar(name: string): GraphQLScalarType {
  const description = 'A geometry as GeoJSON (RFC 7946); as input, an object, or text that PostGIS reads';
  const type = makeScalar(name, description, 'text or object');
  domainScalars.add(type);
  return type;
}

const domainScalars = new WeakSet<GraphQLNamedType>();

export function isDomainScalar(type: GraphQLNamedType): boolean {
  return domainScalars.has(type);
}

export const cursorScalar = scalar('Cursor', 'An opaque string using for tracking a position in results during pagination', 'text');

const builtIn: ReadonlyMap<string, GraphQLScalarType> = new Map(specifiedScalarTypes.map((type) => [type.name, type]));

export const scalarTypes: Readonly<Record<ScalarName, GraphQLScalarType>> = mapScalars((name, { description, accepts }) =>
  accepts === null ? builtIn.get(name)! : scalar(name, description, accepts),
);

/** The scalar of JSON that responses have as it is. */
export const bareJsonScalar = scalar('JSON', 'Any value of JSON; as input, a string with its text', 'text');

/**
 * The GraphQL type of an enum of the database. Labels that are not valid names are not among its values, because clients could not load the
 * schema, but it takes them: in variables (`coerce-leaf.ts`), and where lenient coercion replaces a string.
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

const wholeMark = 'rowgraphWhole';

/** Marks input objects whose values are bound as one, whatever members they have. */
export const asWhole = { extensions: { [wholeMark]: true } };

export function isWhole(type: GraphQLInputType): type is GraphQLInputObjectType {
  return isInputObjectType(type) && type.extensions[wholeMark] === true;
}

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

/** The output type, nullable; undefined if no field can have it. `areValues`: whether those with a table's row type need be no rows of it. */
export function outputTypeOf(type: ValueType, registry: TypeRegistry, areValues = false): GraphQLNullableOutputType | undefined {
  if (type.kind !== 'row' && type.kind !== 'row list') return plainTypeOf(type, registry);
  const row = areValues ? registry.findValue(type.table) : registry.findRow(type.table);
  return row && type.kind === 'row list' ? new GraphQLList(row) : row;
}

type LeafType = GraphQLScalarType | GraphQLEnumType;

/** The input type, nullable; undefined if no value of the type can be written, or what it consists of is not in this schema. */
export function inputTypeOf(type: ValueType, registry: TypeRegistry): GraphQLNullableInputType | undefined {
  if (type.kind !== 'row' && type.kind !== 'row list') return plainTypeOf(type, registry);
  const name = type.table.composite?.inputName ?? '';
  if (!registry.has(name)) return undefined;
  return type.kind === 'row' ? registry.input(name) : new GraphQLList(registry.input(name));
}

/** The type of a scalar, an enum or a list of these, in inputs and outputs. */
function plainTypeOf(type: ValueType, registry: TypeRegistry): LeafType | GraphQLList<LeafType> | undefined {
  if (type.kind !== 'list') return leafTypeOf(type, registry);
  const element = leafTypeOf(type.element, registry);
  return element && new GraphQLList(element);
}

function leafTypeOf(type: ValueType, registry: TypeRegistry): LeafType | undefined {
  if (type.kind === 'scalar') {
    if (type.isBareJson) return bareJsonScalar;
    const name = type.domain?.typeName ?? (type.traits.geometry === null ? undefined : registry.geoTypes?.scalar);
    return name !== undefined && registry.has(name) ? registry.scalar(name) : scalarTypes[type.scalar];
  }
  return type.kind === 'enum' && registry.has(type.enum.typeName) ? registry.enum(type.enum.typeName) : undefined;
}

/** An input field for each column that has a type here, bound to the column. */
export function columnInputs(
  at: ColumnPosition,
  columns: readonly Column[],
  nameOf: 'fieldName' | 'rowFieldName' | 'filterName',
  typeOf: (column: Column) => GraphQLInputType | undefined,
): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  for (const column of columns) {
    const type = typeOf(column);
    if (type) fields[column[nameOf]] = { type, ...bindInput(at, { kind: 'column', column }) };
  }
  return fields;
}

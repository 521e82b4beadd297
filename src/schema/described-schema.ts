/**
 * A schema as introspection tells it: the types of a `LazySchema`, with GraphQL's own types in the reference's words. It is only looked
 * at; documents are validated against the schema itself, whose built-in types are graphql-js's.
 */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  introspectionTypes,
  isObjectType,
} from 'graphql';
import type { LazySchema } from './lazy-schema.ts';

const scalars: readonly GraphQLNamedType[] = (
  [
    [GraphQLInt, 'A scalar integer up to 32 bits'],
    [GraphQLFloat, 'A scalar floating point value up to 32 bits'],
    [GraphQLString, 'A string'],
    [GraphQLBoolean, 'A value that is true or false'],
    [GraphQLID, 'A globally unique identifier for a given record'],
  ] as const
).map(([type, description]) => new GraphQLScalarType({ ...(type as GraphQLScalarType).toConfig(), description }));

const describedScalars = byName(scalars);
const describedTypes = { ...describedScalars, ...byName(introspectionTypes.map(inReferenceWords)) };

function byName(types: readonly GraphQLNamedType[]): Record<string, GraphQLNamedType> {
  return Object.fromEntries(types.map((type) => [type.name, type]));
}

/** A type of introspection as the reference describes it; where it says nothing else, as graphql-js does. */
function inReferenceWords(type: GraphQLNamedType): GraphQLNamedType {
  // The reference writes the line break of these two texts as a backslash and an n.
  const description = type.description?.replaceAll('\n', '\\n');
  if (type.name === '__Directive') return clone(type, description?.replace("GraphQL's execution", 'GraphQL execution'));
  if (type.name === '__Type') return clone(type, description?.replace(/\.$/, ' '));
  if (type.name === '__Schema') return withNullableDirectivesArgument(type as GraphQLObjectType);
  if (type.name === '__TypeKind') return withoutDescriptions(type as GraphQLEnumType);
  return type;
}

function clone(type: GraphQLNamedType, description: string | undefined): GraphQLObjectType {
  return new GraphQLObjectType({ ...(type as GraphQLObjectType).toConfig(), description });
}

function withNullableDirectivesArgument(type: GraphQLObjectType): GraphQLObjectType {
  const { fields, ...config } = type.toConfig();
  const directives = { ...fields.directives!, args: { includeDeprecated: { type: GraphQLBoolean, defaultValue: false } } };
  return new GraphQLObjectType({ ...config, fields: { ...fields, directives } });
}

function withoutDescriptions(type: GraphQLEnumType): GraphQLEnumType {
  const { values, ...config } = type.toConfig();
  return new GraphQLEnumType({
    ...config,
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { ...value, description: null }])),
  });
}

export class DescribedSchema extends GraphQLSchema {
  readonly #schema: LazySchema;

  constructor(schema: LazySchema) {
    super({ directives: schema.getDirectives(), assumeValid: true, description: schema.description ?? null });
    this.#schema = schema;
  }

  /** Fragments on the types of introspection apply by identity, so those stay graphql-js's own here. */
  override getType(name: string): GraphQLNamedType | undefined {
    return Object.hasOwn(describedScalars, name) ? describedScalars[name] : this.#schema.getType(name);
  }

  override getTypeMap(): Record<string, GraphQLNamedType> {
    return { ...this.#schema.getTypeMap(), ...describedTypes };
  }

  override getQueryType(): GraphQLObjectType {
    return this.#schema.getQueryType();
  }

  override getMutationType(): GraphQLObjectType | undefined {
    return this.#schema.getMutationType();
  }

  override getRootType(operation: string): GraphQLObjectType | undefined {
    return this.#schema.getRootType(operation);
  }

  /** The only interface is `Node`. */
  override getPossibleTypes(_abstractType: unknown): readonly GraphQLObjectType[] {
    return Object.values(this.getTypeMap()).filter(
      (type): type is GraphQLObjectType => isObjectType(type) && type.getInterfaces().length > 0,
    );
  }

  override getImplementations(interfaceType: GraphQLInterfaceType): ReturnType<LazySchema['getImplementations']> {
    return { objects: this.getPossibleTypes(interfaceType), interfaces: [] };
  }
}

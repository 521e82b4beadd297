/**
 * A schema as introspection describes it: the types of a `LazySchema`, with GraphQL's own types in pg_graphql's words. It is only
 * read; documents are validated against the schema itself, whose built-in types are graphql-js's.
 */
import {
  GraphQLBoolean,
  type GraphQLDirective,
  GraphQLEnumType,
  type GraphQLField,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLString,
  introspectionTypes,
  isObjectType,
} from 'graphql';
import type { LazySchema } from '../schema/lazy-schema.ts';

const scalars: readonly GraphQLNamedType[] = (
  [
    [GraphQLInt, 'A scalar integer up to 32 bits'],
    [GraphQLFloat, 'A scalar floating point value up to 32 bits'],
    [GraphQLString, 'A string'],
    [GraphQLBoolean, 'A value that is true or false'],
    [GraphQLID, 'A globally unique identifier for a given record'],
  ] as const
).map(([type, description]) => new GraphQLScalarType({ ...(type as GraphQLScalarType).toConfig(), description }));

const describedTypes = new Map([...scalars, ...introspectionTypes.map(inReferenceWords)].map((type) => [type.name, type]));

/** A type of introspection as pg_graphql describes it; where it says nothing else, as graphql-js does. */
function inReferenceWords(type: GraphQLNamedType): GraphQLNamedType {
  // pg_graphql writes the line break of these two texts as a backslash and an n.
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

/** What the resolvers of introspection need from a schema, with every type built when it is written. */
export class DescribedSchema {
  readonly #schema: LazySchema;

  constructor(schema: LazySchema) {
    this.#schema = schema;
  }

  get description(): string | null | undefined {
    return this.#schema.description;
  }

  getType(name: string): GraphQLNamedType | undefined {
    return describedTypes.get(name) ?? this.#schema.getType(name);
  }

  getQueryType(): GraphQLObjectType {
    return this.#schema.getQueryType();
  }

  getMutationType(): GraphQLObjectType | undefined {
    return this.#schema.getMutationType();
  }

  getSubscriptionType(): undefined {
    return undefined;
  }

  getDirectives(): readonly GraphQLDirective[] {
    return this.#schema.getDirectives();
  }

  /** The fields of a type that has many, one by one; undefined for other types. None of them is deprecated. */
  fieldsOf(type: GraphQLNamedType): Iterable<GraphQLField<unknown, unknown>> | undefined {
    return this.#schema.fieldsOf(type.name);
  }

  /** All types, one by one. They are not kept, or the fields of all would be in memory before the last is told. */
  *types(): Generator<GraphQLNamedType, void> {
    for (const name of this.#schema.typeNames()) yield describedTypes.get(name) ?? this.#schema.buildType(name)!;
  }

  /** The types that implement `Node`, the only interface. */
  *possibleTypes(): Generator<GraphQLObjectType, void> {
    for (const type of this.types()) if (isObjectType(type) && type.getInterfaces().length > 0) yield type;
  }
}

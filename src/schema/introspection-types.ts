/**
 * The types of introspection as clients of pg_graphql know them: what October 2021 has
 * (https://spec.graphql.org/October2021/#sec-Schema-Introspection), in pg_graphql's words. They are made of graphql-js's, which follow later drafts, and
 * keep its resolvers. Documents are validated against them too, so that what introspection says of itself is true.
 */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLFieldConfig,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLNullableOutputType,
  GraphQLObjectType,
  type GraphQLOutputType,
  introspectionTypes as graphqlTypes,
  isEnumType,
  isListType,
  isNonNullType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
} from 'graphql';

type FieldConfig = GraphQLFieldConfig<unknown, unknown>;

/** Where pg_graphql says something else than graphql-js: it writes the line breaks of these two as a backslash and an n. */
const typeTexts: Readonly<Record<string, (text: string) => string>> = {
  __Directive: (text) => text.replace("GraphQL's execution", 'GraphQL execution').replaceAll('\n', '\\n'),
  __Type: (text) => text.replace(/\.$/, ' ').replaceAll('\n', '\\n'),
};

const types: ReadonlyMap<string, GraphQLNamedType> = new Map(
  graphqlTypes.map((type) => [type.name, isEnumType(type) ? enumInOurWords(type) : objectInOurWords(type as GraphQLObjectType)]),
);

/** The type of introspection of this name. */
export function introspectionType(name: string): GraphQLNamedType | undefined {
  return types.get(name);
}

/** The fields that introspection adds to `Query`. */
export const introspectionFields: Readonly<Record<string, GraphQLField<unknown, unknown>>> = new GraphQLObjectType({
  name: 'Query',
  fields: { __schema: fieldInOurWords(SchemaMetaFieldDef.toConfig()), __type: fieldInOurWords(TypeMetaFieldDef.toConfig()) },
}).getFields();

function enumInOurWords(type: GraphQLEnumType): GraphQLEnumType {
  const { values, ...config } = type.toConfig();
  const described = Object.entries(values).map(([name, value]) => {
    if (type.name === '__TypeKind') return [name, { ...value, description: null }] as const;
    return [name, { ...value, description: value.description?.replace('an operation variable', 'a variable') }] as const;
  });
  const ofOctober2021 = described.filter(([name]) => name !== 'FRAGMENT_VARIABLE_DEFINITION');
  return new GraphQLEnumType({ ...config, values: Object.fromEntries(ofOctober2021) });
}

function objectInOurWords(type: GraphQLObjectType): GraphQLObjectType {
  const { name, description } = type;
  return new GraphQLObjectType({
    name,
    description: description && (typeTexts[name]?.(description) ?? description),
    fields: () => Object.fromEntries(Object.values(type.getFields()).map((field) => [field.name, fieldInOurWords(field.toConfig())])),
  });
}

/** In October 2021 the argument `includeDeprecated` may be null. */
function fieldInOurWords({ args: { includeDeprecated, ...args } = {}, type, ...config }: FieldConfig): FieldConfig {
  const nullable = includeDeprecated && { includeDeprecated: { ...includeDeprecated, type: GraphQLBoolean } };
  return { ...config, type: typeInOurWords(type), args: { ...args, ...nullable } };
}

function typeInOurWords(type: GraphQLOutputType): GraphQLOutputType {
  if (isNonNullType(type)) return new GraphQLNonNull(typeInOurWords(type.ofType) as GraphQLNullableOutputType);
  if (isListType(type)) return new GraphQLList(typeInOurWords(type.ofType));
  return (types.get(type.name) as GraphQLObjectType | undefined) ?? type;
}

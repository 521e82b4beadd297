/**
 * Relies on undocumented behaviour of graphql-js (`test/contracts/graphql.test.ts`):
 * - its introspection types, their fields and descriptions; that their resolvers are synchronous, and which members of `info` they read;
 * - how validation reports that it gave up, and that it reads the text of a source only to create errors.
 */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLError,
  type GraphQLField,
  type GraphQLFieldConfig,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLNullableOutputType,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  introspectionTypes as graphqlTypes,
  isEnumType,
  isListType,
  isNonNullType,
  SchemaMetaFieldDef,
  Source,
  TypeMetaFieldDef,
} from 'graphql';

type FieldConfig = GraphQLFieldConfig<unknown, unknown>;

/** Descriptions that differ from graphql-js's. In these two, pg_graphql writes line breaks as a backslash and an n. */
const typeTexts: Readonly<Record<string, (text: string) => string>> = {
  __Directive: (text) => text.replace("GraphQL's execution", 'GraphQL execution').replaceAll('\n', '\\n'),
  __Type: (text) => text.replace(/\.$/, ' ').replaceAll('\n', '\\n'),
};

/**
 * The introspection types that clients of pg_graphql know: those of October 2021
 * (https://spec.graphql.org/October2021/#sec-Schema-Introspection), with pg_graphql's descriptions. They are derived from graphql-js's
 * types, which follow later drafts, and keep their resolvers. Documents are validated against them too, so introspection describes itself
 * correctly.
 */
const types: ReadonlyMap<string, GraphQLNamedType> = new Map(
  graphqlTypes.map((type) => [type.name, isEnumType(type) ? adaptEnum(type) : adaptObject(type as GraphQLObjectType)]),
);

export function introspectionType(name: string): GraphQLNamedType | undefined {
  return types.get(name);
}

export const introspectionFields: Readonly<Record<string, GraphQLField<unknown, unknown>>> = new GraphQLObjectType({
  name: 'Query',
  fields: { __schema: adaptField(SchemaMetaFieldDef.toConfig()), __type: adaptField(TypeMetaFieldDef.toConfig()) },
}).getFields();

function adaptEnum(type: GraphQLEnumType): GraphQLEnumType {
  const { values, ...config } = type.toConfig();
  const described = Object.entries(values).map(([name, value]) => {
    if (type.name === '__TypeKind') return [name, { ...value, description: null }] as const;
    return [name, { ...value, description: value.description?.replace('an operation variable', 'a variable') }] as const;
  });
  const ofOctober2021 = described.filter(([name]) => name !== 'FRAGMENT_VARIABLE_DEFINITION');
  return new GraphQLEnumType({ ...config, values: Object.fromEntries(ofOctober2021) });
}

function adaptObject(type: GraphQLObjectType): GraphQLObjectType {
  const { name, description } = type;
  return new GraphQLObjectType({
    name,
    description: description && (typeTexts[name]?.(description) ?? description),
    fields: () => Object.fromEntries(Object.values(type.getFields()).map((field) => [field.name, adaptField(field.toConfig())])),
  });
}

/** In the October 2021 edition, the argument `includeDeprecated` is nullable. */
function adaptField({ args: { includeDeprecated, ...args } = {}, type, ...config }: FieldConfig): FieldConfig {
  const nullable = includeDeprecated && { includeDeprecated: { ...includeDeprecated, type: GraphQLBoolean } };
  return { ...config, type: adaptType(type), args: { ...args, ...nullable } };
}

function adaptType(type: GraphQLOutputType): GraphQLOutputType {
  if (isNonNullType(type)) return new GraphQLNonNull(adaptType(type.ofType) as GraphQLNullableOutputType);
  if (isListType(type)) return new GraphQLList(adaptType(type.ofType));
  return (types.get(type.name) as GraphQLObjectType | undefined) ?? type;
}

export type IntrospectionResolver = (source: unknown) => unknown;

/** The members of a schema that the resolvers of introspection read. */
export const readOfSchema = ['description', 'getType', 'getQueryType', 'getMutationType', 'getSubscriptionType', 'getDirectives'] as const;

/** Resolves a field of an introspection type, or the field of `Query` that leads to them. */
export function introspectionResolver(
  definition: GraphQLField<unknown, unknown>,
  args: Readonly<Record<string, unknown>>,
  schema: GraphQLResolveInfo['schema'],
  parentType: GraphQLObjectType,
): IntrospectionResolver {
  const info = { schema, parentType } as GraphQLResolveInfo;
  return (source) => definition.resolve!(source, args, undefined, info);
}

/** Whether a rule gave up because a document spreads more fragments than graphql-js follows. */
export function isAborted({ message }: GraphQLError): boolean {
  return message === 'Validation aborted.';
}

/**
 * A source to parse with locations, and a function to call once it is parsed, which drops its text. graphql-js reads the text only to
 * create errors: it counts the lines up to each location of each error, of which there may be millions. Errors keep their positions.
 */
export function documentSource(text: string): { readonly source: Source; readonly dropText: () => void } {
  const source = new Source(text);
  return {
    source,
    dropText: () => {
      source.body = '';
    },
  };
}

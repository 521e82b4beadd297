/**
 * What a document selects of introspection, read once: fragments spread, `@skip` and `@include` decided, arguments coerced. The
 * document is valid, and every type of introspection is an object, so what is selected of a type is the same for each value of it.
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import type { DescribedSchema } from './described-schema.ts';

type Resolver = (source: unknown) => unknown;

/** A field of a response. */
export interface IntrospectedField<FieldShape = Shape> {
  /** The key as it stands in the answer, with its colon. */
  readonly label: string;
  /** The value of the field of an object. A list is an iterable. */
  readonly resolve: Resolver;
  readonly shape: FieldShape;
}

/** How a value that is not null becomes JSON: at once, or, where there is a list in it, piece by piece. */
export type Shape =
  | TextShape
  | { readonly kind: 'object'; readonly fields: readonly IntrospectedField[] }
  | { readonly kind: 'list'; readonly member: Shape };

interface TextShape {
  readonly kind: 'text';
  readonly textOf: (value: unknown) => string;
}

export interface IntrospectionRequest {
  readonly selectionSet: SelectionSetNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Coerced, by name. */
  readonly variables: Readonly<Record<string, unknown>>;
}

const rootFields: Readonly<Record<string, GraphQLField<unknown, unknown>>> = { __schema: SchemaMetaFieldDef, __type: TypeMetaFieldDef };

/** Fields that answer otherwise than graphql-js does, whose response is the last parameter. */
const ownResolvers: Readonly<Record<string, (source: unknown, schema: DescribedSchema, resolve: Resolver) => unknown>> = {
  // These come one by one, so that each type and field is built when its turn comes.
  '__Schema.types': (_, schema) => schema.types(),
  '__Type.possibleTypes': (type, schema) => (isAbstractType(type) ? schema.possibleTypes() : null),
  '__Type.fields': (type, schema, resolve) => (isObjectType(type) && schema.fieldsOf(type)) || resolve(type),
  // pg_graphql has empty lists where graphql-js answers null, and clients of it have seen no null there.
  '__Type.enumValues': (type, _, resolve) => resolve(type) ?? [],
  '__Type.interfaces': (type, _, resolve) => resolve(type) ?? [],
};

/** What is selected under a key of the operation that is a root field of introspection. Throws `GraphQLError` for arguments that do not fit. */
export function selectIntrospection(schema: DescribedSchema, request: IntrospectionRequest, key: string): IntrospectedField {
  const nodes = collectFields(request, [request]).get(key)!;
  return new Selector(schema, request).field(rootFields[nodes[0]!.name.value]!, schema.getQueryType(), key, nodes);
}

class Selector {
  readonly #schema: DescribedSchema;
  readonly #request: IntrospectionRequest;

  constructor(schema: DescribedSchema, request: IntrospectionRequest) {
    this.#schema = schema;
    this.#request = request;
  }

  field(
    definition: GraphQLField<unknown, unknown>,
    parentType: GraphQLObjectType,
    key: string,
    nodes: readonly FieldNode[],
  ): IntrospectedField {
    return {
      label: `${JSON.stringify(key)}:`,
      resolve: this.#resolver(definition, parentType, nodes[0]!),
      shape: this.#shapeOf(definition.type, nodes),
    };
  }

  #shapeOf(type: GraphQLOutputType, nodes: readonly FieldNode[]): Shape {
    const nullable = getNullableType(type);
    if (isListType(nullable)) return { kind: 'list', member: this.#shapeOf(nullable.ofType, nodes) };
    if (!isObjectType(nullable)) return { kind: 'text', textOf: (leaf) => JSON.stringify((nullable as GraphQLLeafType).serialize(leaf)) };
    const fields = this.#fieldsOf(nullable, nodes);
    return fields.every(isText) ? { kind: 'text', textOf: (source) => objectText(fields, source) } : { kind: 'object', fields };
  }

  #fieldsOf(type: GraphQLObjectType, nodes: readonly FieldNode[]): IntrospectedField[] {
    return [...collectFields(this.#request, nodes)].map(([key, inner]) => {
      const { value: name } = inner[0]!.name;
      return this.field(name === '__typename' ? TypeNameMetaFieldDef : type.getFields()[name]!, type, key, inner);
    });
  }

  #resolver(definition: GraphQLField<unknown, unknown>, parentType: GraphQLObjectType, node: FieldNode): Resolver {
    const values = getArgumentValues(definition, node, this.#request.variables);
    // This much of it is what the resolvers of introspection read.
    const info = { schema: this.#schema, parentType } as unknown as GraphQLResolveInfo;
    const resolve: Resolver = (source) => definition.resolve!(source, values, undefined, info);
    const own = ownResolvers[`${parentType.name}.${definition.name}`];
    return own ? (source) => own(source, this.#schema, resolve) : resolve;
  }
}

function isText(field: IntrospectedField): field is IntrospectedField<TextShape> {
  return field.shape.kind === 'text';
}

function objectText(fields: readonly IntrospectedField<TextShape>[], source: unknown): string {
  let text = '{';
  let separator = '';
  for (const { label, resolve, shape } of fields) {
    const value = resolve(source);
    text += `${separator}${label}${value === null || value === undefined ? 'null' : shape.textOf(value)}`;
    separator = ',';
  }
  return `${text}}`;
}

/** The fields selected by these nodes, by response key. Every fragment applies, where a document is valid. */
function collectFields(
  { fragments, variables }: IntrospectionRequest,
  nodes: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const visited = new Set<string>();
  const collect = (selection: SelectionNode): void => {
    if (!isIncluded(selection, variables)) return;
    if (selection.kind === Kind.FIELD) {
      const key = (selection.alias ?? selection.name).value;
      const same = fields.get(key);
      if (same) same.push(selection);
      else fields.set(key, [selection]);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) selection.selectionSet.selections.forEach(collect);
    else if (!visited.has(selection.name.value)) {
      visited.add(selection.name.value);
      fragments.get(selection.name.value)?.selectionSet.selections.forEach(collect);
    }
  };
  for (const { selectionSet } of nodes) selectionSet?.selections.forEach(collect);
  return fields;
}

function isIncluded(selection: SelectionNode, variables: IntrospectionRequest['variables']): boolean {
  if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.if !== false;
}

import {
  type FieldNode,
  type GraphQLDirective,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLScalarType,
  getArgumentValues,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  type SelectionSetNode,
  specifiedScalarTypes,
} from 'graphql';
import { scalarNamed } from '../model/types/scalars.ts';
import type { Variables } from '../request/coerce/coerce-variables.ts';
import { collectFields, type Selections } from '../request/select/collect-fields.ts';
import { emptyRecord } from '../schema/lazy/lazy-fields.ts';
import type { LazySchema } from '../schema/lazy/lazy-schema.ts';

/**
 * Turns a document's introspection selections into a tree that can be written for any number of values, with the same field collection and
 * coerced variables as other fields. graphql-js coerces the arguments, because its resolvers take them. Every introspection type is an
 * object type, so the selection on a type is the same for all its values.
 *
 * Relies on undocumented behaviour of graphql-js: its introspection resolvers are synchronous, and read only these members of `info`
 * (`test/contracts/graphql.test.ts`).
 */

type Resolver = (source: unknown) => unknown;

export interface IntrospectedField<FieldShape = Shape> {
  /** The key in JSON, with its colon. */
  readonly label: string;
  /** Resolves the field. A list is an iterable that may contain `pause`, which is not a member. */
  readonly resolve: Resolver;
  readonly shape: FieldShape;
}

/** How a non-null value becomes JSON: as one text, or piece by piece if it contains a list. */
export type Shape =
  | TextShape
  | { readonly kind: 'object'; readonly fields: readonly IntrospectedField[] }
  | { readonly kind: 'list'; readonly member: Shape };

interface TextShape {
  readonly kind: 'text';
  readonly textOf: (value: unknown) => string;
}

export interface IntrospectionRequest {
  readonly schema: DescribedSchema;
  readonly fragments: Selections['fragments'];
  /** Coerced against the schema that the operation was validated against. */
  readonly variables: Variables;
}

/** Resolvers that replace those of graphql-js; `resolve` is the original. */
const ownResolvers: Readonly<Record<string, (source: unknown, schema: DescribedSchema, resolve: Resolver) => unknown>> = {
  // These yield one by one, so that each type and field is built only when it is written.
  '__Schema.types': (_, schema) => schema.types(),
  '__Type.possibleTypes': (type, schema) => (isAbstractType(type) ? schema.possibleTypes() : null),
  '__Type.fields': (type, schema, resolve) => (isObjectType(type) && schema.fieldsOf(type)) || resolve(type),
  '__Type.specifiedByURL': (type, schema, resolve) => (schema.specifiesScalars ? resolve(type) : null),
  // pg_graphql returns empty lists where graphql-js returns null, and its clients do not expect null.
  '__Type.enumValues': (type, _, resolve) => resolve(type) ?? [],
  '__Type.interfaces': (type, _, resolve) => resolve(type) ?? [],
};

/** Reads the selection under the response key of an introspection root field. Throws `GraphQLError` for invalid arguments. */
export function selectIntrospection(request: IntrospectionRequest, selectionSet: SelectionSetNode, key: string): IntrospectedField {
  const selector = new Selector(request);
  const root = request.schema.getQueryType();
  return selector.field(root, key, selector.collect(root, [selectionSet]).get(key)!);
}

class Selector {
  readonly #schema: DescribedSchema;
  readonly #selections: Selections;
  readonly #variables: Readonly<Record<string, unknown>>;

  constructor({ schema, fragments, variables }: IntrospectionRequest) {
    this.#schema = schema;
    this.#selections = { schema, fragments, variables: variables.values };
    this.#variables = plainValues(variables);
  }

  collect(type: GraphQLObjectType, selectionSets: readonly SelectionSetNode[]): Map<string, FieldNode[]> {
    return collectFields(this.#selections, type, selectionSets);
  }

  field(parentType: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): IntrospectedField {
    const definition = this.#schema.getField(parentType, nodes[0]!.name.value);
    return {
      label: `${JSON.stringify(key)}:`,
      resolve: this.#resolver(definition, parentType, nodes[0]!),
      shape: this.#shapeOf(definition.type, nodes),
    };
  }

  #shapeOf(type: GraphQLOutputType, nodes: readonly FieldNode[]): Shape {
    const nullable = getNullableType(type);
    if (isListType(nullable)) return { kind: 'list', member: this.#shapeOf(nullable.ofType, nodes) };
    if (!isObjectType(nullable))
      return { kind: 'text', textOf: (leaf) => JSON.stringify((nullable as GraphQLLeafType).coerceOutputValue(leaf)) };
    const fields = this.#fieldsOf(nullable, nodes);
    return fields.every(isText) ? { kind: 'text', textOf: (source) => objectText(fields, source) } : { kind: 'object', fields };
  }

  #fieldsOf(type: GraphQLObjectType, nodes: readonly FieldNode[]): IntrospectedField[] {
    const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return [...this.collect(type, selectionSets)].map(([key, inner]) => this.field(type, key, inner));
  }

  #resolver(definition: GraphQLField<unknown, unknown>, parentType: GraphQLObjectType, node: FieldNode): Resolver {
    const values = getArgumentValues(definition, node, { coerced: this.#variables, sources: {} });
    // Introspection resolvers read only these members.
    const info = { schema: this.#schema, parentType } as unknown as GraphQLResolveInfo;
    const resolve: Resolver = (source) => definition.resolve!(source, values, undefined, info);
    const own = ownResolvers[`${parentType.name}.${definition.name}`];
    return own ? (source) => own(source, this.#schema, resolve) : resolve;
  }
}

/** The values of variables that introspection arguments can use: strings and booleans. */
function plainValues({ values, bindValues }: Variables): Readonly<Record<string, unknown>> {
  const plain = emptyRecord<unknown>();
  for (const [name, value] of values) {
    if (value === null) plain[name] = null;
    else if (value.kind === 'constant') plain[name] = value.value;
    else if (value.kind === 'variable') plain[name] = bindValues[value.index];
  }
  return plain;
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

/**
 * A schema as introspection describes it: the types of a `LazySchema`, but with pg_graphql's descriptions of the built-in scalars.
 * Documents are validated against the `LazySchema` itself, whose built-in scalars are graphql-js's.
 *
 * Relies on undocumented behaviour of graphql-js: its introspection resolvers read only these members of a schema
 * (`test/contracts/graphql.test.ts`).
 */

const describedScalars: ReadonlyMap<string, GraphQLNamedType> = new Map(
  specifiedScalarTypes.map((type) => {
    const description = scalarNamed(type.name)?.description ?? 'A globally unique identifier for a given record';
    return [type.name, new GraphQLScalarType({ ...type.toConfig(), description })];
  }),
);

/** Yielded within a list to pause; not a member of the list. */
export const pause: unique symbol = Symbol('pause');

/** The members that introspection resolvers need from a schema. Each type is built when it is written. */
export class DescribedSchema {
  readonly #schema: LazySchema;
  /** The sorted names of all types, once they are needed. */
  #names: readonly string[] | null = null;

  constructor(schema: LazySchema) {
    this.#schema = schema;
  }

  get description(): string | null | undefined {
    return this.#schema.description;
  }

  getType(name: string): GraphQLNamedType | undefined {
    return describedScalars.get(name) ?? this.#schema.getType(name);
  }

  getField(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> {
    return this.#schema.getField(type, name)!;
  }

  get specifiesScalars(): boolean {
    return this.#schema.specifiesScalars;
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

  /** The fields of `Query`, `Mutation` or a row type with many fields, one by one; undefined for other types. None of them is deprecated. */
  fieldsOf(type: GraphQLNamedType): Iterable<GraphQLField<unknown, unknown>> | undefined {
    return this.#schema.fieldsOf(type);
  }

  /** All types, one by one, with pauses. They are not cached, or all their fields would be in memory by the end. */
  *types(): Generator<GraphQLNamedType | typeof pause, void> {
    for (const name of yield* this.#typeNames()) yield describedScalars.get(name) ?? this.#schema.buildType(name)!;
  }

  /** The types that implement `Node`, which is the only interface, with pauses. */
  *possibleTypes(): Generator<GraphQLObjectType | typeof pause, void> {
    for (const type of this.types()) yield isObjectType(type) && type.getInterfaces().length > 0 ? type : pause;
  }

  *#typeNames(): Generator<typeof pause, readonly string[]> {
    const sorting = this.#schema.sortTypeNames();
    while (this.#names === null) {
      const { done, value } = sorting.next();
      if (done) this.#names = value;
      yield pause;
    }
    return this.#names;
  }
}

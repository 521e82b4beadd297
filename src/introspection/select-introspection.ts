/**
 * Turns a document's introspection selections into a tree that can be written for any number of values, with the same field collection and
 * coerced variables as other fields. graphql-js coerces the arguments, because its resolvers take them. Every introspection type is an
 * object type, so the selection on a type is the same for all its values.
 */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  getArgumentValues,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  specifiedScalarTypes,
} from 'graphql';
import { scalarNamed } from '../model/types/scalars.ts';
import type { Variables } from '../request/coerce/coerce-variables.ts';
import { collectFields, type Selections } from '../request/select/collect-fields.ts';
import { type IntrospectionResolver, introspectionResolver } from '../schema/lazy/graphql-internals.ts';
import { emptyRecord } from '../schema/lazy/lazy-object-type.ts';
import type { LazySchema } from '../schema/lazy/lazy-schema.ts';

export interface IntrospectedField {
  /** The key in JSON, with its colon. */
  readonly label: string;
  /** Resolves the field. A list is an iterable that may contain `pause`, which is not a member. */
  readonly resolve: IntrospectionResolver;
  readonly shape: Shape;
}

export type Shape =
  | { readonly kind: 'leaf'; readonly textOf: (value: unknown) => string }
  | { readonly kind: 'object'; readonly fields: readonly IntrospectedField[] }
  | { readonly kind: 'list'; readonly member: Shape };

/** A valid operation with its variables, coerced against the schema that it was validated against. */
export interface IntrospectingOperation {
  readonly node: OperationDefinitionNode;
  readonly fragments: Selections['fragments'];
  readonly variables: Variables;
}

/** Yielded within a list to pause; not a member of the list. */
export const pause: unique symbol = Symbol('pause');

/** The built-in scalars with pg_graphql's descriptions. Documents are validated against graphql-js's own. */
const describedScalars: ReadonlyMap<string, GraphQLNamedType> = new Map(
  specifiedScalarTypes.map((type) => {
    const description = scalarNamed(type.name)?.description ?? 'A globally unique identifier for a given record';
    return [type.name, new GraphQLScalarType({ ...type.toConfig(), description })];
  }),
);

/** Reads the selections of one operation. Each type is built when it is written. */
export class IntrospectionSelector {
  readonly #schema: LazySchema;
  readonly #selections: Selections;
  readonly #selectionSet: SelectionSetNode;
  readonly #variables: Readonly<Record<string, unknown>>;
  /** The sorted names of all types, once they are needed. */
  #names: readonly string[] | null = null;

  constructor(schema: LazySchema, { node, fragments, variables }: IntrospectingOperation) {
    this.#schema = schema;
    this.#selections = { schema, fragments, variables: variables.values };
    this.#selectionSet = node.selectionSet;
    this.#variables = plainValues(variables);
  }

  /** The selection under the response key of a root field. Throws `GraphQLError` for invalid arguments. */
  select(key: string): IntrospectedField {
    const query = this.#schema.getQueryType();
    return this.#field(query, key, collectFields(this.#selections, query, [this.#selectionSet]).get(key)!);
  }

  #field(parentType: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): IntrospectedField {
    const definition = this.#schema.getField(parentType, nodes[0]!.name.value)!;
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
      return { kind: 'leaf', textOf: (leaf) => JSON.stringify((nullable as GraphQLLeafType).coerceOutputValue(leaf)) };
    const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const fields = collectFields(this.#selections, nullable, selectionSets);
    return { kind: 'object', fields: [...fields].map(([key, inner]) => this.#field(nullable, key, inner)) };
  }

  /** The resolver of graphql-js, unless another is needed. */
  #resolver(definition: GraphQLField<unknown, unknown>, parentType: GraphQLObjectType, node: FieldNode): IntrospectionResolver {
    const values = getArgumentValues(definition, node, { coerced: this.#variables, sources: {} });
    const resolve = introspectionResolver(definition, values, this.#schema, parentType);
    switch (`${parentType.name}.${definition.name}`) {
      case 'Query.__type':
        return (source) => described(resolve(source) as GraphQLNamedType | undefined);
      case '__Schema.types':
        return () => this.#types();
      case '__Type.possibleTypes':
        return (type) => (isAbstractType(type) ? this.#possibleTypes() : null);
      case '__Type.fields':
        return (type) => (isObjectType(type) && this.#schema.fieldsOf(type)) || resolve(type);
      case '__Type.specifiedByURL':
        return this.#schema.specifiesScalars ? resolve : () => null;
      // pg_graphql returns empty lists where graphql-js returns null, and its clients do not expect null.
      case '__Type.enumValues':
      case '__Type.interfaces':
        return (type) => resolve(type) ?? [];
      default:
        return resolve;
    }
  }

  /** All types, one by one, with pauses. They are not cached, or all their fields would be in memory by the end. */
  *#types(): Generator<GraphQLNamedType | typeof pause, void> {
    const sorting = this.#schema.sortTypeNames();
    while (this.#names === null) {
      const { done, value } = sorting.next();
      if (done) this.#names = value;
      yield pause;
    }
    for (const name of this.#names) yield described(this.#schema.buildType(name))!;
  }

  /** The types that implement `Node`, which is the only interface, with pauses. */
  *#possibleTypes(): Generator<GraphQLObjectType | typeof pause, void> {
    for (const type of this.#types()) yield isObjectType(type) && type.getInterfaces().length > 0 ? type : pause;
  }
}

function described(type: GraphQLNamedType | undefined): GraphQLNamedType | undefined {
  return type && (describedScalars.get(type.name) ?? type);
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

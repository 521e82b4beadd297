/**
 * A `GraphQLSchema` over a `TypeRegistry`: graphql-js collects and builds every type when a schema is constructed, which takes seconds and hundreds
 * of megabytes for a database of thousands of tables; validation only looks up a few of them by name.
 *
 * Leans on graphql-js beyond its documentation: validation reads a schema by the methods that are overridden here, and by nothing else
 * (`test/contracts/graphql.test.ts`).
 */
import {
  GraphQLDirective,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLSkipDirective,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import { rootTypeNames } from '../model/graphql-names.ts';
import { introspectionFields, introspectionType } from './introspection-types.ts';
import { sortNames } from './sort-names.ts';
import type { TypeRegistry } from './type-registry.ts';

const includeDirective = describeIf(
  GraphQLIncludeDirective,
  'This field or fragment will be included only when the `if` argument is true.',
  'Included when true',
);
const skipDirective = describeIf(
  GraphQLSkipDirective,
  'This field or fragment will be skipped when the `if` argument is true.',
  'Skipped when true',
);

/** The directive as pg_graphql describes it. */
function describeIf(directive: GraphQLDirective, description: string, ifDescription: string): GraphQLDirective {
  const { args, ...config } = directive.toConfig();
  return new GraphQLDirective({
    ...config,
    description,
    args: { if: { ...args.if, type: args.if!.type, description: ifDescription } },
  });
}

type TypeMap = Record<string, GraphQLNamedType>;

export class LazySchema extends GraphQLSchema {
  readonly #registry: TypeRegistry;
  readonly #hasMutation: boolean;
  /** Whether it tells the page that specifies a scalar, which the scalars of all schemas have. */
  readonly specifiesScalars: boolean;
  #typeMap: TypeMap | undefined;

  /** The registry defines every type, including `Query`, `Node` and (if there is anything to mutate) `Mutation`. */
  constructor(registry: TypeRegistry, { specifiesScalars = true }: { readonly specifiesScalars?: boolean } = {}) {
    super({
      directives: [includeDirective, skipDirective],
      assumeValid: true,
      description: 'Represents the GraphQL schema of the database',
    });
    this.#registry = registry;
    this.specifiesScalars = specifiesScalars;
    this.#hasMutation = registry.has(rootTypeNames.mutation);
  }

  /** graphql-js's own `getType` reads the map of all types, and so would build all of them for an unknown name. */
  override getType(name: string): GraphQLNamedType | undefined {
    return this.#registry.get(name) ?? introspectionType(name) ?? super.getTypeMap()[name];
  }

  /** How many types are built, and kept. */
  countBuilt(): number {
    return this.#registry.countBuilt();
  }

  /** A new copy of the type, to be read once and dropped. */
  buildType(name: string): GraphQLNamedType | undefined {
    return this.#registry.build(name) ?? introspectionType(name) ?? super.getTypeMap()[name];
  }

  /** The fields of a type that has many, built one by one; undefined for other types. */
  fieldsOf(name: string): Iterable<GraphQLField<unknown, unknown>> | undefined {
    return this.#registry.fieldsOf(name)?.buildEach();
  }

  /** Whether `Query` has more fields than this. */
  *hasMoreQueries(most: number): Generator<void, boolean> {
    let count = 0;
    for (const _ of this.#registry.fieldsOf(rootTypeNames.query)?.names() ?? []) {
      count += 1;
      if (count > most) return true;
      yield;
    }
    return false;
  }

  override getField(parentType: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined {
    return (parentType === this.getQueryType() ? introspectionFields[name] : undefined) ?? super.getField(parentType, name);
  }

  override getQueryType(): GraphQLObjectType {
    return this.#registry.object(rootTypeNames.query);
  }

  override getMutationType(): GraphQLObjectType | undefined {
    return this.#hasMutation ? this.#registry.object(rootTypeNames.mutation) : undefined;
  }

  override getRootType(operation: string): GraphQLObjectType | undefined {
    if (operation === 'query') return this.getQueryType();
    return operation === 'mutation' ? this.getMutationType() : undefined;
  }

  /** The names of all types, without building anything: those of the registry, sorted, and GraphQL's own. */
  typeNames(): readonly string[] {
    return [...[...this.#registry.names()].sort(), ...this.#ownNames()];
  }

  /** The same, pausing in between. */
  *sortTypeNames(): Generator<void, readonly string[]> {
    return [...(yield* sortNames(this.#registry.names())), ...this.#ownNames()];
  }

  /** GraphQL's own types that the registry does not define. */
  #ownNames(): readonly string[] {
    return Object.keys(super.getTypeMap()).filter((name) => !this.#registry.has(name));
  }

  /** Every type, built. Printing needs it; requests do not. */
  override getTypeMap(): TypeMap {
    this.#typeMap ??= Object.fromEntries(this.typeNames().map((name) => [name, this.#told(this.getType(name)!)]));
    return this.#typeMap;
  }

  #told(type: GraphQLNamedType): GraphQLNamedType {
    if (this.specifiesScalars || !isScalarType(type) || isSpecifiedScalarType(type)) return type;
    return new GraphQLScalarType({ ...type.toConfig(), specifiedByURL: undefined });
  }

  /** Validation uses the types of `Node` only to suggest some for an unknown field, which is not worth building them. */
  override getPossibleTypes(_abstractType: unknown): readonly GraphQLObjectType[] {
    return [];
  }

  override isSubType(_abstractType: unknown, maybeSubType: GraphQLObjectType | GraphQLInterfaceType): boolean {
    return isObjectType(maybeSubType) && maybeSubType.getInterfaces().length > 0;
  }
}

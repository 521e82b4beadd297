/**
 * A schema as introspection describes it: the types of a `LazySchema`, but with pg_graphql's descriptions of the built-in scalars.
 * Documents are validated against the `LazySchema` itself, whose built-in scalars are graphql-js's.
 *
 * Relies on undocumented behaviour of graphql-js: its introspection resolvers read only these members of a schema
 * (`test/contracts/graphql.test.ts`).
 */
import {
  type GraphQLDirective,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  GraphQLScalarType,
  isObjectType,
  specifiedScalarTypes,
} from 'graphql';
import { scalarNamed } from '../model/types/scalars.ts';
import type { LazySchema } from '../schema/lazy-schema.ts';

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

/**
 * The named types of one schema, each built on first use: a request needs a few of thousands.
 */
import type { GraphQLEnumType, GraphQLField, GraphQLInputObjectType, GraphQLNamedType, GraphQLObjectType } from 'graphql';

export class TypeRegistry {
  readonly #factories = new Map<string, () => GraphQLNamedType>();
  readonly #fields = new Map<string, () => Iterable<GraphQLField<unknown, unknown>>>();
  readonly #built = new Map<string, GraphQLNamedType>();

  /** Adds a type that is built on demand. Each name can be defined only once. */
  define(name: string, factory: () => GraphQLNamedType): void {
    if (this.#factories.has(name)) throw new Error(`The type ${name} is defined twice.`);
    this.#factories.set(name, factory);
  }

  /** Adds access to the fields of a type that has too many to build at once. */
  defineFields(name: string, build: () => Iterable<GraphQLField<unknown, unknown>>): void {
    this.#fields.set(name, build);
  }

  has(name: string): boolean {
    return this.#factories.has(name);
  }

  /** All names, without building anything. */
  names(): IterableIterator<string> {
    return this.#factories.keys();
  }

  get(name: string): GraphQLNamedType | undefined {
    const built = this.#built.get(name);
    if (built) return built;
    const type = this.build(name);
    if (type) this.#built.set(name, type);
    return type;
  }

  /** A new copy of the type, to be read once and dropped: its fields take memory as soon as they are read. */
  build(name: string): GraphQLNamedType | undefined {
    return this.#factories.get(name)?.();
  }

  /** The fields of a type that has many, built one by one; undefined for other types. */
  fieldsOf(name: string): Iterable<GraphQLField<unknown, unknown>> | undefined {
    return this.#fields.get(name)?.();
  }

  /** The object type of this name, which must have been defined. */
  object(name: string): GraphQLObjectType {
    return this.#require(name) as GraphQLObjectType;
  }

  /** The input object type of this name, which must have been defined. */
  input(name: string): GraphQLInputObjectType {
    return this.#require(name) as GraphQLInputObjectType;
  }

  /** The enum type of this name, which must have been defined. */
  enum(name: string): GraphQLEnumType {
    return this.#require(name) as GraphQLEnumType;
  }

  #require(name: string): GraphQLNamedType {
    const type = this.get(name);
    if (!type) throw new Error(`The type ${name} is not defined.`);
    return type;
  }
}

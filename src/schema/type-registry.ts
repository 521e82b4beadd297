/**
 * The named types of one schema, each built when it is first asked for: a request touches a few of thousands.
 */
import type { GraphQLEnumType, GraphQLInputObjectType, GraphQLNamedType, GraphQLObjectType } from 'graphql';

export class TypeRegistry {
  readonly #factories = new Map<string, () => GraphQLNamedType>();
  readonly #preparations = new Map<string, Generator<void, void>>();
  readonly #built = new Map<string, GraphQLNamedType>();

  /** Adds a type that is built on demand. A name is given once. Preparation is what can be done before it is looked into. */
  define(name: string, factory: () => GraphQLNamedType, preparation?: Generator<void, void>): void {
    if (this.#factories.has(name)) throw new Error(`The type ${name} is defined twice.`);
    this.#factories.set(name, factory);
    if (preparation) this.#preparations.set(name, preparation);
  }

  /** Does what can be done before a type is looked into, with pauses; where it is done already, nothing. */
  *prepare(name: string): Generator<void, void> {
    const preparation = this.#preparations.get(name);
    while (preparation && !preparation.next().done) yield;
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
    const type = this.#factories.get(name)?.();
    if (type) this.#built.set(name, type);
    return type;
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

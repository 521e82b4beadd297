import { type GraphQLField, type GraphQLFieldConfig, type GraphQLFieldMap, GraphQLObjectType } from 'graphql';
import type { TypeRegistry } from './type-registry.ts';

/**
 * Fields of an object type that are built on first use, for types that have thousands of them: `Query`, `Mutation`, and rows of tables that
 * many others refer to.
 */

export type Field = GraphQLField<unknown, unknown>;

/** Access to the fields of a type. */
export interface FieldSource {
  /** All names, without duplicates, in field order. */
  readonly names: () => Iterable<string>;
  /** A function that builds the field with this name; undefined if there is none. */
  readonly find: (name: string) => (() => GraphQLFieldConfig<unknown, unknown>) | undefined;
}

/** The fields, each built and cached on first access. */
export function lazyFields(typeName: string, source: FieldSource): GraphQLFieldMap<unknown, unknown> {
  return new Proxy(emptyRecord<Field>(), new LazyFields(typeName, source));
}

/** Builds the fields one by one, without caching them. */
export function* buildEach(typeName: string, { names, find }: FieldSource): Generator<Field, void> {
  for (const name of names()) yield buildField(typeName, name, find(name)!());
}

/** Builds the field within a temporary type, because graphql-js builds all fields of a type at once. */
function buildField(typeName: string, name: string, config: GraphQLFieldConfig<unknown, unknown>): Field {
  return new GraphQLObjectType({ name: typeName, fields: { [name]: config } }).getFields()[name]!;
}

/** Builds each field on first access and caches it in the target. */
class LazyFields implements ProxyHandler<Record<string, Field>> {
  readonly #typeName: string;
  readonly #fields: FieldSource;

  constructor(typeName: string, fields: FieldSource) {
    this.#typeName = typeName;
    this.#fields = fields;
  }

  get(built: Record<string, Field>, name: string | symbol): Field | undefined {
    if (typeof name === 'symbol') return undefined;
    if (built[name]) return built[name];
    const build = this.#fields.find(name);
    if (build) built[name] = buildField(this.#typeName, name, build());
    return built[name];
  }

  has(_built: Record<string, Field>, name: string | symbol): boolean {
    return typeof name === 'string' && this.#fields.find(name) !== undefined;
  }

  ownKeys(): string[] {
    return [...this.#fields.names()];
  }

  getOwnPropertyDescriptor(built: Record<string, Field>, name: string | symbol): PropertyDescriptor | undefined {
    return this.has(built, name) ? { get: () => this.get(built, name), enumerable: true, configurable: true } : undefined;
  }
}

/**
 * `Query` and `Mutation`. They have several fields for each table, thousands in a large schema, so each field is built on first use, and
 * names are listed only when all of them are needed.
 */

/** Defines a root type. */
export function defineRootType(registry: TypeRegistry, name: string, description: string, fields: FieldSource): void {
  registry.define(name, () => new RootType(name, description, fields));
  registry.defineFields(name, { names: fields.names, buildEach: () => buildEach(name, fields) });
}

class RootType extends GraphQLObjectType {
  readonly #fields: GraphQLFieldMap<unknown, unknown>;

  constructor(name: string, description: string, fields: FieldSource) {
    super({ name, description, fields: {} });
    this.#fields = lazyFields(name, fields);
  }

  override getFields(): GraphQLFieldMap<unknown, unknown> {
    return this.#fields;
  }
}

/** A record without a prototype, because its keys come from the database and may be `constructor` or `__proto__`. */
export function emptyRecord<Value>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}

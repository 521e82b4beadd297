/**
 * `Query` and `Mutation`, which have several fields for each table, thousands in a large schema: each is built on first use, and their names are not even
 * listed before somebody asks for all of them.
 */
import { type GraphQLField, type GraphQLFieldConfig, type GraphQLFieldMap, GraphQLObjectType } from 'graphql';
import { emptyRecord } from './empty-record.ts';
import type { TypeRegistry } from './type-registry.ts';

type Field = GraphQLField<unknown, unknown>;

/** What the fields of a root type are made of. */
export interface RootFields {
  /** All names, each once, in the order of the fields. */
  readonly names: () => Iterable<string>;
  /** What builds the field of this name; undefined if there is none. */
  readonly find: (name: string) => (() => GraphQLFieldConfig<unknown, unknown>) | undefined;
}

/** Defines a type with these fields. */
export function defineRootType(registry: TypeRegistry, name: string, description: string, fields: RootFields): void {
  registry.define(name, () => new RootType(name, description, fields));
  registry.defineFields(name, { names: fields.names, buildEach: () => buildEach(name, fields) });
}

/** Builds the fields one by one, without keeping them. */
function* buildEach(typeName: string, { names, find }: RootFields): Generator<Field, void> {
  for (const name of names()) yield buildField(typeName, name, find(name)!());
}

/** Builds the field in a type of its own, because graphql-js builds all fields of a type at once. */
function buildField(typeName: string, name: string, config: GraphQLFieldConfig<unknown, unknown>): Field {
  return new GraphQLObjectType({ name: typeName, fields: { [name]: config } }).getFields()[name]!;
}

class RootType extends GraphQLObjectType {
  readonly #fields: GraphQLFieldMap<unknown, unknown>;

  constructor(name: string, description: string, fields: RootFields) {
    super({ name, description, fields: {} });
    this.#fields = new Proxy(emptyRecord<Field>(), new LazyFields(name, fields));
  }

  override getFields(): GraphQLFieldMap<unknown, unknown> {
    return this.#fields;
  }
}

/** Builds a field when it is read, and keeps it in the record. */
class LazyFields implements ProxyHandler<Record<string, Field>> {
  readonly #typeName: string;
  readonly #fields: RootFields;

  constructor(typeName: string, fields: RootFields) {
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

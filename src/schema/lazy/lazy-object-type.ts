/**
 * Object types whose fields are built on first use: `Query` and `Mutation` have several fields for each table, and a row has one for each
 * table that refers to it, thousands in a large schema. Names are listed only when all of them are needed.
 */
import { type GraphQLField, type GraphQLFieldConfig, type GraphQLFieldMap, type GraphQLInterfaceType, GraphQLObjectType } from 'graphql';

type Field = GraphQLField<unknown, unknown>;
export type FieldConfig = GraphQLFieldConfig<unknown, unknown>;

export interface FieldBuilders {
  /** All names, without duplicates, in field order. */
  readonly keys: () => Iterable<string>;
  /** A function that builds the field with this name; undefined if there is none. */
  readonly get: (name: string) => (() => FieldConfig) | undefined;
}

interface LazyObjectConfig {
  readonly name: string;
  readonly description: string | null;
  readonly interfaces?: readonly GraphQLInterfaceType[];
  readonly builders: () => FieldBuilders;
}

export class LazyObjectType extends GraphQLObjectType {
  readonly #findBuilders: () => FieldBuilders;
  #builders: FieldBuilders | null = null;
  #fields: GraphQLFieldMap<unknown, unknown> | null = null;

  constructor({ name, description, interfaces = [], builders }: LazyObjectConfig) {
    super({ name, description, interfaces, fields: {} });
    this.#findBuilders = builders;
  }

  override getFields(): GraphQLFieldMap<unknown, unknown> {
    this.#fields ??= new Proxy(emptyRecord<Field>(), new LazyFields(this.name, this.#all));
    return this.#fields;
  }

  fieldNames(): Iterable<string> {
    return this.#all.keys();
  }

  /** Builds the fields one by one, without caching them. */
  *buildEach(): Generator<Field, void> {
    for (const name of this.fieldNames()) yield buildField(this.name, name, this.#all.get(name)!());
  }

  get #all(): FieldBuilders {
    this.#builders ??= this.#findBuilders();
    return this.#builders;
  }
}

/** Builds the field within a temporary type, because graphql-js builds all fields of a type at once. */
function buildField(typeName: string, name: string, config: FieldConfig): Field {
  return new GraphQLObjectType({ name: typeName, fields: { [name]: config } }).getFields()[name]!;
}

/** Builds each field on first access and caches it in the target. */
class LazyFields implements ProxyHandler<Record<string, Field>> {
  readonly #typeName: string;
  readonly #builders: FieldBuilders;

  constructor(typeName: string, builders: FieldBuilders) {
    this.#typeName = typeName;
    this.#builders = builders;
  }

  get(built: Record<string, Field>, name: string | symbol): Field | undefined {
    if (typeof name === 'symbol') return undefined;
    if (built[name]) return built[name];
    const build = this.#builders.get(name);
    if (build) built[name] = buildField(this.#typeName, name, build());
    return built[name];
  }

  has(_built: Record<string, Field>, name: string | symbol): boolean {
    return typeof name === 'string' && this.#builders.get(name) !== undefined;
  }

  ownKeys(): string[] {
    return [...this.#builders.keys()];
  }

  getOwnPropertyDescriptor(built: Record<string, Field>, name: string | symbol): PropertyDescriptor | undefined {
    return this.has(built, name) ? { get: () => this.get(built, name), enumerable: true, configurable: true } : undefined;
  }
}

/** A record without a prototype, because its keys come from the database and may be `constructor` or `__proto__`. */
export function emptyRecord<Value>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}

/**
 * `Query` and `Mutation`, which have several fields for each table, thousands in a large schema: each is built on first use.
 */
import { type GraphQLField, type GraphQLFieldConfig, type GraphQLFieldMap, GraphQLObjectType } from 'graphql';
import { emptyRecord } from './empty-record.ts';
import type { TypeRegistry } from './type-registry.ts';

type Field = GraphQLField<unknown, unknown>;
type BuildField = () => GraphQLFieldConfig<unknown, unknown>;

/** The fields of a root type, by name. */
export class RootFields {
  readonly #typeName: string;
  readonly #builders = new Map<string, BuildField>();
  /** All names are present; a field is built when it is read. */
  readonly built: GraphQLFieldMap<unknown, unknown> = emptyRecord();

  constructor(typeName: string) {
    this.#typeName = typeName;
  }

  get size(): number {
    return this.#builders.size;
  }

  /** Adds a field that is built on demand. Of several with the same name, the first wins. */
  add(name: string, build: BuildField): void {
    if (this.#builders.has(name)) return;
    this.#builders.set(name, build);
    const get = (): Field => {
      const value = this.#build(name, build);
      Object.defineProperty(this.built, name, { value, enumerable: true });
      return value;
    };
    Object.defineProperty(this.built, name, { get, enumerable: true, configurable: true });
  }

  /** Builds the fields one by one, without keeping them. */
  *buildEach(): Generator<Field, void> {
    for (const [name, build] of this.#builders) yield this.#build(name, build);
  }

  /** Builds the field in a type of its own, because graphql-js builds all fields of a type at once. */
  #build(name: string, build: BuildField): Field {
    return new GraphQLObjectType({ name: this.#typeName, fields: { [name]: build() } }).getFields()[name]!;
  }
}

/** Defines a type with these fields. */
export function defineRootType(registry: TypeRegistry, name: string, description: string, fields: RootFields): void {
  registry.define(name, () => new RootType(name, description, fields));
  registry.defineFields(name, () => fields.buildEach());
}

class RootType extends GraphQLObjectType {
  readonly #fields: RootFields;

  constructor(name: string, description: string, fields: RootFields) {
    super({ name, description, fields: {} });
    this.#fields = fields;
  }

  override getFields(): GraphQLFieldMap<unknown, unknown> {
    return this.#fields.built;
  }
}

/**
 * `Query` and `Mutation`, which have several fields for each table, thousands in a large schema: each is built on first use.
 */
import { type GraphQLField, type GraphQLFieldConfig, type GraphQLFieldMap, GraphQLObjectType } from 'graphql';
import { emptyRecord } from './empty-record.ts';
import type { TypeRegistry } from './type-registry.ts';

/** The name of a field, and the function that builds it. */
export type RootField = readonly [name: string, build: () => GraphQLFieldConfig<unknown, unknown>];

type Field = GraphQLField<unknown, unknown>;

/** Defines a type with these fields. Of several with the same name, the first wins. */
export function defineRootType(registry: TypeRegistry, name: string, description: string, fields: () => Iterable<RootField>): void {
  registry.define(name, () => new RootType(name, description, fields()));
  registry.defineFields(name, () => buildFields(name, fields()));
}

class RootType extends GraphQLObjectType {
  readonly #fields: GraphQLFieldMap<unknown, unknown> = emptyRecord();

  constructor(name: string, description: string, fields: Iterable<RootField>) {
    super({ name, description, fields: {} });
    for (const [fieldName, build] of fields) if (!(fieldName in this.#fields)) this.#define(fieldName, build);
  }

  /** All names are present; a field is built when it is read. */
  override getFields(): GraphQLFieldMap<unknown, unknown> {
    return this.#fields;
  }

  #define(name: string, build: RootField[1]): void {
    const get = (): Field => {
      const value = buildField(this.name, name, build);
      Object.defineProperty(this.#fields, name, { value, enumerable: true });
      return value;
    };
    Object.defineProperty(this.#fields, name, { get, enumerable: true, configurable: true });
  }
}

/** Builds the fields one by one, without keeping them. */
function* buildFields(typeName: string, fields: Iterable<RootField>): Generator<Field, void> {
  const names = new Set<string>();
  for (const [name, build] of fields) {
    if (names.has(name)) continue;
    names.add(name);
    yield buildField(typeName, name, build);
  }
}

/** Builds the field in a type of its own, because graphql-js builds all fields of a type at once. */
function buildField(typeName: string, name: string, build: RootField[1]): Field {
  return new GraphQLObjectType({ name: typeName, fields: { [name]: build() } }).getFields()[name]!;
}

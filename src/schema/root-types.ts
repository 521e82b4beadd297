/**
 * `Query` and `Mutation`, which have several fields for each table, thousands in a large schema: each is built when it is first asked for.
 */
import { type GraphQLField, type GraphQLFieldConfig, type GraphQLFieldMap, GraphQLObjectType } from 'graphql';
import { emptyRecord } from './empty-record.ts';
import type { TypeRegistry } from './type-registry.ts';

/** A name, and what builds the field. */
export type RootField = readonly [name: string, build: () => GraphQLFieldConfig<unknown, unknown>];

type Field = GraphQLField<unknown, unknown>;

/** Defines a type of these fields. Of several of one name the first stays. */
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

  /** The names are all there; a field is built when it is read. */
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

/** The fields one after the other, without keeping any. */
function* buildFields(typeName: string, fields: Iterable<RootField>): Generator<Field, void> {
  const names = new Set<string>();
  for (const [name, build] of fields) {
    if (names.has(name)) continue;
    names.add(name);
    yield buildField(typeName, name, build);
  }
}

/** The field out of a type of its own, for graphql-js makes the fields of a type all at once. */
function buildField(typeName: string, name: string, build: RootField[1]): Field {
  return new GraphQLObjectType({ name: typeName, fields: { [name]: build() } }).getFields()[name]!;
}

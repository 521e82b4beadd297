/**
 * `Query` and `Mutation`. They have several fields for each table, thousands in a large schema, so each field is built on first use, and
 * names are listed only when all of them are needed.
 */
import { type GraphQLFieldMap, GraphQLObjectType } from 'graphql';
import { buildEach, type FieldSource, lazyFields } from './lazy-fields.ts';
import type { TypeRegistry } from './type-registry.ts';

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

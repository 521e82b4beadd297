/**
 * `Query` and `Mutation`, which have several fields for each table, thousands in a large schema.
 */
import { type GraphQLField, type GraphQLFieldConfig, type GraphQLFieldConfigMap, GraphQLObjectType } from 'graphql';
import { emptyRecord } from './empty-record.ts';
import type { TypeRegistry } from './type-registry.ts';

type FieldConfig = GraphQLFieldConfig<unknown, unknown>;

/** A name, and what builds the field: undefined where it turns out that there is none. */
export type RootField = readonly [name: string, build: () => FieldConfig | undefined];

/** Defines a type of these fields. Of several of one name the first stays. */
export function defineRootType(registry: TypeRegistry, name: string, description: string, fields: () => Iterable<RootField>): void {
  const allFields = () => {
    const all: GraphQLFieldConfigMap<unknown, unknown> = emptyRecord();
    for (const [fieldName, field] of buildFields(fields())) all[fieldName] = field;
    return all;
  };
  registry.define(name, () => new GraphQLObjectType({ name, description, fields: allFields }));
  registry.defineFields(name, () => singleFields(name, fields()));
}

function* buildFields(fields: Iterable<RootField>): Generator<[string, FieldConfig], void> {
  const names = new Set<string>();
  for (const [name, build] of fields) {
    const field = names.has(name) ? undefined : build();
    if (!field) continue;
    names.add(name);
    yield [name, field];
  }
}

/** Each field out of a type of its own, for graphql-js makes the fields of a type all at once. */
function* singleFields(typeName: string, fields: Iterable<RootField>): Generator<GraphQLField<unknown, unknown>, void> {
  for (const [name, field] of buildFields(fields)) {
    yield* Object.values(new GraphQLObjectType({ name: typeName, fields: { [name]: field } }).getFields());
  }
}

/**
 * `Query` and `Mutation`, which have several fields for each table, thousands in a large schema. Their fields are built one by one, so
 * that whoever has the time can pause in between.
 */
import { type GraphQLFieldConfig, type GraphQLFieldConfigMap, GraphQLObjectType } from 'graphql';
import { runAtOnce } from '../slices.ts';
import { emptyRecord } from './empty-record.ts';
import type { TypeRegistry } from './type-registry.ts';

/** A name, and what builds the field: undefined where it turns out that there is none. */
export type RootField = readonly [name: string, build: () => GraphQLFieldConfig<unknown, unknown> | undefined];

/** Defines a type of these fields. Of several of one name the first stays. */
export function defineRootType(registry: TypeRegistry, name: string, description: string, fields: Iterable<RootField>): void {
  const built: GraphQLFieldConfigMap<unknown, unknown> = emptyRecord();
  const preparation = buildFields(fields, built);
  const allFields = () => {
    runAtOnce(preparation);
    return built;
  };
  registry.define(name, () => new GraphQLObjectType({ name, description, fields: allFields }), preparation);
}

function* buildFields(fields: Iterable<RootField>, built: GraphQLFieldConfigMap<unknown, unknown>): Generator<void, void> {
  for (const [name, build] of fields) {
    const field = built[name] ?? build();
    if (field) built[name] = field;
    yield;
  }
}

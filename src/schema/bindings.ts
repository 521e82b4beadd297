/**
 * Bindings: what a GraphQL field, argument or input field means in the model. Later stages read them instead of names. `schema/` stores
 * them in `extensions`; `request/` reads them.
 */
import type { GraphQLArgument, GraphQLField, GraphQLInputField } from 'graphql';
import type { Column, Relation, Routine, RoutineArgument, Table } from '../model/model.ts';
import type { RelatedRows } from '../model/related-rows.ts';
import type { WritableRelation } from '../model/writable-relations.ts';

export type AggregateFunction =
  | 'sum'
  | 'avg'
  | 'min'
  | 'max'
  | 'countDistinct'
  | 'stddev'
  | 'variance'
  | 'boolAnd'
  | 'boolOr'
  | 'percentile';
/** Aggregates of related rows that rows can be ordered by. */
export type OrderAggregate = 'sum' | 'avg' | 'min' | 'max';

export type FieldBinding =
  | { readonly kind: 'collection'; readonly table: Table }
  | { readonly kind: 'by key'; readonly table: Table }
  | { readonly kind: 'node' }
  | { readonly kind: 'insert' | 'update' | 'delete'; readonly table: Table }
  | { readonly kind: 'routine'; readonly routine: Routine }
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'relation'; readonly relation: Relation }
  | { readonly kind: 'computed'; readonly routine: Routine }
  | { readonly kind: 'node id'; readonly table: Table }
  | { readonly kind: 'edges' | 'page info' | 'total count' | 'aggregate' | 'groups' | 'group key' }
  | { readonly kind: 'cursor' | 'edge node' }
  | { readonly kind: 'start cursor' | 'end cursor' | 'has next page' | 'has previous page' }
  | { readonly kind: 'count' }
  | { readonly kind: 'aggregate function'; readonly name: AggregateFunction }
  | { readonly kind: 'aggregate column'; readonly column: Column }
  | { readonly kind: 'affected count' | 'records' | 'query' };

export type InputBinding =
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'node id' | 'and' | 'or' | 'not' }
  | { readonly kind: 'related rows'; readonly rows: RelatedRows }
  | { readonly kind: 'is' | 'some' | 'every' | 'none' | 'count' | 'where' }
  | { readonly kind: 'computed'; readonly routine: Routine }
  | { readonly kind: 'aggregate function'; readonly name: OrderAggregate }
  | { readonly kind: 'relation'; readonly relation: Relation }
  | { readonly kind: 'group aggregate'; readonly name: AggregateFunction }
  | { readonly kind: 'bucket' | 'key' | 'fraction' }
  | { readonly kind: 'nested write'; readonly relation: WritableRelation }
  /** A boolean that changes the SQL, so it is not a bind value. */
  | { readonly kind: 'switch' }
  | { readonly kind: 'argument'; readonly argument: RoutineArgument };

const key = 'rowgraph';

/** The `extensions` of a field with this binding. */
export function bindField(binding: FieldBinding): { extensions: Record<string, FieldBinding> } {
  return { extensions: { [key]: binding } };
}

/** The `extensions` of an input field or argument with this binding. */
export function bindInput(binding: InputBinding): { extensions: Record<string, InputBinding> } {
  return { extensions: { [key]: binding } };
}

/** The binding of a field; undefined for introspection fields. */
export function fieldBinding(field: GraphQLField<unknown, unknown>): FieldBinding | undefined {
  return field.extensions[key] as FieldBinding | undefined;
}

/** The binding of an input field or argument; undefined for the arguments common to all collections. */
export function inputBinding(input: GraphQLInputField | GraphQLArgument): InputBinding | undefined {
  return input.extensions[key] as InputBinding | undefined;
}

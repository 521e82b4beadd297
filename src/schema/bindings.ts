/**
 * Bindings: what a GraphQL field, argument or input field means in the model. Later stages read them instead of names. `schema/` stores
 * them in `extensions`; `request/` reads them. What can occur depends on the position in the schema: on the type that has the field.
 */
import type { GraphQLArgument, GraphQLField, GraphQLInputField } from 'graphql';
import type { Column, Lineage, Relation, Table } from '../model/model.ts';
import type { RelatedRows } from '../model/relations/related-rows.ts';
import type { WritableRelation } from '../model/relations/writable-relations.ts';
import type { Routine, RoutineArgument } from '../model/routine.ts';
import type { JsonOperator, Operator, RangeOperator } from '../model/types/operators.ts';
import type { AggregateFunction, OrderAggregate } from '../model/types/postgres-types.ts';

interface ColumnBinding {
  readonly kind: 'column';
  readonly column: Column;
}
/** A column of ranges, as objects with bounds. */
interface BoundsBinding {
  readonly kind: 'bounds';
  readonly column: Column;
}
/** A JSON column, as an object or a list with its shape. */
interface ShapeBinding {
  readonly kind: 'shape';
  readonly column: Column;
}
export type RangePart = 'lower' | 'upper' | 'lower inclusive' | 'upper inclusive' | 'is empty';
/** What is at a path of a JSON column. */
interface JsonValueBinding {
  readonly kind: 'json value';
  readonly column: Column;
}
/** What is in a column: the members of a composite value, or of JSON with a shape. */
export interface MembersBinding {
  readonly kind: 'members';
  readonly column: Column;
}
/** The columns that the values of an enum mean, by name. */
interface ColumnsBinding {
  readonly kind: 'columns';
  readonly columns: ReadonlyMap<string, Column>;
}
export interface RelationBinding {
  readonly kind: 'relation';
  readonly relation: Relation;
}
interface LineageBinding {
  readonly kind: 'lineage';
  readonly lineage: Lineage;
}
interface RoutineBinding {
  readonly kind: 'routine';
  readonly routine: Routine;
  /** Whether ranges that it returns are objects. */
  readonly asBounds?: true;
}
interface ComputedBinding {
  readonly kind: 'computed';
  readonly routine: Routine;
  readonly asBounds?: true;
}
interface RelatedRowsBinding {
  readonly kind: 'related rows';
  readonly rows: RelatedRows;
}
interface FunctionBinding {
  readonly kind: 'aggregate function';
  readonly name: AggregateFunction;
}
export type AggregateBinding = Plain<'count'> | FunctionBinding;
/** A binding that its kind says all about. */
interface Plain<Kind extends string> {
  readonly kind: Kind;
}

/** What a field of an object type can mean, by the kind of the type. */
interface FieldBindings {
  query: { readonly kind: 'collection' | 'by key' | 'stream'; readonly table: Table } | Plain<'node'> | RoutineBinding;
  mutation: { readonly kind: 'insert' | 'update' | 'delete'; readonly table: Table } | RoutineBinding;
  response: Plain<'affected count' | 'records' | 'edges' | 'query'>;
  row:
    | ColumnBinding
    | BoundsBinding
    | RelationBinding
    | LineageBinding
    | ComputedBinding
    | Plain<'node id' | 'search rank' | 'search snippet'>;
  range: Plain<RangePart>;
  connection: Plain<'edges' | 'page info' | 'total count' | 'aggregate' | 'groups'>;
  edge: Plain<'cursor' | 'node' | 'distance' | 'score' | 'depth'>;
  'page info': Plain<'start cursor' | 'end cursor' | 'has next page' | 'has previous page'>;
  aggregate: AggregateBinding;
  'aggregate column': ColumnBinding;
  group: AggregateBinding | Plain<'key'>;
  'group key': ColumnBinding | JsonValueBinding | MembersBinding | RelationBinding;
}

/** What an input field can mean, by the kind of the input type, and an argument, by that of its field. */
interface InputBindings {
  lookup: ColumnBinding;
  collection: Plain<'search' | 'nearest' | 'fuse'>;
  fusion: Plain<'search weight' | 'nearest weight' | 'k' | 'depth'>;
  search: Plain<'text' | 'mode'> | { readonly kind: 'config'; readonly configs: ReadonlyMap<string, string> };
  snippet: ColumnsBinding | Plain<'start' | 'stop' | 'words'>;
  routine: { readonly kind: 'argument' | 'argument bounds'; readonly argument: RoutineArgument };
  nearest: ColumnBinding | Plain<'within'>;
  'nearest to': Plain<'to' | 'text' | 'nearest to' | 'metric'>;
  operators: { readonly kind: 'operator'; readonly operator: Operator } | Plain<'is'>;
  'array operators': Plain<'any' | 'all' | 'length'>;
  'geometry operators': Plain<'near'>;
  near: Plain<'from' | 'distance'>;
  'range operators': { readonly kind: 'range operator'; readonly operator: RangeOperator } | Plain<'lower' | 'upper' | 'is empty'>;
  range: Plain<RangePart>;
  'json operators': { readonly kind: 'json operator'; readonly operator: JsonOperator };
  'json path': Plain<'path' | 'vars'>;
  /** `is` tests a composite value. */
  filter: ColumnBinding | RelatedRowsBinding | Plain<'node id' | 'and' | 'or' | 'not' | 'search' | 'is'>;
  /** What the filter of a related row has besides the members of a filter. */
  'filter to one': Plain<'is'>;
  'filter to many': Plain<'some' | 'every' | 'none' | 'count' | 'where'>;
  order: ColumnBinding | JsonValueBinding | ComputedBinding | RelatedRowsBinding | Plain<'search rank' | 'depth'>;
  'order to many': Plain<'count'> | { readonly kind: 'aggregate function'; readonly name: OrderAggregate };
  'order column': ColumnBinding;
  write: ColumnBinding | BoundsBinding | ShapeBinding | { readonly kind: 'nested write'; readonly relation: WritableRelation };
  /** An attribute. */
  composite: ColumnBinding | BoundsBinding | ShapeBinding;
  increment: ColumnBinding;
  /** A shape has the members to set. */
  'json columns': ColumnBinding | ShapeBinding;
  'json change': Plain<'merge' | 'remove paths' | 'set paths'>;
  'json assignment': Plain<'path' | 'value'>;
  'json value': Plain<'path' | 'as' | 'direction'>;
  /** A boolean that changes the SQL, so it is not a bind value. */
  'nested write': Plain<'switch'>;
  key: ColumnBinding | Plain<'node id'>;
  'group by': ColumnBinding | JsonValueBinding | MembersBinding | RelationBinding | Plain<'bucket'>;
  bucket: ColumnBinding;
  having: FunctionBinding | Plain<'count' | 'and' | 'or' | 'not'>;
  'group order': FunctionBinding | Plain<'count' | 'key'>;
  /** The columns that a function of groups is tested or ordered by. */
  'group column': ColumnBinding | Plain<'fraction'>;
  'group key order': ColumnBinding | JsonValueBinding | MembersBinding | RelationBinding;
}

type At<Bindings> = { [Position in keyof Bindings]: Bindings[Position] & { readonly at: Position } }[keyof Bindings];
export type FieldBinding = At<FieldBindings>;
export type InputBinding = At<InputBindings>;

/** The positions of input fields that can mean a column. */
export type ColumnPosition = {
  [Position in keyof InputBindings]: ColumnBinding extends InputBindings[Position] ? Position : never;
}[keyof InputBindings];

const key = 'rowgraph';

export function bindField<Position extends keyof FieldBindings>(at: Position, binding: FieldBindings[Position]) {
  return { extensions: { [key]: { at, ...binding } } };
}

export function bindInput<Position extends keyof InputBindings>(at: Position, binding: InputBindings[Position]) {
  return { extensions: { [key]: { at, ...binding } } };
}

/** The binding of a field; undefined for introspection fields. */
export function fieldBinding(field: GraphQLField<unknown, unknown>): FieldBinding | undefined {
  return field.extensions[key] as FieldBinding | undefined;
}

/** The binding of an input field or argument; undefined for the arguments common to all collections, and for operators. */
export function inputBinding(input: GraphQLInputField | GraphQLArgument): InputBinding | undefined {
  return input.extensions[key] as InputBinding | undefined;
}

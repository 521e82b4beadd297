/** What is bound when a statement runs. */
import type { ColumnShape } from '../model/model.ts';
import type { MeasuredForm } from '../model/types/postgres-types.ts';
import type { ValueType } from '../model/value-type.ts';
import type { BindValue } from '../request/operation.ts';
import type { RangePart } from '../schema/bindings.ts';

/** A value to bind when the statement runs, and how to encode it for PostgreSQL. */
export interface Parameter {
  readonly value: ParameterValue;
  readonly encoding: ParameterEncoding;
}

/** A bind value, a list of bind values in the document, or the schema version of the moment (`compile/schema-guard.ts`). */
export type ParameterValue =
  | BindValue
  | { readonly kind: 'list'; readonly items: readonly ParameterValue[] }
  /** A value of a composite type, by the names of its attributes in PostgreSQL. */
  | { readonly kind: 'composite'; readonly attributes: ReadonlyMap<string, ParameterValue> }
  /** A range; of a multirange, one of the list. A bound that is absent or null is none. */
  | { readonly kind: 'range'; readonly parts: ReadonlyMap<RangePart, ParameterValue> }
  /** Null, where an input takes the bounds of a range. */
  | { readonly kind: 'null bounds' }
  /** JSON with a shape, or null instead of it. */
  | { readonly kind: 'shaped'; readonly shape: ColumnShape; readonly value: ParameterValue }
  | { readonly kind: 'version'; readonly version: { readonly current: string } };

/** How to encode an element of a cursor or nodeId. */
export type ElementUse = 'text' | 'array' | 'json';

/** What a value is used for, which determines its encoding. */
export type ValueUse = 'filter' | 'write' | ElementUse;

export type ValuePart = 'first' | 'second' | 'ending' | 'part' | 'labels' | 'trigrams';

export type ParameterEncoding =
  /**
   * Encoded by type: enum names become labels, and lists array literals. Texts are checked against the maximum length of the column. `as`
   * binds a part of a list of two values, or a text as a pattern that ends with it or contains it; patterns of labels and texts that are
   * compared by their trigrams are checked.
   */
  | { readonly kind: 'value'; readonly type: ValueType; readonly use: 'filter' | 'write'; readonly as?: ValuePart }
  /** Text, such as an element of a cursor or nodeId, unchanged. `argument` has the nodeId that the element is of. */
  | { readonly kind: 'text'; readonly argument?: string }
  /** An element for an array column: its text, or a list of numbers. */
  | { readonly kind: 'array'; readonly argument?: string }
  /** An element as JSON. */
  | { readonly kind: 'json' }
  /** `first`, `last` or `offset`: not negative, limited to the maximum. */
  | { readonly kind: 'count'; readonly argument: string; readonly maximum: number }
  /** Keys that lead to a part of JSON: at least one. */
  | { readonly kind: 'json path' }
  /** A column of rows: a list with a value for each row, encoded according to `use`. */
  | { readonly kind: 'rows'; readonly type: ValueType; readonly use: ValueUse }
  /** The width of a bucket: a number greater than 0. */
  | { readonly kind: 'width' }
  /** A list of numbers as a vector or a point; `name` is that of its column. */
  | {
      readonly kind: 'vector';
      readonly form: Exclude<MeasuredForm, 'text' | 'place'>;
      readonly dimensions: number | null;
      readonly name: string;
    }
  /** A number from 0 to a maximum. */
  | { readonly kind: 'number'; readonly argument: string; readonly maximum: number }
  /** The text of a search, or its words as a query that finds those that begin with them. */
  | { readonly kind: 'search'; readonly asPrefixes: boolean }
  /** What is around a word in a snippet. */
  | { readonly kind: 'mark'; readonly argument: string }
  /** A whole number, unchanged. */
  | { readonly kind: 'integer' };

/** A number of rows, either known or bound (within `maximum`). */
export type Count = number | Parameter;

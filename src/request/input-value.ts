/** A coerced argument or variable, as data. Its structure is known when a statement is compiled; bind values are bound when it runs. */
import type { InputBinding } from '../schema/bindings.ts';

export type InputValue = null | BindValue | Choice | InputList | InputObject | CursorValue | IdentifierValue;

/** A bind parameter: a scalar, a database enum value, or a whole list of either. */
export type BindValue = ConstantValue | VariableValue;

/** A value in the document. */
export interface ConstantValue {
  readonly kind: 'constant';
  readonly value: ScalarValue;
}
/** A value that comes with each request, by its index in the variables' bind values. */
export interface VariableValue {
  readonly kind: 'variable';
  readonly index: number;
}

/**
 * The content of a bind value: text (including numbers, so that they keep all digits), a boolean, a list, or nested JSON of a cursor or
 * nodeId.
 */
export type ScalarValue = string | boolean | null | readonly ScalarValue[] | NestedJson;

/** A list or object inside a cursor or nodeId, as JSON text. */
export interface NestedJson {
  readonly json: string;
}

/** An enum value that changes the SQL: a sort direction, `NULL` or `NOT_NULL`, a constraint or column of `onConflict`. */
export interface Choice {
  readonly kind: 'choice';
  readonly name: string;
}

export interface InputList {
  readonly kind: 'list';
  readonly items: readonly InputValue[];
}

export interface InputObject {
  readonly kind: 'object';
  readonly entries: readonly InputEntry[];
  /** The fields that are absent because their variables were not sent. */
  readonly unsent?: readonly string[];
}
export interface InputEntry {
  readonly name: string;
  readonly binding: InputBinding | undefined;
  readonly value: InputValue;
}

/** A decoded cursor: the values of the order keys, null if the row had null. */
export interface CursorValue {
  readonly kind: 'cursor';
  readonly elements: readonly (BindValue | null)[];
}

/** A decoded `nodeId`. */
export interface IdentifierValue {
  readonly kind: 'identifier';
  readonly schema: string;
  readonly table: string;
  readonly elements: readonly (BindValue | null)[];
}

/**
 * A coerced argument or variable, as data: its structure is known when a statement is compiled, its bind values are bound when it runs.
 */
import type { InputBinding } from '../schema/bindings.ts';

export type InputValue = null | BindValue | Choice | InputList | InputObject | CursorValue | IdentifierValue;

/** A scalar, an enum value of the database, or a whole list of them: a bind parameter. */
export type BindValue = ConstantValue | VariableValue;

/** Stands in the document. */
export interface ConstantValue {
  readonly kind: 'constant';
  readonly value: ScalarValue;
}
/** Comes with each request: the bind value of this number among those of the variables. */
export interface VariableValue {
  readonly kind: 'variable';
  readonly index: number;
}

/** What a bind value holds: text (also of numbers, so that no digit is lost), a boolean, a list, or what a cursor or nodeId has nested. */
export type ScalarValue = string | boolean | null | readonly ScalarValue[] | NestedJson;

/** A list or an object inside a cursor or nodeId, as JSON text. */
export interface NestedJson {
  readonly json: string;
}

/** A value of an enum that decides what the SQL is: a direction of ordering, `NULL` or `NOT_NULL`, a constraint or column of a conflict. */
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
}
export interface InputEntry {
  readonly name: string;
  readonly binding: InputBinding | undefined;
  readonly value: InputValue;
}

/** A decoded cursor: the values of the order keys, null if the row had none. */
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

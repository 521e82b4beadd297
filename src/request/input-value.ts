/**
 * A coerced argument or variable, as data: its structure is known when a statement is compiled, its leaves are bound when it runs.
 */
import type { InputBinding } from '../schema/bindings.ts';

export type InputValue = null | Leaf | Choice | InputList | InputObject | CursorValue | IdentifierValue;

/** A scalar, an enum value of the database, or a whole list of them: a bind parameter. */
export type Leaf = ConstantLeaf | VariableLeaf;

/** Stands in the document. */
export interface ConstantLeaf {
  readonly kind: 'constant';
  readonly value: ScalarValue;
}
/** Comes with each request: the leaf of this number among the leaves of the variables. */
export interface VariableLeaf {
  readonly kind: 'variable';
  readonly leaf: number;
}

/** What a leaf holds: text (also of numbers, so that no digit is lost), a boolean, or a list. */
export type ScalarValue = string | boolean | null | readonly ScalarValue[];

/** A value of an enum that decides what the SQL is: a direction of ordering, `NULL` or `NOT_NULL`. */
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

/** A decoded cursor: the values of the order keys, null where the row had none. */
export interface CursorValue {
  readonly kind: 'cursor';
  readonly elements: readonly (Leaf | null)[];
}

/** A decoded `nodeId`. */
export interface IdentifierValue {
  readonly kind: 'identifier';
  readonly schema: string;
  readonly table: string;
  readonly elements: readonly (Leaf | null)[];
}

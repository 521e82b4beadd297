/** An operation as later stages see it: fragments merged, directives evaluated, arguments coerced. Plain data, except for `on`. */
import type { ColumnShape } from '../model/model.ts';
import type { FieldBinding, InputBinding, RangePart } from '../schema/bindings.ts';

export interface Operation {
  /** A subscription reads as a query does. */
  readonly kind: 'query' | 'mutation';
  readonly fields: readonly SelectedField[];
}

export interface SelectedField {
  /** The response key: the alias, or the field's name. */
  readonly key: string;
  readonly name: string;
  /** The type that the field is selected on, which is the value of `__typename`. */
  readonly parentType: string;
  /** The field's binding; undefined for `__typename`, `__schema` and `__type`. */
  readonly binding: FieldBinding | undefined;
  /** The arguments that are present, in schema order. */
  readonly arguments: readonly InputEntry[];
  /** The arguments that are absent because their variables were not sent. */
  readonly unsent: readonly string[];
  readonly selection: readonly SelectedField[];
  /** The fields selected on an interface, for one of its object types. */
  readonly on: (typeName: string) => readonly SelectedField[];
}

/** What a field, an argument or an input field means: all that can occur at this position of the schema. */
export function bindingAt<Binding extends { readonly at: string }, Position extends Binding['at']>(
  at: Position,
  { name, binding }: { readonly name: string; readonly binding: Binding | undefined },
): Extract<Binding, { readonly at: Position }> {
  if (!isAt(at, binding)) throw new Error(`"${name}" is no ${at}.`);
  return binding;
}

function isAt<Binding extends { readonly at: string }, Position extends Binding['at']>(
  at: Position,
  binding: Binding | undefined,
): binding is Extract<Binding, { readonly at: Position }> {
  return binding?.at === at;
}

/** The value of an argument; undefined if it is absent. */
export function argumentOf(field: SelectedField, name: string): InputValue | undefined {
  return field.arguments.find((argument) => argument.name === name)?.value;
}

/** The value of the input with this meaning; null if it is absent. */
export function valueAt<Position extends InputBinding['at']>(
  inputs: readonly InputEntry[],
  at: Position,
  kind: Extract<InputBinding, { readonly at: Position }>['kind'],
): InputValue {
  return inputs.find(({ binding }) => binding?.at === at && binding.kind === kind)?.value ?? null;
}

/** A coerced argument or variable, as data. Its structure is known when a statement is compiled; bind values are bound when it runs. */
export type InputValue = null | BindValue | Choice | InputList | InputObject | CursorValue | IdentifierValue;

/** A bind parameter: a scalar, a database enum value, or a whole list of either. */
export type BindValue = ConstantValue | VariableValue;

/** A value in the document. */
interface ConstantValue {
  readonly kind: 'constant';
  readonly value: ScalarValue;
}
/** A value that comes with each request, by its index in the variables' bind values. */
export interface VariableValue {
  readonly kind: 'variable';
  readonly index: number;
}

/**
 * The content of a bind value: text (including numbers, so that they keep all digits), a boolean, a list, a value of a composite type, a
 * range, JSON with a shape, or nested JSON of a cursor or nodeId.
 */
export type ScalarValue = string | boolean | null | readonly ScalarValue[] | CompositeValue | RangeValue | ShapedValue | NestedJson;

/** A value of a composite type: its attributes, by their names in PostgreSQL. Those that are absent are null. */
export interface CompositeValue {
  readonly attributes: ReadonlyMap<string, ScalarValue>;
}

/** A range; of a multirange, one of the list. A bound that is absent or null is none. */
export interface RangeValue {
  readonly range: ReadonlyMap<RangePart, ScalarValue>;
}

/** A value of a JSON column with a shape: an object, whose members are by their names in JSON, or a list. Members that are absent are not in it. */
export interface ShapedValue {
  readonly shape: ColumnShape;
  readonly value: ScalarValue;
}

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

/** An argument, or a field of an input object. */
export interface InputEntry {
  readonly name: string;
  readonly binding: InputBinding | undefined;
  readonly value: InputValue;
}

/** A decoded cursor: the values of the order keys, null if the row had null. */
interface CursorValue {
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

/**
 * How strictly documents are coerced: `strict` as the GraphQL specification says; `lenient` judges a scalar or an enum by its value where
 * it is used, as pg_graphql does.
 */
export type Coercion = 'lenient' | 'strict';

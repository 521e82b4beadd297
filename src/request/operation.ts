/**
 * An operation as the stages after it see it: fragments merged, directives decided, arguments coerced. Plain data, but for `on`.
 */
import type { FieldBinding, InputBinding } from '../schema/bindings.ts';
import type { InputValue } from './input-value.ts';

export interface Operation {
  readonly kind: 'query' | 'mutation';
  readonly fields: readonly SelectedField[];
}

export interface SelectedField {
  /** The key in the response: the alias, or the field's name. */
  readonly key: string;
  readonly name: string;
  /** The type that the field was selected on: what `__typename` answers. */
  readonly parentType: string;
  /** What the field means; undefined for `__typename`, `__schema` and `__type`. */
  readonly binding: FieldBinding | undefined;
  /** Arguments that are present, in the order of the schema. */
  readonly arguments: readonly Argument[];
  /** What was selected of an object. */
  readonly selection: readonly SelectedField[];
  /** What was selected of an interface, for one of its types. */
  readonly on: (typeName: string) => readonly SelectedField[];
}

export interface Argument {
  readonly name: string;
  readonly binding: InputBinding | undefined;
  readonly value: InputValue;
}

/** The value of an argument; undefined if it is absent. */
export function argumentOf(field: SelectedField, name: string): InputValue | undefined {
  return field.arguments.find((argument) => argument.name === name)?.value;
}

/** An operation as later stages see it: fragments merged, directives evaluated, arguments coerced. Plain data, except for `on`. */
import type { FieldBinding, InputBinding } from '../schema/bindings.ts';
import type { InputValue } from './input-value.ts';

export interface Operation {
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
  readonly arguments: readonly Argument[];
  /** The arguments that are absent because their variables were not sent. */
  readonly unsent: readonly string[];
  /** The fields selected on an object. */
  readonly selection: readonly SelectedField[];
  /** The fields selected on an interface, for one of its object types. */
  readonly on: (typeName: string) => readonly SelectedField[];
}

export interface Argument {
  readonly name: string;
  readonly binding: InputBinding | undefined;
  readonly value: InputValue;
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

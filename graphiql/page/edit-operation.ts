/**
 * Edits an operation for the explorer: adds and removes fields and arguments. Makes another tree of it. A
 * path has names of fields; for an argument, also a path of input fields. Fields of fragments are left unchanged.
 */
import {
  type ArgumentNode,
  type FieldNode,
  Kind,
  type ObjectFieldNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';

/** Names of fields from the root of the operation. */
export type FieldPath = readonly string[];
/** The name of an argument, and of input fields within it. */
export type ArgumentPath = readonly string[];

/** The field at a path; null if the operation does not have it. */
export function findField({ selectionSet }: OperationDefinitionNode, path: FieldPath): FieldNode | null {
  let field: FieldNode | null = null;
  let selections: readonly SelectionNode[] = selectionSet.selections;
  for (const name of path) {
    field = selections.find((selection): selection is FieldNode => selection.kind === Kind.FIELD && selection.name.value === name) ?? null;
    if (field === null) return null;
    selections = field.selectionSet?.selections ?? [];
  }
  return field;
}

/** The value at a path of arguments of a field; null if there is none. In a list of objects, the path continues in the first one. */
export function findValue({ arguments: given = [] }: FieldNode, [name, ...below]: ArgumentPath): ValueNode | null {
  let value: ValueNode | null = given.find((argument) => argument.name.value === name)?.value ?? null;
  for (const key of below) value = membersOf(value).find((member) => member.name.value === key)?.value ?? null;
  return value;
}

/** The operation with a field at the path, and with the fields above it; the last one as given. */
export function addField(operation: OperationDefinitionNode, path: FieldPath, added: FieldNode): OperationDefinitionNode {
  return { ...operation, selectionSet: withField(operation.selectionSet, path, () => added) };
}

/** The operation without a field, and without the fields above it that would be left empty. */
export function removeField(operation: OperationDefinitionNode, path: FieldPath): OperationDefinitionNode {
  const selectionSet = withField(operation.selectionSet, path, () => null);
  return { ...operation, selectionSet: selectionSet.selections.length > 0 ? selectionSet : selectionSetOf([fieldOf('__typename')]) };
}

/** The operation with a new value for an argument or an input field; null removes it, and what would be left empty. */
export function setValue(
  operation: OperationDefinitionNode,
  path: FieldPath,
  argument: ArgumentPath,
  value: ValueNode | null,
): OperationDefinitionNode {
  const change = (field: FieldNode | null): FieldNode => withArgument(field ?? fieldOf(path.at(-1) ?? ''), argument, value);
  return { ...operation, selectionSet: withField(operation.selectionSet, path, change) };
}

/** A field without arguments. */
export function fieldOf(name: string, selectionSet?: SelectionSetNode): FieldNode {
  return { kind: Kind.FIELD, name: { kind: Kind.NAME, value: name }, ...(selectionSet !== undefined && { selectionSet }) };
}

/** A selection set of these selections. */
export function selectionSetOf(selections: readonly SelectionNode[]): SelectionSetNode {
  return { kind: Kind.SELECTION_SET, selections: [...selections] };
}

function withField(
  selectionSet: SelectionSetNode | undefined,
  [name = '', ...below]: FieldPath,
  change: (field: FieldNode | null) => FieldNode | null,
): SelectionSetNode {
  const selections = selectionSet?.selections ?? [];
  const index = selections.findIndex((selection) => selection.kind === Kind.FIELD && selection.name.value === name);
  const field = index < 0 ? null : (selections[index] as FieldNode);
  const changed =
    below.length === 0 ? change(field) : withSelections(field ?? fieldOf(name), withField(field?.selectionSet, below, change));
  if (index < 0) return selectionSetOf(changed === null ? selections : [...selections, changed]);
  return selectionSetOf(selections.flatMap((selection, place) => (place !== index ? selection : (changed ?? []))));
}

/** Null for a field with nothing selected. */
function withSelections(field: FieldNode, selectionSet: SelectionSetNode): FieldNode | null {
  return selectionSet.selections.length === 0 ? null : { ...field, selectionSet };
}

function withArgument(field: FieldNode, [name = '', ...below]: ArgumentPath, value: ValueNode | null): FieldNode {
  const given = field.arguments ?? [];
  const before = given.find((argument) => argument.name.value === name);
  const changed = withMember(before?.value ?? null, below, value);
  const node = changed && ({ kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: name }, value: changed } satisfies ArgumentNode);
  return { ...field, arguments: replaced(given, before, node) };
}

function withMember(before: ValueNode | null, [name, ...below]: ArgumentPath, value: ValueNode | null): ValueNode | null {
  if (name === undefined) return value;
  const members = membersOf(before);
  const member = members.find((each) => each.name.value === name);
  const changed = withMember(member?.value ?? null, below, value);
  const node = changed && ({ kind: Kind.OBJECT_FIELD, name: { kind: Kind.NAME, value: name }, value: changed } satisfies ObjectFieldNode);
  const fields = replaced(members, member, node);
  if (fields.length === 0) return null;
  const object: ValueNode = { kind: Kind.OBJECT, fields: [...fields] };
  return before?.kind === Kind.LIST ? { ...before, values: [object, ...before.values.slice(1)] } : object;
}

function membersOf(value: ValueNode | null): readonly ObjectFieldNode[] {
  const object = value?.kind === Kind.LIST ? value.values[0] : value;
  return object?.kind === Kind.OBJECT ? object.fields : [];
}

/** The list with `before` replaced by `changed`. Without `before`, `changed` is appended; if it is null, `before` is removed. */
function replaced<T>(all: readonly T[], before: T | undefined, changed: T | null): readonly T[] {
  if (before === undefined) return changed === null ? all : [...all, changed];
  return all.flatMap((each) => (each !== before ? [each] : changed === null ? [] : [changed]));
}

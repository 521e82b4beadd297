/**
 * Locates fields of an operation in the text of its document, by their path in the response or by a variable that they use. Documents are
 * cached without locations, because only errors need them.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getLocation,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  type ValueNode,
  visit,
} from 'graphql';
import type { SourcePosition } from '../../errors/api-error.ts';
import type { InputPath } from '../../errors/input-path.ts';
import { fragmentsOf } from '../../request/select/collect-fields.ts';

const maxLocations = 10;

/** Returns the locations of the fields at this path in a valid document; undefined if there are none. */
export function locateField(
  text: string,
  operationName: string | null | undefined,
  path: readonly string[],
): readonly SourcePosition[] | undefined {
  const document = readDocument(parse(text), operationName);
  let selectionSets = document.operation ? [document.operation.selectionSet] : [];
  let fields: readonly FieldNode[] = [];
  for (const key of path) {
    fields = fieldsOf(document, selectionSets).filter((field) => keyOf(field) === key);
    selectionSets = fields.flatMap(({ selectionSet }) => selectionSet ?? []);
  }
  return positionsOf(fields);
}

/** The fields that use a variable: their common path and their locations. Undefined if there is none. */
interface VariableUses {
  readonly path: readonly string[] | undefined;
  readonly locations: readonly SourcePosition[] | undefined;
  /** The path of the variable in the arguments of the field, if it is used once. */
  readonly input: InputPath | undefined;
}

/** Finds the uses of a variable in a valid document, which was parsed with locations. */
export function locateVariable(node: DocumentNode, operationName: string | null | undefined, variable: string): VariableUses {
  const document = readDocument(node, operationName);
  const uses: FieldNode[] = [];
  let shared: readonly string[] | undefined;
  const search = (selectionSet: SelectionSetNode, path: readonly string[]): void => {
    for (const field of fieldsOf(document, [selectionSet])) {
      // Further uses change nothing.
      if (shared?.length === 0 && uses.length >= maxLocations) return;
      const fieldPath = [...path, keyOf(field)];
      if (usesVariable(field, variable)) {
        uses.push(field);
        shared = shared === undefined ? fieldPath : sharedStart(shared, fieldPath);
      }
      if (field.selectionSet) search(field.selectionSet, fieldPath);
    }
  };
  if (document.operation) search(document.operation.selectionSet, []);
  const input = uses.length === 1 ? onlyInput(uses[0]!, variable) : undefined;
  return { path: shared?.length === 0 ? undefined : shared, locations: positionsOf([...new Set(uses)]), input };
}

function onlyInput({ arguments: args = [] }: FieldNode, variable: string): InputPath | undefined {
  const inputs = args.flatMap(({ name, value }) => inputsWith(value, variable, [name.value]));
  return inputs.length === 1 ? inputs[0] : undefined;
}

function inputsWith(value: ValueNode, variable: string, path: InputPath): InputPath[] {
  switch (value.kind) {
    case Kind.VARIABLE:
      return value.name.value === variable ? [path] : [];
    case Kind.LIST:
      return value.values.flatMap((item, index) => inputsWith(item, variable, [...path, index]));
    case Kind.OBJECT:
      return value.fields.flatMap((field) => inputsWith(field.value, variable, [...path, field.name.value]));
    default:
      return [];
  }
}

export function sharedStart<Key>(one: readonly Key[], other: readonly Key[]): readonly Key[] {
  const end = one.findIndex((key, index) => key !== other[index]);
  return end < 0 ? one : one.slice(0, end);
}

interface LocatedDocument {
  readonly operation: OperationDefinitionNode | undefined;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

function readDocument(document: DocumentNode, operationName: string | null | undefined): LocatedDocument {
  const operation = document.definitions.find((definition): definition is OperationDefinitionNode => {
    return definition.kind === Kind.OPERATION_DEFINITION && (!operationName || definition.name?.value === operationName);
  });
  return { operation, fragments: fragmentsOf(document) };
}

/** The fields of one level, including those of fragments. */
function fieldsOf({ fragments }: LocatedDocument, selectionSets: readonly SelectionSetNode[]): FieldNode[] {
  const fields: FieldNode[] = [];
  const visited = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) fields.push(selection);
      else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment) collect(fragment.selectionSet);
      }
    }
  };
  for (const selectionSet of selectionSets) collect(selectionSet);
  return fields;
}

/** Whether an argument of the field or of its directives uses the variable. */
function usesVariable({ arguments: args = [], directives = [] }: FieldNode, variable: string): boolean {
  let found = false;
  const Variable = ({ name }: { readonly name: { readonly value: string } }) => {
    found ||= name.value === variable;
  };
  for (const node of [...args, ...directives]) visit(node, { Variable });
  return found;
}

function keyOf({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}

function positionsOf(fields: readonly FieldNode[]): SourcePosition[] | undefined {
  const positions = fields.slice(0, maxLocations).flatMap(({ loc }) => (loc ? [getLocation(loc.source, loc.start)] : []));
  return positions.length > 0 ? positions.map(({ line, column }) => ({ line, column })) : undefined;
}

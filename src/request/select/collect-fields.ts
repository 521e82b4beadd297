/**
 * Collects the fields that a valid document selects on an object (https://spec.graphql.org/October2021/#CollectFields()): expands
 * fragments, evaluates `@skip` and `@include`, and groups fields by response key.
 */
import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  isInterfaceType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { ApiError } from '../../errors/api-error.ts';
import type { InputValue } from '../operation.ts';

export interface Selections {
  readonly schema: { getType(name: string): GraphQLNamedType | undefined };
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Coerced variables. Those that directives depend on are constants. */
  readonly variables: ReadonlyMap<string, InputValue>;
}

export function fragmentsOf({ definitions }: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((definition) => [definition.name.value, definition]));
}

/** Returns the nodes of each field, by response key. Throws BAD_USER_INPUT for a condition that is not a boolean. */
export function collectFields(
  selections: Selections,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): Map<string, FieldNode[]> {
  const grouped = new Map<string, FieldNode[]>();
  const visited = new Set<string>();
  for (const selectionSet of selectionSets) collect(selections, type, selectionSet, grouped, visited);
  return grouped;
}

function collect(
  selections: Selections,
  type: GraphQLObjectType,
  selectionSet: SelectionSetNode,
  grouped: Map<string, FieldNode[]>,
  visited: Set<string>,
): void {
  for (const selection of selectionSet.selections) {
    if (!isIncluded(selections, selection.directives)) continue;
    if (selection.kind === Kind.FIELD) {
      const key = (selection.alias ?? selection.name).value;
      const nodes = grouped.get(key);
      if (nodes) nodes.push(selection);
      else grouped.set(key, [selection]);
      continue;
    }
    const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
    if (isSpread && visited.has(selection.name.value)) continue;
    if (isSpread) visited.add(selection.name.value);
    const fragment = isSpread ? selections.fragments.get(selection.name.value)! : selection;
    if (applies(selections, type, fragment.typeCondition?.name.value)) collect(selections, type, fragment.selectionSet, grouped, visited);
  }
}

function applies({ schema }: Selections, type: GraphQLObjectType, condition: string | undefined): boolean {
  if (condition === undefined || condition === type.name) return true;
  const conditional = schema.getType(condition);
  return isInterfaceType(conditional) && type.getInterfaces().includes(conditional);
}

function isIncluded({ variables }: Selections, directives: readonly DirectiveNode[] | undefined): boolean {
  return (directives ?? []).every(({ name, arguments: args }) => {
    const node = args?.find((argument) => argument.name.value === 'if')?.value;
    if (!node || (name.value !== 'skip' && name.value !== 'include')) return true;
    const variable = node.kind === Kind.VARIABLE ? variables.get(node.name.value) : null;
    const constant = variable?.kind === 'constant' ? variable.value : undefined;
    const condition = node.kind === Kind.BOOLEAN ? node.value : constant;
    if (typeof condition !== 'boolean') throw new ApiError('BAD_USER_INPUT', `The argument "if" of @${name.value} must be true or false.`);
    return condition === (name.value === 'include');
  });
}

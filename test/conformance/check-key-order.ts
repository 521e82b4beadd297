/**
 * Checks that the keys of a response stand in the order in which the request asks for them
 * (https://spec.graphql.org/October2021/#sec-Serialized-Map-Ordering). It knows no types: where fragments have type conditions, the order
 * must be right for one of them.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  parse,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

interface Context {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Returns the path of the first object whose keys are out of order, or null. */
export function findKeyDisorder(
  request: { query: string; operationName?: string; variables?: Readonly<Record<string, unknown>> },
  data: unknown,
): string | null {
  const document = parse(request.query);
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const operation = findOperation(document, request.operationName);
  const defaults = (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
    defaultValue?.kind === Kind.BOOLEAN ? [[variable.name.value, defaultValue.value] as const] : [],
  );
  const context = {
    fragments: new Map(fragments.map((fragment) => [fragment.name.value, fragment])),
    variables: { ...Object.fromEntries(defaults), ...request.variables },
  };
  return checkValue(context, 'data', [operation.selectionSet], data);
}

function findOperation(document: DocumentNode, name: string | undefined) {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const operation = name === undefined ? operations[0] : operations.find((candidate) => candidate.name?.value === name);
  if (operation === undefined) throw new Error('The vector has no such operation');
  return operation;
}

function checkValue(context: Context, path: string, selectionSets: readonly SelectionSetNode[], value: unknown): string | null {
  if (selectionSets.length === 0 || typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) {
    return firstFound(value.entries(), ([index, item]) => checkValue(context, `${path}[${index}]`, selectionSets, item));
  }
  const keys = Object.keys(value);
  const objectDisorder = `${path} {${keys.join()}}`;
  let disorder: string | null = objectDisorder;
  for (const type of [undefined, ...typeConditions(context, selectionSets)]) {
    const fields = new Map<string, FieldNode[]>();
    const selections = selectionSets.flatMap((set) => set.selections);
    collectFields(context, type, selections, fields, new Set());
    if ([...fields.keys()].join() !== keys.join()) continue;
    const found = firstFound(fields, ([key, nodes]) => {
      const children = nodes.flatMap((node) => node.selectionSet ?? []);
      return checkValue(context, `${path}.${key}`, children, (value as Record<string, unknown>)[key]);
    });
    if (found === null) return null;
    if (disorder === objectDisorder) disorder = found;
  }
  return disorder;
}

function firstFound<Item>(items: Iterable<Item>, check: (item: Item) => string | null): string | null {
  for (const item of items) {
    const found = check(item);
    if (found !== null) return found;
  }
  return null;
}

/** CollectFields of the specification (https://spec.graphql.org/October2021/#CollectFields()), for an object that may be of the type. */
function collectFields(
  context: Context,
  type: string | undefined,
  selections: readonly SelectionNode[],
  fields: Map<string, FieldNode[]>,
  visited: Set<string>,
): void {
  for (const selection of selections) {
    if (!isIncluded(context, selection)) continue;
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value;
      fields.set(key, [...(fields.get(key) ?? []), selection]);
      continue;
    }
    const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : context.fragments.get(selection.name.value);
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      if (visited.has(selection.name.value)) continue;
      visited.add(selection.name.value);
    }
    const condition = fragment?.typeCondition?.name.value;
    // Node is the only interface there is.
    if (condition === undefined || condition === type || condition === 'Node') {
      collectFields(context, type, fragment?.selectionSet.selections ?? [], fields, visited);
    }
  }
}

function isIncluded(context: Context, selection: SelectionNode): boolean {
  return (selection.directives ?? []).every(({ name, arguments: given }) => {
    const value = given?.[0]?.value;
    const condition = value?.kind === Kind.VARIABLE ? context.variables[value.name.value] : value?.kind === Kind.BOOLEAN && value.value;
    if (name.value === 'skip') return condition !== true;
    return name.value !== 'include' || condition === true;
  });
}

/** The types that fragments name at this level, at any depth of fragments. */
function typeConditions(context: Context, selectionSets: readonly SelectionSetNode[]): Set<string> {
  const conditions = new Set<string>();
  const visited = new Set<SelectionSetNode>();
  function visit(selectionSet: SelectionSetNode): void {
    if (visited.has(selectionSet)) return;
    visited.add(selectionSet);
    for (const selection of selectionSet.selections) {
      if (selection.kind === Kind.FIELD) continue;
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : context.fragments.get(selection.name.value);
      if (fragment === undefined) continue;
      if (fragment.typeCondition !== undefined) conditions.add(fragment.typeCondition.name.value);
      visit(fragment.selectionSet);
    }
  }
  for (const selectionSet of selectionSets) visit(selectionSet);
  return conditions;
}

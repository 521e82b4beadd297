/**
 * Validation rule: fields with the same response key can be merged (https://spec.graphql.org/October2021/#sec-Field-Selection-Merging). It
 * takes time linear in the fields of the operation with fragments expanded; graphql-js compares every pair, and gives up at some hundreds
 * of fields with one key. Compatibility of two fields is an equivalence relation, so it suffices to compare each field of a group with the
 * first, then continue with the combined subselections (Simon Adameit,
 * https://tech.new-work.se/graphql-overlapping-fields-can-be-merged-fast-ea6e92e0a01).
 */
import {
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLOutputType,
  isCompositeType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  NoFragmentCyclesRule,
  type SelectionSetNode,
  type ValidationContext,
  type ValueNode,
  validate,
} from 'graphql';

/** Reports the first conflict of each operation, with graphql-js's message. Leaves cyclic fragments to another rule. */
export function MergeableFieldsRule(context: ValidationContext): ASTVisitor {
  let isCyclic: boolean | undefined;
  return {
    OperationDefinition(node) {
      isCyclic ??= hasCycle(context);
      if (isCyclic) return;
      const root = context.getSchema().getRootType(node.operation);
      const conflict = new Merger(context).findConflict([{ selectionSet: node.selectionSet, parentType: root, parent: null }]);
      if (conflict) context.reportError(toError(conflict));
    },
  };
}

type ParentType = NonNullable<ReturnType<ValidationContext['getParentType']>> | null | undefined;

/** A selection set to merge with others. */
interface SelectionParent {
  readonly selectionSet: SelectionSetNode;
  readonly parentType: ParentType;
  readonly parent: Entry | null;
}

interface Entry {
  readonly node: FieldNode;
  readonly parentType: ParentType;
  /** Undefined if the type has no such field, which another rule reports. */
  readonly definition: GraphQLField<unknown, unknown> | undefined;
  /** The field whose selection set it is in. */
  readonly parent: Entry | null;
}

interface Conflict {
  readonly one: Entry;
  readonly other: Entry;
  readonly reason: string;
}

class Merger {
  readonly #context: ValidationContext;
  readonly #arguments = new Map<FieldNode, string>();

  constructor(context: ValidationContext) {
    this.#context = context;
  }

  /** Fields selected on the same object must be the same field with the same arguments, and so must their subselections. */
  findConflict(parents: readonly SelectionParent[]): Conflict | null {
    for (const group of this.#collect(parents).values()) {
      const parts = partsOf(group);
      const conflict = (parts.length > 1 ? this.#findShapeConflict(group) : null) ?? this.#findInParts(parts);
      if (conflict) return conflict;
    }
    return null;
  }

  #findInParts(parts: readonly (readonly Entry[])[]): Conflict | null {
    for (const part of parts) {
      const conflict = this.#findDifference(part) ?? this.findConflict(selectedOf(part));
      if (conflict) return conflict;
    }
    return null;
  }

  #findDifference([first, ...others]: readonly Entry[]): Conflict | null {
    if (!first) return null;
    for (const other of others) {
      if (other.node === first.node) continue;
      const [one, name] = [first.node.name.value, other.node.name.value];
      if (one !== name) return { one: first, other, reason: `"${one}" and "${name}" are different fields` };
      if (this.#argumentsOf(first.node) !== this.#argumentsOf(other.node)) {
        return { one: first, other, reason: 'they have differing arguments' };
      }
    }
    return null;
  }

  /** Fields on types that no object can both have may differ, but must return values of the same shape. */
  #findShapeConflict(group: readonly Entry[]): Conflict | null {
    const [first, ...others] = group.filter(({ definition }) => definition);
    if (!first) return null;
    const type = first.definition!.type;
    for (const other of others) {
      const otherType = other.definition!.type;
      if (!hasSameShape(type, otherType))
        return { one: first, other, reason: `they return conflicting types "${type}" and "${otherType}"` };
    }
    for (const inner of this.#collect(selectedOf(group)).values()) {
      const conflict = inner.length > 1 ? this.#findShapeConflict(inner) : null;
      if (conflict) return conflict;
    }
    return null;
  }

  #collect(parents: readonly SelectionParent[]): Map<string, Entry[]> {
    const groups = new Map<string, Entry[]>();
    const visited = new Set<string>();
    for (const { selectionSet, parentType, parent } of parents) this.#collectFrom(selectionSet, parentType, parent, groups, visited);
    return groups;
  }

  #collectFrom(
    { selections }: SelectionSetNode,
    parentType: ParentType,
    parent: Entry | null,
    groups: Map<string, Entry[]>,
    visited: Set<string>,
  ): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const definition =
          isObjectType(parentType) || isInterfaceType(parentType) ? parentType.getFields()[selection.name.value] : undefined;
        const entry = { node: selection, parentType, definition, parent };
        const group = groups.get(key);
        if (group) group.push(entry);
        else groups.set(key, [entry]);
        continue;
      }
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      if (isSpread && visited.has(selection.name.value)) continue;
      if (isSpread) visited.add(selection.name.value);
      const fragment = isSpread ? this.#context.getFragment(selection.name.value) : selection;
      if (!fragment) continue;
      const condition = fragment.typeCondition;
      const type = condition ? this.#context.getSchema().getType(condition.name.value) : parentType;
      this.#collectFrom(fragment.selectionSet, isCompositeType(type) ? type : parentType, parent, groups, visited);
    }
  }

  /** The arguments as text, sorted. */
  #argumentsOf(node: FieldNode): string {
    if (!node.arguments || node.arguments.length === 0) return '';
    let text = this.#arguments.get(node);
    if (text === undefined) {
      text = membersText(node.arguments);
      this.#arguments.set(node, text);
    }
    return text;
  }
}

/** Splits a group by object type. Fields selected on an interface belong to every part. */
function partsOf(group: readonly Entry[]): (readonly Entry[])[] {
  const first = group[0]?.parentType;
  if (group.every(({ parentType }) => parentType === first)) return [group];
  const abstract = group.filter(({ parentType }) => !isObjectType(parentType));
  const concrete = Map.groupBy(
    group.filter(({ parentType }) => isObjectType(parentType)),
    ({ parentType }) => parentType,
  );
  if (concrete.size === 0) return [group];
  return abstract.length === 0 ? [...concrete.values()] : [...concrete.values()].map((part) => [...abstract, ...part]);
}

function selectedOf(entries: readonly Entry[]): SelectionParent[] {
  const parents: SelectionParent[] = [];
  for (const entry of entries) {
    const { selectionSet } = entry.node;
    if (selectionSet) parents.push({ selectionSet, parentType: namedTypeOf(entry.definition?.type), parent: entry });
  }
  return parents;
}

function namedTypeOf(type: GraphQLOutputType | undefined): ParentType {
  if (type === undefined) return undefined;
  if (isListType(type) || isNonNullType(type)) return namedTypeOf(type.ofType as GraphQLOutputType);
  return isCompositeType(type) ? type : undefined;
}

function hasSameShape(one: GraphQLOutputType, other: GraphQLOutputType): boolean {
  if (isListType(one) || isListType(other)) return isListType(one) && isListType(other) && hasSameShape(one.ofType, other.ofType);
  if (isNonNullType(one) || isNonNullType(other))
    return isNonNullType(one) && isNonNullType(other) && hasSameShape(one.ofType, other.ofType);
  return isLeafType(one) || isLeafType(other) ? one === other : true;
}

/** Arguments or object fields as text, sorted. */
function membersText(members: readonly { readonly name: { readonly value: string }; readonly value: ValueNode }[]): string {
  return members
    .map(({ name, value }) => `${name.value}:${valueText(value)}`)
    .sort()
    .join();
}

function valueText(value: ValueNode): string {
  switch (value.kind) {
    case Kind.VARIABLE:
      return `$${value.name.value}`;
    case Kind.LIST:
      return `[${value.values.map(valueText).join()}]`;
    case Kind.OBJECT:
      return `{${membersText(value.fields)}}`;
    case Kind.STRING:
      return JSON.stringify(value.value);
    case Kind.NULL:
      return 'null';
    default:
      return String(value.value);
  }
}

/** Describes the conflict starting from the level where the paths of the two fields diverge. */
function toError({ one, other, reason }: Conflict): GraphQLError {
  const nodes: FieldNode[] = [one.node, other.node];
  let [upper, lower] = [one, other];
  let shown = reason;
  while (upper.parent && lower.parent && upper.parent !== lower.parent) {
    shown = `subfields "${keyOf(upper)}" conflict because ${shown}`;
    [upper, lower] = [upper.parent, lower.parent];
    nodes.unshift(upper.node, lower.node);
  }
  const advice = 'Use different aliases on the fields to fetch both if this was intentional.';
  return new GraphQLError(`Fields "${keyOf(upper)}" conflict because ${shown}. ${advice}`, { nodes: [...new Set(nodes)] });
}

function keyOf({ node }: Entry): string {
  return (node.alias ?? node.name).value;
}

/** Whether a fragment spreads itself, directly or indirectly. */
function hasCycle(context: ValidationContext): boolean {
  return validate(context.getSchema(), context.getDocument(), [NoFragmentCyclesRule], { maxErrors: 1 }).length > 0;
}

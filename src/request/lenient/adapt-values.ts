/**
 * Walks the values of a document by the types of their places. In: the arguments of its fields and directives; out: the uses of variables,
 * and literals to put in the place of those that only lenient coercion takes: enum values written as strings, BigFloats as numbers.
 */
import {
  type ASTNode,
  type DirectiveNode,
  type FieldNode,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  Kind,
  type ObjectValueNode,
  type ValueNode,
  type VariableNode,
} from 'graphql';
import { type Limits, overLimit } from '../../budget/limits.ts';
import { scalarNamed } from '../../model/types/scalars.ts';
import { describePlace, type InputPlace } from './describe-input.ts';

/** All uses of a variable at places of one type. */
export interface VariableUse {
  readonly name: string;
  readonly nodes: VariableNode[];
  /** Null where the schema has no such argument or field, or no list or object: the document is invalid. */
  readonly place: InputPlace | null;
  readonly isInDirective: boolean;
}

/** The uses in one definition: there may be thousands, but few differ. */
export type VariableUses = Map<string, VariableUse>;

/** A literal that strict coercion refuses. */
export interface LiteralMismatch {
  readonly node: ValueNode;
  readonly replacement: ValueNode;
  /** What to write instead. */
  readonly message: string;
}

interface Definition {
  readonly type: GraphQLInputType;
  readonly default?: unknown;
  readonly defaultValue?: unknown;
}
interface Arguments {
  readonly args: readonly (Definition & { readonly name: string })[];
}

export class ValueAdapter {
  readonly literals: LiteralMismatch[] = [];
  /** The places of scalar and enum literals and of variables, for errors about them. */
  readonly places = new Map<ASTNode, InputPlace>();
  readonly #limits: Limits;
  #values = 0;
  #uses: VariableUses = new Map();
  #isInDirective = false;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Walks the arguments of a field or directive, and adds the uses of variables to `uses`. */
  walkArguments(node: FieldNode | DirectiveNode, definition: Arguments | undefined, uses: VariableUses): void {
    this.#uses = uses;
    this.#isInDirective = node.kind === Kind.DIRECTIVE;
    const owner = `${this.#isInDirective ? '@' : ''}${node.name.value}`;
    for (const { name, value } of node.arguments ?? []) {
      const argument = definition?.args.find((each) => each.name === name.value);
      this.#walk(value, argument ? placeOf(argument, name.value, owner) : null);
    }
  }

  /** Walks the default of a variable as if it were written at a place. Returns its mismatches. */
  walkDefault(node: ValueNode, place: InputPlace): readonly LiteralMismatch[] {
    const before = this.literals.length;
    this.#walk(node, place);
    return this.literals.slice(before);
  }

  #walk(node: ValueNode, place: InputPlace | null): void {
    this.#values += 1;
    // The default of a variable is walked once for each type that it is used as.
    if (this.#values > this.#limits.inputValues) throw overLimit(this.#limits, 'inputValues');
    switch (node.kind) {
      case Kind.VARIABLE:
        if (place) this.places.set(node, place);
        return this.#addUse(node, place);
      case Kind.NULL:
        return;
      case Kind.LIST: {
        const list = place && getNullableType(place.type);
        const item = isListType(list) ? { ...place!, type: list.ofType, hasDefault: false } : null;
        for (const value of node.values) this.#walk(value, item);
        return;
      }
      case Kind.OBJECT:
        return this.#walkObject(node, place);
      default:
        if (place) this.#walkLeaf(node, place);
    }
  }

  #addUse(node: VariableNode, place: InputPlace | null): void {
    const name = node.name.value;
    const isInDirective = this.#isInDirective;
    const key = `${name} ${place?.type} ${place?.hasDefault} ${isInDirective}`;
    const known = this.#uses.get(key);
    if (known) known.nodes.push(node);
    else this.#uses.set(key, { name, nodes: [node], place, isInDirective });
  }

  #walkObject({ fields }: ObjectValueNode, place: InputPlace | null): void {
    // An object in the place of a list stands for a list with this item.
    const type = place && getNamedType(place.type);
    const defined = isInputObjectType(type) ? type.getFields() : {};
    for (const { name, value } of fields) {
      const field = Object.hasOwn(defined, name.value) ? defined[name.value] : undefined;
      this.#walk(value, place && field ? placeOf(field, `${place.path}.${name.value}`, place.owner) : null);
    }
  }

  #walkLeaf(node: ValueNode, place: InputPlace): void {
    const type = getNamedType(place.type);
    if (!isLeafType(type)) return;
    this.places.set(node, place);
    const adapted = adaptLeaf(node, type);
    if (!adapted) return;
    const { replacement, remedy } = adapted;
    this.literals.push({ node, replacement, message: `${describePlace(place)} takes ${type.name}: ${remedy}` });
    this.places.set(replacement, place);
  }
}

/** graphql-js gives its own fields the older `defaultValue`. */
function placeOf({ type, default: fallback, defaultValue }: Definition, path: string, owner: string): InputPlace {
  return { type, hasDefault: (fallback ?? defaultValue) !== undefined, path, owner };
}

/**
 * The literal as strict coercion takes it, and what to write; null if nothing else could be meant. Labels that are no valid names can be
 * written only in a variable, but pg_graphql takes them as strings.
 */
function adaptLeaf(node: ValueNode, type: GraphQLNamedType): { readonly replacement: ValueNode; readonly remedy: string } | null {
  if (node.kind === Kind.STRING && isEnumType(type)) {
    const remedy = type.getValue(node.value) ? `write ${node.value} without quotes` : `send the value in a variable of type ${type.name}`;
    return { replacement: { ...node, kind: Kind.ENUM, value: node.value }, remedy };
  }
  if ((node.kind === Kind.INT || node.kind === Kind.FLOAT) && scalarNamed(type.name)?.takesNumbers)
    return { replacement: { ...node, kind: Kind.STRING, value: node.value }, remedy: 'write the number in quotes' };
  return null;
}

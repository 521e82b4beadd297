/**
 * Walks the values of a document by the types of their places. In: the arguments of its fields and directives; out: the uses of variables,
 * and literals to put in the place of those that only lenient coercion takes: enum values written as strings, BigFloats as numbers.
 */
import {
  type ASTNode,
  type DirectiveNode,
  type FieldNode,
  type GraphQLEnumType,
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
import { type Limits, overLimit } from '../budget/limits.ts';
import { scalarTypes } from '../schema/scalars.ts';
import { describePlace, type InputPlace } from './input-place.ts';

export interface VariableUse {
  readonly node: VariableNode;
  readonly place: InputPlace;
  readonly isInDirective: boolean;
}

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
  #uses: VariableUse[] = [];
  #isInDirective = false;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Walks the arguments of a field or directive, and adds the uses of variables to `uses`. */
  walkArguments(node: FieldNode | DirectiveNode, definition: Arguments | undefined, uses: VariableUse[]): void {
    this.#uses = uses;
    this.#isInDirective = node.kind === Kind.DIRECTIVE;
    const owner = `${this.#isInDirective ? '@' : ''}${node.name.value}`;
    for (const { name, value } of node.arguments ?? []) {
      const argument = definition?.args.find((each) => each.name === name.value);
      if (argument) this.#walk(value, placeOf(argument, name.value, owner));
    }
  }

  /** Walks the default of a variable as if it were written at a place. Returns its mismatches. */
  walkDefault(node: ValueNode, place: InputPlace): readonly LiteralMismatch[] {
    const before = this.literals.length;
    this.#walk(node, place);
    return this.literals.slice(before);
  }

  #walk(node: ValueNode, place: InputPlace): void {
    this.#values += 1;
    // The default of a variable is walked once for each type that it is used as.
    if (this.#values > this.#limits.inputValues) throw overLimit(this.#limits, 'inputValues');
    switch (node.kind) {
      case Kind.VARIABLE:
        this.places.set(node, place);
        this.#uses.push({ node, place, isInDirective: this.#isInDirective });
        return;
      case Kind.NULL:
        return;
      case Kind.LIST: {
        const list = getNullableType(place.type);
        if (isListType(list)) for (const item of node.values) this.#walk(item, { ...place, type: list.ofType, hasDefault: false });
        return;
      }
      case Kind.OBJECT:
        return this.#walkObject(node, place);
      default:
        return this.#walkLeaf(node, place);
    }
  }

  #walkObject({ fields }: ObjectValueNode, place: InputPlace): void {
    // An object in the place of a list stands for a list with this item.
    const type = getNamedType(place.type);
    if (!isInputObjectType(type)) return;
    const defined = type.getFields();
    for (const { name, value } of fields) {
      const field = Object.hasOwn(defined, name.value) ? defined[name.value] : undefined;
      if (field) this.#walk(value, placeOf(field, `${place.path}.${name.value}`, place.owner));
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

/** The literal as strict coercion takes it, and what to write; null if it takes it as it is, or not at all. */
function adaptLeaf(node: ValueNode, type: GraphQLNamedType): { readonly replacement: ValueNode; readonly remedy: string } | null {
  if (node.kind === Kind.STRING && isEnumType(type) && hasName(type, node.value))
    return { replacement: { ...node, kind: Kind.ENUM, value: node.value }, remedy: `write ${node.value} without quotes` };
  if ((node.kind === Kind.INT || node.kind === Kind.FLOAT) && type === scalarTypes.BigFloat)
    return { replacement: { ...node, kind: Kind.STRING, value: node.value }, remedy: 'write the number in quotes' };
  return null;
}

function hasName(type: GraphQLEnumType, name: string): boolean {
  return type.getValue(name) !== undefined;
}

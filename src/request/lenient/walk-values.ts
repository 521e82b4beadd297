/**
 * Walks the values in a document by the types of their positions, and collects the uses of variables, and literals that stand for those
 * that only lenient coercion takes: enum values written as strings, BigFloats as numbers.
 */
import {
  type ASTNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isLeafType,
  Kind,
  TypeInfo,
  type ValueNode,
  type VariableNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type Limits, overLimit } from '../../budget/limits.ts';
import { scalarNamed } from '../../model/types/scalars.ts';
import { describePosition, type InputPosition } from './describe-input.ts';

/** All uses of a variable at positions of one type. */
export interface VariableUse {
  readonly name: string;
  readonly nodes: VariableNode[];
  /** Null where the schema has no such argument or field, or no list or object: the document is invalid. */
  readonly position: InputPosition | null;
  readonly isInDirective: boolean;
}

/** A literal that strict coercion refuses. */
interface LiteralMismatch {
  readonly node: ValueNode;
  readonly replacement: ValueNode;
  /** What to write instead. */
  readonly message: string;
}

export interface Uses {
  /** There may be thousands of uses, but few differ. */
  readonly variables: Map<string, VariableUse>;
  /** The names of the fragments that it spreads. */
  readonly spreads: Set<string>;
}

export class ValueWalker {
  readonly literals: LiteralMismatch[] = [];
  /** The positions of scalar and enum literals and of variables, for errors about them. */
  readonly positions = new Map<ASTNode, InputPosition>();
  readonly #schema: GraphQLSchema;
  readonly #limits: Limits;
  readonly #hidesValues: boolean;
  #values = 0;
  #uses: Uses = { variables: new Map(), spreads: new Set() };
  /** The field, directive or variable around the current value, and the names that lead to the value in it. */
  #owner = '';
  #path: string[] = [];
  #isInDirective = false;

  constructor(schema: GraphQLSchema, limits: Limits, hidesValues: boolean) {
    this.#schema = schema;
    this.#limits = limits;
    this.#hidesValues = hidesValues;
  }

  walk(definition: ASTNode): Uses {
    this.#uses = { variables: new Map(), spreads: new Set() };
    this.#visit(definition, new TypeInfo(this.#schema));
    return this.#uses;
  }

  /** Walks the default of a variable as if it were written at a position. Returns its mismatches. */
  walkDefault(node: ValueNode, { type, owner, path }: InputPosition): readonly LiteralMismatch[] {
    const before = this.literals.length;
    this.#owner = owner;
    this.#path = [path];
    this.#visit(node, new TypeInfo(this.#schema, type));
    return this.literals.slice(before);
  }

  #visit(node: ASTNode, typeInfo: TypeInfo): void {
    const enter = (each: ASTNode, key: unknown) => this.#enter(each, key, typeInfo);
    visit(node, visitWithTypeInfo(typeInfo, { enter, leave: (each) => this.#leave(each) }));
  }

  #enter(node: ASTNode, key: unknown, typeInfo: TypeInfo): void {
    switch (node.kind) {
      case Kind.FIELD:
        this.#owner = node.name.value;
        return;
      case Kind.DIRECTIVE:
        this.#owner = `@${node.name.value}`;
        this.#isInDirective = true;
        return;
      case Kind.VARIABLE_DEFINITION:
        this.#owner = `$${node.variable.name.value}`;
        this.#path = ['the default'];
        return;
      case Kind.FRAGMENT_SPREAD:
        this.#uses.spreads.add(node.name.value);
        return;
      case Kind.ARGUMENT:
        this.#path = [node.name.value];
        return;
      case Kind.OBJECT_FIELD:
        this.#path.push(node.name.value);
        return;
      case Kind.VARIABLE:
        if (key !== 'variable') this.#addUse(node, this.#positionOf(typeInfo));
        return;
      case Kind.LIST:
      case Kind.OBJECT:
      case Kind.NULL:
        this.#count();
        return;
      case Kind.INT:
      case Kind.FLOAT:
      case Kind.STRING:
      case Kind.BOOLEAN:
      case Kind.ENUM:
        this.#addLeaf(node, this.#positionOf(typeInfo));
    }
  }

  #leave(node: ASTNode): void {
    if (node.kind === Kind.OBJECT_FIELD) this.#path.pop();
    else if (node.kind === Kind.DIRECTIVE) this.#isInDirective = false;
  }

  #positionOf(typeInfo: TypeInfo): InputPosition | null {
    const type = typeInfo.getInputType();
    if (!type) return null;
    const hasDefault = typeInfo.getDefaultValue() !== undefined;
    return { type, hasDefault, path: this.#path.join('.'), owner: this.#owner, hidesValues: this.#hidesValues };
  }

  /** The default of a variable is walked once for each type that it is used as. */
  #count(): void {
    this.#values += 1;
    if (this.#values > this.#limits.inputValues) throw overLimit(this.#limits, 'inputValues');
  }

  #addUse(node: VariableNode, position: InputPosition | null): void {
    this.#count();
    if (position) this.positions.set(node, position);
    const name = node.name.value;
    const isInDirective = this.#isInDirective;
    const key = `${name} ${position?.type} ${position?.hasDefault} ${isInDirective}`;
    const existing = this.#uses.variables.get(key);
    if (existing) existing.nodes.push(node);
    else this.#uses.variables.set(key, { name, nodes: [node], position, isInDirective });
  }

  #addLeaf(node: ValueNode, position: InputPosition | null): void {
    this.#count();
    const type = position && getNamedType(position.type);
    if (!position || !isLeafType(type)) return;
    this.positions.set(node, position);
    const adapted = adaptLeaf(node, type);
    if (!adapted) return;
    const { replacement, remedy } = adapted;
    this.literals.push({ node, replacement, message: `${describePosition(position)} takes ${type.name}: ${remedy}` });
    this.positions.set(replacement, position);
  }
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

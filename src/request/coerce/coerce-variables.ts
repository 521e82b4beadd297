/**
 * Coerces the variables of a request to their declared types (https://spec.graphql.org/October2021/#sec-Coercing-Variable-Values) and
 * splits them into the *variant*, which determines the SQL and is part of the key of a compiled operation, and the bind values.
 */
import {
  GraphQLError,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNullableType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql';
import { type Limits, overLimit } from '../../budget/limits.ts';
import { quote } from '../../errors/api-error.ts';
import { errorWithin, givenTwice } from '../../errors/input-path.ts';
import { inputBinding, type RangePart } from '../../schema/bindings.ts';
import { isChoice, isWhole } from '../../schema/value-types.ts';
import type { Coercion, InputEntry, InputValue, ScalarValue, VariableValue } from '../operation.ts';
import { type LeafType, leafValue, readScalar } from './coerce-leaf.ts';
import { explainVariable, invalidVariable, type VariableDeclaration, VariableError } from './declare-variables.ts';

export interface Variables {
  readonly variant: string;
  /** The variables that are present, by name. */
  readonly values: ReadonlyMap<string, InputValue>;
  /** The values that each `VariableValue` refers to by index. */
  readonly bindValues: readonly ScalarValue[];
  /** The number of list elements in document and variables together. */
  readonly listElements: number;
}

/**
 * Coerces the variables that were sent, pausing if they are long. `listElements` is the number of list elements in the document, from which
 * counting continues. Throws a BAD_USER_INPUT that names the variable, and the errors of limits. Ignores variables that are not declared.
 */
export function* coerceVariables(
  declarations: readonly VariableDeclaration[],
  sent: Readonly<Record<string, unknown>>,
  limits: Limits,
  listElements: number,
  coercion: Coercion,
): Generator<void, Variables> {
  const reader = new VariableReader(limits, listElements, coercion);
  for (const declaration of declarations) yield* reader.read(declaration, sent);
  const { variant, values, bindValues } = reader;
  return { variant, values, bindValues, listElements: reader.listElements };
}

/** The number of objects in lists, and of characters of cursors and nodeIds, to read before pausing. */
const objectsAtATime = 100;
const charactersAtATime = 64 * 1024;

class VariableReader {
  /**
   * Given the types of the variables, it can be parsed from left to right, so that two structures never have the same variant: each part
   * without a fixed length ends with a character that it cannot contain.
   */
  variant = '';
  readonly values = new Map<string, InputValue>();
  readonly bindValues: ScalarValue[] = [];
  listElements: number;
  readonly #limits: Limits;
  readonly #coercion: Coercion;
  /** The names of the required fields of each input type: an insert may have thousands of objects. */
  readonly #required = new Map<GraphQLInputObjectType, readonly string[]>();
  #filterMembers = 0;
  #objects = 0;
  #idCharacters = 0;

  constructor(limits: Limits, listElements: number, coercion: Coercion) {
    this.#limits = limits;
    this.#coercion = coercion;
    this.listElements = listElements;
  }

  *read(declaration: VariableDeclaration, sent: Readonly<Record<string, unknown>>): Generator<void> {
    const { name, sentName, type, defaultValue, isCondition } = declaration;
    const value = Object.hasOwn(sent, sentName) ? sent[sentName] : undefined;
    if (value === undefined) {
      if (defaultValue instanceof VariableError) throw defaultValue;
      if (defaultValue !== undefined) this.values.set(name, defaultValue);
      else if (isNonNullType(type)) throw invalidVariable(name, `is required: its type is ${type}.`);
      this.variant += '-';
      return;
    }
    try {
      this.values.set(name, yield* this.#value(type, value, 0, isCondition));
    } catch (error) {
      throw explainVariable(error, declaration, this.#coercion);
    }
  }

  /** `depth` counts the lists and objects around the value. */
  *#value(type: GraphQLInputType, value: unknown, depth: number, isCondition = false): Generator<void, InputValue> {
    if (value === null) return this.#null(type);
    const bare = getNullableType(type);
    if (isListType(bare)) return yield* this.#list(bare.ofType, Array.isArray(value) ? value : [value], depth + 1);
    if (isWhole(bare)) {
      this.variant += '?';
      return this.#bind(yield* this.#whole(bare, value, depth));
    }
    if (isInputObjectType(bare)) return yield* this.#object(bare, value, depth + 1);
    const leaf = this.#leaf(bare, value, isCondition);
    if (this.#idCharacters > charactersAtATime) {
      this.#idCharacters = 0;
      yield;
    }
    return leaf;
  }

  #null(type: GraphQLInputType): null {
    checkNullable(type);
    this.variant += 'n';
    return null;
  }

  #leaf(type: LeafType, value: unknown, isCondition: boolean): InputValue {
    const read = readScalar(type, value, this.#coercion);
    // Compilation sees a constant, because the value is part of the variant.
    const leaf: InputValue = isCondition ? { kind: 'constant', value: read } : leafValue(type, read, (part) => this.#bind(part));
    switch (leaf?.kind) {
      case 'choice':
        this.variant += `=${leaf.name};`;
        break;
      case 'cursor':
      case 'identifier':
        this.#idCharacters += String(value).length;
        this.variant += leaf.kind === 'cursor' ? 'c(' : `${JSON.stringify([leaf.schema, leaf.table])}(`;
        this.variant += `${leaf.elements.map((element) => (element === null ? 'n' : '?')).join('')})`;
        break;
      default:
        this.variant += isCondition ? String(read) : '?';
    }
    return leaf;
  }

  #bind(value: ScalarValue): VariableValue {
    return { kind: 'variable', index: this.bindValues.push(value) - 1 };
  }

  *#list(itemType: GraphQLInputType, items: readonly unknown[], depth: number): Generator<void, InputValue> {
    this.#countElements(items.length);
    const bare = getNullableType(itemType);
    if (isWhole(bare)) {
      this.variant += '?';
      return this.#bind(yield* this.#wholeList(itemType, items, depth));
    }
    const isBound = isLeafType(bare) && !isChoice(bare);
    if (!isBound) this.#enter(depth, '[');
    const read: InputValue[] = [];
    const bound: ScalarValue[] = [];
    for (const [index, item] of items.entries()) {
      try {
        if (isBound) bound.push(this.#boundItem(itemType, bare, item));
        else read.push(yield* this.#value(itemType, item, depth));
      } catch (error) {
        throw errorWithin(error, index);
      }
    }
    this.variant += isBound ? '?' : ']';
    return isBound ? this.#bind(bound) : { kind: 'list', items: read };
  }

  /** An element of a list that is bound as one value. */
  #boundItem(itemType: GraphQLInputType, bare: LeafType, item: unknown): ScalarValue {
    if (item !== null && item !== undefined) return readScalar(bare, item, this.#coercion);
    checkNullable(itemType);
    return null;
  }

  *#object(type: GraphQLInputObjectType, value: unknown, depth: number): Generator<void, InputValue> {
    const members = membersOf(type, value);
    for (const name of this.#requiredFieldsOf(type)) {
      if (!Object.hasOwn(members, name) || members[name] === undefined)
        throw new GraphQLError(`Expected a value of type "${type}" to include the required field "${name}".`);
    }
    this.#enter(depth, '{');
    const entries: InputEntry[] = [];
    for (const [name, item] of Object.entries(members)) {
      const field = fieldOf(type, name);
      if (item === undefined) continue;
      try {
        const binding = inputBinding(field);
        if (Array.isArray(item) && (binding?.kind === 'and' || binding?.kind === 'or')) this.#countFilters(item.length);
        this.variant += `,${name}:`;
        entries.push({ name, binding, value: yield* this.#value(field.type, item, depth, binding?.kind === 'switch') });
      } catch (error) {
        throw errorWithin(error, name);
      }
    }
    this.variant += '}';
    if (this.#isPauseDue()) yield;
    return { kind: 'object', entries };
  }

  /** A value of a composite type, or a part of one, which does not change the SQL. */
  *#whole(type: GraphQLInputType, value: unknown, depth: number): Generator<void, ScalarValue> {
    const bare = getNullableType(type);
    if (value === null || value === undefined) {
      checkNullable(type);
      return null;
    }
    if (isListType(bare)) {
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      this.#countElements(items.length);
      return yield* this.#wholeList(bare.ofType, items, depth + 1);
    }
    if (isInputObjectType(bare)) return yield* this.#wholeObject(bare, value, depth + 1);
    return readScalar(bare, value, this.#coercion);
  }

  /** A value of a composite type, JSON with a shape, or a range in one. */
  *#wholeObject(type: GraphQLInputObjectType, value: unknown, depth: number): Generator<void, ScalarValue> {
    this.#checkDepth(depth);
    const attributes = new Map<string, ScalarValue>();
    const range = new Map<RangePart, ScalarValue>();
    const names = new Map<string, string>();
    for (const [name, item] of Object.entries(membersOf(type, value))) {
      const field = fieldOf(type, name);
      const binding = inputBinding(field);
      if (item === undefined) continue;
      try {
        const read = yield* this.#whole(field.type, item, depth);
        if (binding?.at === 'range') range.set(binding.kind, read);
        if (binding?.at !== 'composite') continue;
        const { kind, column } = binding;
        const before = names.get(column.name);
        if (before !== undefined) throw new GraphQLError(kind === 'column' ? givenTwice(name, before) : givenTwice(before, name));
        names.set(column.name, name);
        attributes.set(column.name, kind === 'shape' && column.shape && read !== null ? { shape: column.shape, value: read } : read);
      } catch (error) {
        throw errorWithin(error, name);
      }
    }
    if (this.#isPauseDue()) yield;
    return isWhole(type) ? { attributes } : { range };
  }

  *#wholeList(itemType: GraphQLInputType, items: readonly unknown[], depth: number): Generator<void, ScalarValue[]> {
    this.#checkDepth(depth);
    const read: ScalarValue[] = [];
    for (const [index, item] of items.entries()) {
      try {
        read.push(yield* this.#whole(itemType, item, depth));
      } catch (error) {
        throw errorWithin(error, index);
      }
    }
    return read;
  }

  #isPauseDue(): boolean {
    this.#objects += 1;
    return this.#objects % objectsAtATime === 0;
  }

  #countElements(count: number): void {
    this.listElements += count;
    if (this.listElements > this.#limits.listElements) throw overLimit(this.#limits, 'listElements', this.listElements);
  }

  #requiredFieldsOf(type: GraphQLInputObjectType): readonly string[] {
    let names = this.#required.get(type);
    if (names === undefined) {
      names = Object.values(type.getFields()).flatMap((field) => (isRequiredInputField(field) ? [field.name] : []));
      this.#required.set(type, names);
    }
    return names;
  }

  /** Only counts `and` and `or` of variables. Planning counts all filter members, but this prevents planning far too many. */
  #countFilters(count: number): void {
    this.#filterMembers += count;
    if (this.#filterMembers > this.#limits.filterMembers) throw overLimit(this.#limits, 'filterMembers');
  }

  #enter(depth: number, mark: string): void {
    this.#checkDepth(depth);
    this.variant += mark;
  }

  #checkDepth(depth: number): void {
    if (depth > this.#limits.depth) throw overLimit(this.#limits, 'depth');
  }
}

function checkNullable(type: GraphQLInputType): void {
  if (isNonNullType(type)) throw new GraphQLError(`Expected non-nullable type "${type}" not to be null.`);
}

function membersOf(type: GraphQLInputObjectType, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || Array.isArray(value)) throw new GraphQLError(`Expected type "${type}" to be an object.`);
  return value as Readonly<Record<string, unknown>>;
}

function fieldOf(type: GraphQLInputObjectType, name: string): GraphQLInputField {
  const fields = type.getFields();
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!field) throw new GraphQLError(`Field ${quote(name)} is not defined by type "${type}".`);
  return field;
}

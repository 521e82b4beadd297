import {
  GraphQLError,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql';
import { type Limits, overLimit } from '../../budget/limits.ts';
import { describeValue, quote } from '../../errors/api-error.ts';
import { errorWithin } from '../../errors/input-path.ts';
import { inputBinding } from '../../schema/bindings.ts';
import type { BindValue, Coercion, InputEntry, InputValue, ScalarValue } from '../operation.ts';
import { isChoice, isCursor, isNodeId, type LeafType, readScalar } from './coerce-literal.ts';
import { explainVariable, invalidVariable, type VariableDeclaration, VariableError } from './declare-variables.ts';
import { decodeCursor, decodeNodeId, type IdElement } from './opaque-id.ts';

/**
 * Coerces the variables of a request to their declared types (https://spec.graphql.org/October2021/#sec-Coercing-Variable-Values) and
 * splits them into the *variant*, which determines the SQL and is part of the key of a compiled operation, and the bind values.
 */

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
 * Coerces the variables that were sent. `listElements` is the number of list elements in the document, from which counting continues.
 * Throws a BAD_USER_INPUT that names the variable, and the errors of limits. Ignores variables that are not declared.
 */
export function coerceVariableValues(
  declarations: readonly VariableDeclaration[],
  sent: Readonly<Record<string, unknown>>,
  limits: Limits,
  listElements: number,
  coercion: Coercion,
): Variables {
  const coercer = new VariableCoercer(limits, listElements, coercion);
  for (const declaration of declarations) coercer.coerce(declaration, sent);
  return coercer.variables;
}

/** Like `coerceVariableValues`, but yields within long lists. */
export function* coerceLongVariableValues(
  declarations: readonly VariableDeclaration[],
  sent: Readonly<Record<string, unknown>>,
  limits: Limits,
  listElements: number,
  coercion: Coercion,
): Generator<void, Variables> {
  const coercer = new VariableCoercer(limits, listElements, coercion);
  let sincePause = 0;
  for (const declaration of declarations) {
    if (hasManyRows(declaration, sent)) yield* coercer.coerceInSteps(declaration, sent[declaration.sentName]);
    else coercer.coerce(declaration, sent);
    sincePause += idLength(declaration, sent);
    if (sincePause < longIds) continue;
    sincePause = 0;
    yield;
  }
  return coercer.variables;
}

/** How many characters of cursors and nodeIds are decoded between two pauses. */
const longIds = 64 * 1024;

/** Whether coercing takes so long that it should yield. */
export function areLong(declarations: readonly VariableDeclaration[], sent: Readonly<Record<string, unknown>>): boolean {
  let ids = 0;
  for (const declaration of declarations) {
    if (!declaration.mayBeLong) continue;
    if (hasManyRows(declaration, sent)) return true;
    ids += idLength(declaration, sent);
  }
  return ids >= longIds;
}

/** The length of a cursor or nodeId; 0 for other values. */
function idLength({ sentName: name, type }: VariableDeclaration, sent: Readonly<Record<string, unknown>>): number {
  const bare = getNullableType(type);
  if (!isCursor(bare) && !isNodeId(bare)) return 0;
  const given = Object.hasOwn(sent, name) ? sent[name] : undefined;
  return typeof given === 'string' ? given.length : 0;
}

/** Only inserts and nested writes have thousands of objects. */
function hasManyRows({ sentName: name, type }: VariableDeclaration, sent: Readonly<Record<string, unknown>>): boolean {
  const given = Object.hasOwn(sent, name) ? sent[name] : undefined;
  return isObjectLike(given) && hasManyObjects(given) && isInputObjectType(getNamedType(type));
}

class VariableCoercer {
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
  #filterMembers = 0;
  #depth = 0;

  constructor(limits: Limits, listElements: number, coercion: Coercion) {
    this.#limits = limits;
    this.#coercion = coercion;
    this.listElements = listElements;
  }

  get variables(): Variables {
    const { variant, values, bindValues, listElements } = this;
    return { variant, values, bindValues, listElements };
  }

  coerce(declaration: VariableDeclaration, sent: Readonly<Record<string, unknown>>): void {
    const { name, sentName, type, defaultValue, isCondition } = declaration;
    const given = Object.hasOwn(sent, sentName) ? sent[sentName] : undefined;
    if (given === undefined) {
      if (defaultValue instanceof VariableError) throw defaultValue;
      if (defaultValue !== undefined) this.values.set(name, defaultValue);
      else if (isNonNullType(type)) throw invalidVariable(name, `is required: its type is ${type}.`);
      this.variant += '-';
      return;
    }
    try {
      this.values.set(name, isCondition ? this.#condition(type, given) : this.#read(type, given));
    } catch (error) {
      throw explainVariable(error, declaration, this.#coercion);
    }
  }

  *coerceInSteps(declaration: VariableDeclaration, given: unknown): Generator<void> {
    try {
      this.values.set(declaration.name, yield* this.#readInSteps(declaration.type, given));
    } catch (error) {
      throw explainVariable(error, declaration, this.#coercion);
    }
  }

  /** Like `#read`, but yields between the objects of lists, at any depth. */
  *#readInSteps(type: GraphQLInputType, value: unknown): Generator<void, InputValue> {
    const bare = getNullableType(type);
    if (!isObjectLike(value) || !isInputObjectType(getNamedType(bare)) || !hasManyObjects(value)) return this.#read(type, value);
    if (isListType(bare) && Array.isArray(value)) return yield* this.#readListInSteps(bare.ofType, value);
    return isInputObjectType(bare) ? yield* this.#readObjectInSteps(bare, value) : this.#read(type, value);
  }

  *#readListInSteps(itemType: GraphQLInputType, items: readonly unknown[]): Generator<void, InputValue> {
    this.#countElements(items.length);
    this.#enter();
    this.variant += '[';
    const read: InputValue[] = [];
    try {
      for (const item of items) {
        read.push(yield* this.#readInSteps(itemType, item));
        if (read.length % objectsAtATime === 0) yield;
      }
    } catch (error) {
      throw errorWithin(error, read.length);
    }
    this.variant += ']';
    this.#depth -= 1;
    return { kind: 'list', items: read };
  }

  *#readObjectInSteps(type: GraphQLInputObjectType, value: object): Generator<void, InputValue> {
    const entries: InputEntry[] = [];
    const given = this.#beginObject(type, value);
    for (const name of Object.keys(given)) {
      const item = given[name];
      const field = fieldOf(type, name);
      if (item === undefined) continue;
      try {
        const binding = this.#beginField(field, item);
        const read = binding?.kind === 'switch' ? this.#condition(field.type, item) : yield* this.#readInSteps(field.type, item);
        entries.push({ name, binding, value: read });
      } catch (error) {
        throw errorWithin(error, name);
      }
    }
    this.variant += '}';
    this.#depth -= 1;
    return { kind: 'object', entries };
  }

  #condition(type: GraphQLInputType, value: unknown): InputValue {
    const bindValue = this.#read(type, value);
    this.variant += String(value);
    // The value is part of the variant, so compilation sees a constant. `#read` has still bound it, in case it is also an argument.
    return bindValue && typeof value === 'boolean' ? { kind: 'constant', value } : bindValue;
  }

  #read(type: GraphQLInputType, value: unknown): InputValue {
    if (isNonNullType(type)) {
      if (value === null) throw new GraphQLError(`Expected non-nullable type "${type}" not to be null.`);
      return this.#read(type.ofType, value);
    }
    if (value === null) {
      this.variant += 'n';
      return null;
    }
    if (isListType(type)) return this.#readList(type.ofType, value);
    if (isInputObjectType(type)) return this.#readObject(type, value);
    if (isChoice(type)) return this.#readChoice(type, value);
    if (isCursor(type))
      return { kind: 'cursor', elements: this.#elements('c', decodeCursor(readScalar(type, value, this.#coercion) as string)) };
    if (isNodeId(type)) return this.#readNodeId(type, value);
    return this.#bind(readScalar(type, value, this.#coercion));
  }

  #bind(value: ScalarValue): BindValue {
    this.variant += '?';
    return { kind: 'variable', index: this.bindValues.push(value) - 1 };
  }

  #readList(itemType: GraphQLInputType, value: unknown): InputValue {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    this.#countElements(items.length);
    const bare = isNonNullType(itemType) ? itemType.ofType : itemType;
    if (isLeafType(bare) && !isChoice(bare)) return this.#bind(this.#readItems(itemType, bare, items));
    this.#enter();
    this.variant += '[';
    const read: InputValue[] = [];
    try {
      for (const item of items) read.push(this.#read(itemType, item));
    } catch (error) {
      throw errorWithin(error, read.length);
    }
    this.variant += ']';
    this.#depth -= 1;
    return { kind: 'list', items: read };
  }

  #readItems(itemType: GraphQLInputType, bare: LeafType, items: readonly unknown[]): readonly ScalarValue[] {
    const read: ScalarValue[] = [];
    try {
      for (const item of items) read.push(this.#readItem(itemType, bare, item));
    } catch (error) {
      throw errorWithin(error, read.length);
    }
    return read;
  }

  #readItem(itemType: GraphQLInputType, bare: LeafType, item: unknown): ScalarValue {
    if (item !== null && item !== undefined) return readScalar(bare, item, this.#coercion);
    if (isNonNullType(itemType)) throw new GraphQLError(`Expected non-nullable type "${itemType}" not to be null.`);
    return null;
  }

  #readChoice(type: LeafType, value: unknown): InputValue {
    if (!isEnumType(type) || typeof value !== 'string' || !type.getValue(value)) {
      throw new GraphQLError(`Value ${describeValue(value)} does not exist in "${type.name}" enum.`);
    }
    this.variant += `=${value};`;
    return { kind: 'choice', name: value };
  }

  #readNodeId(type: LeafType, value: unknown): InputValue {
    const { schema, table, elements } = decodeNodeId(String(readScalar(type, value, this.#coercion)));
    return { kind: 'identifier', schema, table, elements: this.#elements(JSON.stringify([schema, table]), elements) };
  }

  #elements(prefix: string, elements: readonly IdElement[]): readonly (BindValue | null)[] {
    this.variant += `${prefix}(`;
    const read = elements.map((element) => {
      if (element !== null) return this.#bind(element);
      this.variant += 'n';
      return null;
    });
    this.variant += ')';
    return read;
  }

  #readObject(type: GraphQLInputObjectType, value: unknown): InputValue {
    const given = this.#beginObject(type, value);
    const entries = Object.keys(given).map((name) => this.#readEntry(type, name, given[name]));
    this.variant += '}';
    this.#depth -= 1;
    return { kind: 'object', entries: entries.includes(null) ? entries.filter((entry) => entry !== null) : (entries as InputEntry[]) };
  }

  /** Reads a field of an object; null if its value is undefined. */
  #readEntry(type: GraphQLInputObjectType, name: string, item: unknown): InputEntry | null {
    const field = fieldOf(type, name);
    if (item === undefined) return null;
    try {
      const binding = this.#beginField(field, item);
      return { name, binding, value: binding?.kind === 'switch' ? this.#condition(field.type, item) : this.#read(field.type, item) };
    } catch (error) {
      throw errorWithin(error, name);
    }
  }

  #beginObject(type: GraphQLInputObjectType, value: unknown): Readonly<Record<string, unknown>> {
    if (typeof value !== 'object' || Array.isArray(value)) throw new GraphQLError(`Expected type "${type}" to be an object.`);
    const given = value as Record<string, unknown>;
    for (const name of requiredFieldsOf(type)) {
      if (!Object.hasOwn(given, name) || given[name] === undefined)
        throw new GraphQLError(`Expected a value of type "${type}" to include the required field "${name}".`);
    }
    this.#enter();
    this.variant += '{';
    return given;
  }

  #beginField(field: GraphQLInputField, item: unknown): InputEntry['binding'] {
    this.variant += `,${field.name}:`;
    const binding = inputBinding(field);
    if (Array.isArray(item) && (binding?.kind === 'and' || binding?.kind === 'or')) this.#countFilters(item.length);
    return binding;
  }

  #countElements(count: number): void {
    this.listElements += count;
    if (this.listElements > this.#limits.listElements) throw overLimit(this.#limits, 'listElements', this.listElements);
  }

  /** Only counts `and` and `or` of variables. Planning counts all filter members, but this prevents planning far too many. */
  #countFilters(count: number): void {
    this.#filterMembers += count;
    if (this.#filterMembers > this.#limits.filterMembers) throw overLimit(this.#limits, 'filterMembers');
  }

  #enter(): void {
    this.#depth += 1;
    if (this.#depth > this.#limits.depth) throw overLimit(this.#limits, 'depth');
  }
}

function fieldOf(type: GraphQLInputObjectType, name: string): GraphQLInputField {
  const fields = type.getFields();
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!field) throw new GraphQLError(`Field ${quote(name)} is not defined by type "${type}".`);
  return field;
}

/** Decides which variables have so many objects that coercing them should yield. */

/** The number of objects to coerce before yielding. */
export const objectsAtATime = 100;

/** Whether a value contains more objects and lists than that, at any depth. */
export function hasManyObjects(value: object): boolean {
  return countObjects(value, objectsAtATime) < 0;
}

/** How many of `left` objects and lists remain after those in the value; negative if there are more. This also limits the recursion. */
function countObjects(value: object, left: number): number {
  let rest = left - 1;
  if (Array.isArray(value)) {
    if (value.length > left && isObjectLike(value[0])) return -1;
    for (const item of value) if (rest >= 0 && isObjectLike(item)) rest = countObjects(item, rest);
    return rest;
  }
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key];
    if (rest >= 0 && isObjectLike(item)) rest = countObjects(item, rest);
  }
  return rest;
}

export function isObjectLike(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The required fields of an input type, found once per type, because an insert may have thousands of objects. */

const known = new WeakMap<GraphQLInputObjectType, readonly string[]>();

/** The names of the required fields. Most types have none. */
export function requiredFieldsOf(type: GraphQLInputObjectType): readonly string[] {
  let names = known.get(type);
  if (names === undefined) {
    names = Object.values(type.getFields()).flatMap((field) => (isRequiredInputField(field) ? [field.name] : []));
    known.set(type, names);
  }
  return names;
}

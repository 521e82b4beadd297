/** Random values of input types: filters, orders and single values, mostly such as the database holds. */

import {
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { isEvaluated } from './compare-values.ts';
import { isSearchInput } from './evaluate-search.ts';
import type { Examples } from './examples.ts';
import { randomDistance, randomPlace } from './places.ts';
import { randomSearch } from './random-finding.ts';
import { randomChange, randomJsonOperand, randomValueKey } from './random-json.ts';
import type { RandomSource } from './random-source.ts';
import { isRangeInput, randomRange } from './range-values.ts';

const pools: Readonly<Record<string, readonly unknown[]>> = {
  Int: [0, 1, 2, 3, 5, -1, 42, 300],
  Float: [0, 1.5, -2.25, 3, 1000000],
  String: ['', 'a', 'A', 'b', 'ab', "'", '"', '\\', '%', 'é', '😀', 'null'],
  Boolean: [true, false],
  BigInt: ['0', '1', '2', 3, -1, '9007199254740993'],
  BigFloat: ['0', '1', '1.50', '-2.25', '1e2', '.5'],
  JSON: ['{}', '[1, "a"]', 'null', '"x"', '{"b": 1, "a": 2}'],
  UUID: ['11111111-2222-3333-4444-555555555555', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'],
  Date: ['2000-01-01', '2024-02-29', 'infinity'],
  Time: ['00:00:00', '12:00', '23:59:59.999'],
  Datetime: ['2000-01-01T00:00:00+00:00', '2024-02-29 12:34:56.123456', 'infinity'],
};
const patterns: Readonly<Record<string, readonly string[]>> = {
  like: ['%', '_', 'a%', '%a', '%b%', '', '__', '\\%', '%\\_%', 'A_'],
  ilike: ['%', 'A%', '%B', 'a_', 'null'],
  regex: ['^a', 'b$', '.', '^$', '[a-c]', 'a{2,}', '^[^a]', '\\\\'],
  iregex: ['^A', 'B$', '[A-C]', 'NULL'],
  matches: ['*', 'a.*', '*.b.*', 'a.B@', 'a|b.*{1}', '!a.*', 'a*', '*.c', 'a1|a_1.*'],
  matchesText: ['a', 'a & b', 'b*', '!a', 'B@', '(a | b) & !c', 'a%'],
};
/** Operators whose operands are of another type than the column: no values of rows. */
const apart = ['length', 'containsElement', 'lower', 'upper', 'isEmpty'];
/** How orders are described that are none of related rows: by what rows have only in a collection. */
const ofCollection = ['The distance in a collection', 'How well records match'];
/** How many related rows an order goes through. */
const deepest = 3;
const directions = ['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'];

/** Whether nothing in a value is null or an empty object. */
function isComplete(value: unknown): boolean {
  if (typeof value !== 'object') return true;
  if (Array.isArray(value)) return value.every(isComplete);
  // Of a composite type, `and` and `or` of nothing are no condition either.
  const isEmpty = ([name, item]: [string, unknown]) => (name === 'and' || name === 'or') && Array.isArray(item) && item.length === 0;
  const members = Object.entries(value ?? {});
  return members.length > 0 && members.every((member) => !isEmpty(member) && isComplete(member[1]));
}

/** Fields without those whose column another gives, which would be refused. */
export function givenOnce<Field extends { readonly name: string }>(fields: readonly Field[]): Field[] {
  return fields.filter(({ name }) => !fields.some((other) => [`${name}Bounds`, `${name}Shape`].includes(other.name)));
}

export class RandomValues {
  readonly #random: RandomSource;
  readonly #examples: Examples;

  constructor(random: RandomSource, examples: Examples) {
    this.#random = random;
    this.#examples = examples;
  }

  /** A filter over a table's type. */
  filter(type: GraphQLInputObjectType, typeName: string, depth = 2): Record<string, unknown> {
    const fields = Object.values(type.getFields())
      .filter((field) => depth > 0 || this.#isPlain(field.type, type))
      .filter(({ name }) => !this.#examples.isIncomparable(type.name, name));
    const chosen = this.#random.sample(fields, this.#random.chance(0.05) ? 0 : this.#random.integer(1, 2));
    return Object.fromEntries(chosen.map((field) => [field.name, this.#filterMember(field, typeName, depth)]));
  }

  /** A filter of an update or delete: one that has lost its conditions is refused before an earlier field fails. */
  restriction(type: GraphQLInputObjectType, typeName: string): Record<string, unknown> {
    const filter = this.filter(type, typeName, 1);
    return Object.values(filter).every(isComplete) ? filter : this.restriction(type, typeName);
  }

  /** Whether the member of a filter holds no filter itself. */
  #isPlain(type: GraphQLInputType, filter: GraphQLInputObjectType): boolean {
    const { name } = getNamedType(type);
    return name !== filter.name && !this.#examples.relatedType(name) && !this.#examples.isFilter(name);
  }

  #filterMember(field: { name: string; type: GraphQLInputType }, typeName: string, depth: number): unknown {
    const bare = getNullableType(field.type);
    // A test for null takes none, which is refused even where there are no rows to filter.
    if (isEnumType(bare)) return this.#random.pick(['NULL', 'NOT_NULL']);
    if (this.#random.chance(0.03)) return null;
    if (isSearchInput(getNamedType(bare))) return randomSearch(this.#random, getNamedType(bare), typeName, this.#examples);
    const related = this.#examples.relatedType(getNamedType(bare).name);
    if (related) return this.#relatedFilter(bare as GraphQLInputObjectType, related, depth);
    if (this.#examples.isFilter(getNamedType(bare).name) && !isListType(bare))
      return this.filter(bare as GraphQLInputObjectType, typeName, depth - 1);
    if (isListType(bare))
      return Array.from({ length: this.#random.integer(0, 3) }, () =>
        this.filter(getNamedType(bare) as GraphQLInputObjectType, typeName, depth - 1),
      );
    return this.#operands(bare as GraphQLInputObjectType, typeName, field.name);
  }

  /** A filter by related rows, which are of the type `related`. */
  #relatedFilter(type: GraphQLInputObjectType, related: string, depth: number): Record<string, unknown> {
    if (!Object.hasOwn(type.getFields(), 'every')) return this.filter(type, related, depth - 1);
    const { some, count } = type.getFields();
    const members = this.#random.sample(['some', 'every', 'none', 'count'], this.#random.pick([0, 1, 1, 1, 2]));
    if (members.includes('count') && this.#random.chance(0.5)) members.push('where');
    return Object.fromEntries(
      members.map((name) => {
        if (name === 'count') return [name, this.#operands(getNullableType(count!.type) as GraphQLInputObjectType, related, '')];
        return [name, this.filter(getNullableType(some!.type) as GraphQLInputObjectType, related, depth - 1)];
      }),
    );
  }

  #operands(type: GraphQLInputObjectType, typeName: string, fieldName: string): Record<string, unknown> {
    if (type.name === 'IDFilter') {
      const nodeIds = this.#examples.nodeIds(typeName);
      return nodeIds.length > 0 ? { eq: this.#random.pick(nodeIds) } : {};
    }
    if (this.#examples.isOfComposite(type.name)) return this.#members(type, typeName, fieldName);
    const known = Object.values(type.getFields()).filter(({ name }) => type.name === 'JSONFilter' || isEvaluated(name));
    const operators = this.#random.sample(known, this.#random.chance(0.8) ? 1 : 2);
    return Object.fromEntries(
      operators.map((operator) => [
        operator.name,
        type.name === 'JSONFilter' && operator.name !== 'is'
          ? this.#jsonOperand(operator.name, typeName, fieldName)
          : this.#operand(operator, typeName, fieldName),
      ]),
    );
  }

  #operand(operator: { name: string; type: GraphQLInputType }, typeName: string, fieldName: string): unknown {
    if (operator.name === 'is') return this.#random.pick(['NULL', 'NOT_NULL']);
    if (this.#random.chance(0.03)) return null;
    if (operator.name === 'dWithin') return randomDistance(this.#random);
    const pattern = patterns[operator.name];
    if (pattern) return this.#random.pick(pattern);
    if (operator.name === 'matchesAny') return this.#random.sample(patterns.matches!, this.#random.integer(0, 3));
    const field = apart.includes(operator.name) ? '' : fieldName;
    if (isRangeInput(getNamedType(operator.type))) return this.value(operator.type, typeName, field);
    if (isInputObjectType(operator.type)) return this.#operands(operator.type, typeName, field);
    if (operator.name === 'between') return this.#bounds(operator.type, typeName, fieldName);
    if (!isListType(operator.type)) return this.value(operator.type, typeName, field);
    return Array.from({ length: this.#random.integer(0, 3) }, () => this.element(operator.type, typeName, fieldName)).filter(
      (item) => item !== null,
    );
  }

  /** Filters of one or two members of a composite type. */
  #members(type: GraphQLInputObjectType, typeName: string, fieldName: string, depth = 2): Record<string, unknown> {
    const fields = Object.values(type.getFields()).filter((field) => depth > 0 || isEnumType(field.type));
    const chosen = this.#random.sample(fields, this.#random.pick([0, 1, 1, 1, 2]));
    return Object.fromEntries(
      chosen.map(({ name, type: member }) => {
        if (isEnumType(member)) return [name, this.#random.pick(['NULL', 'NOT_NULL'])];
        const inner = () => this.#members(type, typeName, fieldName, depth - 1);
        if (getNamedType(member) === type)
          return [name, isListType(member) ? Array.from({ length: this.#random.integer(0, 2) }, inner) : inner()];
        return [
          name,
          this.#random.chance(0.03) ? null : this.#operands(member as GraphQLInputObjectType, typeName, `${fieldName}.${name}`),
        ];
      }),
    );
  }

  #jsonOperand(operator: string, typeName: string, fieldName: string): unknown {
    if (this.#random.chance(0.03)) return null;
    return randomJsonOperand(this.#random, operator, this.#examples.ofField(typeName, fieldName) as string[]);
  }

  /** Two values, mostly a range that is not empty; null where there are none to take. */
  #bounds(type: GraphQLInputType, typeName: string, fieldName: string): unknown {
    const bounds = [this.element(type, typeName, fieldName), this.element(type, typeName, fieldName)];
    return bounds.includes(null) ? null : this.#random.chance(0.2) ? bounds : bounds.sort();
  }

  /** A value of a column's type; a list for an array. */
  value(type: GraphQLInputType, typeName: string, fieldName: string): unknown {
    const bare = getNullableType(type);
    if (isListType(bare)) {
      return Array.from({ length: this.#random.integer(0, 3) }, () =>
        this.#random.chance(0.1) && !isNonNullType(bare.ofType) ? null : this.element(bare, typeName, fieldName),
      );
    }
    return this.element(bare, typeName, fieldName);
  }

  /** A value of the named type, whether the column holds such values or arrays of them. */
  element(type: GraphQLInputType, typeName: string, fieldName: string): unknown {
    const named = getNamedType(type);
    if (isRangeInput(named)) return randomRange(this.#random, named);
    if (isInputObjectType(named))
      return Object.fromEntries(
        givenOnce(this.#random.subset(Object.values(named.getFields()), 0.7)).map((member) => [
          member.name,
          this.#random.chance(0.1) ? null : this.value(member.type, typeName, `${fieldName}.${member.name}`),
        ]),
      );
    if (named.name === 'GeoJSON') return this.#place(typeName, fieldName);
    const legal = isEnumType(named) ? named.getValues().map(({ name }) => name) : null;
    const examples = this.#examples
      .ofField(typeName, fieldName)
      .flat()
      .filter((each) => each !== null && (!legal || legal.includes(each as string)));
    const pool = legal ?? pools[named.name] ?? [];
    // What JSON cannot hold is refused, also where nothing is written.
    return this.#exampleOr(examples, fieldName.includes('Shape.') ? pool.filter((value) => value !== 'infinity') : pool);
  }

  /** Changes of parts of some documents that `set` does not set; null where there are none. */
  changes(type: GraphQLInputType, typeName: string, set: object): Record<string, unknown> | null {
    const fields = Object.values((getNamedType(type) as GraphQLInputObjectType).getFields());
    const columnOf = (name: string) => name.replace(/Shape$/, '');
    const taken = new Set(Object.keys(set).flatMap((name) => [name, columnOf(name)]));
    const free = fields.filter(({ name }) => !taken.has(name) && !taken.has(columnOf(name)));
    if (free.length === 0) return null;
    const chosen = givenOnce(this.#random.sample(free, this.#random.pick([1, 1, 2])));
    return Object.fromEntries(
      chosen.map((field) => [
        field.name,
        getNamedType(field.type).name === 'JSONChange' ? randomChange(this.#random) : this.value(field.type, typeName, field.name),
      ]),
    );
  }

  /** Of a column that has only points, a point. */
  #place(typeName: string, fieldName: string): unknown {
    const examples = this.#examples.ofField(typeName, fieldName) as { readonly type: string }[];
    return randomPlace(this.#random, !examples.some(({ type }) => type === 'Polygon'));
  }

  /** A value of a key column. */
  key(type: GraphQLInputType, typeName: string, argumentName: string): unknown {
    return this.#exampleOr(this.#examples.ofKey(typeName, argumentName), pools[getNamedType(type).name] ?? []);
  }

  #exampleOr(examples: readonly unknown[], pool: readonly unknown[]): unknown {
    if (examples.length > 0 && (pool.length === 0 || this.#random.chance(0.7))) return this.#random.pick(examples);
    return pool.length > 0 ? this.#random.pick(pool) : null;
  }

  /** Columns of which each combination of values is to be there once; null where there are none. */
  distinctOn({ args }: GraphQLField<unknown, unknown>): string[] | null {
    const argument = args.find(({ name }) => name === 'distinctOn');
    const type = argument && getNamedType(argument.type);
    if (!isEnumType(type)) return null;
    const names = type.getValues().map(({ name }) => name);
    return Array.from({ length: this.#random.pick([0, 1, 1, 1, 2, 2, 3]) }, () => this.#random.pick(names));
  }

  /** Keys to order by. */
  orderBy(type: GraphQLInputType): unknown {
    const named = getNamedType(type);
    if (!isInputObjectType(named)) throw new Error(`${type} is not a list of order keys.`);
    const elements = Array.from({ length: this.#random.integer(0, 3) }, () => this.#orderElement(named, deepest));
    return elements.length === 1 && this.#random.chance(0.3) ? elements[0] : elements;
  }

  /** One key: a column or computed field, or something of a related row, as deep as that. */
  #orderElement(type: GraphQLInputObjectType, depth: number): Record<string, unknown> {
    const fields = Object.values(type.getFields())
      .filter((field) => depth > 0 || !isInputObjectType(field.type))
      .filter(({ name }) => !this.#examples.isIncomparable(type.name, name))
      .filter(({ description = '' }) => depth === deepest || !ofCollection.some((words) => description?.startsWith(words)));
    if (fields.length === 0 || this.#random.chance(0.04)) return {};
    const { name, type: inner } = this.#random.pick(fields);
    if (this.#random.chance(0.04)) return { [name]: null };
    if (getNamedType(inner).name === 'JSONPathOrder')
      return { [name]: { ...randomValueKey(this.#random), direction: this.#random.pick(directions) } };
    return { [name]: isInputObjectType(inner) ? this.#orderElement(inner, depth - 1) : this.#random.pick(directions) };
  }
}

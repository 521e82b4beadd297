/**
 * What the operators of filters say of single values. Whole numbers, texts, booleans, UUIDs and enums are compared here; of other types
 * PostgreSQL says what one operator yields for one value.
 */

import { arrayText, type ColumnType, type CompositeDescription, integerType, rowText } from './column-types.ts';
import { compareJson } from './evaluate-json.ts';
import type { World } from './loaded-tables.ts';
import { partOf, valueNames } from './loaded-values.ts';
import { comparePlaces, placeText } from './places.ts';
import { RefusalError } from './property-failure.ts';
import { boundTexts, compareRanges, rangeOperators, rangeText } from './range-values.ts';
import { quoteLiteral } from './schema-sql.ts';
import { shapedText } from './shapes.ts';
import { all, any, type Truth } from './truth.ts';
import type { ValueOracle } from './value-oracle.ts';

type Text = string | null;

export interface Comparing {
  readonly world: World;
  readonly oracle: ValueOracle;
}

/** What each value answers to an operator; undefined if that is no condition. */
export async function compareValues(
  comparing: Comparing,
  texts: readonly Text[],
  type: ColumnType,
  operator: string,
  operand: unknown,
): Promise<readonly Truth[] | undefined> {
  if (type.range && !type.isArray && rangeOperators.includes(operator)) return compareBounds(comparing, texts, type, operator, operand);
  // Of objects, null is no condition.
  if (operator === 'dWithin' && operand === null) return undefined;
  if (!isOfArrays(type, operator)) return compare(comparing, texts, type, operator, operand);
  if (operand === null) return undefined;
  return operator === 'length'
    ? compareLengths(comparing, texts, type, operand)
    : compareElements(comparing, texts, type, operator, operand);
}

function isOfArrays({ isArray }: ColumnType, operator: string): boolean {
  return isArray && ['any', 'all', 'length'].includes(operator);
}

async function compareBounds(
  comparing: Comparing,
  texts: readonly Text[],
  type: ColumnType,
  operator: string,
  operand: unknown,
): Promise<readonly Truth[] | undefined> {
  if (operator !== 'lower' && operator !== 'upper') return compareRanges(comparing.oracle, texts, type, operator, operand);
  if (operand === null) return undefined;
  return compareAll(comparing, await boundTexts(comparing.oracle, texts, type, operator), type.range!.subtype, operand);
}

async function compareLengths(
  comparing: Comparing,
  texts: readonly Text[],
  { sql }: ColumnType,
  tests: unknown,
): Promise<readonly Truth[] | undefined> {
  const lengths = (await comparing.oracle.list(texts, `pg_catalog.cardinality(value::${sql})::text`)) as Text[];
  return compareAll(comparing, lengths, integerType, tests);
}

/** Whether an element passes all tests, or all elements do: unknown of an array that is null, as PostgreSQL's `any` and `all` are. */
async function compareElements(
  comparing: Comparing,
  texts: readonly Text[],
  type: ColumnType,
  quantifier: string,
  tests: unknown,
): Promise<readonly Truth[] | undefined> {
  const arrays = (await comparing.oracle.list(texts, `pg_catalog.to_json(value::${type.sql}::text[])`)) as (Text[] | null)[];
  const element = { ...type, sql: type.sql.replace(/\[\]$/, ''), isArray: false };
  const truths = await compareAll(
    comparing,
    arrays.flatMap((items) => items ?? []),
    element,
    tests,
  );
  if (!truths) return undefined;
  let next = 0;
  return arrays.map((items) => {
    const ofItems = truths.slice(next, next + (items?.length ?? 0));
    next += ofItems.length;
    return items === null ? null : (quantifier === 'any' ? any : all)(ofItems);
  });
}

/** Undefined if there are no tests. */
async function compareAll(
  comparing: Comparing,
  texts: readonly Text[],
  type: ColumnType,
  tests: unknown,
): Promise<readonly Truth[] | undefined> {
  const results: (readonly Truth[])[] = [];
  for (const [operator, operand] of Object.entries(tests as Readonly<Record<string, unknown>>)) {
    const truths = await compareValues(comparing, texts, type, operator, operand);
    if (truths) results.push(truths);
  }
  return results.length === 0 ? undefined : texts.map((_, index) => all(results.map((truths) => truths[index]!)));
}

async function compare(
  { world, oracle }: Comparing,
  texts: readonly Text[],
  type: ColumnType,
  operator: string,
  operand: unknown,
): Promise<Truth[]> {
  // The checks of a domain need not hold for what its values are compared with.
  if (type.domain && !type.isArray) return compare({ world, oracle }, texts, type.domain.base, operator, operand);
  const each = async (one: string, items: readonly unknown[], combine: (truths: readonly Truth[]) => Truth) => {
    const lists: Truth[][] = [];
    for (const item of items) lists.push(await compare({ world, oracle }, texts, type, one, item));
    return texts.map((_, index) => combine(lists.map((list) => list[index]!)));
  };
  if (operator === 'is' && operand === null) throw new RefusalError('"is" takes no null');
  if (operator === 'is') return texts.map((text) => (text === null) === (operand === 'NULL'));
  if (operand === null) return texts.map(() => null);
  // Unlike a comparison, a search in an empty list is false for null too.
  if (operator === 'in') return each('eq', operand as unknown[], any);
  if (operator === 'notIn') return each('neq', operand as unknown[], all);
  if (operator === 'matchesAny')
    return (await each('matches', operand as unknown[], any)).map((truth, index) => (texts[index] === null ? null : truth));
  if (operator === 'between') return compareBetween({ world, oracle }, texts, type, operand as unknown[]);
  if (type.scalar === 'JSON' && !type.isArray) return compareJson(oracle, texts, operator, operand);
  if (type.scalar === 'GeoJSON') return comparePlaces(texts, operator, operand);
  if (operator === 'eqi') return ignoringCase(oracle, texts, type, [operand]);
  if (operator === 'inI') return ignoringCase(oracle, texts, type, operand as unknown[]);
  const own = ownComparison(world, type, operator, operand);
  if (own) return texts.map((text) => (text === null ? null : own(text)));
  if (operator === 'endsWith' || operator === 'containsText') {
    const escaped = String(operand).replaceAll(/[\\%_]/g, '\\$&');
    return oracle.compare(texts, type, 'like', quoteLiteral(`%${escaped}${operator === 'containsText' ? '%' : ''}`));
  }
  return oracle.compare(
    texts,
    type,
    (networkTypes.includes(type.sql) ? networkOperators[operator] : undefined) ?? operators[operator]!,
    `${quoteLiteral(inputText(world, type, operand))}::${operandTypes[operator] ?? type.sql}`,
  );
}

async function compareBetween(
  comparing: Comparing,
  texts: readonly Text[],
  type: ColumnType,
  operands: readonly unknown[],
): Promise<Truth[]> {
  if (operands.length !== 2) throw new RefusalError('"between" takes two values');
  const [least, most] = operands;
  const above = await compare(comparing, texts, type, 'gte', least);
  const below = await compare(comparing, texts, type, 'lte', most);
  return texts.map((_, index) => all([above[index]!, below[index]!]));
}

async function ignoringCase(
  oracle: ValueOracle,
  texts: readonly Text[],
  { sql }: ColumnType,
  operands: readonly unknown[],
): Promise<Truth[]> {
  const lists: Truth[][] = [];
  for (const operand of operands) {
    const other = operand === null ? 'null' : `lower(${quoteLiteral(String(operand))}::${sql})`;
    lists.push((await oracle.list(texts, `lower(value::${sql}) = ${other}`)) as Truth[]);
  }
  return texts.map((_, index) => any(lists.map((list) => list[index]!)));
}

const operators: Readonly<Record<string, string>> = {
  eq: '=',
  neq: '<>',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
  like: 'like',
  ilike: 'ilike',
  startsWith: '^@',
  regex: '~',
  iregex: '~*',
  contains: '@>',
  containedBy: '<@',
  overlaps: '&&',
  equalTo: '=',
  matches: '~',
  matchesText: '@',
  similarTo: '%',
};

/** The types of operands that are of another than the column. */
const operandTypes: Readonly<Record<string, string>> = { matches: 'public.lquery', matchesText: 'public.ltxtquery', similarTo: 'text' };

/** Of networks, containment has symbols of its own. */
const networkTypes = ['inet', 'cidr'];
const networkOperators: Readonly<Record<string, string>> = { contains: '>>=', containedBy: '<<=' };

// biome-ignore format: a list
const others = [
  'is', 'in', 'notIn', 'between', 'endsWith', 'containsText', 'eqi', 'inI', 'any', 'all', 'length', 'ancestorOf', 'descendantOf', 'matchesAny', 'within', 'intersects', 'dWithin',
  ...rangeOperators,
];

/** Whether filters with the operator can be judged here. */
export function isEvaluated(operator: string): boolean {
  return operator in operators || others.includes(operator);
}

/** The text of an input value as PostgreSQL reads it. */
export function inputText(world: World, type: ColumnType, value: unknown): string {
  if (type.range && !type.isArray) return rangeText(type, value);
  if (Array.isArray(value) || type.isArray) {
    return arrayText((Array.isArray(value) ? value : [value]).map((item) => (item === null ? null : labelOf(world, type, item))));
  }
  return labelOf(world, type, value);
}

/** What is left out is null. */
function compositeText(world: World, { name, attributes }: CompositeDescription, value: Readonly<Record<string, unknown>>): string {
  const columns = world.composites.get(name)!.columns;
  const texts = attributes.map((attribute) => {
    const column = columns.find((each) => each.name === attribute.name);
    if (!column) return null;
    const shaped = value[`${column.fieldName}Shape`] ?? null;
    if (column.shape && shaped !== null) return shapedText(world, partOf(world, column, attribute).type, shaped);
    const bounds = columns.some(({ fieldName }) => fieldName === `${column.fieldName}Bounds`) ? null : value[`${column.fieldName}Bounds`];
    const given = bounds ?? value[column.fieldName] ?? null;
    return given === null ? null : inputText(world, attribute.type, given);
  });
  return rowText(texts);
}

/** Of two labels with one name the first has it. */
function labelOf(world: World, type: ColumnType, value: unknown): string {
  if (type.scalar === 'GeoJSON') return placeText(value);
  if (type.range) return rangeText(type, value);
  // Where it is no object, it is given as PostgreSQL's text.
  if (type.composite && typeof value !== 'string') return compositeText(world, type.composite, value as Readonly<Record<string, unknown>>);
  const names = valueNames(world, type);
  return type.enum?.labels.find((label) => (names.get(label) ?? label) === value) ?? String(value);
}

/** A comparison that needs no PostgreSQL; undefined where it does. */
function ownComparison(world: World, type: ColumnType, operator: string, operand: unknown): ((text: string) => boolean) | undefined {
  if (type.isArray) return undefined;
  const other = inputText(world, type, operand);
  const order = ownOrder(type);
  if (!order) return type.sql === 'public.ltree' ? ownMatch(type, operator, other) : undefined;
  switch (operator) {
    case 'eq':
      return (text) => order(text, other) === 0;
    case 'neq':
      return (text) => order(text, other) !== 0;
    case 'lt':
      return (text) => order(text, other) < 0;
    case 'lte':
      return (text) => order(text, other) <= 0;
    case 'gt':
      return (text) => order(text, other) > 0;
    case 'gte':
      return (text) => order(text, other) >= 0;
    default:
      return ownMatch(type, operator, other);
  }
}

/** The blanks at the end of a char(n) are significant in patterns: PostgreSQL knows how. */
function ownMatch({ sql }: ColumnType, operator: string, other: string): ((text: string) => boolean) | undefined {
  if (sql.startsWith('character(')) return undefined;
  // A path is its own ancestor and descendant.
  if (operator === 'descendantOf') return (text) => other === '' || `${text}.`.startsWith(`${other}.`);
  if (operator === 'ancestorOf') return (text) => text === '' || `${other}.`.startsWith(`${text}.`);
  if (operator === 'startsWith') return (text) => text.startsWith(other);
  if (operator === 'endsWith') return (text) => text.endsWith(other);
  if (operator === 'containsText') return (text) => text.includes(other);
  if (operator !== 'like') return undefined;
  const pattern = likePattern(other);
  return (text) => pattern.test(text);
}

function ownOrder({ sql, scalar }: ColumnType): ((a: string, b: string) => number) | undefined {
  if (['smallint', 'integer', 'bigint'].includes(sql)) return (a, b) => (BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0);
  if (sql === 'boolean') return compareBytes;
  // A char(n) is compared without the blanks at its end, which its text does not have.
  if (sql.startsWith('character(')) return (a, b) => compareBytes(a.replace(/ +$/, ''), b.replace(/ +$/, ''));
  if (scalar === 'UUID') return (a, b) => compareBytes(a, b.toLowerCase());
  return ['String', 'enum'].includes(scalar) ? compareBytes : undefined;
}

/** The order of locale C. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function likePattern(pattern: string): RegExp {
  const parts = [...pattern.matchAll(/\\(.)|[\s\S]/gsu)].map(([part, escaped]) => {
    if (part === '%') return '[\\s\\S]*';
    if (part === '_') return '[\\s\\S]';
    return (escaped ?? part).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`, 'u');
}

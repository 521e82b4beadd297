/** The operators of filters, by the names of their fields. `is`, which tests for null, is none of them. */

interface OperatorTraits {
  /** How it becomes SQL (`compile/values/comparison.ts`). */
  readonly form: 'infix' | 'any' | 'none' | 'between' | 'ending' | 'part' | 'ignoring case' | 'any ignoring case' | 'similar';
  /** The operator in SQL. */
  readonly symbol: string;
  readonly takesList: boolean;
  /** The side from which it bounds the rows that an index has to find. */
  readonly bounds: 'both' | 'below' | 'above' | null;
  /** The SQLSTATE that it raises for an operand that it cannot use. */
  readonly raises: string | null;
  /** Whether citext lacks it, so that PostgreSQL would take the operator of text, which respects case. */
  readonly missesCitext: boolean;
  /** The type of its operand, in the schema of the type that it compares, if it is another. */
  readonly operand: string | null;
  /** What its operand is checked for before it is bound, so that comparing takes bounded time. */
  readonly checked: 'labels' | 'trigrams' | null;
  /** What its input field says about it; null if its name says all. */
  readonly description: string | null;
  readonly isAddition: boolean;
}

function operator(symbol: string, traits: Partial<OperatorTraits> = {}): OperatorTraits {
  return {
    form: 'infix',
    symbol,
    takesList: false,
    bounds: null,
    raises: null,
    missesCitext: false,
    operand: null,
    checked: null,
    description: null,
    isAddition: false,
    ...traits,
  };
}

function addition(form: OperatorTraits['form'], symbol: string, description: string, traits: Partial<OperatorTraits> = {}): OperatorTraits {
  return operator(symbol, { form, description, isAddition: true, ...traits });
}

const invalidRegex = '2201B';
const invalidEscape = '22025';

const all = {
  eq: operator('=', { bounds: 'both' }),
  neq: operator('<>'),
  lt: operator('<', { bounds: 'above' }),
  lte: operator('<=', { bounds: 'above' }),
  gt: operator('>', { bounds: 'below' }),
  gte: operator('>=', { bounds: 'below' }),
  in: operator('=', { form: 'any', takesList: true, bounds: 'both' }),
  like: operator('like', { raises: invalidEscape }),
  ilike: operator('ilike', { raises: invalidEscape }),
  regex: operator('~', { raises: invalidRegex }),
  iregex: operator('~*', { raises: invalidRegex }),
  startsWith: operator('^@', { missesCitext: true }),
  contains: operator('@>'),
  containedBy: operator('<@'),
  overlaps: operator('&&'),
  ancestorOf: operator('@>', { description: 'Is above the path, or is the path' }),
  descendantOf: operator('<@', { description: 'Is below the path, or is the path' }),
  matches: operator('~', {
    operand: 'lquery',
    checked: 'labels',
    description: 'Matches the pattern: labels and `*`, such as `*.Science.*{1}`',
  }),
  matchesAny: operator('?', { operand: 'lquery', checked: 'labels', takesList: true, description: 'Matches any of the patterns' }),
  matchesText: operator('@', { operand: 'ltxtquery', description: 'Has these words among its labels, such as `Astro* & !pictures@`' }),
  intersects: operator('&&', { description: 'Has points in common with the value' }),
  within: operator('@', { description: 'Has no points outside of the value' }),
  notIn: addition('none', '<>', 'Equals none of the values', { takesList: true }),
  between: addition('between', 'between', 'From the first of two values to the second, both included', { takesList: true, bounds: 'both' }),
  endsWith: addition('ending', 'like', 'Ends with the text'),
  containsText: addition('part', 'like', 'Contains the text'),
  eqi: addition('ignoring case', '=', 'Equals the text, regardless of case', { bounds: 'both' }),
  inI: addition('any ignoring case', '=', 'Equals any of the texts, regardless of case', { takesList: true, bounds: 'both' }),
  similarTo: operator('%', { form: 'similar', checked: 'trigrams', description: 'Is similar to the text, by its trigrams' }),
} as const satisfies Record<string, OperatorTraits>;

export type Operator = keyof typeof all;

export const operators: Readonly<Record<Operator, OperatorTraits>> = all;

/** An operator of a filter whose operand is not of the type that it compares. */
interface OperandTraits<Operand extends string> {
  readonly symbol: string;
  readonly takes: Operand;
  readonly description: string;
}

/** JSON, a key of an object or an element that is a text, several of these, or a path with variables. */
type JsonOperand = 'json' | 'key' | 'keys' | 'path';

/** The operators of JSON (PostgreSQL manual: JSON Functions and Operators), besides `is`. */
export const jsonOperators = {
  containedBy: { symbol: '<@', takes: 'json', description: 'Is contained in the value' },
  contains: { symbol: '@>', takes: 'json', description: 'Contains the value: its members, at any depth, or its elements in any order' },
  eq: { symbol: '=', takes: 'json', description: 'Equals the value; the order of members does not matter' },
  hasAllKeys: { symbol: '?&', takes: 'keys', description: 'Has all these keys, or texts as elements' },
  hasAnyKey: { symbol: '?|', takes: 'keys', description: 'Has any of these keys, or texts as elements' },
  hasKey: { symbol: '?', takes: 'key', description: 'Has this key, or this text as an element' },
  matches: { symbol: '@?', takes: 'path', description: 'Has something at a path of the SQL/JSON path language' },
} as const satisfies Record<string, OperandTraits<JsonOperand>>;

export type JsonOperator = keyof typeof jsonOperators;

/** The name of the input of a shape beside that of a JSON column. */
export function shapeName(name: string): string {
  return `${name}Shape`;
}

/** A range (for a multirange, a list of them), or a value that may be in one. */
type RangeOperand = 'range' | 'element';

/** The operators of ranges and multiranges, besides those of texts (PostgreSQL manual: Range Functions and Operators). */
export const rangeOperators = {
  adjacentTo: { symbol: '-|-', takes: 'range', description: 'Has nothing between it and the other, and does not overlap it' },
  after: { symbol: '>>', takes: 'range', description: 'Begins after the other ends' },
  before: { symbol: '<<', takes: 'range', description: 'Ends before the other begins' },
  containedBy: { symbol: '<@', takes: 'range', description: 'Has nothing that the other does not have' },
  contains: { symbol: '@>', takes: 'range', description: 'Has all of the other' },
  containsElement: { symbol: '@>', takes: 'element', description: 'Has the value' },
  equalTo: { symbol: '=', takes: 'range', description: 'Has the same values, however the bounds are written' },
  overlaps: { symbol: '&&', takes: 'range', description: 'Has values in common with the other' },
} as const satisfies Record<string, OperandTraits<RangeOperand>>;

export type RangeOperator = keyof typeof rangeOperators;

/** The name of the bounds beside that of a range. */
export function boundsName(name: string): string {
  return `${name}Bounds`;
}

/** The operators of lists, which compare them with lists. */
export const listOperators = ['containedBy', 'contains', 'eq', 'overlaps'] as const satisfies readonly Operator[];
export const enumOperators = ['eq', 'in', 'neq', 'notIn'] as const satisfies readonly Operator[];

/** The operators of filters, by the names of their fields. `is`, which tests for null, is none of them. */

interface OperatorTraits {
  /** The operator in SQL. `in` compares with any element of an array. */
  readonly symbol: string;
  readonly takesList: boolean;
  /** The side from which it bounds the rows that an index has to find. */
  readonly bounds: 'both' | 'below' | 'above' | null;
  /** The SQLSTATE that it raises for an operand that it cannot use. */
  readonly raises: string | null;
  /** Whether citext lacks it, so that PostgreSQL would take the operator of text, which respects case. */
  readonly missesCitext: boolean;
}

function operator(symbol: string, { takesList = false, bounds = null, raises = null, missesCitext = false }: Partial<OperatorTraits> = {}) {
  return { symbol, takesList, bounds, raises, missesCitext } as const;
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
  in: operator('=', { takesList: true, bounds: 'both' }),
  like: operator('like', { raises: invalidEscape }),
  ilike: operator('ilike', { raises: invalidEscape }),
  regex: operator('~', { raises: invalidRegex }),
  iregex: operator('~*', { raises: invalidRegex }),
  startsWith: operator('^@', { missesCitext: true }),
  contains: operator('@>'),
  containedBy: operator('<@'),
  overlaps: operator('&&'),
};

export type Operator = keyof typeof all;

export const operators: Readonly<Record<Operator, OperatorTraits>> = all;

/** The operators of lists, which compare them with lists. */
export const listOperators = ['containedBy', 'contains', 'eq', 'overlaps'] as const satisfies readonly Operator[];
export const enumOperators = ['eq', 'in', 'neq'] as const satisfies readonly Operator[];

/** The operators of ranges and multiranges, besides those of texts (PostgreSQL manual: Range Functions and Operators). */

interface RangeOperatorTraits {
  readonly symbol: string;
  /** What it takes: a range (for a multirange, a list of them), or a value that may be in one. */
  readonly takes: 'range' | 'element';
  readonly description: string;
}

const all = {
  adjacentTo: { symbol: '-|-', takes: 'range', description: 'Has nothing between it and the other, and does not overlap it' },
  after: { symbol: '>>', takes: 'range', description: 'Begins after the other ends' },
  before: { symbol: '<<', takes: 'range', description: 'Ends before the other begins' },
  containedBy: { symbol: '<@', takes: 'range', description: 'Has nothing that the other does not have' },
  contains: { symbol: '@>', takes: 'range', description: 'Has all of the other' },
  containsElement: { symbol: '@>', takes: 'element', description: 'Has the value' },
  equalTo: { symbol: '=', takes: 'range', description: 'Has the same values, however the bounds are written' },
  overlaps: { symbol: '&&', takes: 'range', description: 'Has values in common with the other' },
} as const satisfies Record<string, RangeOperatorTraits>;

export type RangeOperator = keyof typeof all;

export const rangeOperators: Readonly<Record<RangeOperator, RangeOperatorTraits>> = all;

/** The name of the bounds beside that of a range. */
export function boundsName(name: string): string {
  return `${name}Bounds`;
}

/** Filters of types that are Opaque in GraphQL but can be compared by more than equality, one row each: an addition to pg_graphql. */
import type { Operator } from './operators.ts';

interface TypeFilter {
  /** What its description calls the type. */
  readonly described: string;
  /** The operators, besides `is`. */
  readonly operators: readonly Operator[];
  /** Operators that have another symbol for the type. */
  readonly symbols: Readonly<Partial<Record<Operator, string>>>;
  /** Operators that are functions of an extension, in the schema of the type. */
  readonly functions: Readonly<Partial<Record<Operator, string>>>;
  readonly addition: 'moreTypes' | 'geometry';
  /** The operators by which GiST indexes find rows, and the operator class that they have to name. */
  readonly gist: { readonly operators: readonly Operator[]; readonly operatorClass: string | null } | null;
}

const shapeOperators = ['contains', 'eq', 'intersects', 'within'] as const;
const comparison = ['between', 'eq', 'gt', 'gte', 'in', 'lt', 'lte', 'neq', 'notIn'] as const;

/** By the start of the name of their input type. */
const all = {
  Interval: { described: 'interval', operators: comparison, symbols: {}, functions: {}, addition: 'moreTypes', gist: null },
  Inet: {
    described: 'inet or cidr',
    operators: [...comparison, 'containedBy', 'contains', 'overlaps'],
    symbols: { contains: '>>=', containedBy: '<<=' },
    functions: {},
    addition: 'moreTypes',
    gist: { operators: ['containedBy', 'contains', 'overlaps'], operatorClass: 'inet_ops' },
  },
  Macaddr: { described: 'macaddr', operators: comparison, symbols: {}, functions: {}, addition: 'moreTypes', gist: null },
  Ltree: {
    described: 'ltree',
    operators: [...comparison, 'ancestorOf', 'descendantOf', 'matches', 'matchesAny', 'matchesText'],
    symbols: {},
    functions: {},
    addition: 'moreTypes',
    gist: { operators: ['ancestorOf', 'descendantOf', 'matches', 'matchesAny', 'matchesText'], operatorClass: null },
  },
  Geometry: {
    described: 'geometry',
    operators: shapeOperators,
    symbols: {},
    functions: { contains: 'st_contains', intersects: 'st_intersects', within: 'st_within' },
    addition: 'geometry',
    gist: { operators: shapeOperators, operatorClass: null },
  },
  Geography: {
    described: 'geography',
    operators: shapeOperators,
    symbols: {},
    functions: { contains: 'st_covers', intersects: 'st_intersects', within: 'st_coveredby' },
    addition: 'geometry',
    gist: { operators: shapeOperators, operatorClass: null },
  },
  /** Of types that have an order, and no filter of their own. */
  Comparison: { described: 'Opaque', operators: comparison, symbols: {}, functions: {}, addition: 'moreTypes', gist: null },
} as const satisfies Record<string, TypeFilter>;

export type TypeFilterName = keyof typeof all;

export const typeFilters: Readonly<Record<TypeFilterName, TypeFilter>> = all;

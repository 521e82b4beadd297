/**
 * What PostgreSQL's types are in GraphQL and can do, one row each. Types without a row are Opaque, and have neither aggregates nor anything
 * else of their own.
 */
import type { CatalogType } from '../../catalog/catalog.ts';
import type { FilteredScalar, ScalarName } from './scalars.ts';
import type { TypeFilterName } from './type-filters.ts';

export type AggregateFunction =
  | 'sum'
  | 'avg'
  | 'min'
  | 'max'
  | 'countDistinct'
  | 'stddev'
  | 'variance'
  | 'boolAnd'
  | 'boolOr'
  | 'percentile';
/** Aggregates of related rows that rows can be ordered by. */
export type OrderAggregate = Extract<AggregateFunction, 'sum' | 'avg' | 'min' | 'max'>;

export interface RangeTraits {
  readonly computedAs: 'int8' | 'numeric';
  readonly least: string | null;
  readonly most: string | null;
  /** Whether it has neither infinity nor NaN. */
  readonly isFinite: boolean;
}

interface NumberTraits {
  readonly isFloating: boolean;
  /** Whether equal values may differ in their trailing zeros. */
  readonly hasScale: boolean;
  /** Whether PostgreSQL's averages of it are numeric without a cast. */
  readonly isExact: boolean;
  /** What its sums are compared as, with a cast if they are another type; and the type of exact sums, which can order rows. */
  readonly sum: { readonly comparedAs: 'numeric' | 'float8'; readonly isCast: boolean; readonly exact: 'int8' | 'numeric' };
  /** Whether averages always have a fractional part. */
  readonly averagesFraction: boolean;
  /** Its conversion to double precision. */
  readonly toFloat: string;
  /** For groups by range: the type in which the start of a range is computed exactly, and the bounds of the type itself, if it has any. */
  readonly ranges: RangeTraits | null;
}

export interface TimeTraits {
  readonly isDate: boolean;
  readonly hasZone: boolean;
}

/** `[1,2]`, `{1:1,2:2}/2` or `10`. */
export type MeasuredForm = 'dense' | 'sparse' | 'bits' | 'text' | 'shape' | 'place';

/** A pseudo-type: what functions return that return no value, or any type, whose values are cast to text or text[]. */
type PseudoType = { readonly kind: 'nothing' | 'trigger' } | { readonly kind: 'any'; readonly castTo: 'text' | 'text[]' };

export interface PostgresType {
  /** Whether the type belongs to an extension, in a schema of the user's choice, instead of to pg_catalog. */
  readonly ofExtension: boolean;
  readonly scalar: ScalarName;
  /** Its filter, if that is not the filter of the scalar. */
  readonly filter: TypeFilterName | null;
  /** What updates can add to it: values of the type itself, or intervals; null if they cannot. */
  readonly increments: 'own' | 'interval' | null;
  /** What it can do without an addition, if that is less. */
  readonly plain: { readonly addition: 'moreTypes' | 'geometry'; readonly traits: PostgresType } | null;
  /** Whether it is a shape of PostGIS, in a plane or on the earth. */
  readonly geometry: 'geometry' | 'geography' | null;
  /** The aggregates of a column, besides distinct counts, with the scalar of each. */
  readonly aggregates: Readonly<Partial<Record<AggregateFunction, FilteredScalar>>>;
  /** The functions of its least and greatest value: its own, or those of booleans, or of text, to which it is cast. */
  readonly extremes: 'own' | 'of booleans' | 'of text';
  readonly number: NumberTraits | null;
  readonly time: TimeTraits | null;
  /** Whether rows can be ordered by it. */
  readonly orders: boolean;
  /** Whether it has so few values that an index finds many rows for each. */
  readonly hasFewValues: boolean;
  /** Whether it compares without regard to case. */
  readonly ignoresCase: boolean;
  /** Whether a cast to the type with its modifier truncates a value, and whether it does so in lists only. */
  readonly truncates: 'always' | 'in lists' | 'never';
  /** What its distances are measured from, if it has any (`metrics.ts`). Texts have them by pg_trgm alone. */
  readonly measured: Exclude<MeasuredForm, 'text'> | null;
  /** Whether it is an array that PostgreSQL writes as `1 2 3`. */
  readonly isVector: boolean;
  /** Whether it holds the words of a text, which are searched. */
  readonly isSearched: boolean;
  readonly pseudo: PseudoType | null;
  /**
   * Reads the constant of an argument's default as PostgreSQL wrote it; undefined if it is no constant. Null if none is shown, as in
   * pg_graphql.
   */
  readonly readDefault: ((sql: string) => unknown) | null;
}

function type(scalar: ScalarName, traits: Partial<PostgresType> = {}): PostgresType {
  return {
    ofExtension: false,
    scalar,
    filter: null,
    increments: null,
    plain: null,
    geometry: null,
    aggregates: {},
    extremes: 'own',
    number: null,
    time: null,
    orders: true,
    hasFewValues: false,
    ignoresCase: false,
    truncates: 'never',
    measured: null,
    isVector: false,
    isSearched: false,
    pseudo: null,
    readDefault: null,
    ...traits,
  };
}

/** A type that an addition lets do more. */
function extended(plain: PostgresType, more: Partial<PostgresType>, addition: 'moreTypes' | 'geometry' = 'moreTypes'): PostgresType {
  return { ...plain, ...more, plain: { addition, traits: plain } };
}

/** A type of PostGIS. */
function shape(filter: TypeFilterName, geometry: 'geometry' | 'geography'): PostgresType {
  return extended(type('Opaque', { ofExtension: true }), { filter, geometry, measured: 'place' }, 'geometry');
}

/** An Opaque type that the addition lets compare. */
function compared(filter: TypeFilterName, more: Partial<PostgresType> = {}): PostgresType {
  return extended(type('Opaque'), { filter, ...more });
}

function extremesOf(scalar: FilteredScalar) {
  return { min: scalar, max: scalar };
}

function text(traits: Partial<PostgresType> = {}): PostgresType {
  return type('String', { aggregates: extremesOf('String'), ...traits });
}

function numeric(
  scalar: ScalarName,
  extreme: FilteredScalar,
  number: Partial<NumberTraits>,
  traits: Partial<PostgresType> = {},
): PostgresType {
  const { sum = 'BigFloat', ...ofMore } = traits.aggregates ?? {};
  return type(scalar, {
    increments: 'own',
    ...traits,
    aggregates: {
      sum,
      avg: 'BigFloat',
      ...extremesOf(extreme),
      stddev: 'BigFloat',
      variance: 'BigFloat',
      percentile: 'BigFloat',
      ...ofMore,
    },
    number: {
      isFloating: false,
      hasScale: false,
      isExact: true,
      sum: { comparedAs: 'numeric', isCast: false, exact: 'numeric' },
      averagesFraction: false,
      toFloat: '::float8',
      ranges: { computedAs: 'numeric', least: null, most: null, isFinite: false },
      ...number,
    },
  });
}

function whole(scalar: 'Int' | 'BigInt', least: string, traits: Partial<PostgresType> = {}): PostgresType {
  const isSmall = scalar === 'Int';
  const number = {
    sum: { comparedAs: 'numeric', isCast: false, exact: isSmall ? 'int8' : 'numeric' },
    averagesFraction: isSmall,
    ranges: { computedAs: isSmall ? 'int8' : 'numeric', least, most: null, isFinite: true },
  } as const;
  return numeric(scalar, scalar, number, { aggregates: { sum: 'BigInt' }, ...traits });
}

/** A floating-point number up to the greatest finite one. */
function floating(most: string): PostgresType {
  const number = {
    isFloating: true,
    isExact: false,
    sum: { comparedAs: 'float8', isCast: false, exact: 'numeric' },
    ranges: { computedAs: 'numeric', least: `-${most}`, most, isFinite: false },
  } as const;
  return numeric('Float', 'BigFloat', number, { readDefault: numberIfMatching(/^-?\d+(\.\d+)?(e[-+]?\d+)?$/i) });
}

function pointInTime(scalar: 'Date' | 'Datetime', hasZone: boolean): PostgresType {
  const time = { isDate: scalar === 'Date', hasZone };
  const plain = type(scalar, { aggregates: { ...extremesOf(scalar), percentile: 'Datetime' }, time });
  return extended(plain, { increments: 'interval' });
}

function polymorphic(castTo: 'text' | 'text[]'): PostgresType {
  return type('Opaque', { pseudo: { kind: 'any', castTo } });
}

function numberIfMatching(pattern: RegExp): (sql: string) => number | undefined {
  return (sql) => (pattern.test(sql) ? Number(sql) : undefined);
}

const wholeDefault = { readDefault: numberIfMatching(/^-?\d+$/) };

/** A text constant: `'see'::text`. PostgreSQL writes one with backslashes as `E'...'` and doubles them. */
function readTextDefault(sql: string): string | undefined {
  const [, escaped, quoted] = /^(E?)'((?:[^']|'')*)'::text$/s.exec(sql) ?? [];
  if (quoted === undefined) return undefined;
  const constant = quoted.replaceAll("''", "'");
  return escaped ? constant.replaceAll('\\\\', '\\') : constant;
}

export const otherTypes = type('Opaque');

const types: Readonly<Record<string, PostgresType>> = {
  int2: whole('Int', '-32768', wholeDefault),
  int4: whole('Int', '-2147483648', wholeDefault),
  int8: whole('BigInt', '-9223372036854775808'),
  numeric: numeric('BigFloat', 'BigFloat', { hasScale: true }),
  float4: floating('3.4028235e38'),
  float8: floating('1.7976931348623157e308'),
  money: extended(
    numeric(
      'Opaque',
      'Opaque',
      {
        isExact: false,
        sum: { comparedAs: 'numeric', isCast: true, exact: 'numeric' },
        toFloat: '::numeric::float8',
        ranges: null,
      },
      { increments: null },
    ),
    { filter: 'Comparison' },
  ),
  text: text({ readDefault: readTextDefault }),
  varchar: text({ truncates: 'in lists' }),
  bpchar: text({ truncates: 'in lists' }),
  char: text({ extremes: 'of text' }),
  citext: text({ ofExtension: true, ignoresCase: true }),
  // As in pg_graphql, not a String itself.
  name: type('Opaque', { aggregates: extremesOf('String'), extremes: 'of text' }),
  bool: type('Boolean', {
    aggregates: { ...extremesOf('Boolean'), boolAnd: 'Boolean', boolOr: 'Boolean' },
    extremes: 'of booleans',
    hasFewValues: true,
    readDefault: (sql) => (sql === 'true' ? true : sql === 'false' ? false : undefined),
  }),
  uuid: type('UUID'),
  date: pointInTime('Date', false),
  time: type('Time', { aggregates: extremesOf('Time') }),
  timetz: extended(type('Opaque', { aggregates: extremesOf('Time') }), { filter: 'Comparison' }),
  interval: compared('Interval', { aggregates: { sum: 'Opaque', avg: 'Opaque', ...extremesOf('Opaque') }, increments: 'own' }),
  timestamp: pointInTime('Datetime', false),
  timestamptz: pointInTime('Datetime', true),
  json: type('JSON', { orders: false }),
  jsonb: type('JSON', { orders: false }),
  inet: compared('Inet', { aggregates: extremesOf('Opaque') }),
  cidr: compared('Inet', { aggregates: extremesOf('Opaque') }),
  macaddr: compared('Macaddr'),
  macaddr8: compared('Macaddr'),
  pg_lsn: compared('Comparison'),
  ltree: extended(type('Opaque', { ofExtension: true }), { filter: 'Ltree' }),
  geometry: shape('Geometry', 'geometry'),
  geography: shape('Geography', 'geography'),
  bit: type('Opaque', { truncates: 'always', measured: 'bits' }),
  varbit: type('Opaque', { truncates: 'always' }),
  vector: type('Opaque', { ofExtension: true, measured: 'dense' }),
  halfvec: type('Opaque', { ofExtension: true, measured: 'dense' }),
  sparsevec: type('Opaque', { ofExtension: true, measured: 'sparse' }),
  point: type('Opaque', { measured: 'shape' }),
  box: type('Opaque', { measured: 'shape' }),
  circle: type('Opaque', { measured: 'shape' }),
  polygon: type('Opaque', { measured: 'shape' }),
  int2vector: type('Opaque', { isVector: true }),
  oidvector: type('Opaque', { isVector: true }),
  tsvector: type('Opaque', { isSearched: true }),
  void: type('Opaque', { pseudo: { kind: 'nothing' } }),
  trigger: type('Opaque', { pseudo: { kind: 'trigger' } }),
  event_trigger: type('Opaque', { pseudo: { kind: 'trigger' } }),
  anyelement: polymorphic('text'),
  anynonarray: polymorphic('text'),
  anycompatible: polymorphic('text'),
  anycompatiblenonarray: polymorphic('text'),
  anyarray: polymorphic('text[]'),
  anycompatiblearray: polymorphic('text[]'),
};

/** The rows by the names of types. */
export const postgresTypes: Readonly<Record<string, PostgresType>> = types;

/** The row of a type; that of other types for a domain, or for one that only has the name of another. */
export function postgresType({ schema, name, kind }: Pick<CatalogType, 'schema' | 'name' | 'kind'>): PostgresType {
  const found = (kind === 'b' || kind === 'p') && Object.hasOwn(types, name) ? types[name] : undefined;
  return found && (schema === 'pg_catalog') !== found.ofExtension ? found : otherTypes;
}

/**
 * The GraphQL scalars of columns, one row each: a new scalar is a row here, rows of the types that have it in `postgres-types.ts`, and its
 * section in docs/scalars.md.
 */
import { enumOperators, type Operator } from './operators.ts';

/** What a client may send for a scalar that GraphQL does not define. */
export type Accepted = 'text' | 'text or object' | 'text or integer' | 'anything but an object';

interface ScalarTraits {
  readonly description: string;
  /** Null for a scalar of GraphQL. */
  readonly accepts: Accepted | null;
  /** Whether lenient coercion takes numbers as well. */
  readonly takesNumbers: boolean;
  /** The types of its JSON in TypeScript, of what a client may send and of what it receives; null for a scalar of GraphQL. */
  readonly typescript: { readonly input: string; readonly output: string } | null;
  /** The operators of its filter, besides `is`. Without any it has none. */
  readonly operators: readonly Operator[];
  /** Whether lists of it have a filter. */
  readonly filtersLists: boolean;
  /** Whether keys of it can be looked up, and computed fields of it can order rows. */
  readonly identifies: boolean;
  /** The units that rows can be grouped by. */
  readonly groupUnits: 'value' | 'date' | 'time';
  /**
   * How a value becomes JSON: its text, as it is, cast, or in quotes; what `to_json` makes of it, of it without a negative zero, or of its
   * text.
   */
  readonly json: 'bare' | 'cast' | 'quoted' | 'to json' | 'float to json' | 'text to json';
  /** Whether the elements of a list become JSON as text. */
  readonly listsText: boolean;
  /** How an element of a cursor or nodeId becomes JSON. */
  readonly elementJson: 'bare' | 'to json' | 'to jsonb' | 'text to json';
  /** Whether many values are bound as an array of text, because the types have no arrays of their own, or arrays without commas. */
  readonly bindsText: boolean;
  /** A value that is valid for every type that has the scalar, or for most. */
  readonly sample: unknown;
}

const comparison = ['between', 'eq', 'gt', 'gte', 'in', 'lt', 'lte', 'neq', 'notIn'] as const;
const ofText = { input: 'string', output: 'string' };

type ScalarRow = Pick<ScalarTraits, 'description' | 'sample'> & Partial<ScalarTraits>;

/** A scalar, whose values are strings in JSON unless the row says otherwise. */
function scalar(row: ScalarRow): ScalarTraits {
  return {
    accepts: 'text',
    takesNumbers: false,
    typescript: ofText,
    operators: comparison,
    filtersLists: true,
    identifies: true,
    groupUnits: 'value',
    json: 'to json',
    listsText: false,
    elementJson: 'to json',
    bindsText: false,
    ...row,
  };
}

/** A scalar that GraphQL defines. */
function builtIn(row: ScalarRow): ScalarTraits {
  return scalar({ accepts: null, typescript: null, ...row });
}

/** In the order of generated configuration. */
const all = {
  Int: builtIn({ description: 'A scalar integer up to 32 bits', json: 'bare', elementJson: 'bare', sample: 10 }),
  Float: builtIn({
    description: 'A scalar floating point value up to 32 bits',
    json: 'float to json',
    elementJson: 'to jsonb',
    sample: 1,
  }),
  String: builtIn({
    description: 'A string',
    operators: [...comparison, 'containsText', 'endsWith', 'eqi', 'ilike', 'inI', 'iregex', 'like', 'regex', 'similarTo', 'startsWith'],
    sample: 'sample',
  }),
  Boolean: builtIn({ description: 'A value that is true or false', operators: ['eq'], json: 'cast', sample: true }),
  BigInt: scalar({
    description: 'An arbitrary size integer represented as a string',
    accepts: 'text or integer',
    typescript: { input: 'string | number', output: 'string' },
    json: 'quoted',
    listsText: true,
    elementJson: 'bare',
    sample: '1',
  }),
  BigFloat: scalar({
    description: 'A high precision floating point value represented as a string',
    takesNumbers: true,
    json: 'quoted',
    listsText: true,
    sample: '1',
  }),
  JSON: scalar({
    description: 'A Javascript Object Notation value serialized as a string',
    operators: [],
    filtersLists: false,
    identifies: false,
    json: 'text to json',
    listsText: true,
    elementJson: 'text to json',
    bindsText: true,
    sample: '{}',
  }),
  UUID: scalar({
    description: 'A universally unique identifier',
    operators: enumOperators,
    json: 'quoted',
    sample: '00000000-0000-4000-8000-000000000000',
  }),
  Date: scalar({ description: 'A date without time information', groupUnits: 'date', sample: '2024-01-01' }),
  Time: scalar({ description: 'A time without date information', sample: '00:00:00' }),
  Datetime: scalar({ description: 'A date and time', groupUnits: 'time', sample: '2024-01-01T00:00:00Z' }),
  Opaque: scalar({
    description: 'Any type not handled by the type system',
    accepts: 'anything but an object',
    typescript: { input: 'string | number | boolean', output: 'unknown' },
    operators: ['eq'],
    filtersLists: false,
    identifies: false,
    elementJson: 'to jsonb',
    bindsText: true,
    sample: '1',
  }),
};

export type ScalarName = keyof typeof all;
export type FilteredScalar = Exclude<ScalarName, 'JSON'>;

export const scalars: Readonly<Record<ScalarName, ScalarTraits>> = all;

export const scalarNames = Object.keys(all) as readonly ScalarName[];
export const filteredScalars = scalarNames.filter((name): name is FilteredScalar => scalars[name].operators.length > 0);
export const listedScalars = filteredScalars.filter((name) => scalars[name].filtersLists);

/** What a GraphQL type of this name is as a scalar of columns. */
export function scalarNamed(name: string): ScalarTraits | undefined {
  return Object.hasOwn(all, name) ? scalars[name as ScalarName] : undefined;
}

export function mapScalars<Value>(make: (name: ScalarName, traits: ScalarTraits) => Value): Readonly<Record<ScalarName, Value>> {
  return Object.fromEntries(scalarNames.map((name) => [name, make(name, scalars[name])])) as Record<ScalarName, Value>;
}

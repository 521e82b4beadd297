/**
 * What a request may cost before any SQL is made: the table of limits, each with its defaults and its error code. The stages count; here is
 * what the counts are held against. What each limit counts is explained in docs/limits.md.
 */
import { ApiError, type ErrorCode } from '../errors.ts';

interface LimitDefinition {
  readonly code: ErrorCode;
  /** Generous: a client that was not written to do harm does not meet it. */
  readonly default: number;
  /** For an API that strangers may call. */
  readonly strict: number;
  /** What `--help` says of it. */
  readonly description: string;
  /** What is said of a request that is over it; `{n}` stands for the count. */
  readonly finding: string;
}

/** Every limit, in the order in which they are checked. */
export const limitTable = {
  documentBytes: {
    code: 'DOCUMENT_TOO_LARGE',
    default: 262_144,
    strict: 16_384,
    description: 'Most bytes of a document',
    finding: 'The document has {n} bytes',
  },
  tokens: {
    code: 'TOO_MANY_TOKENS',
    default: 20_000,
    strict: 2_000,
    description: 'Most tokens of a document',
    finding: 'The document has {n} tokens',
  },
  operations: {
    code: 'TOO_MANY_OPERATIONS',
    default: 50,
    strict: 5,
    description: 'Most operations in a document',
    finding: 'The document has {n} operations',
  },
  depth: {
    code: 'TOO_DEEP',
    default: 100,
    strict: 20,
    description: 'Deepest nesting of fields, and of lists and objects in a value',
    finding: 'The request nests {n} levels deep',
  },
  fields: {
    code: 'TOO_MANY_FIELDS',
    default: 5_000,
    strict: 500,
    description: 'Most fields of an operation, its fragments expanded',
    finding: 'With its fragments expanded, the operation has {n} fields',
  },
  rootFields: {
    code: 'TOO_MANY_ROOT_FIELDS',
    default: 200,
    strict: 20,
    description: 'Most root fields of an operation',
    finding: 'With its fragments expanded, the operation has {n} root fields',
  },
  aliases: {
    code: 'TOO_MANY_ALIASES',
    default: 1_000,
    strict: 100,
    description: 'Most aliases of an operation, its fragments expanded',
    finding: 'With its fragments expanded, the operation has {n} aliases',
  },
  fragments: {
    code: 'TOO_MANY_FRAGMENTS',
    default: 1_000,
    strict: 100,
    description: 'Most fragments that an operation spreads, each counted wherever it is spread',
    finding: 'The operation spreads {n} fragments',
  },
  listElements: {
    code: 'TOO_MANY_ELEMENTS',
    default: 10_000,
    strict: 1_000,
    description: 'Most elements of all lists in arguments and variables together',
    finding: 'The lists of the request have {n} elements',
  },
  filterMembers: {
    code: 'TOO_MANY_FILTERS',
    default: 1_000,
    strict: 100,
    description: 'Most members of all filters of an operation',
    finding: 'The filters of the operation have {n} members',
  },
  subqueries: {
    code: 'TOO_MANY_SUBQUERIES',
    default: 250,
    strict: 50,
    description: 'Most collections, relations and functions that an operation selects, its fragments expanded',
    finding: 'The operation selects {n} collections, relations and functions',
  },
  inputSize: {
    code: 'INPUT_TOO_LARGE',
    default: 16_777_216,
    strict: 1_048_576,
    description: 'Most characters of all values that are sent to PostgreSQL, each counted wherever it is used',
    finding: 'The values that the operation uses have {n} characters',
  },
  estimatedRows: {
    code: 'TOO_MANY_ESTIMATED_ROWS',
    default: 100_000,
    strict: 5_000,
    description: 'Most rows that an operation may read by its page sizes',
    finding: 'The operation may read {n} rows',
  },
  responseBytes: {
    code: 'RESPONSE_TOO_LARGE',
    default: 33_554_432,
    strict: 4_194_304,
    description: 'Most bytes of a response; beyond them, PostgreSQL is stopped',
    finding: 'The response has {n} bytes',
  },
} as const satisfies Record<string, LimitDefinition>;

export type LimitName = keyof typeof limitTable;
export const limitNames = Object.keys(limitTable) as readonly LimitName[];

/** A number for each limit; Infinity where there is none. */
export type Limits = Readonly<Record<LimitName, number>>;

/** A set of limits by name: none, the generous ones, those for strangers. */
export type LimitBase = 'off' | 'default' | 'strict';

/** Limits as a user writes them: a base, or single limits over a base (`default` where none is named). `off` takes one away. */
export type LimitSettings =
  | LimitBase
  | ({ readonly base?: LimitBase | undefined } & Partial<Readonly<Record<LimitName, number | 'off' | undefined>>>);

/** The number of each limit. Throws `TypeError` for what is not a limit or not a number. */
export function resolveLimits(settings: LimitSettings = 'default'): Limits {
  const { base = 'default', ...single } = typeof settings === 'string' ? { base: settings } : settings;
  if (!['off', 'default', 'strict'].includes(base))
    throw new TypeError(`The limits are "off", "default" or "strict", not ${JSON.stringify(base)}.`);
  for (const [name, value] of Object.entries(single)) checkSetting(name, value);
  const limitOf = (name: LimitName): number => {
    const value = (single as Partial<Record<LimitName, number | 'off'>>)[name];
    if (value !== undefined) return value === 'off' ? Infinity : value;
    return base === 'off' ? Infinity : limitTable[name][base];
  };
  return Object.fromEntries(limitNames.map((name) => [name, limitOf(name)])) as Limits;
}

function checkSetting(name: string, value: unknown): void {
  if (!Object.hasOwn(limitTable, name)) throw new TypeError(`"${name}" is not a limit. The limits are ${limitNames.join(', ')}.`);
  if (value === undefined || value === 'off' || (typeof value === 'number' && value >= 1)) return;
  throw new TypeError(`The limit "${name}" must be a number from 1 on, or "off".`);
}

/** The setting of a limit: `limitFields` for `fields`. */
export type LimitSettingName = `limit${Capitalize<LimitName>}`;

/** The name of a limit's setting. */
export function limitSettingOf(name: LimitName): LimitSettingName {
  return `limit${name[0]!.toUpperCase()}${name.slice(1)}` as LimitSettingName;
}

export const noLimits: Limits = resolveLimits('off');

/** Throws the limit's error where the count is over it. */
export function checkLimit(limits: Limits, name: LimitName, count: number): void {
  if (count > limits[name]) throw overLimit(limits, name, count);
}

/** The error of a limit. Without a count, counting has stopped at the limit. */
export function overLimit(limits: Limits, name: LimitName, count?: number): ApiError {
  const { code, finding } = limitTable[name];
  const limit = limits[name];
  const isExact = count !== undefined && Number.isSafeInteger(count);
  const shown = isExact ? written(count) : `more than ${written(limit)}`;
  const message = `${finding.replace('{n}', shown)}${isExact ? `; the limit is ${written(limit)}` : ''}. Send smaller requests, or have the limit raised.`;
  return new ApiError(code, message, { details: { limit: name, maximum: limit, ...(isExact && { count }) } });
}

function written(count: number): string {
  return count.toLocaleString('en-US');
}

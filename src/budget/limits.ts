/**
 * What a request may cost before any SQL is generated, and what is stored for its caller: the table of limits, each with its defaults and
 * its error code. The stages count; the counts are checked here. docs/limits.md explains what each limit counts.
 */
import { ApiError, isJsonObject } from '../errors/api-error.ts';
import type { ErrorCode } from '../errors/codes.ts';

interface LimitDefinition {
  readonly code: ErrorCode;
  /** Generous: clients without bad intentions never reach it. */
  readonly default: number;
  /** For a public API. */
  readonly strict: number;
  /** Its description in `--help`. */
  readonly description: string;
  /** The message for a request that exceeds it; `{n}` stands for the count. */
  readonly finding: string;
  /** What to do about it, if not to send a smaller request. */
  readonly advice?: string;
}

/** Every limit, in the order in which they are checked. */
export const limitTable = {
  documentBytes: {
    code: 'DOCUMENT_TOO_LARGE',
    default: 262_144,
    strict: 16_384,
    description: 'Maximum bytes in a document',
    finding: 'The document has {n} bytes',
  },
  tokens: {
    code: 'TOO_MANY_TOKENS',
    default: 20_000,
    strict: 2_000,
    description: 'Maximum tokens in a document',
    finding: 'The document has {n} tokens',
  },
  operations: {
    code: 'TOO_MANY_OPERATIONS',
    default: 50,
    strict: 5,
    description: 'Maximum operations in a document',
    finding: 'The document has {n} operations',
  },
  depth: {
    code: 'TOO_DEEP',
    default: 100,
    strict: 20,
    description: 'Maximum nesting depth of fields, and of lists and objects in a value',
    finding: 'The request is nested {n} levels deep',
  },
  fields: {
    code: 'TOO_MANY_FIELDS',
    default: 5_000,
    strict: 500,
    description: 'Maximum fields in an operation, with fragments expanded',
    finding: 'With its fragments expanded, the operation has {n} fields',
  },
  rootFields: {
    code: 'TOO_MANY_ROOT_FIELDS',
    default: 200,
    strict: 20,
    description: 'Maximum root fields in an operation',
    finding: 'With its fragments expanded, the operation has {n} root fields',
  },
  aliases: {
    code: 'TOO_MANY_ALIASES',
    default: 1_000,
    strict: 100,
    description: 'Maximum aliases in an operation, with fragments expanded',
    finding: 'With its fragments expanded, the operation has {n} aliases',
  },
  aliasLength: {
    code: 'ALIASES_TOO_LONG',
    default: 32_768,
    strict: 4_096,
    description: 'Maximum characters of all aliases in an operation together, with fragments expanded',
    finding: 'With its fragments expanded, the aliases of the operation have {n} characters',
  },
  fragments: {
    code: 'TOO_MANY_FRAGMENTS',
    default: 1_000,
    strict: 100,
    description: 'Maximum fragment spreads in an operation, with fragments expanded',
    finding: 'The operation spreads {n} fragments',
  },
  listElements: {
    code: 'TOO_MANY_ELEMENTS',
    default: 20_000,
    strict: 1_000,
    description: 'Maximum list elements in all arguments and variables combined',
    finding: 'The lists in the request have {n} elements',
  },
  inputValues: {
    code: 'TOO_MANY_VALUES',
    default: 150_000,
    strict: 20_000,
    description: 'Maximum values in the arguments of an operation, counting a variable once per use',
    finding: 'The arguments of the operation have {n} values',
  },
  filterMembers: {
    code: 'TOO_MANY_FILTERS',
    default: 1_000,
    strict: 100,
    description: 'Maximum members in all filters of an operation combined',
    finding: 'The filters in the operation have {n} members',
  },
  orderKeys: {
    code: 'TOO_MANY_ORDER_KEYS',
    default: 1_000,
    strict: 100,
    description: 'Maximum keys in all orders of an operation combined',
    finding: 'The orders in the operation have {n} keys',
  },
  subqueries: {
    code: 'TOO_MANY_SUBQUERIES',
    default: 250,
    strict: 50,
    description: 'Maximum collections, relations and functions that an operation selects, with fragments expanded',
    finding: 'The operation selects {n} collections, relations and functions',
  },
  searchLength: {
    code: 'INPUT_TOO_LARGE',
    default: 1_000,
    strict: 200,
    description: 'Maximum characters in the text of `search`, `nearest` or `similarTo`',
    finding: 'The text of the search has {n} characters',
  },
  inputSize: {
    code: 'INPUT_TOO_LARGE',
    default: 16_777_216,
    strict: 1_048_576,
    description: 'Maximum characters in all values sent to PostgreSQL, counting each value once per use',
    finding: 'The values in the operation have {n} characters',
  },
  estimatedRows: {
    code: 'TOO_MANY_ESTIMATED_ROWS',
    default: 100_000,
    strict: 5_000,
    description: 'Maximum rows that an operation may read, according to its page sizes and the sizes of the tables',
    finding: 'The operation could read {n} rows',
  },
  responseBytes: {
    code: 'RESPONSE_TOO_LARGE',
    default: 33_554_432,
    strict: 4_194_304,
    description: 'Maximum bytes in a response; a query that exceeds them is cancelled',
    finding: 'The response has {n} bytes',
  },
  idempotencyBytes: {
    code: 'TOO_MANY_IDEMPOTENCY_KEYS',
    default: 16_777_216,
    strict: 1_048_576,
    description: 'Maximum bytes of the idempotency keys of a caller, with the responses stored for them',
    finding: 'With this one, the idempotency keys of the caller and their responses take {n} bytes',
    advice: 'Nothing ran. Wait until older keys expire, or send the mutation without a key',
  },
  subscriptions: {
    code: 'TOO_MANY_SUBSCRIPTIONS',
    default: 1_000,
    strict: 100,
    description: 'Maximum subscriptions of one client, a user or an address, per worker',
    finding: 'With this one, the client has {n} subscriptions',
    advice: 'End some first',
  },
} as const satisfies Record<string, LimitDefinition>;

export type LimitName = keyof typeof limitTable;
export const limitNames = Object.keys(limitTable) as readonly LimitName[];

/** A number for each limit; Infinity for no limit. */
export type Limits = Readonly<Record<LimitName, number>>;

/** A named set of limits: no limits, generous ones, or strict ones for a public API. */
type LimitBase = 'off' | 'default' | 'strict';

/** Limits as a user writes them: a base, or single limits that override a base (`default` if none is named). `off` removes a limit. */
export type LimitSettings =
  | LimitBase
  | ({ readonly base?: LimitBase | undefined } & Partial<Readonly<Record<LimitName, number | 'off' | undefined>>>);

/** The number of each limit. Throws `TypeError` for an unknown limit or an invalid number. */
export function resolveLimits(settings: LimitSettings = 'default'): Limits {
  if (typeof settings !== 'string' && !isJsonObject(settings))
    throw new TypeError(`The limits are "off", "default", "strict" or an object of limits, not ${JSON.stringify(settings)}.`);
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
  throw new TypeError(`The limit "${name}" must be a number of at least 1, or "off".`);
}

/** The setting of a limit: `limitFields` for `fields`. */
export type LimitSettingName = `limit${Capitalize<LimitName>}`;

export function limitSettingOf(name: LimitName): LimitSettingName {
  return `limit${name[0]!.toUpperCase()}${name.slice(1)}` as LimitSettingName;
}

export const noLimits: Limits = resolveLimits('off');

export function checkLimit(limits: Limits, name: LimitName, count: number): void {
  if (count > limits[name]) throw overLimit(limits, name, count);
}

/**
 * The error of a limit. Without a count, counting stopped at the limit, or the count is not for the client. `specificAdvice` replaces the
 * general one.
 */
export function overLimit(limits: Limits, name: LimitName, count?: number, specificAdvice?: string): ApiError {
  const { code, finding, advice = 'Send a smaller request' }: LimitDefinition = limitTable[name];
  const limit = limits[name];
  const isExact = count !== undefined && Number.isSafeInteger(count);
  const shown = isExact ? written(count) : `more than ${written(limit)}`;
  const message = `${finding.replace('{n}', shown)}${isExact ? `; the limit is ${written(limit)}` : ''}. ${specificAdvice ?? advice}, or ask for a higher limit.`;
  return new ApiError(code, message, { details: { limit: name, maximum: limit, ...(isExact && { count }) } });
}

function written(count: number): string {
  return count.toLocaleString('en-US');
}

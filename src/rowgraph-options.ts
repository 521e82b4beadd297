/** What `createRowgraph` takes, and how the options that need more than a default are resolved. */
import { type LimitSettings, type Limits, resolveLimits } from './budget/limits.ts';
import type { ConnectionBudget } from './database/connection-budget.ts';
import type { PgliteLike, PgPoolLike } from './database/drivers.ts';
import type { CacheSizes } from './engine/cache-sizes.ts';
import { quote } from './errors.ts';
import type { Observer } from './events.ts';
import { type AdditionName, type Additions, additionNames, noAdditions } from './model/additions.ts';

export interface RowgraphOptions {
  /** A connection URL, a `pg.Pool`, or a `PGlite`. A pool or PGlite that is passed in stays open after `close()`. */
  readonly database: string | PgPoolLike | PgliteLike;
  /** Exposed schemas, in search path order. Default: public. */
  readonly schemas?: readonly string[];
  /** Schemas to append to the search path without exposing them, such as the one where extensions are installed. Default: none. */
  readonly extraSearchPath?: readonly string[];
  /** Whether introspection is allowed: as the comment directive of each schema says (the default), always or never. */
  readonly introspection?: 'directive' | 'on' | 'off';
  /** The name of the global identifier of rows, which clients such as Relay expect to be `id` (docs/clients/relay.md). Default: nodeId. */
  readonly nodeIdField?: 'nodeId' | 'id' | undefined;
  /** Whether inputs of inserts require the columns that are NOT NULL and have no default. Default: false. */
  readonly requiredInputs?: boolean | undefined;
  /** The schema that clients see: pg_graphql's, type for type, or with additions to it. Default: `rowgraph`. */
  readonly dialect?: 'rowgraph' | 'pg_graphql';
  /** The additions to pg_graphql's schema (docs/additions.md), unless `dialect` is `pg_graphql`. Default: all. */
  readonly additions?: readonly AdditionName[];
  /** Size of the pool that is opened for a URL. Default: 10. */
  readonly poolSize?: number;
  /**
   * Limits the connections of several graphs together; each graph must be opened for a URL. Such a graph does not LISTEN for changes of the
   * schema but checks for them every second.
   */
  readonly connectionBudget?: ConnectionBudget;
  /** Whether to use named prepared statements. `false` for poolers that do not support them. Default: true. */
  readonly prepare?: boolean;
  /** Whether to install the event triggers that report DDL as it commits, which needs a superuser. Default: false. */
  readonly schemaTriggers?: boolean;
  /** Milliseconds that a request may take in total, including the wait for a connection. Default: 30,000. */
  readonly timeout?: number;
  /**
   * Roles that requests may run as even though they are the login role, a superuser, a predefined role (such as `pg_read_all_data`), or a
   * member of one of these. Default: none.
   */
  readonly trustedRoles?: readonly string[];
  /** What a request may cost before it reaches the database (docs/limits.md). Default: `default`. */
  readonly limits?: LimitSettings;
  /** Limits for single roles, which replace `limits`. Default: `{ service_role: 'off' }`. */
  readonly roleLimits?: Readonly<Record<string, LimitSettings>>;
  /** Whether each response reports in `extensions.cost` what the request counts against the limits. Default: false. */
  readonly reportCost?: boolean;
  /** How many requests may wait for a pool connection, their total size in bytes, and for how many milliseconds. Default: 1000, 64 MB, and 10,000 ms. */
  readonly queue?: { readonly length?: number; readonly bytes?: number; readonly timeout?: number };
  /** Sizes of the caches, to override the defaults. */
  readonly caches?: Partial<CacheSizes>;
  /** How many milliseconds the response to a mutation is kept for its idempotency key: at least `timeout`. Default: 24 hours. */
  readonly idempotencyKeyLifetime?: number;
  /** Called for each event: schema loads, retried batches, failures. */
  readonly observe?: Observer;
}

const lists = ['schemas', 'extraSearchPath', 'trustedRoles', 'additions'] as const;
const numbers = ['poolSize', 'timeout', 'idempotencyKeyLifetime'] as const;

/** Throws `TypeError` for values that would fail only later, somewhere else: a string instead of a list or a number, for example. */
export function checkRowgraphOptions(options: unknown): asserts options is RowgraphOptions {
  if (typeof options !== 'object' || options === null) throw new TypeError('The options are missing. Pass { database }.');
  const given = options as Readonly<Record<string, unknown>>;
  const isList = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string');
  const noList = lists.find((name) => !isList(given[name] ?? []));
  if (noList !== undefined) throw new TypeError(`The option "${noList}" must be a list of strings.`);
  const isNumber = (value: unknown): boolean => typeof value === 'number' && !Number.isNaN(value);
  const noNumber = numbers.find((name) => !isNumber(given[name] ?? 0));
  if (noNumber !== undefined) throw new TypeError(`The option "${noNumber}" must be a number.`);
}

/** The additions to the schema. Throws for an unknown name. */
export function additionsOf({ dialect = 'rowgraph', additions = additionNames }: RowgraphOptions): Additions {
  if (!['rowgraph', 'pg_graphql'].includes(dialect)) throw new TypeError(`dialect must be rowgraph or pg_graphql, not ${dialect}.`);
  const unknown = additions.find((name) => !additionNames.includes(name));
  if (unknown !== undefined) throw new TypeError(`There is no addition ${quote(unknown)}; there are ${additionNames.join(', ')}.`);
  return dialect === 'pg_graphql' ? noAdditions : new Set(additions);
}

/** The limits of a role. Throws for invalid settings. */
export function limitsByRole({ limits, roleLimits = { service_role: 'off' } }: RowgraphOptions): (role: string) => Limits {
  const common = resolveLimits(limits);
  const own = new Map(Object.entries(roleLimits).map(([role, settings]) => [role, resolveLimits(settings)]));
  return (role) => own.get(role) ?? common;
}

/** What `createRowgraph` takes, and how the options that need more than a default are resolved. */

import { longestTimer } from './budget/deadline.ts';
import { type LimitSettings, type Limits, resolveLimits } from './budget/limits.ts';
import type { ConnectionBudget } from './database/connection-budget.ts';
import type { PgliteLike, PgPoolLike } from './database/drivers.ts';
import type { KeyStore } from './engine/run/idempotency-key.ts';
import { type CacheSizes, defaultCacheSizes } from './engine/snapshot/caches.ts';
import { isJsonObject, quote } from './errors/api-error.ts';
import type { Observer } from './events.ts';
import { type Additions, noAdditions } from './model/additions.ts';
import type { Coercion } from './request/operation.ts';
import { type AdditionName, additionNames } from './settings/additions.ts';
import {
  aFunction,
  anObject,
  aTimeLimit,
  checkOptions,
  milliseconds,
  must,
  type OptionCheck,
  type OptionChecks,
  optionsOf,
  texts,
  wholeNumber,
} from './settings/check-options.ts';
import { checksIn, settings } from './settings/settings.ts';

export interface RowgraphOptions {
  /** A connection URL, a `pg.Pool`, or a `PGlite`. A pool or PGlite that is passed in stays open after `close()`. */
  readonly database: string | PgPoolLike | PgliteLike;
  /** Connection URLs of standbys of the database, which queries run on (docs/replicas.md). Each may have several hosts. Default: none. */
  readonly replicaUrl?: string | readonly string[];
  /** How far a replica may lag behind and still get queries, in milliseconds. Default: 10,000. */
  readonly maxReplicaLag?: number;
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
  /** Whether values of json and jsonb are returned as strings with JSON text, as pg_graphql does, or as the JSON itself. Default: `string`. */
  readonly json?: 'string' | 'object' | undefined;
  /** The schema that clients see: pg_graphql's, type for type, or with additions to it. Default: `rowgraph`. */
  readonly dialect?: 'rowgraph' | 'pg_graphql';
  /** The additions to pg_graphql's schema (docs/additions.md), unless `dialect` is `pg_graphql`. Default: all. */
  readonly additions?: readonly AdditionName[];
  /**
   * Whether a scalar or an enum whose type does not match its place is judged by its value, as pg_graphql does (`lenient`), or refused, as
   * the GraphQL specification says (`strict`). Default: `lenient`.
   */
  readonly coercion?: Coercion;
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
  /** Milliseconds that a request may take in total, including the wait for a connection; Infinity for no limit. Default: 30,000. */
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
  /** Live queries: how the graph learns that tables have changed (docs/live.md), or `off`. Default: `auto`. */
  readonly live?: 'auto' | 'wal' | 'messages' | 'table' | 'poll' | 'notify' | 'off';
  /** URL of the same database for noticing changes: another login, which may replicate, or a way around a pooler. Default: `database`. */
  readonly liveDatabaseUrl?: string;
  /** The shortest time between two evaluations of a subscription, in milliseconds. Default: 50. */
  readonly liveInterval?: number;
  /** How often to evaluate subscriptions whose answers change without any table, in milliseconds. Default: never. */
  readonly liveRefresh?: number;
  /** Maximum subscriptions. Default: 10,000. Those of one client are limited by `limits.subscriptions`. */
  readonly maxSubscriptions?: number;
  /** The factor by which the estimated rows of a subscription count against their limit. Default: 1. */
  readonly liveCost?: number;
  /** Whether each response reports in `extensions.cost` what the request counts against the limits. Default: false. */
  readonly reportCost?: boolean;
  /**
   * How many requests may wait for a pool connection, their total size in bytes, and for how many milliseconds. Default: 1000, 64 MB, and
   * 10,000 ms.
   */
  readonly queue?: { readonly length?: number; readonly bytes?: number; readonly timeout?: number };
  /** Sizes of the caches, to override the defaults. */
  readonly caches?: Partial<CacheSizes>;
  /** How many milliseconds the response to a mutation is kept for its idempotency key: at least `timeout`. Default: 24 hours. */
  readonly idempotencyKeyLifetime?: number;
  /** The roles whose mutations may have idempotency keys, or those whose mutations may not. Default: `{ except: ['anon'] }`. */
  readonly idempotencyKeyRoles?: readonly string[] | { readonly except: readonly string[] };
  /** How many bytes all idempotency keys in the database may take, approximately; Infinity for no bound. Default: 512 MB. */
  readonly idempotencyStorage?: number;
  /**
   * The settings that tell SQL about a request besides `request.jwt.claims` (docs/security.md), such as `request.headers`; `auto` stands
   * for those that policies, functions, defaults and views of the database read. Default: `['auto']`.
   */
  readonly requestSettings?: readonly string[];
  /** The headers that `request.headers` contains. Default: some that are no credentials (docs/settings.md). */
  readonly requestHeaders?: readonly string[];
  /** Called for each event: schema loads, retried batches, failures. */
  readonly observe?: Observer;
}

/** More entries fit into no cache, whose room is set aside in advance. */
const mostEntries = 1_000_000;
/** A year. */
const longestLifetime = 365 * 24 * 3_600_000;

const queueChecks: OptionChecks<NonNullable<RowgraphOptions['queue']>> = {
  length: wholeNumber(1),
  bytes: wholeNumber(1),
  timeout: aTimeLimit,
};

const cacheChecks: OptionChecks<CacheSizes> = {
  schemaBytes: wholeNumber(1),
  documents: wholeNumber(1, mostEntries),
  documentText: wholeNumber(1),
  variants: wholeNumber(1, mostEntries),
  variantText: wholeNumber(1),
  statements: wholeNumber(1, mostEntries),
  introspectionBytes: wholeNumber(1),
};

const isBudget = (value: unknown): boolean => typeof (value as ConnectionBudget | null)?.take === 'function';
const isText = (value: unknown): boolean => typeof value === 'string';

/** Does not repeat a text, which may have a password in it. Besides URLs, `pg` takes the paths of sockets. */
const aDatabase: OptionCheck = (value, name) => {
  if (!isText(value)) must('be a connection URL, a pg.Pool or a PGlite', isJsonObject)(value, name);
  else if (!/^(postgres|postgresql|socket):|^\//.test(value as string))
    throw new TypeError(`The option "${name}" must be a URL such as postgres://user@host:5432/name.`);
};

const checks: OptionChecks<RowgraphOptions> = {
  ...checksIn('graph'),
  database: aDatabase,
  additions: texts,
  poolSize: wholeNumber(1),
  connectionBudget: must('be a ConnectionBudget', isBudget),
  timeout: settings.requestTimeout.check,
  limits: must('be "off", "default", "strict", or an object of limits', (value) => isText(value) || isJsonObject(value)),
  roleLimits: anObject,
  queue: optionsOf(queueChecks),
  caches: optionsOf(cacheChecks),
  idempotencyKeyLifetime: milliseconds(1, longestLifetime),
  idempotencyKeyRoles: (value, name) => (Array.isArray(value) ? texts : optionsOf({ except: texts }, 'except'))(value, name),
  observe: aFunction,
};

/** Throws `TypeError` for options that would fail only later, somewhere else, or would have no effect. */
export function checkRowgraphOptions(options: unknown): asserts options is RowgraphOptions {
  if (typeof options !== 'object' || options === null) throw new TypeError('The options are missing. Pass { database }.');
  checkOptions(options, checks);
  if (options.connectionBudget !== undefined && typeof options.database !== 'string')
    throw new TypeError('The option "connectionBudget" needs a connection URL as "database": it limits the pool that is opened for it.');
  if (options.replicaUrl !== undefined && typeof options.database === 'object' && 'execProtocol' in options.database)
    throw new TypeError('The option "replicaUrl" needs a connection URL or a pg.Pool as "database": a PGlite has no replicas.');
}

/** The sizes of the caches. */
export function cacheSizesOf({ caches = {} }: RowgraphOptions): CacheSizes {
  const sizes = Object.entries(defaultCacheSizes).map(([name, size]) => [name, caches[name as keyof CacheSizes] ?? size]);
  return Object.fromEntries(sizes) as CacheSizes;
}

/** How idempotency keys are kept. A key must outlive its first request; otherwise a repeat could run at the same time. */
export function keyStoreOf(
  {
    idempotencyKeyLifetime = settings.idempotencyKeyLifetime.default,
    idempotencyStorage: maxBytes = settings.idempotencyStorage.default,
  }: RowgraphOptions,
  timeout: number,
): KeyStore {
  return { lifetime: Math.max(idempotencyKeyLifetime, Math.min(timeout, longestTimer)), maxBytes };
}

/** Which roles may use idempotency keys. */
export function keyRolesOf({ idempotencyKeyRoles: roles = { except: ['anon'] } }: RowgraphOptions): (role: string) => boolean {
  return 'except' in roles ? (role) => !roles.except.includes(role) : (role) => roles.includes(role);
}

/** The additions to the schema. Throws for an unknown name. */
export function additionsOf({ dialect = 'rowgraph', additions = additionNames, live }: RowgraphOptions): Additions {
  const unknown = additions.find((name) => !additionNames.includes(name));
  if (unknown !== undefined) throw new TypeError(`There is no addition ${quote(unknown)}. The additions are ${additionNames.join(', ')}.`);
  return dialect === 'pg_graphql'
    ? noAdditions
    : new Set(additions.filter((name) => live !== 'off' || (name !== 'subscriptions' && name !== 'streams')));
}

/** The limits of a role. Throws for invalid settings. */
export function limitsByRole({ limits, roleLimits = { service_role: 'off' } }: RowgraphOptions): (role: string) => Limits {
  const common = resolveLimits(limits);
  const own = new Map(Object.entries(roleLimits).map(([role, settings]) => [role, resolveLimits(settings)]));
  return (role) => own.get(role) ?? common;
}

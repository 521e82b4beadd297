/**
 * The composition root and public API: opens the database, watches its schema, and wires the engine.
 */
import { printSchema } from 'graphql';
import { Deadline, untilStopped } from './budget/deadline.ts';
import { type LimitSettings, type Limits, resolveLimits } from './budget/limits.ts';
import { openClientDatabase } from './database/client-database.ts';
import { type Database, DatabaseError } from './database/database.ts';
import type { PgClientLike, PgliteLike, PgliteTransactionLike, PgPoolLike } from './database/drivers.ts';
import { openDatabase } from './database/open-database.ts';
import { stopError } from './database/to-database-error.ts';
import { examineDatabase } from './doctor/examine-database.ts';
import type { DoctorReport } from './doctor/report.ts';
import { type CacheSizes, defaultCacheSizes } from './engine/cache-sizes.ts';
import { SchemaCacheUses } from './engine/cache-use.ts';
import { checkCaller, checkRequest } from './engine/check-call.ts';
import { ClientSnapshots } from './engine/client-snapshots.ts';
import { executeRequest, explainRequest, type Target } from './engine/pipeline.ts';
import { failureResponse, SuccessResponse } from './engine/raw-response.ts';
import type { Caller, ExecutionResult, GraphQLRequest, RawResponse, RequestCost, RequestOptions } from './engine/request.ts';
import { costOfRequest } from './engine/request-cost.ts';
import { loadSnapshot, type SchemaSnapshot, type SnapshotSettings } from './engine/schema-snapshot.ts';
import { ClaimsError } from './engine/session.ts';
import { toApiError } from './engine/sqlstate.ts';
import { ApiError } from './errors.ts';
import type { CacheStatistics, Observer } from './events.ts';
import { installSchemaTriggers } from './freshness/schema-triggers.ts';
import { type LoadSnapshot, SchemaWatch } from './freshness/schema-watch.ts';

export interface RowgraphOptions {
  /** A connection URL, a `pg.Pool`, or a `PGlite`. What is passed in open stays open on `close()`. */
  readonly database: string | PgPoolLike | PgliteLike;
  /** Exposed schemas, in search path order. Default: public. */
  readonly schemas?: readonly string[];
  /** Schemas that come after those on the search path and are not exposed, such as the one that extensions live in. Default: none. */
  readonly extraSearchPath?: readonly string[];
  /** Whether introspection is allowed: as the comment directive of each schema says (the default), always or never. */
  readonly introspection?: 'directive' | 'on' | 'off';
  /** Size of the pool that is opened for a URL. Default: 10. */
  readonly poolSize?: number;
  /** Whether to use named prepared statements. `false` for poolers that do not support them. Default: true. */
  readonly prepare?: boolean;
  /** Whether to install the event triggers that report DDL as it commits, which needs a superuser. Default: false. */
  readonly schemaTriggers?: boolean;
  /** Milliseconds that a request may take in total, including the wait for a connection. Default: 30,000. */
  readonly timeout?: number;
  /**
   * Roles that requests may run as although they are the login role, superusers, predefined roles (`pg_read_all_data` and the like) or members of
   * such. Default: none.
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
  /** Called for each event: schema loads, retried batches, failures. */
  readonly observe?: Observer;
}

/** A GraphQL API over a database. */
export interface Rowgraph {
  /** Runs a request as a caller. Never rejects because of the request: `errors` reports failures. Rejects with `TypeError` for an invalid caller. */
  execute(request: GraphQLRequest, caller: Caller, options?: RequestOptions): Promise<ExecutionResult>;
  /** The same as bytes, for servers. */
  executeRaw(request: GraphQLRequest, caller: Caller, options?: RequestOptions): Promise<RawResponse>;
  /**
   * Runs a request on your own connection (a `pg` client or a `PGlite`): in its open transaction, under a savepoint, as
   * its current role, with its search_path as the exposed schemas. The API includes tables that only this transaction sees.
   */
  resolve(client: PgClientLike | PgliteLike | PgliteTransactionLike, request: GraphQLRequest): Promise<ExecutionResult>;
  /** The SQL statements that a request would run, without running them. */
  explain(request: GraphQLRequest, caller: Caller): Promise<readonly string[]>;
  /** What each operation of a document, or the named one, counts against each limit. Rejects if the document is not valid GraphQL. */
  cost(request: GraphQLRequest, caller: Caller): Promise<RequestCost>;
  /** The schema that a role sees (default: `anon`), in the schema definition language. */
  sdl(options?: { role?: string }): Promise<string>;
  /**
   * What is not in the API of a role (default: `anon`) and why, what is dangerous, and what is slow or does nothing, each with a remedy.
   * It examines the database as it is now, and changes nothing.
   */
  doctor(options?: { role?: string }): Promise<DoctorReport>;
  /** Reloads the schema, for changes that the database does not report. */
  reload(): Promise<void>;
  /** Statistics of the caches of documents, compiled variants, prepared statements and introspection responses. */
  readCaches(): readonly CacheStatistics[];
  /** Resolves if the database responds. For health checks. */
  ping(): Promise<void>;
  /** Closes what was opened. Await running requests first. */
  close(): Promise<void>;
}

const ignore: Observer = () => {};
const defaultTimeoutMillis = 30_000;
const pingTimeoutMillis = 5_000;

/** Opens rowgraph over a database and loads its schema. Rejects if the database cannot be reached. */
export async function createRowgraph(options: RowgraphOptions): Promise<Rowgraph> {
  const observe = options.observe ?? ignore;
  const caches = { ...defaultCacheSizes, ...options.caches };
  const { poolSize, prepare, queue } = options;
  const database = openDatabase(options.database, {
    poolSize,
    prepare,
    statementCacheSize: caches.statements,
    queueLength: queue?.length,
    queueBytes: queue?.bytes,
    queueTimeoutMillis: queue?.timeout,
    observe,
  });
  const settings: SnapshotSettings = {
    schemas: options.schemas ?? ['public'],
    extraSearchPath: options.extraSearchPath ?? [],
    introspection: options.introspection ?? 'directive',
    caches,
    trustedRoles: options.trustedRoles ?? [],
    limitsOf: limitsByRole(options),
    reportsCost: options.reportCost ?? false,
    uses: new SchemaCacheUses(),
  };
  try {
    if (options.schemaTriggers) await installSchemaTriggers(database);
    const load: LoadSnapshot<SchemaSnapshot> = (stamp, previous) => loadSnapshot(database, settings, observe, stamp, previous);
    const watch = await SchemaWatch.start(database, settings.schemas, load, observe);
    return new RowgraphService(database, settings, watch, observe, options.timeout ?? defaultTimeoutMillis);
  } catch (error) {
    await database.close();
    throw error instanceof DatabaseError ? new ApiError(toApiError(error).code, error.message, { cause: error }) : error;
  }
}

/** The limits of a role. Throws for invalid settings. */
function limitsByRole({ limits, roleLimits = { service_role: 'off' } }: RowgraphOptions): (role: string) => Limits {
  const common = resolveLimits(limits);
  const own = new Map(Object.entries(roleLimits).map(([role, settings]) => [role, resolveLimits(settings)]));
  return (role) => own.get(role) ?? common;
}

class RowgraphService implements Rowgraph {
  readonly #database: Database;
  readonly #settings: SnapshotSettings;
  readonly #watch: SchemaWatch<SchemaSnapshot>;
  readonly #observe: Observer;
  readonly #timeoutMillis: number;
  readonly #clientSnapshots: ClientSnapshots;

  constructor(
    database: Database,
    settings: SnapshotSettings,
    watch: SchemaWatch<SchemaSnapshot>,
    observe: Observer,
    timeoutMillis: number,
  ) {
    this.#database = database;
    this.#settings = settings;
    this.#watch = watch;
    this.#observe = observe;
    this.#timeoutMillis = timeoutMillis;
    this.#clientSnapshots = new ClientSnapshots(settings);
  }

  async execute(request: GraphQLRequest, caller: Caller, options?: RequestOptions): Promise<ExecutionResult> {
    const response = await this.executeRaw(request, caller, options);
    try {
      return toResult(response);
    } catch (error) {
      // Without the event triggers, a column whose type has just changed may be read with its old type (docs/freshness.md).
      return toResult(this.#failure(error));
    }
  }

  executeRaw(request: GraphQLRequest, caller: Caller, options: RequestOptions = {}): Promise<RawResponse> {
    try {
      checkCaller(caller);
    } catch (error) {
      return Promise.reject(error);
    }
    try {
      checkRequest(request);
    } catch (error) {
      return Promise.resolve(this.#failure(error));
    }
    if (options.deadline !== undefined) return this.#run(request, caller, options.deadline, options);
    const { timeout = Infinity, signal } = options;
    const deadline = new Deadline(Math.min(timeout, this.#timeoutMillis));
    const abandon = (): void => deadline.stop('abandoned');
    if (signal?.aborted) abandon();
    signal?.addEventListener('abort', abandon);
    return this.#run(request, caller, deadline, options).finally(() => {
      deadline.end();
      signal?.removeEventListener('abort', abandon);
    });
  }

  #run(request: GraphQLRequest, caller: Caller, deadline: Deadline, options: RequestOptions): Promise<RawResponse> {
    const { client = shareOf(caller), onPrepared } = options;
    const target: Target = { database: this.#database, caller, observe: this.#observe, deadline, client, onPrepared };
    const { caches } = this.#settings;
    return this.#watch
      .withCurrent(deadline, (snapshot) => {
        const roleSchema = snapshot.of(caller.role, this.#database);
        return roleSchema instanceof Promise
          ? untilStopped(roleSchema, deadline, stopError).then((made) => executeRequest(made, caches, request, target))
          : executeRequest(roleSchema, caches, request, target);
      })
      .then(
        (body) => new SuccessResponse(body),
        (error: unknown) => this.#failure(error),
      );
  }

  async resolve(client: unknown, request: GraphQLRequest): Promise<ExecutionResult> {
    const database = openClientDatabase(client);
    try {
      checkRequest(request);
      const roleSchema = await this.#clientSnapshots.roleSchemaOf(database);
      const target: Target = { database, caller: null, observe: this.#observe, deadline: null, client: '', onPrepared: undefined };
      return toResult(await executeRequest(roleSchema, this.#settings.caches, request, target));
    } catch (error) {
      return toResult(this.#failure(error));
    }
  }

  async explain(request: GraphQLRequest, caller: Caller): Promise<readonly string[]> {
    checkCaller(caller);
    checkRequest(request);
    const roleSchema = await this.#watch.current().of(caller.role, this.#database);
    return (await explainRequest(roleSchema, this.#settings.caches, request)).statements.map(({ text }) => text);
  }

  async cost(request: GraphQLRequest, { role }: Caller): Promise<RequestCost> {
    return costOfRequest(await this.#watch.current().of(role, this.#database), this.#settings.caches, request);
  }

  async sdl({ role = 'anon' }: { role?: string } = {}): Promise<string> {
    return printSchema((await this.#watch.current().of(role, this.#database)).granted.schema);
  }

  doctor({ role = 'anon' }: { role?: string } = {}): Promise<DoctorReport> {
    return examineDatabase(this.#database, this.#settings.schemas, role);
  }

  reload(): Promise<void> {
    return this.#watch.reload();
  }

  readCaches(): readonly CacheStatistics[] {
    return [...this.#watch.current().readCaches(), ...this.#database.readCaches()];
  }

  async ping(): Promise<void> {
    await this.#database.query('select 1', undefined, pingTimeoutMillis);
  }

  async close(): Promise<void> {
    // Whatever the watch is doing ends with the database.
    await Promise.all([this.#watch.stop(), this.#database.close()]);
  }

  #failure(error: unknown): RawResponse {
    if (error instanceof ClaimsError) throw error;
    const failure = failureResponse(error);
    if (failure.errorCode === 'INTERNAL_ERROR') this.#observe({ kind: 'defect-found', requestId: null, error });
    return failure;
  }
}

/** The default for whose share of the connections a caller uses. */
function shareOf({ role, claims }: Caller): string {
  const sub = claims?.sub;
  return typeof sub === 'string' ? `${role} ${sub}` : role;
}

function toResult({ chunks }: Pick<RawResponse, 'chunks'>): ExecutionResult {
  return JSON.parse(Buffer.concat(chunks).toString()) as ExecutionResult;
}

/**
 * The calls of a `Rowgraph`: what each checks, and which part of the engine answers it. What no request needs (`explain`, `doctor`, `access`,
 * an executable schema) is loaded when it is first called.
 */
import { type GraphQLSchema, printSchema } from 'graphql';
import type { AccessOptions, AccessReport } from './access/access.ts';
import { Deadline } from './budget/deadline.ts';
import { openClientDatabase } from './database/client-database.ts';
import type { Database } from './database/database.ts';
import type { DoctorReport } from './doctor/finding-codes.ts';
import {
  checkCaller,
  checkDocument,
  checkRequest,
  checkRequestOptions,
  checkSubscribeOptions,
  roleOf,
  whyUnreadable,
} from './engine/check-call.ts';
import { findMismatches, prepareDocument, validateQuery } from './engine/check-document.ts';
import { executeRequest, handleRequest, loadRole, readRequest, type Target } from './engine/handle.ts';
import type {
  Caller,
  ExecutionResult,
  GraphQLRequest,
  RawResponse,
  RequestCost,
  RequestOptions,
  SubscribeOptions,
} from './engine/request.ts';
import { costOfRequest } from './engine/request-cost.ts';
import { failureResponse } from './engine/run/response.ts';
import type { Servers } from './engine/run/run-operation.ts';
import { ClaimsError, claimsJson } from './engine/run/session.ts';
import { ClientSnapshots } from './engine/snapshot/load-snapshot.ts';
import type { RoleSchema } from './engine/snapshot/role-schema.ts';
import type { SchemaSnapshot, SnapshotSettings } from './engine/snapshot/schema-snapshot.ts';
import type { ErrorObject } from './errors/api-error.ts';
import { DatabaseError } from './errors/database-error.ts';
import { toApiError } from './errors/from-postgres.ts';
import type { Observer } from './events.ts';
import type { ExplainOptions, Explanation } from './explain/explanation.ts';
import type { SchemaWatch } from './freshness/schema-watch.ts';
import { LiveQueries, type LiveSettings } from './live/live-queries.ts';
import { failing, readResults } from './live/subscription.ts';
import type { Replicas } from './replicas/replicas.ts';
import type { Rowgraph, SchemaOptions } from './rowgraph-interface.ts';
import { aFunction, aSwitch, aText, checkOptions, type OptionChecks, texts } from './settings/check-options.ts';
import { type CacheStatistics, Distribution, type GraphStatistics, rowBounds } from './statistics.ts';

const pingTimeoutMillis = 5_000;

const schemaChecks: OptionChecks<SchemaOptions<never>> = { role: aText, caller: aFunction, atomicMutations: aSwitch };

const accessChecks: OptionChecks<AccessOptions> = { roles: texts, table: aText };

export class RowgraphService implements Rowgraph {
  readonly #database: Database;
  readonly #replicas: Replicas | undefined;
  readonly #settings: SnapshotSettings;
  readonly #watch: SchemaWatch<SchemaSnapshot>;
  readonly #observe: Observer;
  readonly #timeoutMillis: number;
  readonly #clientSnapshots: ClientSnapshots;
  readonly #live: LiveQueries;
  #closing: Promise<unknown> | null = null;
  readonly #estimatedRows = new Distribution(rowBounds);

  constructor(
    { database, replicas, observe }: Servers & { readonly database: Database },
    settings: SnapshotSettings,
    watch: SchemaWatch<SchemaSnapshot>,
    timeoutMillis: number,
    live: LiveSettings,
  ) {
    this.#database = database;
    this.#replicas = replicas;
    this.#settings = settings;
    this.#watch = watch;
    this.#observe = observe;
    this.#timeoutMillis = timeoutMillis;
    this.#clientSnapshots = new ClientSnapshots(settings);
    this.#live = new LiveQueries(database, watch, observe, live);
  }

  async execute(request: GraphQLRequest, caller: Caller, options?: RequestOptions): Promise<ExecutionResult> {
    const response = await this.executeRaw(request, caller, options);
    try {
      return toResult(response);
    } catch (error) {
      // Without the event triggers, a column whose type has just changed may be read with its old type (docs/schema-changes.md).
      return toResult(this.#failure(error, request));
    }
  }

  executeRaw(request: GraphQLRequest, caller: Caller, options: RequestOptions = {}): Promise<RawResponse> {
    try {
      checkCaller(caller);
      checkRequestOptions(options);
    } catch (error) {
      return Promise.reject(error);
    }
    try {
      checkRequest(request);
    } catch (error) {
      return Promise.resolve(this.#failure(error, request));
    }
    if (options.deadline !== undefined) return this.#run(request, caller, options.deadline, options);
    const { timeout = Infinity, signal } = options;
    const deadline = new Deadline(Math.max(0, Math.min(timeout, this.#timeoutMillis)));
    const abandon = (): void => deadline.stop('abandoned');
    if (signal?.aborted) abandon();
    signal?.addEventListener('abort', abandon);
    return this.#run(request, caller, deadline, options).finally(() => {
      deadline.end();
      signal?.removeEventListener('abort', abandon);
    });
  }

  #run(request: GraphQLRequest, caller: Caller, deadline: Deadline, options: RequestOptions): Promise<RawResponse> {
    const { client = shareOf(caller), readOnly = false, marks, idempotencyKey, position, http, onPrepared } = options;
    const target: Target = {
      database: this.#database,
      replicas: this.#replicas,
      caller,
      observe: this.#observe,
      deadline,
      client,
      readOnly,
      marks,
      idempotencyKey,
      position,
      http,
      estimatedRows: this.#estimatedRows,
      onPrepared,
    };
    return handleRequest(this.#watch, caller, deadline, request, target).catch((error: unknown) => this.#failure(error, request));
  }

  subscribe(request: GraphQLRequest, caller: Caller, options: SubscribeOptions = {}): AsyncIterableIterator<ExecutionResult> {
    const invalid = whyInvalidCall(caller, options);
    const asked = { ...options, readOnly: true };
    const answers = invalid === null ? this.subscribeRaw(copyOf(request), copyOf(caller), asked) : failing(invalid);
    return readResults(answers, toResult, (error) => {
      if (error === invalid) throw error;
      return toResult(this.#failure(error, request));
    });
  }

  subscribeRaw(request: GraphQLRequest, caller: Caller, options: SubscribeOptions = {}): AsyncIterableIterator<RawResponse> {
    const invalid = whyInvalidCall(caller, options);
    if (invalid !== null) return failing(invalid);
    try {
      checkRequest(request);
    } catch (error) {
      return failing(error);
    }
    return this.#live.subscribe(request, caller, options.client ?? shareOf(caller), options);
  }

  /** For servers, beside `executeRaw` (`http/served-graph.ts`). */
  loadRole(role: string, deadline: Deadline): Promise<void> {
    return loadRole(this.#watch, role, deadline, this.#database);
  }

  async resolve(client: unknown, request: GraphQLRequest): Promise<ExecutionResult> {
    const database = openClientDatabase(client);
    try {
      checkRequest(request);
      const roleSchema = await this.#clientSnapshots.roleSchemaOf(database);
      const target: Target = { database, caller: null, observe: this.#observe, deadline: null, client: '' };
      return toResult(await executeRequest(roleSchema, request, target));
    } catch (error) {
      return toResult(this.#failure(error, request));
    }
  }

  async explain(request: GraphQLRequest, caller: Caller, options?: ExplainOptions): Promise<Explanation> {
    const { explainRequest, modeOf } = await import('./explain/explain-request.ts');
    const mode = modeOf(options);
    checkCaller(caller);
    checkRequest(request);
    const roleSchema = await this.#roleSchema(caller.role);
    const read = await readRequest(roleSchema, request, caller, this.#database);
    const { operations, limits } = await costOfRequest(roleSchema, { ...request, operationName: read.name }, this.#database);
    try {
      const explained = await explainRequest(this.#database, read, mode, this.#timeoutMillis);
      const operation = { name: read.name, kind: read.kind };
      return {
        operation,
        role: caller.role,
        mode,
        cost: { counts: operations[0]!.counts, limits },
        mismatches: read.mismatches,
        ...explained,
        live: read.kind === 'query' && read.measure.volatileRoutine === null ? await this.#live.explain(read.measure) : null,
      };
    } catch (error) {
      throw error instanceof DatabaseError ? toApiError(error) : error;
    }
  }

  async cost(request: GraphQLRequest, caller: Caller): Promise<RequestCost> {
    checkCaller(caller);
    checkRequest(request);
    return costOfRequest(await this.#roleSchema(caller.role), request, this.#database);
  }

  async validate(query: string, options: { role?: string } = {}): Promise<readonly ErrorObject[]> {
    checkDocument(query);
    const errors = await validateQuery(await this.#roleSchema(roleOf(options)), query);
    return errors.map((error) => error.toJSON());
  }

  async findMismatches(query: string, options: { role?: string } = {}): Promise<readonly string[]> {
    checkDocument(query);
    return findMismatches(await this.#roleSchema(roleOf(options)), query);
  }

  async prepare(query: string, options: { role?: string } = {}): Promise<readonly ErrorObject[]> {
    checkDocument(query);
    const roleSchema = await this.#roleSchema(roleOf(options));
    const errors = await prepareDocument(roleSchema, query, this.#database);
    return errors.map((error) => error.toJSON());
  }

  async sdl(options: { role?: string } = {}): Promise<string> {
    const { granted } = await this.#roleSchema(roleOf(options));
    return printSchema((await granted.types()).schema);
  }

  async schema<Context>(options: SchemaOptions<Context> = {}): Promise<GraphQLSchema> {
    checkOptions(options, schemaChecks);
    const { role = 'anon', caller, atomicMutations = false } = options;
    const { buildExecutableSchema } = await import('./executable/build-executable-schema.ts');
    const { granted } = await this.#roleSchema(role);
    return buildExecutableSchema((await granted.types()).schema, {
      execute: (request, asked, options) => this.execute(request, asked, options),
      subscribe: (request, asked) => this.subscribe(request, asked),
      atomicMutations,
      callerOf: caller === undefined ? () => ({ role }) : (context) => caller(context as Context),
    });
  }

  async doctor(options: { role?: string } = {}): Promise<DoctorReport> {
    const { schemas, model } = this.#settings;
    const { examineDatabase } = await import('./doctor/examine-database.ts');
    const replicas = await this.#replicas?.examine();
    return examineDatabase(this.#database, schemas, roleOf(options), model, { ...this.#settings, replicas });
  }

  async access(options: AccessOptions = {}): Promise<AccessReport> {
    checkOptions(options, accessChecks);
    const { readAccess } = await import('./access/read-access.ts');
    return readAccess(this.#database, this.#settings.schemas, options, (roles) => this.#typeNames(roles));
  }

  reload(): Promise<void> {
    return this.#watch.reload();
  }

  readCaches(): readonly CacheStatistics[] {
    return [...this.#watch.current().readCaches(), ...this.#database.readCaches()];
  }

  readStatistics(): GraphStatistics {
    const replicas = this.#replicas?.readStatistics();
    const own = { estimatedRows: this.#estimatedRows, live: this.#live.readStatistics(), ...(replicas !== undefined && { replicas }) };
    return { ...this.#database.readStatistics(), ...own };
  }

  async ping(): Promise<void> {
    // Without the primary, queries are still answered.
    if (this.#replicas?.isUsable) return;
    await this.#database.query('select 1', [], { timeoutMillis: pingTimeoutMillis });
  }

  async close(): Promise<void> {
    // Closing the database also ends whatever the watch is doing.
    this.#closing ??= this.#live.close().then(() => Promise.all([this.#watch.stop(), this.#database.close(), this.#replicas?.close()]));
    await this.#closing;
  }

  /** The row types of tables in the API, by oid. Names hardly ever depend on the role: the first that may read a table gives its name. */
  async #typeNames(roles: readonly string[]): Promise<ReadonlyMap<number, string>> {
    const names = new Map<number, string>();
    for (const role of roles) {
      const { granted } = await this.#roleSchema(role);
      const { model } = await granted.types();
      for (const { id, typeName, selectable } of model.tables) if (selectable && !names.has(id)) names.set(id, typeName);
    }
    return names;
  }

  #roleSchema(role: string): Promise<RoleSchema> {
    return this.#watch.current().of(role, this.#database);
  }

  #failure(error: unknown, request: GraphQLRequest): RawResponse {
    if (error instanceof ClaimsError) throw error;
    const failure = failureResponse(error);
    if (failure.errorCode !== 'INTERNAL_ERROR') return failure;
    const unreadable = whyUnreadable(request);
    if (unreadable !== undefined) return failureResponse(unreadable);
    this.#observe({ kind: 'defect-found', requestId: null, error });
    return failure;
  }
}

/** The default name under which a caller gets its share of the connections. */
function shareOf({ role, claims }: Caller): string {
  const sub = claims?.sub;
  return typeof sub === 'string' ? `${role} ${sub}` : role;
}

/** Why a subscription is the mistake of the program; null if it is not. */
function whyInvalidCall(caller: Caller, options: SubscribeOptions): unknown {
  try {
    checkCaller(caller);
    claimsJson(caller);
    checkSubscribeOptions(options);
    return null;
  } catch (error) {
    return error;
  }
}

/** Of what the program may change while it subscribes. What cannot be copied, such as a function, is no valid value. */
function copyOf<Value>(value: Value): Value {
  try {
    return structuredClone(value);
  } catch {
    return value;
  }
}

function toResult({ chunks }: Pick<RawResponse, 'chunks'>): ExecutionResult {
  return JSON.parse(Buffer.concat(chunks).toString()) as ExecutionResult;
}

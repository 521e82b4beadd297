/**
 * A request as one function of stages: parse, choose, read variables, plan, compile, bind, run, answer. Everything that does not
 * depend on values is kept in caches of bounded size, so that a repeated variant costs look-ups and one batch.
 */
import type { LRUCache } from 'lru-cache';
import type { Deadline } from '../budget/deadline.ts';
import type { Limits } from '../budget/limits.ts';
import type { CompiledOperation } from '../compile/compile-plan.ts';
import { type BatchResult, type ColumnValue, type Database, DatabaseError, type RoleDefaults, type Session } from '../database/database.ts';
import { ApiError, type ErrorCode, type ErrorObject, errorCodes } from '../errors.ts';
import type { Observer } from '../events.ts';
import { executeIntrospection } from '../introspection/execute-introspection.ts';
import type { Model } from '../model/model.ts';
import type { PlanMeasure } from '../plan/measure-plan.ts';
import { type Document, type DocumentOperation, RequestErrors } from '../request/parse-document.ts';
import type { LazySchema } from '../schema/lazy-schema.ts';
import { assembleResponse, type ResponseBody, type ResponseMember, textBody } from './assemble-response.ts';
import { bindStatements } from './bind-parameters.ts';
import type { SchemaCacheUses } from './cache-use.ts';
import type { IntrospectionCache } from './introspection-cache.ts';
import { locateError } from './locate-error.ts';
import { type PreparedRequest, prepareRequest } from './prepare-request.ts';
import { costOfPrepared } from './request-cost.ts';
import { runBatch } from './run-batch.ts';
import { toApiError } from './sqlstate.ts';

/** A GraphQL request, as the body of an HTTP request has it. */
export interface GraphQLRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Who asks: the database role that the request runs as, and the claims that policies read. */
export interface Caller {
  readonly role: string;
  /** `request.jwt.claims`; `role` is always among them. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/** How a request is run, apart from what it asks. */
export interface RequestOptions {
  /** Milliseconds that the request may take. It shortens the time that the graph gives every request (`timeout`), and never extends it. */
  readonly timeout?: number | undefined;
  /** Cancels the request: it leaves the queue for connections, or PostgreSQL is told to stop. */
  readonly signal?: AbortSignal | undefined;
  /** Whose share of the connections the request uses, such as a user or an address. Default: the role and the claim `sub`. */
  readonly client?: string | undefined;
  /** In the place of `timeout` and `signal`, for servers: the time of a request that began before its body was read. */
  readonly deadline?: Deadline | undefined;
}

export interface ExecutionResult {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly ErrorObject[];
}

/**
 * A response as bytes, for servers: the JSON text in UTF-8, in pieces so that a large response is not copied. A short one may come as a string of
 * bytes too (`latin1`), which Node writes together with the head of an HTTP response; reading `chunks` makes the bytes then.
 */
export interface RawResponse extends ResponseBody {
  /** The code of the first error, or null. */
  readonly errorCode: ErrorCode | null;
}

/** What one role sees, and what is remembered of its requests. */
export interface RoleSchema {
  /** Tells it from the others of its schema: a role has another one where its privileges were read again. */
  readonly id: number;
  readonly model: Model;
  /** Why no request may run as the role; null where it may. */
  readonly refusal: string | null;
  readonly schema: LazySchema;
  /** The part of the model that introspection tells; null where it is switched off. */
  readonly introspected: Model | null;
  /** Responses to introspection, those of other roles among them. */
  readonly introspectionCache: IntrospectionCache;
  /** The schema version that the model was read at; null where the database keeps none. */
  readonly version: string | null;
  readonly searchPath: string;
  /** What a request of the role may cost. */
  readonly limits: Limits;
  /** Whether answers tell what the request counted. */
  readonly reportsCost: boolean;
  readonly roleDefaults: RoleDefaults;
  readonly documents: LRUCache<string, CachedDocument>;
  /** Where look-ups are counted, those of all roles together. */
  readonly uses: SchemaCacheUses;
}

/** A valid document with what was compiled for its operations, by variant. */
export interface CachedDocument {
  readonly document: Document;
  readonly compiled: LRUCache<string, CompiledRequest>;
}

/** An operation that is ready to run, with what has to be known of it ahead. */
export interface CompiledRequest extends CompiledOperation {
  /** Characters that it counts for in the cache. */
  readonly size: number;
  readonly measure: PlanMeasure;
  /** Whether variables decide on how many rows it is estimated to read. */
  readonly rowsVary: boolean;
}

/** Sizes of caches. */
export interface CacheSizes {
  /** Documents that are kept for each role. Default: 1000. */
  readonly documents: number;
  /** Characters of all documents of a role together. Default: 2,000,000. */
  readonly documentText: number;
  /** Compiled variants that are kept of each document. Default: 100. */
  readonly variants: number;
  /** Characters of all compiled variants of a role together. Default: 20,000,000. */
  readonly variantText: number;
  /** Statements that stay prepared on each connection. Default: 256. */
  readonly statements: number;
  /** Bytes of all responses to introspection together, of all roles. Default: 64 MB. */
  readonly introspectionBytes: number;
}

/** Where and as whom a request runs. */
export interface Target {
  readonly database: Database;
  /** Null on a connection of the caller's, which has a role and claims of its own. */
  readonly caller: Caller | null;
  readonly observe: Observer;
  /** Null where nothing limits the time but the connection itself. */
  readonly deadline: Deadline | null;
  /** Whose share of the connections is used. */
  readonly client: string;
}

/** The response. Throws `ApiError`, `RequestErrors`, and `StaleSchemaError` where the schema has changed since `roleSchema` was made. */
export async function executeRequest(
  roleSchema: RoleSchema,
  sizes: CacheSizes,
  request: GraphQLRequest,
  target: Target,
): Promise<ResponseBody> {
  if (target.caller && roleSchema.refusal !== null) throw new ApiError('UNAUTHENTICATED', roleSchema.refusal);
  let prepared: PreparedRequest | undefined;
  try {
    const preparing = prepareRequest(roleSchema, sizes, request);
    prepared = preparing instanceof Promise ? await preparing : preparing;
    const { document, operation, variables, compiled } = prepared;
    const statements = bindStatements(compiled.statements, variables.bindValues, roleSchema.limits);
    const session = target.caller && sessionOf(roleSchema, target.caller, compiled.kind);
    const template = compiled.kind === 'query' ? compiled : undefined;
    const { deadline, client } = target;
    const { touches } = compiled.measure;
    const batch = { session, statements, template, deadline, client, touches, maxBytes: roleSchema.limits.responseBytes };
    const rows = statements.length > 0 ? await runBatch(target.database, batch, target.observe) : [];
    const roots = responseMembers(compiled, rows, (key) => introspect(roleSchema, document, operation, request, key));
    const response = assembleResponse(
      roots instanceof Promise ? await roots : roots,
      roleSchema.reportsCost ? costExtension(prepared) : null,
    );
    if (compiled.kind === 'mutation') response.isMutation = true;
    return response;
  } catch (error) {
    throw locateError(error, request, prepared?.compiled, () => unboundStatement(roleSchema, prepared));
  }
}

/** The number of the first statement whose parameters cannot be bound. */
function unboundStatement({ limits }: RoleSchema, prepared: PreparedRequest | undefined): number | null {
  const found = prepared?.compiled.statements.findIndex((statement) => {
    try {
      bindStatements([statement], prepared.variables.bindValues, limits);
      return false;
    } catch {
      return true;
    }
  });
  return found === undefined || found < 0 ? null : found;
}

/** JSON of the member `extensions` of a response. */
function costExtension(prepared: PreparedRequest): string {
  return JSON.stringify({ cost: costOfPrepared(prepared) });
}

/** The SQL of a request, for a person to read: what `executeRequest` would run. */
export async function explainRequest(roleSchema: RoleSchema, sizes: CacheSizes, request: GraphQLRequest): Promise<CompiledOperation> {
  return (await prepareRequest(roleSchema, sizes, request)).compiled;
}

/**
 * The errors of a failed request in the response format, with `data: null` where it failed while it ran
 * (https://spec.graphql.org/October2021/#sec-Data).
 */
export function failureResponse(error: unknown): RawResponse {
  const errors = error instanceof RequestErrors ? error.errors : [toClientError(error)];
  const { code } = errors[0]!;
  const hasRun = errorCodes[code].status === 200;
  return { ...textBody(JSON.stringify(hasRun ? { data: null, errors } : { errors })), errorCode: code };
}

const internalMessage = 'The server failed in a way that it should not: this is a defect of rowgraph, please report it.';

function toClientError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  // Values nested tens of thousands deep overflow the stack of whatever walks them, where no limit is set.
  if (isStackOverflow(error)) return new ApiError('QUERY_TOO_COMPLEX', 'The request is nested too deeply.', { cause: error });
  // The catalog is read outside of batches.
  return error instanceof DatabaseError ? toApiError(error) : new ApiError('INTERNAL_ERROR', internalMessage);
}

/** Other errors of the same class are defects. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded';
}

/** A token is verified once and its claims used many times. Only what is frozen is remembered: other callers may change theirs, or share them. */
const claimsTexts = new WeakMap<Caller, string>();

function claimsTextOf(caller: Caller): string {
  const known = claimsTexts.get(caller);
  if (known !== undefined) return known;
  const text = claimsJson(caller);
  if (Object.isFrozen(caller) && Object.isFrozen(caller.claims)) claimsTexts.set(caller, text);
  return text;
}

/** The claims are the program's, whose mistake it is where JSON cannot carry them. */
export class ClaimsError extends TypeError {
  constructor(cause: unknown) {
    super(`The claims of the caller must be JSON: ${(cause as Error).message}`, { cause });
    this.name = 'TypeError';
  }
}

function claimsJson({ claims, role }: Caller): string {
  try {
    return JSON.stringify({ ...claims, role });
  } catch (error) {
    throw new ClaimsError(error);
  }
}

/**
 * A mutation is checked for the schema version before anything of it runs, since not everything that a function does can be undone. Every
 * statement has its guard besides (`freshness/schema-guard.ts`).
 */
function sessionOf(roleSchema: RoleSchema, caller: Caller, kind: CompiledOperation['kind']): Session {
  const version = kind === 'mutation' ? roleSchema.version : null;
  return { role: caller.role, claims: claimsTextOf(caller), searchPath: roleSchema.searchPath, version, defaults: roleSchema.roleDefaults };
}

/** Where each root field's JSON comes from. At once where nothing has to be waited for: that would cost turns of the event loop's queue. */
function responseMembers(
  { roots }: CompiledOperation,
  rows: BatchResult,
  introspected: (key: string) => Promise<ColumnValue>,
): ResponseMember[] | Promise<ResponseMember[]> {
  const answered = roots.map((root): ResponseMember | Promise<ResponseMember> => {
    if (root.kind === 'json') return root;
    if (root.kind === 'introspection') return introspected(root.key).then((json) => ({ key: root.key, json }));
    return { key: root.key, json: rows[root.statement]?.[root.column] ?? root.empty };
  });
  return answered.some((root) => root instanceof Promise) ? Promise.all(answered) : (answered as ResponseMember[]);
}

async function introspect(
  roleSchema: RoleSchema,
  document: Document,
  { node }: DocumentOperation,
  request: GraphQLRequest,
  key: string,
): Promise<ColumnValue> {
  const { introspected } = roleSchema;
  if (!introspected) {
    throw new ApiError(
      'GRAPHQL_VALIDATION_FAILED',
      'Introspection is switched off: comment on schema … is \'@graphql({"introspection": true})\' switches it on.',
      { path: [key] },
    );
  }
  const { query, operationName, variables } = request;
  const identity = JSON.stringify([roleSchema.id, key, operationName, variables, query]);
  const operation = { node, fragments: document.fragments, variables: variables ?? {} };
  return roleSchema.introspectionCache.get(identity, () => executeIntrospection(introspected, operation, key));
}

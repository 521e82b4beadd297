/**
 * A request as one function of stages: parse, choose the operation, read variables, plan, compile, bind, run, respond. Everything that does
 * not depend on values is kept in bounded caches, so that a repeated variant costs a few lookups and one batch.
 */
import type { Deadline } from '../budget/deadline.ts';
import type { CompiledOperation } from '../compile/compile-plan.ts';
import type { BatchResult, RequestDatabase, Session, Statement } from '../database/database.ts';
import type { Distribution } from '../distribution.ts';
import { ApiError, quote } from '../errors/api-error.ts';
import type { Observer } from '../events.ts';
import { SuspectTableError } from '../freshness/stale-schema.ts';
import { executeIntrospection, type IntrospectionJson } from '../introspection/execute-introspection.ts';
import type { Plan } from '../plan/plan.ts';
import { locateError } from './locate/locate-error.ts';
import { bindRequest, estimateRows, type PreparedRequest, planAgain, prepareRequest } from './prepare/prepare-request.ts';
import type { Caller, GraphQLRequest, HttpHead, RawResponse, RequestMarks } from './request.ts';
import { checkRows, costOfPrepared, RequestOperation } from './request-cost.ts';
import { identifyRequest } from './run/idempotency-key.ts';
import { assembleResponse, type ResponseMember, type ResponseTemplate, SuccessResponse, templateOf } from './run/response.ts';
import { type OncePlan, runBatch, runOnce } from './run/run-batch.ts';
import { sessionOf } from './run/session.ts';
import type { CacheSizes } from './snapshot/caches.ts';
import type { CompiledRequest, GrantedSchema, RoleSchema, SnapshotVersion } from './snapshot/role-schema.ts';

/** Where a request runs, and as whom. */
export interface Target {
  readonly database: RequestDatabase;
  /** Null on a connection that the caller passed in, which has its own role and claims. */
  readonly caller: Caller | null;
  readonly observe: Observer;
  /** Null if only the connection itself limits the time. */
  readonly deadline: Deadline | null;
  /** The client whose share of the connections is used. */
  readonly client: string;
  /** Whether mutations are rejected. */
  readonly readOnly?: boolean;
  readonly marks?: RequestMarks | undefined;
  /** The idempotency key, if it is not in the request itself. */
  readonly idempotencyKey?: string | undefined;
  /** The head of the HTTP request, for the settings that tell SQL about it. */
  readonly http?: HttpHead | undefined;
  /** Records the estimated rows of requests. */
  readonly estimatedRows?: Distribution;
  /** Called before the wait for the database. */
  readonly onPrepared: (() => void) | undefined;
}

/** Runs a request. Throws `ApiError`, `RequestErrors`, and `StaleSchemaError` if the schema has changed since `roleSchema` was made. */
export async function executeRequest(
  roleSchema: RoleSchema,
  sizes: CacheSizes,
  request: GraphQLRequest,
  target: Target,
): Promise<RawResponse> {
  const { role, granted } = roleSchema;
  const hasKey = target.idempotencyKey !== undefined || (request.extensions?.idempotencyKey ?? null) !== null;
  let prepared: PreparedRequest | undefined;
  try {
    if (target.caller && role.refusal !== null) throw new ApiError('UNAUTHENTICATED', role.refusal);
    const keepsResults = hasKey && role.mayUseKeys && granted.keyStore !== null;
    const { deadline, client, marks } = target;
    const preparing = prepareRequest({ roleSchema, sizes, request, deadline, client, keepsResults, marks });
    const ready = preparing instanceof Promise ? await preparing : preparing;
    prepared = ready;
    const { compiled } = ready;
    const pageRows = estimateRows(ready);
    if (pageRows > role.limits.estimatedRows) await checkRows(ready, roleSchema, target.database, deadline);
    if (target.readOnly && compiled.kind === 'mutation')
      throw new ApiError('METHOD_NOT_ALLOWED', 'A GET request must not run a mutation. Send it as a POST request.');
    const binding = bindRequest(ready, role.limits, deadline);
    const statements = binding instanceof Promise ? await binding : binding;
    const session = target.caller && sessionOf(roleSchema, target.caller, compiled, target.marks?.applicationName ?? null, target.http);
    // After the version has been bound: if tables come into doubt later, that is no longer the version.
    if (granted.version !== null && granted.version.suspects.size > 0) refuseSuspects(granted.version, compiled);
    const template = compiled.kind === 'query' ? compiled : undefined;
    const { touches, callsFunctions, roleIndependent } = compiled.measure;
    const preparedFor = session !== null && roleIndependent ? role.alikeName : undefined;
    const maxBytes = role.limits.responseBytes;
    const { genericPlan } = compiled;
    const base = {
      session,
      statements,
      template,
      preparedFor,
      genericPlan,
      origin: compiled,
      deadline,
      client,
      touches,
      callsFunctions,
      maxBytes,
    };
    const batch = marks === undefined ? base : { ...base, marks };
    const extensions = granted.reportsCost ? costExtension(ready) : null;
    const once =
      hasKey && compiled.kind === 'mutation' ? planOnce(roleSchema, request, target, templateOf(compiled.roots, extensions)) : null;
    if (compiled.kind === 'query') target.estimatedRows?.note(pageRows);
    if (marks !== undefined) noteOperation(marks, request, ready);
    target.onPrepared?.();
    let rows: BatchResult = [];
    if (statements.length > 0 && once === null) rows = await runBatch(target.database, batch, target.observe);
    else if (statements.length > 0 && once !== null) {
      const outcome = await runOnce(target.database, batch, once, target.observe);
      if ('response' in outcome) return new SuccessResponse(outcome.response);
      rows = outcome;
    }
    if (marks !== undefined && statements.length > 0) marks.ended = performance.now();
    const introspected = compiled.isIntrospective ? await introspect(granted, ready, request, deadline) : noneIntrospected;
    const response = assembleResponse(responseMembers(compiled, rows, introspected), extensions);
    if (compiled.kind === 'mutation') response.isMutation = true;
    else if (granted.requestSettings !== null) response.dependsOn = granted.requestSettings.headers;
    return new SuccessResponse(response);
  } catch (error) {
    const located = await locateError(error, request, roleSchema, prepared);
    // What comes next may be a look at the database, whether a newer schema explains the error.
    target.onPrepared?.();
    throw located;
  }
}

/** Throws if a request is for a table that has changed, or shows the whole schema. */
function refuseSuspects({ suspects }: SnapshotVersion, { measure, isIntrospective }: CompiledRequest): void {
  if (isIntrospective || measure.touches.some((name) => suspects.has(name))) throw new SuspectTableError();
}

/** What is needed to run a mutation once. Throws if its key is invalid, or cannot be kept. */
function planOnce(
  { role: { mayUseKeys, limits }, granted: { keyStore } }: RoleSchema,
  request: GraphQLRequest,
  { caller, idempotencyKey }: Target,
  template: ResponseTemplate,
): OncePlan {
  const remedy = 'Send the mutation without one';
  if (caller === null) throw new ApiError('IDEMPOTENCY_NOT_SUPPORTED', `Idempotency keys do not work in your own transaction. ${remedy}.`);
  const identity = identifyRequest([idempotencyKey, request.extensions?.idempotencyKey], caller, request);
  if (!mayUseKeys) {
    const remedies = `${remedy}, sign in, or have the role added to idempotencyKeyRoles (--idempotency-key-roles)`;
    throw new ApiError('IDEMPOTENCY_NOT_SUPPORTED', `The role ${quote(caller.role)} may not use idempotency keys. ${remedies}.`);
  }
  if (keyStore === null) {
    const reason = 'The database does not store idempotency keys';
    throw new ApiError('IDEMPOTENCY_NOT_SUPPORTED', `${reason}. ${remedy}, or install the extension (docs/extension.md).`);
  }
  return { identity, template, keyStore, limits };
}

function noteOperation(marks: RequestMarks, { query, variables }: GraphQLRequest, prepared: PreparedRequest): void {
  marks.prepared = performance.now();
  marks.operation = new RequestOperation(query, variables ?? null, prepared);
}

/** JSON of the `extensions` member of a response. */
function costExtension(prepared: PreparedRequest): string {
  return JSON.stringify({ cost: costOfPrepared(prepared) });
}

/** What `executeRequest` would run, to be explained. */
export interface RequestToExplain {
  readonly name: string | null;
  readonly kind: CompiledOperation['kind'];
  readonly mismatches: readonly string[];
  /** Null if the operation is too long to be shown. */
  readonly plan: Plan | null;
  readonly statements: readonly Statement[];
  readonly session: Session;
}

/** The stages of a request before the database. Throws as `executeRequest` does. */
export async function readRequest(
  roleSchema: RoleSchema,
  sizes: CacheSizes,
  request: GraphQLRequest,
  caller: Caller,
  database: RequestDatabase,
): Promise<RequestToExplain> {
  const { role, granted } = roleSchema;
  if (role.refusal !== null) throw new ApiError('UNAUTHENTICATED', role.refusal);
  const prepared = await prepareRequest({ roleSchema, sizes, request });
  await checkRows(prepared, roleSchema, database, null);
  const { compiled, document, operation } = prepared;
  return {
    name: operation.name ?? null,
    kind: compiled.kind,
    mismatches: document.mismatches,
    plan: planAgain(await granted.types(), prepared),
    statements: await bindRequest(prepared, role.limits, null),
    session: sessionOf(roleSchema, caller, compiled, null),
  };
}

/** The JSON of each root field. */
function responseMembers({ roots }: CompiledOperation, rows: BatchResult, introspected: IntrospectionJson): ResponseMember[] {
  return roots.map((root) => {
    if (root.kind === 'json') return root;
    if (root.kind === 'introspection') return { key: root.key, json: introspected.get(root.key)! };
    return { key: root.key, json: rows[root.statement]?.[root.column] ?? root.empty };
  });
}

const noneIntrospected: IntrospectionJson = new Map();

/** The values of the root fields that introspect, by key. */
async function introspect(
  granted: GrantedSchema,
  { document, operation, variables, compiled }: PreparedRequest,
  request: GraphQLRequest,
  deadline: Deadline | null,
): Promise<IntrospectionJson> {
  const keys = compiled.roots.filter(({ kind }) => kind === 'introspection').map(({ key }) => key);
  const { introspected } = await granted.types();
  if (!introspected) {
    throw new ApiError(
      'GRAPHQL_VALIDATION_FAILED',
      'Introspection is disabled. To enable it, run: comment on schema … is \'@graphql({"introspection": true})\'',
      { path: [keys[0]!] },
    );
  }
  const identity = `${compiled.id} ${request.variables ? JSON.stringify(request.variables) : ''}`;
  const asked = { node: operation.node, fragments: document.fragments, variables };
  return granted.introspectionCache.get(identity, () => executeIntrospection(introspected, asked, keys), deadline);
}

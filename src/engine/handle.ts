/**
 * The whole way of a request: role, parse, choose the operation, coerce, plan, compile, bind, run, assemble. What does not depend on values
 * is cached: a repeated variant costs a few lookups (`findPrepared`) and one batch. If a newer schema may explain a failure, the request
 * starts over.
 */
import { type Deadline, untilStopped } from '../budget/deadline.ts';
import { runAtOnce, runInSlices } from '../budget/turns.ts';
import type { CompiledOperation } from '../compile/compile-plan.ts';
import type { Batch, BatchResult, RequestDatabase, Session, Statement } from '../database/database.ts';
import { stopError } from '../database/to-database-error.ts';
import { ApiError, quote } from '../errors/api-error.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { toApiError } from '../errors/from-postgres.ts';
import { Attempts } from '../freshness/attempts.ts';
import type { SchemaWatch } from '../freshness/schema-watch.ts';
import { SuspectTableError } from '../freshness/stale-schema.ts';
import { executeIntrospection, type IntrospectionJson } from '../introspection/execute-introspection.ts';
import type { PlanMeasure } from '../plan/measure.ts';
import type { Plan } from '../plan/plan.ts';
import { positionHeader, type ResponsePosition } from '../replicas/position.ts';
import type { Distribution } from '../statistics.ts';
import { locateError } from './locate/locate-error.ts';
import { bindStatements } from './prepare/bind-parameters.ts';
import { estimateRows, findPrepared, manyParts, type PreparedRequest, planAgain, prepareRequest } from './prepare/prepare-request.ts';
import type { Caller, GraphQLRequest, HttpHead, RawResponse, RequestMarks } from './request.ts';
import { checkRows, costOfPrepared, ranOperation } from './request-cost.ts';
import { identifyRequest } from './run/idempotency-key.ts';
import { assembleResponse, type ResponseMember, type ResponseTemplate, templateOf, withPosition } from './run/response.ts';
import type { OncePlan } from './run/run-batch.ts';
import { askedPosition, runOperation, type Servers } from './run/run-operation.ts';
import { sessionOf } from './run/session.ts';
import type { CompiledRequest, GrantedSchema, RoleSchema, SnapshotVersion } from './snapshot/role-schema.ts';
import type { SchemaSnapshot } from './snapshot/schema-snapshot.ts';

/** Where a request runs, and as whom. */
export interface Target extends Servers {
  /** Null on a connection that the caller passed in, which has its own role and claims. */
  readonly caller: Caller | null;
  /** Null if only the connection itself limits the time. */
  readonly deadline: Deadline | null;
  /** The client whose share of the connections is used. */
  readonly client: string;
  /** Whether mutations are rejected. */
  readonly readOnly?: boolean;
  readonly marks?: RequestMarks | undefined;
  /** The idempotency key, if it is not in the request itself. */
  readonly idempotencyKey?: string | undefined;
  /** What the caller says that the response must show, if it is not in the request itself. */
  readonly position?: string | undefined;
  /** The head of the HTTP request, for the settings that tell SQL about it. */
  readonly http?: HttpHead | undefined;
  /** Records the estimated rows of requests. */
  readonly estimatedRows?: Distribution;
  /** Called before the wait for the database. */
  readonly onPrepared?: (() => void) | undefined;
}

/** A role's requests on the current schema, and again on a newer one. Rejects with `ApiError` or `RequestErrors`. */
export function handleRequest(
  watch: SchemaWatch<SchemaSnapshot>,
  caller: Caller,
  deadline: Deadline,
  request: GraphQLRequest,
  target: Target,
): Promise<RawResponse> {
  const run = ({ roleSchema, prepared }: PreparedFor) => runRequest(roleSchema, prepared, request, target);
  return prepareForRole(watch, caller, deadline, request, target, run);
}

/** A request with the schema that it was prepared for. */
export interface PreparedFor {
  readonly snapshot: SchemaSnapshot;
  readonly roleSchema: RoleSchema;
  readonly prepared: PreparedRequest;
}

/** Prepares a request on the current schema and uses it, and again on a newer one. Rejects as `handleRequest` does. */
export async function prepareForRole<Result>(
  watch: SchemaWatch<SchemaSnapshot>,
  caller: Caller,
  deadline: Deadline,
  request: GraphQLRequest,
  target: Target,
  use: (source: PreparedFor) => Promise<Result>,
): Promise<Result> {
  const attempts = new Attempts(watch, deadline);
  for (;;) {
    let roleSchema: RoleSchema | undefined;
    let prepared: PreparedRequest | undefined;
    try {
      const { snapshot } = attempts;
      roleSchema = snapshot.find(caller.role) ?? (await untilStopped(snapshot.of(caller.role, target.database), deadline, stopError));
      prepared = findRequest(roleSchema, request, target) ?? (await prepare(roleSchema, request, target));
      return await use({ snapshot, roleSchema, prepared });
    } catch (error) {
      // What comes next may be a look at the database, whether a newer schema explains the error.
      target.onPrepared?.();
      const failure = await attempts.failed(error);
      if (failure !== null) throw roleSchema ? await locateError(failure, request, roleSchema, prepared) : failure;
    }
  }
}

export async function loadRole(
  watch: SchemaWatch<SchemaSnapshot>,
  role: string,
  deadline: Deadline,
  database: RequestDatabase,
): Promise<void> {
  const attempts = new Attempts(watch, deadline);
  for (;;) {
    try {
      const { snapshot } = attempts;
      if (snapshot.find(role) === undefined) await untilStopped(snapshot.of(role, database), deadline, stopError);
      return;
    } catch (error) {
      const failure = await attempts.failed(error);
      if (failure !== null) throw failure instanceof DatabaseError ? toApiError(failure) : failure;
    }
  }
}

/** A single attempt, as on a connection of the caller. */
export async function executeRequest(roleSchema: RoleSchema, request: GraphQLRequest, target: Target): Promise<RawResponse> {
  let prepared: PreparedRequest | undefined;
  try {
    prepared = findRequest(roleSchema, request, target) ?? (await prepare(roleSchema, request, target));
    return await runRequest(roleSchema, prepared, request, target);
  } catch (error) {
    throw await locateError(error, request, roleSchema, prepared);
  }
}

/** One synchronous look at the caches. */
export function findRequest(roleSchema: RoleSchema, request: GraphQLRequest, target: Target): PreparedRequest | null {
  refuseRole(roleSchema, target);
  return findPrepared(roleSchema, request, { keepsResults: keepsResults(roleSchema, request, target), marks: target.marks });
}

export function prepare(roleSchema: RoleSchema, request: GraphQLRequest, target: Target): Promise<PreparedRequest> {
  const { deadline, client, marks } = target;
  return prepareRequest(roleSchema, request, { deadline, client, keepsResults: keepsResults(roleSchema, request, target), marks });
}

function refuseRole({ role: { refusal } }: RoleSchema, { caller }: Target): void {
  if (caller !== null && refusal !== null) throw new ApiError('UNAUTHENTICATED', refusal);
}

function hasKey({ extensions }: GraphQLRequest, { idempotencyKey }: Target): boolean {
  return idempotencyKey !== undefined || (extensions?.idempotencyKey ?? null) !== null;
}

function keepsResults({ role, granted }: RoleSchema, request: GraphQLRequest, target: Target): boolean {
  return role.mayUseKeys && granted.keyStore !== null && hasKey(request, target);
}

/** Checks and binds what depends on values, and what is to run. */
export async function bindRequest(
  { role, granted }: RoleSchema,
  prepared: PreparedRequest,
  target: Target,
): Promise<Batch & { readonly extensions: string | null }> {
  const { compiled } = prepared;
  const { database, caller, deadline, client, marks } = target;
  const isQuery = compiled.kind === 'query';
  const pageRows = estimateRows(prepared);
  if (pageRows > role.limits.estimatedRows) await checkRows(prepared, { role, granted }, database, deadline);
  if (target.readOnly && !isQuery)
    throw new ApiError('METHOD_NOT_ALLOWED', 'A GET request must not run a mutation. Send it as a POST request.');
  const binding = bindStatements(compiled.statements, prepared.variables.bindValues, role.limits);
  const isLong = prepared.variables.listElements > manyParts;
  const statements = isLong ? await runInSlices(binding, deadline) : runAtOnce(binding);
  const session = caller && sessionOf({ role, granted }, caller, compiled, marks?.applicationName ?? null, target.http);
  // After the version has been bound: if tables come into doubt later, that is no longer the version.
  if (granted.version !== null && granted.version.suspects.size > 0) refuseSuspects(granted.version, compiled);
  if (isQuery) target.estimatedRows?.note(pageRows);
  return {
    session,
    statements,
    template: isQuery ? compiled : undefined,
    preparedFor: session !== null && compiled.measure.roleIndependent ? role.alikeName : undefined,
    statementOwner: session === null ? undefined : role.ownName,
    genericPlan: compiled.genericPlan,
    origin: compiled,
    deadline,
    client,
    touches: compiled.measure.touches,
    callsFunctions: compiled.measure.callsFunctions,
    maxBytes: role.limits.responseBytes,
    marks,
    extensions: granted.reportsCost ? JSON.stringify({ cost: costOfPrepared(prepared) }) : null,
  };
}

/** Runs the batch, and assembles the response. */
async function runRequest(
  roleSchema: RoleSchema,
  prepared: PreparedRequest,
  request: GraphQLRequest,
  target: Target,
): Promise<RawResponse> {
  const { granted } = roleSchema;
  const { compiled } = prepared;
  if (prepared.operation.node.operation === 'subscription') throw notSupported();
  const { replicas, deadline, marks } = target;
  const isQuery = compiled.kind === 'query';
  const asked = replicas === undefined ? null : askedPosition(request, target.position);
  const { extensions, ...batch } = await bindRequest(roleSchema, prepared, target);
  const once = hasKey(request, target) && !isQuery ? planOnce(roleSchema, request, target, templateOf(compiled.roots, extensions)) : null;
  if (marks !== undefined) {
    marks.prepared = performance.now();
    marks.operation = ranOperation(request, prepared);
  }
  target.onPrepared?.();
  let rows: BatchResult = [];
  let position: ResponsePosition | undefined;
  if (batch.statements.length > 0) {
    const outcome = await runOperation(batch, compiled, once, target, asked);
    position = outcome.position;
    if ('errorCode' in outcome.rows) return outcome.rows.at(position);
    rows = outcome.rows;
    if (marks !== undefined) marks.ended = performance.now();
  }
  const introspected = compiled.isIntrospective ? await introspect(granted, prepared, request, deadline) : noneIntrospected;
  const headers = granted.requestSettings?.headers;
  const dependsOn = replicas === undefined ? headers : [...(headers ?? []), positionHeader];
  const traits = { ...(isQuery ? { dependsOn } : { isMutation: true }), position };
  return assembleResponse(responseMembers(compiled, rows, introspected), withPosition(extensions, position), traits);
}

function notSupported(): ApiError {
  const remedy = 'Send it over a WebSocket, or accept text/event-stream or multipart/mixed (docs/live.md)';
  return new ApiError('SUBSCRIPTION_NOT_SUPPORTED', `The operation is a subscription, which has more than one answer. ${remedy}.`);
}

/** Throws if a request is for a table that has changed, or shows the whole schema. */
export function refuseSuspects({ suspects }: SnapshotVersion, { measure, isIntrospective }: CompiledRequest): void {
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
    throw new ApiError('IDEMPOTENCY_NOT_SUPPORTED', `${reason}. ${remedy}, or install the extension (docs/schema-changes.md).`);
  }
  return { identity, template, keyStore, limits };
}

/** What `handleRequest` would run, to be explained. */
export interface RequestToExplain {
  readonly name: string | null;
  readonly kind: CompiledOperation['kind'];
  readonly mismatches: readonly string[];
  /** Null if the operation is too long to be shown. */
  readonly plan: Plan | null;
  readonly statements: readonly Statement[];
  readonly session: Session;
  readonly measure: PlanMeasure;
}

/** The stages of a request before the database. Rejects as `handleRequest` does. */
export async function readRequest(
  roleSchema: RoleSchema,
  request: GraphQLRequest,
  caller: Caller,
  database: RequestDatabase,
): Promise<RequestToExplain> {
  const { role, granted } = roleSchema;
  if (role.refusal !== null) throw new ApiError('UNAUTHENTICATED', role.refusal);
  const prepared = await prepareRequest(roleSchema, request);
  await checkRows(prepared, roleSchema, database, null);
  const { compiled, document, operation } = prepared;
  return {
    name: operation.name ?? null,
    kind: compiled.kind,
    mismatches: document.mismatches,
    plan: planAgain(await granted.types(), prepared),
    statements: runAtOnce(bindStatements(compiled.statements, prepared.variables.bindValues, role.limits)),
    session: sessionOf(roleSchema, caller, compiled, null),
    measure: compiled.measure,
  };
}

export function responseMembers({ roots }: CompiledOperation, rows: BatchResult, introspected: IntrospectionJson): ResponseMember[] {
  return roots.map((root) => {
    if (root.kind === 'json') return root;
    if (root.kind === 'introspection') return { key: root.key, json: introspected.get(root.key)! };
    return { key: root.key, json: rows[root.statement]?.[root.column] ?? root.empty };
  });
}

export const noneIntrospected: IntrospectionJson = new Map();

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

/**
 * A request as one function of stages: parse, choose, read variables, plan, compile, bind, run, respond. Everything that does not
 * depend on values is kept in bounded caches, so that a repeated variant costs a few lookups and one batch.
 */
import type { Deadline } from '../budget/deadline.ts';
import type { Limits } from '../budget/limits.ts';
import type { CompiledOperation } from '../compile/compile-plan.ts';
import type { BatchResult, ColumnValue, Database } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import type { Observer } from '../events.ts';
import { executeIntrospection } from '../introspection/execute-introspection.ts';
import { assembleResponse, type ResponseBody, type ResponseMember } from './assemble-response.ts';
import { bindStatements } from './bind-parameters.ts';
import type { CacheSizes } from './cache-sizes.ts';
import { locateError } from './locate-error.ts';
import { type PreparedRequest, prepareRequest } from './prepare-request.ts';
import type { Caller, GraphQLRequest } from './request.ts';
import { costOfPrepared } from './request-cost.ts';
import type { GrantedSchema, RoleSchema } from './role-schema.ts';
import { runBatch } from './run-batch.ts';
import { sessionOf } from './session.ts';

/** Where and as whom a request runs. */
export interface Target {
  readonly database: Database;
  /** Null on a connection that the caller passed in, which has its own role and claims. */
  readonly caller: Caller | null;
  readonly observe: Observer;
  /** Null if only the connection itself limits the time. */
  readonly deadline: Deadline | null;
  /** Whose share of the connections is used. */
  readonly client: string;
  /** To be called ahead of the wait for the database. */
  readonly onPrepared: (() => void) | undefined;
}

/** The response. Throws `ApiError`, `RequestErrors`, and `StaleSchemaError` where the schema has changed since `roleSchema` was made. */
export async function executeRequest(
  roleSchema: RoleSchema,
  sizes: CacheSizes,
  request: GraphQLRequest,
  target: Target,
): Promise<ResponseBody> {
  const { role, granted } = roleSchema;
  if (target.caller && role.refusal !== null) throw new ApiError('UNAUTHENTICATED', role.refusal);
  let prepared: PreparedRequest | undefined;
  try {
    const preparing = prepareRequest(roleSchema, sizes, request, target.deadline);
    const ready = preparing instanceof Promise ? await preparing : preparing;
    prepared = ready;
    const { variables, compiled } = ready;
    const statements = bindStatements(compiled.statements, variables.bindValues, role.limits);
    const session = target.caller && sessionOf(roleSchema, target.caller, compiled.kind);
    const template = compiled.kind === 'query' ? compiled : undefined;
    const { deadline, client } = target;
    const { touches } = compiled.measure;
    const batch = { session, statements, template, deadline, client, touches, maxBytes: role.limits.responseBytes };
    target.onPrepared?.();
    const rows = statements.length > 0 ? await runBatch(target.database, batch, target.observe) : [];
    const roots = responseMembers(compiled, rows, (key) => introspect(granted, ready, request, key));
    const response = assembleResponse(roots instanceof Promise ? await roots : roots, granted.reportsCost ? costExtension(ready) : null);
    if (compiled.kind === 'mutation') response.isMutation = true;
    return response;
  } catch (error) {
    throw locateError(error, request, prepared?.compiled, () => unboundStatement(role.limits, prepared));
  }
}

/** The number of the first statement whose parameters cannot be bound. */
function unboundStatement(limits: Limits, prepared: PreparedRequest | undefined): number | null {
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
  return (await prepareRequest(roleSchema, sizes, request, null)).compiled;
}

/** Where each root field's JSON comes from. Synchronous if there is nothing to wait for: awaiting costs turns of the microtask queue. */
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
  granted: GrantedSchema,
  { document, operation, variables }: PreparedRequest,
  request: GraphQLRequest,
  key: string,
): Promise<ColumnValue> {
  const { introspected, introspectionCache } = granted;
  if (!introspected) {
    throw new ApiError(
      'GRAPHQL_VALIDATION_FAILED',
      'Introspection is disabled. To enable it, run: comment on schema … is \'@graphql({"introspection": true})\'',
      { path: [key] },
    );
  }
  const identity = JSON.stringify([granted.id, key, request.operationName, request.variables, request.query]);
  const asked = { node: operation.node, fragments: document.fragments, variables };
  return introspectionCache.get(identity, () => executeIntrospection(introspected, asked, key));
}

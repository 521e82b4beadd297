/**
 * The stages of a request before the database: parse, choose the operation, read the variables, plan, compile. Whatever does not depend on values comes
 * from bounded caches. Each stage checks its counts against the limits of the role; long ones pause.
 */
import { LRUCache } from 'lru-cache';
import type { Deadline } from '../budget/deadline.ts';
import { checkLimit, type Limits } from '../budget/limits.ts';
import { runAtOnce, runFromFirstPause, runInSlices } from '../budget/slices.ts';
import { type CompiledOperation, compilePlan } from '../compile/compile-plan.ts';
import { ApiError } from '../errors.ts';
import { evaluateRows, measurePlan, type PlanMeasure } from '../plan/measure-plan.ts';
import { planOperation } from '../plan/plan-operation.ts';
import { coerceVariableValues, type Variables } from '../request/coerce-variable-values.ts';
import { type Document, type DocumentOperation, getOperation, parseDocument, recheckDocument } from '../request/parse-document.ts';
import { selectFields } from '../request/select-fields.ts';
import type { CacheSizes } from './cache-sizes.ts';
import type { GraphQLRequest } from './request.ts';
import type { CachedDocument, CompiledRequest, GrantedSchema, RoleSchema } from './role-schema.ts';

/** A request that is ready to run, but for the values that are bound. */
export interface PreparedRequest {
  readonly document: Document;
  readonly operation: DocumentOperation;
  readonly variables: Variables;
  readonly compiled: CompiledRequest;
}

/** Documents of up to this many characters are parsed, validated and compiled without a pause. */
const shortDocument = 4096;
/** Operations of more fields, or with more elements in lists, are compiled with pauses. */
const manyParts = 500;
/** How many parameters a statement can have: Bind counts them in 16 bits (manual: Message Formats). */
const mostParameters = 65_535;

/** Synchronous if everything is cached or short. Fails with whatever the stages throw, and with TIMEOUT or CANCELLED if the request must stop. */
export function prepareRequest(
  roleSchema: RoleSchema,
  sizes: CacheSizes,
  request: GraphQLRequest,
  deadline: Deadline | null,
): PreparedRequest | Promise<PreparedRequest> {
  const { query } = request;
  const { granted, role } = roleSchema;
  const known = granted.uses.document.note(granted.documents.get(query));
  if (known) {
    if (known.limits !== role.limits) {
      recheckDocument(query, known.document, role.limits);
      known.limits = role.limits;
    }
    return prepareOperation(roleSchema, sizes, known, request, deadline);
  }
  const parsing = parseDocument(granted.schema, query, role.limits);
  if (query.length <= shortDocument)
    return prepareOperation(roleSchema, sizes, keep(roleSchema, sizes, query, runAtOnce(parsing)), request, deadline);
  return runInSlices(parsing, deadline).then((document) =>
    prepareOperation(roleSchema, sizes, keep(roleSchema, sizes, query, document), request, deadline),
  );
}

function keep({ granted, role }: RoleSchema, sizes: CacheSizes, query: string, document: Document): CachedDocument {
  const compiled = new LRUCache<string, CompiledRequest>({
    max: sizes.variants,
    // No document may displace all others.
    maxSize: Math.ceil(sizes.variantText / 10),
    sizeCalculation: ({ size }, variant) => size + variant.length + 1,
  });
  const cached = { document, compiled, limits: role.limits };
  granted.documents.set(query, cached);
  return cached;
}

function prepareOperation(
  roleSchema: RoleSchema,
  sizes: CacheSizes,
  cached: CachedDocument,
  request: GraphQLRequest,
  deadline: Deadline | null,
): PreparedRequest | Promise<PreparedRequest> {
  return runFromFirstPause(prepare(roleSchema, sizes, cached, request), deadline);
}

function* prepare(
  roleSchema: RoleSchema,
  sizes: CacheSizes,
  { document, compiled }: CachedDocument,
  request: GraphQLRequest,
): Generator<void, PreparedRequest> {
  const { granted, role } = roleSchema;
  const operation = getOperation(document, request.operationName);
  const variables = yield* coerceVariableValues(operation.variables, request.variables ?? {}, role.limits, operation.counts.listElements);
  const key = `${operation.name ?? ''} ${variables.variant}`;
  let ready = granted.uses.variant.note(compiled.get(key));
  if (!ready) {
    ready = yield* compileOperation(roleSchema, document, operation, variables);
    compiled.set(key, ready);
    makeRoom(granted, sizes);
  } else if (ready.limits !== role.limits) {
    checkPlan(ready.measure, role.limits);
    ready.limits = role.limits;
  }
  // Where no variable decides on it, it was counted once for all.
  if (ready.rowsVary) checkLimit(role.limits, 'estimatedRows', evaluateRows(ready.measure.rows, variables.bindValues));
  return { document, operation, variables: variables.listElements > manyParts ? letGo(variables, ready) : variables, compiled: ready };
}

/** What is needed of long variables now that they are compiled: the request may wait for a connection, and many others with it. */
function letGo(variables: Variables, { roots }: CompiledOperation): Variables {
  const values = roots.some(({ kind }) => kind === 'introspection') ? variables.values : new Map();
  return { ...variables, variant: '', values };
}

/** Evicts the least recently used documents until the compiled variants of all documents fit. */
function makeRoom({ documents, noteGrowth }: GrantedSchema, { variantText }: CacheSizes): void {
  let total = 0;
  for (const { compiled } of documents.values()) total += compiled.calculatedSize;
  while (total > variantText && documents.size > 1) total -= documents.pop()!.compiled.calculatedSize;
  noteGrowth();
}

function* compileOperation(
  { granted, role }: RoleSchema,
  document: Document,
  operation: DocumentOperation,
  variables: Variables,
): Generator<void, CompiledRequest> {
  const isLong = operation.counts.fields + variables.listElements > manyParts;
  const selected = selectFields(granted.schema, document.fragments, operation.node, variables.values);
  if (isLong) yield;
  const plan = planOperation(selected, granted.model);
  const measure = measurePlan(plan);
  checkPlan(measure, role.limits);
  if (isLong) yield;
  const compiling = compilePlan(plan, granted.version);
  const compiled = isLong ? yield* compiling : runAtOnce(compiling);
  return { ...compiled, size: sizeOf(compiled), measure, rowsVary: measure.rows.pages.length > 0, limits: role.limits };
}

/** Throws if a plan exceeds a limit regardless of the bound values. */
function checkPlan({ filterMembers, subqueries, parameters, rows }: PlanMeasure, limits: Limits): void {
  checkLimit(limits, 'filterMembers', filterMembers);
  checkLimit(limits, 'subqueries', subqueries);
  checkLimit(limits, 'estimatedRows', rows.constant);
  if (parameters > mostParameters) {
    const message = `The insert has ${parameters} values, but a statement can have only ${mostParameters}. Insert fewer rows at a time.`;
    throw new ApiError('QUERY_TOO_COMPLEX', message);
  }
}

/** Approximate size in memory, in characters. */
function sizeOf({ statements }: CompiledOperation): number {
  return statements.reduce((size, { text, parameters }) => size + text.length + 100 * parameters.length, 1);
}

/**
 * The stages of a request before the database: parse, choose the operation, coerce the variables, plan, compile. Whatever does not depend
 * on values comes from bounded caches, which `findPrepared` looks up; `prepareRequest` does what is missing, with pauses if it is long.
 */
import { createHash } from 'node:crypto';
import { getNamedType, isInputObjectType } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Deadline } from '../../budget/deadline.ts';
import { checkLimit, type Limits } from '../../budget/limits.ts';
import { runAtOnce, runInSlices, WeighedTurns } from '../../budget/turns.ts';
import { type CompiledOperation, compilePlan } from '../../compile/compile-plan.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Observer } from '../../events.ts';
import { dependsOnValues, evaluateRows } from '../../plan/evaluate-rows.ts';
import { measurePlan, type PlanMeasure } from '../../plan/measure.ts';
import type { Parameter } from '../../plan/parameter.ts';
import type { Plan } from '../../plan/plan.ts';
import { planOperation } from '../../plan/plan-operation.ts';
import { coerceVariables, type Variables } from '../../request/coerce/coerce-variables.ts';
import { selectFields, ValueCounter } from '../../request/select/select-fields.ts';
import {
  type Document,
  type DocumentOperation,
  getOperation,
  parseDocument,
  recheckDocument,
} from '../../request/validate/parse-document.ts';
import type { GraphQLRequest, RequestMarks } from '../request.ts';
import type { CachedDocument, CompiledRequest, GrantedSchema, NoteMismatches, RoleSchema, SchemaTypes } from '../snapshot/role-schema.ts';

/** A request that is ready to run, except for the values to bind. */
export interface PreparedRequest {
  readonly document: Document;
  readonly operation: DocumentOperation;
  readonly variables: Variables;
  readonly compiled: CompiledRequest;
}

/** Operations with more fields, or with more elements in lists, are compiled and bound with pauses. */
export const manyParts = 500;
/** Documents of up to this many characters are parsed and validated without a pause. */
const shortDocument = 4096;
/**
 * Operations with many fields take turns, weighed by their fields, because preparing one takes up to a kilobyte for each. All graphs of a
 * process share the turns.
 */
const longOperations = new WeighedTurns({ total: 40_000, ofClient: 30_000 });

interface PrepareOptions {
  readonly deadline?: Deadline | null;
  /** The client whose turn it must be. */
  readonly client?: string;
  /** Whether the response of a mutation is kept for its idempotency key. */
  readonly keepsResults?: boolean;
  readonly marks?: RequestMarks | undefined;
}

/** A request of which everything is cached; null if something is missing. Throws as `prepareRequest` rejects. */
export function findPrepared(
  { granted, role: { limits } }: RoleSchema,
  request: GraphQLRequest,
  { keepsResults = false, marks }: PrepareOptions,
): PreparedRequest | null {
  const cached = granted.documents.get(request.query);
  if (cached === undefined) return null;
  if (marks !== undefined) marks.parsed = performance.now();
  recheckDocument(cached.document, limits);
  const operation = getOperation(cached.document, request.operationName);
  const { listElements } = operation.counts;
  // It pauses only if the variables are long.
  const read = coerceVariables(operation.variables, request.variables ?? {}, limits, listElements, granted.coercion).next();
  if (!read.done) return null;
  const variables = read.value;
  const compiled = cached.compiled.get(variantKey(operation, variables, keepsResults));
  if (compiled === undefined) return null;
  granted.uses.document.note(cached);
  granted.uses.variant.note(compiled);
  return complete({ document: cached.document, operation, variables }, compiled, limits);
}

/** Rejects with any error of the stages, and with TIMEOUT or CANCELLED if the request must stop. */
export async function prepareRequest(
  roleSchema: RoleSchema,
  request: GraphQLRequest,
  { deadline = null, client = '', keepsResults = false, marks }: PrepareOptions = {},
): Promise<PreparedRequest> {
  const { granted, role } = roleSchema;
  let cached = granted.documents.get(request.query);
  let types: SchemaTypes | null = null;
  if (cached !== undefined) {
    granted.uses.document.note(cached);
    recheckDocument(cached.document, role.limits);
  } else {
    types = await granted.types();
    cached = await runInSlices(parse(roleSchema, request.query, types), deadline);
  }
  if (marks !== undefined) marks.parsed = performance.now();
  const operation = getOperation(cached.document, request.operationName);
  types = cached.types ?? types ?? (await granted.types());
  const work = prepareOperation(roleSchema, types, cached, operation, request.variables ?? {}, keepsResults);
  const { fields } = operation.counts;
  return fields > manyParts ? longOperations.run(client, fields, deadline, () => runInSlices(work, deadline)) : runInSlices(work, deadline);
}

/** A short document is parsed and kept in one go: of concurrent requests, one parses it. */
function* parse({ granted, role: { limits } }: RoleSchema, query: string, types: SchemaTypes): Generator<void, CachedDocument> {
  const known = granted.uses.document.note(granted.documents.get(query));
  if (known !== undefined) {
    recheckDocument(known.document, limits);
    return known;
  }
  // Suggestions would list the schema, guess by guess, for callers that may not introspect it.
  const suggests = types.introspected !== null;
  const parsing = parseDocument(types.schema, query, { limits, coercion: granted.coercion, suggests });
  const document = query.length <= shortDocument ? runAtOnce(parsing) : yield* parsing;
  if (document.mismatches.length > 0) granted.noteMismatches(query, document);
  const { variants, variantText } = granted.cacheSizes;
  const compiled = new LRUCache<string, CompiledRequest>({
    max: variants,
    // No single document may displace all others.
    maxSize: Math.ceil(variantText / 10),
    sizeCalculation: ({ size }, variant) => size + variant.length + 1,
  });
  const cached = { document, compiled, types: refersToTypes(document) ? types : null };
  if (cached.types === null || granted.keeps(types)) granted.documents.set(query, cached);
  return cached;
}

/** Whether a variable is of an input type: its fields lead to all other types. */
function refersToTypes({ operations }: Document): boolean {
  return operations.some(({ variables }) => variables.some(({ type }) => isInputObjectType(getNamedType(type))));
}

function* prepareOperation(
  roleSchema: RoleSchema,
  types: SchemaTypes,
  { document, compiled }: CachedDocument,
  operation: DocumentOperation,
  sent: Readonly<Record<string, unknown>>,
  keepsResults: boolean,
): Generator<void, PreparedRequest> {
  const { granted, role } = roleSchema;
  const { listElements } = operation.counts;
  const variables = yield* coerceVariables(operation.variables, sent, role.limits, listElements, granted.coercion);
  const key = variantKey(operation, variables, keepsResults);
  const cached = granted.uses.variant.note(compiled.get(key));
  const request = { document, operation, variables };
  if (cached !== undefined) return complete(request, cached, role.limits);
  const keepsMutation = keepsResults && operation.node.operation === 'mutation';
  const compiledRequest = yield* compileOperation(roleSchema, types, request, keepsMutation);
  if (!compiledRequest.holdsTypes || granted.keeps(types)) {
    compiled.set(key, compiledRequest);
    makeRoom(granted);
  }
  return complete(request, compiledRequest, role.limits);
}

/** The leading exclamation mark is unambiguous: names of operations cannot contain it. */
function variantKey({ name, node }: DocumentOperation, { variant }: Variables, keepsResults: boolean): string {
  return `${keepsResults && node.operation === 'mutation' ? '!' : ''}${name ?? ''} ${variant}`;
}

function complete(
  { document, operation, variables }: Omit<PreparedRequest, 'compiled'>,
  compiled: CompiledRequest,
  limits: Limits,
): PreparedRequest {
  checkCompiled(compiled, limits);
  return { document, operation, variables: variables.listElements > manyParts ? dropValues(variables, compiled) : variables, compiled };
}

/**
 * Drops what is no longer needed of long variables once they are compiled: this request, and many others with it, may wait for a
 * connection.
 */
function dropValues(variables: Variables, { isIntrospective }: CompiledRequest): Variables {
  const values = isIntrospective ? variables.values : new Map();
  return { ...variables, variant: '', values };
}

/** Evicts the least recently used documents until the compiled variants of all documents fit. */
function makeRoom({ documents, noteGrowth, cacheSizes }: GrantedSchema): void {
  let total = 0;
  for (const { compiled } of documents.values()) total += compiled.calculatedSize;
  while (total > cacheSizes.variantText && documents.size > 1) total -= documents.pop()!.compiled.calculatedSize;
  noteGrowth();
}

/** How many rows a request may read by its page sizes. `request-cost.ts` checks their limit. */
export function estimateRows({ compiled, variables }: PreparedRequest): number {
  return compiled.pageRows ?? evaluateRows(compiled.measure.rows, variables.bindValues);
}

/** How many parameters a statement can have: Bind counts them in 16 bits (manual: Message Formats). */
const mostParameters = 65_535;

let compiledCount = 0;

function* compileOperation(
  { granted, role }: RoleSchema,
  { schema, model }: SchemaTypes,
  { document, operation, variables }: Omit<PreparedRequest, 'compiled'>,
  keepsResults: boolean,
): Generator<void, CompiledRequest> {
  const counter = new ValueCounter(variables.values, role.limits);
  const selected = selectFields(schema, document.fragments, operation.node, variables.values, counter);
  const isLong = operation.counts.fields + variables.listElements + counter.total > manyParts;
  if (isLong) yield;
  const planning = planOperation(selected, model);
  const plan = isLong ? yield* planning : runAtOnce(planning);
  if (isLong) yield;
  const measure = measurePlan(plan);
  checkPlan(measure, role.limits);
  if (isLong) yield;
  // Behind a batch that runs on several nodes, a statement of its own checks the version.
  const compiling = compilePlan(plan, granted.hasNodes ? null : granted.version, keepsResults);
  const compiled = isLong ? yield* compiling : runAtOnce(compiling);
  return {
    ...compiled,
    id: ++compiledCount,
    size: sizeOf(compiled),
    measure,
    inputValues: counter.total,
    pageRows: dependsOnValues(measure.rows) ? null : evaluateRows(measure.rows, []),
    isIntrospective: compiled.roots.some(({ kind }) => kind === 'introspection'),
    // Citus plans for values.
    genericPlan: !granted.hasNodes && prefersGenericPlan(measure, compiled),
    // A step of a nested write refers to its table, whose relations lead to the whole model.
    holdsTypes: compiled.statements.some(({ step }) => step !== undefined),
  };
}

/**
 * Throws if a compiled operation exceeds a limit of the role regardless of the bound values: it may have been compiled for another role.
 */
function checkCompiled({ inputValues, measure }: CompiledRequest, limits: Limits): void {
  checkLimit(limits, 'inputValues', inputValues);
  checkPlan(measure, limits);
}

function checkPlan({ filterMembers, orderKeys, subqueries, parameters }: PlanMeasure, limits: Limits): void {
  checkLimit(limits, 'filterMembers', filterMembers);
  checkLimit(limits, 'orderKeys', orderKeys);
  checkLimit(limits, 'subqueries', subqueries);
  if (parameters > mostParameters) {
    const message = `The insert has ${parameters} values, but a statement can have only ${mostParameters}. Insert fewer rows at a time.`;
    throw new ApiError('QUERY_TOO_COMPLEX', message);
  }
}

/**
 * Whether PostgreSQL makes one generic plan for all values (docs/decisions.md): they are only those of cursors, and each page is a single
 * range of its order, which an index either serves at every position or at none. By itself, PostgreSQL would plan such a page anew for each
 * request, which takes longer than to read it.
 */
function prefersGenericPlan({ roleIndependent, seeksOneRange }: PlanMeasure, { statements }: CompiledOperation): boolean {
  return (
    roleIndependent &&
    seeksOneRange &&
    statements.every(({ parameters }) => parameters.every(({ encoding }) => encoding.kind === 'text' || encoding.kind === 'array'))
  );
}

/** Approximate size in memory, in characters. */
function sizeOf({ statements }: CompiledOperation): number {
  return statements.reduce((size, { text, parameters }) => size + text.length + 100 * countValues(parameters), 1);
}

/** A list for a parameter counts as one parameter for each of its values. */
function countValues(parameters: readonly Parameter[]): number {
  return parameters.reduce((count, { value }) => count + (value.kind === 'list' ? value.items.length : 1), 0);
}

/**
 * The plan of a prepared request once more. Null if that is not worth the time, for long operations, and if the variables were dropped.
 */
export function planAgain({ schema, model }: SchemaTypes, { document, operation, variables }: PreparedRequest): Plan | null {
  if (operation.counts.fields + variables.listElements > manyParts) return null;
  return runAtOnce(planOperation(selectFields(schema, document.fragments, operation.node, variables.values), model));
}

/** How many documents are remembered, by their hash. */
const mostRemembered = 10_000;

/**
 * Reports each such document once, however often it is parsed. One for all schemas of a graph: a reload of the schema parses documents
 * again.
 */
export function createMismatchReport(observe: Observer): NoteMismatches {
  const reported = new LRUCache<string, true>({ max: mostRemembered });
  return (query, { operations, mismatches }) => {
    const hash = createHash('sha256').update(query).digest('hex');
    if (reported.has(hash)) return;
    reported.set(hash, true);
    observe({ kind: 'document-mismatched', hash, operations: operations.map(({ name }) => name ?? null), mismatches });
  };
}

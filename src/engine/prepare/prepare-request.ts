import { createHash } from 'node:crypto';
import { getNamedType, isInputObjectType } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Deadline } from '../../budget/deadline.ts';
import { checkLimit, type Limits } from '../../budget/limits.ts';
import { runAtOnce, runFromFirstPause, runInSlices, runInTurn, WeighedTurns } from '../../budget/turns.ts';
import { type CompiledOperation, compilePlan } from '../../compile/compile-plan.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Observer } from '../../events.ts';
import { dependsOnValues, evaluateRows, measurePlan, type PlanMeasure } from '../../plan/measure.ts';
import type { Parameter, Plan } from '../../plan/plan.ts';
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
import type { CacheSizes } from '../snapshot/caches.ts';
import type { CachedDocument, CompiledRequest, GrantedSchema, RoleSchema, SchemaTypes } from '../snapshot/role-schema.ts';
import { type BoundStatement, bindStatements, bindStatementsInSteps } from './bind-parameters.ts';
import { prefersGenericPlan } from './compile-operation.ts';

/**
 * The stages of a request before the database: parse, choose the operation, read the variables, plan, compile. Whatever does not depend on
 * values comes from bounded caches. Each stage checks its counts against the limits of the role; long work pauses.
 */

/** A request that is ready to run, except for the values to bind. */
export interface PreparedRequest {
  readonly document: Document;
  readonly operation: DocumentOperation;
  readonly variables: Variables;
  readonly compiled: CompiledRequest;
}

/** Documents of up to this many characters are parsed, validated and compiled without a pause. */
const shortDocument = 4096;
/** Operations with more fields, or with more elements in lists, are compiled with pauses. */
const manyParts = 500;
/**
 * Operations with many fields take turns, weighed by their fields, because preparing one takes up to a kilobyte for each. All graphs of a process
 * share the turns.
 */
const longOperations = new WeighedTurns({ total: 40_000, ofClient: 30_000 });
/** How many parameters a statement can have: Bind counts them in 16 bits (manual: Message Formats). */
const mostParameters = 65_535;

/** A request on its way through the stages. */
export interface Preparation {
  readonly roleSchema: RoleSchema;
  readonly sizes: CacheSizes;
  readonly request: GraphQLRequest;
  readonly deadline?: Deadline | null;
  /** The client whose turn it must be. */
  readonly client?: string;
  /** Whether the response of a mutation is kept for its idempotency key. */
  readonly keepsResults?: boolean;
  readonly marks?: RequestMarks | undefined;
}

/**
 * Synchronous if everything is cached or short, unless many others have come in the same turn of the event loop. Fails with any error of the stages,
 * and with TIMEOUT or CANCELLED if the request must stop.
 */
export function prepareRequest(preparation: Preparation): PreparedRequest | Promise<PreparedRequest> {
  const { roleSchema, request, deadline = null } = preparation;
  const { granted } = roleSchema;
  const known = granted.documents.get(request.query);
  if (known === undefined) return runInTurn(() => prepareDocument(preparation), deadline);
  granted.uses.document.note(known);
  return prepareKnown(preparation, known);
}

function prepareKnown(preparation: Preparation, known: CachedDocument): PreparedRequest | Promise<PreparedRequest> {
  const { limits } = preparation.roleSchema.role;
  if (known.limits !== limits) {
    recheckDocument(preparation.request.query, known.document, limits);
    known.limits = limits;
  }
  return prepareOperation(preparation, known);
}

function prepareDocument(preparation: Preparation): PreparedRequest | Promise<PreparedRequest> {
  const { roleSchema, request, deadline = null } = preparation;
  const { granted, role } = roleSchema;
  const { query } = request;
  const types = granted.types();
  return types instanceof Promise ? types.then(parse) : parse(types);

  function parse(made: SchemaTypes): PreparedRequest | Promise<PreparedRequest> {
    // Another request may have prepared it while this one waited.
    const known = granted.uses.document.note(granted.documents.get(query));
    if (known !== undefined) return prepareKnown(preparation, known);
    // Suggestions would list the schema, guess by guess, for callers that may not introspect it.
    const suggests = made.introspected !== null;
    const parsing = parseDocument(made.schema, query, { limits: role.limits, coercion: granted.coercion, suggests });
    const proceed = (document: Document) => prepareOperation(preparation, keep(preparation, made, document), made);
    return query.length <= shortDocument ? proceed(runAtOnce(parsing)) : runInSlices(parsing, deadline).then(proceed);
  }
}

function keep({ roleSchema: { granted, role }, sizes, request }: Preparation, types: SchemaTypes, document: Document): CachedDocument {
  if (document.mismatches.length > 0) granted.noteMismatches(request.query, document);
  const compiled = new LRUCache<string, CompiledRequest>({
    max: sizes.variants,
    // No single document may displace all others.
    maxSize: Math.ceil(sizes.variantText / 10),
    sizeCalculation: ({ size }, variant) => size + variant.length + 1,
  });
  const cached = { document, compiled, types: refersToTypes(document) ? types : null, limits: role.limits };
  if (cached.types === null || granted.keeps(types)) granted.documents.set(request.query, cached);
  return cached;
}

/** Whether a variable is of an input type: its fields lead to all other types. */
function refersToTypes({ operations }: Document): boolean {
  return operations.some(({ variables }) => variables.some(({ type }) => isInputObjectType(getNamedType(type))));
}

/** `made`: types that were built for this request. */
function prepareOperation(
  preparation: Preparation,
  cached: CachedDocument,
  made: SchemaTypes | null = null,
): PreparedRequest | Promise<PreparedRequest> {
  const { roleSchema, request, marks, deadline = null } = preparation;
  if (marks !== undefined) marks.parsed = performance.now();
  const { role, granted } = roleSchema;
  const operation = getOperation(cached.document, request.operationName);
  const { listElements } = operation.counts;
  const reading = coerceVariables(operation.variables, request.variables ?? {}, role.limits, listElements, granted.coercion);
  const variables = runFromFirstPause(reading, deadline);
  const proceed = (read: Variables) => prepareWith(preparation, cached, made, operation, read);
  return variables instanceof Promise ? variables.then(proceed) : proceed(variables);
}

function prepareWith(
  preparation: Preparation,
  cached: CachedDocument,
  made: SchemaTypes | null,
  operation: DocumentOperation,
  variables: Variables,
): PreparedRequest | Promise<PreparedRequest> {
  const { roleSchema, deadline = null, client = '' } = preparation;
  const { role, granted } = roleSchema;
  const { document, compiled } = cached;
  const keepsResults = preparation.keepsResults === true && operation.node.operation === 'mutation';
  const known = compiled.get(variantKey(operation, variables, keepsResults));
  if (known !== undefined) {
    granted.uses.variant.note(known);
    return complete(role, document, operation, variables, known);
  }
  const types = cached.types ?? made ?? granted.types();
  // Another request may compile it while this one waits.
  if (types instanceof Promise) return types.then((ready) => prepareWith(preparation, cached, ready, operation, variables));
  const work = prepareVariant(preparation, types, cached, operation, variables, keepsResults);
  const { fields } = operation.counts;
  return fields > manyParts
    ? longOperations.run(client, fields, deadline, () => runInSlices(work, deadline))
    : runInTurn(() => runFromFirstPause(work, deadline), deadline);
}

function* prepareVariant(
  { roleSchema, sizes }: Preparation,
  types: SchemaTypes,
  cached: CachedDocument,
  operation: DocumentOperation,
  variables: Variables,
  keepsResults: boolean,
): Generator<void, PreparedRequest> {
  const { document, compiled } = cached;
  const key = variantKey(operation, variables, keepsResults);
  // Another request may have compiled it while this one waited.
  const known = roleSchema.granted.uses.variant.note(compiled.get(key));
  if (known !== undefined) return complete(roleSchema.role, document, operation, variables, known);
  const ready = yield* compileOperation(roleSchema, types, document, operation, variables, keepsResults);
  // A step of a nested write refers to its table, whose relations lead to the whole model.
  const holdsTypes = ready.statements.some(({ step }) => step !== undefined);
  if (!holdsTypes || roleSchema.granted.keeps(types)) {
    if (holdsTypes) cached.types = types;
    compiled.set(key, ready);
    makeRoom(roleSchema.granted, sizes);
  }
  return complete(roleSchema.role, document, operation, variables, ready);
}

/** The leading exclamation mark is unambiguous: names of operations cannot contain it. */
function variantKey({ name }: DocumentOperation, { variant }: Variables, keepsResults: boolean): string {
  return `${keepsResults ? '!' : ''}${name ?? ''} ${variant}`;
}

/** Checks a compiled operation against the limits of this role; it may have been compiled for another role or other values. */
function complete(
  { limits }: RoleSchema['role'],
  document: Document,
  operation: DocumentOperation,
  variables: Variables,
  compiled: CompiledRequest,
): PreparedRequest {
  if (compiled.limits !== limits) {
    checkLimit(limits, 'inputValues', compiled.inputValues);
    checkPlan(compiled.measure, limits);
    compiled.limits = limits;
  }
  return { document, operation, variables: variables.listElements > manyParts ? dropValues(variables, compiled) : variables, compiled };
}

/** Binds the values of a request, with pauses if there are many. Fails as `bindStatements` does. */
export function bindRequest(
  { compiled: { statements }, variables: { bindValues, listElements } }: PreparedRequest,
  limits: Limits,
  deadline: Deadline | null,
): BoundStatement[] | Promise<BoundStatement[]> {
  if (listElements <= manyParts) return bindStatements(statements, bindValues, limits);
  return runInSlices(bindStatementsInSteps(statements, bindValues, limits), deadline);
}

/** How many rows a request may read by its page sizes. `check-rows.ts` checks their limit. */
export function estimateRows({ compiled, variables }: PreparedRequest): number {
  return compiled.pageRows ?? evaluateRows(compiled.measure.rows, variables.bindValues);
}

/**
 * Plans a prepared request again, to find out where an error comes from. Null if that is not worth the time, for long operations, and if
 * the variables were dropped.
 */
export function planAgain({ schema, model }: SchemaTypes, { document, operation, variables }: PreparedRequest): Plan | null {
  if (operation.counts.fields + variables.listElements > manyParts) return null;
  return runAtOnce(planOperation(selectFields(schema, document.fragments, operation.node, variables.values), model));
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
function makeRoom({ documents, noteGrowth }: GrantedSchema, { variantText }: CacheSizes): void {
  let total = 0;
  for (const { compiled } of documents.values()) total += compiled.calculatedSize;
  while (total > variantText && documents.size > 1) total -= documents.pop()!.compiled.calculatedSize;
  noteGrowth();
}

let compiledCount = 0;

function* compileOperation(
  { granted, role }: RoleSchema,
  { schema, model }: SchemaTypes,
  document: Document,
  operation: DocumentOperation,
  variables: Variables,
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
  const compiling = compilePlan(plan, granted.version, keepsResults);
  const compiled = isLong ? yield* compiling : runAtOnce(compiling);
  return {
    ...compiled,
    id: ++compiledCount,
    size: sizeOf(compiled),
    measure,
    inputValues: counter.total,
    pageRows: dependsOnValues(measure.rows) ? null : evaluateRows(measure.rows, []),
    isIntrospective: compiled.roots.some(({ kind }) => kind === 'introspection'),
    genericPlan: prefersGenericPlan(measure, compiled.statements),
    limits: role.limits,
  };
}

/** Throws if a plan exceeds a limit regardless of the bound values. */
function checkPlan({ filterMembers, orderKeys, subqueries, parameters }: PlanMeasure, limits: Limits): void {
  checkLimit(limits, 'filterMembers', filterMembers);
  checkLimit(limits, 'orderKeys', orderKeys);
  checkLimit(limits, 'subqueries', subqueries);
  if (parameters > mostParameters) {
    const message = `The insert has ${parameters} values, but a statement can have only ${mostParameters}. Insert fewer rows at a time.`;
    throw new ApiError('QUERY_TOO_COMPLEX', message);
  }
}

/** A list in the place of a parameter counts as one parameter for each of its values. */
function countValues(parameters: readonly Parameter[]): number {
  return parameters.reduce((count, { value }) => count + (value.kind === 'list' ? value.items.length : 1), 0);
}

/** Approximate size in memory, in characters. */
function sizeOf({ statements }: CompiledOperation): number {
  return statements.reduce((size, { text, parameters }) => size + text.length + 100 * countValues(parameters), 1);
}

/** Reports the documents that only lenient coercion accepts: each once, however often it is parsed. */

/** Takes such a document with its text. */
export type NoteMismatches = (query: string, document: Document) => void;

/** How many documents are remembered, by their hash. */
const mostRemembered = 10_000;

/** One for all schemas of a graph: a reload of the schema parses documents again. */
export function createMismatchReport(observe: Observer): NoteMismatches {
  const reported = new LRUCache<string, true>({ max: mostRemembered });
  return (query, { operations, mismatches }) => {
    const hash = createHash('sha256').update(query).digest('hex');
    if (reported.has(hash)) return;
    reported.set(hash, true);
    observe({ kind: 'document-mismatched', hash, operations: operations.map(({ name }) => name ?? null), mismatches });
  };
}

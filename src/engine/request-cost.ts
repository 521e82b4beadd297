/**
 * Reports what a request counts against each limit: for `rowgraph cost`, `graph.cost`, and `extensions.cost` of a response. Counting for a
 * report does not stop at the limits but is still bounded: if an operation is too large to plan, only its text is counted.
 */
import { type DocumentNode, GraphQLError, type OperationDefinitionNode, parse } from 'graphql';
import { type LimitName, type Limits, limitNames, noLimits } from '../budget/limits.ts';
import type { RequestDatabase } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { checkText, type TextCounts } from '../request/check-text.ts';
import { type MeasuredDocument, measureOperations, type OperationCounts } from '../request/measure-operations.ts';
import { RequestErrors } from '../request/parse-document.ts';
import { TextCache } from '../text-cache.ts';
import { bindStatements, sizeOfBound } from './bind-parameters.ts';
import type { CacheSizes } from './cache-sizes.ts';
import { findExcess } from './check-rows.ts';
import { estimateRows, type PreparedRequest, prepareRequest } from './prepare-request.ts';
import type { CostCounts, GraphQLRequest, OperationCost, RequestCost } from './request.ts';
import type { CachedDocument, RoleSchema } from './role-schema.ts';

/** The counts of a document's text, which need no schema. Throws GRAPHQL_PARSE_FAILED. */
export function costOfText(request: GraphQLRequest, limits: Limits): RequestCost {
  const { text, measured } = measureText(request.query);
  const operations = askedOf(measured, request).map(([node, counts]) => operationCost(node, countsOf(text, measured, counts), limits));
  return report(limits, operations);
}

function askedOf({ operations }: MeasuredDocument, { operationName }: GraphQLRequest): [OperationDefinitionNode, OperationCounts][] {
  return [...operations].filter(([{ name }]) => !operationName || name?.value === operationName);
}

/** Operations with more values are not planned to count the rest, unless the role may send them. */
const mostCountedValues = 1_000_000;

/** The counts of a document's operations, or of the named one. */
export async function costOfRequest(
  { role, granted }: RoleSchema,
  sizes: CacheSizes,
  request: GraphQLRequest,
  database: RequestDatabase,
): Promise<RequestCost> {
  const { text, measured } = measureText(request.query);
  // A cache of its own: documents prepared here have not been checked against the limits.
  const documents = new TextCache<CachedDocument>(1, Number.MAX_SAFE_INTEGER);
  const limits = { ...noLimits, inputValues: Math.max(role.limits.inputValues, mostCountedValues) };
  const unlimited = { role: { ...role, limits }, granted: { ...granted, documents } };
  const operations: OperationCost[] = [];
  for (const [node, counts] of askedOf(measured, request)) {
    const known = countsOf(text, measured, counts);
    if (exceededOf(known, role.limits).length > 0) {
      operations.push(operationCost(node, known, role.limits));
      continue;
    }
    try {
      const prepared = await prepareRequest({ roleSchema: unlimited, sizes, request: { ...request, operationName: node.name?.value } });
      const cost = operationCost(node, costOfPrepared(prepared), role.limits);
      const isOver = (await findExcess(prepared, { role, granted }, database, null)) !== null;
      operations.push({ ...cost, exceeded: cost.exceeded.filter((name) => name !== 'estimatedRows' || isOver) });
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof RequestErrors)) throw error;
      operations.push({ ...operationCost(node, known, role.limits), error: error.message });
    }
  }
  return report(role.limits, operations);
}

/** The counts of a request that is ready to run. */
export function costOfPrepared(prepared: PreparedRequest): CostCounts {
  const { document, operation, variables, compiled } = prepared;
  return {
    ...document.textCounts,
    ...operation.counts,
    operations: document.operations.length,
    listElements: variables.listElements,
    inputValues: compiled.inputValues,
    filterMembers: compiled.measure.filterMembers,
    orderKeys: compiled.measure.orderKeys,
    subqueries: compiled.measure.subqueries,
    inputSize: sizeOfBound(bindStatements(compiled.statements, variables.bindValues, noLimits)),
    estimatedRows: estimateRows(prepared),
    responseBytes: null,
    idempotencyBytes: null,
  };
}

function measureText(query: string): { readonly text: TextCounts; readonly measured: MeasuredDocument } {
  const text = checkText(query, noLimits);
  let document: DocumentNode;
  try {
    document = parse(query, { noLocation: true });
  } catch (error) {
    throw error instanceof GraphQLError ? new ApiError('GRAPHQL_PARSE_FAILED', error.message, { cause: error }) : error;
  }
  return { text, measured: measureOperations(document) };
}

function countsOf(text: TextCounts, { operations }: MeasuredDocument, counts: OperationCounts): CostCounts {
  return {
    ...text,
    ...counts,
    operations: operations.size,
    inputValues: null,
    filterMembers: null,
    orderKeys: null,
    subqueries: null,
    inputSize: null,
    estimatedRows: null,
    responseBytes: null,
    idempotencyBytes: null,
  };
}

function operationCost(node: OperationDefinitionNode, counts: CostCounts, limits: Limits): OperationCost {
  return { operation: node.name?.value ?? null, counts, exceeded: exceededOf(counts, limits) };
}

function exceededOf(counts: CostCounts, limits: Limits): readonly LimitName[] {
  return limitNames.filter((name) => (counts[name] ?? 0) > limits[name]);
}

function report(limits: Limits, operations: readonly OperationCost[]): RequestCost {
  const reported = Object.fromEntries(limitNames.map((name) => [name, Number.isFinite(limits[name]) ? limits[name] : null])) as CostCounts;
  return { operations, limits: reported };
}

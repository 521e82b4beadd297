/**
 * What a request counts against each limit: for `rowgraph cost`, `graph.cost`, and `extensions.cost` of a response; and the limit of
 * estimated rows. Counting for a report does not stop at the limits but is still bounded: if an operation is too large to plan, only its
 * text is counted.
 */
import type { OperationDefinitionNode } from 'graphql';
import { type Deadline, untilStopped } from '../budget/deadline.ts';
import { type LimitName, type Limits, limitNames, noLimits, overLimit } from '../budget/limits.ts';
import { runAtOnce } from '../budget/turns.ts';
import type { RequestDatabase } from '../database/database.ts';
import { stopError } from '../database/to-database-error.ts';
import { ApiError } from '../errors/api-error.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { toApiError } from '../errors/from-postgres.ts';
import type { RanOperation } from '../event-details.ts';
import { evaluateRowsOf, type LargestRead } from '../plan/evaluate-rows.ts';
import {
  checkText,
  type MeasuredDocument,
  measureOperations,
  type OperationCounts,
  type TextCounts,
} from '../request/validate/measure-document.ts';
import { parseText, RequestErrors } from '../request/validate/parse-document.ts';
import { bindStatements, sizeOfBound } from './prepare/bind-parameters.ts';
import { estimateRows, type PreparedRequest, prepareRequest } from './prepare/prepare-request.ts';
import type { CostCounts, GraphQLRequest, OperationCost, RequestCost } from './request.ts';
import type { RoleSchema } from './snapshot/role-schema.ts';

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
  request: GraphQLRequest,
  database: RequestDatabase,
): Promise<RequestCost> {
  const { text, measured } = measureText(request.query);
  const limits = { ...noLimits, inputValues: Math.max(role.limits.inputValues, mostCountedValues) };
  const unlimited = { role: { ...role, limits }, granted };
  const operations: OperationCost[] = [];
  for (const [node, counts] of askedOf(measured, request)) {
    const measuredCounts = countsOf(text, measured, counts);
    if (exceededOf(measuredCounts, role.limits).length > 0) {
      operations.push(operationCost(node, measuredCounts, role.limits));
      continue;
    }
    try {
      const prepared = await prepareRequest(unlimited, { ...request, operationName: node.name?.value });
      const cost = operationCost(node, costOfPrepared(prepared), role.limits);
      const isOver = (await findExcess(prepared, { role, granted }, database, null)) !== null;
      operations.push({ ...cost, exceeded: cost.exceeded.filter((name) => name !== 'estimatedRows' || isOver) });
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof RequestErrors)) throw error;
      operations.push({ ...operationCost(node, measuredCounts, role.limits), error: error.message });
    }
  }
  return report(role.limits, operations);
}

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
    inputSize: sizeOfBound(runAtOnce(bindStatements(compiled.statements, variables.bindValues, noLimits))),
    estimatedRows: estimateRows(prepared),
    searchLength: null,
    responseBytes: null,
    idempotencyBytes: null,
    subscriptions: null,
  };
}

function measureText(query: string): { readonly text: TextCounts; readonly measured: MeasuredDocument } {
  const text = checkText(query, noLimits);
  return { text, measured: measureOperations(parseText(query)) };
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
    searchLength: null,
    responseBytes: null,
    idempotencyBytes: null,
    subscriptions: null,
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

/**
 * Most requests are within the limit by their page sizes alone. For the others the sizes of the tables count too: pages of a small table
 * are not full, and the rows of all its pages together are no more than it has. Rejects with TOO_MANY_ESTIMATED_ROWS if the request reads
 * too much.
 */
export async function checkRows(
  prepared: PreparedRequest,
  roleSchema: RoleSchema,
  database: RequestDatabase,
  deadline: Deadline | null,
): Promise<void> {
  const error = await findExcess(prepared, roleSchema, database, deadline);
  if (error !== null) throw error;
}

/**
 * The error at the selection that costs most; null if the request is within the limit. It has no count, which would tell the sizes of
 * tables.
 */
async function findExcess(
  prepared: PreparedRequest,
  { role, granted }: RoleSchema,
  database: RequestDatabase,
  deadline: Deadline | null,
): Promise<ApiError | null> {
  if (estimateRows(prepared) <= role.limits.estimatedRows) return null;
  const { compiled, variables } = prepared;
  const sizes = await untilStopped(granted.tableSizes.read(database), deadline, stopError).catch((error: unknown) => {
    throw error instanceof DatabaseError ? toApiError(error) : error;
  });
  const { rows, largest } = evaluateRowsOf(sizes, compiled.measure.rows, variables.bindValues);
  if (rows <= role.limits.estimatedRows) return null;
  return overLimit(role.limits, 'estimatedRows', undefined, largest ? adviceFor(largest) : undefined).at(largest?.path);
}

function adviceFor({ path, argument }: LargestRead): string {
  const where = `Most of them are in ${JSON.stringify(path.join('.'))}.`;
  if (argument === 'first') return `${where} Ask for smaller pages there or around it, such as "first: 10"`;
  if (argument === 'depth') return `${where} Fuse fewer records there, such as "depth: 30", or ask for smaller pages around it`;
  if (argument === 'maxDepth') return `${where} Ask for fewer levels there, such as "maxDepth: 5", or for smaller pages around it`;
  return argument === 'atMost' ? `${where} Write fewer records, with a smaller "atMost"` : `${where} Select less of each`;
}

/** The operation that a request ran, for observers: derived from the prepared request only on demand. */
export function ranOperation({ query, variables }: GraphQLRequest, prepared: PreparedRequest): RanOperation {
  const { operation, compiled } = prepared;
  return {
    document: query,
    variables: variables ?? null,
    name: operation.name ?? null,
    kind: compiled.kind,
    get statements() {
      return compiled.statements.map(({ text }) => text);
    },
    readCost: () => costOfPrepared(prepared),
  };
}

/** Plans and compiles an operation for one variant of its variables, and plans it again to find out where an error comes from. */
import { checkLimit, type Limits } from '../../budget/limits.ts';
import { runAtOnce } from '../../budget/turns.ts';
import { type CompiledOperation, compilePlan } from '../../compile/compile-plan.ts';
import { ApiError } from '../../errors/api-error.ts';
import { dependsOnValues, evaluateRows, measurePlan, type PlanMeasure } from '../../plan/measure.ts';
import type { Parameter, Plan } from '../../plan/plan.ts';
import { planOperation } from '../../plan/plan-operation.ts';
import type { Variables } from '../../request/coerce/coerce-variables.ts';
import { selectFields, ValueCounter } from '../../request/select/select-fields.ts';
import type { Document, DocumentOperation } from '../../request/validate/parse-document.ts';
import type { CompiledRequest, RoleSchema, SchemaTypes } from '../snapshot/role-schema.ts';

/** A request that is ready to run, except for the values to bind. */
export interface PreparedRequest {
  readonly document: Document;
  readonly operation: DocumentOperation;
  readonly variables: Variables;
  readonly compiled: CompiledRequest;
}

/** Operations with more fields, or with more elements in lists, are compiled and bound with pauses. */
export const manyParts = 500;
/** How many parameters a statement can have: Bind counts them in 16 bits (manual: Message Formats). */
const mostParameters = 65_535;

let compiledCount = 0;

export function* compileOperation(
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
    genericPlan: prefersGenericPlan(measure, compiled),
    // A step of a nested write refers to its table, whose relations lead to the whole model.
    holdsTypes: compiled.statements.some(({ step }) => step !== undefined),
  };
}

/** Throws if a compiled operation exceeds a limit of the role regardless of the bound values: it may have been compiled for another role. */
export function checkCompiled({ inputValues, measure }: CompiledRequest, limits: Limits): void {
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
 * Whether PostgreSQL makes one generic plan for all values (docs/decisions/plans.md): they are only those of cursors, and each page is a single
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

/** A list in the place of a parameter counts as one parameter for each of its values. */
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

/**
 * Which operations run with a generic plan, which PostgreSQL makes once for all values
 * (https://www.postgresql.org/docs/current/sql-prepare.html#SQL-PREPARE-NOTES). In: a measured plan and its statements; out: the decision
 * (docs/decisions/plans.md).
 */
import type { CompiledStatement } from '../../compile/compile-plan.ts';
import type { PlanMeasure } from '../../plan/measure.ts';

/**
 * Whether the values can hardly change the best plan: they are only those of cursors, and each page is a single range of its order, which
 * an index either serves at every position or at none. By itself, PostgreSQL would plan such a page anew for each request, which takes longer than to read it.
 */
export function prefersGenericPlan({ roleIndependent, seeksOneRange }: PlanMeasure, statements: readonly CompiledStatement[]): boolean {
  return (
    roleIndependent &&
    seeksOneRange &&
    statements.every(({ parameters }) => parameters.every(({ encoding }) => encoding.kind === 'text' || encoding.kind === 'array'))
  );
}

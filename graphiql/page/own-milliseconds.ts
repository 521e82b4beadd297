/** The time of a node of PostgreSQL's plan, without its children. */
import type { DatabasePlanNode } from '../../src/explain/explanation.ts';

/** In milliseconds over all loops; 0 if it did not run. PostgreSQL reports averages per loop. */
export function ownMilliseconds({ actual, children }: DatabasePlanNode): number {
  const below = children.reduce((sum, child) => sum + allMilliseconds(child), 0);
  return Math.max(0, allMilliseconds({ actual }) - below);
}

function allMilliseconds({ actual }: Pick<DatabasePlanNode, 'actual'>): number {
  return actual === null ? 0 : actual.milliseconds * actual.loops;
}

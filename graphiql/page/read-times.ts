/** Times of a request: the stages of the Server-Timing header (https://www.w3.org/TR/server-timing/), and nodes of PostgreSQL's plan. */
import type { DatabasePlanNode } from '../../src/explain/explanation.ts';

export interface Stage {
  readonly name: string;
  readonly milliseconds: number;
}

/** The stages; entries without a duration are left out. */
export function readServerTiming(header: string): readonly Stage[] {
  return header.split(',').flatMap((metric) => {
    const [name = '', ...parameters] = metric.split(';').map((part) => part.trim());
    const duration = parameters.find((parameter) => parameter.startsWith('dur='));
    return name === '' || duration === undefined ? [] : [{ name, milliseconds: Number(duration.slice('dur='.length)) }];
  });
}

/** The time of a node without its children, in milliseconds over all loops; 0 if it did not run. PostgreSQL reports averages per loop. */
export function ownMilliseconds({ actual, children }: DatabasePlanNode): number {
  const below = children.reduce((sum, child) => sum + allMilliseconds(child), 0);
  return Math.max(0, allMilliseconds({ actual }) - below);
}

function allMilliseconds({ actual }: Pick<DatabasePlanNode, 'actual'>): number {
  return actual === null ? 0 : actual.milliseconds * actual.loops;
}

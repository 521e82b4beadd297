/**
 * Limits how deep relations nest in a filter or an order: each is a subquery inside the previous one, and PostgreSQL plans them together.
 */
import { ApiError } from '../errors/api-error.ts';

const maxDepth = 50;

/** The depth inside a relation at `depth`. Throws QUERY_TOO_COMPLEX. */
export function deeper(what: 'filter' | 'ordering', depth: number): number {
  if (depth < maxDepth) return depth + 1;
  throw new ApiError('QUERY_TOO_COMPLEX', `The ${what} nests relations more than ${maxDepth} levels deep. Use fewer levels.`);
}

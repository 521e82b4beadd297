/** How deep relations may nest in a filter or an ordering: each is a subquery inside the one that it is related to, and PostgreSQL plans them as one. */
import { ApiError } from '../errors.ts';

const deepest = 50;

/** The depth of what is inside a relation that stands at `depth`. Throws QUERY_TOO_COMPLEX. */
export function deeper(what: 'filter' | 'ordering', depth: number): number {
  if (depth < deepest) return depth + 1;
  throw new ApiError('QUERY_TOO_COMPLEX', `The ${what} nests relations more than ${deepest} levels deep. Use fewer levels.`);
}

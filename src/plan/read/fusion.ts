/** Plans the argument `fuse`: the rows that `search` or `nearest` finds, in the order of their places in both (reciprocal rank fusion). */
import { ApiError } from '../../errors/api-error.ts';
import type { Table } from '../../model/model.ts';
import { bindingAt, type InputValue, type SelectedField, valueAt } from '../../request/operation.ts';
import type { Filter, OrderKey, Search } from '../conditions.ts';
import { countOf, numberParameter, objectOf } from '../inputs.ts';
import type { Parameter } from '../parameter.ts';
import type { FusionPlan } from '../plan.ts';
import { combine } from './filter.ts';
import type { Nearest } from './nearest.ts';
import { ascending } from './page.ts';

/** What the places are added to by default, as in the paper of Cormack, Clarke and Büttcher (2009). */
const usualK = 60;
const mostK = 1_000_000;
/** How many rows of each order are fused. HNSW finds at most so many (`hnsw.ef_search`). */
const usualDepth = 100;
const mostDepth = 1000;
const mostWeight = 1_000_000;

/** Plans it; null if it is absent or null. Throws BAD_USER_INPUT. `filter` is that of the collection. */
export function planFusion(
  field: SelectedField,
  table: Table,
  { search, nearest, filter }: { readonly search: Search | null; readonly nearest: Nearest | null; readonly filter: Filter | null },
): FusionPlan | null {
  const value = valueAt(field.arguments, 'collection', 'fuse');
  if (value === null) return null;
  if (search === null || nearest === null) {
    throw new ApiError('BAD_USER_INPUT', 'The argument "fuse" combines "search" and "nearest". Give both, or leave out "fuse".');
  }
  const given = new Map(objectOf(value).entries.map((entry) => [bindingAt('fusion', entry).kind, entry.value]));
  const weight = (kind: 'search weight' | 'nearest weight', argument: string): Parameter | null => weightOf(given.get(kind), argument);
  const depth = countOf(given.get('depth') ?? usual(usualDepth), 'depth', mostDepth);
  const leg = (key: OrderKey, found: Filter) => ({
    filter: combine('and', [found, filter]) ?? found,
    keys: [key, ...table.primaryKey.map(ascending)],
    depth,
  });
  const rank: OrderKey = { value: { kind: 'search rank', search, mayBeNull: false }, descending: true, nullsFirst: false };
  return {
    legs: [
      { ...leg(rank, { kind: 'search', search }), weight: weight('search weight', 'searchWeight') },
      { ...leg(nearest.key, nearest.filter), weight: weight('nearest weight', 'nearestWeight') },
    ],
    k: countOf(given.get('k') ?? usual(usualK), 'k', mostK),
  };
}

function usual(value: number): InputValue {
  return { kind: 'constant', value: String(value) };
}

function weightOf(value: InputValue | undefined, argument: string): Parameter | null {
  return value === undefined || value === null ? null : numberParameter(value, argument, mostWeight);
}

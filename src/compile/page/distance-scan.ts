/** Which index finds the nearest rows of a page, and the rows and order that it is asked for. */
import { forms } from '../../model/types/metrics.ts';
import type { Filter } from '../../plan/conditions.ts';
import { sql } from '../../sql/sql.ts';
import type { Collection } from './collection.ts';
import type { WrittenKey } from './order-keys.ts';

type DistanceFilter = Extract<Filter, { kind: 'distance' }>;

export interface DistanceScan extends Pick<DistanceFilter, 'within'> {
  /** Whether the index may miss some rows. */
  readonly isApproximate: boolean;
}

/**
 * The scan of an index by the distance that orders a page: of an index of the table, or of what a view shows. IVFFlat finds the rows of the
 * nearest lists, and would leave out many between its rows and the next page.
 */
export function scanOf({ plan: { page, filter, table }, rows }: Collection): DistanceScan | undefined {
  const bounded = rows.kind === 'table' && page.direction === 'forward' ? distanceFilter(filter) : undefined;
  if (!bounded) return undefined;
  const { measured, metric } = bounded.distance;
  const isShown = table.kind === 'view' || table.kind === 'partitioned table';
  const scan = measured.indexed.get(metric) ?? (isShown ? 'nearly' : undefined);
  if (scan === undefined || (scan === 'nearly' && page.cursor !== null)) return undefined;
  return { within: bounded.within, isApproximate: forms[measured.form].isApproximate };
}

function distanceFilter(filter: Filter | null): DistanceFilter | undefined {
  if (filter?.kind === 'and') return filter.filters.map(distanceFilter).find((each) => each !== undefined);
  return filter?.kind === 'distance' ? filter : undefined;
}

/** The collection without the bound of its distances. */
export function unbounded(collection: Collection): Collection {
  const { plan } = collection;
  return { ...collection, plan: { ...plan, filter: plan.filter && withoutBound(plan.filter) } };
}

function withoutBound(filter: Filter): Filter {
  if (filter.kind === 'and') return { ...filter, filters: filter.filters.map(withoutBound) };
  return filter.kind === 'distance' ? { ...filter, within: null } : filter;
}

/** A distance that no vector index serves, as the index may find only some of the rows. */
export function withoutIndex(key: WrittenKey): WrittenKey {
  const isFoundNearly = key.value.kind === 'distance' && forms[key.value.distance.measured.form].isApproximate;
  return isFoundNearly ? { ...key, sql: sql`${key.sql} + 0` } : key;
}

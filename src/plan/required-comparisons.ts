/** What a filter is known to require of every row that matches it. */
import type { Column } from '../model/model.ts';
import type { Filter } from './plan.ts';

type Comparison = Extract<Filter, { kind: 'comparison' }>;

/** The comparisons that hold for every row that matches. */
export function requiredComparisons(filter: Filter | null): readonly Comparison[] {
  if (filter?.kind === 'and') return filter.filters.flatMap(requiredComparisons);
  return filter?.kind === 'comparison' ? [filter] : [];
}

/** Whether the filter requires each of these columns to equal a value. */
export function pinsColumns(filter: Filter | null, columns: readonly Column[]): boolean {
  if (filter === null) return columns.length === 0;
  const pins = requiredComparisons(filter).filter(({ operator }) => operator === 'eq');
  return columns.every((column) => pins.some((pin) => pin.column === column));
}

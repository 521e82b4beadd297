/** The rows above and below a row, along a key by which its table refers to itself: found level by level among the loaded rows. */

import type { Lineage } from '../../src/model/model.ts';
import { type LoadedRow, rowsOf } from './loaded-tables.ts';
import { RefusalError } from './property-failure.ts';
import { areTied } from './tied-rows.ts';

/** How far each row is that the lineage has. */
export type Depths = ReadonlyMap<LoadedRow, number>;

export function evaluateLineage({ direction, parent, maxDepth }: Lineage, row: LoadedRow, levels: unknown = null): Depths {
  if (typeof levels === 'number' && levels < 0) throw new RefusalError('a negative count');
  const most = typeof levels === 'number' ? Math.min(levels, maxDepth) : maxDepth;
  const found = new Map<LoadedRow, number>([[row, 0]]);
  const leadsTo = (from: LoadedRow, to: LoadedRow) => (direction === 'ancestors' ? areTied(parent, from, to) : areTied(parent, to, from));
  const rows = rowsOf(row.table);
  let level: readonly LoadedRow[] = [row];
  for (let depth = 1; depth <= most && level.length > 0; depth += 1) {
    level = rows.filter((other) => !found.has(other) && level.some((from) => leadsTo(from, other)));
    for (const other of level) found.set(other, depth);
  }
  // The row may be one of before a mutation, of which the tables have another.
  return new Map([...found].filter(([other, depth]) => depth > 0 && !isSame(parent, other, row)));
}

function isSame({ columns }: Lineage['parent'], row: LoadedRow, other: LoadedRow): boolean {
  return columns.every(({ target }) => row.values.get(target)?.text === other.values.get(target)?.text);
}

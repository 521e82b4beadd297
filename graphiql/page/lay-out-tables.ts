/**
 * Places the tables of the diagram in columns, each near the tables that it refers to. In: tables; out: a box for each, without overlaps.
 * The same tables always get the same places.
 */
import type { ApiTable } from './read-tables.ts';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const boxWidth = 230;
export const titleHeight = 32;
export const lineHeight = 20;
const gapX = 90;
const gapY = 36;
/** How many lines a box has at most; the last one then counts the rest. */
export const maxLines = 14;

/** How many lines a table has below its title. */
export function linesOf({ columns, relations }: ApiTable): number {
  return Math.min(columns.length + relations.length, maxLines);
}

/** The boxes by row type, in pixels from the top left corner. */
export function layOutTables(tables: readonly ApiTable[]): ReadonlyMap<string, Box> {
  const neighbours = findNeighbours(tables);
  const sizes = new Map(tables.map((table) => [table.type, titleHeight + linesOf(table) * lineHeight + 8]));
  const area = [...sizes.values()].reduce((sum, height) => sum + (height + gapY) * (boxWidth + gapX), 0);
  // Wider than high, like screens.
  const count = Math.max(1, Math.round(Math.sqrt(area * 1.5) / (boxWidth + gapX)));
  const heights = Array.from({ length: count }, () => 0);
  const columns = new Map<string, number>();
  const boxes = new Map<string, Box>();
  for (const type of walk(tables, neighbours)) {
    const placed = [...(neighbours.get(type) ?? [])].flatMap((other) => columns.get(other) ?? []);
    const column = bestColumn(heights, placed);
    const height = sizes.get(type)!;
    boxes.set(type, { x: column * (boxWidth + gapX), y: heights[column]!, width: boxWidth, height });
    columns.set(type, column);
    heights[column]! += height + gapY;
  }
  return boxes;
}

/** A short column, or one near the tables that this one refers to. */
function bestColumn(heights: readonly number[], placed: readonly number[]): number {
  const centre = placed.length === 0 ? null : placed.reduce((sum, column) => sum + column, 0) / placed.length;
  const costs = heights.map((height, column) => height + (centre === null ? 0 : Math.abs(column - centre) * 120));
  return costs.indexOf(Math.min(...costs));
}

function findNeighbours(tables: readonly ApiTable[]): ReadonlyMap<string, ReadonlySet<string>> {
  const neighbours = new Map(tables.map(({ type }) => [type, new Set<string>()]));
  for (const { type, relations } of tables)
    for (const { target } of relations) {
      neighbours.get(type)?.add(target);
      neighbours.get(target)?.add(type);
    }
  return neighbours;
}

/** All tables, ordered so that each comes soon after a table that it is related to; the most related first. */
function walk(tables: readonly ApiTable[], neighbours: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const degree = (type: string): number => neighbours.get(type)?.size ?? 0;
  const byDegree = (one: string, other: string): number => degree(other) - degree(one) || (one < other ? -1 : 1);
  const seen = new Set<string>();
  for (const start of tables.map(({ type }) => type).sort(byDegree)) {
    seen.add(start);
    // Grows during the iteration.
    const queue = new Set([start]);
    for (const type of queue)
      for (const next of [...(neighbours.get(type) ?? [])].sort(byDegree))
        if (!seen.has(next)) {
          seen.add(next);
          queue.add(next);
        }
  }
  return seen;
}

/**
 * Places the tables of the diagram: each group of related tables from left to right, by dagre, with the tables that others refer to at the
 * right; and the groups beside one another, the largest first. Boxes do not overlap, and the same tables always
 * get the same places.
 */
import dagre from '@dagrejs/dagre';
import type { ApiTable } from './read-tables.ts';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const boxWidth = 230;
export const titleHeight = 32;
export const lineHeight = 20;
/** Of a box that has its name only, which is written larger: many of them are seen from afar. */
const nameHeight = 48;
const gap = { x: 70, y: 20 };
/** How many lines a box has at most; the last one then counts the rest. */
const maxLines = 14;
/** Up to this many tables in a group, all of its relations count. */
const mostInGroup = 60;
/** A table with more neighbours is a hub, if there are many tables. */
const mostNeighbours = 14;
/** Width to height, like screens. */
const proportion = 1.7;

/** How many lines a table has below its title. */
export function linesOf({ columns, relations }: ApiTable): number {
  return Math.min(columns.length + relations.length, maxLines);
}

/** The boxes by row type, in pixels from the top left corner. */
export function layOutTables(tables: readonly ApiTable[], showsColumns = true): ReadonlyMap<string, Box> {
  return packGroups(findGroups(tables).map((group) => layOutGroup(group, showsColumns)));
}

function heightOf(table: ApiTable, showsColumns: boolean): number {
  return showsColumns ? titleHeight + linesOf(table) * lineHeight + 8 : nameHeight;
}

/** A table with those of its relations that decide where it stands. */
interface PlacedTable {
  readonly table: ApiTable;
  readonly targets: readonly string[];
}

/**
 * Tables that relations connect, however far apart. Where they are many, relations with hubs, to which half of a schema refers, connect
 * nothing; if a group is still large, the first relation of each table is all that counts, because dagre would take seconds for more.
 */
function findGroups(tables: readonly ApiTable[]): readonly (readonly PlacedTable[])[] {
  return connect(tables, () => true).flatMap((group) => {
    if (group.length <= mostInGroup) return [group];
    const neighbours = findNeighbours(tables);
    const isHub = (type: string): boolean => (neighbours.get(type)?.size ?? 0) > mostNeighbours;
    return connect(
      group.map(({ table }) => table),
      (from, to) => !isHub(from) && !isHub(to),
    ).map((part) => (part.length <= mostInGroup ? part : part.map(({ table, targets }) => ({ table, targets: targets.slice(0, 1) }))));
  });
}

function connect(tables: readonly ApiTable[], counts: (from: string, to: string) => boolean): readonly (readonly PlacedTable[])[] {
  const types = new Set(tables.map(({ type }) => type));
  const placed = new Map(
    tables.map((table) => {
      const targets = table.relations.flatMap(({ target, isMany }) =>
        isMany || target === table.type || !types.has(target) || !counts(table.type, target) ? [] : [target],
      );
      return [table.type, { table, targets: [...new Set(targets)] }];
    }),
  );
  const neighbours = new Map(tables.map(({ type }) => [type, new Set<string>()]));
  for (const { table, targets } of placed.values())
    for (const target of targets) {
      neighbours.get(table.type)?.add(target);
      neighbours.get(target)?.add(table.type);
    }
  const seen = new Set<string>();
  return tables.flatMap(({ type }) => {
    if (seen.has(type)) return [];
    // Grows during the iteration.
    const group = new Set([type]);
    for (const each of group) for (const next of neighbours.get(each)!) group.add(next);
    for (const each of group) seen.add(each);
    return [[...group].map((each) => placed.get(each)!)];
  });
}

interface Group {
  readonly boxes: ReadonlyMap<string, Box>;
  readonly width: number;
  readonly height: number;
}

function layOutGroup(tables: readonly PlacedTable[], showsColumns: boolean): Group {
  const [first, ...others] = tables;
  const sizeOf = (table: ApiTable) => ({ width: boxWidth, height: heightOf(table, showsColumns) });
  if (first !== undefined && others.length === 0) {
    const size = sizeOf(first.table);
    return { boxes: new Map([[first.table.type, { x: 0, y: 0, ...size }]]), ...size };
  }
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: gap.y, edgesep: 8, ranksep: gap.x });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { table } of tables) graph.setNode(table.type, sizeOf(table));
  for (const { table, targets } of tables) for (const target of targets) graph.setEdge(table.type, target);
  dagre.layout(graph);
  const centres = tables.map(({ table }) => {
    const { x = 0, y = 0 } = graph.node(table.type) as { readonly x?: number; readonly y?: number };
    return { type: table.type, x, y, ...sizeOf(table) };
  });
  return wrapRanks(centres);
}

type Placed = Box & { readonly type: string };

/** Divides ranks that are higher than a screen would be into several columns, in the order of dagre. `placed` have their centres at `x`, `y`. */
function wrapRanks(placed: readonly Placed[]): Group {
  const ranks = [...Map.groupBy(placed, ({ x }) => Math.round(x))].sort(([one], [other]) => one - other);
  const heightOfRank = (rank: readonly Placed[]): number => rank.reduce((sum, { height }) => sum + height + gap.y, 0);
  const area = ranks.reduce((sum, [, rank]) => sum + heightOfRank(rank) * (boxWidth + gap.x), 0);
  const highest = Math.max(Math.sqrt(area / proportion) * 1.2, 600);
  const isLow = ranks.every(([, rank]) => heightOfRank(rank) <= highest);
  const columns = ranks.flatMap(([, rank]) => {
    const ordered = rank.toSorted((one, other) => one.y - other.y);
    return splitEvenly(ordered, Math.ceil(heightOfRank(rank) / highest));
  });
  const top = Math.min(...placed.map(({ y, height }) => y - height / 2));
  const tallest = Math.max(...columns.map(heightOfRank));
  const boxes = new Map<string, Box>();
  for (const [position, column] of columns.entries()) {
    let y = (tallest - heightOfRank(column)) / 2;
    for (const { type, width, height, y: centre } of column) {
      boxes.set(type, { x: position * (boxWidth + gap.x), y: isLow ? centre - height / 2 - top : y, width, height });
      y += height + gap.y;
    }
  }
  const all = [...boxes.values()];
  return { boxes, width: columns.length * (boxWidth + gap.x) - gap.x, height: Math.max(...all.map(({ y, height }) => y + height)) };
}

function splitEvenly<Item>(items: readonly Item[], count: number): readonly (readonly Item[])[] {
  const size = Math.ceil(items.length / Math.max(1, count));
  return Array.from({ length: Math.ceil(items.length / size) }, (_, place) => items.slice(place * size, (place + 1) * size));
}

/** Puts groups into rows, the highest first, so that the whole is about as wide as a screen. */
function packGroups(groups: readonly Group[]): ReadonlyMap<string, Box> {
  const area = groups.reduce((sum, { width, height }) => sum + (width + gap.x / 2) * (height + gap.y), 0);
  const widest = Math.max(0, ...groups.map(({ width }) => width), Math.sqrt(area * proportion));
  const placed = new Map<string, Box>();
  let [x, y, rowHeight] = [0, 0, 0];
  for (const { boxes, width, height } of groups.toSorted((one, other) => other.height - one.height)) {
    if (x > 0 && x + width > widest) [x, y, rowHeight] = [0, y + rowHeight + gap.y, 0];
    for (const [type, box] of boxes) placed.set(type, { ...box, x: box.x + x, y: box.y + y });
    x += width + gap.x / 2;
    rowHeight = Math.max(rowHeight, height);
  }
  return placed;
}

/** By row type, those that a relation connects with it. */
export function findNeighbours(tables: readonly ApiTable[]): ReadonlyMap<string, ReadonlySet<string>> {
  const neighbours = new Map(tables.map(({ type }) => [type, new Set<string>()]));
  for (const { type, relations } of tables)
    for (const { target } of relations) {
      if (!neighbours.has(target)) continue;
      neighbours.get(type)?.add(target);
      neighbours.get(target)?.add(type);
    }
  return neighbours;
}

/** Chooses the tables of the diagram: those of a schema or a kind, and those around one table. */
import { findNeighbours } from './lay-out-tables.ts';
import type { ApiTable } from './read-tables.ts';

export interface DiagramChoice {
  /** The row type of the table in the middle; all tables are shown without one. */
  readonly table?: string | undefined;
  /** How many relations away from it tables are shown. */
  readonly distance?: number | undefined;
  /** `schema NAME` or `kind NAME`; all are shown without one. */
  readonly only?: string | undefined;
}

/** Where a table is, which the API does not say. */
export interface TableOrigin {
  readonly schema: string;
  readonly kind: string;
}

export const farthest = 3;

/** `origins`: by row type, as far as they are known. */
export function chooseTables(
  tables: readonly ApiTable[],
  { table, distance = 1, only }: DiagramChoice,
  origins: ReadonlyMap<string, TableOrigin>,
): readonly ApiTable[] {
  const found = only === undefined ? tables : tables.filter(({ type }) => isOf(origins.get(type), only));
  if (table === undefined || !tables.some(({ type }) => type === table)) return found;
  const around = new Set(found.map(({ type }) => type)).add(table);
  const near = findWithin(tables, table, distance);
  return tables.filter(({ type }) => near.has(type) && around.has(type));
}

function isOf(origin: TableOrigin | undefined, only: string): boolean {
  return origin !== undefined && (only === `schema ${origin.schema}` || only === `kind ${origin.kind}`);
}

/** The table and those at most so many relations away. */
function findWithin(tables: readonly ApiTable[], table: string, distance: number): ReadonlySet<string> {
  const neighbours = findNeighbours(tables);
  const found = new Set([table]);
  let edge: readonly string[] = [table];
  for (let step = 0; step < distance; step++) {
    edge = edge.flatMap((type) => [...(neighbours.get(type) ?? [])]).filter((type) => !found.has(type));
    for (const type of edge) found.add(type);
  }
  return found;
}

/** What the tables can be limited to: schemas and kinds of which there are several. */
export function listLimits(tables: readonly ApiTable[], origins: ReadonlyMap<string, TableOrigin>): readonly string[] {
  const known = tables.flatMap(({ type }) => origins.get(type) ?? []);
  return (['schema', 'kind'] as const).flatMap((part) => {
    const names = [...new Set(known.map((origin) => origin[part]))].sort();
    return names.length > 1 ? names.map((name) => `${part} ${name}`) : [];
  });
}

export function matchesSearch({ type, collection, columns, relations }: ApiTable, search: string): boolean {
  const names = [type, collection, ...columns.map(({ name }) => name), ...relations.map(({ field }) => field)];
  return names.some((name) => name.toLowerCase().includes(search.trim().toLowerCase()));
}

/** The table that a search means: the one of that name, or else the first whose name begins so, or that matches at all. */
export function findTable(tables: readonly ApiTable[], search: string): ApiTable | undefined {
  const text = search.trim().toLowerCase();
  if (text === '') return undefined;
  return (
    tables.find(({ type }) => type.toLowerCase() === text) ??
    tables.find(({ type }) => type.toLowerCase().startsWith(text)) ??
    tables.find((table) => matchesSearch(table, text))
  );
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const directions: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The nearest box from one in the direction of an arrow key; null if there is none, or the key is no arrow. */
export function findInDirection(boxes: ReadonlyMap<string, Place>, from: string, key: string): string | null {
  const direction = directions[key];
  const start = boxes.get(from);
  if (direction === undefined || start === undefined) return null;
  const [dx, dy] = direction;
  const costs = [...boxes].flatMap(([type, box]) => {
    const [x, y] = [box.x + box.width / 2 - start.x - start.width / 2, box.y + box.height / 2 - start.y - start.height / 2];
    const ahead = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    return type === from || ahead <= 0 || aside > 3 * ahead ? [] : [{ type, cost: ahead + 2 * aside }];
  });
  return costs.toSorted((one, other) => one.cost - other.cost)[0]?.type ?? null;
}
